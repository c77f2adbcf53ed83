//===- RowCost.cpp - how to cut a region of row ops -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Block/Rows/RowCost.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Block/Products.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace drawloom {

static int64_t elementBytes(RankedTensorType type) {
  return llvm::divideCeil(
      type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth(), 8);
}

static int64_t bytesOf(RankedTensorType type) {
  return type.getNumElements() * elementBytes(type);
}

/// The value whose memory a reshaped one is.
static Value storageOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            op) ||
        op->hasAttr(joinedRowsAttr) || !tensorType(op->getOperand(0)))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static bool hasProducts(const RowRegion &region) {
  return llvm::any_of(region.ops, [](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    return linalgOp && linalg::isaContractionOpInterface(linalgOp);
  });
}

/// Whether there is an op of another kind that maps rows to rows.
static bool hasOthers(const RowRegion &region) {
  return llvm::any_of(region.ops, [](Operation *op) {
    return isRowwise(op) && !isa<linalg::LinalgOp>(op);
  });
}

/// Bytes of the sums over rows that a block of these ops would carry.
static int64_t sumBytesOf(const RowRegion &region, RowAnalysis &rows) {
  int64_t bytes = 0;
  for (Operation *op : region.ops)
    for (Value result : op->getResults())
      if (isa<linalg::LinalgOp>(op) && tensorType(result) &&
          !rows.rowDim(result))
        bytes += bytesOf(tensorType(result));
  return bytes;
}

/// Blocks of 64 rows with a wide product, or of 32 where those are fewer.
static constexpr int64_t fewestWideBlocks = 16;

/// Whether only what stays within a region has to fit.
static bool isWide(const RowRegion &region, RowAnalysis &rows,
                   const RowFootprint &footprint,
                   const RowCostOptions &options) {
  if (!options.wideProducts || options.tileRows ||
      (!hasProducts(region) && !hasOthers(region)) ||
      footprint.tileBytesPerRow * options.maxRows <= options.cacheBytes ||
      sumBytesOf(region, rows) > options.cacheBytes)
    return false;
  if (rows.isOpen() || rows.isOfCall())
    return true;
  // One of few rows is cut along both sides.
  return rows.rows() >= fewestWideBlocks * options.maxRows / 2;
}

RowFootprint measureRows(const RowRegion &region, RowAnalysis &rows,
                         const RowCostOptions &options) {
  RowFootprint footprint;
  DenseSet<Operation *> members(region.ops.begin(), region.ops.end());
  auto bytesPerRow = [&](Value value) {
    RankedTensorType type = tensorType(value);
    std::optional<unsigned> rowDim = rows.rowDim(value);
    if (!rowDim)
      return bytesOf(type) / std::max<int64_t>(1, rows.rows());
    int64_t bytes = elementBytes(type);
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      bytes *= dim == *rowDim ? 1 : extent;
    return bytes;
  };
  DenseMap<Value, unsigned> lastUse;
  llvm::SetVector<Value> uniform;
  for (auto [i, op] : llvm::enumerate(region.ops)) {
    for (Value operand : op->getOperands()) {
      if (!tensorType(operand) || isInit(operand))
        continue;
      if (rows.rowDim(operand))
        lastUse[storageOf(operand)] = i;
      else if (isa<linalg::LinalgOp>(op))
        // A table that rows look up is not resident: only what is swept is.
        uniform.insert(operand);
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      int64_t work =
          linalgOp.getBlock()->without_terminator().empty()
              ? 1
              : llvm::range_size(linalgOp.getBlock()->without_terminator());
      std::optional<unsigned> rowLoop = rows.rowLoop(op);
      for (auto [loop, range] : llvm::enumerate(linalgOp.getStaticLoopRanges()))
        work *= rowLoop == loop ? 1 : range;
      footprint.operationsPerRow += work;
    }
  }
  SmallVector<SmallVector<Value>> ends(region.ops.size());
  for (auto [value, last] : lastUse)
    ends[last].push_back(value);
  auto staysInside = [&](Value value) {
    // Where a sum only goes on from it, its memory is that of the sum.
    while (value.hasOneUse()) {
      auto user = dyn_cast<linalg::LinalgOp>(*value.getUsers().begin());
      if (!user || !members.contains(user) ||
          !user.isDpsInit(&*value.use_begin()))
        break;
      value = user.getTiedOpResult(&*value.use_begin());
    }
    return members.contains(value.getDefiningOp()) &&
           llvm::all_of(value.getUsers(), [&](Operation *user) {
             return members.contains(user);
           });
  };
  auto mostAlive = [&](llvm::function_ref<bool(Value)> counts) {
    DenseSet<Value> seen;
    int64_t live = 0, most = 0;
    for (auto [i, op] : llvm::enumerate(region.ops)) {
      for (Value operand : op->getOperands()) {
        Value storage = storageOf(operand);
        if (lastUse.count(storage) && counts(storage) &&
            seen.insert(storage).second)
          live += bytesPerRow(storage);
      }
      for (Value result : op->getResults())
        if (tensorType(result) && rows.rowDim(result) &&
            storageOf(result) == result && counts(result) &&
            seen.insert(result).second)
          live += bytesPerRow(result);
      most = std::max(most, live);
      for (Value value : ends[i])
        if (seen.count(value))
          live -= bytesPerRow(value);
    }
    return most;
  };
  footprint.tileBytesPerRow = mostAlive([](Value) { return true; });
  for (Value value : uniform)
    footprint.uniformBytes += bytesOf(tensorType(value));
  for (const RowPartial &partial : region.partials)
    footprint.accumulatorBytes += bytesOf(partial.type());
  if (isWide(region, rows, footprint, options)) {
    footprint.isWide = true;
    footprint.tileBytesPerRow = mostAlive(staysInside);
  }
  return footprint;
}

