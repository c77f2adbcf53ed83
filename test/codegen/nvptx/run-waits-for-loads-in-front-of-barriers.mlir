// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --compile-to=shared --target=emulator | drawloom-opt --nvptx-lower | FileCheck %s --check-prefix=LOWERED
// CHECK-NOT: FAILED
// CHECK: : passed

// The rounded sums lie where a sum's first term lay, so all threads must have
// loaded that before one stores: loads of shared memory stay in front of the
// barrier, not beside the stores behind it.
// LOWERED-COUNT-8: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// LOWERED-NOT: !llvm.ptr<3>
// LOWERED: nvvm.barrier0
// LOWERED: llvm.store {{.*}} : vector<8xbf16>, !llvm.ptr<3>
func.func @exchange(%x: tensor<128x64xf32>) -> tensor<128x64xbf16> {
  %c64 = arith.constant 64 : index
  %e = tensor.empty() : tensor<128x64xbf16>
  %r = scf.forall (%block) in (2) shared_outs(%o = %e) -> (tensor<128x64xbf16>) {
    %first = arith.muli %block, %c64 : index
    %rows = tensor.extract_slice %x[%first, 0] [64, 64] [1, 1] : tensor<128x64xf32> to tensor<64x64xf32>
    %b = tensor.empty() : tensor<64x64xf32>
    %top = tensor.extract_slice %rows[32, 0] [32, 64] [1, 1] : tensor<64x64xf32> to tensor<32x64xf32>
    %half = tensor.insert_slice %top into %b[0, 0] [32, 64] [1, 1] : tensor<32x64xf32> into tensor<64x64xf32>
    %bottom = tensor.extract_slice %rows[0, 0] [32, 64] [1, 1] : tensor<64x64xf32> to tensor<32x64xf32>
    %a = tensor.insert_slice %bottom into %half[32, 0] [32, 64] [1, 1] : tensor<32x64xf32> into tensor<64x64xf32>
    %sum = arith.addf %a, %rows : tensor<64x64xf32>
    %n = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
    %f = tensor.empty() : tensor<64x64xbf16>
    %left = tensor.extract_slice %n[0, 32] [64, 32] [1, 1] : tensor<64x64xbf16> to tensor<64x32xbf16>
    %c = tensor.insert_slice %left into %f[0, 0] [64, 32] [1, 1] : tensor<64x32xbf16> into tensor<64x64xbf16>
    %right = tensor.extract_slice %n[0, 0] [64, 32] [1, 1] : tensor<64x64xbf16> to tensor<64x32xbf16>
    %d = tensor.insert_slice %right into %c[0, 32] [64, 32] [1, 1] : tensor<64x32xbf16> into tensor<64x64xbf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[%first, 0] [64, 64] [1, 1] : tensor<64x64xbf16> into tensor<128x64xbf16>
    }
  }
  return %r : tensor<128x64xbf16>
}
