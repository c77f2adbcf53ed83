// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @functions() {
  %x = arith.constant dense<[0.5, -1.0]> : tensor<2xf64>
  %erf = math.erf %x : tensor<2xf64>
  %erfc = math.erfc %x : tensor<2xf64>
  %e0 = arith.constant dense<[0.5204998778130465, -0.8427007929497149]> : tensor<2xf64>
  %e1 = arith.constant dense<[0.4795001221869535, 1.8427007929497148]> : tensor<2xf64>
  check.close %erf, %e0 : tensor<2xf64>
  check.close %erfc, %e1 : tensor<2xf64>
  return
}
