// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @tiles() {
  %out = tensor.empty() : tensor<4x4xindex>
  %r = scf.forall (%i, %j) = (0, 0) to (4, 4) step (2, 2) shared_outs(%o = %out) -> tensor<4x4xindex> {
    %c10 = arith.constant 10 : index
    %0 = arith.muli %i, %c10 : index
    %1 = arith.addi %0, %j : index
    %tile = tensor.splat %1 : tensor<2x2xindex>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %tile into %o[%i, %j] [2, 2] [1, 1] : tensor<2x2xindex> into tensor<4x4xindex>
    }
  }
  %e = arith.constant dense<[[0, 0, 2, 2], [0, 0, 2, 2], [20, 20, 22, 22], [20, 20, 22, 22]]> : tensor<4x4xindex>
  check.equal_bits %r, %e : tensor<4x4xindex>
  return
}
