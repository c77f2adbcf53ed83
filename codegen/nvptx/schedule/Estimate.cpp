//===- Estimate.cpp - what a kernel will cost -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/schedule/Estimate.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/dialect/Tile.h"
#include "codegen/nvptx/layouts/Dots.h"
#include "codegen/nvptx/lower/Runs.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {
namespace {

/// Addresses, loop counters, constants: what kernels of ours have beside tiles.
constexpr int64_t otherRegisters = 28;
/// What places of buffers are multiples of.
constexpr int64_t bufferPiece = 128;
/// Warps that hide the latency of arithmetic and shared memory, with the
/// independent operations that unrolled tiles have.
constexpr double enoughWarps = 8;
/// Registers that ptxas has been seen to do without, of those predicted; and
/// those that it was seen to want besides, for fragments of operands, where
/// tensor cores multiply.
constexpr int64_t mostOverestimate = 24, fragmentRegisters = 48;
/// Instructions' worth of time that a warp waits at a barrier.
constexpr double barrierSlots = 24;

RankedTensorType tileType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

bool isKeptElsewhere(Operation *op) {
  return isa<tile::BroadcastOp, tile::ConvertOp, tile::ReshapeOp>(op);
}

class Estimator {
public:
  Estimator(func::FuncOp kernel, const Machine &machine)
      : kernel(kernel), machine(machine), warps(warpsOf(kernel)),
        grid(std::max<int64_t>(
            1, kernel->getAttrOfType<IntegerAttr>(gridAttr).getInt())) {}
  Estimate run();

private:
  struct Life {
    int64_t from = 0, to = 0;
    int64_t size = 0;
  };

  //===- What is alive ----------------------------------------------------===//
  void number(Region &region);
  void findRuns(Block &block);
  void cutRuns();
  bool isWorkedOnInParts(Value value);
  int64_t registersOf(Value value);
  int64_t lastUse(Value value, Region *home);
  void collectLives();
  static int64_t most(ArrayRef<Life> lives);

  //===- What is done -----------------------------------------------------===//
  double countOf(Type type) {
    std::optional<Layout> layout = tile::layoutOf(type);
    return layout ? static_cast<double>(layout->registerCount()) : 1;
  }
  void count(Region &region, double times);
  void count(Operation *op, double times);
  void countDot(tile::DotOp dot, double times);
  void countAccess(Operation *op, Value memory, RankedTensorType type,
                   double times);
  bool usesFragments() {
    return kernel
        .walk([](tile::DotOp dot) {
          return usesTensorCores(dot) ? WalkResult::interrupt()
                                      : WalkResult::advance();
        })
        .wasInterrupted();
  }
  double tripsOf(scf::ForOp loop);
  double chanceOf(scf::IfOp branch);
  /// Instructions of each warp.
  void issues(double instructions) { estimate.issue += instructions; }

