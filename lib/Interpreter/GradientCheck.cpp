//===- GradientCheck.cpp - check.gradient ---------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Ad/Ad.h"
#include "dialects/Check/Check.h"
#include "lib/Interpreter/Differences.h"
#include "lib/Interpreter/Machine.h"
#include "lib/Interpreter/Random.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Differentiate/Passes.h"
#include <cmath>

using namespace mlir;

namespace drawloom::interpreter {

namespace {
/// A function and one that returns the gradients of <cotangents, results> for
/// its arguments and cotangents.
struct Pair {
  func::FuncOp function, gradient;
  SmallVector<int64_t> wrt;
};

struct PreparedGradients : Prepared {
  OwningOpRef<ModuleOp> module;
  /// The function with its gradients, the gradients with theirs, ...
  SmallVector<Pair, 2> orders;
};
} // namespace

static Pair addGradient(ModuleOp module, func::FuncOp callee, Twine name,
                        ArrayRef<int64_t> wrt) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = callee.getLoc();
  FunctionType type = callee.getFunctionType();
  SmallVector<Type> inputs(type.getInputs()), results(type.getResults());
  llvm::append_range(inputs, type.getResults());
  SmallVector<Type> gradients;
  for (int64_t i : wrt)
    gradients.push_back(type.getInput(i));
  llvm::append_range(results, gradients);
  auto function = func::FuncOp::create(
      builder, loc, name.str(), builder.getFunctionType(inputs, gradients));
  builder.setInsertionPointToStart(function.addEntryBlock());
  ValueRange arguments = function.getArguments();
  auto vjp = ad::VjpOp::create(builder, loc, results, callee.getName(),
                               arguments.take_front(type.getNumInputs()),
                               arguments.drop_front(type.getNumInputs()), wrt);
  func::ReturnOp::create(builder, loc,
                         vjp.getResults().drop_front(type.getNumResults()));
  return {callee, function, SmallVector<int64_t>(wrt)};
}

static FailureOr<std::shared_ptr<Prepared>>
prepareGradient(Operation *operation, Compiler &) {
  auto op = cast<check::GradientOp>(operation);
  auto prepared = std::make_shared<PreparedGradients>();
  prepared->module = op->getParentOfType<ModuleOp>().clone();
  ModuleOp module = *prepared->module;
  // What the other functions ask for is not this op's.
  auto function = module.lookupSymbol<func::FuncOp>(op.getCallee());
  auto range = op.getRangeAttr()
                   ? op.getRangeAttr()
                   : DenseF64ArrayAttr::get(op.getContext(), {-1.0, 1.0});
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (isFloat(type) && !function.getArgAttr(i, "check.range"))
      function.setArgAttr(i, "check.range", range);
  SmallVector<int64_t> wrt(op.getWrt());
  for (uint64_t order = 1; order <= op.getOrder(); ++order) {
    Pair pair =
        addGradient(module, function, "check_gradient_" + Twine(order), wrt);
    prepared->orders.push_back(pair);
    // Gradients depend on the cotangents, too.
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      wrt.push_back(function.getNumArguments() + i);
    function = pair.gradient;
  }
  PassManager manager(op.getContext());
  manager.addPass(createDifferentiatePass());
  if (failed(manager.run(module)))
    return op.emitOpError("cannot differentiate @") << op.getCallee();
  return std::shared_ptr<Prepared>(std::move(prepared));
}

/// Compares every gradient with differences of the function.
static LogicalResult compare(Call &call, const Pair &pair, uint64_t order,
                             ArrayRef<HostTensor> arguments,
                             ArrayRef<HostTensor> cotangents) {
  auto op = call.as<check::GradientOp>();
  auto run = [&](func::FuncOp function) {
    return [&call, function](ArrayRef<HostTensor> values) {
      SmallVector<HostTensor> copies(values);
      return call.machine.call(call.op(), function, copies);
    };
  };
  SmallVector<HostTensor> all(arguments);
  llvm::append_range(all, cotangents);
  FailureOr<SmallVector<HostTensor>> gradients = run(pair.gradient)(all);
  if (failed(gradients))
    return failure();
  SmallVector<std::optional<HostTensor>> weights(cotangents.begin(),
                                                 cotangents.end());
  auto evaluate = run(pair.function);
  for (auto [argument, gradient] : llvm::zip_equal(pair.wrt, *gradients)) {
    auto error = [&, argument = argument] {
      return call.error() << "failed: @" << op.getCallee() << ", argument #"
                          << argument << (order == 1 ? "" : " of the gradient");
    };
    const HostTensor &x = arguments[argument];
    if (x.shape() != gradient.shape())
      return error() << " of shape " << indexText(x.shape())
                     << " has a gradient of shape "
                     << indexText(gradient.shape());
    // At most so many elements of a large tensor, evenly spread.
    const int64_t most = 40;
    int64_t distance = std::max<int64_t>(1, x.size() / most);
    for (int64_t i = 0; i < x.size(); i += distance) {
      FailureOr<Slope> slope =
          slopeOf(evaluate, arguments, weights, argument, i);
      if (failed(slope))
        return failure();
      char text[160];
      double size = std::max(1.0, std::abs(slope->value));
      if (!(slope->uncertainty <= 1e-3 * size)) {
        std::snprintf(text, sizeof(text),
                      ", element %lld: differences do not settle: %.17g, up to "
                      "%.3g",
                      static_cast<long long>(i), slope->value,
                      slope->uncertainty);
        return error() << text << "; is there a kink or a pole near the input?";
      }
      if (std::abs(gradient.f()[i] - slope->value) <= slope->uncertainty)
        continue;
      std::snprintf(text, sizeof(text),
                    ", element %lld: the gradient is %.17g, differences give "
                    "%.17g, up to %.3g",
                    static_cast<long long>(i), gradient.f()[i], slope->value,
                    slope->uncertainty);
      return error() << text;
    }
  }
  return success();
}

static LogicalResult runGradient(Call &call) {
  auto op = call.as<check::GradientOp>();
  auto &prepared = call.prepared<PreparedGradients>();
  FailureOr<SmallVector<HostTensor>> arguments =
      randomArguments(prepared.orders.front().function, op.getSeed());
  if (failed(arguments))
    return failure();
  Random random(op.getSeed() + 1);
  for (auto [i, pair] : llvm::enumerate(prepared.orders)) {
    SmallVector<HostTensor> copies(*arguments);
    FailureOr<SmallVector<HostTensor>> results =
        call.machine.call(call.op(), pair.function, copies);
    if (failed(results))
      return failure();
    SmallVector<HostTensor> cotangents;
    for (auto [type, result] :
         llvm::zip_equal(pair.function.getResultTypes(), *results))
      cotangents.push_back(
          random.tensor(type, result.shape(), Random::Range{-1.0, 1.0}));
    if (failed(compare(call, pair, i + 1, *arguments, cotangents)))
      return failure();
    llvm::append_range(*arguments, cotangents);
  }
  return success();
}

void addGradientCheck(Registry &registry) {
  registry["check.gradient"] = {runGradient, prepareGradient};
}

} // namespace drawloom::interpreter
