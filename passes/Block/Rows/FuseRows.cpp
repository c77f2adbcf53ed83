//===- FuseRows.cpp - fusion along rows -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Drawloom/Attributes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Block/Passes.h"
#include "passes/Block/Products.h"
#include "passes/Block/Rows/CutColumns.h"
#include "passes/Block/Rows/FusedRows.h"
#include "passes/Block/Rows/RowCost.h"
#include "passes/Block/Rows/RowMaterialize.h"
#include "passes/Block/Rows/RowPreparation.h"
#include "passes/Graph/OpenExtents.h"
#include <utility>

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_FUSEROWS
#include "passes/Block/Passes.h.inc"

namespace {

constexpr remark::RemarkOpts remarkOptions(StringRef name) {
  return remark::RemarkOpts::name(name).category("fuse-rows");
}

void reportMissed(Operation *op, const Twine &reason) {
  remark::missed(op->getLoc(), remarkOptions("NotFused"))
      << remark::reason("{0}", reason.str());
}

/// Whether rows under another shape are in memory as they are: an argument's,
/// or those of a block program.
bool isViewOfMemory(Operation &op) {
  if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return false;
  Operation *source = op.getOperand(0).getDefiningOp();
  return !source || isa<scf::ForallOp>(source);
}

/// Gives each op that reads such a view one of its own. A view costs nothing;
/// as a row value that two groups read it would be written to memory.
void giveReadersViews(Block &block) {
  SmallVector<Operation *> views;
  for (Operation &op : block.without_terminator())
    if (isViewOfMemory(op))
      views.push_back(&op);
  for (Operation *view : views) {
    DenseMap<Operation *, Value> own;
    for (OpOperand &use :
         llvm::make_early_inc_range(view->getResult(0).getUses())) {
      Operation *reader = block.findAncestorOpInBlock(*use.getOwner());
      Value &given = own[reader];
      if (!given)
        given = own.size() == 1 ? view->getResult(0)
                                : OpBuilder(reader).clone(*view)->getResult(0);
      use.set(given);
    }
  }
}

/// Sorts a block's ops into alternating groups: what needs no rows, the row ops
/// that need only that, what needs their sums or whole results, the row ops
/// that need those, and so on. Returns the groups of row ops.
SmallVector<RowRegion> splitIntoGroups(Block &block, RowAnalysis &rows) {
  // The first group in which a value may be read: row values by rows of their
  // own group, by everything else in the next.
  DenseMap<Value, int64_t> groupOf;
  SmallVector<RowRegion> regions;
  SmallVector<std::pair<int64_t, Operation *>> order;
  DenseSet<Value> rowValues;
  // Views go with what reads them.
  SetVector<Operation *> views;
  auto place = [&](Operation *op, int64_t group, bool member) {
    if (member) {
      if (static_cast<int64_t>(regions.size()) <= group)
        regions.resize(group + 1);
      regions[group].ops.push_back(op);
    }
    order.push_back({2 * group + member, op});
  };
  for (Operation &op : block.without_terminator()) {
    bool member = rows.isMember(&op);
    int64_t group = 0;
    SmallVector<Operation *> viewed;
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        // A body may take any row of a tensor from outside of it.
        bool needsWhole =
            rowValues.contains(operand) && (!member || nested != &op);
        group = std::max(group, groupOf.lookup(operand) + (needsWhole ? 1 : 0));
        if (views.remove(operand.getDefiningOp()))
          viewed.push_back(operand.getDefiningOp());
      }
    });
    for (Operation *view : viewed)
      place(view, group, member && rows.isMember(view));
    if (isViewOfMemory(op)) {
      views.insert(&op);
      groupOf[op.getResult(0)] = group;
      continue;
    }
    for (Value result : op.getResults()) {
      bool isRowValue = member && rows.rowDim(result);
      if (isRowValue)
        rowValues.insert(result);
      groupOf[result] = group + (member && !isRowValue ? 1 : 0);
    }
    place(&op, group, member);
  }
  // These are returned: as row ops they would be copied.
  for (Operation *view : views)
    place(view, groupOf.lookup(view->getResult(0)), /*member=*/false);
  llvm::stable_sort(order, [](auto &a, auto &b) { return a.first < b.first; });
  for (auto &[key, op] : order)
    op->moveBefore(block.getTerminator());
  llvm::erase_if(regions, [](RowRegion &region) { return region.ops.empty(); });
  return regions;
}

