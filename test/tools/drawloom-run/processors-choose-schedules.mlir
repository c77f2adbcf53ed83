// RUN: not drawloom-run %s --random --processors=-1 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not env DRAWLOOM_PROCESSORS=many drawloom-run %s --random 2>&1 | FileCheck %s
// RUN: drawloom-run %s --random --processors=4 --remarks-filter=linrec-schedule 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: env DRAWLOOM_PROCESSORS=4 drawloom-run %s --random --remarks-filter=linrec-schedule 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: drawloom-run %s --random --remarks-filter=linrec-schedule 2>&1 | FileCheck %s --allow-empty --check-prefix=ONE
// RUN: drawloom-run %s --random --processors=4 --check-bits=3

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// OPTION: --processors=-1: it is a number of processors, from 1
// CHECK: DRAWLOOM_PROCESSORS is 'many'; it is a number of processors, from 1
// FOUR: processors=4, {{.*}} segments=1, valueBlocks=4
// ONE-NOT: Scheduled
func.func @recurrence(%q: tensor<1x1024x1x64xf32>, %v: tensor<1x1024x1x128xf32>, %g: tensor<1x1024x1xf32>)
    -> (tensor<1x1024x1x128xf32>, tensor<1x1x64x128xf32>) {
  %0:2 = linrec.scan %q, %q, %v decay(%g)
      : (tensor<1x1024x1x64xf32>, tensor<1x1024x1x64xf32>, tensor<1x1024x1x128xf32>, tensor<1x1024x1xf32>)
      -> (tensor<1x1024x1x128xf32>, tensor<1x1x64x128xf32>)
  return %0#0, %0#1 : tensor<1x1024x1x128xf32>, tensor<1x1x64x128xf32>
}
