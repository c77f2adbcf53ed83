// RUN: not drawloom-run --target=interpreter %s 2>&1 | FileCheck %s
// CHECK: malformed-program-is-an-error.mlir:[[#@LINE+2]]:10: error: use of undeclared SSA value name
func.func @f() -> f32 {
  return %y : f32
}
