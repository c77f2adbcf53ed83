//===- Views.cpp - buffers and views of them ------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/Views.h"
#include "codegen/nvptx/launch/OpenKernels.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "drawloom/OpenExtent.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Graph/OpenExtents.h"
#include <numeric>

using namespace mlir;

namespace drawloom::nvptx {

int64_t elementBytes(Type element) {
  if (element.isIndex())
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

Type storageType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
                              : element;
}

/// Returns a power of two that divides the value.
static int64_t divisorOf(Value value) {
  constexpr int64_t most = int64_t(1) << 20;
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return *known == 0 ? most : std::min(*known & -*known, most);
  Operation *def = value.getDefiningOp();
  if (!def) {
    auto argument = cast<BlockArgument>(value);
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
        loop && loop.getInductionVar() == argument)
      return std::min(divisorOf(loop.getLowerBound()),
                      divisorOf(loop.getStep()));
    return 1;
  }
  if (isa<arith::MulIOp>(def))
    return std::min(
        divisorOf(def->getOperand(0)) * divisorOf(def->getOperand(1)), most);
  // What is left when a rest is taken away.
  if (auto sub = dyn_cast<arith::SubIOp>(def))
    if (auto rest = sub.getRhs().getDefiningOp<arith::RemUIOp>();
        rest && rest.getLhs() == sub.getLhs())
      return divisorOf(rest.getRhs());
  if (isa<arith::AddIOp, arith::SubIOp>(def))
    return std::min(divisorOf(def->getOperand(0)),
                    divisorOf(def->getOperand(1)));
  if (isa<arith::IndexCastOp>(def))
    return divisorOf(def->getOperand(0));
  return 1;
}

void Views::addOffset(Memory &memory, OpFoldResult count, int64_t stride) {
  std::optional<int64_t> known = getConstantIntValue(count);
  if (known && *known * stride == 0)
    return;
  Value more;
  int64_t bytes = stride * elementBytes(memory.element);
  if (known) {
    memory.fixed += *known * bytes;
    more = program.constant(*known * stride, 64);
    memory.alignment = std::gcd(memory.alignment, *known * bytes);
  } else {
    more = cast<Value>(count);
    memory.step = std::gcd(memory.step, divisorOf(more) * bytes);
    memory.alignment = std::gcd(memory.alignment, divisorOf(more) * bytes);
    more = program.toI64(program.scalars.lookup(more));
    if (stride != 1)
      more = arith::MulIOp::create(builder, more, program.constant(stride, 64));
  }
  memory.offset =
      memory.offset
          ? arith::AddIOp::create(builder, memory.offset, more).getResult()
          : more;
}

/// MLIR's own answer for memory without elements is that nothing is known.
static SmallVector<int64_t> stridesOf(MemRefType type) {
  if (!type.getLayout().isIdentity())
    return llvm::to_vector(type.getStridesAndOffset().first);
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t dim = type.getRank() - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * type.getDimSize(dim);
  return strides;
}

LogicalResult Views::addArgument(BlockArgument argument, Value root,
                                 Block::BlockArgListType arguments) {
  auto type = cast<MemRefType>(argument.getType());
  Memory memory;
  memory.root = root;
  memory.strides = stridesOf(type);
  memory.element = type.getElementType();
  auto numbers = program.kernel.getArgAttrOfType<DenseI64ArrayAttr>(
      argument.getArgNumber(), extentsAttr);
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent)) {
      memory.sizes.push_back(builder.getIndexAttr(extent));
      continue;
    }
    BlockArgument open = numbers ? extentArgument(program.kernel, numbers[dim])
                                 : BlockArgument();
    if (!open || dim > 0)
      return program.kernel.emitError("is not told the extents of ") << type;
    Value size = arguments[open.getArgNumber()];
    if (int64_t more = OpenExtent::ofCode(numbers[dim]).more)
      size = LLVM::AddOp::create(builder, size, program.constant(more, 64));
    memory.sizes.push_back(size);
  }
  // Of what has open extents, nobody knows where it ends.
  memory.bytes = type.hasStaticShape()
                     ? nvptx::bytesOf(type)
                     : std::numeric_limits<int64_t>::max() / 4;
  memories[argument.getAsOpaquePointer()] = memory;
  return success();
}

Memory Views::shared(tile::AllocOp op) {
  MemRefType type = op.getBuffer().getType();
  Memory memory;
  memory.root = LLVM::AddressOfOp::create(
      builder, LLVM::LLVMPointerType::get(op->getContext(), 3), "global_smem");
  memory.root = accesses.addBytes(memory.root, *op.getOffset());
  memory.space = 3;
  memory.element = type.getElementType();
  memory.alignment = 128;
  memory.start = *op.getOffset();
  memory.strides = stridesOf(type);
  memory.sizes = getAsIndexOpFoldResult(op->getContext(), type.getShape());
  memory.bytes = nvptx::bytesOf(type);
  return memory;
}

