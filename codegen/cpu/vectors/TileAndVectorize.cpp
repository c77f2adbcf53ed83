//===- TileAndVectorize.cpp - register tiles by class of op, then ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/InstructionSet.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/vectors/Canonicalize.h"
#include "codegen/cpu/vectors/DeepDots.h"
#include "codegen/cpu/vectors/HalfPrecisionDots.h"
#include "codegen/cpu/vectors/HoistTiles.h"
#include "codegen/cpu/vectors/PrepareTensors.h"
#include "codegen/cpu/vectors/RegisterTiles.h"
#include "codegen/cpu/vectors/TileTransfers.h"
#include "dialects/Block/Block.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Block/Rows/RowMaterialize.h"
#include "passes/Graph/OpenExtents.h"
#include "llvm/Support/MathExtras.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUTILEANDVECTORIZE
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom::cpu {
namespace {

/// Lengths in 32-bit elements, as the pass options give them.
struct Tiles {
  int64_t dotRows, dotColumns, dotSteps, width, lanes, fusedOps;
  int64_t pairRows, pairColumns, pairSteps;
  /// Sums of pairs pass through memory anyway on their way to vectors.
  bool pairsInTiles;
};

/// Ops of at most so many tiles get no loops.
constexpr int64_t mostUnrolled = 4;

/// Nor where all of them together have more operations than this, and narrow
/// rows lie side by side in one tile only up to as many: what LLVM does on a
/// block of ten thousands takes more than linear time.
constexpr int64_t mostInBlock = 1024;

/// Vectors of one op between two loads have so many operations at most, unless
/// it is one vector.
constexpr int64_t longBody = 256;

/// What an open extent counts as: most are those of blocks' sums.
constexpr int64_t assumedExtent = 64;

/// Operands up to so many bytes are taken to be in the second-level cache.
constexpr int64_t cacheBytes = 256 * 1024;

bool isParallelOnly(LinalgOp op) {
  return op.getNumLoops() > 0 && op.getNumParallelLoops() == op.getNumLoops();
}

/// The loop that runs along the last dimension of an operand, if there is one.
std::optional<unsigned> innermostLoop(AffineMap map) {
  if (map.getNumResults() == 0)
    return std::nullopt;
  if (auto dim =
          dyn_cast<AffineDimExpr>(map.getResult(map.getNumResults() - 1)))
    return dim.getPosition();
  return std::nullopt;
}

bool isPermutationOfDims(AffineMap map) {
  return llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr>);
}

/// Booleans are bytes in memory but bits in a vector: no vector loads.
bool hasBooleanTensor(LinalgOp op) {
  return llvm::any_of(op->getOperands(), [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType().isInteger(1) && type.getRank() > 0;
  });
}

class Scheduler {
public:
  Scheduler(RewriterBase &rewriter, const Tiles &tiles)
      : rewriter(rewriter), tiles(tiles) {}

  void schedule(Block &block);

private:
  /// How many elements of this op's widest type take the place of `count`
  /// 32-bit ones.
  int64_t scaled(LinalgOp op, int64_t count) const;
  /// The accumulator tile of a dot, and the loops that it runs along.
  struct DotTile {
    unsigned rowLoop, columnLoop;
    int64_t rows, columns;
  };
  DotTile tileOf(LinalgOp dot);
  std::optional<Triangle> triangleOf(LinalgOp dot);
  std::optional<Panels> pack(LinalgOp dot, OpOperand &input);
  SmallVector<PanelReader> otherReaders(OpOperand &input, int64_t width);
  SmallVector<Panels> scheduleDot(LinalgOp op, SmallVector<LinalgOp> chain,
                                  SmallVector<Panels> panels = {});
  void scheduleDeepDots(MutableArrayRef<SmallVector<LinalgOp>> chains);
  SmallVector<int64_t> tilesAlong(LinalgOp op, unsigned along,
                                  std::optional<unsigned> &across) const;
  void scheduleOther(LinalgOp op);
  SmallVector<unsigned> loopOrder(LinalgOp op);
  SmallVector<LinalgOp>
  consumersInRegisters(LinalgOp dot, Block &block,
                       const DenseSet<Operation *> &taken);
  bool isCheap(LinalgOp op) const;

  RewriterBase &rewriter;
  const Tiles &tiles;
  DenseMap<Operation *, Triangle> triangles;
  /// Panels that others packed, by the operands that will read them.
  DenseMap<std::pair<Operation *, unsigned>, Panels> shared;
};

int64_t Scheduler::scaled(LinalgOp op, int64_t count) const {
  unsigned bits = 32;
  for (Value operand : op->getOperands()) {
    Type type = getElementTypeOrSelf(operand.getType());
    bits = std::max(bits, type.isIndex() ? 64 : type.getIntOrFloatBitWidth());
  }
  return std::max<int64_t>(1, count * 32 / bits);
}

bool Scheduler::isCheap(LinalgOp op) const {
  int64_t count = 0;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (inner.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!isa<arith::ArithDialect>(inner.getDialect()) ||
        isa<arith::DivFOp, arith::RemFOp>(inner))
      return false;
    ++count;
  }
  return count <= tiles.fusedOps;
}

