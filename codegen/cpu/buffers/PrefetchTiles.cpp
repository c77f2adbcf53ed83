//===- PrefetchTiles.cpp - tiles of the next iteration, ahead of time -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hardware fetches ahead what lies in a row. It does not see through rows with
// gaps, such as those of one head of [tokens, heads, size]: a loop over tiles
// of such rows waits for memory at each of them. Nor does it see where rows are
// whose numbers are in another array.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Passes.h"
#include "codegen/cpu/buffers/Views.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUPREFETCHTILES
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

constexpr int64_t lineBytes = 64;

/// Rows by number are asked for so many iterations ahead: memory takes about as
/// long as adding up that many.
constexpr int64_t rowsAhead = 16;

/// Of a loop that begins somewhere else than where the one before it ended, so
/// many rows are asked for: most are short.
constexpr int64_t firstRows = 2;

/// Tables up to so many bytes stay in the second-level cache, where waiting for
/// a row costs less than asking for it.
constexpr int64_t tableBytes = 1 << 20;

/// Scratch memory up to so many bytes stays in the second-level cache.
constexpr int64_t cacheBytes = 256 * 1024;

/// An argument of the function: what does not come from there is in a cache.
bool isArgument(Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Scratch memory that does not stay in the second-level cache.
bool isLargeScratch(Value memory) {
  auto alloc = memory.getDefiningOp<memref::AllocOp>();
  if (!alloc || !alloc.getType().hasStaticShape() ||
      !alloc.getType().getElementType().isIntOrFloat())
    return false;
  int64_t bits = alloc.getType().getElementType().getIntOrFloatBitWidth();
  return alloc.getType().getNumElements() * bits / 8 > cacheBytes;
}

/// The outermost sequential loop around an op in its block program.
scf::ForOp outermostLoop(Operation *op) {
  scf::ForOp outermost;
  while (Operation *parent = op->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      outermost = loop;
    if (isa<scf::ForallOp>(parent))
      return outermost;
    op = parent;
  }
  return {};
}

/// The rows that `memory` is where it is a tile that is whole, or else a copy
/// of them (cpu-tiles-in-place).
Value rowsOfTile(Value memory) {
  auto choice = choiceOf(memory);
  return choice ? choice->first : Value();
}

/// The memory that a view is of, also of a view of a tile.
Value wholeOfTile(Value memory) {
  memory = wholeOf(memory);
  while (Value rows = rowsOfTile(memory))
    memory = wholeOf(rows);
  return memory;
}

/// What is under the extents of a call.
Value withoutExtents(Value memory) {
  auto with = memory.getDefiningOp<memref::ReinterpretCastOp>();
  return with ? with.getSource() : memory;
}

/// The row of an array that `memory` is; null where it is something else.
memref::SubViewOp rowOfArray(Value memory) {
  auto row = memory.getDefiningOp<memref::SubViewOp>();
  return row && row.getSourceType().getRank() == 2 &&
                 !row.getSourceType().isDynamicDim(1) &&
                 row.getType().getRank() == 1 &&
                 row.getStaticSizes() ==
                     ArrayRef{int64_t(1), row.getSourceType().getDimSize(1)} &&
                 row.getStaticOffsets()[1] == 0
             ? row
             : memref::SubViewOp();
}

/// Whether a load reads a number: from an array of integers, an argument, or
/// from a row of one.
bool readsNumber(memref::LoadOp load) {
  Value memory = load.getMemRef();
  if (memref::SubViewOp row = rowOfArray(memory))
    memory = row.getSource();
  return isArgument(withoutExtents(memory)) &&
         load.getMemRefType().getRank() == 1 &&
         load.getMemRefType().getElementType().isInteger();
}

/// What the array of `load` has at `place`, or the last before `end`.
Value numberAt(OpBuilder &b, memref::LoadOp load, Value place, Value end) {
  Location loc = load.getLoc();
  Value array = load.getMemRef(), width;
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  memref::SubViewOp row = rowOfArray(array);
  if (row) {
    // The next rows lie behind this one.
    array = row.getSource();
    width = constant(row.getType().getDimSize(0));
    Value number =
        getValueOrCreateConstantIndexOp(b, loc, row.getMixedOffsets()[0]);
    place = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, number, width), place);
    end = Value();
  }
  if (!end) {
    end = b.createOrFold<memref::DimOp>(loc, array, 0);
    if (row)
      end = arith::MulIOp::create(b, loc, end, width);
  }
  place = arith::MinSIOp::create(
      b, loc, place, arith::SubIOp::create(b, loc, end, constant(1)));
  SmallVector<Value> indices{place};
  if (row)
    indices = {arith::DivUIOp::create(b, loc, place, width),
               arith::RemUIOp::create(b, loc, place, width)};
  return memref::LoadOp::create(b, loc, array, indices);
}

