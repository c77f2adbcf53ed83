// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-apply-schedule="staging=1024 product-bytes=2048 limit=4096" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s

// A schedule is a pipeline that prints as text: what is printed can be given again.
// CHECK: func.func(
// CHECK-NEXT: nvptx-tile-k{max-bytes=2048 only-inputs=false},
// CHECK-NEXT: nvptx-rematerialize,
// CHECK-NEXT: nvptx-relayout-reductions,
// CHECK-NEXT: nvptx-assign-layouts,
// CHECK-NEXT: nvptx-stage-operands,
// CHECK-NEXT: nvptx-defer-reductions,
// CHECK-NEXT: nvptx-stage-vectors,
// CHECK-NEXT: nvptx-hoist-staging{limit=1024},
// CHECK-NEXT: nvptx-expand-conversions,
// CHECK-NEXT: nvptx-spill-to-shared{limit=4096},
// CHECK-NEXT: nvptx-pad-buffers{limit=4096},
// CHECK-NEXT: nvptx-pipeline-copies{limit=4096}
// CHECK-NEXT: )
func.func private @f()
