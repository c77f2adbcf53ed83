//===- VerifySemantics.cpp - same meaning before and after ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/VerifySemantics.h"
#include "dialects/Check/Check.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Interpreter/Machine.h"
#include "lib/Interpreter/Random.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <cmath>

using namespace mlir;

namespace drawloom {

/// Compares one value of both sides; `what` is "result #0", say.
static LogicalResult compareValues(Operation *function, StringRef name,
                                   const Twine &what, const HostTensor &before,
                                   const HostTensor &after,
                                   const SemanticsOptions &options) {
  auto error = [&] {
    return function->emitError("@")
           << name << " has another meaning after the passes than before (seed "
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

/// A tensor as a function takes it whose tensors became memory; a number as
/// one gives it.
static bool isMemoryOf(Type memory, Type type) {
  auto memref = dyn_cast<MemRefType>(memory);
  if (!memref || memref.getElementType() != getElementTypeOrSelf(type))
    return false;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor && isa<ShapedType>(type))
    return false;
  return memref.getShape() ==
         (tensor ? tensor.getShape() : ArrayRef<int64_t>());
}

/// Whether a function of type `after` can be called for one of type `before`:
/// with memory for tensors, results as arguments behind the others, and behind
/// these bytes to work with.
static bool takesResultsAsMemory(FunctionType before, FunctionType after) {
  ArrayRef<Type> types = after.getInputs();
  size_t arguments = before.getNumInputs();
  if (after.getNumResults() != 0 ||
      types.size() < arguments + before.getNumResults())
    return false;
  for (Type type : before.getInputs()) {
    if (types.front() != type && !isMemoryOf(types.front(), type))
      return false;
    types = types.drop_front();
  }
  for (Type type : before.getResults()) {
    if (!isMemoryOf(types.front(), type))
      return false;
    types = types.drop_front();
  }
  return llvm::all_of(types, [](Type type) {
    auto bytes = dyn_cast<MemRefType>(type);
    return bytes && bytes.getElementType().isInteger(8) &&
           bytes.hasStaticShape();
  });
}

/// Whether these are of one type, but for extents that one of them knows and
/// the other does not.
static bool areCompatible(TypeRange before, TypeRange after) {
  return llvm::equal(before, after, [](Type a, Type b) {
    auto known = dyn_cast<RankedTensorType>(a);
    auto other = dyn_cast<RankedTensorType>(b);
    return a == b || (known && other &&
                      known.getElementType() == other.getElementType() &&
                      succeeded(verifyCompatibleShape(known, other)));
  });
}

static bool areCompatible(FunctionType before, FunctionType after) {
  return areCompatible(before.getInputs(), after.getInputs()) &&
         areCompatible(before.getResults(), after.getResults());
}

/// Calls `after`, which `takesResultsAsMemory`, for a function of type
/// `before`. The arguments then hold what memory among them has become.
static FailureOr<SmallVector<HostTensor>>
callWithMemory(func::FuncOp after, FunctionType before,
               MutableArrayRef<HostTensor> arguments,
               ArrayRef<HostTensor> expected,
               const Interpreter::Limits &limits) {
  SmallVector<HostTensor> all(arguments.begin(), arguments.end());
  // What is not written is seen.
  for (Type type : after.getArgumentTypes().drop_front(all.size())) {
    size_t result = all.size() - arguments.size();
    SmallVector<int64_t> shape(cast<MemRefType>(type).getShape());
    if (result < expected.size())
      shape.assign(expected[result].shape().begin(),
                   expected[result].shape().end());
    all.push_back(interpreter::undefined(getElementTypeOrSelf(type), shape));
  }
  if (failed(Interpreter::callInPlace(after, all, limits)))
    return failure();
  for (auto [i, type] : llvm::enumerate(before.getInputs()))
    if (isa<MemRefType>(type))
      arguments[i] = all[i];
  ArrayRef<HostTensor> results =
      ArrayRef(all).slice(arguments.size(), before.getNumResults());
  return SmallVector<HostTensor>(results);
}

static bool isSame(const HostTensor &a, const HostTensor &b) {
  return a.isFloat() ? a.f() == b.f() : a.i() == b.i();
}

/// An error where a comparison tells nothing: there are no results and no
/// memory is changed, or there is NaN only, which agrees with what does not
/// compute at all.
static LogicalResult verifyTells(func::FuncOp function,
                                 ArrayRef<HostTensor> arguments,
                                 ArrayRef<HostTensor> argumentsThen,
                                 ArrayRef<HostTensor> results) {
  SmallVector<HostTensor> values(results);
  for (auto [type, given, then] :
       llvm::zip_equal(function.getArgumentTypes(), arguments, argumentsThen))
    if (isa<MemRefType>(type) && !isSame(given, then))
      values.push_back(then);
  // What has its own oracle has said what it has to say.
  bool isChecked = function
                       .walk([](Operation *op) {
                         return isa<check::CheckDialect>(op->getDialect())
                                    ? WalkResult::interrupt()
                                    : WalkResult::advance();
                       })
                       .wasInterrupted();
  if (values.empty() && isChecked)
    return success();
  if (values.empty())
    return function.emitError("@")
           << function.getName()
           << " has no results and changes no memory, so that there is nothing "
              "to compare";
  auto tells = [](const HostTensor &value) {
    return !value.isFloat() || value.size() == 0 ||
           llvm::any_of(value.f(), [](double x) { return !std::isnan(x); });
  };
  if (llvm::any_of(values, tells))
    return success();
  return function.emitError("@")
         << function.getName()
         << " gives NaN only, so that there is nothing to compare; does "
            "check.range say what its arguments may be?";
}

namespace {
/// One function and what it became, on the same arguments.
class Comparison {
public:
  Comparison(func::FuncOp before, Operation *after,
             const SemanticsOptions &options)
      : before(before), after(after), options(options) {
    limits.differences = true;
  }
  LogicalResult run();

private:
  LogicalResult verifyTypes();
  FailureOr<SmallVector<HostTensor>> runAfter();
  /// Runs what only `options.runLowered` can.
  LogicalResult runLowered();
  LogicalResult compareMemory();

  func::FuncOp before;
  Operation *after;
  SemanticsOptions options;
  Interpreter::Limits limits;
  /// The arguments, and what each side has left in memory among them.
  SmallVector<HostTensor> arguments, argumentsBefore, argumentsAfter;
  SmallVector<HostTensor> expected;
};
} // namespace

LogicalResult Comparison::runLowered() {
  for (Type type : before.getArgumentTypes())
    if (auto byType = Tolerance::forType(type); byType && isa<MemRefType>(type))
      options.tolerance = {
          std::max(options.tolerance.relative, byType->relative),
          std::max(options.tolerance.absolute, byType->absolute)};
  return options.runLowered(before, after->getParentOfType<ModuleOp>(),
                            argumentsAfter);
}

FailureOr<SmallVector<HostTensor>> Comparison::runAfter() {
  auto function = dyn_cast<func::FuncOp>(after);
  if (!function) {
    if (failed(runLowered()))
      return failure();
    return SmallVector<HostTensor>();
  }
  FunctionType type = before.getFunctionType();
  if (areCompatible(type, function.getFunctionType()))
    return Interpreter::callInPlace(function, argumentsAfter, limits);
  return callWithMemory(function, type, argumentsAfter, expected, limits);
}

LogicalResult Comparison::verifyTypes() {
  FunctionType type = before.getFunctionType();
  auto function = dyn_cast<func::FuncOp>(after);
  if (!function) {
    if (type.getNumResults() == 0)
      return success();
    return after->emitError("@")
           << before.getName()
           << " cannot be compared: it has results, which a kernel has not";
  }
  if (areCompatible(type, function.getFunctionType()) ||
      takesResultsAsMemory(type, function.getFunctionType()))
    return success();
  return function.emitError("@")
         << before.getName() << " cannot be compared: its type was " << type
         << " before the passes and is " << function.getFunctionType()
         << " after them";
}

LogicalResult Comparison::compareMemory() {
  for (auto [i, type] : llvm::enumerate(before.getArgumentTypes()))
    if (isa<MemRefType>(type) &&
        failed(compareValues(after, before.getName(),
                             "memory of argument #" + Twine(i),
                             argumentsBefore[i], argumentsAfter[i], options)))
      return failure();
  return success();
}

LogicalResult Comparison::run() {
  if (failed(verifyTypes()))
    return failure();
  FailureOr<SmallVector<HostTensor>> random =
      randomArguments(before, options.seed);
  if (failed(random))
    return failure();
  arguments = argumentsBefore = argumentsAfter = *random;
  auto results = Interpreter::callInPlace(before, argumentsBefore, limits);
  if (failed(results))
    return before.emitError("@")
           << before.getName()
           << " cannot be interpreted as it was before the passes";
  expected = *results;
  FailureOr<SmallVector<HostTensor>> actual = runAfter();
  if (failed(actual))
    return after->emitError("@")
           << before.getName() << " cannot be interpreted after the passes";
  if (failed(compareMemory()))
    return failure();
  for (auto [i, values] : llvm::enumerate(llvm::zip_equal(expected, *actual))) {
    auto [wanted, value] = values;
    if (failed(compareValues(after, before.getName(), "result #" + Twine(i),
                             wanted, value, options)))
      return failure();
  }
  return verifyTells(before, arguments, argumentsBefore, expected);
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
    Operation *other = after.lookupSymbol(function.getName());
    auto interpreted = dyn_cast_or_null<func::FuncOp>(other);
    if (!other || (interpreted && interpreted.isExternal()) ||
        (!interpreted && !options.runLowered))
      return function.emitError("@")
             << function.getName()
             << " cannot be compared: it is gone after the passes";
    if (failed(Comparison(function, other, options).run()))
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
/// Runs a pipeline between remembering the module and comparing.
struct VerifySemantics : PassWrapper<VerifySemantics, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifySemantics)
  VerifySemantics(OpPassManager pipeline, SemanticsOptions options)
      : pipeline(std::move(pipeline)), options(std::move(options)) {}
  StringRef getName() const override { return "VerifySemantics"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    pipeline.getDependentDialects(registry);
  }
  void runOnOperation() override {
    OwningOpRef<ModuleOp> before = getOperation().clone();
    if (failed(runPipeline(pipeline, getOperation())) ||
        failed(compareSemantics(*before, getOperation(), options)))
      signalPassFailure();
  }
  OpPassManager pipeline;
  SemanticsOptions options;
};
} // namespace

LogicalResult addWithSemanticsVerified(
    PassManager &manager, const SemanticsOptions &options,
    function_ref<LogicalResult(PassManager &)> addPipeline) {
  // A pipeline that is given as text replaces what a manager has.
  PassManager passes(manager.getContext(), manager.getOpAnchorName());
  passes.setNesting(OpPassManager::Nesting::Implicit);
  if (failed(addPipeline(passes)))
    return failure();
  manager.addPass(std::make_unique<VerifySemantics>(passes, options));
  return success();
}

} // namespace drawloom
