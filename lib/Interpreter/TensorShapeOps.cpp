//===- TensorShapeOps.cpp - reshaping and joining tensors -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Slices.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::interpreter {

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}

static LogicalResult yieldReshaped(Call &call, ArrayRef<int64_t> shape) {
  for (int64_t extent : shape)
    if (extent < 0)
      return call.error() << "gives a negative size: " << indexText(shape);
  if (product(shape) != call.args[0].size())
    return call.error() << "reshapes " << call.args[0].size()
                        << " elements, of shape "
                        << indexText(call.args[0].shape()) << ", to shape "
                        << indexText(shape);
  call.yield(call.args[0].reshaped(shape));
  return success();
}

static LogicalResult runExpandShape(Call &call) {
  auto op = call.as<tensor::ExpandShapeOp>();
  auto shape = call.mixed(op.getStaticOutputShape(), 1);
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    int64_t extent = 1;
    for (int64_t i : group)
      extent *= shape[i];
    if (extent != call.args[0].dim(dim))
      return call.error() << "expands dimension " << dim << " of size "
                          << call.args[0].dim(dim) << " to sizes of product "
                          << extent;
  }
  return yieldReshaped(call, shape);
}

static LogicalResult runCollapseShape(Call &call) {
  auto op = call.as<tensor::CollapseShapeOp>();
  SmallVector<int64_t, 4> shape;
  for (const auto &group : op.getReassociationIndices()) {
    int64_t extent = 1;
    for (int64_t i : group)
      extent *= call.args[0].dim(i);
    shape.push_back(extent);
  }
  return yieldReshaped(call, shape);
}

static LogicalResult runReshape(Call &call) {
  SmallVector<int64_t, 4> shape(call.args[1].i());
  if (failed(yieldReshaped(call, shape)))
    return failure();
  return Machine::verifyFits(call.op(), call.results[0],
                             call.op()->getResult(0).getType(), "result");
}

static LogicalResult runCast(Call &call) {
  Type type = call.op()->getResult(0).getType();
  if (isa<UnrankedTensorType>(type))
    return call.error() << "gives an unranked tensor, which the interpreter "
                           "does not hold";
  if (failed(Machine::verifyFits(call.op(), call.args[0], type, "operand")))
    return failure();
  call.yield(std::move(call.args[0]));
  return success();
}

static LogicalResult runConcat(Call &call) {
  auto op = call.as<tensor::ConcatOp>();
  int64_t along = op.getDim();
  SmallVector<int64_t, 4> shape(call.args[0].shape());
  shape[along] = 0;
  for (const HostTensor &arg : call.args) {
    for (int64_t dim = 0; dim < arg.rank(); ++dim)
      if (dim != along && arg.dim(dim) != shape[dim])
        return call.error() << "joins shapes that differ in dimension " << dim
                            << ": " << shape[dim] << " and " << arg.dim(dim);
    shape[along] += arg.dim(along);
  }
  FailureOr<HostTensor> result =
      call.machine.allocate(call.op(), op.getType(), shape);
  if (failed(result))
    return failure();
  Slice slice;
  slice.offsets.assign(shape.size(), 0);
  slice.strides.assign(shape.size(), 1);
  for (const HostTensor &arg : call.args) {
    slice.sizes.assign(arg.shape().begin(), arg.shape().end());
    writeSlice(*result, slice, arg);
    slice.offsets[along] += arg.dim(along);
  }
  call.yield(std::move(*result));
  return success();
}

void addTensorShapeOps(Registry &registry) {
  registry["tensor.expand_shape"] = {runExpandShape};
  registry["tensor.collapse_shape"] = {runCollapseShape};
  registry["tensor.reshape"] = {runReshape};
  registry["tensor.cast"] = {runCast};
  registry["tensor.concat"] = {runConcat};
}

} // namespace drawloom::interpreter
