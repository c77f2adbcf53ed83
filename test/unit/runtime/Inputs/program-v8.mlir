// program-v8.drawloom is this program as the first version that keeps values in
// a store compiled it, by
//   drawloom-translate --mlir-to-artifact --isa=baseline
// It stays as it is: every later library must load the file.

func.func @root_of_squares(%x: tensor<3145728xf32>) -> (tensor<3145728xf32>, tensor<3145728xf32>) {
  %a = arith.mulf %x, %x : tensor<3145728xf32>
  %r = offload.store %a : tensor<3145728xf32> -> !offload.record<tensor<3145728xf32>>
  offload.load %r : !offload.record<tensor<3145728xf32>>
  %e = tensor.empty() : tensor<3145728xf32>
  %b = offload.await %r into %e : !offload.record<tensor<3145728xf32>>, tensor<3145728xf32> -> tensor<3145728xf32>
  %c = math.sqrt %b : tensor<3145728xf32>
  %s = offload.store %c : tensor<3145728xf32> -> !offload.record<tensor<3145728xf32>>
  offload.load %s : !offload.record<tensor<3145728xf32>>
  offload.load %r : !offload.record<tensor<3145728xf32>>
  %f = tensor.empty() : tensor<3145728xf32>
  %d = offload.await %s into %f : !offload.record<tensor<3145728xf32>>, tensor<3145728xf32> -> tensor<3145728xf32>
  offload.drop %s : !offload.record<tensor<3145728xf32>>
  %g = tensor.empty() : tensor<3145728xf32>
  %h = offload.await %r into %g : !offload.record<tensor<3145728xf32>>, tensor<3145728xf32> -> tensor<3145728xf32>
  offload.drop %r : !offload.record<tensor<3145728xf32>>
  return %d, %h : tensor<3145728xf32>, tensor<3145728xf32>
}
