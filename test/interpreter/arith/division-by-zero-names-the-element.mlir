// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @divide() {
  %a = arith.constant dense<1> : tensor<3xi32>
  %b = arith.constant dense<[1, 2, 0]> : tensor<3xi32>
  // expected-error @+1 {{divides an integer by zero (element number 2)}}
  %c = arith.remsi %a, %b : tensor<3xi32>
  return
}
