//===- RelayoutReductions.cpp - sums of columns in a layout of their own -===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradients of an activation's coefficients are sums over rows, ten for
// each layer, which a loop carries. As a product leaves its results, a thread
// has two elements of every eighth column: sixteen columns, and sixteen
// registers for each sum. The arithmetic between two products that ends in many
// sums gets a layout of its own therefore, in which a thread has one column,
// and goes through shared memory on its way in, as tiles of 16 bits, and on its
// way out, where the next product reads it anyway.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXRELAYOUTREDUCTIONS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {

/// Sums of fewer registers between two products stay where these leave results.
static constexpr int64_t fewSumRegisters = 64;

static RankedTensorType rowsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 2 ? type : RankedTensorType();
}

namespace {

class Relayout {
public:
  explicit Relayout(Block &block) : block(block), builder(block.getParentOp()) {
    int64_t segment = 0;
    for (Operation &op : block) {
      segments[&op] = segment;
      if (isa<tile::DotOp>(op))
        ++segment;
    }
  }
  void run();

private:
  /// An op of the arithmetic of a segment: neither a product's result nor its
  /// rounding, which come from where the product leaves them.
  bool isMember(Operation *op, int64_t segment) {
    if (!op || op->getBlock() != &block || segments.lookup(op) != segment ||
        op->getNumResults() != 1 || !rowsOf(op->getResult(0)) ||
        op->getNumRegions() != 0 || !OpTrait::hasElementwiseMappableTraits(op))
      return false;
    return !isa<arith::TruncFOp>(op) ||
           !isa_and_nonnull<tile::DotOp>(op->getOperand(0).getDefiningOp());
  }
  void detach(int64_t segment, ArrayRef<tile::ReduceOp> sums);

  Block &block;
  OpBuilder builder;
  DenseMap<Operation *, int64_t> segments;
};

void Relayout::detach(int64_t segment, ArrayRef<tile::ReduceOp> sums) {
  tile::ReduceOp first = sums.front();
  RankedTensorType shape = rowsOf(first.getSource());
  llvm::SetVector<Operation *> members;
  SmallVector<Operation *> open;
  auto add = [&](Operation *op) {
    if (isMember(op, segment) &&
        rowsOf(op->getResult(0)).getShape() == shape.getShape() &&
        members.insert(op))
      open.push_back(op);
  };
  for (tile::ReduceOp sum : sums)
    add(sum.getSource().getDefiningOp());
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    for (Value operand : op->getOperands())
      add(operand.getDefiningOp());
    for (Operation *user : op->getUsers())
      add(user);
  }
  DenseMap<Value, Value> entered;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    bool inside = members.contains(&op);
    if (inside)
      for (OpOperand &operand : op.getOpOperands()) {
        Value value = operand.get();
        Operation *def = value.getDefiningOp();
        if (!rowsOf(value) || members.contains(def))
          continue;
        Value &copy = entered[value];
        if (!copy) {
          builder.setInsertionPoint(&op);
          // What is made of few numbers is made in either layout.
          if (isFree(def))
            copy = cloneFree(builder, value);
          else
            copy = tile::ConvertOp::create(builder, op.getLoc(),
                                           value.getType(), value);
        }
        operand.set(copy);
      }
    // Arithmetic behind the next product has the layout of that.
    if (!inside && OpTrait::hasElementwiseMappableTraits(&op))
      for (OpOperand &operand : op.getOpOperands())
        if (members.contains(operand.get().getDefiningOp())) {
          builder.setInsertionPoint(&op);
          operand.set(tile::ConvertOp::create(
              builder, op.getLoc(), operand.get().getType(), operand.get()));
        }
  }
}

void Relayout::run() {
  // Registers that the sums of a segment take where products leave results.
  std::map<int64_t, SmallVector<tile::ReduceOp>> sums;
  std::map<int64_t, int64_t> registers;
  for (Operation &op : block) {
    auto reduce = dyn_cast<tile::ReduceOp>(op);
    if (!reduce || reduce.getKind() != tile::Combiner::Add ||
        reduce.getDims() != ArrayRef<int64_t>{0} || !reduce->hasOneUse() ||
        !isMember(reduce.getSource().getDefiningOp(), segments[&op]))
      continue;
    auto add = dyn_cast<arith::AddFOp>(*reduce->getUsers().begin());
    if (!add || !add->hasOneUse() ||
        !(*add->getUsers().begin())->hasTrait<OpTrait::IsTerminator>())
      continue;
    sums[segments[&op]].push_back(reduce);
    registers[segments[&op]] += rowsOf(reduce.getSource()).getDimSize(1) / 4;
  }
  for (auto &[segment, list] : sums)
    if (registers[segment] > fewSumRegisters)
      detach(segment, list);
}

} // namespace

static void relayoutReductions(func::FuncOp kernel) {
  kernel.walk([&](scf::ForOp loop) {
    if (!loop.getBody()->getOps<tile::DotOp>().empty())
      Relayout(*loop.getBody()).run();
  });
}

namespace {
struct NvptxRelayoutReductions
    : impl::NvptxRelayoutReductionsBase<NvptxRelayoutReductions> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      relayoutReductions(getOperation());
  }
};
} // namespace

} // namespace drawloom::nvptx
