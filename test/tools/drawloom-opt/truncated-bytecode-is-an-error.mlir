// RUN: drawloom-opt --emit-bytecode %s -o %t.full
// RUN: head -c 120 %t.full > %t.cut
// RUN: not drawloom-opt %t.cut 2>&1 | FileCheck %s
// CHECK: error:
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
