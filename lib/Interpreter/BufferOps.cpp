//===- BufferOps.cpp - whole memrefs --------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Machine.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

// Whole memrefs only: a memref is the index of its memory in Machine::buffers.
// Views into memory belong to levels below those that are interpreted.

namespace drawloom::interpreter {

static HostTensor &memory(Call &call, unsigned operand) {
  return call.machine.buffers[call.args[operand].asInt()];
}

static FailureOr<HostTensor> allocateResult(Call &call, unsigned firstDynamic) {
  auto type = cast<ShapedType>(call.op()->getResult(0).getType());
  return call.machine.allocateUndefined(
      call.op(), type, call.mixed(type.getShape(), firstDynamic));
}

static LogicalResult runAllocTensor(Call &call) {
  auto op = call.as<bufferization::AllocTensorOp>();
  if (op.getCopy()) {
    call.yield(call.args[op.getDynamicSizes().size()]);
    return success();
  }
  FailureOr<HostTensor> value = allocateResult(call, 0);
  if (failed(value))
    return failure();
  call.yield(std::move(*value));
  return success();
}

static LogicalResult runAlloc(Call &call) {
  FailureOr<HostTensor> value = allocateResult(call, 0);
  if (failed(value))
    return failure();
  call.machine.buffers.push_back(std::move(*value));
  call.yield(HostTensor::scalar(int64_t(call.machine.buffers.size() - 1)));
  return success();
}

static LogicalResult runDealloc(Call &call) {
  memory(call, 0) = HostTensor();
  return success();
}

static LogicalResult runToTensor(Call &call) {
  call.yield(memory(call, 0));
  return success();
}

static LogicalResult runMaterialize(Call &call) {
  auto op = call.as<bufferization::MaterializeInDestinationOp>();
  bool isMemory = isa<BaseMemRefType>(op.getDest().getType());
  const HostTensor &dest = isMemory ? memory(call, 1) : call.args[1];
  if (dest.shape() != call.args[0].shape())
    return call.error() << "writes a tensor of shape "
                        << indexText(call.args[0].shape())
                        << " to a destination of shape "
                        << indexText(dest.shape());
  if (isMemory)
    memory(call, 1) = std::move(call.args[0]);
  else
    call.yield(std::move(call.args[0]));
  return success();
}

static FailureOr<int64_t> offsetOf(Call &call, const HostTensor &buffer,
                                   unsigned firstIndex) {
  int64_t at = 0;
  for (auto [dim, extent] : llvm::enumerate(buffer.shape())) {
    int64_t index = call.args[firstIndex + dim].asInt();
    if (index < 0 || index >= extent)
      return call.error() << "has index " << index << " in dimension " << dim
                          << " of size " << extent;
    at = at * extent + index;
  }
  return at;
}

static LogicalResult runLoad(Call &call) {
  const HostTensor &buffer = memory(call, 0);
  FailureOr<int64_t> at = offsetOf(call, buffer, 1);
  if (failed(at))
    return failure();
  call.yield(buffer.isFloat() ? HostTensor::scalar(buffer.f()[*at])
                              : HostTensor::scalar(buffer.i()[*at]));
  return success();
}

static LogicalResult runStore(Call &call) {
  HostTensor &buffer = memory(call, 1);
  FailureOr<int64_t> at = offsetOf(call, buffer, 2);
  if (failed(at))
    return failure();
  if (buffer.isFloat())
    buffer.mutableF()[*at] = call.args[0].asFloat();
  else
    buffer.mutableI()[*at] = call.args[0].asInt();
  return success();
}

static LogicalResult runCopy(Call &call) {
  const HostTensor &source = memory(call, 0);
  if (source.shape() != memory(call, 1).shape())
    return call.error() << "copies memory of shape "
                        << indexText(source.shape()) << " to memory of shape "
                        << indexText(memory(call, 1).shape());
  memory(call, 1) = source;
  return success();
}

static LogicalResult runCast(Call &call) {
  if (failed(Machine::verifyFits(call.op(), memory(call, 0),
                                 call.op()->getResult(0).getType(), "operand")))
    return failure();
  call.yield(call.args[0]);
  return success();
}

void addBufferOps(Registry &registry) {
  registry["bufferization.alloc_tensor"] = {runAllocTensor};
  registry["bufferization.to_tensor"] = {runToTensor};
  registry["bufferization.materialize_in_destination"] = {runMaterialize};
  registry["memref.alloc"] = {runAlloc};
  registry["memref.alloca"] = {runAlloc};
  registry["memref.dealloc"] = {runDealloc};
  registry["memref.load"] = {runLoad};
  registry["memref.store"] = {runStore};
  registry["memref.copy"] = {runCopy};
  registry["memref.cast"] = {runCast};
}

} // namespace drawloom::interpreter
