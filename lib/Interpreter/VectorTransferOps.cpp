//===- VectorTransferOps.cpp - vectors read and written -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Machine.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace drawloom::interpreter {

namespace {
/// What reading and writing vectors have in common: for each element of the
/// vector, the element of memory that it stands for.
class Transfer {
public:
  Transfer(Call &call, VectorTransferOpInterface op, unsigned firstIndex)
      : call(call), op(op), map(op.getPermutationMap()),
        vectorShape(op.getVectorType().getShape()) {
    for (unsigned i = 0; i < map.getNumDims(); ++i)
      base.push_back(call.args[firstIndex + i].asInt());
  }

  /// Calls `fn` with each vector element's number and its offset in memory, -1
  /// for one that lies outside where that is allowed or is masked off.
  LogicalResult forEach(ArrayRef<int64_t> shape, const HostTensor *mask,
                        function_ref<void(int64_t, int64_t)> fn);

private:
  FailureOr<int64_t> offsetOf(ArrayRef<int64_t> point, ArrayRef<int64_t> shape);

  Call &call;
  VectorTransferOpInterface op;
  AffineMap map;
  ArrayRef<int64_t> vectorShape;
  SmallVector<int64_t, 4> base;
};
} // namespace

FailureOr<int64_t> Transfer::offsetOf(ArrayRef<int64_t> point,
                                      ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> index(base);
  SmallVector<bool, 4> mayLeave(shape.size(), false);
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    // Other results are the constant 0: the dimension is broadcast.
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      index[dim.getPosition()] += point[i];
      mayLeave[dim.getPosition()] = !op.isDimInBounds(i);
    }
  }
  int64_t at = 0;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (index[dim] < 0 || index[dim] >= extent) {
      if (mayLeave[dim])
        return -1;
      return call.error() << "accesses index " << index[dim] << " of dimension "
                          << dim << ", whose size is " << extent
                          << ", where it says to be in bounds";
    }
    at = at * extent + index[dim];
  }
  return at;
}

LogicalResult Transfer::forEach(ArrayRef<int64_t> shape, const HostTensor *mask,
                                function_ref<void(int64_t, int64_t)> fn) {
  if (mask && (!map.isMinorIdentity() || mask->shape() != vectorShape))
    return call.error() << "has a mask on a permuted or broadcast transfer, "
                           "which the interpreter does not execute";
  SmallVector<int64_t, 4> point(vectorShape.size(), 0);
  int64_t number = 0;
  do {
    int64_t at = -1;
    if (!mask || mask->i()[number]) {
      FailureOr<int64_t> offset = offsetOf(point, shape);
      if (failed(offset))
        return failure();
      at = *offset;
    }
    fn(number++, at);
  } while (advance(point, vectorShape));
  return success();
}

static bool isMemory(Value value) { return isa<MemRefType>(value.getType()); }

static LogicalResult runRead(Call &call) {
  auto op = call.as<vector::TransferReadOp>();
  unsigned rank = op.getShapedType().getRank();
  const HostTensor &source = isMemory(op.getBase())
                                 ? call.machine.buffers[call.args[0].asInt()]
                                 : call.args[0];
  const HostTensor &padding = call.args[1 + rank];
  const HostTensor *mask = op.getMask() ? &call.args[2 + rank] : nullptr;
  HostTensor result = HostTensor::zerosOf(op.getVectorType());
  if (failed(
          Transfer(call, op, 1)
              .forEach(source.shape(), mask, [&](int64_t number, int64_t at) {
                if (result.isFloat())
                  result.mutableF()[number] =
                      at < 0 ? padding.asFloat() : source.f()[at];
                else
                  result.mutableI()[number] =
                      at < 0 ? padding.asInt() : source.i()[at];
              })))
    return failure();
  call.yield(std::move(result));
  return success();
}

static LogicalResult runWrite(Call &call) {
  auto op = call.as<vector::TransferWriteOp>();
  unsigned rank = op.getShapedType().getRank();
  bool memory = isMemory(op.getBase());
  HostTensor dest = std::move(
      memory ? call.machine.buffers[call.args[1].asInt()] : call.args[1]);
  const HostTensor &value = call.args[0];
  const HostTensor *mask = op.getMask() ? &call.args[2 + rank] : nullptr;
  SmallVector<int64_t, 4> shape(dest.shape());
  if (failed(Transfer(call, op, 2)
                 .forEach(shape, mask, [&](int64_t number, int64_t at) {
                   if (at < 0)
                     return;
                   if (dest.isFloat())
                     dest.mutableF()[at] = value.f()[number];
                   else
                     dest.mutableI()[at] = value.i()[number];
                 })))
    return failure();
  if (memory)
    call.machine.buffers[call.args[1].asInt()] = std::move(dest);
  else
    call.yield(std::move(dest));
  return success();
}

void addVectorTransferOps(Registry &registry) {
  registry["vector.transfer_read"] = {runRead};
  registry["vector.transfer_write"] = {runWrite};
}

} // namespace drawloom::interpreter
