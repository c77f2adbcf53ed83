// RUN: drawloom-opt %s --emulator-intercept-nvvm | FileCheck %s

// Every op of the GPU becomes a call, every access gets one in front of it, and
// the kernel an entry that unpacks its parameters.

// CHECK-LABEL: module attributes {drawloom.emulator_sites = [
// CHECK-SAME:    "llvm.load at {{.*}}intercept-calls-the-runtime.mlir:[[# @LINE + 40]]:8"
// CHECK-SAME:    "nvvm.cp.async.shared.global at
// CHECK-SAME:    "nvvm.cp.async.shared.global (its global side) at

llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// CHECK-NOT:     global_smem
// CHECK:         llvm.func @emulate.k(%[[THREAD:.*]]: !llvm.ptr, %[[PARAMETERS:.*]]: !llvm.ptr) {
// CHECK:           %[[SLOT:.*]] = llvm.getelementptr %[[PARAMETERS]][0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK:           %[[ADDRESS:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
// CHECK:           llvm.load %[[ADDRESS]] {alignment = 1 : i64} : !llvm.ptr -> !llvm.ptr
// CHECK:           llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr -> i8
// CHECK:           llvm.trunc {{.*}} : i8 to i1
// CHECK:           llvm.call @k(%[[THREAD]], {{.*}}) : (!llvm.ptr, !llvm.ptr, i1, !llvm.ptr, !llvm.ptr) -> ()

// The attributes of kernels are gone.
// CHECK:         llvm.func @k(%[[T:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %{{[^:]*}}: i1, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr) {

llvm.func @k(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %flag: i1, %g: !llvm.ptr<1>, %p: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
// CHECK:           llvm.call @emuRegister(%[[T]], {{.*}}) : (!llvm.ptr, i32) -> i32
  %tid = nvvm.read.ptx.sreg.tid.x : i32
// CHECK:           %[[ARENA:.*]] = llvm.call @emuArena(%[[T]]) : (!llvm.ptr) -> !llvm.ptr
  %s = llvm.mlir.addressof @global_smem : !llvm.ptr<3>

// The address of shared memory counts from its start.
// CHECK:           %[[BASE:.*]] = llvm.ptrtoint {{.*}} : !llvm.ptr to i64
// CHECK:           %[[AT:.*]] = llvm.ptrtoint %[[ARENA]] : !llvm.ptr to i64
// CHECK:           llvm.sub %[[AT]], %[[BASE]] : i64
  %n = llvm.ptrtoint %s : !llvm.ptr<3> to i32
  %q = llvm.getelementptr %s[%n] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8

// 4 bytes, a load of global memory, aligned to 4.
// CHECK-DAG:       %[[BYTES:.*]] = llvm.mlir.constant(4 : i64) : i64
// CHECK-DAG:       %[[KIND:.*]] = llvm.mlir.constant(16 : i32) : i32
// CHECK-DAG:       %[[ALIGNMENT:.*]] = llvm.mlir.constant(4 : i32) : i32
// CHECK:           llvm.call @emuAccess(%[[T]], %[[X]], %[[BYTES]], %[[KIND]], %[[ALIGNMENT]], {{.*}})
// CHECK-NEXT:      llvm.load %[[X]] : !llvm.ptr -> i32
  %v = llvm.load %x : !llvm.ptr<1> -> i32
// CHECK:           llvm.call @emuCopyAsync(%[[T]], {{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, i32) -> ()
  nvvm.cp.async.shared.global %q, %x, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
// CHECK:           llvm.call @emuShuffle(%[[T]], {{.*}}) : (!llvm.ptr, i32, i32, i32, i32, i32, i32) -> i64
  %w = nvvm.shfl.sync bfly %all, %v, %one, %one : i32 -> i32
// CHECK:           llvm.call @emuBarrier(%[[T]],
  nvvm.barrier0
// A store of shared memory.
// CHECK:           %[[STORE:.*]] = llvm.mlir.constant(49 : i32) : i32
// CHECK:           llvm.call @emuAccess(%[[T]], {{.*}}, %[[STORE]],
// CHECK:           llvm.store {{.*}} : i32, !llvm.ptr
  llvm.store %w, %q : i32, !llvm.ptr<3>
  llvm.return
}
