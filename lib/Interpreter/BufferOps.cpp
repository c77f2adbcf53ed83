//===- BufferOps.cpp - memrefs and views of them --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Slices.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace drawloom::interpreter {

//===----------------------------------------------------------------------===//
// Memory is made and goes.
//===----------------------------------------------------------------------===//

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

FailureOr<View> allocateMemory(Call &call, MemRefType type) {
  // Rows may be strided apart.
  SmallVector<int64_t> strides;
  int64_t offset = 0, span = 1;
  View view;
  view.sizes = call.mixed(type.getShape(), 0);
  bool isStrided = !type.getLayout().isIdentity();
  if (isStrided) {
    if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return call.error() << "makes memory of type " << type
                          << ", whose strides are not known";
    for (auto [size, stride] : llvm::zip_equal(view.sizes, strides))
      span += (size - 1) * stride;
  }
  FailureOr<HostTensor> contents = call.machine.allocateUndefined(
      call.op(), type,
      isStrided ? ArrayRef<int64_t>(span) : ArrayRef<int64_t>(view.sizes));
  if (failed(contents))
    return failure();
  View whole =
      call.machine.memory.add(std::move(*contents), type.getElementType());
  if (!isStrided)
    return whole;
  view.buffer = whole.buffer;
  view.strides.assign(strides.begin(), strides.end());
  return view;
}

static LogicalResult runAlloc(Call &call) {
  FailureOr<View> view =
      allocateMemory(call, cast<MemRefType>(call.op()->getResult(0).getType()));
  if (failed(view))
    return failure();
  call.yield(view->value());
  return success();
}

static LogicalResult runDealloc(Call &call) {
  call.machine.memory.release(call.view(0).buffer);
  return success();
}

//===----------------------------------------------------------------------===//
// Tensors and memory.
//===----------------------------------------------------------------------===//

static LogicalResult runToTensor(Call &call) {
  FailureOr<HostTensor> value = call.machine.read(call.op(), call.view(0));
  if (failed(value))
    return failure();
  call.yield(std::move(*value));
  return success();
}

static LogicalResult runToBuffer(Call &call) {
  Type element = getElementTypeOrSelf(call.op()->getResult(0).getType());
  call.yield(call.machine.memory.add(call.args[0], element).value());
  return success();
}

static LogicalResult runMaterialize(Call &call) {
  auto op = call.as<bufferization::MaterializeInDestinationOp>();
  bool isMemory = isa<BaseMemRefType>(op.getDest().getType());
  SmallVector<int64_t, 4> shape(isMemory ? ArrayRef<int64_t>(call.view(1).sizes)
                                         : call.args[1].shape());
  if (ArrayRef<int64_t>(shape) != call.args[0].shape())
    return call.error() << "writes a tensor of shape "
                        << indexText(call.args[0].shape())
                        << " to a destination of shape " << indexText(shape);
  if (isMemory)
    return call.machine.write(call.op(), call.view(1), call.args[0]);
  call.yield(std::move(call.args[0]));
  return success();
}

//===----------------------------------------------------------------------===//
// Reading and writing.
//===----------------------------------------------------------------------===//

static FailureOr<int64_t> positionOf(Call &call, const View &view,
                                     unsigned firstIndex) {
  SmallVector<int64_t, 4> index;
  for (auto [dim, extent] : llvm::enumerate(view.sizes)) {
    index.push_back(call.args[firstIndex + dim].asInt());
    if (index.back() < 0 || index.back() >= extent)
      return call.error() << "has index " << index.back() << " in dimension "
                          << dim << " of size " << extent;
  }
  if (failed(call.machine.verifyInside(call.op(), view)))
    return failure();
  return view.at(index);
}

static LogicalResult runLoad(Call &call) {
  View view = call.view(0);
  FailureOr<int64_t> at = positionOf(call, view, 1);
  if (failed(at))
    return failure();
  call.yield(call.machine.memory.readElement(view, *at));
  return success();
}

static LogicalResult runStore(Call &call) {
  View view = call.view(1);
  FailureOr<int64_t> at = positionOf(call, view, 2);
  if (failed(at))
    return failure();
  call.machine.memory.writeElement(view, *at, call.args[0]);
  return success();
}

static LogicalResult runCopy(Call &call) {
  View from = call.view(0), to = call.view(1);
  if (from.sizes != to.sizes)
    return call.error() << "copies memory of shape " << indexText(from.sizes)
                        << " to memory of shape " << indexText(to.sizes);
  FailureOr<HostTensor> value = call.machine.read(call.op(), from);
  if (failed(value))
    return failure();
  return call.machine.write(call.op(), to, *value);
}

static LogicalResult runNothing(Call &) { return success(); }

//===----------------------------------------------------------------------===//
// Views.
//===----------------------------------------------------------------------===//

static LogicalResult runCast(Call &call) {
  View view = call.view(0);
  ArrayRef<int64_t> shape =
      cast<MemRefType>(call.op()->getResult(0).getType()).getShape();
  if (failed(verifyCompatibleShape(shape, view.sizes)))
    return call.error() << "casts memory of shape " << indexText(view.sizes)
                        << " to " << call.op()->getResult(0).getType();
  call.yield(std::move(call.args[0]));
  return success();
}

