// RUN: drawloom-translate --mlir-to-emulated --arch=sm_90a %s | FileCheck %s

// Every instruction of the GPU becomes a call, every access gets one in front of
// it, and the kernel an entry that unpacks its parameters.

// CHECK:       ; place 0: nowhere
// CHECK:       ; place [[LOAD:[0-9]+]]: llvm.load at {{.*}}intercept-calls-the-runtime.mlir:[[# @LINE + 33]]:8
// CHECK:       ; place [[COPY:[0-9]+]]: nvvm.cp.async.shared.global at
// CHECK-NEXT:  ; place {{[0-9]+}}: nvvm.cp.async.shared.global (its global side) at

llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// The attributes of kernels are gone, and so is the arena.
// CHECK-NOT:   global_smem
// CHECK:       define void @k(ptr %[[T:[^,]*]], ptr addrspace(1) %[[X:[^,]*]], i1 %{{[^,]*}}, ptr addrspace(1) %{{[^,]*}}, ptr addrspace(1) %{{[^)]*}}) {

llvm.func @k(%x: !llvm.ptr<1> {llvm.noalias}, %flag: i1, %g: !llvm.ptr<1>, %p: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
// CHECK:         %[[BASE:.*]] = call ptr @emuArena(ptr %[[T]])
// CHECK:         %[[ARENA:.*]] = addrspacecast ptr %[[BASE]] to ptr addrspace(3)
  %s = llvm.mlir.addressof @global_smem : !llvm.ptr<3>
// CHECK:         call i32 @emuRegister(ptr %[[T]], i32 0)
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %four = llvm.mlir.constant(4 : i32) : i32
  %at = llvm.mul %tid, %four : i32
  %q = llvm.getelementptr %s[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8

// The address of shared memory counts from its start.
// CHECK:         ptrtoint
// CHECK:         %[[START:.*]] = ptrtoint
// CHECK:         sub i64 %{{.*}}, %[[START]]
  %n = llvm.ptrtoint %q : !llvm.ptr<3> to i32

// 4 bytes, a load of global memory, aligned to 4.
// CHECK:         %[[GENERIC:.*]] = addrspacecast ptr addrspace(1) %[[X]] to ptr
// CHECK:         call void @emuAccess(ptr %[[T]], ptr %[[GENERIC]], i64 4, i32 16, i32 4, i32 [[LOAD]])
// CHECK-NEXT:    load i32, ptr addrspace(1) %[[X]], align 4
  %v = llvm.load %x : !llvm.ptr<1> -> i32
// CHECK:         call void @emuCopyAsync(ptr %[[T]], ptr %{{.*}}, ptr %{{.*}}, i32 4, i32 4, i32 [[COPY]])
  nvvm.cp.async.shared.global %q, %x, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
// CHECK:         call i64 @emuShuffle(ptr %[[T]], i32 0, i32 -1, i32 %{{.*}}, i32 1, i32 1, i32 {{[0-9]+}})
  %w = nvvm.shfl.sync bfly %all, %v, %one, %one : i32 -> i32
// CHECK:         call i32 @emuBarrier(ptr %[[T]], i32 0, i32 0, i32 -1, i32 0, i32 {{[0-9]+}})
  nvvm.barrier0
  %sum = llvm.add %w, %n : i32
// A store of shared memory.
// CHECK:         call void @emuAccess(ptr %[[T]], ptr %{{.*}}, i64 4, i32 49, i32 4,
// CHECK:         store i32 %{{.*}}, ptr addrspace(3)
  llvm.store %sum, %q : i32, !llvm.ptr<3>
  llvm.return
}

// CHECK:       define void @emulate.k(ptr %[[THREAD:.*]], ptr %[[PARAMETERS:.*]]) {
// CHECK:         load ptr, ptr %{{.*}}
// CHECK:         load ptr addrspace(1), ptr %{{.*}}, align 1
// CHECK:         load i8, ptr %{{.*}}, align 1
// CHECK:         trunc i8 %{{.*}} to i1
// CHECK:         call void @k(ptr %[[THREAD]],
