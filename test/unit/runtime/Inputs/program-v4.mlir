// program-v4.drawloom is this program as the first version that saved files with
// code for GPUs compiled it, by
//   drawloom-translate --mlir-to-artifact --target=cpu,cuda --isa=baseline --arch=sm_80
// and program-v4/ has its kernels for the emulated driver, by the checksums of
// their cubins. They stay as they are: every later library must load the file.

func.func @axpy(%a: f32, %x: tensor<1000xf32>, %y: tensor<1000xf32>) -> (tensor<1000xf32>, f32) {
  %s = tensor.splat %a : tensor<1000xf32>
  %p = arith.mulf %s, %x : tensor<1000xf32>
  %z = arith.addf %p, %y : tensor<1000xf32>
  return %z, %a : tensor<1000xf32>, f32
}
