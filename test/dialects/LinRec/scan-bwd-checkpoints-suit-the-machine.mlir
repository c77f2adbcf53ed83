// RUN: drawloom-opt %s --decompose-graph --remarks-filter=linrec-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: drawloom-opt %s --decompose-graph="saved-bytes=2000000" --remarks-filter=linrec-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=LITTLE
// RUN: drawloom-opt %s --decompose-graph="saved-bytes=1000" --remarks-filter=linrec-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: drawloom-opt %s --decompose-graph="processors=132 block-bytes=232448" --remarks-filter=linrec-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEVICE

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 64 chunks, states of 32 KiB. A CPU has those of one head at a time, which are less than what goes in and out.
// With less room, the longest interval that fits; where none does, that of the fewest states. On a device, which
// has the states of all heads, 1 unless a limit is said.
// CPU-DAG: :[[#@LINE+6]]:{{.*}} Checkpointed {{.*}} allStatesBytes=2129920, checkpointInterval=1, limitBytes=42074112, multiplyAdds={{[0-9]+}}, op=linrec.scan_bwd, recomputedMultiplyAdds=0, savedBytes=2129920{{$}}
// LITTLE-DAG: :[[#@LINE+5]]:{{.*}} checkpointInterval=32, limitBytes=2000000, {{.*}} savedBytes=1146880{{$}}
// LEAST-DAG: :[[#@LINE+4]]:{{.*}} checkpointInterval=8, limitBytes=1000, {{.*}} savedBytes=557056{{$}}
// DEVICE-DAG: :[[#@LINE+3]]:{{.*}} allStatesBytes={{[0-9]+}}, checkpointInterval=1, limitBytes=0, {{.*}}
func.func @gradient(%q: tensor<2x2048x4x64xf32>, %v: tensor<2x2048x4x128xf32>, %g: tensor<2x2048x4xf32>)
    -> (tensor<2x2048x4x64xf32>, tensor<2x2048x4x64xf32>, tensor<2x2048x4x128xf32>, tensor<2x2048x4xf32>) {
  %0:4 = linrec.scan_bwd %q, %q, %v decay(%g) cotangents(%v)
      : (tensor<2x2048x4x64xf32>, tensor<2x2048x4x64xf32>, tensor<2x2048x4x128xf32>, tensor<2x2048x4xf32>, tensor<2x2048x4x128xf32>)
      -> (tensor<2x2048x4x64xf32>, tensor<2x2048x4x64xf32>, tensor<2x2048x4x128xf32>, tensor<2x2048x4xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<2x2048x4x64xf32>, tensor<2x2048x4x64xf32>, tensor<2x2048x4x128xf32>, tensor<2x2048x4xf32>
}

// One head of large states, which would be more than all that goes in and out.
// CPU-DAG: :[[#@LINE+3]]:{{.*}} allStatesBytes=17039360, checkpointInterval=32, limitBytes=14696448, {{.*}} recomputedMultiplyAdds={{[1-9][0-9]*}}, savedBytes=9175040{{$}}
func.func @large_states(%q: tensor<1x2048x1x256xf32>, %g: tensor<1x2048x1xf32>)
    -> (tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1xf32>) {
  %0:4 = linrec.scan_bwd %q, %q, %q decay(%g) cotangents(%q)
      : (tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1xf32>, tensor<1x2048x1x256xf32>)
      -> (tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1xf32>
}

// What is said is not chosen.
// CPU-NOT: :[[#@LINE+4]]:{{.*}} Checkpointed
func.func @said(%q: tensor<1x2048x1x256xf32>)
    -> (tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>) {
  %0:3 = linrec.scan_bwd %q, %q, %q cotangents(%q) {checkpoint_interval = 4}
      : (tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>)
      -> (tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>)
  return %0#0, %0#1, %0#2 : tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>, tensor<1x2048x1x256xf32>
}
