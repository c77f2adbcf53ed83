module attributes {drawloom.plan = "{\22entries\22:[{\22arguments\22:[{\22element\22:1,\22shape\22:[]},{\22element\22:1,\22shape\22:[1000]},{\22element\22:1,\22shape\22:[1000]}],\22name\22:\22axpy\22,\22results\22:[{\22element\22:1,\22shape\22:[1000]},{\22element\22:1,\22shape\22:[]}],\22steps\22:[{\22kernel\22:\22axpy_0\22,\22operands\22:[[\22scalar\22,0],[\22argument\22,1],[\22argument\22,2],[\22workspace\22,0],[\22workspace\22,8192]]},{\22kernel\22:\22axpy_1\22,\22operands\22:[[\22workspace\22,0],[\22argument\22,1],[\22argument\22,2],[\22workspace\22,4096]]},{\22kernel\22:\22axpy_2\22,\22operands\22:[[\22workspace\22,8192],[\22workspace\22,4096],[\22result\22,0]]},{\22copy_bytes\22:4,\22operands\22:[[\22scalar\22,0],[\22result\22,1]]}],\22workspace_bytes\22:9216}],\22kernels\22:[]}"} {
  llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @axpy_2(%arg0: !llvm.ptr<1> {drawloom.bytes = 928 : i64, llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg1: !llvm.ptr<1> {drawloom.bytes = 4000 : i64, llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg2: !llvm.ptr<1> {drawloom.bytes = 4000 : i64, llvm.align = 16 : i64, llvm.noalias}, %arg3: !llvm.ptr<1>, %arg4: !llvm.ptr<1>) attributes {drawloom.grid = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 4 : i64, nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
    %0 = llvm.mlir.poison : vector<2xf32>
    %1 = llvm.mlir.constant(dense<0.000000e+00> : vector<2xf32>) : vector<2xf32>
    %2 = llvm.mlir.constant(232 : i32) : i32
    %3 = llvm.mlir.poison : vector<4xf32>
    %4 = llvm.mlir.constant(512 : i32) : i32
    %5 = llvm.mlir.constant(3 : i32) : i32
    %6 = llvm.mlir.constant(1 : i32) : i32
    %7 = llvm.mlir.constant(0 : i32) : i32
    %8 = llvm.mlir.constant(dense<0.000000e+00> : vector<4xf32>) : vector<4xf32>
    %9 = llvm.mlir.constant(1000 : i32) : i32
    %10 = llvm.mlir.constant(2 : i32) : i32
    %11 = llvm.mlir.constant(4 : i32) : i32
    %12 = llvm.mlir.constant(127 : i32) : i32
    %13 = nvvm.read.ptx.sreg.tid.x : i32
    %14 = llvm.and %13, %12 : i32
    %15 = llvm.mul %14, %11 : i32
    %16 = llvm.mul %14, %10 : i32
    %17 = llvm.zext %15 : i32 to i64
    %18 = llvm.getelementptr %arg1[%17] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %19 = llvm.icmp "slt" %15, %9 : i32
    %20 = llvm.select %19, %18, %arg1 : i1, !llvm.ptr<1>
    %21 = llvm.load %20 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %22 = llvm.select %19, %21, %8 : i1, vector<4xf32>
    %23 = llvm.extractelement %22[%7 : i32] : vector<4xf32>
    %24 = llvm.extractelement %22[%6 : i32] : vector<4xf32>
    %25 = llvm.extractelement %22[%10 : i32] : vector<4xf32>
    %26 = llvm.extractelement %22[%5 : i32] : vector<4xf32>
    %27 = llvm.getelementptr inbounds %18[2048] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %28 = llvm.add %15, %4 : i32
    %29 = llvm.icmp "slt" %28, %9 : i32
    %30 = llvm.select %29, %27, %arg1 : i1, !llvm.ptr<1>
    %31 = llvm.load %30 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %32 = llvm.select %29, %31, %8 : i1, vector<4xf32>
    %33 = llvm.extractelement %32[%7 : i32] : vector<4xf32>
    %34 = llvm.extractelement %32[%6 : i32] : vector<4xf32>
    %35 = llvm.extractelement %32[%10 : i32] : vector<4xf32>
    %36 = llvm.extractelement %32[%5 : i32] : vector<4xf32>
    %37 = llvm.getelementptr %arg2[%17] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.cond_br %19, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    %38 = llvm.insertelement %23, %3[%7 : i32] : vector<4xf32>
    %39 = llvm.insertelement %24, %38[%6 : i32] : vector<4xf32>
    %40 = llvm.insertelement %25, %39[%10 : i32] : vector<4xf32>
    %41 = llvm.insertelement %26, %40[%5 : i32] : vector<4xf32>
    llvm.store %41, %37 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    llvm.br ^bb2
  ^bb2:  // 2 preds: ^bb0, ^bb1
    llvm.cond_br %29, ^bb3, ^bb4
  ^bb3:  // pred: ^bb2
    %42 = llvm.getelementptr inbounds %37[2048] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %43 = llvm.insertelement %33, %3[%7 : i32] : vector<4xf32>
    %44 = llvm.insertelement %34, %43[%6 : i32] : vector<4xf32>
    %45 = llvm.insertelement %35, %44[%10 : i32] : vector<4xf32>
    %46 = llvm.insertelement %36, %45[%5 : i32] : vector<4xf32>
    llvm.store %46, %42 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    llvm.br ^bb4
  ^bb4:  // 2 preds: ^bb2, ^bb3
    %47 = llvm.zext %16 : i32 to i64
    %48 = llvm.getelementptr %arg0[%47] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %49 = llvm.icmp "slt" %16, %2 : i32
    %50 = llvm.select %49, %48, %arg0 : i1, !llvm.ptr<1>
    %51 = llvm.load %50 {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
    %52 = llvm.select %49, %51, %1 : i1, vector<2xf32>
    %53 = llvm.extractelement %52[%7 : i32] : vector<2xf32>
    %54 = llvm.extractelement %52[%6 : i32] : vector<2xf32>
    nvvm.barrier0
    %55 = llvm.getelementptr %arg2[768] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %56 = llvm.getelementptr %55[%47] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.cond_br %49, ^bb5, ^bb6
  ^bb5:  // pred: ^bb4
    %57 = llvm.insertelement %53, %0[%7 : i32] : vector<2xf32>
    %58 = llvm.insertelement %54, %57[%6 : i32] : vector<2xf32>
    llvm.store %58, %56 {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
    llvm.br ^bb6
  ^bb6:  // 2 preds: ^bb4, ^bb5
    llvm.return
  }
}
