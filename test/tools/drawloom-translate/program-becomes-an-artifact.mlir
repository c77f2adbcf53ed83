// RUN: drawloom-translate --mlir-to-artifact --isa=baseline,avx2 %s -o %t.drawloom
// RUN: head -n 1 %t.drawloom | FileCheck %s
// CHECK: drawloom-artifact 8 {{[0-9]+}} {{[0-9]+}} {{[0-9a-f]+$}}
// RUN: drawloom-run %t.drawloom --entry=g --random --isa=baseline --print | FileCheck %s --check-prefix=RESULT
// RESULT: result0: float32[4]

// RUN: not drawloom-translate --mlir-to-artifact --isa=avx3 %s -o %t.none 2>&1 | FileCheck %s --check-prefix=SET
// SET: unknown instruction set 'avx3'
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
