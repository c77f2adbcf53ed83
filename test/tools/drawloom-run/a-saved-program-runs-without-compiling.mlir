// RUN: drawloom-run %s --random --seed=3 --isa=baseline,native --shape=0:3x8 --shape=1:3x8 --save=%t.drawloom --output=%t.first.npy
// RUN: drawloom-run %t.drawloom --random --seed=3 --output=%t.second.npy --mlir-print-ir-after-all 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// RUN: cmp %t.first.npy %t.second.npy
// NONE-NOT: IR Dump

// The shapes are those that it was saved for.
// RUN: drawloom-run %t.drawloom --random --print | FileCheck %s
// CHECK: result0: float32[3, 8]
// RUN: drawloom-run %s --random --shape=0:5x8 --shape=1:5x8 --save=%t.five
// RUN: drawloom-run %t.five --random --print | FileCheck %s --check-prefix=FIVE
// FIVE: result0: float32[5, 8]

// One of its instruction sets; others it has not.
// RUN: drawloom-run %t.drawloom --random --isa=baseline --check-bits=3
// RUN: not drawloom-run %t.drawloom --random --isa=avx2 2>&1 | FileCheck %s --check-prefix=SET
// SET: the program holds no code for instruction set 'avx2'; it has 'native', 'baseline'

// It measures, too.
// RUN: drawloom-run %t.drawloom --random --benchmark=2 | FileCheck %s --check-prefix=TIME
// TIME: median

// What needs its source is refused.
// RUN: not drawloom-run %t.drawloom --random --compare=interpreter 2>&1 | FileCheck %s --check-prefix=SOURCE
// RUN: not drawloom-run %t.drawloom --random --target=interpreter 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: is a compiled program: what asks for its source cannot be done
// RUN: not drawloom-run %s --random --shape=0:3x8 --shape=1:3x8 --target=interpreter --save=%t.none 2>&1 | FileCheck %s --check-prefix=REFERENCE
// REFERENCE: --save needs compiled code

// A damaged one is not run, and one that cannot be written is an error.
// RUN: head -c 2000 %t.drawloom > %t.short
// RUN: not drawloom-run %t.short --random 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: is not loaded: it is cut off or too long
// RUN: not drawloom-run %s --random --shape=0:3x8 --shape=1:3x8 --save=%t.no/folder 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: cannot write '{{.*}}no/folder': No such file or directory
func.func @f(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = arith.addf %x, %y : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
