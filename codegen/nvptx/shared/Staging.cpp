//===- Staging.cpp - tiles that pass through shared memory ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/shared/Staging.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/layouts/Dots.h"
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

DenseSet<Value> inputsOf(func::FuncOp kernel) {
  DenseSet<Value> inputs;
  int64_t count = kernel->getAttrOfType<IntegerAttr>(inputsAttr).getInt();
  for (BlockArgument argument : kernel.getArguments().take_front(count))
    inputs.insert(argument);
  return inputs;
}

int64_t bytesOf(MemRefType type) {
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip(type.getShape(), strides))
    last += (extent - 1) * stride;
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return (last + 1) * llvm::divideCeil(bits, 8);
}

bool isFree(Operation *op) {
  return isa_and_nonnull<tile::SplatOp, tile::IotaOp, tile::BroadcastOp>(op);
}

bool isOwned(const Layout &layout) {
  auto replicated = [](const tile::Digit &digit) { return digit.replicated(); };
  return llvm::none_of(layout.lanes, replicated) &&
         llvm::none_of(layout.warps, replicated);
}

Value cloneFree(OpBuilder &builder, Value tile) {
  Operation *op = tile.getDefiningOp();
  IRMapping mapping;
  if (isa<tile::BroadcastOp>(op))
    if (auto load = op->getOperand(0).getDefiningOp<tile::LoadOp>()) {
      auto memory = dyn_cast<BlockArgument>(rootOf(load.getSource()));
      auto kernel = load->getParentOfType<func::FuncOp>();
      if (memory && memory.getOwner() == &kernel.getBody().front() &&
          static_cast<int64_t>(memory.getArgNumber()) <
              kernel->getAttrOfType<IntegerAttr>(inputsAttr).getInt())
        mapping.map(load.getResult(), builder.clone(*load)->getResult(0));
    }
  return builder.clone(*op, mapping)->getResult(0);
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

/// Whether a value is the same in each iteration of the loops around it, as far
/// as can be told before what it reads has a place.
static bool isSteady(Value value, scf::ForOp loop) {
  if (!loop || !loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  Operation *def = value.getDefiningOp();
  return def && def->getNumRegions() == 0 &&
         llvm::all_of(def->getOperands(),
                      [&](Value operand) { return isSteady(operand, loop); });
}

bool mayPermuteColumns(tile::DotOp dot) {
  int64_t n = dot.getN(), k = dot.getK();
  // What is padded is filled with zeros first, in the order of memory.
  if (dot.getBatch() || tile::paddedExtent(n, 8) != n ||
      tile::paddedExtent(k, 16) != k)
    return false;
  return dot.getTransposeB() ||
         isSteady(dot.getB(), dot->getParentOfType<scf::ForOp>());
}

/// A copy of the right operand in shared memory, its columns in the order in
/// which the instructions take them.
static Value stagePermuted(OpBuilder &builder, Location loc, Value elements,
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

/// Whether matrix instructions can read an operand where it is: in shared
/// memory, rows of whole vectors, nothing missing.
static bool isReadInPlace(Value operand, ArrayRef<int64_t> shape) {
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

void sliceThroughMemory(OpBuilder &builder, tile::SliceOp slice,
                        Value &buffer) {
  Location loc = slice.getLoc();
  Value source = slice.getSource();
  auto from = cast<RankedTensorType>(source.getType());
  if (!buffer) {
    // Once, in front of the first slice, wherever in loops or branches that is.
    Operation *first = nullptr;
    for (Operation *user : source.getUsers()) {
      Operation *at = source.getParentBlock()->findAncestorOpInBlock(*user);
      if (isa<tile::SliceOp>(user) && (!first || at->isBeforeInBlock(first)))
        first = at;
    }
    builder.setInsertionPoint(first);
    buffer = tile::AllocOp::create(
        builder, loc,
        MemRefType::get(from.getShape(), from.getElementType(),
                        MemRefLayoutAttrInterface(),
                        builder.getI64IntegerAttr(tile::sharedSpace)),
        IntegerAttr());
    tile::StoreOp::create(builder, loc, source, buffer);
  }
  builder.setInsertionPoint(slice);
  int64_t rank = from.getRank();
  SmallVector<int64_t> offsets(rank, 0), ones(rank, 1), sizes(from.getShape());
  offsets[slice.getDimension()] = static_cast<int64_t>(slice.getIndex());
  sizes[slice.getDimension()] = 1;
  auto type = cast<RankedTensorType>(slice.getResult().getType());
  auto part = memref::SubViewOp::inferRankReducedResultType(
      type.getShape(), cast<MemRefType>(buffer.getType()), offsets, sizes,
      ones);
  Value view = memref::SubViewOp::create(builder, loc, cast<MemRefType>(part),
                                         buffer, offsets, sizes, ones);
  slice.replaceAllUsesWith(
      tile::LoadOp::create(builder, loc, type, view).getResult());
  slice.erase();
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

/// Registers of a thread that copies of vectors may take in a loop; what is
/// beyond is read from shared memory in each iteration.
static constexpr int64_t mostVectorRegisters = 24;

/// The type that all uses of a vector widen it to, once they have broadcast it.
static Type widenedElement(tile::LoadOp load) {
  Type wide;
  for (Operation *user : load->getUsers()) {
    auto broadcast = dyn_cast<tile::BroadcastOp>(user);
    if (!broadcast)
      return {};
    for (Operation *reader : broadcast->getUsers()) {
      auto extension = dyn_cast<arith::ExtFOp>(reader);
      if (!extension || (wide && wide != getElementTypeOrSelf(extension)))
        return {};
      wide = getElementTypeOrSelf(extension);
    }
  }
  return wide;
}

static void stageVector(OpBuilder &builder, tile::LoadOp load) {
  auto type = cast<RankedTensorType>(load.getResult().getType());
  Layout layout = *tile::layoutOf(type);
  Location loc = load.getLoc();
  builder.setInsertionPoint(load);
  auto spread = tile::withLayout(
      type, tile::blockedLayout(
                type.getShape(),
                128 / std::max<int64_t>(type.getElementTypeBitWidth(), 16),
                layout.warpCount()));
  Value elements = tile::LoadOp::create(builder, loc, spread, load.getSource());
  Type wide = widenedElement(load), element = type.getElementType();
  if (wide) {
    element = wide;
    elements =
        arith::ExtFOp::create(builder, loc, spread.clone(wide), elements);
  }
  Value buffer = allocatePadded(builder, loc, type.getShape(), element);
  tile::StoreOp::create(builder, loc, elements, buffer);
  Value copies =
      tile::LoadOp::create(builder, loc, type.clone(element), buffer);
  if (!wide) {
    load.replaceAllUsesWith(copies);
    load.erase();
    return;
  }
  for (Operation *user : llvm::make_early_inc_range(load->getUsers())) {
    auto broadcast = cast<tile::BroadcastOp>(user);
    builder.setInsertionPoint(broadcast);
    Value rows = tile::BroadcastOp::create(
        builder, loc,
        cast<RankedTensorType>(broadcast.getResult().getType()).clone(wide),
        copies, broadcast.getDims());
    for (Operation *reader :
         llvm::make_early_inc_range(broadcast->getUsers())) {
      reader->getResult(0).replaceAllUsesWith(rows);
      reader->erase();
    }
    broadcast.erase();
  }
  load.erase();
}

void stageVectors(OpBuilder &builder, func::FuncOp kernel) {
  DenseSet<Value> inputs = inputsOf(kernel);
  kernel.walk([&](scf::ForOp loop) {
    SmallVector<tile::LoadOp> loads;
    int64_t registers = 0;
    for (auto load : loop.getBody()->getOps<tile::LoadOp>()) {
      auto type = cast<RankedTensorType>(load.getResult().getType());
      Layout layout = *tile::layoutOf(type);
      llvm::SetVector<Operation *> ops;
      if (!type.getElementType().isIntOrFloat() ||
          tile::isShared(load.getSource().getType()) ||
          llvm::none_of(layout.lanes,
                        [](tile::Digit lane) { return lane.replicated(); }) ||
          !collectInvariant(loop, load, inputs, ops))
        continue;
      loads.push_back(load);
      Type wide = widenedElement(load);
      registers +=
          layout.registerCount() *
          (wide ? wide : type.getElementType()).getIntOrFloatBitWidth() / 32;
    }
    if (registers > mostVectorRegisters)
      for (tile::LoadOp load : loads)
        stageVector(builder, load);
  });
}

void hoistStaging(func::FuncOp kernel, int64_t limit) {
  int64_t hoisted = 0;
  DenseSet<Operation *> counted;
  DenseSet<Value> inputs = inputsOf(kernel);
  // From the innermost loop outwards.
  kernel.walk([&](scf::ForOp loop) {
    SmallVector<tile::AllocOp> buffers(loop.getBody()->getOps<tile::AllocOp>());
    for (tile::AllocOp buffer : buffers) {
      llvm::SetVector<Operation *> ops;
      SmallVector<tile::StoreOp> stores;
      SmallVector<Operation *> readers;
      bool invariant = true;
      std::function<void(Value)> visit = [&](Value memory) {
        for (Operation *user : memory.getUsers()) {
          if (isa<memref::SubViewOp, memref::ReinterpretCastOp>(user)) {
            visit(user->getResult(0));
            continue;
          }
          auto store = dyn_cast<tile::StoreOp>(user);
          if (!store) {
            readers.push_back(user);
            invariant &= isa<tile::DotOp, tile::LoadOp>(user);
            continue;
          }
          if (store->getBlock() != loop.getBody())
            invariant = false;
          stores.push_back(store);
        }
      };
      visit(buffer);
      if (!invariant)
        continue;
      llvm::sort(stores, [](tile::StoreOp a, tile::StoreOp b) {
        return a->isBeforeInBlock(b);
      });
      // What is read before the last of them must not find what that one
      // stores.
      for (Operation *reader : readers) {
        Operation *ancestor = loop.getBody()->findAncestorOpInBlock(*reader);
        invariant &= !stores.empty() && ancestor &&
                     stores.back()->isBeforeInBlock(ancestor);
      }
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
