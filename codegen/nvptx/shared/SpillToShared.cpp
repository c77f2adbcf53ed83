//===- SpillToShared.cpp - tiles that wait in shared memory --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a forward pass makes and its backward pass reads is alive through all
// products in between. Where these need more registers than a thread has, the
// tiles with the longest wait are written to shared memory when they are made,
// and read again when they are needed. Operands of a later product lie there
// anyway. Where that is not enough, sums that a loop carries wait there too:
// each thread adds to its own elements in place.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/layouts/Dots.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXSPILLTOSHARED
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// Of a thread's registers, those that are for addresses, operands on their way
/// and temporaries.
constexpr int64_t workingRegisters = 72;

/// Of what is left, so many are kept free as well, where only one block fits a
/// multiprocessor: by tiles that are copied to shared memory anyway, for which
/// waiting there costs being read once more. Loops that scan read what waits so
/// often that it costs them more than spills do.
constexpr int64_t spareRegisters = 24;

/// The same of a loop with sums of columns between its products: the gradients
/// of an activation's coefficients are long arithmetic.
constexpr int64_t summingRegisters = 128;

/// Tiles of fewer registers are not worth the way to memory and back.
constexpr int64_t fewestRegisters = 4;

/// Registers of 32 bits that a thread holds a tile in.
int64_t registersOf(Value value) {
  std::optional<tile::Layout> layout = tile::layoutOf(value.getType());
  if (!layout)
    return 0;
  Type element = getElementTypeOrSelf(value);
  int64_t bits = element.isIndex()      ? 64
                 : element.isInteger(1) ? 32
                                        : element.getIntOrFloatBitWidth();
  return llvm::divideCeil(layout->registerCount() * bits, 32);
}

/// A tile of a block and the ops that read it, by their places.
struct Wait {
  Value value;
  int64_t registers = 0;
  int64_t made = 0;
  SmallVector<int64_t> read;
  /// It is what the loop carries on: in the registers of what it carried.
  bool carriedOn = false;
  bool waitsAt(int64_t place) const {
    return made < place && !read.empty() && read.back() > place;
  }
  int64_t lastBefore(int64_t place) const {
    int64_t last = made;
    for (int64_t at : read)
      if (at <= place)
        last = at;
    return last;
  }
  int64_t firstAfter(int64_t place) const {
    for (int64_t at : read)
      if (at > place)
        return at;
    return made;
  }
};

class Spiller {
public:
  Spiller(func::FuncOp kernel, int64_t limit, bool hasSmallTiles)
      : kernel(kernel), limit(limit), builder(kernel.getContext()) {
    int64_t warps = warpsOf(kernel);
    available = std::min<int64_t>(255, 65536 / (32 * warps));
    bool isAlone = 2 * 32 * warps * available > 65536;
    spare = isAlone && !hasSmallTiles ? spareRegisters : 0;
  }
  /// Registers beyond what a thread has, where most is alive in the end.
  int64_t run(Block &block);

private:
  void survey(Block &block);
  /// Writes a tile to memory where it is made and reads it again behind
  /// `place`; false where the memory has no room.
  bool keep(Block &block, const Wait &wait, int64_t place);
  /// Lets one of a loop's sums wait in memory between its updates; false where
  /// none can, or memory has no room.
  bool keepSum(Block &block, DenseSet<Value> &refused);
  tile::StoreOp storeOf(Block &block, Value value);
  static Value copyOf(Value value);

  func::FuncOp kernel;
  int64_t limit;
  OpBuilder builder;
  int64_t available, spare;

  DenseMap<Operation *, int64_t> places;
  SmallVector<tile::DotOp> dots;
  std::vector<Wait> waits;
  int64_t always = 0;
};

void Spiller::survey(Block &block) {
  places.clear();
  dots.clear();
  waits.clear();
  always = 0;
  for (auto [place, op] : llvm::enumerate(block)) {
    places[&op] = static_cast<int64_t>(place);
    if (auto dot = dyn_cast<tile::DotOp>(op))
      dots.push_back(dot);
  }
  for (BlockArgument argument : block.getArguments())
    always += registersOf(argument);
  // What was made outside and is read here stays.
  DenseSet<Value> outside;
  block.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!block.getParent()->isAncestor(operand.getParentRegion()) &&
          !isFree(operand.getDefiningOp()) && outside.insert(operand).second)
        always += registersOf(operand);
  });
  for (Operation &op : block)
    for (Value result : op.getResults()) {
      Wait wait;
      wait.value = result;
      wait.registers = registersOf(result);
      wait.made = places[&op];
      if (wait.registers == 0 || isFree(&op))
        continue;
      for (Operation *user : result.getUsers()) {
        Operation *reader = block.findAncestorOpInBlock(*user);
        wait.read.push_back(places.lookup(reader));
        wait.carriedOn |= reader->hasTrait<OpTrait::IsTerminator>() &&
                          isa<scf::ForOp>(block.getParentOp());
      }
      llvm::sort(wait.read);
      if (!wait.carriedOn)
        waits.push_back(std::move(wait));
    }
}

