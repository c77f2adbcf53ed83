// RUN: mkdir -p %t
// RUN: drawloom-run %s --random --spill=%t --compare=interpreter --check-bits=2

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%a: tensor<33x5xindex>, %b: tensor<7xi1>, %c: tensor<9xbf16>, %d: tensor<f64>, %e: tensor<0x4xf32>, %x: tensor<6x8xf32>)
    -> (tensor<33x5xindex>, tensor<7xi1>, tensor<9xbf16>, tensor<f64>, tensor<0x4xf32>, tensor<6x4xf32>) {
  %part = tensor.extract_slice %x[0, 4] [6, 4] [1, 1] : tensor<6x8xf32> to tensor<6x4xf32>
  %ra = offload.store %a : tensor<33x5xindex> -> !offload.record<tensor<33x5xindex>>
  %rb = offload.store %b : tensor<7xi1> -> !offload.record<tensor<7xi1>>
  %rc = offload.store %c : tensor<9xbf16> -> !offload.record<tensor<9xbf16>>
  %rd = offload.store %d : tensor<f64> -> !offload.record<tensor<f64>>
  %re = offload.store %e : tensor<0x4xf32> -> !offload.record<tensor<0x4xf32>>
  %rx = offload.store %part : tensor<6x4xf32> -> !offload.record<tensor<6x4xf32>>
  offload.load %ra : !offload.record<tensor<33x5xindex>>
  %ea = tensor.empty() : tensor<33x5xindex>
  %ya = offload.await %ra into %ea : !offload.record<tensor<33x5xindex>>, tensor<33x5xindex> -> tensor<33x5xindex>
  offload.drop %ra : !offload.record<tensor<33x5xindex>>
  offload.load %rb : !offload.record<tensor<7xi1>>
  %eb = tensor.empty() : tensor<7xi1>
  %yb = offload.await %rb into %eb : !offload.record<tensor<7xi1>>, tensor<7xi1> -> tensor<7xi1>
  offload.drop %rb : !offload.record<tensor<7xi1>>
  offload.load %rc : !offload.record<tensor<9xbf16>>
  %ec = tensor.empty() : tensor<9xbf16>
  %yc = offload.await %rc into %ec : !offload.record<tensor<9xbf16>>, tensor<9xbf16> -> tensor<9xbf16>
  offload.drop %rc : !offload.record<tensor<9xbf16>>
  offload.load %rd : !offload.record<tensor<f64>>
  %ed = tensor.empty() : tensor<f64>
  %yd = offload.await %rd into %ed : !offload.record<tensor<f64>>, tensor<f64> -> tensor<f64>
  offload.drop %rd : !offload.record<tensor<f64>>
  offload.load %re : !offload.record<tensor<0x4xf32>>
  %ee = tensor.empty() : tensor<0x4xf32>
  %ye = offload.await %re into %ee : !offload.record<tensor<0x4xf32>>, tensor<0x4xf32> -> tensor<0x4xf32>
  offload.drop %re : !offload.record<tensor<0x4xf32>>
  offload.load %rx : !offload.record<tensor<6x4xf32>>
  %ex = tensor.empty() : tensor<6x4xf32>
  %yx = offload.await %rx into %ex : !offload.record<tensor<6x4xf32>>, tensor<6x4xf32> -> tensor<6x4xf32>
  offload.drop %rx : !offload.record<tensor<6x4xf32>>
  return %ya, %yb, %yc, %yd, %ye, %yx : tensor<33x5xindex>, tensor<7xi1>, tensor<9xbf16>, tensor<f64>, tensor<0x4xf32>, tensor<6x4xf32>
}
