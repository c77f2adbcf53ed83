// RUN: not drawloom-translate --mlir-to-ttir --compile-from=blocks %s 2> %t > %t.out
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=OUT --allow-empty < %t.out

// Both kernels are named, and nothing is printed as if it were a program.
// CHECK: error: no TTIR for 'math.ipowi'
// CHECK: error: no TTIR for 'block.scatter'
// OUT-NOT: tt.func
func.func @two(%x: tensor<8xi32>, %rows: tensor<8x4xf32>, %table: tensor<9x4xf32>) -> (tensor<8xi32>, tensor<9x4xf32>) {
  %p = math.ipowi %x, %x : tensor<8xi32>
  %s = block.scatter accumulate %rows into %table[%x] : tensor<8x4xf32> into tensor<9x4xf32>[tensor<8xi32>]
  return %p, %s : tensor<8xi32>, tensor<9x4xf32>
}
