// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @functions() {
  %x = arith.constant dense<[0.5, -0.25]> : tensor<2xf64>
  %sin = math.sin %x : tensor<2xf64>
  %cos = math.cos %x : tensor<2xf64>
  %tan = math.tan %x : tensor<2xf64>
  %s, %c = math.sincos %x : tensor<2xf64>
  %asin = math.asin %sin : tensor<2xf64>
  %atan = math.atan %tan : tensor<2xf64>
  %angle = math.atan2 %s, %c : tensor<2xf64>
  %e0 = arith.constant dense<[0.479425538604203, -0.24740395925452294]> : tensor<2xf64>
  %e1 = arith.constant dense<[0.8775825618903728, 0.9689124217106447]> : tensor<2xf64>
  %e2 = arith.constant dense<[0.5463024898437905, -0.25534192122103627]> : tensor<2xf64>
  check.close %sin, %e0 : tensor<2xf64>
  check.close %cos, %e1 : tensor<2xf64>
  check.close %tan, %e2 : tensor<2xf64>
  check.equal_bits %s, %sin : tensor<2xf64>
  check.equal_bits %c, %cos : tensor<2xf64>
  check.close %asin, %x : tensor<2xf64>
  check.close %atan, %x : tensor<2xf64>
  check.close %angle, %x : tensor<2xf64>
  return
}
