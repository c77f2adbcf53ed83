//===- MathAccuracyTest.cpp - elementary functions in ulp -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the compiled functions on f32 and compares with the C library in f64.
//
//===----------------------------------------------------------------------===//

#include "mlir/Parser/Parser.h"
#include "test/unit/CompareWithInterpreter.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace drawloom;
using namespace drawloom::test;

namespace {

constexpr int64_t count = 1 << 14;

struct Function {
  const char *name;
  double (*exact)(double);
  /// Magnitudes of the arguments, and whether both signs are tried.
  double least, greatest;
  bool bothSigns;
  double ulp;
};
void PrintTo(const Function &function, std::ostream *os) {
  *os << function.name;
}

std::vector<float> evaluate(const char *name, const char *isa,
                            std::vector<float> arguments) {
  arguments.resize(count);
  std::unique_ptr<MLIRContext> context = makeContext();
  std::string type = "tensor<" + std::to_string(count) + "xf32>";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "func.func @f(%x: " + type + ") -> " + type + " {\n  %y = math." + name +
          " %x : " + type + "\n  return %y : " + type + "\n}",
      context.get());
  std::vector<float> results(count);
  CompileOptions options;
  options.from = Phase::Blocks;
  options.codegen.isa = isa;
  auto program = compileProgram(*module, options);
  EXPECT_TRUE(static_cast<bool>(program));
  if (!program) {
    llvm::consumeError(program.takeError());
    return results;
  }
  const void *in = arguments.data();
  void *out = results.data();
  llvm::Error error = (*program)->run("f", in, out);
  EXPECT_FALSE(static_cast<bool>(error));
  llvm::consumeError(std::move(error));
  return results;
}

double ulpOf(double exact) {
  float rounded = std::abs(static_cast<float>(exact));
  return static_cast<double>(
             std::nextafter(rounded, std::numeric_limits<float>::infinity())) -
         rounded;
}

class MathAccuracy : public testing::TestWithParam<Function> {};

TEST_P(MathAccuracy, StaysWithinItsBound) {
  const Function &function = GetParam();
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(std::log(function.least),
                                                  std::log(function.greatest));
  std::vector<float> arguments(count);
  for (float &argument : arguments) {
    argument = static_cast<float>(std::exp(exponent(random)));
    if (function.bothSigns && random() % 2)
      argument = -argument;
  }
  for (const char *isa : {"baseline", "native"}) {
    std::vector<float> results = evaluate(function.name, isa, arguments);
    double worst = 0, at = 0;
    for (int64_t i = 0; i < count; ++i) {
      double exact = function.exact(arguments[i]);
      double error = std::abs(results[i] - exact) / ulpOf(exact);
      if (!(error <= worst)) {
        worst = error;
        at = arguments[i];
      }
    }
    EXPECT_LE(worst, function.ulp) << isa << ", at " << at;
  }
}

TEST_P(MathAccuracy, PassesNaNOn) {
  std::vector<float> results =
      evaluate(GetParam().name, "native",
               {std::numeric_limits<float>::quiet_NaN(), 0.5f});
  EXPECT_TRUE(std::isnan(results[0]));
  EXPECT_FALSE(std::isnan(results[1]));
}

INSTANTIATE_TEST_SUITE_P(
    Functions, MathAccuracy,
    testing::Values(Function{"exp", std::exp, 1e-6, 80, true, 1.5},
                    Function{"exp2", std::exp2, 1e-6, 100, true, 1.5},
                    Function{"log", std::log, 1e-30, 1e30, false, 1.5},
                    Function{"log2", std::log2, 1e-30, 1e30, false, 2},
                    Function{"log1p", std::log1p, 1e-8, 1e6, false, 3},
                    Function{"log1p", std::log1p, 1e-8, 0.99, true, 3},
                    Function{"expm1", std::expm1, 1e-8, 60, true, 2.5},
                    Function{"tanh", std::tanh, 1e-8, 20, true, 2},
                    Function{"erf", std::erf, 1e-8, 6, true, 3},
                    Function{"sin", std::sin, 1e-8, 1e6, true, 2},
                    Function{"cos", std::cos, 1e-8, 1e6, true, 2},
                    Function{"atan", std::atan, 1e-4, 1e4, true, 2},
                    Function{"asin", std::asin, 1e-4, 1, true, 2},
                    Function{"cbrt", std::cbrt, 1e-20, 1e20, true, 2},
                    Function{"rsqrt", [](double x) { return 1 / std::sqrt(x); },
                             1e-30, 1e30, false, 2}),
    [](const auto &info) {
      return std::string(info.param.name) + std::to_string(info.index);
    });

TEST(MathLimits, TanhAndErfSaturate) {
  float infinity = std::numeric_limits<float>::infinity();
  for (const char *name : {"tanh", "erf"}) {
    std::vector<float> results =
        evaluate(name, "native", {infinity, -infinity, 0.0f, -0.0f, 50.0f});
    EXPECT_EQ(results[0], 1.0f);
    EXPECT_EQ(results[1], -1.0f);
    EXPECT_EQ(results[2], 0.0f);
    EXPECT_TRUE(std::signbit(results[3])) << name;
    EXPECT_EQ(results[4], 1.0f);
  }
}

TEST(MathLimits, ExponentialsReachTheirLimits) {
  float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> results =
      evaluate("exp", "native", {infinity, -infinity, 200.0f, -200.0f});
  EXPECT_EQ(results[0], infinity);
  EXPECT_EQ(results[1], 0.0f);
  EXPECT_EQ(results[2], infinity);
  EXPECT_EQ(results[3], 0.0f);
  results = evaluate("expm1", "native", {infinity, -infinity, 0.0f});
  EXPECT_EQ(results[0], infinity);
  EXPECT_EQ(results[1], -1.0f);
  EXPECT_EQ(results[2], 0.0f);
}

TEST(MathLimits, LogarithmOfOnePlusReachesItsLimits) {
  float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> results =
      evaluate("log1p", "native", {infinity, -1.0f, 0.0f, -2.0f});
  EXPECT_EQ(results[0], infinity);
  EXPECT_EQ(results[1], -infinity);
  EXPECT_EQ(results[2], 0.0f);
  EXPECT_TRUE(std::isnan(results[3]));
}

TEST(MathLimits, SineOfNegativeZeroIsItself) {
  std::vector<float> results = evaluate("sin", "native", {-0.0f, 0.0f});
  EXPECT_TRUE(results[0] == 0 && std::signbit(results[0]));
  EXPECT_TRUE(results[1] == 0 && !std::signbit(results[1]));
}

TEST(MathLimits, SineOfInfinityIsNaN) {
  float infinity = std::numeric_limits<float>::infinity();
  for (const char *name : {"sin", "cos"}) {
    std::vector<float> results =
        evaluate(name, "native", {infinity, -infinity, 1e30f});
    EXPECT_TRUE(std::isnan(results[0]));
    EXPECT_TRUE(std::isnan(results[1]));
    EXPECT_LE(std::abs(results[2]), 1.0f);
  }
}

} // namespace
