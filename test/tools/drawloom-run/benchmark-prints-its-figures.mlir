// RUN: drawloom-run %s --random --benchmark=3 --threads=1 | FileCheck %s
// CHECK: @f: 3 runs on 1 thread
// CHECK: compiled in {{[0-9.]+}} s
// CHECK: median {{[0-9.]+}} ms, least {{[0-9.]+}} ms
// CHECK: {{[0-9.]+}} GFLOP/s, {{[0-9]+}} % of the {{[0-9.]+}} that multiply-adds reach here
// CHECK: {{[0-9.]+}} GB/s of arguments and results, {{[0-9]+}} % of the {{[0-9.]+}} that a triad reaches here
// CHECK: benchmark: entry=f runs=3 threads=1 compile_s={{.*}} median_ms={{.*}} min_ms={{.*}} gflops={{.*}} gflops_roof={{.*}} gbs={{.*}} gbs_roof={{.*}}
func.func @f(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
