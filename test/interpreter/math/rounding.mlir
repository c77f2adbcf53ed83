// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @functions() {
  %x = arith.constant dense<[2.5, -2.5, 1.2]> : tensor<3xf64>
  %ceil = math.ceil %x : tensor<3xf64>
  %floor = math.floor %x : tensor<3xf64>
  %round = math.round %x : tensor<3xf64>
  %even = math.roundeven %x : tensor<3xf64>
  %trunc = math.trunc %x : tensor<3xf64>
  %e0 = arith.constant dense<[3.0, -2.0, 2.0]> : tensor<3xf64>
  %e1 = arith.constant dense<[2.0, -3.0, 1.0]> : tensor<3xf64>
  %e2 = arith.constant dense<[3.0, -3.0, 1.0]> : tensor<3xf64>
  %e3 = arith.constant dense<[2.0, -2.0, 1.0]> : tensor<3xf64>
  %e4 = arith.constant dense<[2.0, -2.0, 1.0]> : tensor<3xf64>
  check.equal_bits %ceil, %e0 : tensor<3xf64>
  check.equal_bits %floor, %e1 : tensor<3xf64>
  check.equal_bits %round, %e2 : tensor<3xf64>
  check.equal_bits %even, %e3 : tensor<3xf64>
  check.equal_bits %trunc, %e4 : tensor<3xf64>
  return
}
