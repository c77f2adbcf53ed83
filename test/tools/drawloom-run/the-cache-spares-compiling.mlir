// The first run compiles, the second does not.
// RUN: rm -rf %t
// RUN: drawloom-run %s --random --cache=%t --mlir-print-ir-after-all 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: drawloom-run %s --random --cache=%t --mlir-print-ir-after-all --compare=interpreter 2>&1 | FileCheck %s --check-prefix=SECOND --implicit-check-not="IR Dump"
// FIRST: IR Dump
// SECOND: passed

// The folder of the environment; none is an error.
// RUN: env DRAWLOOM_CACHE=%t drawloom-run %s --random --cache --mlir-print-ir-after-all 2>&1 | FileCheck %s --allow-empty --check-prefix=THIRD
// THIRD-NOT: IR Dump
// RUN: not env DRAWLOOM_CACHE= drawloom-run %s --random --cache 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: --cache: this user has no folder for it; --cache=FOLDER names one

// Another set of instructions is another program.
// RUN: drawloom-run %s --random --cache=%t --isa=baseline --mlir-print-ir-after-all 2>&1 | FileCheck %s --check-prefix=FIRST

// What shows the compiler at work compiles.
// RUN: rm -rf %t.phases && drawloom-run %s --random --cache=%t --dump-phases-to=%t.phases
// RUN: ls %t.phases/7-llvm.mlir

// Off by default.
// RUN: env DRAWLOOM_CACHE=%t.none drawloom-run %s --random
// RUN: not ls %t.none
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
