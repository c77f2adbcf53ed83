//===- AssignLayouts.cpp - a layout for every tile of a kernel ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/dialect/Tile.h"
#include "codegen/nvptx/layouts/Dots.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXASSIGNLAYOUTS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {
namespace {

RankedTensorType tileType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

int64_t lengthOf(tile::ScanOp scan) {
  return tileType(scan.getResult()).getDimSize(scan.getDimension());
}

/// Whether a value is the same in each iteration of the loops around it, as far
/// as can be told before what it reads has a place.
bool isSteady(Value value, scf::ForOp loop) {
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
/// A reshape that no renaming of digits says.
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

/// One coordinate of a tile whose warps hold others, which all can read from
/// `buffer`: it is made and filled where it is null, for all slices of the
/// tile.
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

class Assigner {
public:
  Assigner(func::FuncOp kernel, int64_t warps)
      : kernel(kernel), warps(warps), builder(kernel.getContext()) {}
  /// Says what is wrong, if something is.
  LogicalResult run();

private:
  void tie(Value a, Value b) {
    if (tileType(a) && tileType(b))
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  void *leader(Value value) {
    return classes.getOrInsertLeaderValue(value.getAsOpaquePointer());
  }
  std::optional<Layout> known(Value value) {
    auto found = layouts.find(leader(value));
    if (found == layouts.end())
      return std::nullopt;
    return found->second;
  }
  bool fix(Value value, const Layout &layout) {
    return layouts.try_emplace(leader(value), layout).second;
  }
  Layout layoutOf(Value value) { return *known(value); }

  void collect();
  void chooseNeighbours();
  void fixDots();
  bool propagate(Operation *op);
  /// Propagates until nothing changes.
  void settle();
  void fixRest();
  LogicalResult rewrite(Operation *op);

  SmallVector<int64_t> keptDims(tile::SliceOp op) {
    SmallVector<int64_t> kept;
    for (int64_t dim = 0; dim < tileType(op.getSource()).getRank(); ++dim)
      if (dim != static_cast<int64_t>(op.getDimension()))
        kept.push_back(dim);
    return kept;
  }
  SmallVector<int64_t> keptDims(tile::ReduceOp op) {
    SmallVector<int64_t> kept;
    for (int64_t dim = 0; dim < tileType(op.getSource()).getRank(); ++dim)
      if (!llvm::is_contained(op.getDims(), dim))
        kept.push_back(dim);
    return kept;
  }
  /// Every element along `dim` in one thread.
  Layout linesIn(RankedTensorType type, int64_t dim) {
    SmallVector<int64_t> others(type.getShape());
    others[dim] = 1;
    // Neighbours along the last dimension, where there are enough for all.
    int64_t threads = 32 * warps, all = 1;
    for (int64_t extent : others)
      all *= extent;
    int64_t vector = 1;
    while (vector < 4 && all >= threads * vector * 2)
      vector *= 2;
    if (others.back() == 1 || others.back() % vector != 0)
      vector = 1;
    Layout layout = tile::blockedLayout(others, vector, warps);
    layout.registers.push_back({dim, 1, type.getDimSize(dim)});
    return layout;
  }
  Layout solveIn(RankedTensorType type) {
    auto shared = tile::solveLayout(type.getShape(), warps);
    return shared ? *shared : linesIn(type, 0);
  }
  Layout scanIn(tile::ScanOp scan) {
    RankedTensorType type = tileType(scan.getResult());
    auto dim = static_cast<int64_t>(scan.getDimension());
    if (dim == 0)
      if (auto runs = tile::scanLayout(type.getShape(), warps))
        return *runs;
    return linesIn(type, dim);
  }
  void require(OpOperand &operand, const Layout &layout);
  void provide(OpResult result, const Layout &layout);

  func::FuncOp kernel;
  int64_t warps;
  OpBuilder builder;
  llvm::EquivalenceClasses<void *> classes;
  DenseMap<void *, Layout> layouts;
  SmallVector<Value> tiles;
  /// How many sums of tiles of a class loops carry.
  DenseMap<void *, int64_t> sums;
  /// The buffers of tiles that are sliced across warps.
  DenseMap<Value, Value> sliced;
  /// Smallest element of a class in memory, in bits.
  DenseMap<void *, int64_t> bits;
};

void Assigner::collect() {
  auto add = [&](Value value) {
    if (tileType(value)) {
      classes.insert(value.getAsOpaquePointer());
      tiles.push_back(value);
    }
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      add(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          add(argument);
  });
  kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (unsigned i = 0; i < loop.getNumResults(); ++i) {
        tie(loop.getInitArgs()[i], loop.getRegionIterArg(i));
        tie(loop.getRegionIterArg(i), loop.getResult(i));
        tie(loop.getResult(i), loop.getYieldedValues()[i]);
      }
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (unsigned i = 0; i < branch.getNumResults(); ++i) {
        tie(branch.getResult(i), branch.thenYield().getOperand(i));
        tie(branch.getResult(i), branch.elseYield().getOperand(i));
      }
    } else if (auto dot = dyn_cast<tile::DotOp>(op)) {
      // One number is made again for each layout: sums that start alike need
      // not be alike.
      if (!dot.getAccumulator().getDefiningOp<tile::SplatOp>())
        tie(dot.getAccumulator(), dot.getResult());
    } else if (auto lookup = dyn_cast<tile::LookupOp>(op)) {
      for (Value index : lookup.getIndices())
        tie(index, lookup.getResult());
    } else if (OpTrait::hasElementwiseMappableTraits(op)) {
      for (Value operand : op->getOperands())
        tie(operand, op->getResult(0));
    }
  });
  kernel.walk([&](tile::ReduceOp reduce) {
    if (reduce.getKind() == tile::Combiner::Add &&
        reduce->getParentOfType<scf::ForOp>())
      ++sums[leader(reduce.getSource())];
  });
  kernel.walk([&](Operation *op) {
    Value value;
    if (auto load = dyn_cast<tile::LoadOp>(op))
      value = load.getResult();
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      value = store.getSource();
    else if (auto gather = dyn_cast<tile::GatherOp>(op))
      value = gather.getResult();
    else if (auto scatter = dyn_cast<tile::ScatterOp>(op))
      value = scatter.getRows();
    else
      return;
    int64_t size = getElementTypeOrSelf(value).isIndex()
                       ? 64
                       : getElementTypeOrSelf(value).getIntOrFloatBitWidth();
    int64_t &least = bits.try_emplace(leader(value), 32).first->second;
    least = std::min(least, std::max<int64_t>(size, 8));
  });
}

