//===- PipelineCopies.cpp - copies to shared memory that run by themselves ===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile that is loaded from a kernel's inputs and only stored into a buffer of
// shared memory needs no registers: a copy is started, and waited for where the
// buffer is read. Where each iteration of a loop fills a buffer so, there are
// two of them, and the next iteration's copy is on its way while this one
// computes.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXPIPELINECOPIES
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

/// Whether a thread's elements of the tile come in pieces of 4 bytes at least,
/// in both memories: there is no asynchronous copy of less.
static bool hasWidePieces(RankedTensorType tile, MemRefType source,
                          MemRefType dest) {
  Type element = tile.getElementType();
  if (!element.isIntOrFloat() || element.isInteger(1) || tile.getRank() == 0)
    return false;
  int64_t inner = tile.getRank() - 1;
  int64_t piece = tile::layoutOf(tile)->contiguousAlong(inner);
  for (MemRefType memory : {source, dest}) {
    auto [strides, offset] = memory.getStridesAndOffset();
    int64_t extent = memory.getDimSize(inner);
    if (strides.back() != 1 || ShapedType::isDynamic(extent))
      return false;
    while (piece > 1 && extent % piece != 0)
      piece /= 2;
    for (int64_t stride : ArrayRef(strides).drop_back())
      while (piece > 1 && stride % piece != 0)
        piece /= 2;
  }
  return piece * element.getIntOrFloatBitWidth() >= 32;
}

/// The load whose result the store puts into shared memory, if nobody else
/// reads it and nothing writes what it loads.
static tile::LoadOp copiedLoad(tile::StoreOp store,
                               const DenseSet<Value> &inputs) {
  auto load = store.getSource().getDefiningOp<tile::LoadOp>();
  if (!load || !load->hasOneUse() || load->getBlock() != store->getBlock() ||
      !tile::isShared(store.getDest().getType()) ||
      !inputs.contains(rootOf(load.getSource())) ||
      !hasWidePieces(cast<RankedTensorType>(load.getResult().getType()),
                     cast<MemRefType>(load.getSource().getType()),
                     cast<MemRefType>(store.getDest().getType())))
    return {};
  return load;
}

/// The layout of a copy: any thread may copy anything. The lanes' bits are put
/// in the order in which the banks of shared memory need the fewest clocks;
/// what a warp reads of global memory at once is the same in any order.
static Layout spreadOverBanks(RankedTensorType tile, MemRefType dest) {
  Layout layout = *tile::layoutOf(tile), best = layout;
  SmallVector<int64_t> strides = dest.getStridesAndOffset().first;
  int64_t bytes = tile.getElementTypeBitWidth() / 8;
  auto clocks = [&](const Layout &of) {
    return bankClocks(of, strides, tile.getShape(), bytes);
  };
  int64_t least = clocks(layout);
  SmallVector<size_t> order{0, 1, 2, 3, 4};
  while (std::next_permutation(order.begin(), order.end())) {
    // No access moves more than 128 bytes a clock.
    if (least * 128 <= layout.registerCount() * bytes * 32)
      break;
    Layout other = layout;
    for (auto [lane, from] : llvm::zip(other.lanes, order))
      lane = layout.lanes[from];
    if (int64_t found = clocks(other); found < least)
      least = found, best = other;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

namespace {
/// A buffer that each iteration of a loop fills by one copy.
struct Filled {
  tile::AllocOp buffer;
  tile::CopyAsyncOp copy;
  /// What computes where from, in the loop's body.
  llvm::SetVector<Operation *> slice;
};
} // namespace

/// Slots of a ring: one is read while the other is filled.
static constexpr int64_t ringSlots = 2;
/// Bytes of shared memory that two blocks of a kernel may have at once: no ring
/// makes one of two.
static constexpr int64_t halfOfShared = 112 * 1024;

/// Adds what makes `value` of the loop's counter to `slice`. False where the
/// next iteration's cannot be known in this one.
static bool collectSlice(scf::ForOp loop, Value value,
                         const DenseSet<Value> &inputs,
                         llvm::SetVector<Operation *> &slice) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()) ||
      value == loop.getInductionVar())
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != loop.getBody() || def->getNumRegions() != 0)
    return false;
  auto read = dyn_cast<memref::LoadOp>(def);
  if (read ? !inputs.contains(rootOf(read.getMemRef())) : !isPure(def))
    return false;
  for (Value operand : def->getOperands())
    if (!collectSlice(loop, operand, inputs, slice))
      return false;
  slice.insert(def);
  return true;
}

