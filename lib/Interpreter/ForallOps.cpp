//===- ForallOps.cpp - loops over blocks ----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Slices.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::interpreter {

namespace {
/// One execution of an scf.forall. Every iteration sees the shared outputs as
/// they were before the loop; what it inserts goes to the results. Two
/// iterations that write one element would race, so they are an error.
class ForallRun {
public:
  explicit ForallRun(Call &call)
      : call(call), op(call.as<scf::ForallOp>()),
        firstOutput(op.getNumDynamicControlOperands()) {}
  LogicalResult run();

private:
  LogicalResult findRange();
  LogicalResult iterate(ArrayRef<int64_t> index);
  LogicalResult insert(const Instruction &instruction,
                       ArrayRef<int64_t> induction);

  Call &call;
  scf::ForallOp op;
  unsigned firstOutput;
  SmallVector<int64_t, 4> lower, steps, trips;
  SmallVector<HostTensor, 4> initial, results;
  /// For each element of each result, the iteration that wrote it, from 1 on.
  SmallVector<std::vector<int64_t>, 4> writers;
  int64_t iteration = 0;
};
} // namespace

LogicalResult ForallRun::findRange() {
  unsigned dynamicLower = op.getDynamicLowerBound().size();
  unsigned dynamicUpper = op.getDynamicUpperBound().size();
  lower = call.mixed(op.getStaticLowerBound(), 0);
  auto upper = call.mixed(op.getStaticUpperBound(), dynamicLower);
  steps = call.mixed(op.getStaticStep(), dynamicLower + dynamicUpper);
  for (auto [low, high, step] : llvm::zip_equal(lower, upper, steps)) {
    if (step <= 0)
      return call.error() << "has the step " << step;
    // The distance of two 64-bit numbers needs the unsigned range.
    uint64_t distance = uint64_t(high) - uint64_t(low);
    trips.push_back(high <= low ? 0 : (distance - 1) / uint64_t(step) + 1);
  }
  return success();
}

LogicalResult ForallRun::insert(const Instruction &instruction,
                                ArrayRef<int64_t> induction) {
  auto insertion = dyn_cast<tensor::ParallelInsertSliceOp>(instruction.op);
  if (!insertion)
    return instruction.op->emitOpError(
        "is not supported by the interpreter inside scf.forall.in_parallel");
  auto argument = dyn_cast<BlockArgument>(insertion.getDest());
  if (!argument || argument.getOwner() != op.getBody())
    return instruction.op->emitOpError(
        "does not write to an output of the scf.forall around it");
  unsigned output = argument.getArgNumber() - op.getRank();
  SmallVector<HostTensor, 4> operands;
  for (Operand operand : instruction.operands)
    operands.push_back(call.frame[operand.slot]);
  HostTensor &dest = results[output];
  FailureOr<Slice> slice = sliceOf(instruction.op, operands, dest.shape());
  if (failed(slice) ||
      failed(verifySliceShape(instruction.op, *slice,
                              insertion.getDroppedDims(), operands[0])))
    return failure();
  std::vector<int64_t> &writer = writers[output];
  int64_t clash = -1;
  forEachOffset(dest.shape(), *slice, [&](int64_t at) {
    if (writer[at] != 0 && clash < 0)
      clash = at;
    writer[at] = iteration;
  });
  if (clash >= 0) {
    SmallVector<int64_t, 4> element;
    for (int64_t stride : stridesOf(dest.shape())) {
      element.push_back(clash / stride);
      clash %= stride;
    }
    return instruction.op->emitOpError("writes element ")
           << indexText(element) << " of output #" << output
           << " a second time, in iteration " << indexText(induction);
  }
  writeSlice(dest, *slice, operands[0]);
  return success();
}

LogicalResult ForallRun::iterate(ArrayRef<int64_t> index) {
  ++iteration;
  if (failed(call.machine.countIteration(op)))
    return failure();
  SmallVector<HostTensor> arguments;
  SmallVector<int64_t, 4> induction;
  for (auto [low, step, i] : llvm::zip_equal(lower, steps, index)) {
    induction.push_back(low + i * step);
    arguments.push_back(HostTensor::scalar(induction.back()));
  }
  llvm::append_range(arguments, initial);
  const Body &body = call.region(0);
  if (failed(call.machine.run(body, arguments, call.frame)))
    return failure();
  for (const Instruction &instruction :
       body.terminator().regions[0].instructions)
    if (failed(insert(instruction, induction)))
      return failure();
  return success();
}

LogicalResult ForallRun::run() {
  if (failed(findRange()))
    return failure();
  for (HostTensor &output : call.args.drop_front(firstOutput)) {
    writers.emplace_back(output.size(), 0);
    results.push_back(output);
    initial.push_back(std::move(output));
  }
  if (!llvm::is_contained(trips, 0)) {
    SmallVector<int64_t, 4> index(trips.size(), 0);
    do {
      if (failed(iterate(index)))
        return failure();
    } while (advance(index, trips));
  }
  for (HostTensor &result : results)
    call.yield(std::move(result));
  return success();
}

static LogicalResult runForall(Call &call) { return ForallRun(call).run(); }

/// Insertions are carried out by the scf.forall around them.
static LogicalResult runMisplaced(Call &call) {
  return call.error() << "is executed at the end of an scf.forall only";
}

void addForallOps(Registry &registry) {
  registry["scf.forall"] = {runForall};
  registry["tensor.parallel_insert_slice"] = {runMisplaced};
}

} // namespace drawloom::interpreter
