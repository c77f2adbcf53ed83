// RUN: drawloom-run %s --random --seed=1 --remarks-filter=fuse-rows 2>&1 | FileCheck %s
// RUN: drawloom-run %s --random --seed=1 --remarks-filter=no-such-pass 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty

// CHECK: remark: [Passed] Fused | Category:fuse-rows
// NONE-NOT: remark
func.func @exp(%x: tensor<128x8xf32>) -> tensor<128x8xf32> {
  %y = math.exp %x : tensor<128x8xf32>
  return %y : tensor<128x8xf32>
}
