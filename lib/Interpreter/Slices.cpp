//===- Slices.cpp - regular parts of tensors ------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Slices.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace drawloom::interpreter {

FailureOr<Slice> sliceOf(Operation *operation, ArrayRef<HostTensor> operands,
                         ArrayRef<int64_t> shape) {
  auto op = cast<OffsetSizeAndStrideOpInterface>(operation);
  Slice slice;
  // The dynamic ones are the op's last operands. (Where the interface says they
  // start is wrong for tensor.parallel_insert_slice.)
  unsigned dynamic = operands.size();
  for (ArrayRef<int64_t> statics :
       {op.getStaticOffsets(), op.getStaticSizes(), op.getStaticStrides()})
    dynamic -= llvm::count_if(statics, ShapedType::isDynamic);
  auto mix = [&](ArrayRef<int64_t> statics) {
    SmallVector<int64_t, 4> values(statics);
    for (int64_t &value : values)
      if (ShapedType::isDynamic(value))
        value = operands[dynamic++].asInt();
    return values;
  };
  slice.offsets = mix(op.getStaticOffsets());
  slice.sizes = mix(op.getStaticSizes());
  slice.strides = mix(op.getStaticStrides());
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    int64_t &offset = slice.offsets[dim];
    int64_t size = slice.sizes[dim], stride = slice.strides[dim];
    // A slice of a tensor starts where it fits (numbers.md); one of memory is
    // what a pass has made, and must.
    int64_t span;
    if (isa<tensor::TensorDialect>(operation->getDialect()) && size > 0 &&
        stride > 0 && !__builtin_mul_overflow(size - 1, stride, &span) &&
        span < extent)
      offset = std::clamp<int64_t>(offset, 0, extent - 1 - span);
    // Each bound is checked on its own: their combination could overflow.
    bool fits = size >= 0 && size <= extent && offset >= 0 && offset <= extent;
    if (fits && size > 0) {
      int64_t last;
      fits = offset < extent &&
             !__builtin_mul_overflow(size - 1, stride, &last) &&
             !__builtin_add_overflow(last, offset, &last) && last >= 0 &&
             last < extent;
    }
    if (!fits)
      return operation->emitOpError("takes a slice that leaves its tensor: "
                                    "offset ")
             << offset << ", size " << size << ", stride " << stride
             << " in dimension " << dim << " of size " << extent;
  }
  return slice;
}

void forEachOffset(ArrayRef<int64_t> shape, const Slice &slice,
                   function_ref<void(int64_t)> fn) {
  if (llvm::is_contained(slice.sizes, 0))
    return;
  auto strides = stridesOf(shape);
  SmallVector<int64_t, 4> index(shape.size(), 0);
  do {
    int64_t at = 0;
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      at +=
          strides[dim] * (slice.offsets[dim] + index[dim] * slice.strides[dim]);
    fn(at);
  } while (advance(index, slice.sizes));
}

/// Copies between a slice of `big` and all of `small`, line by line.
template <bool toSmall, typename T>
static void copy(ArrayRef<int64_t> shape, const Slice &slice, T *big,
                 T *small) {
  if (shape.empty()) {
    (toSmall ? *small : *big) = toSmall ? *big : *small;
    return;
  }
  Slice lines = slice;
  int64_t length = lines.sizes.back();
  if (length == 0)
    return;
  lines.sizes.back() = 1;
  int64_t stride = slice.strides.back();
  forEachOffset(shape, lines, [&](int64_t at) {
    for (int64_t k = 0; k < length; ++k, ++small) {
      if constexpr (toSmall)
        *small = big[at + k * stride];
      else
        big[at + k * stride] = *small;
    }
  });
}

HostTensor readSlice(const HostTensor &from, const Slice &slice,
                     ArrayRef<int64_t> result) {
  HostTensor value(from.isFloat(), result);
  if (from.isFloat())
    copy<true>(from.shape(), slice, const_cast<double *>(from.f().data()),
               value.mutableF().data());
  else
    copy<true>(from.shape(), slice, const_cast<int64_t *>(from.i().data()),
               value.mutableI().data());
  return value;
}

void writeSlice(HostTensor &to, const Slice &slice, const HostTensor &value) {
  if (to.isFloat())
    copy<false>(to.shape(), slice, to.mutableF().data(),
                const_cast<double *>(value.f().data()));
  else
    copy<false>(to.shape(), slice, to.mutableI().data(),
                const_cast<int64_t *>(value.i().data()));
}

LogicalResult verifySliceShape(Operation *op, const Slice &slice,
                               const llvm::SmallBitVector &dropped,
                               const HostTensor &value) {
  SmallVector<int64_t, 4> expected;
  for (auto [dim, size] : llvm::enumerate(slice.sizes))
    if (!dropped.test(dim))
      expected.push_back(size);
  if (ArrayRef<int64_t>(expected) == value.shape())
    return success();
  return op->emitOpError("inserts a value of shape ")
         << indexText(value.shape()) << " into a slice of shape "
         << indexText(expected);
}

static LogicalResult runExtractSlice(Call &call) {
  auto op = call.as<tensor::ExtractSliceOp>();
  FailureOr<Slice> slice = sliceOf(call.op(), call.args, call.args[0].shape());
  if (failed(slice))
    return failure();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t, 4> shape;
  for (auto [dim, size] : llvm::enumerate(slice->sizes))
    if (!dropped.test(dim))
      shape.push_back(size);
  call.yield(readSlice(call.args[0], *slice, shape));
  return success();
}

static LogicalResult runInsertSlice(Call &call) {
  auto op = call.as<tensor::InsertSliceOp>();
  FailureOr<Slice> slice = sliceOf(call.op(), call.args, call.args[1].shape());
  if (failed(slice) ||
      failed(verifySliceShape(call.op(), *slice, op.getDroppedDims(),
                              call.args[0])))
    return failure();
  HostTensor result = std::move(call.args[1]);
  writeSlice(result, *slice, call.args[0]);
  call.yield(std::move(result));
  return success();
}

void addTensorSliceOps(Registry &registry) {
  registry["tensor.extract_slice"] = {runExtractSlice};
  registry["tensor.insert_slice"] = {runInsertSlice};
}

} // namespace drawloom::interpreter
