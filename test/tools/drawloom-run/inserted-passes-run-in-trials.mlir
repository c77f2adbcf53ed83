// Passes in front of a phase run wherever phases do; where none do, they are refused.
// RUN: drawloom-run %s --random --insert-passes=structured:canonicalize --target=emulator --compare=interpreter | FileCheck %s
// CHECK: passed
// RUN: not drawloom-run %s --random --insert-passes=structured:canonicalize --target=interpreter 2>&1 | FileCheck %s --check-prefix=INTERPRETER
// INTERPRETER: error: --insert-passes is about phases, and the interpreter runs the program as it is written
// RUN: drawloom-run %s --random --save=%t.drawloom
// RUN: not drawloom-run %t.drawloom --random --insert-passes=structured:canonicalize 2>&1 | FileCheck %s --check-prefix=SAVED
// RUN: not drawloom-run %t.drawloom --random --plugin=/none 2>&1 | FileCheck %s --check-prefix=SAVED
// SAVED: is a compiled program: what asks for its source cannot be done
func.func @f(%x: tensor<64x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %t = tensor.empty() : tensor<8x64xf32>
  %xt = linalg.transpose ins(%x : tensor<64x8xf32>) outs(%t : tensor<8x64xf32>) permutation = [1, 0]
  %y = linalg.matmul ins(%xt, %x : tensor<8x64xf32>, tensor<64x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = arith.addf %y, %w : tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}
