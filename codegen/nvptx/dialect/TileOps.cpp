//===- TileOps.cpp - what the ops of the tile dialect require -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/dialect/Tile.h"

using namespace mlir;

namespace drawloom::tile {

/// A tile that has a layout has one that holds all of it.
static LogicalResult verifyLayout(Operation *op, Type type) {
  std::optional<Layout> layout = layoutOf(type);
  if (!layout)
    return success();
  if (std::optional<std::string> wrong =
          layout->check(cast<RankedTensorType>(type).getShape()))
    return op->emitOpError("has a tile whose layout ") << *wrong;
  return success();
}

/// Where the source of an op has a layout the result has one, too, which that
/// of the source leaves no choice of.
static LogicalResult
verifyLayouts(Operation *op, RankedTensorType source, RankedTensorType result,
              function_ref<Layout(const Layout &)> follow) {
  if (failed(verifyLayout(op, source)) || failed(verifyLayout(op, result)))
    return failure();
  std::optional<Layout> from = layoutOf(source), to = layoutOf(result);
  if (from.has_value() != to.has_value())
    return op->emitOpError("has a layout on one side only: of ")
           << source << " it gives " << result;
  if (!from || follow(*from) == *to)
    return success();
  return op->emitOpError("of ")
         << source << " gives " << withLayout(result, follow(*from)) << ", not "
         << result;
}

/// The dimensions of a tile of this rank but `dims`.
static SmallVector<int64_t> otherDims(int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      others.push_back(dim);
  return others;
}

static LogicalResult verifyAccess(Operation *op, Type memory, Type tile) {
  auto buffer = cast<MemRefType>(memory);
  auto tensor = cast<RankedTensorType>(tile);
  if (buffer.getRank() != tensor.getRank() ||
      buffer.getElementType() != tensor.getElementType())
    return op->emitOpError("moves a tile of type ")
           << tensor << " and memory of type " << buffer;
  for (auto [here, there] : llvm::zip(tensor.getShape(), buffer.getShape()))
    if (!ShapedType::isDynamic(there) && here != there)
      return op->emitOpError("moves a tile of type ")
             << tensor << " and memory of type " << buffer;
  return verifyLayout(op, tile);
}

LogicalResult AllocOp::verify() {
  if (!isShared(getBuffer().getType()))
    return emitOpError("makes a buffer outside shared memory, of type ")
           << getBuffer().getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (static_cast<int64_t>(getDims().size()) != source.getRank())
    return emitOpError("names ")
           << getDims().size() << " dimensions for a source of rank "
           << source.getRank();
  llvm::SmallBitVector seen(result.getRank());
  for (auto [i, dim] : llvm::enumerate(getDims())) {
    if (dim < 0 || dim >= result.getRank() || seen.test(dim))
      return emitOpError("cannot use dimension ") << dim << " of the result";
    seen.set(dim);
    if (source.getDimSize(i) != result.getDimSize(dim))
      return emitOpError("puts an extent of ")
             << source.getDimSize(i) << " along one of "
             << result.getDimSize(dim);
  }
  if (source.getElementType() != result.getElementType())
    return emitOpError("changes the element type");
  if (failed(verifyLayout(*this, source)))
    return failure();
  return verifyLayout(*this, result);
}

LogicalResult SliceOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  auto dim = static_cast<int64_t>(getDimension());
  auto index = static_cast<int64_t>(getIndex());
  if (dim < 0 || dim >= source.getRank())
    return emitOpError("cannot use dimension ") << dim << " of the source";
  if (index < 0 || index >= source.getDimSize(dim))
    return emitOpError("reads coordinate ")
           << index << " of an extent of " << source.getDimSize(dim);
  SmallVector<int64_t> shape(source.getShape());
  shape.erase(shape.begin() + dim);
  if (result.getShape() != ArrayRef(shape) ||
      source.getElementType() != result.getElementType())
    return emitOpError("cannot have a result of type ") << result;
  if (std::optional<Layout> layout = layoutOf(source);
      layout && llvm::any_of(layout->warps,
                             [&](Digit digit) { return digit.dim == dim; }))
    return emitOpError("takes one coordinate of dimension ")
           << dim << ", of which warps hold different parts: " << source;
  return verifyLayouts(
      *this, source, result, [&](const Layout &layout) -> Layout {
        return layout.project(otherDims(source.getRank(), dim));
      });
}