  func::FuncOp kernel;
  const Machine &machine;
  int64_t warps, grid;
  DenseMap<Operation *, std::pair<int64_t, int64_t>> places;
  DenseMap<Operation *, int64_t> runOf;
  /// Of each run its ops, registers of a tile, and how many of these are worked
  /// on at once.
  std::vector<SmallVector<Operation *>> members;
  SmallVector<int64_t> counts, steps;
  int64_t next = 0;
  SmallVector<Life> registers, buffers;
  Estimate estimate;
};

//===----------------------------------------------------------------------===//
// What is alive
//===----------------------------------------------------------------------===//

void Estimator::number(Region &region) {
  for (Block &block : region)
    for (Operation &op : block) {
      int64_t from = next++;
      for (Region &inner : op.getRegions())
        number(inner);
      places[&op] = {from, op.getNumRegions() ? next++ : from};
    }
}

/// The tile whose layout is that of the run that an op belongs to.
static Value tileOfRun(Operation &op) {
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return store.getSource();
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return reduce.getSource();
  if (op.getNumResults() == 1 && tileType(op.getResult(0)) &&
      op.getNumRegions() == 0 &&
      (isa<tile::LoadOp, tile::SplatOp, tile::IotaOp, tile::BroadcastOp>(op) ||
       OpTrait::hasElementwiseMappableTraits(&op)))
    return op.getResult(0);
  return {};
}

/// Runs as findRun forms them: of what only one of them knows, a part at a
/// time is alive.
void Estimator::findRuns(Block &block) {
  std::optional<Layout> now;
  DenseSet<Value> made;
  DenseSet<Value> stored;
  for (Operation &op : block) {
    Value tile = tileOfRun(op);
    bool reads = llvm::any_of(op.getOperands(), [&](Value operand) {
      return made.contains(operand);
    });
    bool joins = tile && now && *tile::layoutOf(tile.getType()) == *now;
    if (joins && reads)
      joins = !isa<tile::BroadcastOp>(op) &&
              llvm::none_of(op.getOperands(), [&](Value operand) {
                return made.contains(operand) &&
                       operand.getDefiningOp<tile::ReduceOp>();
              });
    if (auto load = dyn_cast<tile::LoadOp>(op); joins && load)
      joins = !stored.contains(rootOf(load.getSource()));
    if (!joins) {
      // What is pure and does not need the run goes in front of it.
      if (now && !reads && op.getNumRegions() == 0 &&
          (isPure(&op) || isa<tile::AllocOp, memref::LoadOp>(op)) &&
          (!tile || op.getNumResults() == 0 || isPure(&op)))
        continue;
      now.reset();
      made.clear();
      stored.clear();
      if (!tile)
        continue;
      now = tile::layoutOf(tile.getType());
      members.emplace_back();
      counts.push_back(now->registerCount());
    }
    runOf[&op] = static_cast<int64_t>(members.size()) - 1;
    members.back().push_back(&op);
    made.insert(op.result_begin(), op.result_end());
    if (auto store = dyn_cast<tile::StoreOp>(op))
      stored.insert(rootOf(store.getDest()));
    if (auto reduce = dyn_cast<tile::ReduceOp>(op);
        reduce && reduce.getScratch())
      now.reset();
  }
  for (Operation &op : block)
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        findRuns(inner);
}

/// How much of their tiles runs work on at once.
void Estimator::cutRuns() {
  for (auto [run, count] : llvm::zip(members, counts)) {
    bool whole = count <= 2 * partRegisters && stepOfRun(run, count) == count;
    steps.push_back(whole ? count : stepOfRun(run, partRegisters));
  }
}

/// Whether all that read a value do so element by element and before the next
/// product or barrier: in the same run, or in another one that ptxas moves
/// there, since few registers are alive then.
bool Estimator::isWorkedOnInParts(Value value) {
  Operation *def = value.getDefiningOp();
  auto run = runOf.find(def);
  if (run == runOf.end())
    return false;
  std::optional<Layout> layout = tile::layoutOf(value.getType());
  Operation *last = def;
  for (Operation *user : value.getUsers()) {
    if (user->getBlock() != def->getBlock() || !runOf.contains(user))
      return false;
    if (runOf.lookup(user) == run->second)
      continue;
    Value tile = tileOfRun(*user);
    if (!tile || !(tile::layoutOf(tile.getType()) == layout))
      return false;
    if (last->isBeforeInBlock(user))
      last = user;
  }
  for (Operation *op = def; op != last; op = op->getNextNode())
    if (isa<tile::DotOp, tile::BarrierOp>(op) || op->getNumRegions() > 0)
      return false;
  return true;
}

/// 32-bit registers that a tile takes; none where they are another tile's.
int64_t Estimator::registersOf(Value value) {
  RankedTensorType type = tileType(value);
  if (!type)
    return 0;
  Operation *def = value.getDefiningOp();
  if (def && (isKeptElsewhere(def) || isa<tile::SplatOp, tile::IotaOp>(def)))
    return 0;
  int64_t count = tile::layoutOf(type)->registerCount();
  if (def && !isa<tile::ReduceOp>(def) && isWorkedOnInParts(value)) {
    int64_t step = steps[runOf.lookup(def)];
    count = std::min(
        count, isa<tile::LoadOp>(def) ? std::max(step, partRegisters) : step);
  }
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  // Predicates have registers of their own.
  if (bits == 1)
    return llvm::divideCeil(count, 8);
  return llvm::divideCeil(count * std::max<int64_t>(bits, 16), 32);
}

/// The last place that needs a value, in loops that it comes into from outside
/// their end. What is a view of it counts as well.
int64_t Estimator::lastUse(Value value, Region *home) {
  int64_t last = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    last = std::max(last, places.lookup(user).first);
    for (Operation *op = user; op->getParentRegion() != home;) {
      op = op->getParentOp();
      if (isa<scf::ForOp>(op))
        last = std::max(last, places.lookup(op).second);
    }
    bool same = isKeptElsewhere(user) ||
                isa<memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp,
                    memref::ExpandShapeOp, memref::ReinterpretCastOp>(user);
    if (same)
      last = std::max(last, lastUse(user->getResult(0), home));
  }
  return last;
}

