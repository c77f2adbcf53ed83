module attributes {drawloom.plan = "{\22entries\22:[{\22arguments\22:[{\22element\22:1,\22shape\22:[]},{\22element\22:1,\22shape\22:[1000]},{\22element\22:1,\22shape\22:[1000]}],\22name\22:\22axpy\22,\22results\22:[{\22element\22:1,\22shape\22:[1000]},{\22element\22:1,\22shape\22:[]}],\22steps\22:[{\22kernel\22:\22axpy_0\22,\22operands\22:[[\22scalar\22,0],[\22argument\22,1],[\22argument\22,2],[\22workspace\22,0],[\22workspace\22,8192]]},{\22kernel\22:\22axpy_1\22,\22operands\22:[[\22workspace\22,0],[\22argument\22,1],[\22argument\22,2],[\22workspace\22,4096]]},{\22kernel\22:\22axpy_2\22,\22operands\22:[[\22workspace\22,8192],[\22workspace\22,4096],[\22result\22,0]]},{\22copy_bytes\22:4,\22operands\22:[[\22scalar\22,0],[\22result\22,1]]}],\22workspace_bytes\22:9216}],\22kernels\22:[]}"} {
  llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @axpy_0(%arg0: f32, %arg1: !llvm.ptr<1> {drawloom.bytes = 4000 : i64, llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg2: !llvm.ptr<1> {drawloom.bytes = 4000 : i64, llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg3: !llvm.ptr<1> {drawloom.bytes = 4000 : i64, llvm.align = 16 : i64, llvm.noalias}, %arg4: !llvm.ptr<1> {drawloom.bytes = 928 : i64, llvm.align = 16 : i64, llvm.noalias}, %arg5: !llvm.ptr<1>, %arg6: !llvm.ptr<1>) attributes {drawloom.grid = 1 : i64, drawloom.shared_bytes = 4096 : i64, drawloom.warps = 4 : i64, nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
    %0 = llvm.mlir.poison : vector<2xf32>
    %1 = llvm.mlir.constant(dense<0.000000e+00> : vector<2xf32>) : vector<2xf32>
    %2 = llvm.mlir.constant(232 : i32) : i32
    %3 = llvm.mlir.constant(512 : i32) : i32
    %4 = llvm.mlir.constant(3 : i32) : i32
    %5 = llvm.mlir.constant(1 : i32) : i32
    %6 = llvm.mlir.constant(0 : i32) : i32
    %7 = llvm.mlir.poison : vector<4xf32>
    %8 = llvm.mlir.constant(1000 : i32) : i32
    %9 = llvm.mlir.addressof @global_smem : !llvm.ptr<3>
    %10 = llvm.mlir.constant(2 : i32) : i32
    %11 = llvm.mlir.constant(4 : i32) : i32
    %12 = llvm.mlir.constant(127 : i32) : i32
    %13 = nvvm.read.ptx.sreg.tid.x : i32
    %14 = llvm.and %13, %12 : i32
    %15 = llvm.mul %14, %11 : i32
    %16 = llvm.mul %14, %10 : i32
    %17 = llvm.zext %15 : i32 to i64
    %18 = llvm.getelementptr %9[%17] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %19 = llvm.icmp "slt" %15, %8 : i32
    llvm.cond_br %19, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    %20 = llvm.insertelement %arg0, %7[%6 : i32] : vector<4xf32>
    %21 = llvm.insertelement %arg0, %20[%5 : i32] : vector<4xf32>
    %22 = llvm.insertelement %arg0, %21[%10 : i32] : vector<4xf32>
    %23 = llvm.insertelement %arg0, %22[%4 : i32] : vector<4xf32>
    llvm.store %23, %18 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
    llvm.br ^bb2
  ^bb2:  // 2 preds: ^bb0, ^bb1
    %24 = llvm.add %15, %3 : i32
    %25 = llvm.icmp "slt" %24, %8 : i32
    llvm.cond_br %25, ^bb3, ^bb4
  ^bb3:  // pred: ^bb2
    %26 = llvm.getelementptr inbounds %18[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %27 = llvm.insertelement %arg0, %7[%6 : i32] : vector<4xf32>
    %28 = llvm.insertelement %arg0, %27[%5 : i32] : vector<4xf32>
    %29 = llvm.insertelement %arg0, %28[%10 : i32] : vector<4xf32>
    %30 = llvm.insertelement %arg0, %29[%4 : i32] : vector<4xf32>
    llvm.store %30, %26 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
    llvm.br ^bb4
  ^bb4:  // 2 preds: ^bb2, ^bb3
    nvvm.barrier0
    %31 = llvm.getelementptr %9[768] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
    %32 = llvm.zext %16 : i32 to i64
    %33 = llvm.getelementptr %31[%32] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %34 = llvm.icmp "slt" %16, %2 : i32
    %35 = llvm.select %34, %33, %31 : i1, !llvm.ptr<3>
    %36 = llvm.load %35 {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
    %37 = llvm.select %34, %36, %1 : i1, vector<2xf32>
    %38 = llvm.extractelement %37[%6 : i32] : vector<2xf32>
    %39 = llvm.extractelement %37[%5 : i32] : vector<2xf32>
    %40 = llvm.getelementptr %arg1[768] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %41 = llvm.getelementptr %40[%32] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %42 = llvm.select %34, %41, %40 : i1, !llvm.ptr<1>
    %43 = llvm.load %42 {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
    %44 = llvm.select %34, %43, %1 : i1, vector<2xf32>
    %45 = llvm.extractelement %44[%6 : i32] : vector<2xf32>
    %46 = llvm.extractelement %44[%5 : i32] : vector<2xf32>
    %47 = llvm.getelementptr %arg2[768] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %48 = llvm.getelementptr %47[%32] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %49 = llvm.select %34, %48, %47 : i1, !llvm.ptr<1>
    %50 = llvm.load %49 {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
    %51 = llvm.select %34, %50, %1 : i1, vector<2xf32>
    %52 = llvm.extractelement %51[%6 : i32] : vector<2xf32>
    %53 = llvm.extractelement %51[%5 : i32] : vector<2xf32>
    %54 = llvm.fmul %38, %45 : f32
    %55 = llvm.fmul %39, %46 : f32
    %56 = llvm.fadd %54, %52 : f32
    %57 = llvm.fadd %55, %53 : f32
    %58 = llvm.getelementptr %arg3[%17] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.cond_br %19, ^bb5, ^bb6
  ^bb5:  // pred: ^bb4
    %59 = llvm.insertelement %arg0, %7[%6 : i32] : vector<4xf32>
    %60 = llvm.insertelement %arg0, %59[%5 : i32] : vector<4xf32>
    %61 = llvm.insertelement %arg0, %60[%10 : i32] : vector<4xf32>
    %62 = llvm.insertelement %arg0, %61[%4 : i32] : vector<4xf32>
    llvm.store %62, %58 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    llvm.br ^bb6
  ^bb6:  // 2 preds: ^bb4, ^bb5
    llvm.cond_br %25, ^bb7, ^bb8
  ^bb7:  // pred: ^bb6
    %63 = llvm.getelementptr inbounds %58[2048] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %64 = llvm.insertelement %arg0, %7[%6 : i32] : vector<4xf32>
    %65 = llvm.insertelement %arg0, %64[%5 : i32] : vector<4xf32>
    %66 = llvm.insertelement %arg0, %65[%10 : i32] : vector<4xf32>
    %67 = llvm.insertelement %arg0, %66[%4 : i32] : vector<4xf32>
    llvm.store %67, %63 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    llvm.br ^bb8
  ^bb8:  // 2 preds: ^bb6, ^bb7
    %68 = llvm.getelementptr %arg4[%32] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.cond_br %34, ^bb9, ^bb10
  ^bb9:  // pred: ^bb8
    %69 = llvm.insertelement %56, %0[%6 : i32] : vector<2xf32>
    %70 = llvm.insertelement %57, %69[%5 : i32] : vector<2xf32>
    llvm.store %70, %68 {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
    llvm.br ^bb10
  ^bb10:  // 2 preds: ^bb8, ^bb9
    llvm.return
  }
}
