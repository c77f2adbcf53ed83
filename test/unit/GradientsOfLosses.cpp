//===- GradientsOfLosses.cpp - losses against differences -----------------===//
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

TEST(LossGradients, Mse) {
  GradientCheck check(R"mlir(
    func.func @f(%p: tensor<$Mx3xf64>, %t: tensor<$Mx3xf64>) -> tensor<f64> {
      %y = loss.mse %p, %t : tensor<$Mx3xf64> -> tensor<f64>
      return %y : tensor<f64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LossGradients, Huber) {
  GradientCheck check(R"mlir(
    func.func @f(%p: tensor<$Mx3xf64>, %t: tensor<$Mx3xf64>) -> tensor<f64> {
      %y = loss.huber %p, %t {delta = 0.4} : tensor<$Mx3xf64> -> tensor<f64>
      return %y : tensor<f64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LossGradients, Softmax) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx4xf64>) -> tensor<$Mx4xf64> {
      %y = loss.softmax %x : tensor<$Mx4xf64>
      return %y : tensor<$Mx4xf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(LossGradients, LogSoftmax) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx4xf64>) -> tensor<$Mx4xf64> {
      %y = loss.log_softmax %x : tensor<$Mx4xf64>
      return %y : tensor<$Mx4xf64>
    })mlir");
  check.wrt = {0};
  check.run();
}

TEST(LossGradients, CrossEntropyOfProbabilities) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx4xf64>, %p: tensor<$Mx4xf64>) -> tensor<f64> {
      %y = loss.softmax_cross_entropy %x, %p
          : tensor<$Mx4xf64>, tensor<$Mx4xf64> -> tensor<f64>
      return %y : tensor<f64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(LossGradients, CrossEntropyOfLabels) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<3x4xf64>, %l: tensor<3xi32>) -> tensor<f64> {
      %y = loss.softmax_cross_entropy %x, %l
          : tensor<3x4xf64>, tensor<3xi32> -> tensor<f64>
      return %y : tensor<f64>
    })mlir");
  check.wrt = {0};
  HostTensor labels(/*isFloat=*/false, {3});
  labels.mutableI()[0] = 2;
  labels.mutableI()[2] = 3;
  check.fixed[1] = labels;
  check.run();
}