/// Results of products that are stored in global memory and are no operand of
/// another product leave by stores of 16 bytes: their threads get neighbouring
/// columns.
void Assigner::chooseNeighbours() {
  // Bytes of an element in memory, by class.
  DenseMap<void *, int64_t> stored;
  DenseSet<void *> operands;
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StoreOp>(op)) {
      auto type = cast<MemRefType>(store.getDest().getType());
      auto [strides, offset] = type.getStridesAndOffset();
      if (tile::isShared(type) || strides.empty() || strides.back() != 1)
        return;
      int64_t bytes = llvm::divideCeil(
          type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth(),
          8);
      int64_t &least =
          stored.try_emplace(leader(store.getSource()), bytes).first->second;
      least = std::min(least, bytes);
    } else if (auto dot = dyn_cast<tile::DotOp>(op)) {
      if (usesTensorCores(dot) && tileType(dot.getA()))
        operands.insert(leader(dot.getA()));
    }
  });
  kernel.walk([&](tile::DotOp dot) {
    void *of = leader(dot.getResult());
    auto found = stored.find(of);
    if (!usesTensorCores(dot) || found == stored.end() ||
        operands.contains(of) || !mayPermuteColumns(dot))
      return;
    WarpGrid grid = warpGrid(dot.getM(), dot.getN(), warps);
    int64_t neighbours = tile::accumulatorNeighbours(
        dot.getN(), grid.n, std::clamp<int64_t>(16 / found->second, 2, 8));
    if (neighbours > 2)
      dot.setNeighbours(neighbours);
  });
}

void Assigner::fixDots() {
  chooseNeighbours();
  kernel.walk(
      [&](tile::DotOp dot) { fix(dot.getResult(), sumLayout(dot, warps)); });
  // Scans along more elements first: what is scanned in parts may lie as it
  // does for them.
  SmallVector<tile::ScanOp> scans;
  kernel.walk([&](tile::ScanOp scan) { scans.push_back(scan); });
  llvm::stable_sort(scans, [&](tile::ScanOp a, tile::ScanOp b) {
    return lengthOf(a) > lengthOf(b);
  });
  for (auto [i, scan] : llvm::enumerate(scans)) {
    if (i > 0 && lengthOf(scan) != lengthOf(scans[i - 1]))
      settle();
    fix(scan.getResult(), scanIn(scan));
  }
  kernel.walk([&](Operation *op) {
    if (auto solve = dyn_cast<tile::SolveOp>(op))
      fix(solve.getResult(), solveIn(tileType(solve.getResult())));
    // Conversions that are there already lead into sums over rows.
    if (auto convert = dyn_cast<tile::ConvertOp>(op))
      fix(convert.getResult(),
          tile::columnsLayout(tileType(convert.getResult()).getShape(), warps));
  });
}

