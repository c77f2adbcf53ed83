// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @add() {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a = tensor.empty(%c2) : tensor<?xf32>
  %b = tensor.empty(%c3) : tensor<?xf32>
  // expected-error @+1 {{has operands of shapes [2] and [3]}}
  %c = arith.addf %a, %b : tensor<?xf32>
  return
}
