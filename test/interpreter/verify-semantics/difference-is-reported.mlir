// RUN: drawloom-opt %s --math-uplift-to-fma --verify-semantics=1 \
// RUN:   --verify-semantics-rtol=0 --verify-semantics-atol=0 --verify-diagnostics -o /dev/null

// A fused multiply-add rounds once less: zero tolerance sees it.
// expected-error-re @+1 {{@f has another meaning after the passes than before (seed 1): result #0 at index [{{[0-9]+}}] was {{.*}}, is {{.*}}; {{[0-9]+}} of 64 elements differ}}
func.func @f(%a: tensor<64xf64>, %b: tensor<64xf64>) -> tensor<64xf64> {
  %0 = arith.mulf %a, %a fastmath<contract> : tensor<64xf64>
  %1 = arith.addf %0, %b fastmath<contract> : tensor<64xf64>
  return %1 : tensor<64xf64>
}
