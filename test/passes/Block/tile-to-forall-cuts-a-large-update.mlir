// RUN: drawloom-opt %s --tile-to-forall --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @large
// CHECK: scf.forall (%{{.*}}) = (0) to (1024) step (16)
// CHECK: tensor<16x128xf32>
#ij = affine_map<(i, j) -> (i, j)>
func.func @large(%x: tensor<1024x128xf32>) -> tensor<1024x128xf32> {
  %e = tensor.empty() : tensor<1024x128xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1024x128xf32>) outs(%e : tensor<1024x128xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<1024x128xf32>
  return %y : tensor<1024x128xf32>
}

// CHECK-LABEL: func.func @small
// CHECK-NOT: scf.forall
func.func @small(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %e = tensor.empty() : tensor<16x16xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}
