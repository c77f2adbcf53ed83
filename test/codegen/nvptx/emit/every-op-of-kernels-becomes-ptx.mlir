// What the NVIDIA target's kernels are made of, and the instructions of it.
//
// RUN: drawloom-translate --mlir-to-ptx --line-info=0 --arch=sm_80 %s | FileCheck %s
// RUN: drawloom-translate --mlir-to-ptx --line-info=0 --arch=sm_100a %s | FileCheck %s
// RUN: %if ptxas %{ rm -rf %t && drawloom-translate --mlir-to-bundle --arch=all --bundle-dir=%t %s %}

llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// CHECK-LABEL: .visible .entry warp(
// CHECK-DAG: mov.u32 {{.*}}, %tid.x
// CHECK-DAG: mov.u32 {{.*}}, %ctaid.y
// CHECK-DAG: mov.u32 {{.*}}, %nctaid.x
// CHECK-DAG: mov.u32 {{.*}}, %ntid.x
// CHECK-DAG: mov.u32 {{.*}}, %laneid
// CHECK: shfl.sync.bfly.b32
// CHECK: shfl.sync.up.b32
// CHECK: shfl.sync.down.b32
// CHECK: shfl.sync.idx.b32
// CHECK: vote.sync.ballot.b32
// CHECK: redux.sync.add.s32
// CHECK: bar.warp.sync
// CHECK: bar.sync 1, 64;
// CHECK: bar.sync 0;
// CHECK: membar.gl
// CHECK: atom.global.add.u32
llvm.func @warp(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %by = nvvm.read.ptx.sreg.ctaid.y : i32
  %nx = nvvm.read.ptx.sreg.nctaid.x : i32
  %nt = nvvm.read.ptx.sreg.ntid.x : i32
  %lane = nvvm.read.ptx.sreg.laneid : i32
  %0 = llvm.add %tid, %by : i32
  %1 = llvm.add %0, %nx : i32
  %2 = llvm.add %1, %nt : i32
  %i = llvm.add %2, %lane : i32
  %mask = llvm.mlir.constant(-1 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %slot = llvm.getelementptr inbounds %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %f = llvm.load %slot {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  %f1 = nvvm.shfl.sync bfly %mask, %f, %one, %clamp : f32 -> f32
  %i2 = nvvm.shfl.sync up %mask, %i, %one, %zero : i32 -> i32
  %i3 = nvvm.shfl.sync down %mask, %i2, %one, %clamp : i32 -> i32
  %i4 = nvvm.shfl.sync idx %mask, %i3, %one, %clamp : i32 -> i32
  %odd = llvm.icmp "sgt" %i4, %one : i32
  %votes = nvvm.vote.sync ballot %mask, %odd -> i32
  %sum = nvvm.redux.sync add %votes, %mask : i32 -> i32
  nvvm.bar.warp.sync %mask : i32
  %id = llvm.mlir.constant(1 : i32) : i32
  %half = llvm.mlir.constant(64 : i32) : i32
  nvvm.barrier id = %id number_of_threads = %half
  nvvm.barrier0
  llvm.store %f1, %slot {alignment = 4 : i64} : f32, !llvm.ptr<1>
  nvvm.memory.barrier <gpu>
  %old = llvm.atomicrmw add %q, %sum monotonic : !llvm.ptr<1>, i32
  llvm.store %old, %q {alignment = 4 : i64} : i32, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: .visible .entry tiles(
// CHECK: cp.async.cg.shared.global
// CHECK: cp.async.ca.shared.global
// CHECK: cp.async.commit_group
// CHECK: cp.async.wait_group 0
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
llvm.func @tiles(%p: !llvm.ptr<1>, %bytes: i32, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, drawloom.shared_bytes = 4096 : i64} {
  %arena = llvm.mlir.addressof @global_smem : !llvm.ptr<3>
  %address = llvm.ptrtoint %arena : !llvm.ptr<3> to i32
  %swizzle = llvm.mlir.constant(32 : i32) : i32
  %moved = llvm.xor %address, %swizzle : i32
  %tile = llvm.inttoptr %moved : i32 to !llvm.ptr<3>
  nvvm.cp.async.shared.global %tile, %p, 16, cache = cg, %bytes : !llvm.ptr<3>, !llvm.ptr<1>, i32
  nvvm.cp.async.shared.global %tile, %p, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  nvvm.barrier0
  %m = nvvm.ldmatrix %tile {layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  %n = nvvm.ldmatrix %tile {layout = #nvvm.mma_layout<col>, num = 2 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
  %a0 = llvm.extractvalue %m[0] : !llvm.struct<(i32, i32, i32, i32)>
  %a1 = llvm.extractvalue %m[1] : !llvm.struct<(i32, i32, i32, i32)>
  %a2 = llvm.extractvalue %m[2] : !llvm.struct<(i32, i32, i32, i32)>
  %a3 = llvm.extractvalue %m[3] : !llvm.struct<(i32, i32, i32, i32)>
  %b0 = llvm.extractvalue %n[0] : !llvm.struct<(i32, i32)>
  %b1 = llvm.extractvalue %n[1] : !llvm.struct<(i32, i32)>
  %z = llvm.mlir.constant(0.0 : f32) : f32
  %d = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%z, %z, %z, %z] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %c0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
  %e = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%c0, %z, %z, %z] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, shape = #nvvm.shape<m = 16, n = 8, k = 8>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %r = llvm.extractvalue %e[3] : !llvm.struct<(f32, f32, f32, f32)>
  llvm.store %r, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: .visible .entry functions(
// CHECK: ex2.approx.ftz.f32
// CHECK: lg2.approx.ftz.f32
// CHECK: rcp.approx.ftz.f32
// CHECK: sqrt.approx.ftz.f32
// CHECK: rsqrt.approx.ftz.f32
// CHECK: tanh.approx.f32
// CHECK: sin.approx.ftz.f32
// CHECK: cos.approx.ftz.f32
// CHECK: cvt.rn.bf16x2.f32
// CHECK: cvt.rn.relu.bf16x2.f32
// CHECK: cvt.rn.f16x2.f32
// CHECK: prmt.b32
// CHECK: popc.b32
// CHECK: st.global.v4.b32
llvm.func @functions(%p: !llvm.ptr<1>, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %x = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  %1 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%x) : (f32) -> f32
  %2 = llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%1) : (f32) -> f32
  %3 = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%2) : (f32) -> f32
  %4 = llvm.call_intrinsic "llvm.nvvm.sqrt.approx.ftz.f"(%3) : (f32) -> f32
  %5 = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"(%4) : (f32) -> f32
  %6 = llvm.intr.tanh(%5) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
  %7 = llvm.call_intrinsic "llvm.nvvm.sin.approx.ftz.f"(%6) : (f32) -> f32
  %8 = llvm.call_intrinsic "llvm.nvvm.cos.approx.ftz.f"(%7) : (f32) -> f32
  %9 = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%8, %x) : (f32, f32) -> vector<2xbf16>
  %10 = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn.relu"(%8, %x) : (f32, f32) -> vector<2xbf16>
  %11 = llvm.call_intrinsic "llvm.nvvm.ff2f16x2.rn"(%8, %x) : (f32, f32) -> vector<2xf16>
  %a = llvm.bitcast %9 : vector<2xbf16> to i32
  %b = llvm.bitcast %10 : vector<2xbf16> to i32
  %c = llvm.bitcast %11 : vector<2xf16> to i32
  %select = llvm.mlir.constant(29538 : i32) : i32
  %d = llvm.call_intrinsic "llvm.nvvm.prmt"(%a, %b, %select) : (i32, i32, i32) -> i32
  %e = llvm.intr.ctpop(%c) : (i32) -> i32
  %u = llvm.mlir.poison : vector<4xi32>
  %k0 = llvm.mlir.constant(0 : i32) : i32
  %k1 = llvm.mlir.constant(1 : i32) : i32
  %k2 = llvm.mlir.constant(2 : i32) : i32
  %k3 = llvm.mlir.constant(3 : i32) : i32
  %u0 = llvm.insertelement %a, %u[%k0 : i32] : vector<4xi32>
  %u1 = llvm.insertelement %b, %u0[%k1 : i32] : vector<4xi32>
  %u2 = llvm.insertelement %d, %u1[%k2 : i32] : vector<4xi32>
  %u3 = llvm.insertelement %e, %u2[%k3 : i32] : vector<4xi32>
  llvm.store %u3, %p {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
  llvm.return
}
