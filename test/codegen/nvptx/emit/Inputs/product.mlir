// c (16x8, f32) = a (16x16, bf16) times the transpose of b (8x16, bf16), by one warp: copied to shared memory, read as
// matrices, multiplied, stored from the accumulators' places.
llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @product(%a: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.nonnull, drawloom.name = "a"},
                   %b: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.nonnull, drawloom.name = "b"},
                   %c: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.nonnull, drawloom.name = "c"},
                   %global_scratch: !llvm.ptr<1>, %profile_scratch: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>, drawloom.shared_bytes = 1024 : i64} {
  %k0 = llvm.mlir.constant(0 : i32) : i32
  %k1 = llvm.mlir.constant(1 : i32) : i32
  %k2 = llvm.mlir.constant(2 : i32) : i32
  %k3 = llvm.mlir.constant(3 : i32) : i32
  %k4 = llvm.mlir.constant(4 : i32) : i32
  %k5 = llvm.mlir.constant(5 : i32) : i32
  %k7 = llvm.mlir.constant(7 : i32) : i32
  %k15 = llvm.mlir.constant(15 : i32) : i32
  %k16 = llvm.mlir.constant(16 : i32) : i32
  %arena = llvm.mlir.addressof @global_smem : !llvm.ptr<3>
  %arena_b = llvm.getelementptr inbounds %arena[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %lane = nvvm.read.ptx.sreg.tid.x : i32

  // 16 bytes a lane of a, and of b in the lower half; the upper half writes zeros behind it.
  %offset = llvm.shl %lane, %k4 : i32
  %from_a = llvm.getelementptr inbounds %a[%offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %to_a = llvm.getelementptr inbounds %arena[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  nvvm.cp.async.shared.global %to_a, %from_a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  %lower = llvm.icmp "ult" %lane, %k16 : i32
  %size = llvm.select %lower, %k16, %k0 : i1, i32
  %offset_b = llvm.select %lower, %offset, %k0 : i1, i32
  %from_b = llvm.getelementptr inbounds %b[%offset_b] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %to_b = llvm.getelementptr inbounds %arena_b[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  nvvm.cp.async.shared.global %to_b, %from_b, 16, cache = cg, %size : !llvm.ptr<3>, !llvm.ptr<1>, i32
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  nvvm.barrier0

  %row_a = llvm.and %lane, %k15 : i32
  %row_a_bytes = llvm.shl %row_a, %k5 : i32
  %half_a = llvm.lshr %lane, %k4 : i32
  %half_a_bytes = llvm.shl %half_a, %k4 : i32
  %at_a = llvm.add %row_a_bytes, %half_a_bytes : i32
  %tile_a = llvm.getelementptr inbounds %arena[%at_a] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %ma = nvvm.ldmatrix %tile_a {layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  %row_b = llvm.and %lane, %k7 : i32
  %row_b_bytes = llvm.shl %row_b, %k5 : i32
  %eighth = llvm.lshr %lane, %k3 : i32
  %half_b = llvm.and %eighth, %k1 : i32
  %half_b_bytes = llvm.shl %half_b, %k4 : i32
  %at_b = llvm.add %row_b_bytes, %half_b_bytes : i32
  %tile_b = llvm.getelementptr inbounds %arena_b[%at_b] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %mb = nvvm.ldmatrix %tile_b {layout = #nvvm.mma_layout<row>, num = 2 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>

  %a0 = llvm.extractvalue %ma[0] : !llvm.struct<(i32, i32, i32, i32)>
  %a1 = llvm.extractvalue %ma[1] : !llvm.struct<(i32, i32, i32, i32)>
  %a2 = llvm.extractvalue %ma[2] : !llvm.struct<(i32, i32, i32, i32)>
  %a3 = llvm.extractvalue %ma[3] : !llvm.struct<(i32, i32, i32, i32)>
  %b0 = llvm.extractvalue %mb[0] : !llvm.struct<(i32, i32)>
  %b1 = llvm.extractvalue %mb[1] : !llvm.struct<(i32, i32)>
  %z = llvm.mlir.constant(0.0 : f32) : f32
  %d = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%z, %z, %z, %z] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
  %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
  %d2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
  %d3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>

  // Row lane / 4, columns 2 * (lane % 4) and the next; the same eight rows below.
  %row = llvm.lshr %lane, %k2 : i32
  %pair = llvm.and %lane, %k3 : i32
  %row_start = llvm.shl %row, %k3 : i32
  %column = llvm.shl %pair, %k1 : i32
  %index = llvm.add %row_start, %column : i32
  %upper = llvm.getelementptr inbounds %c[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %below = llvm.getelementptr inbounds %upper[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  %poison = llvm.mlir.poison : vector<2xf32>
  %u0 = llvm.insertelement %d0, %poison[%k0 : i32] : vector<2xf32>
  %u1 = llvm.insertelement %d1, %u0[%k1 : i32] : vector<2xf32>
  llvm.store %u1, %upper {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
  %v0 = llvm.insertelement %d2, %poison[%k0 : i32] : vector<2xf32>
  %v1 = llvm.insertelement %d3, %v0[%k1 : i32] : vector<2xf32>
  llvm.store %v1, %below {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
  llvm.return
}
