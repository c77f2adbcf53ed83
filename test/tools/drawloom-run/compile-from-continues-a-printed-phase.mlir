// RUN: drawloom-run %s --compile-to=kernels > %t.kernels.mlir
// RUN: drawloom-run %s --random --print > %t.whole
// RUN: drawloom-run %t.kernels.mlir --compile-from=kernels --random --print > %t.continued
// RUN: diff %t.whole %t.continued
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
