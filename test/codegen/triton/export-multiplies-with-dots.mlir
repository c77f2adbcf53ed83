// RUN: drawloom-translate --mlir-to-ttir --compile-from=blocks %s | FileCheck %s
// RUN: drawloom-translate --mlir-to-ttir --compile-from=blocks --ttir-dot-precision=tf32 %s | FileCheck %s --check-prefix=TF32
// RUN: not drawloom-translate --mlir-to-ttir --compile-from=blocks --ttir-dot-precision=fast %s 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: there is no precision of products 'fast': ieee, tf32, tf32x3

// f32 keeps its bits. Tensor cores of bf16 take 16 of K at once: 8 are filled up
// with zeros.
// CHECK-LABEL: @products_0
// CHECK: tt.dot %{{.*}}, inputPrecision = ieee : tensor<16x8xf32> * tensor<8x32xf32> -> tensor<16x32xf32>
// CHECK: tt.dot %{{.*}} : tensor<16x16xbf16> * tensor<16x32xbf16> -> tensor<16x32xf32>
// TF32: inputPrecision = tf32 : tensor<16x8xf32>
func.func @products(%a: tensor<16x8xf32>, %b: tensor<8x32xf32>, %c: tensor<16x8xbf16>, %d: tensor<8x32xbf16>) -> tensor<16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x32xf32>
  %y = scf.forall (%block) in (1) shared_outs(%out = %empty) -> (tensor<16x32xf32>) {
    %e = tensor.empty() : tensor<16x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
    %p = linalg.matmul ins(%a, %b : tensor<16x8xf32>, tensor<8x32xf32>) outs(%z : tensor<16x32xf32>) -> tensor<16x32xf32>
    %q = linalg.matmul ins(%c, %d : tensor<16x8xbf16>, tensor<8x32xbf16>) outs(%p : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %out[0, 0] [16, 32] [1, 1] : tensor<16x32xf32> into tensor<16x32xf32>
    }
  }
  return %y : tensor<16x32xf32>
}
