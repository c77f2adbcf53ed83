//===- Staging.cpp - tiles that pass through shared memory ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Staging.h"
#include "codegen/nvptx/Dots.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

Value rootOf(Value memory) {
  while (Operation *view = memory.getDefiningOp()) {
    if (isa<tile::AllocOp>(view))
      break;
    memory = view->getOperand(0);
  }
  return memory;
}

int64_t bytesOf(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip(type.getShape(), strides))
    last += (extent - 1) * stride;
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return (last + 1) * llvm::divideCeil(bits, 8);
}

Value allocatePadded(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                     Type element) {
  Attribute space = builder.getI64IntegerAttr(tile::sharedSpace);
  MemRefLayoutAttrInterface layout;
  int64_t bytes = element.isIndex()
                      ? 8
                      : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  if (shape.size() >= 2) {
    int64_t row = shape.back() * bytes;
    if (row % 16 == 0 && row % 32 == 0) {
      SmallVector<int64_t> strides(shape.size(), 1);
      int64_t stride = shape.back() + 16 / bytes;
      for (int64_t dim = static_cast<int64_t>(shape.size()) - 2; dim >= 0;
           --dim) {
        strides[dim] = stride;
        stride *= shape[dim];
      }
      layout = StridedLayoutAttr::get(builder.getContext(), 0, strides);
    }
  }
  return tile::AllocOp::create(builder, loc,
                               MemRefType::get(shape, element, layout, space),
                               IntegerAttr());
}

/// A copy of the tile in shared memory, zeros beyond it up to `shape`.
static Value stage(OpBuilder &builder, Location loc, Value elements,
                   ArrayRef<int64_t> shape, bool transpose,
                   StagedCopies &staged) {
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
    a = stage(builder, loc, tileOf(a), shape, /*transpose=*/false, staged);
  }
  SmallVector<int64_t> shape{steps, sums[1]};
  if (dot.getTransposeB())
    std::swap(shape[0], shape[1]);
  Value b = stage(builder, loc, tileOf(dot.getB()), shape, /*transpose=*/false,
                  staged);
  dot.getAMutable().assign(a);
  dot.getBMutable().assign(b);
}

void reshapeThroughMemory(OpBuilder &builder, tile::ReshapeOp reshape) {
  builder.setInsertionPoint(reshape);
  Location loc = reshape.getLoc();
  auto from = cast<RankedTensorType>(reshape.getSource().getType());
  auto to = cast<RankedTensorType>(reshape.getResult().getType());
  Attribute space = builder.getI64IntegerAttr(tile::sharedSpace);
  Value buffer = tile::AllocOp::create(
      builder, loc,
      MemRefType::get(from.getShape(), from.getElementType(),
                      MemRefLayoutAttrInterface(), space),
      IntegerAttr());
  tile::StoreOp::create(builder, loc, reshape.getSource(), buffer);
  // The same bytes, seen with the other shape.
  SmallVector<int64_t> strides(to.getRank(), 1);
  for (int64_t dim = to.getRank() - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * to.getDimSize(dim + 1);
  auto type = MemRefType::get(
      to.getShape(), to.getElementType(),
      StridedLayoutAttr::get(builder.getContext(), 0, strides), space);
  Value view = memref::ReinterpretCastOp::create(
      builder, loc, type, buffer, /*offset=*/0, to.getShape(), strides);
  reshape.replaceAllUsesWith(
      tile::LoadOp::create(builder, loc, to, view).getResult());
  reshape.erase();
}

//===----------------------------------------------------------------------===//
// Hoisting
//===----------------------------------------------------------------------===//

/// Whether a load may go in front of a loop: a loop that does not run may have
/// nothing to read where its offsets point to.
static bool mayReadBefore(scf::ForOp loop, Value memory) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> to = getConstantIntValue(loop.getUpperBound());
  if (from && to && *from < *to)
    return true;
  while (Operation *view = memory.getDefiningOp()) {
    if (auto part = dyn_cast<memref::SubViewOp>(view);
        part && part->getNumOperands() > 1)
      return false;
    memory = view->getOperand(0);
  }
  return true;
}

/// Adds what makes `value` in the loop's body to `ops`, in order, if it is the
/// same in each iteration and made of memory that the kernel only reads.
static bool collectInvariant(scf::ForOp loop, Value value,
                             const DenseSet<Value> &inputs,
                             llvm::SetVector<Operation *> &ops) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumRegions() != 0 || def->getBlock() != loop.getBody())
    return false;
  if (!isPure(def) && !isa<tile::LoadOp>(def))
    return false;
  for (Value operand : def->getOperands())
    if (!collectInvariant(loop, operand, inputs, ops))
      return false;
  if (auto load = dyn_cast<tile::LoadOp>(def)) {
    if (!inputs.contains(rootOf(load.getSource())) ||
        !mayReadBefore(loop, load.getSource()))
      return false;
  }
  ops.insert(def);
  return true;
}

