// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --decompose-graph --remarks-filter=linrec-schedule -o /dev/null 2>&1 | FileCheck %s

// Larger than all operands: some states are kept, whatever the number of tokens will be.
// CHECK-DAG: :[[@LINE+2]]:{{.*}}Checkpointed{{.*}}checkpointInterval={{[1-9][0-9]+}},
func.func @large(%q: tensor<?x?x1x256xf32>, %k: tensor<?x?x1x256xf32>, %v: tensor<?x?x1x256xf32>, %do: tensor<?x?x1x256xf32>) -> tensor<?x?x1x256xf32> {
  %0:3 = linrec.scan_bwd %q, %k, %v cotangents(%do) {chunk = 16}
      : (tensor<?x?x1x256xf32>, tensor<?x?x1x256xf32>, tensor<?x?x1x256xf32>, tensor<?x?x1x256xf32>)
      -> (tensor<?x?x1x256xf32>, tensor<?x?x1x256xf32>, tensor<?x?x1x256xf32>)
  return %0#0 : tensor<?x?x1x256xf32>
}

// CHECK-DAG: :[[@LINE+2]]:{{.*}}Checkpointed{{.*}}checkpointInterval=1,
func.func @small(%q: tensor<?x?x4x64xf32>, %k: tensor<?x?x4x64xf32>, %v: tensor<?x?x4x64xf32>, %do: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %0:3 = linrec.scan_bwd %q, %k, %v cotangents(%do)
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>)
      -> (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>)
  return %0#0 : tensor<?x?x4x64xf32>
}