/// The elementwise ops that may read the dot's accumulators from registers: the
/// earliest reader of the chain so far, as long as it is small and every other
/// reader of the chain comes after it.
SmallVector<LinalgOp>
Scheduler::consumersInRegisters(LinalgOp dot, Block &block,
                                const DenseSet<Operation *> &taken) {
  SmallVector<LinalgOp> chain{dot};
  auto ancestor = [&](Operation *user) {
    return block.findAncestorOpInBlock(*user);
  };
  while (true) {
    Value value = chain.back()->getResult(0);
    Operation *earliest = nullptr;
    for (Operation *user : value.getUsers()) {
      Operation *here = ancestor(user);
      if (here && (!earliest || here->isBeforeInBlock(earliest)))
        earliest = here;
    }
    auto next = dyn_cast_or_null<LinalgOp>(earliest);
    if (!next || taken.contains(next) || !isParallelOnly(next) ||
        next->getNumResults() != 1 || !isCheap(next) ||
        hasBooleanTensor(next) || next.hasIndexSemantics())
      break;
    OpOperand *init = next.getDpsInitOperand(0);
    // What updates a tensor in place is the last of its chain: others may be
    // written nowhere.
    bool updates = next.payloadUsesValueFromOperand(init);
    bool fits = next.getMatchingIndexingMap(init).isIdentity() &&
                !(updates && init->get().getDefiningOp<linalg::FillOp>());
    for (OpOperand &operand : next->getOpOperands()) {
      AffineMap map = next.getMatchingIndexingMap(&operand);
      fits &= isPermutationOfDims(map);
      for (LinalgOp member : chain)
        if (operand.get() == member->getResult(0))
          fits &= map.isIdentity() && !(updates && &operand == init);
    }
    for (LinalgOp member : chain)
      for (Operation *user : member->getResult(0).getUsers()) {
        Operation *here = ancestor(user);
        if (here != next.getOperation() && here &&
            here->isBeforeInBlock(next) &&
            !llvm::is_contained(chain, dyn_cast<LinalgOp>(here)))
          fits = false;
      }
    if (!fits)
      break;
    chain.push_back(next);
    if (updates)
      break;
  }
  return chain;
}

Scheduler::DotTile Scheduler::tileOf(LinalgOp dot) {
  AffineMap map = dot.getMatchingIndexingMap(dot.getDpsInitOperand(0));
  unsigned rank = map.getNumResults();
  DotTile tile;
  tile.columnLoop = map.getDimPosition(rank - 1);
  // The last one of the operand without columns.
  tile.rowLoop = map.getDimPosition(rank - 2);
  if (FailureOr<linalg::ContractionDimensions> dims = dotDimensions(dot);
      succeeded(dims) && !isPairDot(dot))
    for (unsigned d = 0; d + 1 < rank; ++d) {
      unsigned loop = map.getDimPosition(d);
      ArrayRef<unsigned> rows =
          llvm::is_contained(dims->m, tile.columnLoop) ? dims->n : dims->m;
      if (llvm::is_contained(rows, loop))
        tile.rowLoop = loop;
    }
  tile.rows = tiles.dotRows;
  tile.columns = scaled(dot, tiles.dotColumns);
  if (isPairDot(dot)) {
    tile.rows = tiles.pairRows;
    tile.columns = tiles.pairColumns;
    return tile;
  }
  // Narrow results take more rows, so that enough sums are under way.
  int64_t extent = dot.getStaticLoopRanges()[tile.columnLoop];
  if (tile.columns > extent)
    tile.rows = llvm::bit_floor<uint64_t>(tile.rows);
  for (int64_t wide = tile.columns; wide > extent && tile.rows < 16; wide /= 2)
    tile.rows *= 2;
  return tile;
}

