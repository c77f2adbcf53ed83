// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @functions() {
  %x = arith.constant dense<[8.0, 2.25]> : tensor<2xf64>
  %y = arith.constant dense<[2.0, 0.5]> : tensor<2xf64>
  %n = arith.constant dense<[2, -1]> : tensor<2xi32>
  %pow = math.powf %x, %y : tensor<2xf64>
  %powi = math.fpowi %x, %n : tensor<2xf64>, tensor<2xi32>
  %sqrt = math.sqrt %x : tensor<2xf64>
  %rsqrt = math.rsqrt %x : tensor<2xf64>
  %cbrt = math.cbrt %x : tensor<2xf64>
  %e0 = arith.constant dense<[64.0, 1.5]> : tensor<2xf64>
  %e1 = arith.constant dense<[64.0, 0.4444444444444444]> : tensor<2xf64>
  %e2 = arith.constant dense<[2.8284271247461903, 1.5]> : tensor<2xf64>
  %e3 = arith.constant dense<[0.35355339059327373, 0.6666666666666666]> : tensor<2xf64>
  %e4 = arith.constant dense<[2.0, 1.3103706971044482]> : tensor<2xf64>
  check.close %pow, %e0 : tensor<2xf64>
  check.close %powi, %e1 : tensor<2xf64>
  check.close %sqrt, %e2 : tensor<2xf64>
  check.close %rsqrt, %e3 : tensor<2xf64>
  check.close %cbrt, %e4 : tensor<2xf64>
  return
}
