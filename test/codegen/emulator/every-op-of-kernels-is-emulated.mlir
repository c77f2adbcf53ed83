// RUN: drawloom-opt %s --emulator-intercept-nvvm | FileCheck %s

// What the NVIDIA target may emit; a new op of its goes in here.

// CHECK-NOT: nvvm.{{.*}} :
// CHECK-NOT: call_intrinsic
// CHECK-LABEL: llvm.func @k(

llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

llvm.func @k(%x: !llvm.ptr<1>, %i: i32, %f: f32, %g: !llvm.ptr<1>, %p: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, drawloom.shared_bytes = 4096 : i64} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %c31 = llvm.mlir.constant(31 : i32) : i32
  %c64 = llvm.mlir.constant(64 : i32) : i32
  %true = llvm.mlir.constant(true) : i1
  %s = llvm.mlir.addressof @global_smem : !llvm.ptr<3>

  // CHECK-NOT: nvvm.{{.*}} :
  // CHECK-NOT: call_intrinsic
  %0 = nvvm.read.ptx.sreg.tid.x : i32
  %1 = nvvm.read.ptx.sreg.tid.y : i32
  %2 = nvvm.read.ptx.sreg.ctaid.x : i32
  %3 = nvvm.read.ptx.sreg.ctaid.y : i32
  %4 = nvvm.read.ptx.sreg.ctaid.z : i32
  %5 = nvvm.read.ptx.sreg.nctaid.x : i32
  %6 = nvvm.read.ptx.sreg.nctaid.y : i32
  %7 = nvvm.read.ptx.sreg.nctaid.z : i32
  %8 = nvvm.read.ptx.sreg.ntid.x range <i32, 1, 1025> : i32
  %9 = nvvm.read.ptx.sreg.laneid range <i32, 0, 32> : i32
  %10 = nvvm.read.ptx.sreg.warpsize : i32
  nvvm.barrier0
  nvvm.barrier
  nvvm.barrier id = %i number_of_threads = %c64
  %11 = nvvm.barrier #nvvm.reduction<or> %i -> i32
  nvvm.barrier.arrive id = %i number_of_threads = %c64
  nvvm.bar.warp.sync %all : i32
  nvvm.memory.barrier #nvvm.mem_scope<cta>
  nvvm.memory.barrier #nvvm.mem_scope<gpu>
  nvvm.memory.barrier #nvvm.mem_scope<sys>
  llvm.fence syncscope("device") acq_rel

  %20 = nvvm.shfl.sync bfly %all, %i, %i, %c31 : i32 -> i32
  %21 = nvvm.shfl.sync up %all, %f, %i, %c31 : f32 -> f32
  %22 = nvvm.shfl.sync down %all, %f, %i, %c31 : f32 -> f32
  %23 = nvvm.shfl.sync idx %all, %i, %i, %c31 {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
  %24 = nvvm.vote.sync any %all, %true -> i1
  %25 = nvvm.vote.sync ballot %all, %true -> i32
  %26 = nvvm.redux.sync add %i, %all : i32 -> i32
  %27 = nvvm.redux.sync fmax %f, %all {nan = true} : f32 -> f32
  %28 = nvvm.match.sync any %all, %i : i32 -> i32
  %29 = nvvm.elect.sync -> i1

  %30 = nvvm.ldmatrix %s {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
  %31 = nvvm.ldmatrix %s {num = 2 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
  nvvm.stmatrix %s, %i, %i {layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32
  %32 = nvvm.mma.sync A[%i, %i, %i, %i] B[%i, %i] C[%f, %f, %f, %f] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %33 = nvvm.mma.sync A[%i, %i] B[%i] C[%f, %f, %f, %f] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, shape = #nvvm.shape<m = 16, n = 8, k = 4>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>

  nvvm.cp.async.shared.global %s, %x, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %s, %x, 8, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %s, %x, 4, cache = ca, %i : !llvm.ptr<3>, !llvm.ptr<1>, i32
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  llvm.call_intrinsic "llvm.nvvm.cp.async.wait.all"() : () -> ()

  %40 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%f) : (f32) -> f32
  %41 = llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%f) : (f32) -> f32
  %42 = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%f) : (f32) -> f32
  %43 = llvm.call_intrinsic "llvm.nvvm.sqrt.approx.ftz.f"(%f) : (f32) -> f32
  %44 = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"(%f) : (f32) -> f32
  %45 = llvm.call_intrinsic "llvm.nvvm.tanh.approx.f32"(%f) : (f32) -> f32
  %46 = llvm.call_intrinsic "llvm.nvvm.sin.approx.ftz.f"(%f) : (f32) -> f32
  %47 = llvm.call_intrinsic "llvm.nvvm.cos.approx.ftz.f"(%f) : (f32) -> f32
  %48 = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%f, %f) : (f32, f32) -> vector<2xbf16>
  %49 = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn.relu"(%f, %f) : (f32, f32) -> vector<2xbf16>
  %50 = llvm.call_intrinsic "llvm.nvvm.ff2f16x2.rn"(%f, %f) : (f32, f32) -> vector<2xf16>
  %51 = llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"(%f) : (f32) -> i32
  %52 = llvm.call_intrinsic "llvm.nvvm.prmt"(%i, %i, %i) : (i32, i32, i32) -> i32
  %53 = nvvm.rcp.approx.ftz.f %f : f32
  %54 = nvvm.prmt #nvvm.permute_mode<default> %i, %i, %i : i32
  %55 = nvvm.convert.f32x2.to.bf16x2 %f, %f {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
  %56 = nvvm.convert.float.to.tf32 %f {rnd = #nvvm.fp_rnd_mode<rna>}

  %70 = llvm.call_intrinsic "llvm.nvvm.add.rn.ftz.f"(%f, %f) : (f32, f32) -> f32
  %71 = llvm.call_intrinsic "llvm.nvvm.mul.rn.f"(%f, %f) : (f32, f32) -> f32
  %72 = llvm.call_intrinsic "llvm.nvvm.fma.rn.f"(%f, %f, %f) : (f32, f32, f32) -> f32
  %73 = llvm.call_intrinsic "llvm.nvvm.div.full"(%f, %f) : (f32, f32) -> f32
  %74 = llvm.call_intrinsic "llvm.nvvm.sqrt.rn.f"(%f) : (f32) -> f32
  %75 = llvm.call_intrinsic "llvm.nvvm.fmax.ftz.nan.f"(%f, %f) : (f32, f32) -> f32

  %60 = llvm.atomicrmw add %x, %i syncscope("device") acq_rel : !llvm.ptr<1>, i32
  %61 = llvm.cmpxchg %x, %i, %i acq_rel monotonic : !llvm.ptr<1>, i32
  %62 = llvm.load %x invariant {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  llvm.store %62, %s {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  %63 = llvm.intr.fma(%f, %f, %f) : (f32, f32, f32) -> f32
  %64 = llvm.intr.maxnum(%48, %49) : (vector<2xbf16>, vector<2xbf16>) -> vector<2xbf16>
  llvm.return
}
