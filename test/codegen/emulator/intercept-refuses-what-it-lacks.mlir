// RUN: drawloom-opt %s --emulator-intercept-nvvm --split-input-file --verify-diagnostics

llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  // expected-error @below {{'nvvm.wgmma.fence.aligned' op is not emulated}}
  nvvm.wgmma.fence.aligned
  llvm.return
}

// -----

llvm.func @k(%x: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  // expected-error @below {{calls llvm.nvvm.fns, which is not emulated}}
  %y = llvm.call_intrinsic "llvm.nvvm.fns"(%x, %x, %x) : (i32, i32, i32) -> i32
  llvm.return
}

// -----

// expected-error @below {{@helper has no body, and the emulator has no function of that name}}
llvm.func @helper()
llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.call @helper() : () -> ()
  llvm.return
}

// -----

llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  // expected-error @below {{'llvm.inline_asm' op is not emulated}}
  llvm.inline_asm has_side_effects "nop", "" : () -> ()
  llvm.return
}

// -----

// expected-error @below {{is not emulated: globals other than constants and the arena @global_smem}}
llvm.mlir.global internal @table() {addr_space = 3 : i32} : !llvm.array<16 x f32>
