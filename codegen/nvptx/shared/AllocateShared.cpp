//===- AllocateShared.cpp - the arena of shared memory, and its barriers --===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/dialect/Tile.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include <functional>

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXALLOCATESHARED
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// Barriers between accesses of different threads to the same memory.
class Barriers {
public:
  Barriers(func::FuncOp kernel, llvm::function_ref<bool(Value)> isMemory)
      : isMemory(isMemory) {
    inputs = kernel->getAttrOfType<IntegerAttr>(inputsAttr).getInt();
  }

  struct Access {
    Value root;
    bool write;
    /// Where each thread accesses its own elements of a whole buffer: the
    /// layout that says which.
    Attribute own;
    bool operator==(const Access &other) const {
      return root == other.root && write == other.write && own == other.own;
    }
  };
  /// Accesses since the last barrier, and copies that nobody has waited for:
  /// they may still write.
  struct State {
    SmallVector<Access> accesses, copies;
  };

  State run(Block &block, State state);

private:
  static void add(SmallVector<Access> &list, Access access) {
    if (!llvm::is_contained(list, access))
      list.push_back(access);
  }
  static void merge(State &state, const State &other) {
    for (Access access : other.accesses)
      add(state.accesses, access);
    for (Access access : other.copies)
      add(state.copies, access);
  }
  static bool overlap(Value a, Value b) {
    if (a == b)
      return true;
    auto first = a.getDefiningOp<tile::AllocOp>();
    auto second = b.getDefiningOp<tile::AllocOp>();
    if (!first || !second || !first.getOffset() || !second.getOffset())
      return false;
    int64_t from = *first.getOffset(), to = *second.getOffset();
    return from < to + bytesOf(cast<MemRefType>(b.getType())) &&
           to < from + bytesOf(cast<MemRefType>(a.getType()));
  }
  static bool conflict(const State &state, Access access) {
    return llvm::any_of(state.accesses, [&](const Access &before) {
      bool own =
          before.own && before.own == access.own && before.root == access.root;
      return (before.write || access.write) && !own &&
             overlap(before.root, access.root);
    });
  }
  static Attribute ownOf(Operation &op) {
    Value tile, memory;
    if (auto load = dyn_cast<tile::LoadOp>(op))
      tile = load.getResult(), memory = load.getSource();
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      tile = store.getSource(), memory = store.getDest();
    if (!tile || !memory.getDefiningOp<tile::AllocOp>())
      return {};
    auto type = cast<RankedTensorType>(tile.getType());
    if (!tile::layoutOf(type))
      return {};
    tile::Layout layout = *tile::layoutOf(type);
    // Threads beyond the tile's borders read its first element, which they
    // leave to its owner afterwards.
    bool readsOthers =
        isa<tile::LoadOp>(op) &&
        ArrayRef(layout.extents(type.getRank())) != type.getShape();
    return readsOthers || !isOwned(layout) ? Attribute() : type.getEncoding();
  }
  /// Memory that this kernel only reads needs none.
  bool matters(Value root) {
    auto argument = dyn_cast<BlockArgument>(root);
    if (!argument)
      return isMemory(root);
    return static_cast<int64_t>(argument.getArgNumber()) >= inputs;
  }

  int64_t inputs;
  llvm::function_ref<bool(Value)> isMemory;
};

Barriers::State Barriers::run(Block &block, State state) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<tile::BarrierOp>(op)) {
      state.accesses.clear();
      continue;
    }
    // What a thread has waited for, the others see behind the next barrier.
    // Which copies those are is not told apart.
    if (isa<tile::WaitCopiesOp>(op)) {
      for (Access copy : state.copies)
        add(state.accesses, copy);
      state.copies.clear();
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      // What an iteration leaves meets the next one.
      State once = run(*loop.getBody(), state);
      merge(state, once);
      State again = run(*loop.getBody(), state);
      merge(state, again);
      continue;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (int iteration = 0; iteration < 2; ++iteration) {
        state = run(*loop.getBeforeBody(), state);
        merge(state, run(*loop.getAfterBody(), state));
      }
      continue;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      State before = state;
      state = run(*branch.thenBlock(), before);
      merge(state, branch.getElseRegion().empty()
                       ? before
                       : run(*branch.elseBlock(), before));
      continue;
    }
    SmallVector<Access> accesses;
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects)
      continue;
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (const MemoryEffects::EffectInstance &effect : instances) {
      if (!effect.getValue() || !isa<MemRefType>(effect.getValue().getType()) ||
          isa<MemoryEffects::Allocate>(effect.getEffect()))
        continue;
      Value root = rootOf(effect.getValue());
      if (matters(root))
        accesses.push_back(
            {root, isa<MemoryEffects::Write>(effect.getEffect()), ownOf(op)});
    }
    if (llvm::any_of(accesses,
                     [&](Access access) { return conflict(state, access); })) {
      OpBuilder builder(&op);
      tile::BarrierOp::create(builder, op.getLoc());
      state.accesses.clear();
    }
    if (isa<tile::CopyAsyncOp>(op)) {
      for (Access access : accesses)
        add(access.write ? state.copies : state.accesses, access);
      continue;
    }
    // A reduction has a barrier between writing its scratch and reading it.
    if (auto reduce = dyn_cast<tile::ReduceOp>(op);
        reduce && reduce.getScratch()) {
      state.accesses.clear();
      add(state.accesses, {rootOf(reduce.getScratch()), false, {}});
      continue;
    }
    for (Access access : accesses)
      add(state.accesses, access);
  }
  return state;
}

} // namespace