static std::optional<Filled> filledBuffer(scf::ForOp loop, tile::AllocOp buffer,
                                          const DenseSet<Value> &inputs) {
  Filled found{buffer, {}, {}};
  for (Operation *user : buffer->getUsers()) {
    if (auto copy = dyn_cast<tile::CopyAsyncOp>(user)) {
      if (found.copy || copy->getBlock() != loop.getBody())
        return std::nullopt;
      found.copy = copy;
    } else if (!isa<tile::DotOp, tile::LoadOp, tile::SolveOp>(user)) {
      return std::nullopt;
    }
  }
  if (!found.copy ||
      !collectSlice(loop, found.copy.getSource(), inputs, found.slice))
    return std::nullopt;
  // What does not depend on the iteration is not copied again.
  bool changes = llvm::any_of(found.slice, [&](Operation *op) {
    return llvm::is_contained(op->getOperands(), loop.getInductionVar());
  });
  if (!changes)
    return std::nullopt;
  return found;
}

static MemRefType ringType(MemRefType buffer) {
  auto [strides, offset] = buffer.getStridesAndOffset();
  int64_t bytes = buffer.getElementTypeBitWidth() / 8;
  SmallVector<int64_t> shape{ringSlots}, apart;
  llvm::append_range(shape, buffer.getShape());
  apart.push_back(llvm::alignTo(bytesOf(buffer), sharedAlignment) /
                  std::max<int64_t>(bytes, 1));
  llvm::append_range(apart, strides);
  return MemRefType::get(shape, buffer.getElementType(),
                         StridedLayoutAttr::get(buffer.getContext(), 0, apart),
                         buffer.getMemorySpace());
}

static Value slotOf(OpBuilder &builder, Location loc, Value ring,
                    MemRefType buffer, Value slot) {
  int64_t rank = buffer.getRank();
  SmallVector<OpFoldResult> offsets(rank + 1, builder.getIndexAttr(0)),
      sizes(rank + 1, builder.getIndexAttr(1)),
      ones(rank + 1, builder.getIndexAttr(1));
  offsets[0] = slot;
  for (int64_t dim = 0; dim < rank; ++dim)
    sizes[dim + 1] = builder.getIndexAttr(buffer.getDimSize(dim));
  auto type = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      buffer.getShape(), cast<MemRefType>(ring.getType()), offsets, sizes,
      ones));
  return memref::SubViewOp::create(builder, loc, type, ring, offsets, sizes,
                                   ones);
}

/// Starts the copies of the iteration `counter`, if there is one, into a slot.
static void startCopies(OpBuilder &builder, scf::ForOp loop,
                        MutableArrayRef<Filled> buffers, ArrayRef<Value> rings,
                        Value counter, Value slot) {
  Location loc = loop.getLoc();
  Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     counter, loop.getUpperBound());
  auto branch = scf::IfOp::create(builder, loc, runs, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), counter);
    for (auto [filled, ring] : llvm::zip(buffers, rings)) {
      for (Operation *op : filled.slice)
        if (!mapping.contains(op->getResult(0)))
          builder.clone(*op, mapping);
      auto type = cast<MemRefType>(filled.buffer.getBuffer().getType());
      tile::CopyAsyncOp::create(
          builder, filled.copy.getLoc(),
          mapping.lookupOrDefault(filled.copy.getSource()),
          slotOf(builder, filled.copy.getLoc(), ring, type, slot),
          filled.copy.getTileAttr());
    }
  }
  tile::CommitCopiesOp::create(builder, loc);
}

