// RUN: drawloom-run %s --entry=f --random --shape=features:2x3 --save=%t.drawloom --isa=all --print | FileCheck %s
// RUN: drawloom-run %t.drawloom --random --shape=features:2x3 --print | FileCheck %s
// RUN: drawloom-run %s --entry=inputs --output=%t.npz
// RUN: drawloom-run %s --entry=f --input=%t.npz --print | FileCheck --check-prefix=BYNAME %s
// RUN: drawloom-run %s --entry=f --target=interpreter --input=%t.npz --print | FileCheck --check-prefix=BYNAME %s
// RUN: not drawloom-run %s --entry=f --random --shape=feature:2x3 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// RUN: not drawloom-run %s --entry=f --random --shape=features:2x3 --shape=0:2x3 2>&1 | FileCheck --check-prefix=TWICE %s
// RUN: not drawloom-run %s --entry=f --input=%t.npz,%t.npz 2>&1 | FileCheck --check-prefix=AGAIN %s
// RUN: not drawloom-run %s --entry=f --random --shape=features:2x3 --shape=features:2x3 2>&1 | FileCheck --check-prefix=KEY %s
// RUN: rm -rf %t.folder
// RUN: drawloom-run %s --entry=both --output=%t.folder && ls %t.folder | FileCheck --check-prefix=FILES %s
// RUN: drawloom-run %s --entry=f --compile-to=blocks | FileCheck --check-prefix=KEPT %s

// CHECK: sum: float32[2, 3] =
// BYNAME: sum: float32[1, 3] = {{\[\[}}1, 2, 3]]
// UNKNOWN: error: --shape names argument feature, but @f takes 2: features, shift
// TWICE: error: --shape names argument 0 (features) of @f twice
// KEY: error: --shape names argument features twice
// FILES: result0.npy
// FILES: result0_.npy
// AGAIN: error: argument 1 (shift) of @f ({{.*}}array 'shift') is given twice
// KEPT: func.func @f({{.*}}drawloom.name = "features"{{.*}}drawloom.name = "shift"
func.func @f(%x: tensor<?x3xf32> {drawloom.name = "features"}, %b: tensor<3xf32> {drawloom.name = "shift"})
    -> (tensor<?x3xf32> {drawloom.name = "sum"}) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x3xf32>
  %empty = tensor.empty(%rows) : tensor<?x3xf32>
  %wide = linalg.broadcast ins(%b : tensor<3xf32>) outs(%empty : tensor<?x3xf32>) dimensions = [0]
  %y = arith.addf %x, %wide : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// The other order.
func.func @inputs() -> (tensor<3xf32> {drawloom.name = "shift"}, tensor<1x3xf32> {drawloom.name = "features"}) {
  %shift = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %features = arith.constant dense<0.0> : tensor<1x3xf32>
  return %shift, %features : tensor<3xf32>, tensor<1x3xf32>
}

// The first has no name, and the second that which it would have.
func.func @both() -> (tensor<1xf32>, tensor<1xf32> {drawloom.name = "result0"}) {
  %a = arith.constant dense<1.0> : tensor<1xf32>
  %b = arith.constant dense<2.0> : tensor<1xf32>
  return %a, %b : tensor<1xf32>, tensor<1xf32>
}