/// What ops that are zero above the diagonal save a dot that they write a
/// factor of, or that only they read.
std::optional<Triangle> Scheduler::triangleOf(LinalgOp dot) {
  FailureOr<linalg::ContractionDimensions> dims = dotDimensions(dot);
  AffineMap out = dot.getMatchingIndexingMap(dot.getDpsInitOperand(0));
  if (isPairDot(dot) || dot.getNumLoops() != 3 || !out.isProjectedPermutation())
    return std::nullopt;
  DotTile tile = tileOf(dot);
  Triangle triangle{tile.rowLoop, tile.columnLoop, dims->k.front()};
  SmallVector<int64_t> ranges = dot.getStaticLoopRanges();
  if (cutReduction(ranges[triangle.inner], tiles.dotSteps).size() != 1)
    return std::nullopt;
  auto isLower = [](Operation *op) {
    return op && op->hasAttr(block::lowerTriangularAttr);
  };
  for (OpOperand *input : dot.getDpsInputOperands()) {
    AffineMap map = dot.getMatchingIndexingMap(input);
    if (!isLower(input->get().getDefiningOp()) || map.getNumResults() != 2 ||
        !map.isProjectedPermutation() || !map.isFunctionOfDim(tile.rowLoop) ||
        ranges[tile.rowLoop] != ranges[triangle.inner])
      continue;
    (map.getDimPosition(0) == tile.rowLoop ? triangle.endsWithRows
                                           : triangle.beginsWithRows) = true;
  }
  triangle.resultIsLower =
      ranges[tile.rowLoop] == ranges[tile.columnLoop] &&
      dot.getDpsInits()[0].getDefiningOp<linalg::FillOp>() &&
      llvm::all_of(dot->getUsers(), isLower);
  if (!triangle.endsWithRows && !triangle.beginsWithRows &&
      !triangle.resultIsLower)
    return std::nullopt;
  return triangle;
}

std::optional<Panels> Scheduler::pack(LinalgOp dot, OpOperand &input) {
  std::optional<unsigned> along =
      innermostLoop(dot.getMatchingIndexingMap(&input));
  if (!along)
    return std::nullopt;
  // Forgotten at once: another op may get the place of this one.
  if (auto known = shared.find({dot, input.getOperandNumber()});
      known != shared.end()) {
    Panels panels = std::move(known->second);
    shared.erase(known);
    return panels;
  }
  SmallVector<int64_t> ranges = dot.getStaticLoopRanges();
  DotTile tile = tileOf(dot);
  int64_t rows = llvm::bit_floor<uint64_t>(tile.rows);
  bool columns = *along == tile.columnLoop;
  int64_t width = columns                  ? tile.columns
                  : *along == tile.rowLoop ? rows
                                           : ranges[*along];
  int64_t uses = columns
                     ? llvm::divideCeil(ranges[tile.rowLoop], rows)
                     : llvm::divideCeil(ranges[tile.columnLoop], tile.columns);
  SmallVector<PanelReader> readers{{&input, uses}};
  if (columns)
    llvm::append_range(readers, otherReaders(input, width));
  std::optional<Panels> panels = packPanels(rewriter, readers, width);
  if (!panels)
    return panels;
  for (LinalgOp copy : panels->copies)
    scheduleOther(copy);
  for (const PanelReader &reader : ArrayRef(readers).drop_front()) {
    unsigned operand = reader.input->getOperandNumber();
    Panels &given = shared[{reader.input->getOwner(), operand}] = *panels;
    given.operand = operand;
    given.copies.clear();
  }
  return panels;
}

/// The other dots that read a matrix in panels of one width: those of the rows
/// that blocks leave over have the same ones.
SmallVector<PanelReader> Scheduler::otherReaders(OpOperand &input,
                                                 int64_t width) {
  SmallVector<PanelReader> readers;
  for (OpOperand &use : input.get().getUses()) {
    auto dot = dyn_cast<LinalgOp>(use.getOwner());
    if (!dot || dot == input.getOwner() || !dot.isDpsInput(&use) ||
        dot.getNumParallelLoops() < 2 || failed(dotDimensions(dot)) ||
        isPairDot(dot))
      continue;
    AffineMap map = dot.getMatchingIndexingMap(&use);
    DotTile tile = tileOf(dot);
    int64_t rows = dot.getStaticLoopRanges()[tile.rowLoop];
    if (tile.columns == width && map.getNumResults() == 2 &&
        innermostLoop(map) == tile.columnLoop && !ShapedType::isDynamic(rows))
      readers.push_back(
          {&use, int64_t(llvm::divideCeil(
                     rows, llvm::bit_floor<uint64_t>(tile.rows)))});
  }
  return readers;
}