/// Makes rings of the buffers that the loop's iterations fill.
static void pipeline(OpBuilder &builder, scf::ForOp loop,
                     const DenseSet<Value> &inputs, int64_t &room) {
  SmallVector<Filled> buffers;
  for (auto buffer : loop.getBody()->getOps<tile::AllocOp>()) {
    std::optional<Filled> found = filledBuffer(loop, buffer, inputs);
    if (!found)
      continue;
    int64_t more = bytesOf(ringType(cast<MemRefType>(buffer.getType())));
    if (more > room)
      continue;
    buffers.push_back(*found);
    room -= more;
  }
  if (buffers.empty())
    return;
  Location loc = loop.getLoc();
  builder.setInsertionPoint(loop);
  SmallVector<Value> rings;
  for (Filled &filled : buffers)
    rings.push_back(tile::AllocOp::create(
        builder, filled.buffer.getLoc(),
        ringType(cast<MemRefType>(filled.buffer.getType())), IntegerAttr()));
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  startCopies(builder, loop, buffers, rings, loop.getLowerBound(), first);

  // The slot that this iteration reads is carried.
  IRRewriter rewriter(builder.getContext());
  rewriter.setInsertionPoint(loop);
  auto turned = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &b, Location loc, ArrayRef<BlockArgument> slots) {
        Value one = arith::ConstantIndexOp::create(b, loc, 1);
        return SmallVector<Value>{
            arith::SubIOp::create(b, loc, one, slots.front())};
      }));
  Value slot = turned.getRegionIterArgs().back();
  builder.setInsertionPointToStart(turned.getBody());
  // Behind the barrier all see what has arrived, and nobody reads the slot that
  // is filled next.
  tile::WaitCopiesOp::create(builder, loc, 0);
  tile::BarrierOp::create(builder, loc);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value next = arith::AddIOp::create(builder, loc, turned.getInductionVar(),
                                     turned.getStep());
  startCopies(builder, turned, buffers, rings, next,
              arith::SubIOp::create(builder, loc, one, slot));
  for (auto [filled, ring] : llvm::zip(buffers, rings)) {
    builder.setInsertionPoint(filled.buffer);
    Value now = slotOf(builder, filled.buffer.getLoc(), ring,
                       cast<MemRefType>(filled.buffer.getType()), slot);
    filled.copy.erase();
    filled.buffer.getBuffer().replaceAllUsesWith(now);
    filled.buffer.erase();
  }
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// Whether an op or one inside of it accesses one of these buffers.
static bool touches(Operation &op, const DenseSet<Value> &roots) {
  return op
      .walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (isa<MemRefType>(operand.getType()) &&
              !isa<memref::SubViewOp, memref::ReinterpretCastOp>(inner) &&
              roots.contains(rootOf(operand)))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// Waits for the copies of this block where what they fill is touched next.
static void placeWaits(OpBuilder &builder, Block &block,
                       const DenseSet<Operation *> &copies) {
  DenseSet<Value> open;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    // Of two copies to one buffer the second may change what the first copies.
    if (!open.empty() &&
        (op.hasTrait<OpTrait::IsTerminator>() || touches(op, open))) {
      builder.setInsertionPoint(&op);
      tile::CommitCopiesOp::create(builder, op.getLoc());
      tile::WaitCopiesOp::create(builder, op.getLoc(), 0);
      open.clear();
    }
    if (copies.contains(&op))
      open.insert(rootOf(cast<tile::CopyAsyncOp>(op).getDest()));
  }
}

static void pipelineCopies(OpBuilder &builder, func::FuncOp kernel,
                           int64_t limit) {
  DenseSet<Value> inputs = inputsOf(kernel);
  SmallVector<tile::StoreOp> stores;
  kernel.walk([&](tile::StoreOp store) {
    if (copiedLoad(store, inputs))
      stores.push_back(store);
  });
  for (tile::StoreOp store : stores) {
    auto load = store.getSource().getDefiningOp<tile::LoadOp>();
    builder.setInsertionPoint(store);
    auto type = cast<RankedTensorType>(load.getResult().getType());
    type = tile::withLayout(
        type,
        spreadOverBanks(type, cast<MemRefType>(store.getDest().getType())));
    tile::CopyAsyncOp::create(builder, store.getLoc(), load.getSource(),
                              store.getDest(), TypeAttr::get(type));
    store.erase();
    load.erase();
  }
  int64_t bytes = sharedBytesOf(kernel);
  int64_t room =
      (bytes > halfOfShared ? limit : std::min(halfOfShared, limit)) - bytes;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    pipeline(builder, loop, inputs, room);
  // Those of rings are in groups already.
  DenseSet<Operation *> copies;
  kernel.walk([&](tile::CopyAsyncOp copy) {
    auto next = copy->getParentOp()->getNextNode();
    if (!isa<scf::IfOp>(copy->getParentOp()) ||
        !isa_and_nonnull<tile::CommitCopiesOp>(next))
      copies.insert(copy);
  });
  SmallVector<Block *> blocks;
  kernel.walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    placeWaits(builder, *block, copies);
}

namespace {
struct NvptxPipelineCopies
    : impl::NvptxPipelineCopiesBase<NvptxPipelineCopies> {
  using NvptxPipelineCopiesBase::NvptxPipelineCopiesBase;
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    if (isKernel(getOperation()))
      pipelineCopies(builder, getOperation(), limit);
  }
};
} // namespace

} // namespace drawloom::nvptx