/// Finds what a region hands to the outside. Fails, with a remark, on a sum
/// whose combination is not known.
LogicalResult findOutputs(RowRegion &region, RowAnalysis &rows) {
  DenseSet<Operation *> members(region.ops.begin(), region.ops.end());
  for (Operation *op : region.ops) {
    for (OpResult result : op->getResults()) {
      bool escapes = llvm::any_of(result.getUsers(), [&](Operation *user) {
        return !members.count(user);
      });
      if (rows.rowDim(result)) {
        if (escapes)
          region.results.insert(result);
        continue;
      }
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      SmallVector<Operation *> combiner;
      if (!linalgOp ||
          !matchReduction(linalgOp.getRegionOutputArgs(),
                          result.getResultNumber(), combiner) ||
          combiner.size() != 1 || !arith::getNeutralElement(combiner[0])) {
        reportMissed(op,
                     "a reduction over rows whose combination is not known");
        return failure();
      }
      region.partials.push_back(
          {result, combiner[0],
           linalgOp.getDpsInits()[result.getResultNumber()]});
    }
  }
  return success();
}

/// Whether a region is a product alone, of which few rows fit.
bool isBetterCutBothWays(const RowRegion &region, const RowSchedule &schedule,
                         const RowFootprint &footprint,
                         const RowAnalysis &rows) {
  return !footprint.isWide && region.ops.size() == 1 &&
         region.partials.empty() && !rows.isOpen() && !rows.isOfCall() &&
         schedule.tileRows < std::min<int64_t>(64, rows.rows()) &&
         isa<linalg::ContractionOpInterface>(region.ops.front());
}

/// Counts of blocks are known, and said, where the rows are.
void reportFused(const RowRegion &region, RowAnalysis &rows, int64_t group,
                 const RowFootprint &footprint, const RowSchedule &schedule) {
  remark::detail::InFlightRemark remark =
      remark::passed(region.ops.front()->getLoc(), remarkOptions("Fused"));
  remark << remark::metric("group", group)
         << remark::metric("ops", region.ops.size());
  int64_t partialBytes = footprint.accumulatorBytes;
  if (!rows.isOpen()) {
    OpBuilder b(region.ops.front());
    RowBlocks blocks = blocksOf(schedule, b.getIndexAttr(rows.rows()),
                                IndexMath(b, b.getUnknownLoc()));
    auto known = [](OpFoldResult value) { return *getConstantIntValue(value); };
    remark << remark::metric("rows", rows.rows())
           << remark::metric("blocks", known(blocks.count))
           << remark::metric("tilesPerBlock", known(blocks.tilesPerBlock));
    partialBytes *= known(blocks.count) + (known(blocks.rest) ? 1 : 0);
  } else {
    partialBytes *= schedule.mostBlocks + 1;
  }
  remark << remark::metric("tileRows", schedule.tileRows)
         << remark::metric("rest",
                           rows.isOpen() ? -1 : rows.rows() % schedule.tileRows)
         << remark::metric("tileBytes",
                           footprint.tileBytesPerRow * schedule.tileRows)
         << remark::metric("uniformBytes", footprint.uniformBytes)
         << remark::metric("accumulatorBytes", footprint.accumulatorBytes)
         << remark::metric("partialBytes", partialBytes)
         << remark::metric("rowResults", region.results.size());
}

bool hasStaticShapes(Block &block) {
  auto isStatic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  };
  return llvm::all_of(block, [&](Operation &op) {
    return llvm::all_of(op.getOperandTypes(), isStatic) &&
           llvm::all_of(op.getResultTypes(), isStatic);
  });
}

