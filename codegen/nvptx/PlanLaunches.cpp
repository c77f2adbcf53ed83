//===- PlanLaunches.cpp - buffers for what kernels hand to each other -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Arena.h"
#include "codegen/nvptx/LaunchPlan.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXPLANLAUNCHES
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// Whole lines of the cache, and what 16-byte accesses need.
constexpr int64_t workspaceAlignment = 256;

class Planner {
public:
  explicit Planner(func::FuncOp function) : function(function) {}
  FailureOr<LaunchEntry> run();

private:
  FailureOr<ValueType> typeOf(Value value) {
    std::optional<ValueType> type = ValueType::of(value.getType());
    if (type)
      return *type;
    return function.emitError("cannot be called: ")
           << value.getType()
           << " in its signature has no form in a device's memory";
  }
  /// Where a value is. Numbers that come out of a kernel are in the memory of
  /// their tensor.
  FailureOr<LaunchOperand> placeOf(Value value);

  func::FuncOp function;
  DenseMap<Value, LaunchOperand> places;
};

FailureOr<LaunchOperand> Planner::placeOf(Value value) {
  if (auto extract = value.getDefiningOp<tensor::ExtractOp>())
    value = extract.getTensor();
  auto found = places.find(value);
  if (found != places.end())
    return found->second;
  return emitError(value.getLoc())
         << "a value that the host would have to compute between two kernels "
            "has no form in a plan yet";
}

FailureOr<LaunchEntry> Planner::run() {
  LaunchEntry entry;
  entry.signature.name = function.getName().str();
  for (BlockArgument argument : function.getArguments()) {
    FailureOr<ValueType> type = typeOf(argument);
    if (failed(type))
      return failure();
    entry.signature.arguments.push_back(*type);
    places[argument] = {isa<TensorType>(argument.getType())
                            ? LaunchOperand::Argument
                            : LaunchOperand::Scalar,
                        argument.getArgNumber()};
  }
  auto returned =
      cast<func::ReturnOp>(function.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    FailureOr<ValueType> type = typeOf(value);
    if (failed(type))
      return failure();
    entry.signature.results.push_back(*type);
    Value memory = value;
    if (auto extract = value.getDefiningOp<tensor::ExtractOp>())
      memory = extract.getTensor();
    places.try_emplace(
        memory, LaunchOperand{LaunchOperand::Result, static_cast<int64_t>(i)});
  }
  // Workspace for the others, by when they are in use.
  SmallVector<func::CallOp> calls(
      function.getBody().front().getOps<func::CallOp>());
  DenseMap<Operation *, int64_t> number;
  for (auto [i, call] : llvm::enumerate(calls))
    number[call] = i;
  SmallVector<Value> between;
  SmallVector<Lifetime> lifetimes;
  for (auto [i, call] : llvm::enumerate(calls))
    for (Value result : call.getResults()) {
      if (places.count(result))
        continue;
      int64_t last = i;
      for (Operation *user : result.getUsers()) {
        if (isa<tensor::ExtractOp>(user))
          for (Operation *reader : user->getUsers())
            last = std::max(last, number.count(reader)
                                      ? number[reader]
                                      : static_cast<int64_t>(calls.size()));
        else if (number.count(user))
          last = std::max(last, number[user]);
      }
      FailureOr<ValueType> type = typeOf(result);
      if (failed(type))
        return failure();
      between.push_back(result);
      lifetimes.push_back({type->bytes(), static_cast<int64_t>(i), last});
    }
  ArenaLayout arena = layOutArena(lifetimes, workspaceAlignment);
  entry.signature.workspaceBytes = arena.bytes;
  for (auto [value, offset] : llvm::zip(between, arena.offsets))
    places[value] = {LaunchOperand::Workspace, offset};

  for (func::CallOp call : calls) {
    LaunchStep step;
    step.kernel = call.getCallee().str();
    for (Value operand : call.getOperands()) {
      FailureOr<LaunchOperand> place = placeOf(operand);
      if (failed(place))
        return failure();
      step.operands.push_back(*place);
    }
    for (Value result : call.getResults())
      step.operands.push_back(places.lookup(result));
    if (auto updates = call->getAttrOfType<DenseI64ArrayAttr>(updatesAttr))
      for (size_t i = 0; i + 1 < static_cast<size_t>(updates.size()); i += 2) {
        Value result = call.getResult(updates[i]);
        entry.steps.push_back(
            {"",
             {step.operands[updates[i + 1]], places.lookup(result)},
             ValueType::of(result.getType())->bytes()});
      }
    entry.steps.push_back(std::move(step));
  }
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    FailureOr<LaunchOperand> place = placeOf(value);
    if (failed(place))
      return failure();
    LaunchOperand result{LaunchOperand::Result, static_cast<int64_t>(i)};
    if (place->kind != result.kind || place->value != result.value)
      entry.steps.push_back(
          {"", {*place, result}, entry.signature.results[i].bytes()});
  }
  return entry;
}

struct NvptxPlanLaunches : impl::NvptxPlanLaunchesBase<NvptxPlanLaunches> {
  void runOnOperation() override {
    LaunchPlan plan;
    SmallVector<func::FuncOp> entries;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kernelAttr) || function.isExternal())
        continue;
      entries.push_back(function);
      FailureOr<LaunchEntry> entry = Planner(function).run();
      if (failed(entry))
        return signalPassFailure();
      plan.entries.push_back(std::move(*entry));
    }
    std::string text;
    llvm::raw_string_ostream(text) << toJson(plan);
    getOperation()->setAttr(planAttr, StringAttr::get(&getContext(), text));
    for (func::FuncOp function : entries)
      function.erase();
  }
};

} // namespace
} // namespace drawloom::nvptx
