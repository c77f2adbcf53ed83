//===- AssignLayouts.cpp - a layout for every tile of a kernel ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Dots.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/Staging.h"
#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXASSIGNLAYOUTS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {
namespace {

RankedTensorType tileType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

class Assigner {
public:
  Assigner(func::FuncOp kernel, int64_t warps)
      : kernel(kernel), warps(warps), builder(kernel.getContext()) {}
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
  void fixRest();
  LogicalResult rewrite(Operation *op);

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
    Layout layout = tile::blockedLayout(others, 1, warps);
    layout.registers.push_back({dim, 1, type.getDimSize(dim)});
    return layout;
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
  /// Copies of tiles in shared memory.
  StagedCopies staged;
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
  kernel.walk([&](Operation *op) {
    if (auto scan = dyn_cast<tile::ScanOp>(op))
      fix(scan.getResult(),
          linesIn(tileType(scan.getResult()), scan.getDimension()));
    if (auto solve = dyn_cast<tile::SolveOp>(op))
      fix(solve.getResult(), linesIn(tileType(solve.getResult()), 0));
    // Conversions that are there already lead into sums over rows.
    if (auto convert = dyn_cast<tile::ConvertOp>(op))
      fix(convert.getResult(),
          columnsLayout(tileType(convert.getResult()).getShape(), warps));
  });
}

/// Whether it fixed something.
bool Assigner::propagate(Operation *op) {
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    std::optional<Layout> source = known(reduce.getSource());
    return source && fix(reduce.getResult(), source->project(keptDims(reduce)));
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

void Assigner::fixRest() {
  SmallVector<Value> open(tiles);
  llvm::stable_sort(open, [](Value a, Value b) {
    return tileType(a).getNumElements() > tileType(b).getNumElements();
  });
  auto settle = [&] {
    bool changed = true;
    while (changed) {
      changed = false;
      kernel.walk([&](Operation *op) { changed |= propagate(op); });
    }
  };
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

LogicalResult Assigner::rewrite(Operation *op) {
  auto layoutNow = [](Value value) { return *tile::layoutOf(value.getType()); };
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    require(broadcast.getSourceMutable(),
            layoutNow(broadcast.getResult()).project(broadcast.getDims()));
  } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    provide(cast<OpResult>(reduce.getResult()),
            layoutNow(reduce.getSource()).project(keptDims(reduce)));
  } else if (auto gather = dyn_cast<tile::GatherOp>(op)) {
    require(gather.getIndicesMutable(),
            layoutNow(gather.getResult()).project({0}));
  } else if (auto scatter = dyn_cast<tile::ScatterOp>(op)) {
    require(scatter.getIndicesMutable(),
            layoutNow(scatter.getRows()).project({0}));
  } else if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    Layout lines = linesIn(tileType(scan.getResult()), scan.getDimension());
    require(scan.getSourceMutable(), lines);
    provide(cast<OpResult>(scan.getResult()), lines);
  } else if (auto solve = dyn_cast<tile::SolveOp>(op)) {
    Layout lines = linesIn(tileType(solve.getResult()), 0);
    require(solve.getRhsMutable(), lines);
    provide(cast<OpResult>(solve.getResult()), lines);
  } else if (auto dot = dyn_cast<tile::DotOp>(op)) {
    Layout sums = sumLayout(dot, warps);
    require(dot.getAccumulatorMutable(), sums);
    provide(cast<OpResult>(dot.getResult()), sums);
    stageOperands(builder, dot, warps, staged);
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
  hoistReductions(builder, kernel);
  stageVectors(builder, kernel);
  hoistStaging(kernel);
  expandConversions(builder, kernel);
  return success();
}

/// Sums that loops carry live in registers from end to end: where four warps
/// would need more than 64 of each thread for them, eight share them.
int64_t chooseWarps(func::FuncOp kernel) {
  int64_t most = 0;
  kernel.walk([&](scf::ForOp loop) {
    int64_t elements = 0;
    for (Value carried : loop.getRegionIterArgs())
      if (RankedTensorType type = tileType(carried))
        elements += type.getNumElements();
    most = std::max(most, elements);
  });
  return most > 4 * 32 * 64 ? 8 : 4;
}

struct NvptxAssignLayouts : impl::NvptxAssignLayoutsBase<NvptxAssignLayouts> {
  using NvptxAssignLayoutsBase::NvptxAssignLayoutsBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (kernel.isExternal() || !kernel->hasAttr(kernelAttr))
      return;
    // The option is that of all kernels.
    int64_t count = warps == 0 ? chooseWarps(kernel) : warps.getValue();
    if (count < 1 || count > 32 || !llvm::isPowerOf2_64(count)) {
      kernel.emitError("cannot have ")
          << count << " warps: a block has 1, 2, 4, 8, 16 or 32";
      return signalPassFailure();
    }
    OpBuilder builder(kernel.getContext());
    sumByProducts(builder, kernel);
    recomputeTiles(kernel, count);
    detachSums(kernel);
    kernel->setAttr(warpsAttr, IntegerAttr::get(
                                   IntegerType::get(&getContext(), 64), count));
    if (failed(Assigner(kernel, count).run()))
      return signalPassFailure();
    keepShared(kernel, limit.getValue());
    choosePaddings(kernel, limit.getValue());
    startCopiesEarly(builder, kernel, limit.getValue());
  }
};

} // namespace
} // namespace drawloom::nvptx