/// Returns the panels that the dot reads.
SmallVector<Panels> Scheduler::scheduleDot(LinalgOp op,
                                           SmallVector<LinalgOp> chain,
                                           SmallVector<Panels> panels) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  FailureOr<linalg::ContractionDimensions> dims = dotDimensions(op);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  TilePlan plan;
  plan.chain = std::move(chain);
  plan.panels = std::move(panels);
  // Forgotten at once: another op may get the place of this one.
  if (auto known = triangles.find(op); known != triangles.end()) {
    plan.triangle = known->second;
    triangles.erase(known);
  }
  plan.pieces.resize(ranges.size());
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    unsigned loop = map.getDimPosition(i);
    plan.pieces[loop] = cutExtent(ranges[loop], 1);
    plan.order.push_back(loop);
  }
  DotTile tile = tileOf(op);
  plan.pieces[tile.columnLoop] =
      cutExtent(ranges[tile.columnLoop], tile.columns);
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto packed = llvm::find_if(plan.panels, [&](const Panels &known) {
      return known.operand == input->getOperandNumber();
    });
    if (packed == plan.panels.end()) {
      std::optional<Panels> made = pack(op, *input);
      if (!made)
        continue;
      plan.panels.push_back(std::move(*made));
    }
    // One panel serves all rows before the next one is loaded.
    if (innermostLoop(op.getMatchingIndexingMap(input)) == tile.columnLoop)
      std::swap(plan.order[plan.order.size() - 2], plan.order.back());
  }
  // Tiles lie within panels; and where sums have several loops, what runs along
  // the rows is read in vectors.
  bool several = dims->k.size() > 1;
  bool wholeVectors =
      llvm::any_of(op.getDpsInputOperands(),
                   [&](OpOperand *input) {
                     return several &&
                            innermostLoop(op.getMatchingIndexingMap(input)) ==
                                tile.rowLoop;
                   }) ||
      llvm::any_of(plan.panels, [&](const Panels &panels) {
        return innermostLoop(op.getMatchingIndexingMap(
                   &op->getOpOperand(panels.operand))) == tile.rowLoop;
      });
  plan.pieces[tile.rowLoop] =
      (wholeVectors ? cutExtent : cutRows)(ranges[tile.rowLoop], tile.rows);
  for (auto [i, k] : llvm::enumerate(dims->k)) {
    bool last = i + 1 == dims->k.size();
    plan.pieces[k] = cutReduction(ranges[k], last ? tiles.dotSteps : 1);
    plan.order.push_back(k);
  }
  if (isPairDot(op)) {
    // Whole pairs, and as many as a tile register has.
    plan.pieces[3] = {{0, 2, 1}};
    plan.pieces[2] = cutExtent(ranges[2], tiles.pairSteps);
  }
  // A column by itself is a vector of rows.
  SmallVector<Piece> &columns = plan.pieces[tile.columnLoop];
  if (!columns.empty() && columns.back().size == 1 &&
      !llvm::all_of(plan.pieces[tile.rowLoop], [](const Piece &rows) {
        return llvm::isPowerOf2_64(rows.size);
      })) {
    plan.rest = plan.pieces;
    plan.rest[tile.rowLoop] = cutExtent(ranges[tile.rowLoop], tile.rows);
    plan.rest[tile.columnLoop] = {columns.pop_back_val()};
    if (columns.empty())
      plan.pieces = std::exchange(plan.rest, {});
  }
  emitTiles(rewriter, plan);
  return std::move(plan.panels);
}

/// Cuts the long reductions of dots into one loop over blocks, as `DeepDots`
/// says. What can be packed outside of the loops around them is packed whole
/// before; what several read of one block is packed once.
void Scheduler::scheduleDeepDots(
    MutableArrayRef<SmallVector<LinalgOp>> chains) {
  SmallVector<LinalgOp> dots;
  SmallVector<SmallVector<Panels>> whole;
  for (ArrayRef<LinalgOp> chain : chains) {
    LinalgOp dot = dots.emplace_back(chain.front());
    SmallVector<Panels> &panels = whole.emplace_back();
    for (OpOperand *input : dot.getDpsInputOperands())
      if (outermostUser(input->get(), dot) != dot.getOperation())
        if (std::optional<Panels> made = pack(dot, *input))
          panels.push_back(std::move(*made));
  }
  DeepDots deep(rewriter, dots);
  for (ArrayRef<LinalgOp> parts : deep.parts) {
    // Along the inner dimension there is one panel for all.
    SmallVector<std::pair<Value, Panels>> shared;
    for (unsigned i = 0; i < parts.size(); ++i) {
      LinalgOp part = parts[i];
      SmallVector<Value> alongInner(part->getNumOperands());
      unsigned inner = dotDimensions(part)->k.front();
      for (OpOperand *input : part.getDpsInputOperands())
        if (innermostLoop(part.getMatchingIndexingMap(input)) == inner)
          alongInner[input->getOperandNumber()] = input->get();
      SmallVector<Panels> panels = whole[i];
      for (Panels &packed : panels)
        if (auto slice = part->getOperand(packed.operand)
                             .getDefiningOp<tensor::ExtractSliceOp>())
          std::tie(packed.firstRow, packed.firstColumn) =
              std::pair(slice.getMixedOffsets()[0], slice.getMixedOffsets()[1]);
      for (auto &[value, packed] : shared)
        if (auto operand = llvm::find(alongInner, value);
            operand != alongInner.end()) {
          panels.push_back(packed);
          panels.back().operand = operand - alongInner.begin();
        }
      SmallVector<LinalgOp> chain{part};
      if (parts.data() == deep.parts.back().data()) {
        chain = std::move(chains[i]);
        chain.front() = part;
      }
      for (Panels &used : scheduleDot(part, std::move(chain), panels))
        if (Value value = alongInner[used.operand])
          shared.emplace_back(value, used);
    }
  }
}

