//===- GradientsOfScalars.cpp - arith and math against differences --------===//
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

/// y = op(x, ...) on tensors of $M x $N.
static GradientCheck elementwise(const std::string &op, int operands = 1) {
  std::string type = "tensor<$Mx$Nxf64>", arguments, names;
  for (int i = 0; i < operands; ++i) {
    std::string name = "%x" + std::to_string(i);
    arguments += (i ? ", " : "") + name + ": " + type;
    names += (i ? ", " : "") + name;
  }
  GradientCheck check("func.func @f(" + arguments + ") -> " + type + " {\n" +
                      "  %y = " + op + " " + names + " : " + type +
                      "\n  return %y : " + type + "\n}\n");
  check.wrt.clear();
  for (int i = 0; i < operands; ++i)
    check.wrt.push_back(i);
  return check;
}

static void checkElementwise(const std::string &op, int operands = 1,
                             double low = -1.0, double high = 1.0) {
  GradientCheck check = elementwise(op, operands);
  check.low = low;
  check.high = high;
  check.run();
}

TEST(ArithGradients, Addf) { checkElementwise("arith.addf", 2); }
TEST(ArithGradients, Subf) { checkElementwise("arith.subf", 2); }
TEST(ArithGradients, Mulf) { checkElementwise("arith.mulf", 2); }
TEST(ArithGradients, Divf) { checkElementwise("arith.divf", 2, 0.5, 2.0); }
TEST(ArithGradients, Remf) { checkElementwise("arith.remf", 2, 1.1, 1.9); }
TEST(ArithGradients, Negf) { checkElementwise("arith.negf"); }
TEST(ArithGradients, Maximumf) { checkElementwise("arith.maximumf", 2); }
TEST(ArithGradients, Minimumf) { checkElementwise("arith.minimumf", 2); }
TEST(ArithGradients, Maxnumf) { checkElementwise("arith.maxnumf", 2); }
TEST(ArithGradients, Minnumf) { checkElementwise("arith.minnumf", 2); }
TEST(MathGradients, Absf) { checkElementwise("math.absf"); }
TEST(MathGradients, Acos) { checkElementwise("math.acos", 1, -0.9, 0.9); }
TEST(MathGradients, Acosh) { checkElementwise("math.acosh", 1, 1.5, 3.0); }
TEST(MathGradients, Asin) { checkElementwise("math.asin", 1, -0.9, 0.9); }
TEST(MathGradients, Asinh) { checkElementwise("math.asinh"); }
TEST(MathGradients, Atan) { checkElementwise("math.atan"); }
TEST(MathGradients, Atan2) { checkElementwise("math.atan2", 2, 0.5, 2.0); }
TEST(MathGradients, Atanh) { checkElementwise("math.atanh", 1, -0.8, 0.8); }
TEST(MathGradients, Cbrt) { checkElementwise("math.cbrt", 1, 0.3, 2.0); }
TEST(MathGradients, Ceil) { checkElementwise("math.ceil"); }
TEST(MathGradients, Copysign) {
  checkElementwise("math.copysign", 2, 0.2, 1.0);
}
TEST(MathGradients, Cos) { checkElementwise("math.cos"); }
TEST(MathGradients, Cosh) { checkElementwise("math.cosh"); }
TEST(MathGradients, Erf) { checkElementwise("math.erf"); }
TEST(MathGradients, Erfc) { checkElementwise("math.erfc"); }
TEST(MathGradients, Exp) { checkElementwise("math.exp"); }
TEST(MathGradients, Exp2) { checkElementwise("math.exp2"); }
TEST(MathGradients, Expm1) { checkElementwise("math.expm1"); }
TEST(MathGradients, Floor) { checkElementwise("math.floor"); }
TEST(MathGradients, Fma) { checkElementwise("math.fma", 3); }
TEST(MathGradients, Log) { checkElementwise("math.log", 1, 0.3, 3.0); }
TEST(MathGradients, Log10) { checkElementwise("math.log10", 1, 0.3, 3.0); }
TEST(MathGradients, Log1p) { checkElementwise("math.log1p", 1, -0.5, 2.0); }
TEST(MathGradients, Log2) { checkElementwise("math.log2", 1, 0.3, 3.0); }
TEST(MathGradients, Powf) { checkElementwise("math.powf", 2, 0.3, 2.0); }
TEST(MathGradients, Round) { checkElementwise("math.round"); }
TEST(MathGradients, Roundeven) { checkElementwise("math.roundeven"); }
TEST(MathGradients, Rsqrt) { checkElementwise("math.rsqrt", 1, 0.3, 3.0); }
TEST(MathGradients, Sin) { checkElementwise("math.sin"); }
TEST(MathGradients, Sinh) { checkElementwise("math.sinh"); }
TEST(MathGradients, Sqrt) { checkElementwise("math.sqrt", 1, 0.3, 3.0); }
TEST(MathGradients, Tan) { checkElementwise("math.tan"); }
TEST(MathGradients, Tanh) { checkElementwise("math.tanh"); }
TEST(MathGradients, Trunc) { checkElementwise("math.trunc"); }

