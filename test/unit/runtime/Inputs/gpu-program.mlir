// What GpuProgramTest calls: memory alone, and a number that kernels get by
// value and that is a result as well.

func.func @add(%x: tensor<1000xf32>, %y: tensor<1000xf32>) -> tensor<1000xf32> {
  %z = arith.addf %x, %y : tensor<1000xf32>
  return %z : tensor<1000xf32>
}

func.func @axpy(%a: f32, %x: tensor<1000xf32>, %y: tensor<1000xf32>) -> (tensor<1000xf32>, f32) {
  %s = tensor.splat %a : tensor<1000xf32>
  %p = arith.mulf %s, %x : tensor<1000xf32>
  %z = arith.addf %p, %y : tensor<1000xf32>
  return %z, %a : tensor<1000xf32>, f32
}
