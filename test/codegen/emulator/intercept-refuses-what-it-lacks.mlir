// RUN: drawloom-translate --mlir-to-emulated --arch=sm_90a %s --split-input-file --verify-diagnostics

// expected-error @unknown {{the module cannot be emulated: 'nvvm.wgmma.fence.aligned at }}
llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  nvvm.wgmma.fence.aligned
  llvm.return
}

// -----

// expected-error @unknown {{calls llvm.nvvm.fns, which is not emulated}}
llvm.func @k(%p: !llvm.ptr<1>, %x: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %y = llvm.call_intrinsic "llvm.nvvm.fns"(%x, %x, %x) : (i32, i32, i32) -> i32
  llvm.store %y, %p : i32, !llvm.ptr<1>
  llvm.return
}

// -----

// expected-error @unknown {{'k' calls 'helper', which nothing defines}}
llvm.func @helper()
llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.call @helper() : () -> ()
  llvm.return
}

// -----

// expected-error-re @unknown {{'llvm.inline_asm at {{.*}}intercept-refuses-what-it-lacks.mlir{{.*}}' is not emulated}}
llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.inline_asm has_side_effects "nop", "" : () -> ()
  llvm.return
}

// -----

// expected-error @unknown {{'@table' is not emulated: globals other than constants and the arena @global_smem}}
llvm.mlir.global internal @table() {addr_space = 3 : i32} : !llvm.array<16 x f32>
llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %t = llvm.mlir.addressof @table : !llvm.ptr<3>
  %x = llvm.load volatile %t : !llvm.ptr<3> -> f32
  llvm.store %x, %p : f32, !llvm.ptr<1>
  llvm.return
}
