// RUN: drawloom-run %s --isa=all --compile-to=blocks | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: func.func @f

// RUN: not drawloom-run %s --isa=avx2,baseline --compile-to=vectors 2>&1 | FileCheck %s --check-prefix=VECTORS
// VECTORS: error: phase 'vectors' is one instruction set's own, but 'avx2,baseline' names 2 of them: choose one
// RUN: drawloom-run %s --isa=avx2 --compile-to=vectors > %t.mlir
// RUN: not drawloom-run %t.mlir --random --isa=all --compile-from=vectors 2>&1 | FileCheck %s --check-prefix=FROM
// FROM: error: phase 'vectors' is one instruction set's own, but 'all' names 5 of them: choose one

// The phases behind `blocks` have a folder for each set.
// RUN: rm -rf %t && drawloom-run %s --random --isa=baseline,native --dump-phases-to=%t
// RUN: cd %t && ls . baseline native | FileCheck %s --check-prefix=FOLDERS
// FOLDERS: .:
// FOLDERS-NEXT: 0-input.mlir
// FOLDERS-NEXT: 1-differentiated.mlir
// FOLDERS-NEXT: 2-structured.mlir
// FOLDERS-NEXT: 3-blocks.mlir
// FOLDERS-NEXT: baseline
// FOLDERS-NEXT: native
// FOLDERS: baseline:
// FOLDERS: 7-llvm.mlir
// FOLDERS: native:
// FOLDERS: 7-llvm.mlir
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