TEST(ArithGradients, Select) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<$Mxf64>, %b: tensor<$Mxf64>) -> tensor<$Mxf64> {
      %c = arith.cmpf olt, %a, %b : tensor<$Mxf64>
      %s = arith.mulf %a, %a : tensor<$Mxf64>
      %y = arith.select %c, %s, %b : tensor<$Mxi1>, tensor<$Mxf64>
      return %y : tensor<$Mxf64>
    })mlir");
  check.wrt = {0, 1};
  check.run();
}

TEST(ArithGradients, ChangesOfPrecision) {
  GradientCheck check(R"mlir(
    func.func @f(%a: tensor<$Mxf64>) -> tensor<$Mxf64> {
      %n = arith.truncf %a : tensor<$Mxf64> to tensor<$Mxf32>
      %s = arith.mulf %n, %n : tensor<$Mxf32>
      %y = arith.extf %s : tensor<$Mxf32> to tensor<$Mxf64>
      return %y : tensor<$Mxf64>
    })mlir");
  check.run();
}

TEST(MathGradients, Clampf) {
  GradientCheck check(R"mlir(
    func.func @f(%x: f64, %lo: f64, %hi: f64) -> f64 {
      %y = math.clampf %x to [%lo, %hi] : f64
      return %y : f64
    })mlir");
  check.wrt = {0, 1, 2};
  for (double x : {-0.5, 0.5, 1.5}) {
    check.fixed = {{0, HostTensor::scalar(x)},
                   {1, HostTensor::scalar(0.0)},
                   {2, HostTensor::scalar(1.0)}};
    check.run();
  }
}

TEST(MathGradients, Fpowi) {
  for (int64_t n : {-2, 0, 1, 3}) {
    GradientCheck check(R"mlir(
      func.func @f(%x: f64, %n: i32) -> f64 {
        %y = math.fpowi %x, %n : f64, i32
        return %y : f64
      })mlir");
    check.fixed[1] = HostTensor::scalar(n);
    check.low = 0.5;
    check.run();
  }
}

TEST(MathGradients, Sincos) {
  GradientCheck check(R"mlir(
    func.func @f(%x: f64) -> (f64, f64) {
      %s, %c = math.sincos %x : f64
      return %s, %c : f64, f64
    })mlir");
  check.run();
}

TEST(MathGradients, LongChain) {
  GradientCheck check(R"mlir(
    func.func @f(%x: f64, %w: f64) -> f64 {
      %a = arith.mulf %x, %w : f64
      %b = math.tanh %a : f64
      %c = math.exp %b : f64
      %d = arith.addf %c, %x : f64
      %e = arith.divf %b, %d : f64
      return %e : f64
    })mlir");
  check.wrt = {0, 1};
  check.low = 0.2;
  check.run();
}
