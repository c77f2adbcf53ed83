// RUN: drawloom-translate --mlir-to-ttir %s | FileCheck %s --check-prefix=GPU
// RUN: drawloom-translate --mlir-to-ttir --ttir-blocks=cpu %s | FileCheck %s --check-prefix=CPU
// RUN: not drawloom-translate --mlir-to-ttir --ttir-blocks=loom %s 2>&1 | FileCheck %s --check-prefix=NONE

// The same program in more, smaller blocks for a GPU than for a CPU.
// GPU: // run_0: 8192 programs
// CPU: // run_0: 1024 programs
// NONE: --ttir-blocks: unknown target 'loom'; known: 'cpu', 'cuda', 'emulator'
func.func @run(%x: tensor<65536x768xf32>) -> tensor<65536x768xf32> {
  %y = arith.addf %x, %x : tensor<65536x768xf32>
  return %y : tensor<65536x768xf32>
}