/// Whether it fixed something.
bool Assigner::propagate(Operation *op) {
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    std::optional<Layout> source = known(reduce.getSource());
    return source && fix(reduce.getResult(), source->project(keptDims(reduce)));
  }
  if (auto slice = dyn_cast<tile::SliceOp>(op)) {
    std::optional<Layout> source = known(slice.getSource());
    return source && fix(slice.getResult(), source->project(keptDims(slice)));
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    std::optional<Layout> result = known(broadcast.getResult());
    return result &&
           fix(broadcast.getSource(), result->project(broadcast.getDims()));
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    RankedTensorType from = tileType(reshape.getSource());
    RankedTensorType to = tileType(reshape.getResult());
    if (std::optional<Layout> source = known(reshape.getSource()))
      if (std::optional<Layout> other =
              reshaped(*source, from.getShape(), to.getShape()))
        return fix(reshape.getResult(), *other);
    if (std::optional<Layout> result = known(reshape.getResult()))
      if (std::optional<Layout> other =
              reshaped(*result, to.getShape(), from.getShape()))
        return fix(reshape.getSource(), *other);
    return false;
  }
  if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    // What no thread has for another one is best read where it is needed.
    auto isAlone = [](const Layout &layout) {
      auto counts = [](tile::Digit digit) { return !digit.replicated(); };
      return llvm::all_of(layout.lanes, counts) &&
             llvm::all_of(layout.warps, counts);
    };
    std::optional<Layout> result = known(scan.getResult());
    if (result && isAlone(*result) && fix(scan.getSource(), *result))
      return true;
    std::optional<Layout> source = known(scan.getSource());
    return source && isAlone(*source) &&
           source->runsAlong(scan.getDimension(), lengthOf(scan)) &&
           fix(scan.getResult(), *source);
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op)) {
    std::optional<Layout> result = known(gather.getResult());
    return result && fix(gather.getIndices(), result->project({0}));
  }
  if (auto scatter = dyn_cast<tile::ScatterOp>(op)) {
    std::optional<Layout> rows = known(scatter.getRows());
    return rows && fix(scatter.getIndices(), rows->project({0}));
  }
  return false;
}

void Assigner::settle() {
  bool changed = true;
  while (changed) {
    changed = false;
    kernel.walk([&](Operation *op) { changed |= propagate(op); });
  }
}

void Assigner::fixRest() {
  SmallVector<Value> open(tiles);
  llvm::stable_sort(open, [](Value a, Value b) {
    return tileType(a).getNumElements() > tileType(b).getNumElements();
  });
  settle();
  for (Value value : open) {
    if (known(value))
      continue;
    auto found = bits.find(leader(value));
    int64_t vector =
        std::min<int64_t>(128 / (found == bits.end() ? 32 : found->second), 8);
    // Each sum over rows takes a register for each column of a thread, and so
    // does what it is a gradient of.
    while (vector > 4 && vector * sums.lookup(leader(value)) > 64)
      vector /= 2;
    fix(value, tile::blockedLayout(tileType(value).getShape(), vector, warps));
    settle();
  }
}

/// Makes an op read a tile in this layout. What is cheap to make is made again.
void Assigner::require(OpOperand &operand, const Layout &layout) {
  Value value = operand.get();
  if (tile::layoutOf(value.getType()) == layout)
    return;
  RankedTensorType type = tile::withLayout(tileType(value), layout);
  Operation *def = value.getDefiningOp();
  if (def && isa<tile::SplatOp, tile::IotaOp>(def)) {
    builder.setInsertionPoint(def);
    Operation *copy = builder.clone(*def);
    copy->getResult(0).setType(type);
    operand.set(copy->getResult(0));
    return;
  }
  builder.setInsertionPoint(operand.getOwner());
  operand.set(tile::ConvertOp::create(builder, operand.getOwner()->getLoc(),
                                      type, value));
}

