// RUN: drawloom-opt %s --decompose-graph="processors=2" --remarks-filter=linrec-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: drawloom-opt %s --decompose-graph="processors=8" --remarks-filter=linrec-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=EIGHT
// RUN: drawloom-opt %s --decompose-graph="processors=132 block-bytes=232448" --remarks-filter=linrec-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: drawloom-opt %s --decompose-graph --remarks-filter=linrec-schedule -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=ONE

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where nobody says how many processors there are, nothing is chosen.
// ONE-NOT: Scheduled

// Few heads: columns of the state come first, then tokens.
// TWO-DAG: :[[#@LINE+5]]:{{.*}} segments=1, valueBlocks=2{{$}}
// EIGHT-DAG: :[[#@LINE+4]]:{{.*}} segments=8, valueBlocks=1{{$}}
// DEVICE-DAG: :[[#@LINE+3]]:{{.*}} segments=32, valueBlocks=4{{$}}
func.func @decays_of_tokens(%q: tensor<1x8192x1x64xf32>, %v: tensor<1x8192x1x128xf32>, %g: tensor<1x8192x1xf32>)
    -> (tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>) {
  %0:2 = linrec.scan %q, %q, %v decay(%g)
      : (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>)
      -> (tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>)
  return %0#0, %0#1 : tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>
}