/// Products of matrices work on sixteen rows at least.
static int64_t minRowsOf(const RowRegion &region,
                         const RowCostOptions &options) {
  return hasProducts(region) ? std::max<int64_t>(16, options.minRows)
                             : options.minRows;
}

int64_t tileBudget(const RowRegion &region, RowAnalysis &rows,
                   const RowCostOptions &options) {
  int64_t bytes = 0;
  if (hasProducts(region))
    bytes = sumBytesOf(region, rows) ? options.summedProductBytes
                                     : options.productBytes;
  return bytes ? bytes : options.cacheBytes;
}

SmallVector<RowRegion> splitToFit(const RowRegion &region, RowAnalysis &rows,
                                  const RowCostOptions &options) {
  auto atMostAll = [&](int64_t count) {
    return rows.isOpen() || rows.isOfCall() ? count
                                            : std::min(count, rows.rows());
  };
  int64_t most =
      atMostAll(options.tileRows ? options.tileRows : options.maxRows);
  auto fits = [&](const RowRegion &candidate) {
    int64_t least =
        options.tileRows ? options.tileRows : minRowsOf(candidate, options);
    least = atMostAll(least);
    if (options.sumBytes && sumBytesOf(candidate, rows) > options.sumBytes)
      return false;
    RowFootprint footprint = measureRows(candidate, rows, options);
    if (footprint.isWide)
      return footprint.workingSet(most) <= options.cacheBytes;
    // Where little may be swept, much of it costs room for rows.
    int64_t swept = footprint.uniformBytes + footprint.accumulatorBytes;
    if (options.sweptBytes >= swept)
      return footprint.workingSet(least) <= options.cacheBytes;
    return footprint.workingSet(most) <= options.cacheBytes ||
           footprint.workingSet(least) + swept <=
               options.cacheBytes + options.sweptBytes;
  };
  if (fits(region))
    return {region};
  SmallVector<RowRegion> pieces;
  RowRegion piece;
  for (Operation *op : region.ops) {
    piece.ops.push_back(op);
    // What moves no data belongs to what comes before it, or to the first.
    bool free = isStructural(op);
    bool first = llvm::all_of(ArrayRef(piece.ops).drop_back(), isStructural);
    if (free || first || fits(piece))
      continue;
    piece.ops.pop_back();
    pieces.push_back(std::move(piece));
    piece = RowRegion();
    piece.ops.push_back(op);
  }
  pieces.push_back(std::move(piece));
  return pieces;
}

/// Extents of parts of the only sum of a region that blocks can carry; empty
/// where they carry all of it.
static SmallVector<int64_t> partOfSum(const RowRegion &region,
                                      const RowCostOptions &options) {
  if (!options.sumPartBytes || region.ops.size() != 1 ||
      region.partials.size() != 1 || !region.results.empty())
    return {};
  const RowPartial &partial = region.partials.front();
  auto op = dyn_cast<linalg::LinalgOp>(region.ops.front());
  if (!op ||
      !op.getIndexingMapMatchingResult(partial.value).isProjectedPermutation())
    return {};
  SmallVector<int64_t> part(partial.type().getShape());
  int64_t element = bytesOf(partial.type()) / partial.type().getNumElements();
  while (llvm::product_of(part) * element > options.sumPartBytes) {
    // Square parts read the least.
    int64_t *longest = nullptr;
    for (int64_t &extent : part)
      if (extent % 2 == 0 && extent >= 32 && (!longest || extent > *longest))
        longest = &extent;
    if (!longest)
      return {};
    *longest /= 2;
  }
  if (ArrayRef(part) == partial.type().getShape())
    return {};
  return part;
}

