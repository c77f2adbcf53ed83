// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @convert
// CHECK: %[[FITS:.+]] = arith.andi
// CHECK: %[[SAFE:.+]] = arith.select %[[FITS]], %{{.+}}, %{{.+}} : f32
// CHECK: arith.fptosi %[[SAFE]] : f32 to i8
func.func @convert() -> (tensor<6xi8>, tensor<6xi8>, tensor<6xi64>) {
  %a = arith.constant dense<[1.0e30, -1.0e30, 0x7FC00000, -0.5, 127.5, -128.5]> : tensor<6xf32>
  %0 = arith.fptosi %a : tensor<6xf32> to tensor<6xi8>
  %1 = arith.fptoui %a : tensor<6xf32> to tensor<6xi8>
  %2 = arith.fptosi %a : tensor<6xf32> to tensor<6xi64>
  return %0, %1, %2 : tensor<6xi8>, tensor<6xi8>, tensor<6xi64>
}
