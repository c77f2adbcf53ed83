// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @index() {
  %e = tensor.empty() : tensor<2x3xindex>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } outs(%e : tensor<2x3xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c10 = arith.constant 10 : index
    %0 = arith.muli %i, %c10 : index
    %1 = arith.addi %0, %j : index
    linalg.yield %1 : index
  } -> tensor<2x3xindex>
  %expected = arith.constant dense<[[0, 1, 2], [10, 11, 12]]> : tensor<2x3xindex>
  check.equal_bits %r, %expected : tensor<2x3xindex>
  return
}
