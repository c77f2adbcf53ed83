// RUN: not drawloom-run --target=interpreter %s 2>&1 | FileCheck %s
// CHECK: a-failed-check-fails-the-run.mlir:[[#@LINE+5]]:{{[0-9]+}}: error: 'check.close' op
// CHECK: drawloom-run: @wrong failed
func.func @wrong() {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = arith.constant dense<[1.0, 2.5]> : tensor<2xf32>
  check.close %0, %1 : tensor<2xf32>
  return
}
func.func @right() {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.close %0, %0 : tensor<2xf32>
  return
}
