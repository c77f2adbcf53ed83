module attributes {drawloom.plan = "{\22entries\22:[{\22arguments\22:[{\22element\22:1,\22shape\22:[]},{\22element\22:1,\22shape\22:[1000]},{\22element\22:1,\22shape\22:[1000]}],\22name\22:\22axpy\22,\22results\22:[{\22element\22:1,\22shape\22:[1000]},{\22element\22:1,\22shape\22:[]}],\22steps\22:[{\22kernel\22:\22axpy_0\22,\22operands\22:[[\22scalar\22,0],[\22argument\22,1],[\22argument\22,2],[\22workspace\22,0],[\22workspace\22,8192]]},{\22kernel\22:\22axpy_1\22,\22operands\22:[[\22workspace\22,0],[\22argument\22,1],[\22argument\22,2],[\22workspace\22,4096]]},{\22kernel\22:\22axpy_2\22,\22operands\22:[[\22workspace\22,8192],[\22workspace\22,4096],[\22result\22,0]]},{\22copy_bytes\22:4,\22operands\22:[[\22scalar\22,0],[\22result\22,1]]}],\22workspace_bytes\22:9216}],\22kernels\22:[]}"} {
  llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @axpy_1(%arg0: !llvm.ptr<1> {drawloom.bytes = 4000 : i64, llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg1: !llvm.ptr<1> {drawloom.bytes = 4000 : i64, llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg2: !llvm.ptr<1> {drawloom.bytes = 4000 : i64, llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg3: !llvm.ptr<1> {drawloom.bytes = 4000 : i64, llvm.align = 16 : i64, llvm.noalias}, %arg4: !llvm.ptr<1>, %arg5: !llvm.ptr<1>) attributes {drawloom.grid = 3 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 4 : i64, nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
    %0 = llvm.mlir.poison : vector<2xf32>
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(0 : i32) : i32
    %3 = llvm.mlir.constant(256 : index) : i64
    %4 = llvm.mlir.constant(2 : i32) : i32
    %5 = llvm.mlir.constant(127 : i32) : i32
    %6 = nvvm.read.ptx.sreg.tid.x : i32
    %7 = llvm.and %6, %5 : i32
    %8 = llvm.mul %7, %4 : i32
    %9 = nvvm.read.ptx.sreg.ctaid.x : i32
    %10 = llvm.zext %9 : i32 to i64
    %11 = llvm.mul %10, %3 : i64
    %12 = llvm.getelementptr %arg0[%11] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %13 = llvm.zext %8 : i32 to i64
    %14 = llvm.getelementptr %12[%13] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %15 = llvm.load %14 {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
    %16 = llvm.extractelement %15[%2 : i32] : vector<2xf32>
    %17 = llvm.extractelement %15[%1 : i32] : vector<2xf32>
    %18 = llvm.getelementptr %arg1[%11] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %19 = llvm.getelementptr %18[%13] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %20 = llvm.load %19 {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
    %21 = llvm.extractelement %20[%2 : i32] : vector<2xf32>
    %22 = llvm.extractelement %20[%1 : i32] : vector<2xf32>
    %23 = llvm.getelementptr %arg2[%11] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %24 = llvm.getelementptr %23[%13] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %25 = llvm.load %24 {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
    %26 = llvm.extractelement %25[%2 : i32] : vector<2xf32>
    %27 = llvm.extractelement %25[%1 : i32] : vector<2xf32>
    %28 = llvm.fmul %16, %21 : f32
    %29 = llvm.fmul %17, %22 : f32
    %30 = llvm.fadd %28, %26 : f32
    %31 = llvm.fadd %29, %27 : f32
    %32 = llvm.getelementptr %arg3[%11] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %33 = llvm.getelementptr %32[%13] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %34 = llvm.insertelement %30, %0[%2 : i32] : vector<2xf32>
    %35 = llvm.insertelement %31, %34[%1 : i32] : vector<2xf32>
    llvm.store %35, %33 {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
    llvm.return
  }
}
