//===- GradientsOfTensors.cpp - tensor ops against differences ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/GradientCheck.h"
#include "gtest/gtest.h"

using drawloom::HostTensor;
using drawloom::test::GradientCheck;

TEST(TensorGradients, ExtractSlice) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<5x$Nxf64>) -> tensor<2x$Nxf64> {
      %q = arith.mulf %x, %x : tensor<5x$Nxf64>
      %y = tensor.extract_slice %q[1, 0] [2, $N] [2, 1]
          : tensor<5x$Nxf64> to tensor<2x$Nxf64>
      %z = math.exp %y : tensor<2x$Nxf64>
      return %z : tensor<2x$Nxf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(TensorGradients, ExtractRowAtIndex) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<5x$Nxf64>, %i: index) -> tensor<$Nxf64> {
      %y = tensor.extract_slice %x[%i, 0] [1, $N] [1, 1]
          : tensor<5x$Nxf64> to tensor<$Nxf64>
      %z = math.exp %y : tensor<$Nxf64>
      return %z : tensor<$Nxf64>
    })mlir");
  check.wrt = {0};
  check.fixed[1] = HostTensor::scalar(int64_t(3));
  check.run();
}

TEST(TensorGradients, InsertSlice) {
  GradientCheck check(R"mlir(
    func.func @f(%s: tensor<2x$Nxf64>, %x: tensor<5x$Nxf64>) -> tensor<5x$Nxf64> {
      %y = tensor.insert_slice %s into %x[2, 0] [2, $N] [1, 1]
          : tensor<2x$Nxf64> into tensor<5x$Nxf64>
      %z = math.exp %y : tensor<5x$Nxf64>
      return %z : tensor<5x$Nxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(TensorGradients, OverlappingSlices) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<6xf64>) -> tensor<4xf64> {
      %a = tensor.extract_slice %x[0] [4] [1]
          : tensor<6xf64> to tensor<4xf64>
      %b = tensor.extract_slice %x[2] [4] [1]
          : tensor<6xf64> to tensor<4xf64>
      %y = arith.mulf %a, %b : tensor<4xf64>
      return %y : tensor<4xf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(TensorGradients, ExpandAndCollapseShape) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<6x$Nxf64>) -> tensor<2x3x$Nxf64> {
      %a = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 3, $N]
          : tensor<6x$Nxf64> into tensor<2x3x$Nxf64>
      %b = math.exp %a : tensor<2x3x$Nxf64>
      %p = tensor.collapse_shape %b [[0, 1], [2]]
          : tensor<2x3x$Nxf64> into tensor<6x$Nxf64>
      %q = arith.mulf %p, %x : tensor<6x$Nxf64>
      %c = tensor.expand_shape %q [[0, 1], [2]] output_shape [2, 3, $N]
          : tensor<6x$Nxf64> into tensor<2x3x$Nxf64>
      return %c : tensor<2x3x$Nxf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(TensorGradients, CastToDynamicAndBack) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx3xf64>) -> tensor<$Mx3xf64> {
      %a = tensor.cast %x : tensor<$Mx3xf64> to tensor<?x3xf64>
      %b = math.exp %a : tensor<?x3xf64>
      %c = tensor.cast %b : tensor<?x3xf64> to tensor<$Mx3xf64>
      return %c : tensor<$Mx3xf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(TensorGradients, Concat) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<$Mx2xf64>, %b: tensor<$Mx3xf64>) -> tensor<$Mx7xf64> {
      %y = tensor.concat dim(1) %a, %b, %a
          : (tensor<$Mx2xf64>, tensor<$Mx3xf64>, tensor<$Mx2xf64>)
          -> tensor<$Mx7xf64>
      %z = math.exp %y : tensor<$Mx7xf64>
      return %z : tensor<$Mx7xf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(TensorGradients, PadOfAnEmptyTensor) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<0x3xf64>) -> tensor<2x3xf64> {
      %one = arith.constant 1.0 : f64
      %y = tensor.pad %x low[0, 0] high[2, 0] {
      ^bb0(%i: index, %j: index):
        tensor.yield %one : f64
      } : tensor<0x3xf64> to tensor<2x3xf64>
      %z = math.exp %y : tensor<2x3xf64>
      return %z : tensor<2x3xf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(TensorGradients, Pad) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<2x3xf64>) -> tensor<5x4xf64> {
      %one = arith.constant 1.0 : f64
      %y = tensor.pad %x low[1, 0] high[2, 1] {
      ^bb0(%i: index, %j: index):
        tensor.yield %one : f64
      } : tensor<2x3xf64> to tensor<5x4xf64>
      %z = math.exp %y : tensor<5x4xf64>
      return %z : tensor<5x4xf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(TensorGradients, ExtractAndInsert) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<4xf64>, %i: index) -> tensor<4xf64> {
      %a = tensor.extract %x[%i] : tensor<4xf64>
      %b = math.exp %a : f64
      %c0 = arith.constant 0 : index
      %y = tensor.insert %b into %x[%c0] : tensor<4xf64>
      %z = arith.mulf %y, %x : tensor<4xf64>
      return %z : tensor<4xf64>
    })mlir");
  check.wrt = {0};
  check.fixed[1] = HostTensor::scalar(int64_t(2));
  check.run();
}

TEST(TensorGradients, Splat) {
  GradientCheck check(R"mlir(
    func.func @f(%x: f64) -> tensor<$Mx2xf64> {
      %e = math.exp %x : f64
      %z = tensor.splat %e : tensor<$Mx2xf64>
      return %z : tensor<$Mx2xf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(TensorGradients, FromElements) {
  GradientCheck check(R"mlir(
    func.func @f(%a: f64, %b: f64) -> tensor<2x2xf64> {
      %y = tensor.from_elements %a, %b, %b, %a : tensor<2x2xf64>
      %z = math.exp %y : tensor<2x2xf64>
      return %z : tensor<2x2xf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}
