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
/// vector, the element of a tensor or of memory that it stands for.
class Transfer {
public:
  /// `shaped` is the operand that is accessed, `firstIndex` that of the
  /// indices.
  Transfer(Call &call, VectorTransferOpInterface op, unsigned shaped,
           unsigned firstIndex)
      : call(call), op(op), map(op.getPermutationMap()),
        vectorShape(op.getVectorType().getShape()), shaped(shaped) {
    for (unsigned i = 0; i < map.getNumDims(); ++i)
      base.push_back(call.args[firstIndex + i].asInt());
    if (isMemory()) {
      view = call.view(shaped);
      return;
    }
    view.sizes.assign(call.args[shaped].shape().begin(),
                      call.args[shaped].shape().end());
    view.strides = stridesOf(view.sizes);
  }

  bool isMemory() const {
    return isa<MemRefType>(call.op()->getOperand(shaped).getType());
  }
  HostTensor load(int64_t at) const;
  void store(int64_t at, const HostTensor &value, int64_t number);

  /// Calls `fn` with each vector element's number and its position in the
  /// tensor or buffer, -1 for one that lies outside where that is allowed or is
  /// masked off.
  LogicalResult forEach(const HostTensor *mask,
                        function_ref<void(int64_t, int64_t)> fn);

private:
  FailureOr<int64_t> positionOf(ArrayRef<int64_t> point);

  Call &call;
  VectorTransferOpInterface op;
  AffineMap map;
  ArrayRef<int64_t> vectorShape;
  SmallVector<int64_t, 4> base;
  unsigned shaped;
  View view;
};
} // namespace

static HostTensor elementOf(const HostTensor &value, int64_t at) {
  return value.isFloat() ? HostTensor::scalar(value.f()[at])
                         : HostTensor::scalar(value.i()[at]);
}

HostTensor Transfer::load(int64_t at) const {
  return isMemory() ? call.machine.memory.readElement(view, at)
                    : elementOf(call.args[shaped], at);
}

void Transfer::store(int64_t at, const HostTensor &value, int64_t number) {
  HostTensor &dest = call.args[shaped];
  if (isMemory())
    call.machine.memory.writeElement(view, at, elementOf(value, number));
  else if (dest.isFloat())
    dest.mutableF()[at] = value.f()[number];
  else
    dest.mutableI()[at] = value.i()[number];
}

FailureOr<int64_t> Transfer::positionOf(ArrayRef<int64_t> point) {
  SmallVector<int64_t, 4> index(base);
  SmallVector<bool, 4> mayLeave(base.size(), false);
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    // Other results are the constant 0: the dimension is broadcast.
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      index[dim.getPosition()] += point[i];
      mayLeave[dim.getPosition()] = !op.isDimInBounds(i);
    }
  }
  for (auto [dim, extent] : llvm::enumerate(view.sizes)) {
    if (index[dim] >= 0 && index[dim] < extent)
      continue;
    if (mayLeave[dim])
      return -1;
    return call.error() << "accesses index " << index[dim] << " of dimension "
                        << dim << ", whose size is " << extent
                        << ", where it says to be in bounds";
  }
  return view.at(index);
}

LogicalResult Transfer::forEach(const HostTensor *mask,
                                function_ref<void(int64_t, int64_t)> fn) {
  if (mask && (!map.isMinorIdentity() || mask->shape() != vectorShape))
    return call.error() << "has a mask on a permuted or broadcast transfer, "
                           "which the interpreter does not execute";
  if (isMemory() && failed(call.machine.verifyInside(op, view)))
    return failure();
  SmallVector<int64_t, 4> point(vectorShape.size(), 0);
  int64_t number = 0;
  do {
    int64_t at = -1;
    if (!mask || mask->i()[number]) {
      FailureOr<int64_t> position = positionOf(point);
      if (failed(position))
        return failure();
      at = *position;
    }
    fn(number++, at);
  } while (advance(point, vectorShape));
  return success();
}

static LogicalResult runRead(Call &call) {
  auto op = call.as<vector::TransferReadOp>();
  unsigned rank = op.getShapedType().getRank();
  const HostTensor &padding = call.args[1 + rank];
  const HostTensor *mask = op.getMask() ? &call.args[2 + rank] : nullptr;
  HostTensor result = HostTensor::zerosOf(op.getVectorType());
  Transfer transfer(call, op, 0, 1);
  if (failed(transfer.forEach(mask, [&](int64_t number, int64_t at) {
        HostTensor element = at < 0 ? padding : transfer.load(at);
        if (result.isFloat())
          result.mutableF()[number] = element.asFloat();
        else
          result.mutableI()[number] = element.asInt();
      })))
    return failure();
  call.yield(std::move(result));
  return success();
}

static LogicalResult runWrite(Call &call) {
  auto op = call.as<vector::TransferWriteOp>();
  unsigned rank = op.getShapedType().getRank();
  const HostTensor *mask = op.getMask() ? &call.args[2 + rank] : nullptr;
  Transfer transfer(call, op, 1, 2);
  if (failed(transfer.forEach(mask, [&](int64_t number, int64_t at) {
        if (at >= 0)
          transfer.store(at, call.args[0], number);
      })))
    return failure();
  if (!transfer.isMemory())
    call.yield(std::move(call.args[1]));
  return success();
}

/// The part of the memory that a load or store of a vector is of.
static FailureOr<View> accessed(Call &call, unsigned memory, VectorType type) {
  View view = call.view(memory);
  SmallVector<int64_t, 4> sizes(view.rank(), 1);
  llvm::copy(type.getShape(), sizes.end() - type.getRank());
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    int64_t index = call.args[memory + 1 + dim].asInt();
    if (index < 0 || index + size > view.sizes[dim])
      return call.error() << "accesses " << size << " elements from index "
                          << index << " on in dimension " << dim << " of size "
                          << view.sizes[dim];
    view.offset += index * view.strides[dim];
  }
  view.sizes = sizes;
  return view;
}

static LogicalResult runVectorLoad(Call &call) {
  auto type = call.as<vector::LoadOp>().getVectorType();
  FailureOr<View> view = accessed(call, 0, type);
  if (failed(view))
    return failure();
  FailureOr<HostTensor> value = call.machine.read(call.op(), *view);
  if (failed(value))
    return failure();
  call.yield(value->reshaped(type.getShape()));
  return success();
}

static LogicalResult runVectorStore(Call &call) {
  FailureOr<View> view =
      accessed(call, 1, call.as<vector::StoreOp>().getVectorType());
  if (failed(view))
    return failure();
  return call.machine.write(call.op(), *view,
                            call.args[0].reshaped(view->sizes));
}

void addVectorTransferOps(Registry &registry) {
  registry["vector.load"] = {runVectorLoad};
  registry["vector.store"] = {runVectorStore};
  registry["vector.transfer_read"] = {runRead};
  registry["vector.transfer_write"] = {runWrite};
}

} // namespace drawloom::interpreter
