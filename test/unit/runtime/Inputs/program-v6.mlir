// program-v6.drawloom is this program as the first version whose memory may grow
// with products of extents compiled it, by
//   drawloom-translate --mlir-to-artifact --isa=baseline
// It stays as it is: every later library must load the file.
//
// Squares, which lie in workspace of both extents, and of each row the sums of
// its beginnings, from scratch memory of one extent in reverse.

func.func @sums(%x: tensor<?x?xf32>) -> (tensor<?x?xf32> {drawloom.extents = array<i64: 0, 1>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = scf.forall (%i, %j) in (%n, %m) shared_outs(%out = %empty) -> tensor<?x?xf32> {
    %a = tensor.extract %x[%i, %j] : tensor<?x?xf32>
    %b = arith.mulf %a, %a : f32
    %one = tensor.from_elements %b : tensor<1x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %out[%i, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<?x?xf32>
    }
  }
  %none = tensor.empty(%n, %m) : tensor<?x?xf32>
  %z = scf.forall (%i) in (%n) shared_outs(%out = %none) -> tensor<?x?xf32> {
    %zero = arith.constant 0.0 : f32
    %free = tensor.empty(%m) : tensor<?xf32>
    %sums, %all = scf.for %j = %c0 to %m step %c1 iter_args(%to = %free, %sum = %zero) -> (tensor<?xf32>, f32) {
      %a = tensor.extract %y[%i, %j] : tensor<?x?xf32>
      %next = arith.addf %sum, %a : f32
      %with = tensor.insert %next into %to[%j] : tensor<?xf32>
      scf.yield %with, %next : tensor<?xf32>, f32
    }
    %row = tensor.extract_slice %out[%i, 0] [1, %m] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %given = scf.for %j = %c0 to %m step %c1 iter_args(%to = %row) -> (tensor<?xf32>) {
      %last = arith.subi %m, %c1 : index
      %back = arith.subi %last, %j : index
      %a = tensor.extract %sums[%back] : tensor<?xf32>
      %with = tensor.insert %a into %to[%j] : tensor<?xf32>
      scf.yield %with : tensor<?xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %given into %out[%i, 0] [1, %m] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    }
  }
  return %z : tensor<?x?xf32>
}
