//===- FormSweeps.cpp - ops on pairs, tile by tile ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/Rgnn.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "passes/Relational/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_FORMSWEEPS
#include "passes/Relational/Passes.h.inc"

using namespace rgnn;

namespace {

/// Ops that one sweep computes.
class Sweep {
public:
  explicit Sweep(Operation *product)
      : direction(*tileDirection(product)), graph(product->getOperand(0)),
        block(product->getBlock()) {
    ops.insert(product);
  }

  /// Takes in what it may, until there is nothing more. True where that is
  /// more than the product.
  bool grow();
  void replace(RewriterBase &rewriter);

private:
  bool suits(Operation *op) const;
  bool allUsersInside(Operation *op) const;
  /// Whether a sweep with `op` would need what it computes itself.
  bool wouldWaitForItself(Operation *op) const;
  bool takeProducts();
  bool takeProducers();
  bool takeConsumers();
  bool take(Operation *op);

  Direction direction;
  Value graph;
  Block *block;
  llvm::SetVector<Operation *> ops;
};

} // namespace

/// The rows of pairs or nodes that a product takes from others.
static SmallVector<Value> rowsOf(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op))
    return {linear.getX()};
  auto outer = cast<OuterOp>(op);
  return {outer.getA(), outer.getB()};
}

bool Sweep::suits(Operation *op) const {
  return op && op->getBlock() == block && !ops.contains(op) &&
         isa<LinearOp, OuterOp, TraverseOp>(op) && op->getOperand(0) == graph &&
         tileDirection(op) == direction;
}

bool Sweep::allUsersInside(Operation *op) const {
  return llvm::all_of(op->getUsers(),
                      [&](Operation *user) { return ops.contains(user); });
}

bool Sweep::wouldWaitForItself(Operation *op) const {
  // What the ops need from outside must not need them.
  llvm::SetVector<Operation *> all(ops.begin(), ops.end());
  all.insert(op);
  SmallVector<Operation *> open;
  DenseSet<Operation *> seen;
  for (Operation *one : all)
    for (Operation *user : one->getUsers())
      if (Operation *own = block->findAncestorOpInBlock(*user);
          own && !all.contains(own) && seen.insert(own).second)
        open.push_back(own);
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers()) {
      Operation *own = block->findAncestorOpInBlock(*user);
      if (!own)
        continue;
      if (all.contains(own))
        return true;
      if (seen.insert(own).second)
        open.push_back(own);
    }
  return false;
}

bool Sweep::take(Operation *op) {
  if (!suits(op) || wouldWaitForItself(op))
    return false;
  auto isInside = [&](Operation *other) {
    return other == op || ops.contains(other);
  };
  if (!readsTilesOnly(op, isInside) || !llvm::all_of(ops, [&](Operation *own) {
        return readsTilesOnly(own, isInside);
      }))
    return false;
  ops.insert(op);
  return true;
}

/// Products of the same rows.
bool Sweep::takeProducts() {
  for (Operation *op : ops.getArrayRef())
    if (isa<LinearOp, OuterOp>(op))
      for (Value rows : rowsOf(op))
        for (Operation *user : rows.getUsers())
          if (isa<LinearOp, OuterOp>(user) &&
              llvm::is_contained(rowsOf(user), rows) && take(user))
            return true;
  return false;
}

/// What gives rows to pairs that only the sweep reads.
bool Sweep::takeProducers() {
  for (Operation *op : ops.getArrayRef())
    for (Value operand : op->getOperands().drop_front()) {
      auto made = operand.getDefiningOp<TraverseOp>();
      if (made && made.getNumResults() > 0 &&
          made.resultSpace(0) == pairsOf(direction) && allUsersInside(made) &&
          take(made))
        return true;
    }
  return false;
}

/// What adds up at nodes the rows that a product gives to pairs.
bool Sweep::takeConsumers() {
  for (Operation *op : ops.getArrayRef()) {
    auto linear = dyn_cast<LinearOp>(op);
    if (!linear || !linear.getY().hasOneUse())
      continue;
    auto user = dyn_cast<TraverseOp>(*linear.getY().user_begin());
    if (user && user.getOver() == pairsOf(direction) && take(user))
      return true;
  }
  return false;
}

bool Sweep::grow() {
  while (takeProducts() || takeProducers() || takeConsumers())
    ;
  return ops.size() > 1;
}

void Sweep::replace(RewriterBase &rewriter) {
  SmallVector<Operation *> order(ops.getArrayRef());
  llvm::sort(order,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SmallVector<Value> results;
  for (Operation *op : order)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !ops.contains(user); }))
        results.push_back(result);
  remark::passed(order.back()->getLoc(),
                 remark::RemarkOpts::name("Swept").category("rgnn-form-sweeps"))
      << remark::metric("ops", static_cast<int64_t>(order.size()))
      << remark::metric("results", static_cast<int64_t>(results.size()));
  rewriter.setInsertionPoint(order.back());
  auto sweep = SweepOp::create(rewriter, order.back()->getLoc(),
                               TypeRange(ValueRange(results)));
  rewriter.createBlock(&sweep.getBody());
  IRMapping mapping;
  for (Operation *op : order)
    rewriter.clone(*op, mapping);
  YieldOp::create(rewriter, sweep.getLoc(),
                  llvm::map_to_vector(results, [&](Value value) {
                    return mapping.lookup(value);
                  }));
  for (auto [result, made] : llvm::zip_equal(results, sweep.getResults()))
    rewriter.replaceAllUsesExcept(result, made, sweep);
  for (Operation *op : llvm::reverse(order))
    rewriter.eraseOp(op);
  // What reads a result may have stood before the last of the ops.
  sortTopologically(block);
}

namespace {
struct FormSweeps : impl::FormSweepsBase<FormSweeps> {
  void runOnOperation() override {
    SmallVector<Operation *> products;
    getOperation().walk([&](Operation *op) {
      if (isa<LinearOp, OuterOp>(op) && !op->getParentOfType<SweepOp>())
        products.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    while (!products.empty()) {
      Operation *product = products.front();
      products.erase(products.begin());
      Sweep sweep(product);
      if (!sweep.grow())
        continue;
      sweep.replace(rewriter);
      // Its products are gone.
      products.clear();
      getOperation().walk([&](Operation *op) {
        if (isa<LinearOp, OuterOp>(op) && !op->getParentOfType<SweepOp>())
          products.push_back(op);
      });
    }
  }
};
} // namespace

} // namespace drawloom
