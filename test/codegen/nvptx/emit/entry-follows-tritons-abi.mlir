// One visible entry with its threads, the user's parameters, two scratch
// pointers, and the arena of shared memory from outside: what Triton's launcher
// and ours call.
//
// RUN: drawloom-translate --mlir-to-ptx --arch=sm_80 %S/Inputs/add.mlir | FileCheck %s -DARCH=sm_80 -DPTX=8.0
// RUN: drawloom-translate --mlir-to-ptx --arch=sm_90a %S/Inputs/add.mlir | FileCheck %s -DARCH=sm_90a -DPTX=8.0
// RUN: drawloom-translate --mlir-to-ptx --arch=sm_100a %S/Inputs/add.mlir | FileCheck %s -DARCH=sm_100a -DPTX=8.6

// CHECK: .version [[PTX]]
// CHECK-NEXT: .target [[ARCH]]{{$}}
// CHECK-NEXT: .address_size 64
// CHECK: .extern .shared .align 1024 .b8 global_smem[];
// CHECK: .visible .entry add(
// CHECK-NEXT: .param .u64 .ptr .global .align 1 add_param_0,
// CHECK-NEXT: .param .u64 .ptr .global .align 1 add_param_1,
// CHECK-NEXT: .param .u32 add_param_2,
// CHECK-NEXT: .param .u64 .ptr .global .align 1 add_param_3,
// CHECK-NEXT: .param .u64 .ptr .global .align 1 add_param_4
// CHECK-NEXT: )
// CHECK-NEXT: .reqntid 128
// CHECK-NOT: .entry
