// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @concat() {
  %a = arith.constant dense<[[[1], [2]], [[3], [4]]]> : tensor<2x2x1xi32>
  %b = arith.constant dense<[[[5]], [[6]]]> : tensor<2x1x1xi32>
  %c = tensor.concat dim(1) %a, %b : (tensor<2x2x1xi32>, tensor<2x1x1xi32>) -> tensor<2x3x1xi32>
  %e = arith.constant dense<[[[1], [2], [5]], [[3], [4], [6]]]> : tensor<2x3x1xi32>
  check.equal_bits %c, %e : tensor<2x3x1xi32>
  return
}