/// Makes an op give its result in this layout.
void Assigner::provide(OpResult result, const Layout &layout) {
  std::optional<Layout> wanted = tile::layoutOf(result.getType());
  if (wanted == layout)
    return;
  RankedTensorType type = tileType(result);
  result.setType(tile::withLayout(type, layout));
  builder.setInsertionPointAfter(result.getOwner());
  auto convert = tile::ConvertOp::create(builder, result.getOwner()->getLoc(),
                                         type, result);
  result.replaceAllUsesExcept(convert, convert);
}

/// Whether warps hold different parts along a dimension.
bool isCutAmongWarps(const Layout &layout, int64_t dim) {
  return llvm::any_of(layout.warps, [&](const tile::Digit &digit) {
    return !digit.replicated() && digit.dim == dim;
  });
}

LogicalResult Assigner::rewrite(Operation *op) {
  auto layoutNow = [](Value value) { return *tile::layoutOf(value.getType()); };
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    require(broadcast.getSourceMutable(),
            layoutNow(broadcast.getResult()).project(broadcast.getDims()));
  } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    provide(cast<OpResult>(reduce.getResult()),
            layoutNow(reduce.getSource()).project(keptDims(reduce)));
  } else if (auto slice = dyn_cast<tile::SliceOp>(op)) {
    if (isCutAmongWarps(layoutNow(slice.getSource()),
                        static_cast<int64_t>(slice.getDimension())))
      sliceThroughMemory(builder, slice, sliced[slice.getSource()]);
    else
      provide(cast<OpResult>(slice.getResult()),
              layoutNow(slice.getSource()).project(keptDims(slice)));
  } else if (auto gather = dyn_cast<tile::GatherOp>(op)) {
    require(gather.getIndicesMutable(),
            layoutNow(gather.getResult()).project({0}));
  } else if (auto scatter = dyn_cast<tile::ScatterOp>(op)) {
    require(scatter.getIndicesMutable(),
            layoutNow(scatter.getRows()).project({0}));
  } else if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    Layout lines = layoutNow(scan.getResult());
    if (!lines.runsAlong(scan.getDimension(), lengthOf(scan)))
      lines = scanIn(scan);
    require(scan.getSourceMutable(), lines);
    provide(cast<OpResult>(scan.getResult()), lines);
  } else if (auto solve = dyn_cast<tile::SolveOp>(op)) {
    Layout lines = solveIn(tileType(solve.getResult()));
    require(solve.getRhsMutable(), lines);
    provide(cast<OpResult>(solve.getResult()), lines);
  } else if (auto dot = dyn_cast<tile::DotOp>(op)) {
    Layout sums = sumLayout(dot, warps);
    require(dot.getAccumulatorMutable(), sums);
    provide(cast<OpResult>(dot.getResult()), sums);
  } else if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    RankedTensorType from = tileType(reshape.getSource());
    RankedTensorType to = tileType(reshape.getResult());
    std::optional<Layout> same = reshaped(layoutNow(reshape.getSource()),
                                          from.getShape(), to.getShape());
    if (same && *same == layoutNow(reshape.getResult()))
      return success();
    if (same) {
      provide(cast<OpResult>(reshape.getResult()), *same);
      return success();
    }
    reshapeThroughMemory(builder, reshape);
  }
  return success();
}

LogicalResult Assigner::run() {
  collect();
  fixDots();
  fixRest();
  for (Value value : tiles) {
    Layout layout = layoutOf(value);
    if (std::optional<std::string> wrong =
            layout.check(tileType(value).getShape()))
      return emitError(value.getLoc()) << "the layout of a tile of type "
                                       << value.getType() << ' ' << *wrong;
  }
  SmallVector<std::pair<Value, Layout>> final;
  for (Value value : tiles)
    final.push_back({value, layoutOf(value)});
  for (auto &[value, layout] : final)
    value.setType(tile::withLayout(tileType(value), layout));
  SmallVector<Operation *> ops;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(rewrite(op)))
      return failure();
  return success();
}

struct NvptxAssignLayouts : impl::NvptxAssignLayoutsBase<NvptxAssignLayouts> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel))
      return;
    kernel->setAttr(warpsAttr,
                    Builder(&getContext()).getI64IntegerAttr(warpsOf(kernel)));
    if (failed(Assigner(kernel, warpsOf(kernel)).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace drawloom::nvptx