/// The op that copies a whole tile into a buffer of its own.
tile::StoreOp Spiller::storeOf(Block &block, Value value) {
  for (Operation *user : value.getUsers()) {
    auto store = dyn_cast<tile::StoreOp>(user);
    if (!store || store.getSource() != value || store->getBlock() != &block)
      continue;
    auto buffer = store.getDest().getDefiningOp<tile::AllocOp>();
    if (buffer && buffer->getBlock() == &block &&
        llvm::count_if(buffer->getUsers(), [](Operation *other) {
          return isa<tile::StoreOp>(other);
        }) == 1)
      return store;
  }
  return {};
}

/// The buffer that a tile was read from, which holds nothing else.
Value Spiller::copyOf(Value value) {
  auto load = value.getDefiningOp<tile::LoadOp>();
  auto buffer =
      load ? load.getSource().getDefiningOp<tile::AllocOp>() : nullptr;
  if (!buffer || llvm::count_if(buffer->getUsers(), [](Operation *user) {
                   return !isa<tile::LoadOp, tile::DotOp>(user);
                 }) != 1)
    return {};
  return buffer.getBuffer();
}

bool Spiller::keep(Block &block, const Wait &wait, int64_t place) {
  Value value = wait.value;
  SmallVector<OpOperand *> readers;
  Value buffer = copyOf(value);
  // What was read from a copy may be stored to another one: that reads it, too.
  tile::StoreOp store = buffer ? nullptr : storeOf(block, value);
  for (OpOperand &use : value.getUses()) {
    Operation *reader = block.findAncestorOpInBlock(*use.getOwner());
    if (reader != store && places.lookup(reader) > place)
      readers.push_back(&use);
  }
  if (readers.empty() && !store)
    return false;
  Operation *made = value.getDefiningOp();
  Operation *moved = nullptr, *added = nullptr;
  if (buffer) {
    // It was read from there.
  } else if (store) {
    buffer = store.getDest();
    moved = store->getNextNode();
    buffer.getDefiningOp()->moveBefore(&block, block.begin());
    store->moveAfter(made);
  } else {
    auto type = cast<RankedTensorType>(value.getType());
    builder.setInsertionPointToStart(&block);
    buffer = allocatePadded(builder, made->getLoc(), type.getShape(),
                            type.getElementType());
    builder.setInsertionPointAfter(made);
    added = tile::StoreOp::create(builder, made->getLoc(), value, buffer);
  }
  Value again;
  if (!readers.empty()) {
    Operation *first = nullptr;
    for (OpOperand *use : readers) {
      Operation *reader = block.findAncestorOpInBlock(*use->getOwner());
      if (!first || reader->isBeforeInBlock(first))
        first = reader;
    }
    builder.setInsertionPoint(first);
    auto load =
        tile::LoadOp::create(builder, made->getLoc(), value.getType(), buffer);
    if (auto maximum = dyn_cast<arith::MaximumFOp>(made))
      if (auto zero = maximum.getRhs().getDefiningOp<tile::SplatOp>();
          zero && matchPattern(zero.getValue(), m_PosZeroFloat()))
        load->setAttr(nonnegativeAttr, builder.getUnitAttr());
    again = load;
    for (OpOperand *use : readers)
      use->set(again);
  }
  if (sharedBytesOf(kernel) <= limit)
    return true;
  // Back to what it was.
  if (again) {
    again.replaceAllUsesWith(value);
    again.getDefiningOp()->erase();
  }
  if (moved)
    store->moveBefore(moved);
  if (added) {
    added->erase();
    buffer.getDefiningOp()->erase();
  }
  return false;
}

