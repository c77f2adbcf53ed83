// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @functions() {
  %x = arith.constant dense<[0.5, 2.0]> : tensor<2xf64>
  %exp = math.exp %x : tensor<2xf64>
  %exp2 = math.exp2 %x : tensor<2xf64>
  %expm1 = math.expm1 %x : tensor<2xf64>
  %log = math.log %x : tensor<2xf64>
  %log2 = math.log2 %x : tensor<2xf64>
  %log10 = math.log10 %x : tensor<2xf64>
  %log1p = math.log1p %x : tensor<2xf64>
  %e0 = arith.constant dense<[1.6487212707001282, 7.38905609893065]> : tensor<2xf64>
  %e1 = arith.constant dense<[1.4142135623730951, 4.0]> : tensor<2xf64>
  %e2 = arith.constant dense<[0.6487212707001282, 6.38905609893065]> : tensor<2xf64>
  %e3 = arith.constant dense<[-0.6931471805599453, 0.6931471805599453]> : tensor<2xf64>
  %e4 = arith.constant dense<[-1.0, 1.0]> : tensor<2xf64>
  %e5 = arith.constant dense<[-0.3010299956639812, 0.3010299956639812]> : tensor<2xf64>
  %e6 = arith.constant dense<[0.4054651081081644, 1.0986122886681098]> : tensor<2xf64>
  check.close %exp, %e0 : tensor<2xf64>
  check.close %exp2, %e1 : tensor<2xf64>
  check.close %expm1, %e2 : tensor<2xf64>
  check.close %log, %e3 : tensor<2xf64>
  check.close %log2, %e4 : tensor<2xf64>
  check.close %log10, %e5 : tensor<2xf64>
  check.close %log1p, %e6 : tensor<2xf64>
  return
}
