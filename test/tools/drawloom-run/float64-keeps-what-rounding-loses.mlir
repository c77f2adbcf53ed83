// RUN: drawloom-run --target=interpreter %s --print | FileCheck %s --check-prefix=ROUNDED
// RUN: drawloom-run --target=interpreter %s --print --float64 | FileCheck %s --check-prefix=EXACT
// ROUNDED: bfloat16[] = 256
// EXACT: float64[] = 257
func.func @f() -> bf16 {
  %0 = arith.constant 256.0 : bf16
  %1 = arith.constant 1.0 : bf16
  %2 = arith.addf %0, %1 : bf16
  return %2 : bf16
}
