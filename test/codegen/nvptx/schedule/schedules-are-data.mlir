// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is printed is what can be given: the same kernels come out. What is chosen does not depend on the architecture.
// RUN: drawloom-translate %s --mlir-to-schedules --arch=sm_90a > %t.json
// RUN: FileCheck %s < %t.json
// RUN: drawloom-translate %s --mlir-to-schedules --arch=sm_80 | FileCheck %s
// RUN: drawloom-translate %s --mlir-to-schedules --arch=sm_100a | FileCheck %s
// RUN: drawloom-translate %s --mlir-to-ptx --arch=sm_90a > %t.ptx
// RUN: drawloom-translate %s --mlir-to-ptx --arch=sm_90a --schedule=%t.json | diff - %t.ptx
// CHECK: "f_0": {
// CHECK: "alternatives": [
// CHECK: "warps": 8
// CHECK: "predicted": {
// CHECK: "blocks_at_once": {{[1-9]}}
// CHECK: "bound":
// CHECK: "registers": {{[1-9]}}
// CHECK: "rows": {{[1-9]}}
// CHECK: "spilled": 0
// CHECK: "staging": 98304
// CHECK: "warps": 4

// What is given is what is made: an attribute, a file for the function, and one for the kernel.
// RUN: echo '{"f": {"rows": 32, "warps": 8}}' > %t.all.json
// RUN: drawloom-translate %s --mlir-to-schedules --schedule=%t.all.json | FileCheck %s --check-prefix=GIVEN
// GIVEN: "alternatives": []
// GIVEN: "rows": 32
// GIVEN: "warps": 8
// RUN: echo '{"f_0": {"warps": 1, "staging": 0}}' > %t.one.json
// RUN: drawloom-run %s --random --target=emulator --schedule=%t.one.json --compare=interpreter
// RUN: drawloom-translate %s --mlir-to-ptx --schedule=%t.one.json | FileCheck %s --check-prefix=ONE
// ONE: .reqntid 32

// The choice, as remarks.
// RUN: drawloom-run %s --random --target=emulator --remarks-filter=schedule 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: [Passed] Chosen{{.*}}kernel=f_0,{{.*}} rows={{[1-9]+}},{{.*}} staging=98304, warps=4
// REMARK: [Analysis] Considered{{.*}} warps=8
func.func @f(%x: tensor<1024x64xf32>, %b: tensor<64xf32>) -> tensor<1024x64xf32> {
  %e = tensor.empty() : tensor<1024x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<1024x64xf32>, tensor<64xf32>) outs(%e : tensor<1024x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<1024x64xf32>
  return %r : tensor<1024x64xf32>
}
