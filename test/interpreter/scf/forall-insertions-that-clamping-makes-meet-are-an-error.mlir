// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @outside() {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %out = tensor.empty() : tensor<3xf32>
  %y = scf.forall (%i) = (0) to (4) step (2) shared_outs(%o = %out) -> tensor<3xf32> {
    scf.forall.in_parallel {
      // expected-error @+1 {{writes element [1] of output #0 a second time, in iteration [2]}}
      tensor.parallel_insert_slice %x into %o[%i] [2] [1] : tensor<2xf32> into tensor<3xf32>
    }
  }
  return
}