/// Sums stay in registers when their loops are the inner ones. But operands
/// that are too large for the cache are read in the order in which they lie in
/// memory, or hardware does not fetch them ahead; sums then stay in the cache.
SmallVector<unsigned> Scheduler::loopOrder(LinalgOp op) {
  SmallVector<unsigned> order;
  int64_t bytes = 0, largest = 0;
  AffineMap memoryOrder;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    Type element = type.getElementType();
    int64_t size = element.isIndex()
                       ? 8
                       : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    for (int64_t extent : type.getShape())
      size *= ShapedType::isDynamic(extent) ? assumedExtent : extent;
    bytes += size;
    if (size > largest) {
      largest = size;
      memoryOrder = op.getMatchingIndexingMap(&operand);
    }
  }
  if (bytes > cacheBytes && memoryOrder.isPermutation()) {
    for (AffineExpr expr : memoryOrder.getResults())
      order.push_back(cast<AffineDimExpr>(expr).getPosition());
    // The last loop is the vector's; sums over the loops around it can stay
    // in registers all the same.
    auto iterators = op.getIteratorTypesArray();
    if (iterators[order.back()] == utils::IteratorType::parallel) {
      unsigned at = order.size() - 1;
      while (at > 0 &&
             iterators[order[at - 1]] == utils::IteratorType::reduction)
        --at;
      // Not past all of them: that would be the strided order again.
      if (at > 0)
        std::rotate(order.begin() + at, order.end() - 1, order.end());
    }
    return order;
  }
  auto iterators = op.getIteratorTypesArray();
  for (auto type :
       {utils::IteratorType::parallel, utils::IteratorType::reduction})
    for (unsigned i = 0; i < op.getNumLoops(); ++i)
      if (iterators[i] == type)
        order.push_back(i);
  return order;
}

/// The reductions inside all parallel loops.
static ArrayRef<unsigned> innerReductions(LinalgOp op,
                                          ArrayRef<unsigned> order) {
  auto iterators = op.getIteratorTypesArray();
  unsigned inner = 0;
  while (inner < order.size() && iterators[order[order.size() - 1 - inner]] ==
                                     utils::IteratorType::reduction)
    ++inner;
  return order.take_back(inner);
}

/// Whether what lacks `loop` lacks all inner reductions, and so stays in
/// registers through them: sums of lanes have no other place.
static bool sumsStay(LinalgOp op, unsigned loop, ArrayRef<unsigned> order) {
  ArrayRef<unsigned> inner = innerReductions(op, order);
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return map.isFunctionOfDim(loop) ||
           llvm::none_of(inner, [&](unsigned other) {
             return map.isFunctionOfDim(other);
           });
  });
}

/// The map of the result that takes part in most loops, and so says best what
/// runs along memory.
static AffineMap widestResult(LinalgOp op) {
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.getMatchingIndexingMap(&init).getNumResults() > out.getNumResults())
      out = op.getMatchingIndexingMap(&init);
  return out;
}

/// The loop that vectors run along, if there is one.
static std::optional<unsigned> loopOfVectors(LinalgOp op) {
  std::optional<unsigned> along = innermostLoop(widestResult(op));
  if (isParallelOnly(op))
    return along;
  // Sums along memory: read along memory all the same.
  // So does a narrow result, along whatever is long.
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  bool outIsRead = false;
  std::optional<unsigned> read;
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto loop = innermostLoop(op.getMatchingIndexingMap(input))) {
      outIsRead |= loop == along;
      if (!read || ranges[*loop] > ranges[*read])
        read = loop;
    }
  if (read && (!along || !outIsRead ||
               (ranges[*along] < 4 && ranges[*read] > ranges[*along])))
    return read;
  return along;
}

static int64_t operationsOfPoint(LinalgOp op) {
  return op.getBlock()->getOperations().size();
}

