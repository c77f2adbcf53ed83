// RUN: not drawloom-run --target=interpreter %s --random 2>&1 | FileCheck %s
// RUN: not drawloom-run --target=interpreter %s --random --shape=0:4x5 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not drawloom-run --target=interpreter %s --random --shape=1:4x5 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not drawloom-run --target=interpreter %s --random --shape=4x5 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: drawloom-run --target=interpreter %s --random --shape=0:2x3 --print | FileCheck %s --check-prefix=FITS
// CHECK: error: argument 0 of @f is float32[?, 3]: give its extents with --shape=0:...
// WRONG: error: argument 0 of @f is float32[?, 3], but --shape says [4, 5]
// MANY: error: --shape names argument 1, but @f takes 1
// NUMBER: error: --shape=4x5: expected an argument's number or name and its extents, as in --shape=0:8x64
// FITS: result0: float32[2, 3]
func.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %x : tensor<?x3xf32>
}
