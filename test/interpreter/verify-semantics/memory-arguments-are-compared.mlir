// RUN: drawloom-opt %s --math-uplift-to-fma --verify-semantics=1 \
// RUN:   --verify-semantics-rtol=0 --verify-semantics-atol=0 --verify-diagnostics -o /dev/null

// expected-error-re @+1 {{@f has another meaning after the passes than before (seed 1): memory of argument #1 at index {{.*}} was {{.*}}, is}}
func.func @f(%a: tensor<64xf64>, %out: memref<64xf64>) {
  %0 = arith.mulf %a, %a fastmath<contract> : tensor<64xf64>
  %1 = arith.addf %0, %a fastmath<contract> : tensor<64xf64>
  bufferization.materialize_in_destination %1 in restrict writable %out : (tensor<64xf64>, memref<64xf64>) -> ()
  return
}