/// Tiles of an op whose vectors run along `along`. `across` is the loop that an
/// operand runs along instead, if there is one.
SmallVector<int64_t>
Scheduler::tilesAlong(LinalgOp op, unsigned along,
                      std::optional<unsigned> &across) const {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<int64_t> sizes(ranges.size(), 1);
  int64_t sums = isParallelOnly(op) ? 1 : op->getNumResults();
  int64_t width = scaled(op, std::max(tiles.lanes, tiles.width / sums));
  // Long bodies have enough to do beside each other in one vector; several
  // would only pass through memory.
  if (isParallelOnly(op))
    while (width > scaled(op, tiles.lanes) &&
           operationsOfPoint(op) * width > longBody * scaled(op, tiles.lanes))
      width /= 2;
  sizes[along] = width;
  if (!isParallelOnly(op))
    return sizes;
  // Short rows: as many of them as fill the width.
  AffineMap out = widestResult(op);
  int64_t row = llvm::bit_floor<uint64_t>(
      std::max<int64_t>(1, std::min(ranges[along], width)));
  if (out.getNumResults() >= 2 && row < width) {
    unsigned outer = cast<AffineDimExpr>(out.getResult(out.getNumResults() - 2))
                         .getPosition();
    sizes[outer] = std::clamp<int64_t>(mostInBlock / operationsOfPoint(op), 1,
                                       width / row);
  }
  // An operand that runs the other way is transposed in squares.
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    std::optional<unsigned> other = innermostLoop(map);
    if (!other || other == along || !map.isFunctionOfDim(along))
      continue;
    sizes.assign(ranges.size(), 1);
    sizes[along] = sizes[*other] = std::min<int64_t>(8, scaled(op, 8));
    across = other;
  }
  return sizes;
}

/// Whether sums over `along`, the loop of vectors, are kept by lanes.
static bool keepsLaneSums(LinalgOp op, unsigned along, const TilePlan &plan) {
  return op.getIteratorTypesArray()[along] == utils::IteratorType::reduction &&
         llvm::is_contained(innerReductions(op, plan.order), along) &&
         !plan.pieces[along].empty() && plan.pieces[along].front().size > 1 &&
         !op->hasAttr(inOrderAttr) && hasLaneSums(op, along) &&
         sumsStay(op, along, plan.order);
}

/// Whether the tiles are few and small enough to get no loops. A vector along
/// `along` is one operation.
static bool isUnrolled(LinalgOp op, std::optional<unsigned> along,
                       const TilePlan &plan) {
  int64_t count = 1;
  for (ArrayRef<Piece> pieces : plan.pieces) {
    int64_t ofLoop = 0;
    for (const Piece &piece : pieces)
      ofLoop += piece.isOpen() ? assumedExtent : piece.count;
    count *= ofLoop;
  }
  if (count > mostUnrolled)
    return false;
  int64_t operations = count * operationsOfPoint(op);
  for (auto [loop, pieces] : llvm::enumerate(plan.pieces))
    if (loop != along && !pieces.empty())
      operations *= pieces.front().size;
  return operations <= mostInBlock;
}

void Scheduler::scheduleOther(LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  // Nothing to tile; maps that are not plain dimensions have no tiles.
  bool plain = llvm::all_of(op.getIndexingMapsArray(), isPermutationOfDims);
  if (ranges.empty() || hasBooleanTensor(op) || !plain)
    return emitScalarLoops(rewriter, op);

  TilePlan plan;
  plan.chain = {op};
  std::optional<unsigned> along = loopOfVectors(op), across;
  SmallVector<int64_t> sizes(ranges.size(), 1);
  if (along)
    sizes = tilesAlong(op, *along, across);
  for (auto [range, size] : llvm::zip_equal(ranges, sizes))
    plan.pieces.push_back(cutExtent(range, size));
  // Each body of a large program is compiled once for each piece.
  if (along && !across && gainsByCovering(op))
    plan.pieces[*along] = coverExtent(ranges[*along], sizes[*along]);
  plan.order = loopOrder(op);
  // Squares follow the operand in memory: it may come from far away, and the
  // result does not.
  if (across) {
    llvm::erase(plan.order, *across);
    plan.order.push_back(*across);
  }
  if (along && keepsLaneSums(op, *along, plan)) {
    ArrayRef<Piece> pieces = plan.pieces[*along];
    if (pieces.size() > 1) {
      // The whole tiles first; what is left goes on from their result.
      int64_t whole = pieces.front().size * pieces.front().count;
      rewriter.setInsertionPoint(op);
      auto [main, rest] =
          linalg::splitOp(rewriter, cast<TilingInterface>(op.getOperation()),
                          *along, rewriter.getIndexAttr(whole));
      for (TilingInterface part : {main, rest})
        if (part)
          scheduleOther(cast<LinalgOp>(part.getOperation()));
      return;
    }
    plan.lanes = along;
    coverFewRows(op, *along, plan);
  }
  plan.unroll = isUnrolled(op, along, plan);
  emitTiles(rewriter, plan);
}

