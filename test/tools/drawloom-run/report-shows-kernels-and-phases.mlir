// RUN: drawloom-run %s --random --report --benchmark=2 --threads=1 2>&1 | FileCheck %s --implicit-check-not=remark:

// CHECK: @f: {{.*}} ms a call, the mean of 2 on 1 thread
// CHECK: roofs: {{.*}} GFLOP/s of multiply-adds
// CHECK: kernel {{.*}} blocks {{.*}} GFLOP/s
// 4096 x 64 rows of 2 x 32 operations, and one more for the relu.
// CHECK: f_kernel0 report-shows-kernels-and-phases.mlir:{{[0-9]+}} {{.*}} {{1[67]\..*}}
// CHECK: compiled in
// CHECK: llvm {{.*}} ms
// CHECK: machine code {{.*}} ms
// CHECK: remarks
// CHECK: report-shows-kernels-and-phases.mlir:{{[0-9]+}}: passed: fuse-rows: Fused
// CHECK-NEXT: rows 4096, blocks
func.func @f(%x: tensor<4096x32xf32>, %w: tensor<32x64xf32>) -> tensor<4096x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<4096x64xf32>
  %z = linalg.matmul ins(%x, %w : tensor<4096x32xf32>, tensor<32x64xf32>) outs(%zero : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %y = kan.relu %z : tensor<4096x64xf32>
  return %y : tensor<4096x64xf32>
}
