// RUN: drawloom-run %s --random --threads=1 --output=%t.1.npy
// RUN: drawloom-run %s --random --threads=3 --output=%t.3.npy
// RUN: cmp %t.1.npy %t.3.npy
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
