// RUN: not drawloom-translate --mlir-to-header --isa=avx2 %s -o %t.h 2>&1 | FileCheck %s
// CHECK: @f leaves extents open, for which this header has no place: give its arguments static shapes, or load the file of --mlir-to-artifact
func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = arith.addf %x, %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
