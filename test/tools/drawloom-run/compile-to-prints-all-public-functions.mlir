// RUN: drawloom-run %s --compile-to=structured | FileCheck %s
// RUN: drawloom-run %s --compile-to=structured --entry=two | FileCheck %s --check-prefix=ONE

// CHECK: func.func @one
// CHECK: func.func @two
// ONE-NOT: func.func @one
// ONE: func.func @two
// ONE-NOT: func.func @one
func.func @one(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @two(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = kan.silu %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
