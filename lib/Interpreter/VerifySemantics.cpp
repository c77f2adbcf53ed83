//===- VerifySemantics.cpp - same meaning before and after ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/VerifySemantics.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Interpreter/Machine.h"
#include "lib/Interpreter/Random.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;

namespace drawloom {

/// Compares one value of both sides; `what` is "result #0", say.
static LogicalResult compareValues(func::FuncOp function, const Twine &what,
                                   const HostTensor &before,
                                   const HostTensor &after,
                                   const SemanticsOptions &options) {
  auto error = [&] {
    return function.emitError("@")
           << function.getName()
           << " has another meaning after the passes than before (seed "
           << options.seed << "): " << what.str();
  };
  if (before.shape() != after.shape())
    return error() << " had shape " << interpreter::indexText(before.shape())
                   << ", has " << interpreter::indexText(after.shape());
  auto indexOf = [&](int64_t element) {
    SmallVector<int64_t> index;
    for (int64_t stride : interpreter::stridesOf(before.shape())) {
      index.push_back(element / stride);
      element %= stride;
    }
    return interpreter::indexText(index);
  };
  if (!before.isFloat()) {
    for (int64_t i = 0; i < before.size(); ++i)
      if (before.i()[i] != after.i()[i])
        return error() << " at index " << indexOf(i) << " was " << before.i()[i]
                       << ", is " << after.i()[i];
    return success();
  }
  std::optional<Difference> difference =
      findDifference(after, before, options.tolerance, /*equalNan=*/true);
  if (!difference)
    return success();
  char text[160];
  std::snprintf(text, sizeof(text),
                " was %.17g, is %.17g; %lld of %lld elements differ, at most "
                "by %.3g",
                difference->expected, difference->actual,
                static_cast<long long>(difference->count),
                static_cast<long long>(before.size()), difference->largest);
  return error() << " at index " << indexOf(difference->element) << text;
}

static LogicalResult compareFunctions(func::FuncOp before, func::FuncOp after,
                                      const SemanticsOptions &options) {
  if (before.getFunctionType() != after.getFunctionType())
    return after.emitError("@")
           << after.getName() << " cannot be compared: its type was "
           << before.getFunctionType() << " before the passes and is "
           << after.getFunctionType() << " after them";
  FailureOr<SmallVector<HostTensor>> arguments =
      randomArguments(before, options.seed);
  if (failed(arguments))
    return failure();
  SmallVector<HostTensor> argumentsAfter(*arguments);
  Interpreter::Limits limits;
  auto expected = Interpreter::callInPlace(before, *arguments, limits);
  if (failed(expected))
    return before.emitError("@")
           << before.getName()
           << " cannot be interpreted as it was before the passes";
  auto actual = Interpreter::callInPlace(after, argumentsAfter, limits);
  if (failed(actual))
    return after.emitError("@")
           << after.getName() << " cannot be interpreted after the passes";
  for (auto [i, type] : llvm::enumerate(before.getArgumentTypes()))
    if (isa<MemRefType>(type) &&
        failed(compareValues(after, "memory of argument #" + Twine(i),
                             (*arguments)[i], argumentsAfter[i], options)))
      return failure();
  for (unsigned i = 0; i < expected->size(); ++i)
    if (failed(compareValues(after, "result #" + Twine(i), (*expected)[i],
                             (*actual)[i], options)))
      return failure();
  return success();
}

LogicalResult compareSemantics(ModuleOp before, ModuleOp after,
                               const SemanticsOptions &options) {
  bool any = false;
  for (auto function : before.getOps<func::FuncOp>()) {
    bool wanted = options.entry.empty() ? function.isPublic()
                                        : function.getName() == options.entry;
    if (!wanted || function.isExternal())
      continue;
    any = true;
    auto other = after.lookupSymbol<func::FuncOp>(function.getName());
    if (!other || other.isExternal())
      return function.emitError("@")
             << function.getName()
             << " cannot be compared: it is gone after the passes";
    if (failed(compareFunctions(function, other, options)))
      return failure();
  }
  if (any)
    return success();
  if (options.entry.empty())
    return after.emitError("there is no public function to compare");
  return after.emitError("there is no function @")
         << options.entry << " to compare";
}

namespace {
using Snapshot = std::shared_ptr<OwningOpRef<ModuleOp>>;

struct TakeSnapshot : PassWrapper<TakeSnapshot, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TakeSnapshot)
  explicit TakeSnapshot(Snapshot snapshot) : snapshot(std::move(snapshot)) {}
  StringRef getName() const override { return "TakeSemanticsSnapshot"; }
  void runOnOperation() override {
    *snapshot = getOperation().clone();
    markAllAnalysesPreserved();
  }
  Snapshot snapshot;
};

struct CompareWithSnapshot
    : PassWrapper<CompareWithSnapshot, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CompareWithSnapshot)
  CompareWithSnapshot(Snapshot snapshot, SemanticsOptions options)
      : snapshot(std::move(snapshot)), options(std::move(options)) {}
  StringRef getName() const override { return "CompareSemantics"; }
  void runOnOperation() override {
    if (failed(compareSemantics(**snapshot, getOperation(), options)))
      signalPassFailure();
    *snapshot = nullptr;
    markAllAnalysesPreserved();
  }
  Snapshot snapshot;
  SemanticsOptions options;
};
} // namespace

LogicalResult addWithSemanticsVerified(
    PassManager &manager, const SemanticsOptions &options,
    function_ref<LogicalResult(PassManager &)> addPipeline) {
  auto snapshot = std::make_shared<OwningOpRef<ModuleOp>>();
  manager.addPass(std::make_unique<TakeSnapshot>(snapshot));
  if (failed(addPipeline(manager)))
    return failure();
  manager.addPass(std::make_unique<CompareWithSnapshot>(snapshot, options));
  return success();
}

} // namespace drawloom
