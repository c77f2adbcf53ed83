// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-stream-stores))' | FileCheck %s
// RUN: drawloom-opt %s --cpu-lower-to-llvm | FileCheck %s --check-prefix=LLVM

// CHECK-LABEL: func.func private @whole_lines
// CHECK-NOT: drawloom.streamed
// CHECK: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK-NOT: transfer_write
// The address decides; a fence stands before the return.
// LLVM-LABEL: llvm.func internal @whole_lines
// LLVM: %[[A:.*]] = llvm.ptrtoint
// LLVM: %[[MASK:.*]] = llvm.mlir.constant(63 : i64) : i64
// LLVM: %[[W:.*]] = llvm.and %[[A]], %[[MASK]] : i64
// LLVM: %[[ZERO:.*]] = llvm.mlir.constant(0 : i64) : i64
// LLVM: %[[ALIGNED:.*]] = llvm.icmp "eq" %[[W]], %[[ZERO]]
// LLVM: llvm.cond_br %[[ALIGNED]]
// LLVM: llvm.store {{.*}} {alignment = 64 : i64, nontemporal}
// LLVM: llvm.store {{.*}} {alignment = 1 : i64} : vector<16xf32>
// LLVM: llvm.call_intrinsic "llvm.x86.sse.sfence"
// LLVM-NEXT: llvm.return
func.func private @whole_lines(%out: memref<4x16xf32> {drawloom.streamed}, %i: index, %hi: index) attributes {drawloom.kernel} {
  %v = arith.constant dense<1.0> : vector<16xf32>
  %c0 = arith.constant 0 : index
  vector.transfer_write %v, %out[%i, %c0] {in_bounds = [true]} : vector<16xf32>, memref<4x16xf32>
  return
}

// Less than half a cache line; and memory that nobody marked.
// CHECK-LABEL: func.func private @others
// CHECK-COUNT-2: vector.transfer_write
// LLVM-LABEL: llvm.func internal @others
// LLVM-NOT: nontemporal
// LLVM-NOT: sfence
// LLVM: llvm.return
func.func private @others(%out: memref<4x16xf32> {drawloom.streamed}, %other: memref<4x16xf32>, %i: index, %hi: index) attributes {drawloom.kernel} {
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<16xf32>
  %c0 = arith.constant 0 : index
  vector.transfer_write %v, %out[%i, %c0] {in_bounds = [true]} : vector<4xf32>, memref<4x16xf32>
  vector.transfer_write %w, %other[%i, %c0] {in_bounds = [true]} : vector<16xf32>, memref<4x16xf32>
  return
}

// Loops stand twice where a call says which of them run; buffers do not.
// CHECK-LABEL: func.func private @chosen
// CHECK-SAME: %{{.*}}: memref<4x16xf32>, %[[PAST:[^:]*]]: index
// CHECK-COUNT-1: memref.alloca
// CHECK: %[[CHOSEN:.*]] = arith.cmpi ne, %[[PAST]], %c0
// CHECK: scf.if %[[CHOSEN]] {
// CHECK: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK: } else {
// CHECK: vector.transfer_write
// CHECK-NOT: memref.alloca
func.func private @chosen(%out: memref<4x16xf32> {drawloom.streamed = 1 : index}, %past: index, %lo: index, %hi: index) attributes {drawloom.kernel} {
  %v = arith.constant dense<1.0> : vector<16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %buffer = memref.alloca() : memref<16xf32>
  scf.for %i = %lo to %hi step %c1 {
    vector.transfer_write %v, %buffer[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
    vector.transfer_write %v, %out[%i, %c0] {in_bounds = [true]} : vector<16xf32>, memref<4x16xf32>
  }
  return
}