static LogicalResult runSubview(Call &call) {
  auto op = call.as<memref::SubViewOp>();
  View from = call.view(0), view;
  FailureOr<Slice> slice = sliceOf(call.op(), call.args, from.sizes);
  if (failed(slice))
    return failure();
  // By extents: the op's own answer looks at strides, which single elements
  // lack, and finds none for some views.
  auto dropped =
      *computeRankReductionMask(op.getStaticSizes(), op.getType().getShape());
  view.buffer = from.buffer;
  view.offset = from.at(slice->offsets);
  for (int64_t dim = 0; dim < from.rank(); ++dim)
    if (!dropped.contains(dim)) {
      view.sizes.push_back(slice->sizes[dim]);
      view.strides.push_back(from.strides[dim] * slice->strides[dim]);
    }
  call.yield(view.value());
  return success();
}

static LogicalResult runReinterpretCast(Call &call) {
  auto op = call.as<memref::ReinterpretCastOp>();
  View view;
  view.buffer = call.view(0).buffer;
  unsigned dynamic = 1;
  auto mix = [&](ArrayRef<int64_t> statics) {
    SmallVector<int64_t, 4> values = call.mixed(statics, dynamic);
    dynamic += llvm::count_if(statics, ShapedType::isDynamic);
    return values;
  };
  view.offset = mix(op.getStaticOffsets()).front();
  view.sizes = mix(op.getStaticSizes());
  view.strides = mix(op.getStaticStrides());
  if (failed(call.machine.verifyInside(op, view)))
    return failure();
  call.yield(view.value());
  return success();
}

static LogicalResult runExpandShape(Call &call) {
  auto op = call.as<memref::ExpandShapeOp>();
  View view = call.view(0);
  View expanded = view;
  expanded.sizes = call.mixed(op.getStaticOutputShape(), 1);
  expanded.strides.assign(expanded.rank(), 1);
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    int64_t stride = view.strides[dim];
    for (int64_t part : llvm::reverse(group)) {
      expanded.strides[part] = stride;
      stride *= expanded.sizes[part];
    }
  }
  call.yield(expanded.value());
  return success();
}

static LogicalResult runCollapseShape(Call &call) {
  auto op = call.as<memref::CollapseShapeOp>();
  View view = call.view(0);
  View collapsed = view;
  collapsed.sizes.clear();
  collapsed.strides.clear();
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    // Extents of 1 may have any stride.
    int64_t size = 1, stride = 1;
    for (int64_t dim : llvm::reverse(group)) {
      if (view.sizes[dim] == 1)
        continue;
      if (size == 1)
        stride = view.strides[dim];
      else if (view.strides[dim] != size * stride)
        return call.error() << "collapses dimensions of memory that is not "
                               "contiguous along them";
      size *= view.sizes[dim];
    }
    collapsed.sizes.push_back(size);
    collapsed.strides.push_back(stride);
  }
  call.yield(collapsed.value());
  return success();
}

static LogicalResult runTranspose(Call &call) {
  View view = call.view(0), result = view;
  AffineMap map = call.as<memref::TransposeOp>().getPermutation();
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    result.sizes[dim] = view.sizes[map.getDimPosition(dim)];
    result.strides[dim] = view.strides[map.getDimPosition(dim)];
  }
  call.yield(result.value());
  return success();
}

/// Memory of bytes as elements of another type.
static LogicalResult runView(Call &call) {
  auto op = call.as<memref::ViewOp>();
  View bytes = call.view(0);
  int64_t first = bytes.offset + call.args[1].asInt();
  SmallVector<int64_t, 4> sizes = call.mixed(op.getType().getShape(), 2);
  Type element = op.getType().getElementType();
  if (first % bytesOf(element) != 0)
    return call.error() << "views bytes from " << first << " on as " << element
                        << ", which are not aligned for it";
  int64_t arena = call.machine.memory.arenaOf(bytes.buffer);
  View view = call.machine.memory.inArena(arena, first, element, sizes,
                                          stridesOf(sizes));
  if (failed(call.machine.verifyInside(op, view)))
    return failure();
  call.yield(view.value());
  return success();
}

void addBufferOps(Registry &registry) {
  registry["bufferization.alloc_tensor"] = {runAllocTensor};
  registry["bufferization.to_buffer"] = {runToBuffer};
  registry["bufferization.to_tensor"] = {runToTensor};
  registry["bufferization.materialize_in_destination"] = {runMaterialize};
  registry["memref.alloc"] = {runAlloc};
  registry["memref.alloca"] = {runAlloc};
  registry["memref.cast"] = {runCast};
  registry["memref.collapse_shape"] = {runCollapseShape};
  registry["memref.copy"] = {runCopy};
  registry["memref.dealloc"] = {runDealloc};
  registry["memref.expand_shape"] = {runExpandShape};
  registry["memref.load"] = {runLoad};
  registry["memref.memory_space_cast"] = {runCast};
  registry["memref.prefetch"] = {runNothing};
  registry["memref.reinterpret_cast"] = {runReinterpretCast};
  registry["memref.store"] = {runStore};
  registry["memref.subview"] = {runSubview};
  registry["memref.transpose"] = {runTranspose};
  registry["memref.view"] = {runView};
}

} // namespace drawloom::interpreter