int64_t sharedBytesOf(func::FuncOp kernel) {
  return layOutArena(sharedBuffers(kernel).lifetimes, sharedAlignment).bytes;
}

void insertBarriers(func::FuncOp kernel,
                    llvm::function_ref<bool(Value)> isMemory) {
  Barriers(kernel, isMemory).run(kernel.getBody().front(), {});
}

SharedBuffers sharedBuffers(func::FuncOp kernel) {
  DenseMap<Operation *, int64_t> number;
  DenseMap<Operation *, int64_t> end;
  int64_t next = 0;
  std::function<void(Operation *)> count = [&](Operation *op) {
    number[op] = next++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          count(&inner);
    end[op] = next++;
  };
  count(kernel);
  // Where all copies that a thread began up to this op are known to be over.
  auto settled = [&](Operation *op) {
    for (; op != kernel; op = op->getParentOp())
      for (Operation *at = op; (at = at->getNextNode());)
        if (auto wait = dyn_cast<tile::WaitCopiesOp>(at);
            wait && wait.getUnderWay() == 0)
          return number[at];
    return end[kernel];
  };
  SharedBuffers shared;
  kernel.walk([&](tile::AllocOp buffer) {
    Lifetime lifetime{bytesOf(cast<MemRefType>(buffer.getBuffer().getType())),
                      end[kernel], number[buffer]};
    Operation *lastCopy = nullptr;
    int64_t lastRead = -1;
    std::function<void(Value)> visit = [&](Value memory) {
      for (Operation *user : memory.getUsers()) {
        if (auto copy = dyn_cast<tile::CopyAsyncOp>(user);
            copy && copy.getDest() == memory &&
            (!lastCopy || number[lastCopy] < number[copy]))
          lastCopy = copy;
        if (hasEffect<MemoryEffects::Read>(user, memory)) {
          // An iteration reads what the one before it copied.
          Operation *whole = user;
          for (Operation *at = user; at->getBlock() != buffer->getBlock();) {
            at = at->getParentOp();
            if (isa<LoopLikeOpInterface>(at))
              whole = at;
          }
          lastRead = std::max(lastRead, end[whole]);
        }
        // In a loop that the buffer is made outside of, it is in use through
        // all iterations.
        Operation *ancestor = buffer->getBlock()->findAncestorOpInBlock(*user);
        if (!isa<ViewLikeOpInterface>(user))
          lifetime.first = std::min(lifetime.first, number[ancestor]);
        lifetime.last = std::max(lifetime.last, end[ancestor]);
        for (Value result : user->getResults())
          if (isa<MemRefType>(result.getType()))
            visit(result);
      }
    };
    visit(buffer.getBuffer());
    // Whoever reads a copy waits for it. One that nobody reads is still under
    // way when its buffer is not in use any more.
    if (lastCopy && number[lastCopy] > lastRead)
      lifetime.last = std::max(lifetime.last, settled(lastCopy));
    lifetime.first = std::min(lifetime.first, lifetime.last);
    shared.buffers.push_back(buffer);
    shared.lifetimes.push_back(lifetime);
  });
  return shared;
}

namespace {

struct NvptxAllocateShared
    : impl::NvptxAllocateSharedBase<NvptxAllocateShared> {
  using NvptxAllocateSharedBase::NvptxAllocateSharedBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (kernel.isExternal() || !kernel->hasAttr(kernelAttr))
      return;
    auto [buffers, lifetimes] = sharedBuffers(kernel);
    ArenaLayout arena = layOutArena(lifetimes, sharedAlignment);
    Builder builder(&getContext());
    for (auto [buffer, offset] : llvm::zip(buffers, arena.offsets))
      buffer.setOffset(offset);
    // Also where it is too much: whoever compiles may cut blocks smaller then.
    kernel->setAttr(sharedBytesAttr, builder.getI64IntegerAttr(arena.bytes));
    if (arena.bytes > limit.getValue()) {
      InFlightDiagnostic error =
          kernel.emitError("needs ")
          << arena.bytes << " bytes of shared memory, but a block has at most "
          << limit.getValue();
      // Where most is needed at once.
      int64_t peak = 0, most = 0;
      for (const Lifetime &at : lifetimes) {
        int64_t sum = 0;
        for (const Lifetime &other : lifetimes)
          if (other.first <= at.first && at.first <= other.last)
            sum += other.bytes;
        if (sum > most)
          most = sum, peak = at.first;
      }
      for (auto [buffer, lifetime] : llvm::zip(buffers, lifetimes))
        if (lifetime.first <= peak && peak <= lifetime.last)
          error.attachNote(buffer.getLoc())
              << lifetime.bytes << " bytes: " << buffer.getBuffer().getType();
      return signalPassFailure();
    }
    insertBarriers(kernel, [](Value) { return true; });
  }
};

} // namespace
} // namespace drawloom::nvptx
