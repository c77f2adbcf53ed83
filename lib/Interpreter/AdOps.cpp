//===- AdOps.cpp - requests for derivatives, by differences ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Ad/Ad.h"
#include "lib/Interpreter/Differences.h"
#include "lib/Interpreter/Machine.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace drawloom::interpreter {

/// Calls the function and yields its results, then the gradients of the sum of
/// <cotangent, result>.
static LogicalResult runRequest(Call &call, SymbolRefAttr callee,
                                ArrayRef<int64_t> wrt,
                                ArrayRef<HostTensor> arguments,
                                ArrayRef<std::optional<HostTensor>> given) {
  auto function =
      SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call.op(), callee);
  auto evaluate = [&](ArrayRef<HostTensor> values) {
    SmallVector<HostTensor> copies(values);
    return call.machine.call(call.op(), function, copies);
  };
  FailureOr<SmallVector<HostTensor>> results = evaluate(arguments);
  if (failed(results))
    return failure();
  SmallVector<std::optional<HostTensor>> cotangents(given);
  cotangents.resize(results->size());
  for (auto [result, cotangent] : llvm::zip_equal(*results, cotangents))
    if (cotangent && cotangent->shape() != result.shape())
      return call.error() << "has a cotangent of shape "
                          << indexText(cotangent->shape())
                          << " for a result of shape "
                          << indexText(result.shape());
  for (HostTensor &result : *results)
    call.yield(std::move(result));
  for (int64_t argument : wrt) {
    HostTensor gradient(/*isFloat=*/true, arguments[argument].shape());
    for (int64_t i = 0; i < gradient.size(); ++i) {
      FailureOr<Slope> slope =
          slopeOf(evaluate, arguments, cotangents, argument, i);
      if (failed(slope))
        return failure();
      gradient.mutableF()[i] = slope->value;
    }
    call.yield(std::move(gradient));
  }
  return success();
}

static LogicalResult runValueAndGrad(Call &call) {
  auto op = call.as<ad::ValueAndGradOp>();
  return runRequest(call, op.getCalleeAttr(), op.getWrt(), call.args,
                    {HostTensor::scalar(1.0)});
}

static LogicalResult runVjp(Call &call) {
  auto op = call.as<ad::VjpOp>();
  size_t count = op.getArguments().size();
  SmallVector<std::optional<HostTensor>> cotangents(call.args.begin() + count,
                                                    call.args.end());
  return runRequest(call, op.getCalleeAttr(), op.getWrt(),
                    call.args.take_front(count), cotangents);
}

/// What is computed, not what was kept: differences go through it.
static LogicalResult runSaved(Call &call) {
  call.yield(HostTensor(call.args.front()));
  return success();
}

void addAdOps(Registry &registry) {
  registry["ad.saved"] = {runSaved};
  registry["ad.value_and_grad"] = {runValueAndGrad};
  registry["ad.vjp"] = {runVjp};
}

} // namespace drawloom::interpreter
