// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --cpu-verify-vectors --verify-semantics | FileCheck %s

// Thirty-two sums go through the loop; they are added up once, after it.
// CHECK-LABEL: func.func @sum
// CHECK: %[[LANES:.*]] = scf.for {{.*}} -> (vector<32xf32>)
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK-NEXT: scf.yield
// CHECK: vector.multi_reduction <add>, %[[LANES]]
func.func @sum(%x: tensor<1024xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<1024xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %s : tensor<f32>
}
