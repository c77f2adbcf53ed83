llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @add(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly, drawloom.name = "x"}, %y: !llvm.ptr<1> {llvm.noalias, drawloom.name = "y"}, %n: i32 {drawloom.name = "n"}, %global_scratch: !llvm.ptr<1>, %profile_scratch: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, drawloom.shared_bytes = 512 : i64} {
  %threads = llvm.mlir.constant(128 : i32) : i32
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %base = llvm.mul %block, %threads : i32
  %i = llvm.add %base, %tid : i32
  %inside = llvm.icmp "slt" %i, %n : i32
  llvm.cond_br %inside, ^work, ^done
^work:
  %arena = llvm.mlir.addressof @global_smem : !llvm.ptr<3>
  %slot = llvm.getelementptr inbounds %arena[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %px = llvm.getelementptr inbounds %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %py = llvm.getelementptr inbounds %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %a = llvm.load %px {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  llvm.store %a, %slot {alignment = 4 : i64} : f32, !llvm.ptr<3>
  %s = llvm.load %slot {alignment = 4 : i64} : !llvm.ptr<3> -> f32
  %b = llvm.load %py {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  %c = llvm.fadd %s, %b : f32
  llvm.store %c, %py {alignment = 4 : i64} : f32, !llvm.ptr<1>
  llvm.br ^done
^done:
  llvm.return
}
