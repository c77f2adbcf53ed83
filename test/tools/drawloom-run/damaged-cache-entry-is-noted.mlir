// RUN: rm -rf %t
// RUN: drawloom-run %s --random --cache=%t 2>&1 | FileCheck %s --allow-empty --check-prefix=QUIET
// RUN: truncate -s 300 %t/llvmcache-*
// RUN: drawloom-run %s --random --cache=%t --compare=interpreter 2>&1 | FileCheck %s
// CHECK: drawloom-run: remark: the cache's entry '{{.*}}llvmcache-{{[0-9a-f]+}}' is not used: it is cut off or too long
// CHECK: passed

// It was replaced.
// RUN: drawloom-run %s --random --cache=%t 2>&1 | FileCheck %s --allow-empty --check-prefix=QUIET
// QUIET-NOT: remark
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
