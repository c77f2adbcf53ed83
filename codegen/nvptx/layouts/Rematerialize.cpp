//===- Rematerialize.cpp - tiles that are cheaper to compute again -------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A backward pass reads what the forward pass made on its way through an
// activation: of a rational one, ten tiles in f32. All of them follow by
// elementwise arithmetic from the activation's argument, which is one tile of
// 16 bits. Where a block would keep more than its registers hold, what is read
// behind another product is made again there.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXREMATERIALIZE
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// More ops than this are kept rather than made again.
constexpr int64_t mostOps = 96;

int64_t bytesOfTile(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  Type element = type.getElementType();
  int64_t bits = element.isIndex()      ? 64
                 : element.isInteger(1) ? 32
                                        : element.getIntOrFloatBitWidth();
  return type.getNumElements() * bits / 8;
}

bool isElementwise(Operation *op) {
  return op && op->getNumResults() == 1 && isPure(op) &&
         op->getNumRegions() == 0 &&
         isa<RankedTensorType>(op->getResult(0).getType()) &&
         OpTrait::hasElementwiseMappableTraits(op);
}

class Rematerialization {
public:
  explicit Rematerialization(Block &block)
      : block(block), builder(block.getParentOp()) {}

  /// Bytes of the tiles that are alive at the product where most are.
  int64_t mostAlive();
  void run();

private:
  void number() {
    segments.clear();
    int64_t segment = 0;
    for (Operation &op : block) {
      segments[&op] = segment;
      if (isa<tile::DotOp>(op))
        ++segment;
    }
  }
  /// Whether a value stays where it is: a product reads it from shared memory
  /// anyway, or making it again would keep more.
  bool stays(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block || !isElementwise(op))
      return true;
    if (llvm::any_of(value.getUsers(),
                     [](Operation *user) { return isa<tile::DotOp>(user); }))
      return true;
    return isa<arith::TruncFOp>(op) &&
           isa_and_nonnull<tile::DotOp>(op->getOperand(0).getDefiningOp());
  }
  /// Ops that making `value` again takes; more than `mostOps` are not counted.
  int64_t cost(Value value, DenseSet<Value> &seen) {
    Operation *op = value.getDefiningOp();
    if (isFree(op) || stays(value) || !seen.insert(value).second)
      return 0;
    int64_t ops = 1;
    for (Value operand : op->getOperands())
      if (ops <= mostOps)
        ops += cost(operand, seen);
    return ops;
  }
  Value again(Value value, Operation *user, int64_t segment);

  Block &block;
  OpBuilder builder;
  DenseMap<Operation *, int64_t> segments;
  std::map<std::pair<void *, int64_t>, Value> made;
};

int64_t Rematerialization::mostAlive() {
  number();
  int64_t dots = 0;
  for (Operation &op : block)
    dots += isa<tile::DotOp>(op);
  // Changes of what is alive behind each product.
  SmallVector<int64_t> change(dots + 2, 0);
  int64_t always = 0;
  for (BlockArgument argument : block.getArguments())
    always += bytesOfTile(argument);
  for (Operation &op : block)
    for (Value result : op.getResults()) {
      int64_t bytes = bytesOfTile(result);
      if (bytes == 0 || isFree(&op))
        continue;
      int64_t last = segments[&op];
      bool carried = false;
      for (Operation *user : result.getUsers()) {
        Operation *reader = block.findAncestorOpInBlock(*user);
        carried |= reader->hasTrait<OpTrait::IsTerminator>();
        last = std::max(last, segments.lookup(reader));
      }
      if (carried)
        continue;
      change[segments[&op]] += bytes;
      change[last] -= bytes;
    }
  int64_t alive = always, most = 0;
  for (int64_t bytes : change) {
    alive += bytes;
    most = std::max(most, alive);
  }
  return most;
}

Value Rematerialization::again(Value value, Operation *user, int64_t segment) {
  Operation *op = value.getDefiningOp();
  bool free = isFree(op) && op->getBlock() == &block;
  if (!free && stays(value))
    return value;
  if (segments.lookup(op) == segment)
    return value;
  auto [found, isNew] =
      made.try_emplace({value.getAsOpaquePointer(), segment}, Value());
  if (!isNew)
    return found->second;
  Value copy;
  if (free) {
    builder.setInsertionPoint(user);
    copy = cloneFree(builder, value);
  } else {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, again(operand, user, segment));
    builder.setInsertionPoint(user);
    copy = builder.clone(*op, mapping)->getResult(0);
  }
  segments[copy.getDefiningOp()] = segment;
  made[{value.getAsOpaquePointer(), segment}] = copy;
  return copy;
}

void Rematerialization::run() {
  number();
  for (Operation &op : llvm::make_early_inc_range(block)) {
    // Products read from shared memory, and reductions follow what they reduce.
    if (!isElementwise(&op) && !isa<tile::ReduceOp>(op))
      continue;
    int64_t segment = segments.lookup(&op);
    for (OpOperand &operand : op.getOpOperands()) {
      Value value = operand.get();
      Operation *def = value.getDefiningOp();
      bool free = isFree(def) && def->getBlock() == &block;
      if ((!free && stays(value)) || segments.lookup(def) == segment)
        continue;
      DenseSet<Value> seen;
      if (cost(value, seen) > mostOps)
        continue;
      operand.set(again(value, &op, segment));
    }
  }
}

} // namespace

static void rematerialize(func::FuncOp kernel, int64_t warps) {
  // Two fifths of the registers are for what the products themselves need.
  int64_t budget =
      std::min<int64_t>(255, 65536 / (32 * warps)) * 4 * 32 * warps * 3 / 5;
  kernel.walk([&](scf::ForOp loop) {
    Rematerialization tiles(*loop.getBody());
    if (tiles.mostAlive() > budget)
      tiles.run();
  });
}

namespace {
struct NvptxRematerialize : impl::NvptxRematerializeBase<NvptxRematerialize> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      rematerialize(getOperation(), warpsOf(getOperation()));
  }
};
} // namespace

} // namespace drawloom::nvptx