FailureOr<Memory> Views::part(Memory memory, memref::SubViewOp op) {
  // By extents: the op's own answer looks at strides, which single elements
  // lack, and finds none for some views.
  auto dropped =
      *computeRankReductionMask(op.getStaticSizes(), op.getType().getShape());
  SmallVector<int64_t> strides;
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, offset] : llvm::enumerate(op.getMixedOffsets())) {
    std::optional<int64_t> by = getConstantIntValue(op.getMixedStrides()[dim]);
    if (!by)
      return op->emitError("steps along memory by a number that is not "
                           "known, which has no form on a GPU yet");
    addOffset(memory, offset, memory.strides[dim]);
    if (dropped.contains(dim))
      continue;
    strides.push_back(memory.strides[dim] * *by);
    OpFoldResult size = op.getMixedSizes()[dim];
    if (auto dynamic = dyn_cast<Value>(size))
      size = program.toI64(program.scalars.lookup(dynamic));
    sizes.push_back(size);
  }
  memory.strides = strides;
  memory.sizes = sizes;
  return memory;
}

Memory Views::collapsed(Memory memory, memref::CollapseShapeOp op) {
  SmallVector<int64_t> strides;
  SmallVector<OpFoldResult> sizes;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    // Of dimensions of extent 1 the stride says nothing.
    int64_t stride = 1;
    int64_t product = 1;
    Value dynamic;
    for (int64_t dim : llvm::reverse(group)) {
      std::optional<int64_t> size = getConstantIntValue(memory.sizes[dim]);
      if (product == 1 && !dynamic)
        stride = memory.strides[dim];
      if (!size)
        dynamic = cast<Value>(memory.sizes[dim]);
      else
        product *= *size;
    }
    OpFoldResult size = builder.getIndexAttr(product);
    if (dynamic)
      size =
          arith::MulIOp::create(builder, dynamic, program.constant(product, 64))
              .getResult();
    strides.push_back(stride);
    sizes.push_back(size);
  }
  memory.strides = strides;
  memory.sizes = sizes;
  return memory;
}

Memory Views::expanded(Memory memory, memref::ExpandShapeOp op) {
  auto type = cast<MemRefType>(op.getType());
  SmallVector<int64_t> strides(type.getRank());
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(op->getContext(), type.getShape());
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    int64_t stride = memory.strides[dim];
    if (group.size() == 1)
      sizes[group.front()] = memory.sizes[dim];
    for (int64_t inner : llvm::reverse(group)) {
      strides[inner] = stride;
      if (!type.isDynamicDim(inner))
        stride *= type.getDimSize(inner);
    }
  }
  memory.strides = strides;
  memory.sizes = sizes;
  return memory;
}

LogicalResult Views::lower(Operation *op) {
  Value result = op->getResult(0);
  FailureOr<Memory> memory = failure();
  if (auto alloc = dyn_cast<tile::AllocOp>(op)) {
    memory = shared(alloc);
  } else {
    Memory source = memoryOf(op->getOperand(0));
    auto type = cast<MemRefType>(result.getType());
    if (auto view = dyn_cast<memref::SubViewOp>(op)) {
      memory = part(source, view);
    } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
      memory = collapsed(source, collapse);
    } else if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
      memory = expanded(source, expand);
    } else if (isa<memref::ReinterpretCastOp>(op)) {
      source.strides = stridesOf(type);
      source.sizes = getAsIndexOpFoldResult(op->getContext(), type.getShape());
      memory = source;
    } else if (isa<memref::CastOp>(op)) {
      memory = source;
    } else {
      return op->emitOpError("has no form on a GPU yet");
    }
  }
  if (failed(memory))
    return failure();
  memories[result.getAsOpaquePointer()] = *memory;
  return success();
}

LogicalResult Views::lowerExtent(memref::DimOp op) {
  std::optional<int64_t> dim = op.getConstantIndex();
  if (!dim)
    return op->emitError("asks for an extent that is not known by number");
  OpFoldResult size = memoryOf(op.getSource()).sizes[*dim];
  Value value = isa<Value>(size)
                    ? arith::IndexCastOp::create(
                          builder, builder.getIndexType(), cast<Value>(size))
                          .getResult()
                    : program.index(*getConstantIntValue(size));
  program.scalars.map(op.getResult(), value);
  return success();
}

} // namespace drawloom::nvptx
