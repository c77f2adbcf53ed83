// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @race() {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %out = tensor.empty() : tensor<4xf32>
  %y = scf.forall (%i) = (0) to (3) step (1) shared_outs(%o = %out) -> tensor<4xf32> {
    scf.forall.in_parallel {
      // expected-error @+1 {{writes element [1] of output #0 a second time, in iteration [1]}}
      tensor.parallel_insert_slice %x into %o[%i] [2] [1] : tensor<2xf32> into tensor<4xf32>
    }
  }
  return
}
