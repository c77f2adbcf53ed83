// RUN: drawloom-run %s --open --random --shape=0:3x100 --compare=interpreter --threads=2
// RUN: drawloom-run %s --open --random --shape=0:7x32 --compare=interpreter --threads=3
// RUN: drawloom-run %s --open --random --shape=0:40x1000 --compare=interpreter --threads=2
// RUN: drawloom-run %s --open --random --shape=0:2x1 --compare=interpreter
// RUN: drawloom-run %s --open --random --shape=0:0x5 --compare=interpreter
// RUN: drawloom-run %s --open --random --shape=0:5x0 --compare=interpreter
// RUN: drawloom-run %s --open --compile-to=kernels | FileCheck %s

// Each block keeps the maxima of its row's beginnings, and each 32nd of them: 4
// bytes a token, and 12 for 32 of them.
// CHECK: scratch_bytes = 64 : i64, scratch_terms = [{bytes = 5 : i64, extents = array<i64: 1>}]
func.func @f(%x: tensor<?x?xf32>) -> (tensor<?x?xf32> {drawloom.extents = array<i64: 0, 1>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%n, %m) : tensor<?x?xf32>
  %z = scf.forall (%i) in (%n) shared_outs(%out = %empty) -> tensor<?x?xf32> {
    %zero = arith.constant -10.0 : f32
    %c32 = arith.constant 32 : index
    %parts = arith.ceildivui %m, %c32 : index
    %size = arith.addi %parts, %c1 : index
    %none = tensor.empty(%size) : tensor<?x3xf32>
    %free = tensor.empty(%m) : tensor<?xf32>
    %sums, %total = scf.for %j = %c0 to %m step %c1 iter_args(%to = %free, %sum = %zero) -> (tensor<?xf32>, f32) {
      %a = tensor.extract %x[%i, %j] : tensor<?x?xf32>
      %next = arith.maximumf %sum, %a : f32
      %with = tensor.insert %next into %to[%j] : tensor<?xf32>
      scf.yield %with, %next : tensor<?xf32>, f32
    }
    %starts = scf.for %j = %c0 to %size step %c1 iter_args(%to = %none) -> (tensor<?x3xf32>) {
      %isEnd = arith.cmpi eq, %j, %parts : index
      %at = arith.muli %j, %c32 : index
      %v = scf.if %isEnd -> f32 {
        scf.yield %total : f32
      } else {
        %s = tensor.extract %sums[%at] : tensor<?xf32>
        scf.yield %s : f32
      }
      %w0 = tensor.insert %v into %to[%j, %c0] : tensor<?x3xf32>
      %w1 = tensor.insert %v into %w0[%j, %c1] : tensor<?x3xf32>
      scf.yield %w1 : tensor<?x3xf32>
    }
    %row = tensor.extract_slice %out[%i, 0] [1, %m] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %given = scf.for %j = %c0 to %m step %c1 iter_args(%to = %row) -> (tensor<?xf32>) {
      %last = arith.subi %m, %c1 : index
      %back = arith.subi %last, %j : index
      %part = arith.divui %j, %c32 : index
      %a = tensor.extract %sums[%back] : tensor<?xf32>
      %b = tensor.extract %starts[%part, %c1] : tensor<?x3xf32>
      %end = tensor.extract %starts[%parts, %c0] : tensor<?x3xf32>
      %ab = arith.addf %a, %b : f32
      %abc = arith.subf %ab, %end : f32
      %with = tensor.insert %abc into %to[%j] : tensor<?xf32>
      scf.yield %with : tensor<?xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %given into %out[%i, 0] [1, %m] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    }
  }
  return %z : tensor<?x?xf32>
}
