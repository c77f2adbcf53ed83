// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @index() {
  %e = tensor.empty() : tensor<4xindex>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  } outs(%e : tensor<4xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %c2 = arith.constant 2 : index
    %small = arith.cmpi slt, %i, %c2 : index
    %v = scf.if %small -> index {
      scf.yield %i : index
    } else {
      scf.yield %c2 : index
    }
    linalg.yield %v : index
  } -> tensor<4xindex>
  %expected = arith.constant dense<[0, 1, 2, 2]> : tensor<4xindex>
  check.equal_bits %r, %expected : tensor<4xindex>
  return
}
