// RUN: drawloom-run %s --open --save=%t.drawloom
// RUN: drawloom-run %s --open --random --shape=0:3x4x5x8 --compare=interpreter --threads=2
// RUN: drawloom-run %s --open --random --shape=0:1x4x9x8 --compare=interpreter --threads=3
// RUN: drawloom-run %s --open --random --shape=0:9x4x1x8 --compare=interpreter
// RUN: drawloom-run %s --open --random --shape=0:0x4x5x8 --compare=interpreter
// RUN: drawloom-run %s --open --random --shape=0:5x4x0x8 --compare=interpreter

// What the first block programs make lies in workspace of both extents.
func.func @f(%x: tensor<?x4x?x8xf32>, %y: tensor<4x8xf32>)
    -> (tensor<4x?x?xf32> {drawloom.extents = array<i64: -1, 1, 0>}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x?x8xf32>
  %m = tensor.dim %x, %c2 : tensor<?x4x?x8xf32>
  %empty = tensor.empty(%n, %m) : tensor<?x4x?x8xf32>
  %z = scf.forall (%i, %j, %k) in (%n, 4, %m) shared_outs(%out = %empty) -> tensor<?x4x?x8xf32> {
    %a = tensor.extract_slice %x[%i, %j, %k, 0] [1, 1, 1, 8] [1, 1, 1, 1] : tensor<?x4x?x8xf32> to tensor<8xf32>
    %b = tensor.extract_slice %y[%j, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %e = tensor.empty() : tensor<8xf32>
    %s = linalg.sub ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %out[%i, %j, %k, 0] [1, 1, 1, 8] [1, 1, 1, 1] : tensor<8xf32> into tensor<?x4x?x8xf32>
    }
  }
  %none = tensor.empty(%m, %n) : tensor<4x?x?xf32>
  %sums = scf.forall (%j, %k, %i) in (4, %m, %n) shared_outs(%out = %none) -> tensor<4x?x?xf32> {
    %a = tensor.extract_slice %z[%i, %j, %k, 0] [1, 1, 1, 8] [1, 1, 1, 1] : tensor<?x4x?x8xf32> to tensor<8xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<8xf32>) outs(%f : tensor<f32>) dimensions = [0]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %out[%j, %k, %i] [1, 1, 1] [1, 1, 1] : tensor<f32> into tensor<4x?x?xf32>
    }
  }
  return %sums : tensor<4x?x?xf32>
}
