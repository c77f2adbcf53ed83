// RUN: drawloom-translate --mlir-to-emulated --arch=sm_100a %s | FileCheck %s

// What the NVIDIA target may emit; a new op of its goes in here. The volatile
// stores keep what would be computed for nobody.

// CHECK-LABEL: define void @k(
// CHECK-NOT: @llvm.nvvm.
// CHECK-LABEL: define void @emulate.k(

llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

llvm.func @k(%x: !llvm.ptr<1>, %i: i32, %f: f32, %g: !llvm.ptr<1>, %p: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, drawloom.shared_bytes = 4096 : i64} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %c31 = llvm.mlir.constant(31 : i32) : i32
  %c64 = llvm.mlir.constant(64 : i32) : i32
  %true = llvm.mlir.constant(true) : i1
  %s = llvm.mlir.addressof @global_smem : !llvm.ptr<3>

  %0 = nvvm.read.ptx.sreg.tid.x : i32
  llvm.store volatile %0, %x : i32, !llvm.ptr<1>
  %1 = nvvm.read.ptx.sreg.tid.y : i32
  llvm.store volatile %1, %x : i32, !llvm.ptr<1>
  %2 = nvvm.read.ptx.sreg.ctaid.x : i32
  llvm.store volatile %2, %x : i32, !llvm.ptr<1>
  %3 = nvvm.read.ptx.sreg.ctaid.y : i32
  llvm.store volatile %3, %x : i32, !llvm.ptr<1>
  %4 = nvvm.read.ptx.sreg.ctaid.z : i32
  llvm.store volatile %4, %x : i32, !llvm.ptr<1>
  %5 = nvvm.read.ptx.sreg.nctaid.x : i32
  llvm.store volatile %5, %x : i32, !llvm.ptr<1>
  %6 = nvvm.read.ptx.sreg.nctaid.y : i32
  llvm.store volatile %6, %x : i32, !llvm.ptr<1>
  %7 = nvvm.read.ptx.sreg.nctaid.z : i32
  llvm.store volatile %7, %x : i32, !llvm.ptr<1>
  %8 = nvvm.read.ptx.sreg.ntid.x range <i32, 1, 1025> : i32
  llvm.store volatile %8, %x : i32, !llvm.ptr<1>
  %9 = nvvm.read.ptx.sreg.laneid range <i32, 0, 32> : i32
  llvm.store volatile %9, %x : i32, !llvm.ptr<1>
  %10 = nvvm.read.ptx.sreg.warpsize : i32
  llvm.store volatile %10, %x : i32, !llvm.ptr<1>
  nvvm.barrier0
  nvvm.barrier
  nvvm.barrier id = %i number_of_threads = %c64
  %11 = nvvm.barrier #nvvm.reduction<or> %i -> i32
  llvm.store volatile %11, %x : i32, !llvm.ptr<1>
  nvvm.barrier.arrive id = %i number_of_threads = %c64
  nvvm.bar.warp.sync %all : i32
  nvvm.memory.barrier #nvvm.mem_scope<cta>
  nvvm.memory.barrier #nvvm.mem_scope<gpu>
  nvvm.memory.barrier #nvvm.mem_scope<sys>
  llvm.fence syncscope("device") acq_rel

  %20 = nvvm.shfl.sync bfly %all, %i, %i, %c31 : i32 -> i32
  llvm.store volatile %20, %x : i32, !llvm.ptr<1>
  %21 = nvvm.shfl.sync up %all, %f, %i, %c31 : f32 -> f32
  llvm.store volatile %21, %x : f32, !llvm.ptr<1>
  %22 = nvvm.shfl.sync down %all, %f, %i, %c31 : f32 -> f32
  llvm.store volatile %22, %x : f32, !llvm.ptr<1>
  %23 = nvvm.shfl.sync idx %all, %i, %i, %c31 {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
  llvm.store volatile %23, %x : !llvm.struct<(i32, i1)>, !llvm.ptr<1>
  %24 = nvvm.vote.sync any %all, %true -> i1
  llvm.store volatile %24, %x : i1, !llvm.ptr<1>
  %25 = nvvm.vote.sync ballot %all, %true -> i32
  llvm.store volatile %25, %x : i32, !llvm.ptr<1>
  %26 = nvvm.redux.sync add %i, %all : i32 -> i32
  llvm.store volatile %26, %x : i32, !llvm.ptr<1>
  %27 = nvvm.redux.sync fmax %f, %all {nan = true} : f32 -> f32
  llvm.store volatile %27, %x : f32, !llvm.ptr<1>
  %28 = nvvm.match.sync any %all, %i : i32 -> i32
  llvm.store volatile %28, %x : i32, !llvm.ptr<1>
  %29 = nvvm.elect.sync -> i1
  llvm.store volatile %29, %x : i1, !llvm.ptr<1>

  %30 = nvvm.ldmatrix %s {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
  llvm.store volatile %30, %x : i32, !llvm.ptr<1>
  %31 = nvvm.ldmatrix %s {num = 2 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
  llvm.store volatile %31, %x : !llvm.struct<(i32, i32)>, !llvm.ptr<1>
  nvvm.stmatrix %s, %i, %i {layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32
  %32 = nvvm.mma.sync A[%i, %i, %i, %i] B[%i, %i] C[%f, %f, %f, %f] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.store volatile %32, %x : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr<1>
  %33 = nvvm.mma.sync A[%i, %i] B[%i] C[%f, %f, %f, %f] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, shape = #nvvm.shape<m = 16, n = 8, k = 4>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.store volatile %33, %x : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr<1>

  nvvm.cp.async.shared.global %s, %x, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %s, %x, 8, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %s, %x, 4, cache = ca, %i : !llvm.ptr<3>, !llvm.ptr<1>, i32
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  llvm.call_intrinsic "llvm.nvvm.cp.async.wait.all"() : () -> ()

  %40 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%f) : (f32) -> f32
  llvm.store volatile %40, %x : f32, !llvm.ptr<1>
  %41 = llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%f) : (f32) -> f32
  llvm.store volatile %41, %x : f32, !llvm.ptr<1>
  %42 = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%f) : (f32) -> f32
  llvm.store volatile %42, %x : f32, !llvm.ptr<1>
  %43 = llvm.call_intrinsic "llvm.nvvm.sqrt.approx.ftz.f"(%f) : (f32) -> f32
  llvm.store volatile %43, %x : f32, !llvm.ptr<1>
  %44 = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"(%f) : (f32) -> f32
  llvm.store volatile %44, %x : f32, !llvm.ptr<1>
  %45 = llvm.intr.tanh(%f) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
  llvm.store volatile %45, %x : f32, !llvm.ptr<1>
  %46 = llvm.call_intrinsic "llvm.nvvm.sin.approx.ftz.f"(%f) : (f32) -> f32
  llvm.store volatile %46, %x : f32, !llvm.ptr<1>
  %47 = llvm.call_intrinsic "llvm.nvvm.cos.approx.ftz.f"(%f) : (f32) -> f32
  llvm.store volatile %47, %x : f32, !llvm.ptr<1>
  %48 = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%f, %f) : (f32, f32) -> vector<2xbf16>
  llvm.store volatile %48, %x : vector<2xbf16>, !llvm.ptr<1>
  %49 = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn.relu"(%f, %f) : (f32, f32) -> vector<2xbf16>
  llvm.store volatile %49, %x : vector<2xbf16>, !llvm.ptr<1>
  %50 = llvm.call_intrinsic "llvm.nvvm.ff2f16x2.rn"(%f, %f) : (f32, f32) -> vector<2xf16>
  llvm.store volatile %50, %x : vector<2xf16>, !llvm.ptr<1>
  %51 = llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"(%f) : (f32) -> i32
  llvm.store volatile %51, %x : i32, !llvm.ptr<1>
  %52 = llvm.call_intrinsic "llvm.nvvm.prmt"(%i, %i, %i) : (i32, i32, i32) -> i32
  llvm.store volatile %52, %x : i32, !llvm.ptr<1>
  %53 = nvvm.rcp.approx.ftz.f %f : f32
  llvm.store volatile %53, %x : f32, !llvm.ptr<1>
  %54 = nvvm.prmt #nvvm.permute_mode<default> %i, %i, %i : i32
  llvm.store volatile %54, %x : i32, !llvm.ptr<1>
  %55 = nvvm.convert.f32x2.to.bf16x2 %f, %f {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
  llvm.store volatile %55, %x : vector<2xbf16>, !llvm.ptr<1>
  %56 = nvvm.convert.float.to.tf32 %f {rnd = #nvvm.fp_rnd_mode<rna>}
  llvm.store volatile %56, %x : i32, !llvm.ptr<1>

  %70 = llvm.call_intrinsic "llvm.nvvm.add.rn.ftz.f"(%f, %f) : (f32, f32) -> f32
  llvm.store volatile %70, %x : f32, !llvm.ptr<1>
  %71 = llvm.call_intrinsic "llvm.nvvm.mul.rn.f"(%f, %f) : (f32, f32) -> f32
  llvm.store volatile %71, %x : f32, !llvm.ptr<1>
  %72 = llvm.call_intrinsic "llvm.nvvm.fma.rn.f"(%f, %f, %f) : (f32, f32, f32) -> f32
  llvm.store volatile %72, %x : f32, !llvm.ptr<1>
  %73 = llvm.call_intrinsic "llvm.nvvm.div.full"(%f, %f) : (f32, f32) -> f32
  llvm.store volatile %73, %x : f32, !llvm.ptr<1>
  %74 = llvm.call_intrinsic "llvm.nvvm.sqrt.rn.f"(%f) : (f32) -> f32
  llvm.store volatile %74, %x : f32, !llvm.ptr<1>
  %75 = llvm.call_intrinsic "llvm.nvvm.fmax.ftz.nan.f"(%f, %f) : (f32, f32) -> f32
  llvm.store volatile %75, %x : f32, !llvm.ptr<1>

  %60 = llvm.atomicrmw add %x, %i syncscope("device") monotonic : !llvm.ptr<1>, i32
  llvm.store volatile %60, %x : i32, !llvm.ptr<1>
  %61 = llvm.cmpxchg %x, %i, %i acq_rel monotonic : !llvm.ptr<1>, i32
  llvm.store volatile %61, %x : !llvm.struct<(i32, i1)>, !llvm.ptr<1>
  %62 = llvm.load %x invariant {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  llvm.store volatile %62, %x : vector<4xi32>, !llvm.ptr<1>
  llvm.store %62, %s {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  %63 = llvm.intr.fma(%f, %f, %f) : (f32, f32, f32) -> f32
  llvm.store volatile %63, %x : f32, !llvm.ptr<1>
  %64 = llvm.intr.maxnum(%48, %49) : (vector<2xbf16>, vector<2xbf16>) -> vector<2xbf16>
  llvm.store volatile %64, %x : vector<2xbf16>, !llvm.ptr<1>
  llvm.return
}