bool Spiller::keepSum(Block &block, DenseSet<Value> &refused) {
  auto loop = dyn_cast<scf::ForOp>(block.getParentOp());
  if (!loop)
    return false;
  // The smallest first: others may need no more.
  std::optional<unsigned> chosen;
  int64_t size = 0;
  for (BlockArgument sum : loop.getRegionIterArgs()) {
    int64_t registers = registersOf(sum);
    unsigned i = sum.getArgNumber() - loop.getNumInductionVars();
    Operation *next = loop.getYieldedValues()[i].getDefiningOp();
    if (registers < fewestRegisters || refused.contains(sum) ||
        !sum.hasOneUse() || *sum.getUsers().begin() != next ||
        !next->hasOneUse() || !isa<tile::DotOp, arith::AddFOp>(next) ||
        !isOwned(*tile::layoutOf(sum.getType())))
      continue;
    if (!chosen || registers < size)
      chosen = i, size = registers;
  }
  if (!chosen)
    return false;
  BlockArgument sum = loop.getRegionIterArg(*chosen);
  auto type = cast<RankedTensorType>(sum.getType());
  int64_t bytes = sharedBytesOf(kernel);
  builder.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  Value buffer =
      allocatePadded(builder, loc, type.getShape(), type.getElementType());
  bytes += llvm::alignTo(bytesOf(cast<MemRefType>(buffer.getType())),
                         sharedAlignment);
  if (bytes > limit) {
    buffer.getDefiningOp()->erase();
    refused.insert(sum);
    return true;
  }
  tile::StoreOp::create(builder, loc, loop.getInitArgs()[*chosen], buffer);
  Operation *next = *sum.getUsers().begin();
  builder.setInsertionPoint(next);
  sum.replaceAllUsesWith(
      tile::LoadOp::create(builder, next->getLoc(), type, buffer));
  builder.setInsertionPointAfter(next);
  tile::StoreOp::create(builder, next->getLoc(), next->getResult(0), buffer);
  builder.setInsertionPointAfter(loop);
  loop.getResult(*chosen).replaceAllUsesWith(
      tile::LoadOp::create(builder, loc, type, buffer));

  // The same loop without it.
  SmallVector<Value> inits(loop.getInitArgs());
  inits.erase(inits.begin() + *chosen);
  builder.setInsertionPoint(loop);
  auto shorter =
      scf::ForOp::create(builder, loc, loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), inits);
  shorter->setAttrs(loop->getAttrs());
  block.getTerminator()->eraseOperand(*chosen);
  block.eraseArgument(sum.getArgNumber());
  shorter.getRegion().takeBody(loop.getRegion());
  for (unsigned i = 0, result = 0; i < loop.getNumResults(); ++i)
    if (i != *chosen)
      loop.getResult(i).replaceAllUsesWith(shorter.getResult(result++));
  loop.erase();
  return true;
}

int64_t Spiller::run(Block &block) {
  DenseSet<Value> refused;
  bool sums =
      llvm::any_of(block.getOps<tile::ReduceOp>(),
                   [](tile::ReduceOp op) { return op.getWithinThread(); });
  int64_t budget = available - (sums ? summingRegisters : workingRegisters);
  for (;;) {
    survey(block);
    if (dots.size() < 2)
      return 0;
    // Where most is alive.
    int64_t worst = 0, most = 0;
    for (tile::DotOp dot : dots) {
      int64_t place = places[dot];
      int64_t alive = always;
      for (const Wait &wait : waits)
        if (wait.waitsAt(place) || wait.made == place ||
            (wait.made < place && !wait.read.empty() &&
             wait.read.back() == place))
          alive += wait.registers;
      if (alive > most)
        most = alive, worst = place;
    }
    if (most <= budget - spare)
      return 0;
    // What waits longest; what is copied anyway costs least.
    const Wait *chosen = nullptr;
    int64_t longest = 0;
    for (const Wait &wait : waits) {
      if (!wait.waitsAt(worst) || wait.registers < fewestRegisters ||
          refused.contains(wait.value))
        continue;
      int64_t length =
          (wait.firstAfter(worst) - wait.lastBefore(worst)) * wait.registers;
      bool isCopied = storeOf(block, wait.value) != nullptr;
      if (most <= budget && !isCopied)
        continue;
      if (isCopied)
        length *= 4;
      if (length > longest)
        longest = length, chosen = &wait;
    }
    if (!chosen) {
      if (most <= budget)
        return 0;
      if (keepSum(block, refused))
        continue;
      return std::max<int64_t>(0, most - (available - workingRegisters));
    }
    Value value = chosen->value;
    if (!keep(block, *chosen, worst))
      refused.insert(value);
  }
}

} // namespace

/// Returns how many registers a thread lacks nevertheless where most is alive.
static int64_t spillToShared(func::FuncOp kernel, int64_t limit) {
  bool hasSmallTiles = scansInLoops(kernel);
  SmallVector<Block *> blocks{&kernel.getBody().front()};
  kernel.walk([&](scf::ForOp loop) { blocks.push_back(loop.getBody()); });
  int64_t excess = 0;
  for (Block *block : blocks)
    excess =
        std::max(excess, Spiller(kernel, limit, hasSmallTiles).run(*block));
  return excess;
}

namespace {
struct NvptxSpillToShared : impl::NvptxSpillToSharedBase<NvptxSpillToShared> {
  using NvptxSpillToSharedBase::NvptxSpillToSharedBase;
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel))
      return;
    int64_t lacking = spillToShared(kernel, limit);
    kernel->setAttr(lackingRegistersAttr,
                    Builder(&getContext()).getI64IntegerAttr(lacking));
  }
};
} // namespace

} // namespace drawloom::nvptx