// TWO-DAG: :[[#@LINE+5]]:{{.*}} segments=1, valueBlocks=2{{$}}
// EIGHT-DAG: :[[#@LINE+4]]:{{.*}} segments=8, valueBlocks=1{{$}}
// DEVICE-DAG: :[[#@LINE+3]]:{{.*}} segments=64, valueBlocks=2{{$}}
func.func @decays_of_tokens_gradient(%q: tensor<1x8192x1x64xf32>, %v: tensor<1x8192x1x128xf32>, %g: tensor<1x8192x1xf32>)
    -> (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>) {
  %0:4 = linrec.scan_bwd %q, %q, %v decay(%g) cotangents(%v)
      : (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>, tensor<1x8192x1x128xf32>)
      -> (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>
}

// Segments of a delta rule are dear: M is a matrix.
// TWO-DAG: :[[#@LINE+5]]:{{.*}} segments=1, valueBlocks=2{{$}}
// EIGHT-DAG: :[[#@LINE+4]]:{{.*}} segments=8, valueBlocks=1{{$}}
// DEVICE-DAG: :[[#@LINE+3]]:{{.*}} segments=16, valueBlocks=8{{$}}
func.func @delta_rule(%q: tensor<1x8192x1x64xf32>, %v: tensor<1x8192x1x128xf32>, %g: tensor<1x8192x1xf32>, %b: tensor<1x8192x1xf32>)
    -> (tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>) {
  %0:2 = linrec.scan %q, %q, %v decay(%g) beta(%b)
      : (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>, tensor<1x8192x1xf32>)
      -> (tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>)
  return %0#0, %0#1 : tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>
}

// Chunks that may go token after token are scheduled as others.
// TWO-DAG: :[[#@LINE+5]]:{{.*}} segments=1, valueBlocks=2{{$}}
// EIGHT-DAG: :[[#@LINE+4]]:{{.*}} segments=8, valueBlocks=1{{$}}
// DEVICE-DAG: :[[#@LINE+3]]:{{.*}} segments=64, valueBlocks=2{{$}}
func.func @decays_of_keys_gradient(%q: tensor<1x8192x1x64xf32>, %v: tensor<1x8192x1x128xf32>, %g: tensor<1x8192x1x64xf32>)
    -> (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1x64xf32>) {
  %0:4 = linrec.scan_bwd %q, %q, %v decay(%g) cotangents(%v)
      : (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>)
      -> (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1x64xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1x64xf32>
}

// TWO-DAG: :[[#@LINE+5]]:{{.*}} segments=1, valueBlocks=2{{$}}
// EIGHT-DAG: :[[#@LINE+4]]:{{.*}} segments=8, valueBlocks=1{{$}}
// DEVICE-DAG: :[[#@LINE+3]]:{{.*}} segments=64, valueBlocks=2{{$}}
func.func @bounded_decays_of_keys_gradient(%q: tensor<1x8192x1x64xf32>, %v: tensor<1x8192x1x128xf32>, %g: tensor<1x8192x1x64xf32>)
    -> (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1x64xf32>) {
  %0:4 = linrec.scan_bwd %q, %q, %v decay(%g) cotangents(%v) {decay_bound = -2.0}
      : (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>)
      -> (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1x64xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1x64xf32>
}

// As many heads as processors: as they are.
// TWO-DAG: :[[#@LINE+4]]:{{.*}} segments=1, valueBlocks=1{{$}}
// EIGHT-DAG: :[[#@LINE+3]]:{{.*}} segments=1, valueBlocks=1{{$}}
func.func @heads_enough(%q: tensor<2x8192x4x64xf32>, %v: tensor<2x8192x4x128xf32>, %g: tensor<2x8192x4xf32>)
    -> (tensor<2x8192x4x128xf32>, tensor<2x4x64x128xf32>) {
  %0:2 = linrec.scan %q, %q, %v decay(%g)
      : (tensor<2x8192x4x64xf32>, tensor<2x8192x4x64xf32>, tensor<2x8192x4x128xf32>, tensor<2x8192x4xf32>)
      -> (tensor<2x8192x4x128xf32>, tensor<2x4x64x128xf32>)
  return %0#0, %0#1 : tensor<2x8192x4x128xf32>, tensor<2x4x64x128xf32>
}

// One head more than processors would not gain a fifth.
// TWO-DAG: :[[#@LINE+3]]:{{.*}} segments=1, valueBlocks=1{{$}}
func.func @three_heads(%q: tensor<1x8192x3x64xf32>, %v: tensor<1x8192x3x128xf32>, %g: tensor<1x8192x3xf32>)
    -> (tensor<1x8192x3x128xf32>, tensor<1x3x64x128xf32>) {
  %0:2 = linrec.scan %q, %q, %v decay(%g)
      : (tensor<1x8192x3x64xf32>, tensor<1x8192x3x64xf32>, tensor<1x8192x3x128xf32>, tensor<1x8192x3xf32>)
      -> (tensor<1x8192x3x128xf32>, tensor<1x3x64x128xf32>)
  return %0#0, %0#1 : tensor<1x8192x3x128xf32>, tensor<1x3x64x128xf32>
}

// Few tokens: other kernels would cost more than they save.
// TWO-DAG: :[[#@LINE+5]]:{{.*}} segments=1, valueBlocks=1{{$}}
// EIGHT-DAG: :[[#@LINE+4]]:{{.*}} segments=1, valueBlocks=1{{$}}
// DEVICE-DAG: :[[#@LINE+3]]:{{.*}} segments=1, valueBlocks=1{{$}}
func.func @few_tokens(%q: tensor<1x32x1x64xf32>, %v: tensor<1x32x1x128xf32>, %g: tensor<1x32x1xf32>)
    -> (tensor<1x32x1x128xf32>, tensor<1x1x64x128xf32>) {
  %0:2 = linrec.scan %q, %q, %v decay(%g)
      : (tensor<1x32x1x64xf32>, tensor<1x32x1x64xf32>, tensor<1x32x1x128xf32>, tensor<1x32x1xf32>)
      -> (tensor<1x32x1x128xf32>, tensor<1x1x64x128xf32>)
  return %0#0, %0#1 : tensor<1x32x1x128xf32>, tensor<1x1x64x128xf32>
}

// What is packed must not depend on what it is packed with.
// TWO-DAG: :[[#@LINE+5]]:{{.*}} segments=1, valueBlocks=1{{$}}
// EIGHT-DAG: :[[#@LINE+4]]:{{.*}} segments=1, valueBlocks=1{{$}}
// DEVICE-DAG: :[[#@LINE+3]]:{{.*}} segments=1, valueBlocks=1{{$}}
func.func @packed(%q: tensor<1x8192x1x64xf32>, %v: tensor<1x8192x1x128xf32>, %g: tensor<1x8192x1xf32>, %s: tensor<3xi32>)
    -> (tensor<1x8192x1x128xf32>, tensor<2x1x64x128xf32>) {
  %0:2 = linrec.scan %q, %q, %v decay(%g) starts(%s)
      : (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>, tensor<3xi32>)
      -> (tensor<1x8192x1x128xf32>, tensor<2x1x64x128xf32>)
  return %0#0, %0#1 : tensor<1x8192x1x128xf32>, tensor<2x1x64x128xf32>
}

// A state and its gradient that a device's blocks have no room for: of fewer values.
// TWO-DAG: :[[#@LINE+4]]:{{.*}} segments=1, valueBlocks=1{{$}}
// DEVICE-DAG: :[[#@LINE+3]]:{{.*}} segments=1, valueBlocks=8{{$}}
func.func @large_states(%q: tensor<8x2048x32x256xbf16>, %g: tensor<8x2048x32xf32>)
    -> (tensor<8x2048x32x256xbf16>, tensor<8x2048x32x256xbf16>, tensor<8x2048x32x256xbf16>, tensor<8x2048x32xf32>) {
  %0:4 = linrec.scan_bwd %q, %q, %q decay(%g) cotangents(%q)
      : (tensor<8x2048x32x256xbf16>, tensor<8x2048x32x256xbf16>, tensor<8x2048x32x256xbf16>, tensor<8x2048x32xf32>, tensor<8x2048x32x256xbf16>)
      -> (tensor<8x2048x32x256xbf16>, tensor<8x2048x32x256xbf16>, tensor<8x2048x32x256xbf16>, tensor<8x2048x32xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<8x2048x32x256xbf16>, tensor<8x2048x32x256xbf16>, tensor<8x2048x32x256xbf16>, tensor<8x2048x32xf32>
}
