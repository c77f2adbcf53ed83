//===- OffloadOps.cpp - transfers between memory and a store --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Offload/Offload.h"
#include "lib/Interpreter/Machine.h"

using namespace mlir;

namespace drawloom::interpreter {

/// A record is the value that was stored.
static LogicalResult runStore(Call &call) {
  if (isa<RankedTensorType>(call.op()->getOperand(0).getType())) {
    call.yield(std::move(call.args[0]));
    return success();
  }
  FailureOr<HostTensor> value = call.machine.read(call.op(), call.view(0));
  if (failed(value))
    return failure();
  call.yield(std::move(*value));
  return success();
}

static LogicalResult runAwait(Call &call) {
  if (call.op()->getNumResults() == 0)
    return call.machine.write(call.op(), call.view(1), call.args[0]);
  call.yield(std::move(call.args[0]));
  return success();
}

static LogicalResult runAgain(Call &call) {
  call.yield(std::move(call.args[0]));
  return success();
}

static LogicalResult runNothing(Call &) { return success(); }

void addOffloadOps(Registry &registry) {
  registry["offload.store"] = {runStore};
  registry["offload.load"] = {runNothing};
  registry["offload.await"] = {runAwait};
  registry["offload.drop"] = {runNothing};
  registry["offload.again"] = {runAgain};
}

} // namespace drawloom::interpreter
