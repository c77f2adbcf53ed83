// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-tile-and-vectorize{isa=avx2}))' | FileCheck %s
// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --verify-semantics --verify-semantics-entry=transposed -o /dev/null
// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --verify-semantics --verify-semantics-entry=scaled -o /dev/null
// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --verify-semantics --verify-semantics-entry=in_blocks -o /dev/null
// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --verify-semantics --verify-semantics-entry=interleaved -o /dev/null

// A matrix that lies the other way is transposed into its panels, and nowhere
// else.
// CHECK-LABEL: func.func @transposed
// CHECK-NOT: tensor.empty() : tensor<256x48xf32>
// CHECK: %[[PANELS:.+]] = tensor.empty() : tensor<3x256x16xf32>
// CHECK: scf.forall ({{.*}}) in (3) shared_outs({{.*}} = %[[PANELS]])
// CHECK: vector.transfer_read %arg1{{.*}} vector<8x8xf32>
// CHECK-NOT: vector.transfer_write {{.*}} tensor<256x48xf32>
// CHECK: vector.contract
func.func @transposed(%x: tensor<64x256xf32>, %w: tensor<48x256xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
  %y = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %w : tensor<64x256xf32>, tensor<48x256xf32>) outs(%start : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %y : tensor<64x48xf32>
}

// What is computed from narrower numbers and their scales stays as narrow in
// memory.
// CHECK-LABEL: func.func @scaled
// CHECK: scf.forall ({{.*}}) in (3)
// CHECK: vector.transfer_read %arg1{{.*}} tensor<256x48xi8>
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: vector.transfer_write {{.*}} tensor<256x16xf32>
// CHECK: vector.contract
func.func @scaled(%x: tensor<64x256xf32>, %q: tensor<256x48xi8>, %s: tensor<48xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %whole = tensor.empty() : tensor<256x48xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(k, j) -> (k, j)>, affine_map<(k, j) -> (j)>, affine_map<(k, j) -> (k, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<256x48xi8>, tensor<48xf32>) outs(%whole : tensor<256x48xf32>) {
  ^bb0(%code: i8, %scale: f32, %out: f32):
    %number = arith.sitofp %code : i8 to f32
    %weight = arith.mulf %number, %scale : f32
    linalg.yield %weight : f32
  } -> tensor<256x48xf32>
  %empty = tensor.empty() : tensor<64x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x256xf32>, tensor<256x48xf32>) outs(%start : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %y : tensor<64x48xf32>
}

// So it is where blocks make the matrix part by part.
// CHECK-LABEL: func.func @in_blocks
// CHECK: scf.forall ({{.*}}) in (3)
// CHECK: vector.transfer_read %arg1{{.*}} tensor<256x48xi8>
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: vector.transfer_write {{.*}} tensor<256x16xf32>
// CHECK: vector.contract
func.func @in_blocks(%x: tensor<64x256xf32>, %q: tensor<256x48xi8>, %s: tensor<256xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %whole = tensor.empty() : tensor<256x48xf32>
  %w = scf.forall (%i) = (0) to (256) step (32) shared_outs(%into = %whole) -> (tensor<256x48xf32>) {
    %codes = tensor.extract_slice %q[%i, 0] [32, 48] [1, 1] : tensor<256x48xi8> to tensor<32x48xi8>
    %scales = tensor.extract_slice %s[%i] [32] [1] : tensor<256xf32> to tensor<32xf32>
    %place = tensor.extract_slice %into[%i, 0] [32, 48] [1, 1] : tensor<256x48xf32> to tensor<32x48xf32>
    %part = linalg.generic {indexing_maps = [affine_map<(k, j) -> (k, j)>, affine_map<(k, j) -> (k)>, affine_map<(k, j) -> (k, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%codes, %scales : tensor<32x48xi8>, tensor<32xf32>) outs(%place : tensor<32x48xf32>) {
    ^bb0(%code: i8, %scale: f32, %out: f32):
      %number = arith.sitofp %code : i8 to f32
      %weight = arith.mulf %number, %scale : f32
      linalg.yield %weight : f32
    } -> tensor<32x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %into[%i, 0] [32, 48] [1, 1] : tensor<32x48xf32> into tensor<256x48xf32>
    }
  }
  %empty = tensor.empty() : tensor<64x48xf32>
  %y = scf.forall (%i) = (0) to (64) step (32) shared_outs(%into = %empty) -> (tensor<64x48xf32>) {
    %rows = tensor.extract_slice %x[%i, 0] [32, 256] [1, 1] : tensor<64x256xf32> to tensor<32x256xf32>
    %place = tensor.extract_slice %into[%i, 0] [32, 48] [1, 1] : tensor<64x48xf32> to tensor<32x48xf32>
    %start = linalg.fill ins(%zero : f32) outs(%place : tensor<32x48xf32>) -> tensor<32x48xf32>
    %part = linalg.matmul ins(%rows, %w : tensor<32x256xf32>, tensor<256x48xf32>) outs(%start : tensor<32x48xf32>) -> tensor<32x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %into[%i, 0] [32, 48] [1, 1] : tensor<32x48xf32> into tensor<64x48xf32>
    }
  }
  return %y : tensor<64x48xf32>
}