void Estimator::collectLives() {
  auto add = [&](Value value, int64_t from, Region *home) {
    int64_t size = registersOf(value);
    if (size > 0)
      registers.push_back({from, lastUse(value, home), size});
  };
  kernel.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<tile::AllocOp>(op)) {
      Value buffer = alloc.getBuffer();
      int64_t bytes = llvm::alignTo(
          nvptx::bytesOf(cast<MemRefType>(buffer.getType())), bufferPiece);
      buffers.push_back({places.lookup(op).first,
                         lastUse(buffer, op->getParentRegion()), bytes});
    }
    for (Value result : op->getResults())
      add(result, places.lookup(op).second, op->getParentRegion());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          add(argument, places.lookup(op).first, &region);
  });
}

/// The largest sum alive at once: in front of an op what it reads counts,
/// behind it what it makes.
int64_t Estimator::most(ArrayRef<Life> lives) {
  SmallVector<std::pair<int64_t, int64_t>> events;
  for (const Life &life : lives)
    if (life.to > life.from) {
      events.push_back({2 * life.from + 1, life.size});
      events.push_back({2 * life.to + 1, -life.size});
    }
  llvm::sort(events);
  int64_t now = 0, largest = 0;
  for (auto [time, change] : events) {
    now += change;
    largest = std::max(largest, now);
  }
  return largest;
}

//===----------------------------------------------------------------------===//
// What is done
//===----------------------------------------------------------------------===//

double Estimator::tripsOf(scf::ForOp loop) {
  std::optional<int64_t> to = getConstantIntValue(loop.getUpperBound());
  // The last block has less to do than the others.
  if (auto least = loop.getUpperBound().getDefiningOp<arith::MinSIOp>())
    for (Value bound : least.getOperands())
      if (std::optional<int64_t> most = getConstantIntValue(bound))
        to = most;
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
  // The loop over blocks starts at the block's own number.
  if (!from && loop.getLowerBound().getDefiningOp<tile::BlockIdOp>())
    from = 0;
  if (!to || !step || !from || *step <= 0)
    return 8;
  return std::max(0.0, static_cast<double>(*to - *from) / *step);
}

