//===- StageOperands.cpp - operands of products in shared memory ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/layouts/Dots.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXSTAGEOPERANDS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {
namespace {

/// The copies of each tile that lie in shared memory.
using StagedCopies = DenseMap<Value, SmallVector<tile::AllocOp, 1>>;

/// A copy of the right operand in shared memory, its columns in the order in
/// which the instructions take them.
Value stagePermuted(OpBuilder &builder, Location loc, Value elements,
                    bool transposed, int64_t neighbours) {
  auto type = cast<RankedTensorType>(elements.getType());
  Value buffer =
      allocatePadded(builder, loc, type.getShape(), type.getElementType());
  int64_t rowStride =
      cast<MemRefType>(buffer.getType()).getStridesAndOffset().first.front();
  // Columns as units of so many instructions, threads, pairs and one of two:
  // the instructions count pairs behind threads.
  int64_t dim = transposed ? 0 : 1, step = transposed ? rowStride : 1;
  SmallVector<int64_t> shape{type.getDimSize(dim) / (4 * neighbours), 4,
                             neighbours / 2, 2};
  SmallVector<int64_t> strides{4 * neighbours * step, 2 * step, 8 * step, step};
  auto *place = transposed ? shape.end() : shape.begin();
  shape.insert(place, type.getDimSize(1 - dim));
  place = transposed ? strides.end() : strides.begin();
  strides.insert(place, transposed ? 1 : rowStride);

  Layout layout = *tile::layoutOf(type);
  std::optional<Layout> split = tile::reshaped(layout, type.getShape(), shape);
  if (!split) {
    layout = tile::blockedLayout(type.getShape(), 4, layout.warpCount());
    type = tile::withLayout(type, layout);
    elements = tile::ConvertOp::create(builder, loc, type, elements);
    split = tile::reshaped(layout, type.getShape(), shape);
    assert(split && "extents without padding can be split");
  }
  Value parts = tile::ReshapeOp::create(
      builder, loc,
      tile::withLayout(RankedTensorType::get(shape, type.getElementType()),
                       *split),
      elements);
  auto view =
      MemRefType::get(shape, type.getElementType(),
                      StridedLayoutAttr::get(builder.getContext(), 0, strides),
                      builder.getI64IntegerAttr(tile::sharedSpace));
  tile::StoreOp::create(builder, loc, parts,
                        memref::ReinterpretCastOp::create(builder, loc, view,
                                                          buffer, /*offset=*/0,
                                                          shape, strides));
  return buffer;
}

/// A copy of the tile in shared memory, zeros beyond it up to `shape`.
Value stage(OpBuilder &builder, Location loc, Value elements,
            ArrayRef<int64_t> shape, bool transpose, StagedCopies &staged) {
  auto type = cast<RankedTensorType>(elements.getType());
  if (!transpose)
    for (tile::AllocOp copy : staged.lookup(elements))
      if (copy->getBlock() == builder.getInsertionBlock() &&
          cast<MemRefType>(copy.getBuffer().getType()).getShape() == shape)
        return copy.getBuffer();
  Value original = transpose ? Value() : elements;
  if (transpose) {
    Layout layout = tile::layoutOf(type)->project({1, 0});
    auto turned = tile::withLayout(
        RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)},
                              type.getElementType()),
        layout);
    elements = tile::BroadcastOp::create(builder, loc, turned, elements,
                                         ArrayRef<int64_t>{1, 0});
    type = turned;
  }
  Value buffer = allocatePadded(builder, loc, shape, type.getElementType());
  if (original)
    staged[original].push_back(buffer.getDefiningOp<tile::AllocOp>());
  if (shape == type.getShape()) {
    tile::StoreOp::create(builder, loc, elements, buffer);
    return buffer;
  }
  auto whole = tile::withLayout(
      RankedTensorType::get(shape, type.getElementType()),
      tile::blockedLayout(shape, 4, tile::layoutOf(type)->warpCount()));
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  tile::StoreOp::create(
      builder, loc, tile::SplatOp::create(builder, loc, whole, zero), buffer);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      ones(type.getRank(), builder.getIndexAttr(1)), sizes;
  for (int64_t extent : type.getShape())
    sizes.push_back(builder.getIndexAttr(extent));
  Value part =
      memref::SubViewOp::create(builder, loc, buffer, offsets, sizes, ones);
  tile::StoreOp::create(builder, loc, elements, part);
  return buffer;
}

/// Whether matrix instructions can read an operand where it is: in shared
/// memory, rows of whole vectors, nothing missing.
bool isReadInPlace(Value operand, ArrayRef<int64_t> shape) {
  auto memory = dyn_cast<MemRefType>(operand.getType());
  if (!memory || !tile::isShared(memory) || memory.getShape() != shape ||
      memory.getElementTypeBitWidth() != 16)
    return false;
  auto [strides, offset] = memory.getStridesAndOffset();
  if (strides[1] != 1 || strides[0] % 8 != 0 || shape[1] % 8 != 0)
    return false;
  // Its vectors are whole from the buffer's start on.
  Value whole = operand;
  while (auto part = whole.getDefiningOp<memref::SubViewOp>()) {
    SmallVector<int64_t> apart =
        part.getSourceType().getStridesAndOffset().first;
    for (auto [at, stride] : llvm::zip(part.getMixedOffsets(), apart)) {
      std::optional<int64_t> known = getConstantIntValue(at);
      if (stride % 8 != 0 && (!known || *known * stride % 8 != 0))
        return false;
    }
    whole = part.getSource();
  }
  return isa_and_nonnull<tile::AllocOp>(whole.getDefiningOp());
}