/// A place that a number says. Numbers that no iteration reads may be any: none
/// leads out of an array.
Value notNegative(OpBuilder &b, Value place) {
  Location loc = place.getLoc();
  return arith::MaxSIOp::create(b, loc, place,
                                arith::ConstantIndexOp::create(b, loc, 0));
}

/// Writes, at the insertion point, `value` as it will be where the loop's index
/// is `next`; null if that would need more than arithmetic and numbers.
Value inNextIteration(OpBuilder &b, scf::ForOp loop, Value value,
                      IRMapping &known) {
  if (Value mapped = known.lookupOrNull(value))
    return mapped;
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return value;
  // Loops within the loop: the same row of the next tile.
  if (isa<BlockArgument>(value)) {
    auto inner = dyn_cast<scf::ForOp>(value.getParentRegion()->getParentOp());
    return inner && value == inner.getInductionVar() ? value : Value();
  }
  if (Value rows = rowsOfTile(value))
    return inNextIteration(b, loop, rows, known);
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast_if_present<memref::LoadOp>(op);
      load && readsNumber(load) && !rowOfArray(load.getMemRef())) {
    Value place = inNextIteration(b, loop, load.getIndices().front(), known);
    if (!place)
      return {};
    known.map(value, numberAt(b, load, notNegative(b, place), Value()));
    return known.lookup(value);
  }
  if (!op || !isPure(op) || op->getNumRegions() != 0)
    return {};
  for (Value operand : op->getOperands()) {
    Value moved = inNextIteration(b, loop, operand, known);
    if (!moved)
      return {};
    known.map(operand, moved);
  }
  b.clone(*op, known);
  return known.lookup(value);
}

/// Whether what is read lies in one piece: whole rows, but for the first
/// dimension.
bool isInOnePiece(vector::TransferReadOp read) {
  auto type = cast<MemRefType>(read.getBase().getType());
  ArrayRef<int64_t> shape = read.getVectorType().getShape();
  return read.getPermutationMap().isMinorIdentity() && !shape.empty() &&
         type.areTrailingDimsContiguous(shape.size()) &&
         type.getShape().take_back(shape.size() - 1) == shape.drop_front();
}

/// Whether rows of such memory may have to come from far away.
bool isTable(MemRefType type) {
  return !type.hasStaticShape() ||
         type.getNumElements() *
                 llvm::divideCeil(type.getElementTypeBitWidth(), 8) >
             tableBytes;
}

/// The number that `index` is computed from; null if there is none or if it
/// takes more than arithmetic.
memref::LoadOp loadedNumber(Value index) {
  SmallVector<Value> open{index};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op)
      continue;
    if (auto load = dyn_cast<memref::LoadOp>(op); load && readsNumber(load))
      return load;
    if (isPure(op) && op->getNumRegions() == 0)
      llvm::append_range(open, op->getOperands());
  }
  return nullptr;
}

/// Whether `value` changes from one iteration of the loop to the next.
bool changesIn(scf::ForOp loop, Value value) {
  return loop.getRegion().isAncestor(value.getParentRegion());
}