/// Whether the order of a sum depends on how many rows a tile has. Where rows
/// lie side by side in memory, targets put them into the lanes of vectors, as
/// many as the tile has rows for, and add otherwise where it has few. Products
/// of bf16 may be added two by two, of rows that come in pairs. Where another
/// sum goes around that over rows, each of its steps adds all rows of the tile.
static bool addsByTiles(const RowRegion &region, RowAnalysis &rows) {
  return llvm::any_of(region.ops, [&](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    std::optional<unsigned> loop = rows.rowLoop(op);
    if (!linalgOp || !loop ||
        linalgOp.getNumParallelLoops() == linalgOp.getNumLoops())
      return false;
    SmallVector<utils::IteratorType> iterators =
        linalgOp.getIteratorTypesArray();
    if (linalg::isReductionIterator(iterators[*loop]) &&
        llvm::any_of(ArrayRef(iterators).take_front(*loop),
                     linalg::isReductionIterator))
      return true;
    if (linalg::isReductionIterator(iterators[*loop]) &&
        isPlainProduct(linalgOp) &&
        llvm::all_of(linalgOp.getDpsInputs(), [](Value input) {
          return getElementTypeOrSelf(input.getType()).isBF16();
        }))
      return true;
    return llvm::any_of(linalgOp.getIndexingMapsArray(), [&](AffineMap map) {
      return map.getNumResults() > 0 &&
             map.getResults().back().isFunctionOfDim(*loop);
    });
  });
}

/// What partial sums of all blocks should take, bytes.
static constexpr int64_t partialBytes = 7 * 1024 * 1024;

std::optional<RowSchedule> scheduleRows(const RowRegion &region,
                                        RowAnalysis &analysis,
                                        const RowFootprint &footprint,
                                        const RowCostOptions &options) {
  RowSchedule schedule;
  int64_t rows = analysis.rows();
  schedule.tileRows = options.tileRows;
  int64_t least = minRowsOf(region, options);
  int64_t budget = tileBudget(region, analysis, options);
  bool isChosen = options.chosenBytes && hasProducts(region) &&
                  sumBytesOf(region, analysis);
  int64_t most = options.maxRows;
  if (!hasProducts(region) && !analysis.isOpen() && !analysis.isOfCall())
    while (2 * most <= options.maxPlainRows &&
           rows / (2 * most) >= options.maxBlocks)
      most *= 2;
  for (int64_t candidate = most; candidate >= least; candidate /= 2)
    if (!schedule.tileRows &&
        footprint.workingSet(candidate) <=
            (isChosen && candidate / 2 >= least ? options.chosenBytes : budget))
      schedule.tileRows = candidate;
  if (!schedule.tileRows)
    return std::nullopt;
  // A wide product keeps the machine busy with few rows, too.
  if (footprint.isWide && !analysis.isOpen() && !analysis.isOfCall() &&
      rows < fewestWideBlocks * schedule.tileRows)
    schedule.tileRows = std::max(least, schedule.tileRows / 2);
  schedule.restInSteps = analysis.isOpen() ||
                         (analysis.isOfCall() && addsByTiles(region, analysis));
  if (!schedule.restInSteps)
    schedule.tileRows = std::min(schedule.tileRows, rows);
  schedule.sumPart = partOfSum(region, options);
  if (region.partials.empty())
    return schedule;
  schedule.mostBlocks = options.maxBlocks;
  // Where memory for them counts, half as many blocks keep machines busy, too.
  if (options.operationsPerSumByte && footprint.accumulatorBytes > 0)
    schedule.mostBlocks = std::clamp(
        partialBytes / footprint.accumulatorBytes,
        std::max<int64_t>(1, options.maxBlocks / 2), options.maxBlocks);
  if (!schedule.sumPart.empty())
    schedule.mostBlocks = std::max<int64_t>(
        1, schedule.mostBlocks * llvm::product_of(schedule.sumPart) /
               region.partials.front().type().getNumElements());
  // A block writes its partials once and the second stage reads them once.
  int64_t workPerTile =
      std::max<int64_t>(1, footprint.operationsPerRow * schedule.tileRows);
  schedule.enoughTiles = llvm::divideCeil(2 * footprint.accumulatorBytes *
                                              options.operationsPerSumByte,
                                          workPerTile);
  return schedule;
}

RowBlocks blocksOf(const RowSchedule &schedule, OpFoldResult rows,
                   IndexMath math) {
  RowBlocks blocks;
  OpFoldResult tileRows = math.number(schedule.tileRows);
  OpFoldResult tiles = math.floorDiv(rows, tileRows);
  blocks.rest = math.rem(rows, tileRows);
  blocks.tilesPerBlock = math.number(1);
  if (schedule.mostBlocks > 0)
    blocks.tilesPerBlock =
        math.max(blocks.tilesPerBlock,
                 math.max(math.ceilDiv(tiles, math.number(schedule.mostBlocks)),
                          math.min(math.floorDiv(tiles, math.number(8)),
                                   math.number(schedule.enoughTiles))));
  blocks.count = math.ceilDiv(tiles, blocks.tilesPerBlock);
  return blocks;
}

} // namespace drawloom