/// The options, and what the function says of its tiles.
FailureOr<RowCostOptions> costsOf(func::FuncOp function,
                                  const FuseRowsOptions &options) {
  RowCostOptions costs(options);
  if (Attribute value = function->getAttr(tileBytesAttr)) {
    auto bytes = dyn_cast<IntegerAttr>(value);
    if (!bytes || bytes.getInt() < 1)
      return function.emitError() << tileBytesAttr << " cannot be " << value
                                  << ": it is 1 or more",
             failure();
    costs.chosenBytes = bytes.getInt();
  }
  // Somebody knows better: then no budget has a say.
  auto given = function->getAttrOfType<DictionaryAttr>(scheduleAttr);
  if (Attribute value = given ? given.get("rows") : Attribute()) {
    auto number = dyn_cast<IntegerAttr>(value);
    if (!number || number.getInt() < 1)
      return function.emitError("a schedule's rows cannot be ")
                 << value << ": a tile has one row at least",
             failure();
    costs.tileRows = number.getInt();
    costs.cacheBytes = costs.sweptBytes =
        std::numeric_limits<int64_t>::max() / 4;
    costs.sumBytes = costs.productBytes = costs.summedProductBytes =
        costs.chosenBytes = 0;
  }
  return costs;
}

struct FuseRows : impl::FuseRowsBase<FuseRows> {
  using FuseRowsBase::FuseRowsBase;

  FuseRowsOptions options() const {
    FuseRowsOptions options;
    options.cacheBytes = cacheBytes;
    options.columnBytes = columnBytes;
    options.minRows = minRows;
    options.maxBlocks = maxBlocks;
    options.maxPlainRows = maxPlainRows;
    options.maxRows = maxRows;
    options.notesRows = notesRows;
    options.operationsPerSumByte = operationsPerSumByte;
    options.packUniform = packUniform;
    options.productBytes = productBytes;
    options.restInBlocks = restInBlocks;
    options.sumBytes = sumBytes;
    options.sumPartBytes = sumPartBytes;
    options.summedProductBytes = summedProductBytes;
    options.sweptBytes = sweptBytes;
    options.tileRows = tileRows;
    options.wideProducts = wideProducts;
    return options;
  }

  void runOnOperation() override {
    if (getOperation().isExternal() || isOpaque(getOperation()))
      return;
    FailureOr<RowCostOptions> given = costsOf(getOperation(), options());
    if (failed(given))
      return signalPassFailure();
    const RowCostOptions &costs = *given;
    Block &block = getOperation().getBody().front();
    if (failed(fuseRows(block, costs, /*again=*/false)))
      return signalPassFailure();
    // Other extents that the program leaves open count rows of their own.
    for (unsigned left = countOpen(block); left > 0;) {
      if (failed(fuseRows(block, costs, /*again=*/true)))
        return signalPassFailure();
      unsigned before = std::exchange(left, countOpen(block));
      if (left >= before)
        break;
    }
  }

  /// How many ops are in no block program and have an extent that the program
  /// leaves open.
  static unsigned countOpen(Block &block) {
    std::optional<RowAnalysis> rows = RowAnalysis::create(block);
    if (!rows || !rows->isOpenInProgram() ||
        (!rows->isOpen() && !block.getParentOp()->hasAttr(cutAsOpenAttr)))
      return 0;
    return llvm::count_if(block.getOps<linalg::LinalgOp>(),
                          [](linalg::LinalgOp op) {
                            return !isa<linalg::FillOp>(op.getOperation()) &&
                                   !op->hasAttr(inOrderAttr);
                          });
  }

  /// Fuses what has the longest of the extents that are left.
  LogicalResult fuseRows(Block &block, const RowCostOptions &costs,
                         bool again) {
    giveReadersViews(block);
    auto missed = [&](Operation *op, StringRef reason) {
      if (!again)
        reportMissed(op, reason);
      return success();
    };
    std::optional<RowAnalysis> rows = RowAnalysis::create(block);
    if (!rows)
      return missed(
          getOperation(),
          "no structured op of static shape has a loop of two iterations");
    if (again && !rows->isOpenInProgram())
      return success();
    if (Operation *op = rows->findOtherOpenExtent(block))
      return missed(op, "an extent is not known that is not the rows'; give "
                        "the function's arguments static shapes");
    if (Operation *op = rows->findRowsAgainstRows(block))
      return missed(op, "the op relates rows with rows");
    if (wideProducts && (rows->isOpen() || rows->isOfCall())) {
      // Programs for one call have the bits of those for all.
      bool cut = cutWideSums(block, *rows, costs);
      if (rows->isOpen() && cutWideProducts(block, *rows, costs))
        cut = true;
      if (cut)
        rows = rows->refreshed(block);
      if (!rows)
        return success();
    }
    prepareRows(block, *rows, packUniform);
    rows = rows->refreshed(block);
    if (!rows)
      return missed(getOperation(), "only constants have rows");
    SmallVector<RowRegion> regions = splitIntoGroups(block, *rows);
    for (auto [group, region] : llvm::enumerate(regions))
      for (RowRegion &piece : splitToFit(region, *rows, costs))
        if (failed(fuse(piece, *rows, group, costs)))
          return failure();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
    return success();
  }

