// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: drawloom-run %s --entry=of_lanes --compile-to=shared --target=emulator | FileCheck %s --check-prefix=LANES
// RUN: drawloom-run %s --entry=of_lanes --random --target=emulator --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --entry=of_warps --compile-to=shared --target=emulator | FileCheck %s --check-prefix=WARPS
// RUN: drawloom-run %s --entry=of_warps --random --target=emulator --compare=interpreter | FileCheck %s
// CHECK: : passed
// CHECK-NOT: FAILED

// Rows that other lanes hold, in an order in which none can stand for another.
// LANES-COUNT-3: tile.slice
// LANES-NOT: tile.slice
func.func @of_lanes(%x: tensor<4x16x64xbf16>, %w: tensor<64x128xbf16>) -> tensor<4x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x128xf32>
  %r = scf.forall (%i) in (4) shared_outs(%o = %e) -> (tensor<4x128xf32>) {
    %t = tensor.extract_slice %x[%i, 0, 0] [1, 16, 64] [1, 1, 1] : tensor<4x16x64xbf16> to tensor<16x64xbf16>
    %em = tensor.empty() : tensor<16x128xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%em : tensor<16x128xf32>) -> tensor<16x128xf32>
    %y = linalg.matmul ins(%t, %w : tensor<16x64xbf16>, tensor<64x128xbf16>) outs(%zeros : tensor<16x128xf32>) -> tensor<16x128xf32>
    %ev = tensor.empty() : tensor<128xf32>
    %s = linalg.fill ins(%zero : f32) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %a0 = tensor.extract_slice %y[3, 0] [1, 128] [1, 1] : tensor<16x128xf32> to tensor<128xf32>
    %p0 = linalg.mul ins(%s, %a0 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %s0 = linalg.add ins(%p0, %a0 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %a1 = tensor.extract_slice %y[8, 0] [1, 128] [1, 1] : tensor<16x128xf32> to tensor<128xf32>
    %p1 = linalg.mul ins(%s0, %a1 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %s1 = linalg.add ins(%p1, %a1 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %a2 = tensor.extract_slice %y[13, 0] [1, 128] [1, 1] : tensor<16x128xf32> to tensor<128xf32>
    %p2 = linalg.mul ins(%s1, %a2 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %s2 = linalg.add ins(%p2, %a2 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s2 into %o[%i, 0] [1, 128] [1, 1] : tensor<128xf32> into tensor<4x128xf32>
    }
  }
  return %r : tensor<4x128xf32>
}

// Rows that other warps hold: the product's result is stored once, for all of them.
// WARPS-NOT: tile.slice
// WARPS: tile.dot
// WARPS: tile.store %{{.*}} : tensor<128x128xf32
// WARPS-NOT: tile.store %{{.*}} : tensor<128x128xf32
func.func @of_warps(%x: tensor<4x128x64xbf16>, %w: tensor<64x128xbf16>) -> tensor<4x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x128xf32>
  %r = scf.forall (%i) in (4) shared_outs(%o = %e) -> (tensor<4x128xf32>) {
    %t = tensor.extract_slice %x[%i, 0, 0] [1, 128, 64] [1, 1, 1] : tensor<4x128x64xbf16> to tensor<128x64xbf16>
    %em = tensor.empty() : tensor<128x128xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%em : tensor<128x128xf32>) -> tensor<128x128xf32>
    %y = linalg.matmul ins(%t, %w : tensor<128x64xbf16>, tensor<64x128xbf16>) outs(%zeros : tensor<128x128xf32>) -> tensor<128x128xf32>
    %ev = tensor.empty() : tensor<128xf32>
    %s = linalg.fill ins(%zero : f32) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %a0 = tensor.extract_slice %y[2, 0] [1, 128] [1, 1] : tensor<128x128xf32> to tensor<128xf32>
    %p0 = linalg.mul ins(%s, %a0 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %s0 = linalg.add ins(%p0, %a0 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %a1 = tensor.extract_slice %y[31, 0] [1, 128] [1, 1] : tensor<128x128xf32> to tensor<128xf32>
    %p1 = linalg.mul ins(%s0, %a1 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %s1 = linalg.add ins(%p1, %a1 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %a2 = tensor.extract_slice %y[40, 0] [1, 128] [1, 1] : tensor<128x128xf32> to tensor<128xf32>
    %p2 = linalg.mul ins(%s1, %a2 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %s2 = linalg.add ins(%p2, %a2 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %a3 = tensor.extract_slice %y[101, 0] [1, 128] [1, 1] : tensor<128x128xf32> to tensor<128xf32>
    %p3 = linalg.mul ins(%s2, %a3 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %s3 = linalg.add ins(%p3, %a3 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %a4 = tensor.extract_slice %y[126, 0] [1, 128] [1, 1] : tensor<128x128xf32> to tensor<128xf32>
    %p4 = linalg.mul ins(%s3, %a4 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    %s4 = linalg.add ins(%p4, %a4 : tensor<128xf32>, tensor<128xf32>) outs(%ev : tensor<128xf32>) -> tensor<128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s4 into %o[%i, 0] [1, 128] [1, 1] : tensor<128xf32> into tensor<4x128xf32>
    }
  }
  return %r : tensor<4x128xf32>
}
