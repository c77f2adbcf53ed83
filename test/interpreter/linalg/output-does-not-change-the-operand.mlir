// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @fill() {
  %one = arith.constant dense<1.0> : tensor<2xf32>
  %x = arith.addf %one, %one : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %y = linalg.fill ins(%zero : f32) outs(%x : tensor<2xf32>) -> tensor<2xf32>
  %two = arith.constant dense<2.0> : tensor<2xf32>
  %none = arith.constant dense<0.0> : tensor<2xf32>
  check.equal_bits %x, %two : tensor<2xf32>
  check.equal_bits %y, %none : tensor<2xf32>
  return
}