  LogicalResult fuse(RowRegion &region, RowAnalysis &rows, int64_t group,
                     const RowCostOptions &costs) {
    Operation *first = region.ops.front();
    if (failed(findOutputs(region, rows)))
      return success();
    RowFootprint footprint = measureRows(region, rows, costs);
    std::optional<RowSchedule> schedule =
        scheduleRows(region, rows, footprint, costs);
    if (!schedule) {
      reportMissed(first, "tiles of 16 rows need " +
                              Twine(footprint.workingSet(16)) +
                              " bytes, budget " +
                              Twine(tileBudget(region, rows, costs)));
      return success();
    }
    if (isBetterCutBothWays(region, *schedule, footprint, rows)) {
      reportMissed(first, "a product alone, of which few rows fit; it is cut "
                          "along both sides instead");
      return success();
    }
    OpBuilder b(first);
    OpFoldResult extent = rows.extent(b, *first->getBlock());
    if (!extent) {
      reportMissed(first, "no argument tells how many rows there are");
      return success();
    }
    reportFused(region, rows, group, footprint, *schedule);
    schedule->isNoted = notesRows;
    schedule->restInBlocks = restInBlocks && rows.isOpen();
    return materializeRows(region, rows, *schedule, extent);
  }
};

} // namespace

std::string toText(const FuseRowsOptions &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  FuseRows pass(options);
  pass.printAsTextualPipeline(stream);
  StringRef inner(text);
  inner.consume_front(FuseRows::getArgumentName());
  inner.consume_front("{");
  inner.consume_back("}");
  return inner.str();
}

FailureOr<FuseRowsOptions> parseFuseRowsOptions(StringRef text, Location loc) {
  FuseRows pass;
  if (failed(pass.initializeOptions(text, [&](const Twine &message) {
        return emitError(loc) << "options of fuse-rows: " << message, failure();
      })))
    return failure();
  return pass.options();
}

FailureOr<SmallVector<SmallVector<Operation *>>>
findFusedRows(func::FuncOp function, const FuseRowsOptions &options) {
  FailureOr<RowCostOptions> given = costsOf(function, options);
  if (failed(given))
    return failure();
  const RowCostOptions &costs = *given;
  // A trial of it, on a copy.
  IRMapping mapping;
  OwningOpRef<func::FuncOp> copy(cast<func::FuncOp>(function->clone(mapping)));
  Block &block = copy->getBody().front();
  giveReadersViews(block);
  std::optional<RowAnalysis> rows = RowAnalysis::create(block);
  if (!rows || rows->findRowsAgainstRows(block))
    return SmallVector<SmallVector<Operation *>>();
  if (rows->isOpen() ? rows->findOtherOpenExtent(block) != nullptr
                     : !hasStaticShapes(block))
    return SmallVector<SmallVector<Operation *>>();
  prepareRows(block, *rows, costs.packUniform);
  rows = rows->refreshed(block);
  if (!rows)
    return SmallVector<SmallVector<Operation *>>();
  DenseMap<Operation *, Operation *> original;
  function.walk([&](Operation *op) {
    if (Operation *made = mapping.lookupOrNull(op))
      original[made] = op;
  });
  SmallVector<SmallVector<Operation *>> groups;
  for (RowRegion &region : splitIntoGroups(block, *rows))
    for (RowRegion &piece : splitToFit(region, *rows, costs)) {
      RowFootprint footprint = measureRows(piece, *rows, costs);
      std::optional<RowSchedule> schedule =
          scheduleRows(piece, *rows, footprint, costs);
      if (!schedule || isBetterCutBothWays(piece, *schedule, footprint, *rows))
        continue;
      SmallVector<Operation *> &group = groups.emplace_back();
      for (Operation *op : piece.ops)
        // Null for what the preparation has made.
        group.push_back(original.lookup(op));
    }
  return groups;
}

} // namespace drawloom
