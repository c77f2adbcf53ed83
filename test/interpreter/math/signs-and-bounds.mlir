// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @functions() {
  %x = arith.constant dense<[2.5, -2.5]> : tensor<2xf64>
  %s = arith.constant dense<[-1.0, -1.0]> : tensor<2xf64>
  %low = arith.constant dense<-1.0> : tensor<2xf64>
  %high = arith.constant dense<2.0> : tensor<2xf64>
  %abs = math.absf %x : tensor<2xf64>
  %copysign = math.copysign %x, %s : tensor<2xf64>
  %clamp = math.clampf %x to [%low, %high] : tensor<2xf64>
  %fma = math.fma %x, %s, %high : tensor<2xf64>
  %e0 = arith.constant dense<[2.5, 2.5]> : tensor<2xf64>
  %e1 = arith.constant dense<[-2.5, -2.5]> : tensor<2xf64>
  %e2 = arith.constant dense<[2.0, -1.0]> : tensor<2xf64>
  %e3 = arith.constant dense<[-0.5, 4.5]> : tensor<2xf64>
  check.equal_bits %abs, %e0 : tensor<2xf64>
  check.equal_bits %copysign, %e1 : tensor<2xf64>
  check.equal_bits %clamp, %e2 : tensor<2xf64>
  check.equal_bits %fma, %e3 : tensor<2xf64>
  return
}
