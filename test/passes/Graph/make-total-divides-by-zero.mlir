// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// The divisor is 1 where there is no quotient.
// CHECK-LABEL: func.func @divide
// CHECK: %[[ZERO:.+]] = arith.cmpi eq, %[[B:.+]], %{{.+}} : i32
// CHECK: %[[BY:.+]] = arith.select %{{.+}}, %{{.+}}, %[[B]] : i32
// CHECK: %[[QUOTIENT:.+]] = arith.divsi %{{.+}}, %[[BY]] : i32
// CHECK: arith.select %[[ZERO]], %{{.+}}, %[[QUOTIENT]] : i32
func.func @divide() -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %a = arith.constant dense<[7, -2147483648, 0, -9]> : tensor<4xi32>
  %b = arith.constant dense<[0, -1, 0, 2]> : tensor<4xi32>
  %0 = arith.divsi %a, %b : tensor<4xi32>
  %1 = arith.remsi %a, %b : tensor<4xi32>
  %2 = arith.divui %a, %b : tensor<4xi32>
  %3 = arith.remui %a, %b : tensor<4xi32>
  %4 = arith.ceildivsi %a, %b : tensor<4xi32>
  return %0, %1, %2, %3, %4 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @harmless
// CHECK-NOT: arith.select
func.func @harmless(%x: i32, %y: tensor<2xi32>) -> (i32, tensor<2xi32>) {
  %three = arith.constant 3 : i32
  %some = arith.constant dense<[3, -4]> : tensor<2xi32>
  %0 = arith.remsi %x, %three : i32
  %1 = arith.floordivsi %y, %some : tensor<2xi32>
  return %0, %1 : i32, tensor<2xi32>
}
