// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @outside() {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %out = tensor.empty() : tensor<3xf32>
  %y = scf.forall (%i) = (0) to (4) step (2) shared_outs(%o = %out) -> tensor<3xf32> {
    scf.forall.in_parallel {
      // expected-error @+1 {{takes a slice that leaves its tensor: offset 2, size 2, stride 1 in dimension 0 of size 3}}
      tensor.parallel_insert_slice %x into %o[%i] [2] [1] : tensor<2xf32> into tensor<3xf32>
    }
  }
  return
}
