// RUN: not drawloom-run %s --random --reproducer=%t.mlir 2>&1 | FileCheck %s
// RUN: not drawloom-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// CHECK: error:
// CHECK: reproducer generated at `{{.*}}.mlir`
// CHECK: drawloom-run: error: compilation failed; see the diagnostics
// AGAIN: error: {{.*}}bufferized
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  check.close %x, %x : tensor<4xf32>
  return %x : tensor<4xf32>
}
