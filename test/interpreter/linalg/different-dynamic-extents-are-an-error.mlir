// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @add() {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a = tensor.empty(%c2) : tensor<?xf32>
  %b = tensor.empty(%c3) : tensor<?xf32>
  // expected-error @+1 {{operand #1 has size 3 in dimension 0, but the loop over it has 2 iterations}}
  %c = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  return
}