void hoistStaging(func::FuncOp kernel, int64_t limit) {
  int64_t hoisted = 0;
  DenseSet<Operation *> counted;
  DenseSet<Value> inputs;
  int64_t count = kernel->getAttrOfType<IntegerAttr>(inputsAttr).getInt();
  for (BlockArgument argument : kernel.getArguments().take_front(count))
    inputs.insert(argument);
  // From the innermost loop outwards.
  kernel.walk([&](scf::ForOp loop) {
    SmallVector<tile::AllocOp> buffers(loop.getBody()->getOps<tile::AllocOp>());
    for (tile::AllocOp buffer : buffers) {
      llvm::SetVector<Operation *> ops;
      SmallVector<tile::StoreOp> stores;
      bool invariant = true;
      std::function<void(Value)> visit = [&](Value memory) {
        for (Operation *user : memory.getUsers()) {
          if (auto view = dyn_cast<memref::SubViewOp>(user)) {
            visit(view.getResult());
            continue;
          }
          auto store = dyn_cast<tile::StoreOp>(user);
          if (!store) {
            invariant &= isa<tile::DotOp, tile::LoadOp>(user);
            continue;
          }
          if (store->getBlock() != loop.getBody())
            invariant = false;
          stores.push_back(store);
        }
      };
      visit(buffer);
      llvm::sort(stores, [](tile::StoreOp a, tile::StoreOp b) {
        return a->isBeforeInBlock(b);
      });
      // The buffer's own address is the same wherever it is taken.
      for (tile::StoreOp store : stores) {
        invariant =
            invariant && collectInvariant(loop, store.getSource(), inputs, ops);
        if (invariant && store.getDest() != buffer.getBuffer()) {
          Operation *view = store.getDest().getDefiningOp();
          invariant = llvm::all_of(
              view->getOperands().drop_front(), [&](Value operand) {
                return !loop.getRegion().isAncestor(operand.getParentRegion());
              });
          ops.insert(view);
        }
        ops.insert(store);
      }
      if (!invariant || stores.empty())
        continue;
      int64_t bytes = bytesOf(cast<MemRefType>(buffer.getBuffer().getType()));
      // A buffer that was taken out of an inner loop is counted already.
      if (!counted.contains(buffer) && hoisted + bytes > limit)
        continue;
      if (counted.insert(buffer).second)
        hoisted += bytes;
      buffer->moveBefore(loop);
      for (Operation *op : ops)
        op->moveBefore(loop);
    }
  });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

void expandConversions(OpBuilder &builder, func::FuncOp kernel) {
  kernel.walk([&](tile::ConvertOp convert) {
    Layout from = *tile::layoutOf(convert.getSource().getType());
    Layout to = *tile::layoutOf(convert.getResult().getType());
    if (from.sameThreads(to))
      return;
    auto type = cast<RankedTensorType>(convert.getResult().getType());
    builder.setInsertionPoint(convert);
    Value buffer = allocatePadded(builder, convert.getLoc(), type.getShape(),
                                  type.getElementType());
    tile::StoreOp::create(builder, convert.getLoc(), convert.getSource(),
                          buffer);
    convert.replaceAllUsesWith(
        tile::LoadOp::create(builder, convert.getLoc(), type, buffer)
            .getResult());
    convert.erase();
  });
  kernel.walk([&](tile::ReduceOp reduce) {
    Layout layout = *tile::layoutOf(reduce.getSource().getType());
    int64_t shares = 1;
    for (const tile::Digit &digit : layout.warps)
      if (!digit.replicated() &&
          llvm::is_contained(reduce.getDims(), digit.dim))
        shares *= 2;
    if (shares == 1)
      return;
    auto type = cast<RankedTensorType>(reduce.getResult().getType());
    // A row of results for each warp that shares them.
    SmallVector<int64_t> shape{shares, 1};
    for (int64_t extent : tile::layoutOf(type)->extents(type.getRank()))
      shape[1] *= extent;
    builder.setInsertionPoint(reduce);
    Value buffer = tile::AllocOp::create(
        builder, reduce.getLoc(),
        MemRefType::get(shape, type.getElementType(),
                        MemRefLayoutAttrInterface(),
                        builder.getI64IntegerAttr(tile::sharedSpace)),
        IntegerAttr());
    reduce.getScratchMutable().assign(buffer);
  });
}

} // namespace drawloom::nvptx