void Scheduler::schedule(Block &block) {
  // Ops over nothing: each result is what it starts from.
  for (LinalgOp op : llvm::make_early_inc_range(block.getOps<LinalgOp>()))
    if (llvm::is_contained(op.getStaticLoopRanges(), 0))
      rewriter.replaceOp(op, op.getDpsInits());
  SmallVector<LinalgOp> ops(block.getOps<LinalgOp>());
  llvm::erase_if(ops, [](LinalgOp op) { return isa<linalg::FillOp>(op); });
  DenseSet<Operation *> done;
  // Chains are decided on before anything is tiled: the new loops would count
  // as readers, and every intermediate value would be stored.
  SmallVector<SmallVector<LinalgOp>> chains;
  for (LinalgOp op : ops) {
    if (failed(dotDimensions(op)))
      continue;
    std::optional<Triangle> triangle = triangleOf(op);
    if (triangle && !isDeep(op))
      triangles[op] = *triangle;
    bool alone = isPairDot(op) && tiles.pairsInTiles;
    chains.push_back(alone ? SmallVector<LinalgOp>{op}
                           : consumersInRegisters(op, block, done));
    for (LinalgOp member : chains.back())
      done.insert(member);
  }
  // Dots are replaced on the way.
  auto others =
      std::stable_partition(chains.begin(), chains.end(),
                            [](auto &chain) { return isDeep(chain.front()); });
  for (auto &group : groupDeepDots({chains.begin(), others}))
    scheduleDeepDots(group);
  for (SmallVector<LinalgOp> &chain : llvm::make_range(others, chains.end()))
    scheduleDot(LinalgOp(chain.front()), chain);
  for (LinalgOp op : ops)
    if (!done.contains(op)) {
      // Tiles may have taken over what it was there for.
      if (op->use_empty())
        rewriter.eraseOp(op);
      else
        scheduleOther(op);
    }
  // Readers have taken over most fills, tile by tile. The rest fill whole
  // tensors.
  for (linalg::FillOp fill :
       llvm::make_early_inc_range(block.getOps<linalg::FillOp>()))
    scheduleOther(fill);
}

struct CpuTileAndVectorize
    : impl::CpuTileAndVectorizeBase<CpuTileAndVectorize> {
  using CpuTileAndVectorizeBase::CpuTileAndVectorizeBase;

  LogicalResult checkTensors(func::FuncOp function);
  LogicalResult vectorize(IRRewriter &rewriter, func::FuncOp function);
  void runOnOperation() override;
};

/// What no later step can handle is named here, where the source is near.
LogicalResult CpuTileAndVectorize::checkTensors(func::FuncOp function) {
  bool isOpen =
      llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned i) {
        return function.getArgAttr(i, extentsAttr);
      });
  // It would be as slow as if there were no blocks, and a sum would have
  // another order than in a program for one call. Only the sums of blocks have
  // the same in both.
  auto isLeft = [&](LinalgOp op) {
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    auto iterators = op.getIteratorTypesArray();
    return isOpen && !op->getParentOfType<scf::ForallOp>() &&
           llvm::any_of(llvm::seq<size_t>(ranges.size()), [&](size_t loop) {
             return ShapedType::isDynamic(ranges[loop]) &&
                    (iterators[loop] == utils::IteratorType::parallel ||
                     !op->hasAttr(inOrderAttr));
           });
  };
  WalkResult result = function.walk([&](LinalgOp op) -> WalkResult {
    if (isLeft(op)) {
      op->emitOpError(
          "is in no block program, and has an open extent; give the "
          "function's arguments static shapes");
      return WalkResult::interrupt();
    }
    if (op.hasPureTensorSemantics())
      return WalkResult::advance();
    op->emitOpError("works on memory; the CPU's scheduler takes tensors");
    return WalkResult::interrupt();
  });
  if (!result.wasInterrupted())
    result = function.walk([&](cf::AssertOp op) -> WalkResult {
      op.emitOpError("is not known to hold ('")
          << op.getMsg() << "'), and compiled programs check nothing but the "
          << "extents of their arguments";
      return WalkResult::interrupt();
    });
  return failure(result.wasInterrupted());
}

