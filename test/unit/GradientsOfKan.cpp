//===- GradientsOfKan.cpp - kan ops against differences -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/GradientCheck.h"
#include "gtest/gtest.h"

using drawloom::test::GradientCheck;

/// y = kan.<op> on $M x $N, of values on both sides of 0.
static void checkActivation(const std::string &op) {
  GradientCheck check("func.func @f(%x: tensor<$Mx$Nxf64>) -> "
                      "tensor<$Mx$Nxf64> {\n  %y = kan." +
                      op +
                      " : tensor<$Mx$Nxf64>\n"
                      "  return %y : tensor<$Mx$Nxf64>\n}\n");
  check.low = -3.0;
  check.high = 3.0;
  check.run();
}

TEST(KanGradients, Cospi) { checkActivation("cospi %x"); }
TEST(KanGradients, Elu) { checkActivation("elu %x {alpha = 0.5}"); }
TEST(KanGradients, Gelu) { checkActivation("gelu %x"); }
TEST(KanGradients, GeluTanh) {
  checkActivation("gelu %x {approximate = \"tanh\"}");
}
TEST(KanGradients, LeakyRelu) {
  checkActivation("leaky_relu %x {slope = 0.2}");
}
TEST(KanGradients, Relu) { checkActivation("relu %x"); }
TEST(KanGradients, Sigmoid) { checkActivation("sigmoid %x"); }
TEST(KanGradients, Silu) { checkActivation("silu %x"); }
TEST(KanGradients, Sine) { checkActivation("sine %x {omega = 3.0}"); }
TEST(KanGradients, Sinpi) { checkActivation("sinpi %x"); }
TEST(KanGradients, Snake) { checkActivation("snake %x {alpha = 2.0}"); }
TEST(KanGradients, Softplus) { checkActivation("softplus %x {beta = 2.0}"); }
TEST(KanGradients, Square) { checkActivation("square %x"); }
TEST(KanGradients, Tanh) { checkActivation("tanh %x"); }

/// A rational activation of 48 channels: denominator groups are 24 wide.
static GradientCheck rational(const std::string &form, int64_t numeratorGroups,
                              int64_t denominatorTerms = 4) {
  std::string a = "tensor<" + std::to_string(numeratorGroups) + "x6xf64>";
  std::string b = "tensor<2x" + std::to_string(denominatorTerms) + "xf64>";
  GradientCheck check("func.func @f(%x: tensor<$Mx48xf64>, %a: " + a +
                      ", %b: " + b +
                      ") -> tensor<$Mx48xf64> {\n"
                      "  %y = kan.rational %x, %a, %b form(" +
                      form + ") : tensor<$Mx48xf64>, " + a + ", " + b +
                      "\n  return %y : tensor<$Mx48xf64>\n}\n");
  check.wrt = {0, 1, 2};
  return check;
}

TEST(KanGradients, RationalAbsTerms) { rational("abs_terms", 1).run(); }
TEST(KanGradients, RationalAbsSum) { rational("abs_sum", 1).run(); }
TEST(KanGradients, RationalMoreNumeratorGroups) {
  rational("abs_terms", 4).run();
}
TEST(KanGradients, RationalAbsSumEps) {
  GradientCheck check = rational("abs_sum_eps", 2, 5);
  // Positive sums stay clear of the kink.
  check.low = 0.2;
  check.run();
}
TEST(KanGradients, RationalUnsafe) {
  GradientCheck check = rational("unsafe", 2);
  // Positive terms stay clear of poles.
  check.low = 0.2;
  check.run();
}

TEST(KanGradients, RationalWithNoise) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx6xf64>, %a: tensor<2x4xf64>,
                 %b: tensor<1x3xf64>, %n: tensor<2x4xf64>) -> tensor<$Mx6xf64> {
      %y = kan.rational %x, %a, %b form(abs_sum_noise)
          noise(%n : tensor<2x4xf64>)
          : tensor<$Mx6xf64>, tensor<2x4xf64>, tensor<1x3xf64>
      return %y : tensor<$Mx6xf64>
    })mlir");
  check.wrt = {0, 1, 2, 3};
  check.run();
}

TEST(KanGradients, FrequencyEncode) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx3xf64>) -> tensor<$Mx12xf64> {
      %y = kan.frequency_encode %x {octaves = 2}
          : tensor<$Mx3xf64> -> tensor<$Mx12xf64>
      return %y : tensor<$Mx12xf64>
    })mlir");
  check.run();
}

TEST(KanGradients, GridEncodeTables) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx2xf64>, %t: tensor<3x20x2xf64>)
        -> tensor<$Mx6xf64> {
      %y = kan.grid_encode %x, %t {base_resolution = 3, finest_resolution = 7}
          : tensor<$Mx2xf64>, tensor<3x20x2xf64> -> tensor<$Mx6xf64>
      return %y : tensor<$Mx6xf64>
    })mlir");
  check.wrt = {1};
  check.low = 0.05;
  check.high = 0.95;
  check.run();
}

TEST(KanGradients, GridEncodeCoordinates) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx2xf64>, %t: tensor<3x20x2xf64>)
        -> tensor<$Mx6xf64> {
      %y = kan.grid_encode %x, %t {base_resolution = 3, finest_resolution = 7}
          : tensor<$Mx2xf64>, tensor<3x20x2xf64> -> tensor<$Mx6xf64>
      return %y : tensor<$Mx6xf64>
    })mlir");
  check.low = 0.05;
  check.high = 0.95;
  check.run();
}

TEST(KanGradients, NetworkWithRationalActivations) {
  GradientCheck check(R"mlir(
    func.func @f(%x: tensor<$Mx3xf64>, %w: tensor<3x4xf64>,
                 %a: tensor<1x6xf64>, %b: tensor<2x4xf64>,
                 %v: tensor<4x2xf64>, %t: tensor<$Mx2xf64>) -> tensor<f64> {
      %zero = arith.constant 0.0 : f64
      %e0 = tensor.empty() : tensor<$Mx4xf64>
      %i0 = linalg.fill ins(%zero : f64) outs(%e0 : tensor<$Mx4xf64>)
          -> tensor<$Mx4xf64>
      %h = linalg.matmul ins(%x, %w : tensor<$Mx3xf64>, tensor<3x4xf64>)
          outs(%i0 : tensor<$Mx4xf64>) -> tensor<$Mx4xf64>
      %r = kan.rational %h, %a, %b
          : tensor<$Mx4xf64>, tensor<1x6xf64>, tensor<2x4xf64>
      %e1 = tensor.empty() : tensor<$Mx2xf64>
      %i1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<$Mx2xf64>)
          -> tensor<$Mx2xf64>
      %y = linalg.matmul ins(%r, %v : tensor<$Mx4xf64>, tensor<4x2xf64>)
          outs(%i1 : tensor<$Mx2xf64>) -> tensor<$Mx2xf64>
      %l = loss.mse %y, %t : tensor<$Mx2xf64> -> tensor<f64>
      return %l : tensor<f64>
    })mlir");
  check.wrt = {0, 1, 2, 3, 4, 5};
  check.run();
}
