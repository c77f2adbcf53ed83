// RUN: split-file %s %t
// RUN: not drawloom-run %t/twice.mlir --random 2>&1 | FileCheck --check-prefix=TWICE %s
// RUN: not drawloom-run %t/number.mlir --random 2>&1 | FileCheck --check-prefix=NUMBER %s
// RUN: not drawloom-run %t/path.mlir --random 2>&1 | FileCheck --check-prefix=PATH %s

// TWICE: twice.mlir:1:1: error: two arguments of @f are named "x"; give each a name of its own
//--- twice.mlir
func.func @f(%a: tensor<3xf32> {drawloom.name = "x"}, %b: tensor<3xf32> {drawloom.name = "x"}) -> tensor<3xf32> {
  return %a : tensor<3xf32>
}
// NUMBER: number.mlir:1:1: error: 'drawloom.name' is a string, and cannot be 7 : i64
//--- number.mlir
func.func @f(%a: tensor<3xf32> {drawloom.name = 7}) -> tensor<3xf32> {
  return %a : tensor<3xf32>
}
// PATH: path.mlir:1:1: error: result 0 of @f is named "../y"; a name begins
//--- path.mlir
func.func @f(%a: tensor<3xf32>) -> (tensor<3xf32> {drawloom.name = "../y"}) {
  return %a : tensor<3xf32>
}
