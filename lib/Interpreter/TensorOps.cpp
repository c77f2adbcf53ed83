//===- TensorOps.cpp - making and indexing tensors ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/PointBody.h"
#include "lib/Interpreter/Slices.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::interpreter {

/// The extents of a result type, dynamic ones from operands.
static SmallVector<int64_t, 4> resultShape(Call &call, unsigned firstDynamic) {
  auto type = cast<ShapedType>(call.op()->getResult(0).getType());
  return call.mixed(type.getShape(), firstDynamic);
}

static LogicalResult runEmpty(Call &call) {
  FailureOr<HostTensor> value = call.machine.allocateUndefined(
      call.op(), call.op()->getResult(0).getType(), resultShape(call, 0));
  if (failed(value))
    return failure();
  call.yield(std::move(*value));
  return success();
}

/// Reads operands `from`... as an index into a tensor of the shape given, which
/// has elements: into its range.
static int64_t elementOffset(Call &call, unsigned from,
                             ArrayRef<int64_t> shape) {
  int64_t at = 0;
  for (auto [dim, extent] : llvm::enumerate(shape))
    at = at * extent +
         std::clamp<int64_t>(call.args[from + dim].asInt(), 0, extent - 1);
  return at;
}

static LogicalResult runExtract(Call &call) {
  const HostTensor &from = call.args[0];
  bool isEmpty = from.size() == 0;
  int64_t at = isEmpty ? 0 : elementOffset(call, 1, from.shape());
  if (from.isFloat())
    call.yield(HostTensor::scalar(isEmpty ? 0.0 : from.f()[at]));
  else
    call.yield(HostTensor::scalar(isEmpty ? int64_t(0) : from.i()[at]));
  return success();
}

static LogicalResult runInsert(Call &call) {
  HostTensor result = std::move(call.args[1]);
  if (result.size() == 0) {
    call.yield(std::move(result));
    return success();
  }
  int64_t at = elementOffset(call, 2, result.shape());
  if (result.isFloat())
    result.mutableF()[at] = call.args[0].asFloat();
  else
    result.mutableI()[at] = call.args[0].asInt();
  call.yield(std::move(result));
  return success();
}

static void fill(HostTensor &tensor, const HostTensor &scalar) {
  if (tensor.isFloat())
    llvm::fill(tensor.mutableF(), scalar.asFloat());
  else
    llvm::fill(tensor.mutableI(), scalar.asInt());
}

static LogicalResult runSplat(Call &call) {
  FailureOr<HostTensor> value = call.machine.allocate(
      call.op(), call.op()->getResult(0).getType(), resultShape(call, 1));
  if (failed(value))
    return failure();
  fill(*value, call.args[0]);
  call.yield(std::move(*value));
  return success();
}

static LogicalResult runFromElements(Call &call) {
  HostTensor value = HostTensor::zerosOf(call.op()->getResult(0).getType());
  for (auto [i, element] : llvm::enumerate(call.args)) {
    if (value.isFloat())
      value.mutableF()[i] = element.asFloat();
    else
      value.mutableI()[i] = element.asInt();
  }
  call.yield(std::move(value));
  return success();
}

static LogicalResult runDim(Call &call) {
  int64_t dim = call.args[1].asInt();
  bool isMemory = isa<BaseMemRefType>(call.op()->getOperand(0).getType());
  SmallVector<int64_t, 4> shape(isMemory ? ArrayRef<int64_t>(call.view(0).sizes)
                                         : call.args[0].shape());
  if (dim < 0 || dim >= int64_t(shape.size()))
    return call.error() << "asks for dimension " << dim
                        << " of a value of rank " << shape.size();
  call.yield(HostTensor::scalar(shape[dim]));
  return success();
}

static LogicalResult runRank(Call &call) {
  call.yield(HostTensor::scalar(call.args[0].rank()));
  return success();
}

//===----------------------------------------------------------------------===//
// Ops with a body for each element.
//===----------------------------------------------------------------------===//