/// Of parts that share a launch, the blocks that run this one.
double Estimator::chanceOf(scf::IfOp branch) {
  SmallVector<int64_t> limits;
  int64_t total = grid;
  std::function<void(Value)> visit = [&](Value value) {
    if (auto both = value.getDefiningOp<arith::AndIOp>()) {
      visit(both.getLhs());
      visit(both.getRhs());
    } else if (auto compare = value.getDefiningOp<arith::CmpIOp>()) {
      if (std::optional<int64_t> limit = getConstantIntValue(compare.getRhs()))
        limits.push_back(*limit);
      if (auto argument = dyn_cast<BlockArgument>(compare.getLhs()))
        if (auto loop =
                dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
          if (std::optional<int64_t> to =
                  getConstantIntValue(loop.getUpperBound()))
            total = *to;
    }
  };
  visit(branch.getCondition());
  if (limits.size() != 2 || total <= 0)
    return 1;
  return std::min(1.0, std::abs(static_cast<double>(limits[1] - limits[0])) /
                           static_cast<double>(total));
}

void Estimator::count(Region &region, double times) {
  for (Block &block : region)
    for (Operation &op : block)
      count(&op, times);
}

void Estimator::countDot(tile::DotOp dot, double times) {
  auto m = static_cast<double>(dot.getM()), n = static_cast<double>(dot.getN()),
       k = static_cast<double>(dot.getK());
  if (!usesTensorCores(dot)) {
    double sums = countOf(dot.getResult().getType());
    double columns = 4, rows = std::max(1.0, sums / columns);
    double loads = k / 4 * rows + k * std::max(1.0, sums / (columns * rows));
    issues(times * (sums * k + loads + k / 2));
    // Lanes of a row read the same.
    estimate.shared += times * static_cast<double>(warps) * loads * 2;
    return;
  }
  WarpGrid cut = warpGrid(dot.getM(), dot.getN(), warps);
  double rowTiles = std::ceil(m / 16 / static_cast<double>(cut.m));
  double columnTiles = std::ceil(n / 8 / static_cast<double>(cut.n));
  double steps = std::ceil(k / 16);
  double products = rowTiles * columnTiles * steps;
  double loads = steps * columnTiles / 2;
  if (isa<MemRefType>(dot.getA().getType()))
    loads += steps * rowTiles;
  issues(times * (products + loads));
  estimate.tensor +=
      times * products * static_cast<double>(warps) * machine.tensorClocks;
  estimate.shared += times * loads * static_cast<double>(warps) * 4;
}

void Estimator::countAccess(Operation *op, Value memory, RankedTensorType type,
                            double times) {
  Layout layout = *tile::layoutOf(type);
  Type element = type.getElementType();
  double bytes = element.isIndex()
                     ? 8
                     : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  auto all = static_cast<double>(layout.registerCount());
  double width = 1;
  if (type.getRank() > 0)
    width = std::clamp<double>(
        static_cast<double>(layout.contiguousAlong(type.getRank() - 1)), 1,
        16 / bytes);
  double accesses = all / width;
  issues(times * accesses);
  if (tile::isShared(memory.getType()))
    estimate.shared +=
        times * accesses * static_cast<double>(warps) *
        std::max(1.0, width * bytes * 32 / machine.sharedBytesPerClock);
  else
    estimate.memory += times * static_cast<double>(type.getNumElements()) *
                       bytes / machine.memoryBytesPerSecond * machine.clockHz *
                       machine.multiprocessors;
}

/// Issue slots of one element's op, and of the special unit.
static std::pair<double, double> costOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::pair<double, double>>(op)
      .Case<arith::DivFOp>([](auto) { return std::pair(10.0, 1.0); })
      .Case<math::ExpOp, math::Exp2Op>([](auto) { return std::pair(6.0, 1.0); })
      .Case<math::RsqrtOp, math::SqrtOp>(
          [](auto) { return std::pair(10.0, 1.0); })
      .Case<math::TanhOp, math::LogOp, math::SinOp, math::CosOp, math::ErfOp,
            math::PowFOp>([](auto) { return std::pair(24.0, 1.0); })
      .Case<arith::TruncFOp, arith::ExtFOp>(
          [](auto) { return std::pair(0.5, 0.0); })
      .Case<arith::MulFOp>([](arith::MulFOp op) {
        // Fused with the sum that reads it.
        bool fused = op->hasOneUse() &&
                     isa<arith::AddFOp, arith::SubFOp>(*op->user_begin());
        return std::pair(fused ? 0.0 : 1.0, 0.0);
      })
      .Default([](Operation *) { return std::pair(1.0, 0.0); });
}