/// Puts a dot's operands where its instructions read them: both into shared
/// memory, except a left operand of mma.sync that is in its registers already.
void stageOperands(OpBuilder &builder, tile::DotOp dot, int64_t warps,
                   StagedCopies &staged) {
  builder.setInsertionPoint(dot);
  Location loc = dot.getLoc();
  auto tileOf = [&](Value operand) -> Value {
    auto memory = dyn_cast<MemRefType>(operand.getType());
    if (!memory)
      return operand;
    auto type =
        RankedTensorType::get(memory.getShape(), memory.getElementType());
    type = tile::withLayout(type,
                            tile::blockedLayout(memory.getShape(), 4, warps));
    return tile::LoadOp::create(builder, loc, type, operand);
  };
  int64_t m = dot.getM(), n = dot.getN(), k = dot.getK();
  if (!usesTensorCores(dot)) {
    // Rows of four steps or columns are read at once.
    Value a = stage(
        builder, loc, tileOf(dot.getA()),
        {tile::paddedExtent(m), static_cast<int64_t>(llvm::alignTo(k, 4))},
        dot.getTransposeA(), staged);
    Value b = stage(
        builder, loc, tileOf(dot.getB()),
        {static_cast<int64_t>(llvm::alignTo(k, 4)), tile::paddedExtent(n)},
        dot.getTransposeB(), staged);
    dot.getAMutable().assign(a);
    dot.getBMutable().assign(b);
    dot.setTransposeA(false);
    dot.setTransposeB(false);
    return;
  }
  if (dot.getTf32()) {
    // Steps of 8, and both operands from memory.
    SmallVector<int64_t> sums =
        tile::layoutOf(dot.getResult().getType())->extents(2);
    auto steps = static_cast<int64_t>(llvm::alignTo(k, 8));
    SmallVector<int64_t> left{sums[0], steps}, right{steps, sums[1]};
    if (dot.getTransposeA())
      std::swap(left[0], left[1]);
    if (dot.getTransposeB())
      std::swap(right[0], right[1]);
    Value a = stage(builder, loc, tileOf(dot.getA()), left,
                    /*transpose=*/false, staged);
    Value b = tileOf(dot.getB());
    b = dot.getNeighbours()
            ? stagePermuted(builder, loc, b, dot.getTransposeB(),
                            dot.columnsInThread())
            : stage(builder, loc, b, right, /*transpose=*/false, staged);
    dot.getAMutable().assign(a);
    dot.getBMutable().assign(b);
    return;
  }
  WarpGrid grid = warpGrid(m, n, warps);
  SmallVector<int64_t> sums =
      tile::layoutOf(dot.getResult().getType())->extents(2);
  Layout left = tile::leftOperandLayout(m, k, grid.m, grid.n);
  int64_t steps = left.extents(2)[1];
  Value a = dot.getA();
  // The same number everywhere is in the right registers anyway.
  if (auto splat = a.getDefiningOp<tile::SplatOp>();
      splat && !dot.getTransposeA() && steps == dot.getK())
    a = tile::SplatOp::create(
        builder, loc,
        tile::withLayout(cast<RankedTensorType>(a.getType()), left),
        splat.getValue());
  std::optional<Layout> now = tile::layoutOf(a.getType());
  if (!dot.getTransposeA() && now && now->sameThreads(left) && steps == k) {
    if (!(*now == left))
      a = tile::ConvertOp::create(
          builder, loc,
          tile::withLayout(cast<RankedTensorType>(a.getType()), left), a);
  } else {
    SmallVector<int64_t> shape{sums[0], steps};
    if (dot.getTransposeA())
      std::swap(shape[0], shape[1]);
    if (!isReadInPlace(a, shape))
      a = stage(builder, loc, tileOf(a), shape, /*transpose=*/false, staged);
  }
  SmallVector<int64_t> shape{steps, sums[1]};
  if (dot.getTransposeB())
    std::swap(shape[0], shape[1]);
  shape[0] *= dot.batches();
  Value b;
  if (dot.getNeighbours())
    b = stagePermuted(builder, loc, tileOf(dot.getB()), dot.getTransposeB(),
                      dot.columnsInThread());
  else if (isReadInPlace(dot.getB(), shape))
    b = dot.getB();
  else
    b = stage(builder, loc, tileOf(dot.getB()), shape, /*transpose=*/false,
              staged);
  dot.getAMutable().assign(a);
  dot.getBMutable().assign(b);
}

struct NvptxStageOperands : impl::NvptxStageOperandsBase<NvptxStageOperands> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel))
      return;
    SmallVector<tile::DotOp> dots;
    kernel.walk<WalkOrder::PreOrder>(
        [&](tile::DotOp dot) { dots.push_back(dot); });
    OpBuilder builder(&getContext());
    StagedCopies staged;
    for (tile::DotOp dot : dots)
      stageOperands(builder, dot, warpsOf(kernel), staged);
  }
};

} // namespace
} // namespace drawloom::nvptx