LogicalResult ConvertOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (source.getShape() != result.getShape() ||
      source.getElementType() != result.getElementType())
    return emitOpError("changes more than the layout");
  if (failed(verifyLayout(*this, source)))
    return failure();
  return verifyLayout(*this, result);
}

LogicalResult CopyAsyncOp::verify() {
  if (!isa<RankedTensorType>(getTile()) || !isShared(getDest().getType()) ||
      isShared(getSource().getType()))
    return emitOpError("copies a tile of type ")
           << getTile() << " from memory of type " << getSource().getType()
           << " to memory of type " << getDest().getType();
  if (failed(verifyAccess(*this, getSource().getType(), getTile())))
    return failure();
  return verifyAccess(*this, getDest().getType(), getTile());
}

LogicalResult DotOp::verify() {
  auto shape = [](Value value, bool transposed) {
    auto extents = llvm::to_vector(shapeOf(value));
    if (transposed && extents.size() == 2)
      std::swap(extents[0], extents[1]);
    return extents;
  };
  SmallVector<int64_t> a = shape(getA(), getTransposeA());
  SmallVector<int64_t> b = shape(getB(), getTransposeB());
  ArrayRef<int64_t> c = shapeOf(getAccumulator());
  // Buffers are padded to what the instructions read.
  auto covers = [](Value operand, int64_t extent, int64_t wanted) {
    return isa<MemRefType>(operand.getType()) ? extent >= wanted
                                              : extent == wanted;
  };
  int64_t batch = batches();
  if (batch < 1 || !llvm::isPowerOf2_64(batch))
    return emitOpError("cannot have ") << batch << " products";
  // The parts of `b` lie along its first dimension in memory.
  if (b.size() == 2 && b[getTransposeB() ? 1 : 0] % batch == 0)
    b[getTransposeB() ? 1 : 0] /= batch;
  if (a.size() != 2 || b.size() != 2 || c.size() != 2 ||
      !covers(getA(), a[0], c[0]) || a[1] != b[0] ||
      !covers(getB(), b[1], c[1]))
    return emitOpError("multiplies ")
           << getA().getType() << " by " << getB().getType() << " into "
           << getAccumulator().getType();
  if (cast<ShapedType>(getA().getType()).getElementType() !=
      cast<ShapedType>(getB().getType()).getElementType())
    return emitOpError("multiplies different element types");
  if (batch != 1 &&
      (getTransposeA() || getTf32() || c[0] % (16 * batch) != 0 ||
       !llvm::isPowerOf2_64(c[0] / batch) || a[1] % 16 != 0 || c[1] % 8 != 0))
    return emitOpError("multiplies parts of ")
           << getA().getType() << " that are no whole instructions";
  if (getTf32() && !cast<ShapedType>(getA().getType()).getElementType().isF32())
    return emitOpError("rounds operands to tf32 that are not f32");
  if (int64_t columns = columnsInThread();
      getNeighbours() && columns != 4 && columns != 8)
    return emitOpError("cannot leave ") << columns << " columns in a thread";
  return verifyLayout(*this, getResult().getType());
}

void DotOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand *operand : {&getAMutable(), &getBMutable()})
    if (isa<MemRefType>(operand->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), operand);
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, getSource().getType(), getResult().getType());
}

LogicalResult ReduceOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  for (int64_t dim : getDims())
    if (dim < 0 || dim >= source.getRank())
      return emitOpError("cannot use dimension ") << dim << " of the source";
  SmallVector<int64_t> kept;
  for (auto [dim, extent] : llvm::enumerate(source.getShape())) {
    if (!llvm::is_contained(getDims(), static_cast<int64_t>(dim))) {
      kept.push_back(extent);
    } else if (getWithinThread()) {
      if (result.getRank() != source.getRank())
        return emitOpError("of ") << source << " cannot give " << result;
      kept.push_back(result.getDimSize(dim));
    }
  }
  if (ArrayRef<int64_t>(kept) != result.getShape())
    return emitOpError("of ") << source << " cannot give " << result;
  return verifyLayouts(
      *this, source, result, [&](const Layout &layout) -> Layout {
        return getWithinThread()
                   ? layout.sharesAlong(getDims())
                   : layout.project(otherDims(source.getRank(), getDims()));
      });
}

void ReduceOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getScratchMutable()) {
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

LogicalResult ReshapeOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (source.getNumElements() != result.getNumElements() ||
      source.getElementType() != result.getElementType())
    return emitOpError("of ") << source << " cannot give " << result;
  return success();
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getDest().getType(), getSource().getType());
}

} // namespace drawloom::tile
