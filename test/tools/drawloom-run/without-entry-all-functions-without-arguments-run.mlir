// RUN: drawloom-run --target=interpreter %s --print | FileCheck %s
// CHECK: = 1
// CHECK-NEXT: = 2
// CHECK-NOT: =
func.func @one() -> i64 {
  %0 = arith.constant 1 : i64
  return %0 : i64
}
func.func @two() -> i64 {
  %0 = arith.constant 2 : i64
  return %0 : i64
}
func.func @three(%x: i64) -> i64 {
  return %x : i64
}