// Blocks that read each other's place are not one op on the whole.
// CHECK-LABEL: func.func @reversed
// CHECK: %[[MADE:.+]] = scf.forall ({{.*}}) = (0) to (256) step (32)
// CHECK: scf.forall ({{.*}}) in (3)
// CHECK: vector.transfer_read %[[MADE]]
func.func @reversed(%x: tensor<64x256xf32>, %q: tensor<256x48xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %whole = tensor.empty() : tensor<256x48xf32>
  %w = scf.forall (%i) = (0) to (256) step (32) shared_outs(%into = %whole) -> (tensor<256x48xf32>) {
    %from = affine.apply affine_map<(d0) -> (224 - d0)>(%i)
    %rows = tensor.extract_slice %q[%from, 0] [32, 48] [1, 1] : tensor<256x48xf32> to tensor<32x48xf32>
    %place = tensor.extract_slice %into[%i, 0] [32, 48] [1, 1] : tensor<256x48xf32> to tensor<32x48xf32>
    %part = linalg.generic {indexing_maps = [affine_map<(k, j) -> (k, j)>, affine_map<(k, j) -> (k, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%rows : tensor<32x48xf32>) outs(%place : tensor<32x48xf32>) {
    ^bb0(%a: f32, %out: f32):
      %twice = arith.addf %a, %a : f32
      linalg.yield %twice : f32
    } -> tensor<32x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %into[%i, 0] [32, 48] [1, 1] : tensor<32x48xf32> into tensor<256x48xf32>
    }
  }
  %empty = tensor.empty() : tensor<64x48xf32>
  %y = scf.forall (%i) = (0) to (64) step (32) shared_outs(%into = %empty) -> (tensor<64x48xf32>) {
    %rows = tensor.extract_slice %x[%i, 0] [32, 256] [1, 1] : tensor<64x256xf32> to tensor<32x256xf32>
    %place = tensor.extract_slice %into[%i, 0] [32, 48] [1, 1] : tensor<64x48xf32> to tensor<32x48xf32>
    %start = linalg.fill ins(%zero : f32) outs(%place : tensor<32x48xf32>) -> tensor<32x48xf32>
    %part = linalg.matmul ins(%rows, %w : tensor<32x256xf32>, tensor<256x48xf32>) outs(%start : tensor<32x48xf32>) -> tensor<32x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %into[%i, 0] [32, 48] [1, 1] : tensor<32x48xf32> into tensor<64x48xf32>
    }
  }
  return %y : tensor<64x48xf32>
}

// Nor are blocks that write every other row.
// CHECK-LABEL: func.func @interleaved
// CHECK: %[[MADE:.+]] = scf.forall ({{.*}}) in (2)
// CHECK: scf.forall ({{.*}}) in (3)
// CHECK: vector.transfer_read %[[MADE]]
func.func @interleaved(%x: tensor<64x256xf32>, %q: tensor<256x48xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %whole = tensor.empty() : tensor<256x48xf32>
  %w = scf.forall (%i) in (2) shared_outs(%into = %whole) -> (tensor<256x48xf32>) {
    %rows = tensor.extract_slice %q[%i, 0] [128, 48] [1, 1] : tensor<256x48xf32> to tensor<128x48xf32>
    %place = tensor.extract_slice %into[%i, 0] [128, 48] [2, 1] : tensor<256x48xf32> to tensor<128x48xf32>
    %part = linalg.generic {indexing_maps = [affine_map<(k, j) -> (k, j)>, affine_map<(k, j) -> (k, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%rows : tensor<128x48xf32>) outs(%place : tensor<128x48xf32>) {
    ^bb0(%a: f32, %out: f32):
      %twice = arith.addf %a, %a : f32
      linalg.yield %twice : f32
    } -> tensor<128x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %into[%i, 0] [128, 48] [2, 1] : tensor<128x48xf32> into tensor<256x48xf32>
    }
  }
  %empty = tensor.empty() : tensor<64x48xf32>
  %y = scf.forall (%i) = (0) to (64) step (32) shared_outs(%into = %empty) -> (tensor<64x48xf32>) {
    %rows = tensor.extract_slice %x[%i, 0] [32, 256] [1, 1] : tensor<64x256xf32> to tensor<32x256xf32>
    %place = tensor.extract_slice %into[%i, 0] [32, 48] [1, 1] : tensor<64x48xf32> to tensor<32x48xf32>
    %start = linalg.fill ins(%zero : f32) outs(%place : tensor<32x48xf32>) -> tensor<32x48xf32>
    %part = linalg.matmul ins(%rows, %w : tensor<32x256xf32>, tensor<256x48xf32>) outs(%start : tensor<32x48xf32>) -> tensor<32x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %into[%i, 0] [32, 48] [1, 1] : tensor<32x48xf32> into tensor<64x48xf32>
    }
  }
  return %y : tensor<64x48xf32>
}
