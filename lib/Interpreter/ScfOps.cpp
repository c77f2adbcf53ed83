//===- ScfOps.cpp - structured control flow, assertions -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Machine.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace drawloom::interpreter {

static LogicalResult runFor(Call &call) {
  auto op = call.as<scf::ForOp>();
  int64_t lower = call.args[0].asInt(), upper = call.args[1].asInt();
  int64_t step = call.args[2].asInt();
  bool isUnsigned = op.getUnsignedCmp();
  if (isUnsigned ? step == 0 : step <= 0)
    return call.error() << "has the step " << step;
  SmallVector<HostTensor> carried(
      std::make_move_iterator(call.args.begin() + 3),
      std::make_move_iterator(call.args.end()));
  const Body &body = call.region(0);
  for (int64_t i = lower;
       isUnsigned ? uint64_t(i) < uint64_t(upper) : i < upper;) {
    if (failed(call.machine.countIteration(call.op())))
      return failure();
    carried.insert(carried.begin(), HostTensor::scalar(i));
    if (failed(call.machine.run(body, carried, call.frame)))
      return failure();
    carried = call.machine.yielded(body, call.frame);
    if (__builtin_add_overflow(i, step, &i))
      break;
  }
  for (HostTensor &value : carried)
    call.yield(std::move(value));
  return success();
}

/// Runs a region without arguments and yields what it yields.
static LogicalResult runRegion(Call &call, unsigned number) {
  const Body &body = call.region(number);
  if (body.instructions.empty())
    return success();
  if (failed(call.machine.run(body, {}, call.frame)))
    return failure();
  for (HostTensor &value : call.machine.yielded(body, call.frame))
    call.yield(std::move(value));
  return success();
}

static LogicalResult runIf(Call &call) {
  return runRegion(call, call.args[0].asInt() ? 0 : 1);
}

static LogicalResult runExecuteRegion(Call &call) { return runRegion(call, 0); }

static LogicalResult runIndexSwitch(Call &call) {
  auto op = call.as<scf::IndexSwitchOp>();
  // Region 0 is the default.
  unsigned region = 0;
  for (auto [i, value] : llvm::enumerate(op.getCases()))
    if (value == call.args[0].asInt())
      region = i + 1;
  return runRegion(call, region);
}

static LogicalResult runWhile(Call &call) {
  const Body &before = call.region(0), &after = call.region(1);
  SmallVector<HostTensor> carried(std::make_move_iterator(call.args.begin()),
                                  std::make_move_iterator(call.args.end()));
  while (true) {
    if (failed(call.machine.countIteration(call.op())) ||
        failed(call.machine.run(before, carried, call.frame)))
      return failure();
    // The terminator is scf.condition(%continue) %values.
    unsigned conditionSlot = before.terminator().operands[0].slot;
    bool goOn = call.frame[conditionSlot].asInt();
    carried = call.machine.yielded(before, call.frame, /*from=*/1);
    if (!goOn)
      break;
    if (failed(call.machine.run(after, carried, call.frame)))
      return failure();
    carried = call.machine.yielded(after, call.frame);
  }
  for (HostTensor &value : carried)
    call.yield(std::move(value));
  return success();
}

static LogicalResult runAssert(Call &call) {
  if (call.args[0].asInt())
    return success();
  return call.error() << "does not hold: " << call.as<cf::AssertOp>().getMsg();
}

void addScfOps(Registry &registry) {
  registry["cf.assert"] = {runAssert};
  registry["scf.for"] = {runFor};
  registry["scf.if"] = {runIf};
  registry["scf.execute_region"] = {runExecuteRegion};
  registry["scf.index_switch"] = {runIndexSwitch};
  registry["scf.while"] = {runWhile};
}

} // namespace drawloom::interpreter
