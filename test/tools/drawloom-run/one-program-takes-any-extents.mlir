// RUN: drawloom-run %s --open --save=%t.drawloom
// RUN: drawloom-run %t.drawloom --random --shape=0:3x2 --shape=1:3x2 --print | FileCheck %s --check-prefix=THREE
// RUN: drawloom-run %t.drawloom --random --shape=0:0x2 --shape=1:0x2 --print | FileCheck %s --check-prefix=NONE
// RUN: not drawloom-run %t.drawloom --random --shape=0:3x2 --shape=1:4x2 2>&1 | FileCheck %s --check-prefix=DIFFER
// RUN: drawloom-run %s --open --random --shape=0:70x2 --shape=1:70x2 --compare=interpreter
// RUN: not drawloom-run %s --open --target=interpreter --random 2>&1 | FileCheck %s --check-prefix=INTERPRETER

// THREE: float32[3, 2]
// NONE: float32[0, 2]
// DIFFER: argument 1 of @difference is given with extent 4 in dimension 0, which has to be that of dimension 0 of argument 0, 3
// INTERPRETER: --open is about compiled code
func.func @difference(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %d = arith.subf %x, %y : tensor<?x2xf32>
  return %d : tensor<?x2xf32>
}