LogicalResult CpuTileAndVectorize::vectorize(IRRewriter &rewriter,
                                             func::FuncOp function) {
  MLIRContext *context = &getContext();
  {
    RewritePatternSet patterns(context);
    linalg::ControlDropUnitDims control;
    control.rankReductionStrategy =
        linalg::ControlDropUnitDims::RankReductionStrategy::ExtractInsertSlice;
    linalg::populateFoldUnitExtentDimsPatterns(patterns, control);
    addCanonicalizationPatterns(patterns);
    if (failed(applyPatternsGreedily(function, std::move(patterns))))
      return failure();
  }
  SmallVector<LinalgOp> ops;
  function.walk([&](LinalgOp op) { ops.push_back(op); });
  for (LinalgOp op : ops) {
    rewriter.setInsertionPoint(op);
    Operation *before = op->getPrevNode();
    // Rank 0 has no vectors that are worth the name.
    bool scalar = op.getNumLoops() == 0;
    FailureOr<linalg::VectorizationResult> vectors = failure();
    if (!scalar && succeeded(linalg::vectorizeOpPrecondition(
                       op, {}, {}, /*vectorizeNDExtract=*/false)))
      vectors = linalg::vectorize(rewriter, op, {}, {},
                                  /*vectorizeNDExtract=*/false,
                                  /*flatten1DDepthwiseConv=*/false,
                                  /*assumeDynamicDimsMatchVecSizes=*/false,
                                  /*createNamedContraction=*/true);
    if (succeeded(vectors)) {
      if (op->hasAttr(block::withinRowsAttr))
        for (Operation *made = before ? before->getNextNode()
                                      : &op->getBlock()->front();
             made != op; made = made->getNextNode())
          if (llvm::isa<vector::MultiDimReductionOp>(made))
            made->setAttr(block::withinRowsAttr, rewriter.getUnitAttr());
      rewriter.replaceOp(op, vectors->replacements);
    } else
      emitScalarLoops(rewriter, op);
  }
  return success();
}

void CpuTileAndVectorize::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal())
    return;
  llvm::Expected<const InstructionSet *> set = findInstructionSet(isa);
  if (!set) {
    function.emitError(llvm::toString(set.takeError()));
    return signalPassFailure();
  }
  auto choose = [](int64_t option, int64_t standard) {
    return option > 0 ? option : standard;
  };
  Tiles tiles{choose(dotRows, (*set)->dotRows),
              // Tiles are cut into powers of two, and lie within panels.
              int64_t(llvm::bit_floor<uint64_t>(
                  choose(dotColumns, (*set)->dotColumns))),
              choose(dotSteps, (*set)->dotSteps), choose(width, (*set)->width),
              (*set)->vectorBytes / 4, fusedOps, (*set)->pairRows,
              (*set)->pairColumns, (*set)->pairSteps,
              (*set)->pairUnit == PairUnit::Tiles ||
                  (*set)->pairUnit == PairUnit::ReplacedTiles};
  IRRewriter rewriter(&getContext());
  if (failed(checkTensors(function)) ||
      failed(prepareTensors(rewriter, function,
                            (*set)->pairUnit != PairUnit::None)))
    return signalPassFailure();

  // From the innermost out and from the last: what makes an operand of theirs
  // may be computed on the way into panels, and is still whole then.
  llvm::SetVector<Block *> found;
  function.walk([&](LinalgOp op) { found.insert(op->getBlock()); });
  SmallVector<Block *> blocks(llvm::reverse(found.getArrayRef()));
  llvm::stable_sort(blocks, [](Block *a, Block *b) {
    auto depth = [](Block *block) {
      int64_t count = 0;
      for (Operation *op = block->getParentOp(); op; op = op->getParentOp())
        ++count;
      return count;
    };
    return depth(a) > depth(b);
  });
  // Those in the bodies of structured ops, too: each becomes an operation on
  // vectors for each tile.
  int64_t sourceOps = 0;
  function.walk([&](Operation *) { ++sourceOps; });
  Builder builder(&getContext());
  function->setAttr(sourceOpsAttr, builder.getI64IntegerAttr(sourceOps));
  Scheduler scheduler(rewriter, tiles);
  for (Block *block : blocks)
    scheduler.schedule(*block);
  if (failed(vectorize(rewriter, function)) || failed(foldSlices(function)))
    return signalPassFailure();
  hoistTiles(rewriter, function);
  // The tiles that only carried a sum into its loop and out are gone now.
  if (failed(foldSlices(function)) || failed(takeScalarsAsSuch(function)))
    return signalPassFailure();
  function.walk([&](vector::MultiDimReductionOp op) {
    if (isWithinRow(op))
      op->setAttr(block::withinRowsAttr, builder.getUnitAttr());
  });
}

} // namespace
} // namespace drawloom::cpu