namespace {
struct PreparedBody : Prepared {
  PointBody body;
};
} // namespace

static FailureOr<std::shared_ptr<Prepared>> prepareBody(Operation *op,
                                                        Compiler &compiler) {
  auto prepared = std::make_shared<PreparedBody>();
  FailureOr<PointBody> body =
      PointBody::prepare(op->getRegion(0).front(), compiler);
  if (failed(body))
    return failure();
  prepared->body = std::move(*body);
  return std::shared_ptr<Prepared>(std::move(prepared));
}

/// Sets every element of `value` to what the op's body yields at its index.
static LogicalResult generate(Call &call, HostTensor &value) {
  if (value.size() == 0)
    return success();
  PointBody::Evaluator evaluator(call.prepared<PreparedBody>().body,
                                 call.machine, call.frame);
  SmallVector<int64_t, 4> index(value.rank(), 0);
  int64_t at = 0;
  do {
    for (auto [dim, i] : llvm::enumerate(index))
      evaluator.argument(dim).i = i;
    if (failed(evaluator.evaluate(index)))
      return failure();
    if (value.isFloat())
      value.mutableF()[at] = evaluator.yielded(0).f;
    else
      value.mutableI()[at] = evaluator.yielded(0).i;
    ++at;
  } while (advance(index, value.shape()));
  return success();
}

static LogicalResult runGenerate(Call &call) {
  FailureOr<HostTensor> value = call.machine.allocate(
      call.op(), call.op()->getResult(0).getType(), resultShape(call, 0));
  if (failed(value) || failed(generate(call, *value)))
    return failure();
  call.yield(std::move(*value));
  return success();
}

static LogicalResult runPad(Call &call) {
  auto op = call.as<tensor::PadOp>();
  const HostTensor &source = call.args[0];
  unsigned lowOperands = op.getLow().size();
  auto low = call.mixed(op.getStaticLow(), 1);
  auto high = call.mixed(op.getStaticHigh(), 1 + lowOperands);
  Slice slice;
  SmallVector<int64_t, 4> shape;
  for (int64_t dim = 0; dim < source.rank(); ++dim) {
    if (low[dim] < 0 || high[dim] < 0)
      return call.error() << "pads dimension " << dim << " by " << low[dim]
                          << " and " << high[dim] << " elements";
    int64_t extent;
    if (__builtin_add_overflow(low[dim], high[dim], &extent) ||
        __builtin_add_overflow(extent, source.dim(dim), &extent))
      return call.error() << "pads dimension " << dim << " beyond 64 bits";
    shape.push_back(extent);
    slice.offsets.push_back(low[dim]);
    slice.sizes.push_back(source.dim(dim));
    slice.strides.push_back(1);
  }
  FailureOr<HostTensor> value =
      call.machine.allocate(call.op(), op.getType(), shape);
  if (failed(value) || failed(generate(call, *value)) ||
      failed(Machine::verifyFits(call.op(), *value, op.getType(), "result")))
    return failure();
  writeSlice(*value, slice, source);
  call.yield(std::move(*value));
  return success();
}

//===----------------------------------------------------------------------===//
// Gather and scatter of slices.
//===----------------------------------------------------------------------===//

/// Visits every index tuple of a gather or scatter with the slice that it
/// names: one element along `dims`, everything along the others.
static LogicalResult
forEachGathered(Call &call, const HostTensor &indices, ArrayRef<int64_t> dims,
                ArrayRef<int64_t> shape,
                function_ref<LogicalResult(int64_t, const Slice &)> fn) {
  int64_t width = dims.size();
  int64_t tuples = width ? indices.size() / width : 0;
  for (int64_t tuple = 0; tuple < tuples; ++tuple) {
    Slice slice;
    slice.offsets.assign(shape.size(), 0);
    slice.sizes.assign(shape.begin(), shape.end());
    slice.strides.assign(shape.size(), 1);
    for (auto [k, dim] : llvm::enumerate(dims)) {
      int64_t index = indices.i()[tuple * width + int64_t(k)];
      if (index < 0 || index >= shape[dim])
        return call.error() << "has index " << index << " in dimension " << dim
                            << " of size " << shape[dim];
      slice.offsets[dim] = index;
      slice.sizes[dim] = 1;
    }
    if (failed(fn(tuple, slice)))
      return failure();
  }
  return success();
}