/// How much of the last dimension the loops within `loop` go through, where
/// `index` is one loop's own and a number that does not change; none elsewhere.
std::optional<int64_t> goneThrough(scf::ForOp loop, Value index) {
  Value own = index;
  if (auto apply = index.getDefiningOp<affine::AffineApplyOp>()) {
    AffineExpr sum = apply.getAffineMap().getResult(0);
    own = Value();
    for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
      if (!changesIn(loop, operand))
        continue;
      unsigned dims = apply.getAffineMap().getNumDims();
      AffineExpr expr = i < dims
                            ? getAffineDimExpr(i, index.getContext())
                            : getAffineSymbolExpr(i - dims, index.getContext());
      AffineExpr rest = simplifyAffineExpr(
          sum - expr, dims, apply.getAffineMap().getNumSymbols());
      bool isTerm = i < dims ? !rest.isFunctionOfDim(i)
                             : !rest.isFunctionOfSymbol(i - dims);
      if (own || !isTerm)
        return std::nullopt;
      own = operand;
    }
  }
  auto argument = dyn_cast_if_present<BlockArgument>(own);
  auto inner = argument
                   ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                   : scf::ForOp();
  if (!inner || own != inner.getInductionVar())
    return std::nullopt;
  std::optional<int64_t> from = getConstantIntValue(inner.getLowerBound());
  std::optional<int64_t> to = getConstantIntValue(inner.getUpperBound());
  return from && to ? std::optional(*to - *from) : std::nullopt;
}

/// Whether the loop goes along one dimension of `memory` and leaves out others
/// between that one and the last, of each of which so much is `taken`, or some
/// of the last.
bool leavesGaps(scf::ForOp loop, Value memory, ArrayRef<OpFoldResult> indices,
                ArrayRef<int64_t> taken) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  // What one step along a dimension passes over, were nothing left out.
  int64_t within = type.getShape().back();
  if (auto last = dyn_cast<Value>(indices.back()))
    if (changesIn(loop, last))
      within = goneThrough(loop, last).value_or(within);
  for (int64_t i = type.getRank() - 2; i >= 0; --i) {
    auto value = dyn_cast<Value>(indices[i]);
    bool changes = value && changesIn(loop, value);
    if (changes && (strides[i] == ShapedType::kDynamic || strides[i] > within))
      return true;
    if (ShapedType::isDynamic(strides[i]) || type.isDynamicDim(i))
      continue;
    if (changes || (taken[i] == type.getDimSize(i) && strides[i] == within))
      within = strides[i] * type.getDimSize(i);
  }
  return false;
}

/// The same of a view, somewhere on its way from the whole memory.
bool leavesGaps(scf::ForOp loop, Value memory) {
  while (memory) {
    if (auto view = memory.getDefiningOp<memref::SubViewOp>()) {
      if (leavesGaps(loop, view.getSource(), view.getMixedOffsets(),
                     view.getStaticSizes()))
        return true;
      memory = view.getSource();
    } else if (auto other = memory.getDefiningOp<memref::CastOp>()) {
      memory = other.getSource();
    } else {
      memory = rowsOfTile(memory);
    }
  }
  return false;
}

/// The same of what a read or a write touches.
bool leavesGaps(scf::ForOp loop, VectorTransferOpInterface transfer) {
  SmallVector<int64_t> taken(transfer.getIndices().size(), 1);
  llvm::copy(transfer.getVectorType().getShape(),
             taken.end() - transfer.getVectorType().getRank());
  Value memory = transfer.getBase();
  return leavesGaps(loop, memory, getAsOpFoldResult(transfer.getIndices()),
                    taken) ||
         leavesGaps(loop, memory);
}

class CpuPrefetchTiles : public impl::CpuPrefetchTilesBase<CpuPrefetchTiles> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    numbersAhead.clear();
    startsAhead.clear();
    firsts.clear();
    SmallVector<memref::CopyOp> copies;
    function.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies)
      copyByRow(copy);
    function.walk([&](Operation *op) {
      if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
        prefetchRead(read);
        prefetchNumbered(read);
        prefetchTransposed(read);
        prefetchPanel(read);
      } else if (auto write = dyn_cast<vector::TransferWriteOp>(op)) {
        prefetchWrite(write);
      } else if (auto copy = dyn_cast<memref::CopyOp>(op))
        prefetchCopy(copy);
    });
  }

