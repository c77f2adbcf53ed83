// REQUIRES: ptxas
// RUN: rm -rf %t
// RUN: drawloom-translate --mlir-to-bundle --arch=all --bundle-dir=%t %S/Inputs/add.mlir | FileCheck %s

// CHECK: kernel arch threads shared B regs spill B
// CHECK-NEXT: add sm_80 128 512 {{[1-9][0-9]*}} 0 {{[1-9][0-9]+}}
// CHECK: add sm_90a 128 512 {{[1-9][0-9]*}} 0 {{[1-9][0-9]+}}
// CHECK: add sm_100a 128 512 {{[1-9][0-9]*}} 0 {{[1-9][0-9]+}}