static int64_t sliceElements(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  int64_t elements = 1;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (!llvm::is_contained(dims, int64_t(dim)))
      elements *= extent;
  return elements;
}

/// The part of a tensor that starts at element `at`, as a slice of its flat
/// form.
static Slice flatSlice(int64_t at, int64_t elements) {
  return Slice{{at}, {elements}, {1}};
}

static LogicalResult runGather(Call &call) {
  auto op = call.as<tensor::GatherOp>();
  const HostTensor &source = call.args[0], &indices = call.args[1];
  auto type = cast<RankedTensorType>(op.getType());
  ArrayRef<int64_t> dims = op.getGatherDims();
  // Leading extents come from the indices, the rest from the source.
  SmallVector<int64_t, 4> shape(indices.shape().drop_back());
  bool keepsUnits = type.getRank() == int64_t(shape.size()) + source.rank();
  for (int64_t dim = 0; dim < source.rank(); ++dim) {
    bool gathered = llvm::is_contained(dims, dim);
    if (!gathered || keepsUnits)
      shape.push_back(gathered ? 1 : source.dim(dim));
  }
  FailureOr<HostTensor> result = call.machine.allocate(call.op(), type, shape);
  if (failed(result))
    return failure();
  int64_t elements = sliceElements(source.shape(), dims);
  HostTensor flat = result->reshaped({result->size()});
  *result = HostTensor();
  if (failed(forEachGathered(call, indices, dims, source.shape(),
                             [&](int64_t tuple, const Slice &slice) {
                               writeSlice(flat,
                                          flatSlice(tuple * elements, elements),
                                          readSlice(source, slice, {elements}));
                               return success();
                             })))
    return failure();
  call.yield(flat.reshaped(shape));
  return success();
}

static LogicalResult runScatter(Call &call) {
  auto op = call.as<tensor::ScatterOp>();
  HostTensor dest = std::move(call.args[1]);
  const HostTensor &source = call.args[0], &indices = call.args[2];
  ArrayRef<int64_t> dims = op.getScatterDims();
  SmallVector<int64_t, 4> shape(dest.shape());
  int64_t elements = sliceElements(shape, dims);
  int64_t width = dims.size();
  if (width == 0 || indices.size() / width * elements != source.size())
    return call.error() << "scatters a source of shape "
                        << indexText(source.shape()) << " by indices of shape "
                        << indexText(indices.shape())
                        << " to a tensor of shape " << indexText(shape);
  HostTensor flat = source.reshaped({source.size()});
  if (failed(forEachGathered(
          call, indices, dims, shape, [&](int64_t tuple, const Slice &slice) {
            writeSlice(dest, slice,
                       readSlice(flat, flatSlice(tuple * elements, elements),
                                 {elements}));
            return success();
          })))
    return failure();
  call.yield(std::move(dest));
  return success();
}

void addTensorOps(Registry &registry) {
  registry["tensor.empty"] = {runEmpty};
  registry["tensor.extract"] = {runExtract};
  registry["tensor.insert"] = {runInsert};
  registry["tensor.splat"] = {runSplat};
  registry["tensor.from_elements"] = {runFromElements};
  registry["tensor.dim"] = {runDim};
  registry["memref.dim"] = {runDim};
  registry["tensor.rank"] = {runRank};
  registry["tensor.generate"] = {runGenerate, prepareBody,
                                 /*ownsRegions=*/true};
  registry["tensor.pad"] = {runPad, prepareBody, /*ownsRegions=*/true};
  registry["tensor.gather"] = {runGather};
  registry["tensor.scatter"] = {runScatter};
}

} // namespace drawloom::interpreter