private:
  /// The loop's index in its next iteration. The last one looks at itself:
  /// nothing outside is touched.
  static IRMapping nextOf(OpBuilder &b, Location loc, scf::ForOp loop) {
    Value here = loop.getInductionVar();
    Value next = arith::AddIOp::create(b, loc, here, loop.getStep());
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                         next, loop.getUpperBound());
    IRMapping known;
    known.map(here, arith::SelectOp::create(b, loc, inside, next, here));
    return known;
  }

  /// All lines of `elements` from `indices` on.
  static void prefetch(OpBuilder &b, Location loc, Value memory,
                       SmallVector<Value> indices, int64_t elements) {
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    Value column = indices.back();
    for (int64_t at = 0; at < elements; at += lineBytes / bytes) {
      Value offset = arith::ConstantIndexOp::create(b, loc, at);
      indices.back() = arith::AddIOp::create(b, loc, column, offset);
      memref::PrefetchOp::create(b, loc, memory, indices, /*isWrite=*/false,
                                 /*localityHint=*/2, /*isDataCache=*/true);
    }
  }

  /// The memory and the indices that a read or a write has in the next
  /// iteration of `loop`; null where these are not known ahead.
  static Value placeOfNext(OpBuilder &b, scf::ForOp loop,
                           VectorTransferOpInterface transfer,
                           SmallVector<Value> &indices) {
    IRMapping known = nextOf(b, transfer.getLoc(), loop);
    for (Value index : transfer.getIndices()) {
      indices.push_back(inNextIteration(b, loop, index, known));
      if (!indices.back())
        return nullptr;
    }
    return inNextIteration(b, loop, transfer.getBase(), known);
  }

  /// The loop around a read or a write of rows of an argument that hardware
  /// does not see ahead; null if it is none.
  static scf::ForOp loopOverGaps(VectorTransferOpInterface transfer) {
    Value memory = transfer.getBase();
    auto type = dyn_cast<MemRefType>(memory.getType());
    scf::ForOp loop = outermostLoop(transfer);
    bool isOfRows = transfer.getVectorType().getRank() > 0 && type && loop &&
                    type.getElementType().isIntOrFloat() &&
                    transfer.getPermutationMap().isMinorIdentity() &&
                    isArgument(wholeOfTile(memory)) &&
                    leavesGaps(loop, transfer);
    return isOfRows ? loop : scf::ForOp();
  }

  /// A read of several rows at once is a product's, which reads them again.
  static void prefetchRead(vector::TransferReadOp read) {
    scf::ForOp loop = loopOverGaps(read);
    if (!loop || read.getVectorType().getRank() != 1)
      return;
    OpBuilder b(read);
    SmallVector<Value> indices;
    if (Value memory = placeOfNext(b, loop, read, indices))
      prefetch(b, read.getLoc(), memory, indices,
               read.getVectorType().getNumElements());
  }

  /// A line is read before some of it is written.
  static void prefetchWrite(vector::TransferWriteOp write) {
    scf::ForOp loop = loopOverGaps(write);
    VectorType type = write.getVectorType();
    if (!loop || type.getRank() == 0 || type.getRank() > 2)
      return;
    OpBuilder b(write);
    Location loc = write.getLoc();
    SmallVector<Value> indices;
    Value memory = placeOfNext(b, loop, write, indices);
    if (!memory)
      return;
    int64_t rows = type.getRank() == 2 ? type.getDimSize(0) : 1;
    for (int64_t i = 0; i < rows; ++i) {
      SmallVector<Value> at = indices;
      if (i > 0)
        at[at.size() - 2] =
            arith::AddIOp::create(b, loc, at[at.size() - 2],
                                  arith::ConstantIndexOp::create(b, loc, i));
      prefetch(b, loc, memory, at, type.getShape().back());
    }
  }

  /// The number that the array has for an iteration some way ahead, also one
  /// behind the loop's last: the next loop may be over what comes there. Where
  /// it is not, `end` is where this one ends.
  Value numberAhead(memref::LoadOp load, scf::ForOp loop, Value end) {
    Value &ahead = numbersAhead[load];
    if (ahead)
      return ahead;
    OpBuilder b(load);
    Location loc = load.getLoc();
    Value here = loop.getInductionVar();
    Value distance = arith::MulIOp::create(
        b, loc, loop.getStep(),
        arith::ConstantIndexOp::create(b, loc, rowsAhead));
    IRMapping known;
    known.map(here, arith::AddIOp::create(b, loc, here, distance));
    Value place = inNextIteration(b, loop, load.getIndices().front(), known);
    if (!place || place == load.getIndices().front())
      return {};
    // Other places than the loop's own may lie before the array, and its end
    // is not the loop's.
    if (load.getIndices().front() != here)
      return ahead = numberAt(b, load, notNegative(b, place), Value());
    return ahead = numberAt(b, load, place, end);
  }

  /// Where a loop within another one will begin some iterations of that one
  /// ahead, if that is not where this one ends: for each of the outer loop's, a
  /// number says where. Null of other loops. It stands before the loop.
  Value startAhead(scf::ForOp loop) {
    auto known = startsAhead.try_emplace(loop);
    Value &start = known.first->second;
    if (!known.second)
      return start;
    auto outer = dyn_cast<scf::ForOp>(loop->getParentOp());
    memref::LoadOp first = loadedNumber(loop.getLowerBound());
    if (!outer || !first || first->getParentOp() != outer)
      return {};
    memref::LoadOp owner = loadedNumber(first.getIndices().front());
    if (!owner || owner->getParentOp() != outer)
      return {};
    Value number = numberAhead(owner, outer, Value());
    if (!number)
      return {};
    OpBuilder b(loop);
    IRMapping mapping;
    mapping.map(owner.getResult(), number);
    return start = inNextIteration(b, outer, loop.getLowerBound(), mapping);
  }

  /// A row whose number is loaded in the innermost loop.
  void prefetchNumbered(vector::TransferReadOp read) {
    auto type = dyn_cast<MemRefType>(read.getBase().getType());
    auto loop = read->getParentOfType<scf::ForOp>();
    if (!type || !loop || !read->getParentOfType<scf::ForallOp>() ||
        !type.getElementType().isIntOrFloat() || !isInOnePiece(read) ||
        !isTable(type))
      return;
    unsigned inRow = read.getVectorType().getRank();
    for (Value row : read.getIndices().drop_back(inRow)) {
      memref::LoadOp load = loadedNumber(row);
      if (!load || load->getParentOp() != loop)
        continue;
      Value start = startAhead(loop);
      if (start)
        prefetchFirst(read, load, loop, start);
      Value number =
          numberAhead(load, loop, start ? loop.getUpperBound() : Value());
      if (!number)
        continue;
      OpBuilder b(read);
      IRMapping known;
      known.map(load.getResult(), number);
      prefetchAt(b, read, loop, known);
      return;
    }
  }

  /// An iteration that comes first in a loop: code for where the array of a
  /// load has a number for it, and the number.
  struct First {
    scf::IfOp there;
    Value index, number;
  };
  using Firsts = SmallVector<First>;
  const Firsts &firstsAhead(memref::LoadOp load, scf::ForOp loop, Value start) {
    auto [known, isNew] = firsts.try_emplace(load);
    if (!isNew)
      return known->second;
    OpBuilder b(loop);
    Location loc = load.getLoc();
    for (int64_t i = 0; i < firstRows; ++i) {
      OpBuilder::InsertionGuard guard(b);
      Value index = arith::AddIOp::create(
          b, loc, start, arith::ConstantIndexOp::create(b, loc, i));
      IRMapping mapping;
      mapping.map(loop.getInductionVar(), index);
      Value place =
          inNextIteration(b, loop, load.getIndices().front(), mapping);
      if (!place)
        break;
      // Unsigned: numbers that no iteration reads may be any.
      Value count = b.createOrFold<memref::DimOp>(loc, load.getMemRef(), 0);
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           place, count);
      auto there = scf::IfOp::create(b, loc, inside);
      b.setInsertionPointToStart(there.thenBlock());
      Value number = memref::LoadOp::create(b, loc, load.getMemRef(), place);
      known->second.push_back({there, index, number});
    }
    return known->second;
  }

  /// The rows that come first in a loop that begins at `start`.
  void prefetchFirst(vector::TransferReadOp read, memref::LoadOp load,
                     scf::ForOp loop, Value start) {
    if (!loop.isDefinedOutsideOfLoop(load.getMemRef()) ||
        !loop.isDefinedOutsideOfLoop(read.getBase()))
      return;
    for (const First &first : firstsAhead(load, loop, start)) {
      scf::IfOp there = first.there;
      OpBuilder b(there.thenBlock()->getTerminator());
      IRMapping known;
      known.map(loop.getInductionVar(), first.index);
      known.map(load.getResult(), first.number);
      prefetchAt(b, read, loop, known);
    }
  }

  /// What is read where the loop's values are as `known` says.
  static void prefetchAt(OpBuilder &b, vector::TransferReadOp read,
                         scf::ForOp loop, IRMapping &known) {
    SmallVector<Value> indices;
    for (Value index : read.getIndices())
      indices.push_back(inNextIteration(b, loop, index, known));
    if (!llvm::is_contained(indices, Value()))
      prefetch(b, read.getLoc(), read.getBase(), indices,
               read.getVectorType().getNumElements());
  }

  DenseMap<Operation *, Value> startsAhead;
  DenseMap<Operation *, Firsts> firsts;
  DenseMap<Operation *, Value> numbersAhead;

  /// A square that is transposed is read once, and hardware does not see the
  /// next ones in its rows.
  void prefetchTransposed(vector::TransferReadOp read) {
    auto type = dyn_cast<MemRefType>(read.getBase().getType());
    scf::ForOp loop = outermostLoop(read);
    AffineMap map = read.getPermutationMap();
    if (!type || !loop || read.getVectorType().getRank() != 2 ||
        !map.isProjectedPermutation() || map.isMinorIdentity() ||
        map.getDimPosition(0) + 1 != map.getNumDims() ||
        !isLargeScratch(wholeOf(read.getBase())))
      return;
    OpBuilder b(read);
    Location loc = read.getLoc();
    SmallVector<Value> indices;
    Value memory = placeOfNext(b, loop, read, indices);
    // What is the same in every iteration is near after the first.
    if (!memory ||
        (memory == read.getBase() && llvm::equal(indices, read.getIndices())))
      return;
    Value &row = indices[map.getDimPosition(1)];
    Value first = row;
    for (int64_t i = 0; i < read.getVectorType().getDimSize(1); ++i) {
      row = arith::AddIOp::create(b, loc, first,
                                  arith::ConstantIndexOp::create(b, loc, i));
      prefetch(b, loc, memory, indices, read.getVectorType().getDimSize(0));
    }
  }

  /// A product reads one panel again for each tile of rows; the next one comes
  /// from far away. Each of these tiles asks for a line of each part that it
  /// reads, so that the panel is there when its turn comes.
  static void prefetchPanel(vector::TransferReadOp read) {
    auto type = dyn_cast<MemRefType>(read.getBase().getType());
    auto inner = dyn_cast<scf::ForOp>(read->getParentOp());
    auto rows = inner ? dyn_cast<scf::ForOp>(inner->getParentOp()) : nullptr;
    auto panels = rows ? dyn_cast<scf::ForOp>(rows->getParentOp()) : nullptr;
    if (!type || !panels || !isTable(type) || !isInOnePiece(read) ||
        read.getVectorType().getRank() != 2)
      return;
    auto dependsOn = [&](scf::ForOp loop) {
      return llvm::any_of(read.getIndices(), [&](Value index) {
        SetVector<Operation *> slice;
        BackwardSliceOptions options;
        options.inclusive = true;
        (void)getBackwardSlice(index, &slice, options);
        return index == loop.getInductionVar() ||
               llvm::any_of(slice, [&](Operation *op) {
                 return llvm::is_contained(op->getOperands(),
                                           loop.getInductionVar());
               });
      });
    };
    std::optional<APInt> tiles = rows.getStaticTripCount();
    if (!tiles || tiles->getSExtValue() < 2 || !dependsOn(inner) ||
        dependsOn(rows) || !dependsOn(panels))
      return;
    OpBuilder b(read);
    Location loc = read.getLoc();
    SmallVector<Value> indices;
    Value memory = placeOfNext(b, panels, read, indices);
    if (!memory)
      return;
    int64_t width = type.getShape().back(),
            ofLine =
                lineBytes / llvm::divideCeil(type.getElementTypeBitWidth(), 8),
            lines =
                llvm::divideCeil(read.getVectorType().getNumElements(), ofLine),
            ofTile = llvm::divideCeil(lines, tiles->getSExtValue());
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    Value tile = arith::DivUIOp::create(
        b, loc,
        arith::SubIOp::create(b, loc, rows.getInductionVar(),
                              rows.getLowerBound()),
        rows.getStep());
    for (int64_t i = 0; i < ofTile; ++i) {
      Value line = arith::RemUIOp::create(
          b, loc,
          arith::AddIOp::create(
              b, loc, arith::MulIOp::create(b, loc, tile, number(ofTile)),
              number(i)),
          number(lines));
      Value element = arith::MulIOp::create(b, loc, line, number(ofLine));
      SmallVector<Value> at = indices;
      Value &row = at[at.size() - 2], &column = at.back();
      row = arith::AddIOp::create(
          b, loc, row, arith::DivUIOp::create(b, loc, element, number(width)));
      column = arith::AddIOp::create(
          b, loc, column,
          arith::RemUIOp::create(b, loc, element, number(width)));
      prefetch(b, loc, memory, at, 1);
    }
  }

  /// Makes of a copy of so many rows as a call has one of each row, where there
  /// are gaps between these: a few are asked for with each.
  static void copyByRow(memref::CopyOp copy) {
    auto type = dyn_cast<MemRefType>(copy.getSource().getType());
    auto loop = outermostLoop(copy);
    auto hasGaps = [&](Value memory) {
      return isArgument(wholeOf(memory)) && leavesGaps(loop, memory);
    };
    if (!type || type.getRank() != 2 || !type.isDynamicDim(0) ||
        type.isDynamicDim(1) || !isa<scf::ForOp>(copy->getParentOp()) ||
        !loop || (!hasGaps(copy.getSource()) && !hasGaps(copy.getTarget())))
      return;
    OpBuilder b(copy);
    Location loc = copy.getLoc();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value count = b.createOrFold<memref::DimOp>(loc, copy.getSource(), 0);
    auto each = scf::ForOp::create(b, loc, zero, count, one);
    b.setInsertionPointToStart(each.getBody());
    auto rowOf = [&](Value rows) -> Value {
      SmallVector<OpFoldResult> offsets = {each.getInductionVar(),
                                           b.getIndexAttr(0)};
      SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1),
                                         b.getIndexAttr(type.getDimSize(1))};
      SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
      auto row = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
          {type.getDimSize(1)}, cast<MemRefType>(rows.getType()), offsets,
          sizes, strides));
      return memref::SubViewOp::create(b, loc, row, rows, offsets, sizes,
                                       strides);
    };
    memref::CopyOp::create(b, loc, rowOf(copy.getSource()),
                           rowOf(copy.getTarget()));
    copy.erase();
  }

  /// Rows that are written are read before, too, line by line.
  void prefetchCopy(memref::CopyOp copy) {
    for (Value memory : {copy.getSource(), copy.getTarget()}) {
      auto view = memory.getDefiningOp<memref::SubViewOp>();
      scf::ForOp loop = outermostLoop(copy);
      if (!view || !loop || !isArgument(wholeOf(view)) ||
          view.getType().getRank() != 1 || !view.getType().hasStaticShape() ||
          !view.getType().getElementType().isIntOrFloat() ||
          !leavesGaps(loop, view))
        continue;
      OpBuilder b(copy);
      Location loc = copy.getLoc();
      IRMapping known = nextOf(b, loc, loop);
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      if (Value ahead = inNextIteration(b, loop, view, known))
        prefetch(b, loc, ahead, {zero}, view.getType().getDimSize(0));
    }
  }
};

} // namespace
} // namespace drawloom::cpu
