// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @functions() {
  %x = arith.constant dense<[0.5, 1.25]> : tensor<2xf64>
  %sinh = math.sinh %x : tensor<2xf64>
  %cosh = math.cosh %x : tensor<2xf64>
  %tanh = math.tanh %x : tensor<2xf64>
  %asinh = math.asinh %sinh : tensor<2xf64>
  %acosh = math.acosh %cosh : tensor<2xf64>
  %atanh = math.atanh %tanh : tensor<2xf64>
  %e0 = arith.constant dense<[0.5210953054937474, 1.6019190803008256]> : tensor<2xf64>
  %e1 = arith.constant dense<[1.1276259652063807, 1.8884238771610159]> : tensor<2xf64>
  %e2 = arith.constant dense<[0.46211715726000973, 0.8482836399575129]> : tensor<2xf64>
  check.close %sinh, %e0 : tensor<2xf64>
  check.close %cosh, %e1 : tensor<2xf64>
  check.close %tanh, %e2 : tensor<2xf64>
  check.close %asinh, %x : tensor<2xf64>
  check.close %acosh, %x : tensor<2xf64>
  check.close %atanh, %x : tensor<2xf64>
  return
}
