// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @blocks() {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %expected = arith.constant dense<[2.0, 4.0, 6.0, 8.0, 10.0, 12.0]> : tensor<6xf32>
  %out = tensor.empty() : tensor<6xf32>
  %y = scf.forall (%i) = (0) to (6) step (2) shared_outs(%o = %out) -> tensor<6xf32> {
    %tile = tensor.extract_slice %x[%i] [2] [1] : tensor<6xf32> to tensor<2xf32>
    %twice = arith.addf %tile, %tile : tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %o[%i] [2] [1] : tensor<2xf32> into tensor<6xf32>
    }
  }
  check.close %y, %expected : tensor<6xf32>
  return
}