void Estimator::count(Operation *op, double times) {
  auto lanes = static_cast<double>(warps);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    double trips = tripsOf(loop);
    if (loop.getLowerBound().getDefiningOp<tile::BlockIdOp>())
      trips = std::max(1.0, trips);
    return count(loop.getRegion(), times * trips);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    count(branch.getThenRegion(), times * chanceOf(branch));
    return;
  }
  if (auto dot = dyn_cast<tile::DotOp>(op))
    return countDot(dot, times);
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return countAccess(op, load.getSource(), tileType(load.getResult()), times);
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return countAccess(op, store.getDest(), tileType(store.getSource()), times);
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    double sums = countOf(reduce.getResult().getType());
    double slots = countOf(reduce.getSource().getType());
    Layout layout = *tile::layoutOf(reduce.getSource().getType());
    if (!reduce.getWithinThread())
      for (const Digit &digit : layout.lanes)
        if (!digit.replicated() &&
            llvm::is_contained(reduce.getDims(), digit.dim))
          slots += 2 * sums;
    if (reduce.getScratch()) {
      slots += 5 * sums + barrierSlots;
      estimate.shared += times * 5 * sums * lanes;
    }
    return issues(times * slots);
  }
  if (isa<tile::BarrierOp>(op))
    return issues(times * barrierSlots);
  if (op->getNumResults() == 0 || !tileType(op->getResult(0)) ||
      isKeptElsewhere(op) || isa<tile::SplatOp>(op))
    return;
  auto [slots, special] = costOf(op);
  double all = countOf(op->getResult(0).getType());
  if (auto scan = dyn_cast<tile::ScanOp>(op))
    slots =
        tile::layoutOf(scan.getResult().getType())
                ->runsAlong(
                    scan.getDimension(),
                    tileType(scan.getResult()).getDimSize(scan.getDimension()))
                ->lanes.empty()
            ? 1
            : 2;
  if (auto solve = dyn_cast<tile::SolveOp>(op))
    slots = static_cast<double>(tileType(solve.getResult()).getDimSize(0)) / 2;
  if (isa<tile::GatherOp, tile::ScatterOp, tile::LookupOp>(op))
    slots = 2;
  issues(times * slots * all);
  estimate.special += times * special * all * lanes * 32 / machine.specialLanes;
}

Estimate Estimator::run() {
  number(kernel.getBody());
  for (Block &block : kernel.getBody())
    findRuns(block);
  cutRuns();
  collectLives();
  const Architecture &limits = **findArchitecture(machine.architecture);
  estimate.registers = otherRegisters + most(registers);
  int64_t wanted = estimate.registers +
                   (usesFragments() ? fragmentRegisters : -mostOverestimate);
  estimate.spilled = std::max<int64_t>(0, wanted - limits.registers);
  estimate.sharedBytes = most(buffers);
  estimate.resident = residentBlocks(
      machine, std::min<int64_t>(estimate.registers, limits.registers),
      estimate.sharedBytes, warps);

  count(kernel.getBody(), 1);
  // A register in local memory is written and read about once for each time
  // that all of them are: about as often as there are operations for each.
  double traffic = static_cast<double>(estimate.spilled) /
                   std::max<double>(1, limits.registers);
  estimate.issue *= static_cast<double>(warps) / machine.issueSlots;
  double longest = 0;
  for (auto [name, value] :
       {std::pair<StringRef, double>("issue", estimate.issue),
        {"tensor", estimate.tensor},
        {"special", estimate.special},
        {"shared", estimate.shared},
        {"memory", estimate.memory}})
    if (value > longest) {
      longest = value;
      estimate.bound = name;
    }
  longest *= 1 + 4 * traffic;
  // As many blocks as there are run at once, on as many multiprocessors.
  double used =
      std::min<double>(machine.multiprocessors, static_cast<double>(grid));
  double together = std::min<double>(
      static_cast<double>(std::max<int64_t>(1, estimate.resident)),
      std::ceil(static_cast<double>(grid) / used));
  double hidden =
      std::min(1.0, together * static_cast<double>(warps) / enoughWarps);
  estimate.clocks = longest * static_cast<double>(grid) / used / hidden;
  return estimate;
}

} // namespace

Estimate estimateKernel(func::FuncOp kernel, const Machine &machine) {
  return Estimator(kernel, machine).run();
}

} // namespace drawloom::nvptx
