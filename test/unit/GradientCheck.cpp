//===- GradientCheck.cpp - gradients against differences ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/GradientCheck.h"
#include "dialects/Ad/Ad.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/RegisterAll.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Differentiate/Passes.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <random>

using namespace mlir;

namespace drawloom::test {

namespace {
using Tensors = SmallVector<HostTensor>;

/// Numbers in [low, high) from a generator that is the same everywhere (the
/// standard library's distributions are not).
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  double operator()(double low, double high) {
    return low + (high - low) * ((engine() >> 11) * 0x1.0p-53);
  }
  HostTensor tensor(Type type, double low, double high) {
    HostTensor value = HostTensor::zerosOf(type);
    if (value.isFloat())
      for (double &x : value.mutableF())
        x = (*this)(low, high);
    return value;
  }

private:
  std::mt19937_64 engine;
};
} // namespace

/// Adds `func @name` with the arguments of `callee` and one cotangent for each
/// of its results, which returns the gradients for `wrt`.
static func::FuncOp addGradient(ModuleOp module, func::FuncOp callee,
                                StringRef name, ArrayRef<int64_t> wrt) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = callee.getLoc();
  FunctionType type = callee.getFunctionType();
  SmallVector<Type> inputs(type.getInputs());
  llvm::append_range(inputs, type.getResults());
  SmallVector<Type> gradients, results(type.getResults());
  for (int64_t i : wrt)
    gradients.push_back(type.getInput(i));
  llvm::append_range(results, gradients);
  auto func = func::FuncOp::create(builder, loc, name,
                                   builder.getFunctionType(inputs, gradients));
  builder.setInsertionPointToStart(func.addEntryBlock());
  ValueRange arguments = func.getArguments();
  auto vjp = ad::VjpOp::create(builder, loc, results, callee.getName(),
                               arguments.take_front(type.getNumInputs()),
                               arguments.drop_front(type.getNumInputs()), wrt);
  func::ReturnOp::create(builder, loc,
                         vjp.getResults().drop_front(type.getNumResults()));
  return func;
}

/// The sum over all results of <cotangent, result>.
static double weighedSum(ArrayRef<HostTensor> results,
                         ArrayRef<HostTensor> cotangents) {
  double sum = 0;
  for (auto [result, cotangent] : llvm::zip_equal(results, cotangents))
    for (auto [y, g] : llvm::zip_equal(result.f(), cotangent.f()))
      sum += y * g;
  return sum;
}

/// Compares the gradients that `gradient(arguments, cotangents)` returns with
/// differences of <cotangents, function(arguments)>.
static void compare(func::FuncOp function, func::FuncOp gradient,
                    ArrayRef<int64_t> wrt, ArrayRef<HostTensor> arguments,
                    Random &random, double step, double tolerance,
                    const std::string &label) {
  FailureOr<Tensors> results = Interpreter::call(function, arguments);
  if (failed(results)) {
    ADD_FAILURE() << label << ": the function could not be interpreted";
    return;
  }
  Tensors cotangents;
  for (auto [type, result] :
       llvm::zip_equal(function.getResultTypes(), *results)) {
    HostTensor cotangent(true, result.shape());
    for (double &g : cotangent.mutableF())
      g = random(-1.0, 1.0);
    cotangents.push_back(cotangent);
  }
  Tensors all(arguments);
  llvm::append_range(all, cotangents);
  FailureOr<Tensors> gradients = Interpreter::call(gradient, all);
  if (failed(gradients)) {
    ADD_FAILURE() << label << ": the gradient could not be interpreted";
    return;
  }
  for (auto [k, index] : llvm::enumerate(wrt)) {
    const HostTensor &x = arguments[index];
    const HostTensor &dx = (*gradients)[k];
    if (x.shape() != dx.shape()) {
      ADD_FAILURE() << label << ": the gradient of argument " << index
                    << " has another shape";
      continue;
    }
    double scale = 1.0;
    for (double g : dx.f())
      scale = std::max(scale, std::abs(g));
    // At most this many elements of a large tensor, evenly spread.
    const int64_t most = 40;
    int64_t stride = std::max<int64_t>(1, x.size() / most);
    for (int64_t i = 0; i < x.size(); i += stride) {
      double side[2];
      for (int s : {0, 1}) {
        Tensors moved(arguments);
        moved[index].mutableF()[i] += s ? step : -step;
        FailureOr<Tensors> values = Interpreter::call(function, moved);
        ASSERT_TRUE(succeeded(values)) << label;
        side[s] = weighedSum(*values, cotangents);
      }
      double wanted = (side[1] - side[0]) / (2 * step);
      EXPECT_NEAR(dx.f()[i], wanted, tolerance * scale)
          << label << ", argument " << index << ", element " << i;
    }
  }
}

void GradientCheck::runOnce(const std::string &text, const std::string &label) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadDialect<ad::AdDialect>(); // The source may not mention it.
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << label << ": does not parse";
  auto function = module->lookupSymbol<func::FuncOp>(entry);
  ASSERT_TRUE(function) << label << ": no function " << entry;

  func::FuncOp first = addGradient(*module, function, "first_gradient", wrt);
  // The gradients depend on the cotangents, too.
  SmallVector<int64_t> secondWrt(wrt.begin(), wrt.end());
  for (int64_t i = 0; i < function.getNumResults(); ++i)
    secondWrt.push_back(function.getNumArguments() + i);
  func::FuncOp second;
  if (order > 1)
    second = addGradient(*module, first, "second_gradient", secondWrt);

  // The original function stays as it is: what it calls is only inlined into
  // the gradients.
  PassManager manager(&context);
  manager.addPass(createDifferentiatePass());
  ASSERT_TRUE(succeeded(manager.run(*module)))
      << label << ": cannot be differentiated";

  Random random(seed);
  Tensors arguments;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto given = fixed.find(i);
    arguments.push_back(given != fixed.end() ? given->second
                                             : random.tensor(type, low, high));
  }
  compare(function, first, wrt, arguments, random, step, tolerance, label);
  if (order < 2)
    return;
  for (Type type : function.getResultTypes())
    arguments.push_back(random.tensor(type, -1.0, 1.0));
  compare(first, second, secondWrt, arguments, random, step, tolerance,
          label + ", second order");
}

void GradientCheck::run() {
  // Every combination of the extents that the source uses.
  std::vector<std::pair<std::string, std::string>> variants = {{source, ""}};
  for (const auto &[name, values] : extents) {
    std::string token = "$" + name;
    std::vector<std::pair<std::string, std::string>> expanded;
    for (const auto &[text, label] : variants) {
      if (text.find(token) == std::string::npos) {
        expanded.push_back({text, label});
        continue;
      }
      for (int64_t value : values) {
        std::string replaced = text;
        for (size_t at = replaced.find(token); at != std::string::npos;
             at = replaced.find(token, at))
          replaced.replace(at, token.size(), std::to_string(value));
        expanded.push_back(
            {replaced, label + name + "=" + std::to_string(value) + " "});
      }
    }
    variants = std::move(expanded);
  }
  for (const auto &[text, label] : variants)
    runOnce(text, label);
}

} // namespace drawloom::test
