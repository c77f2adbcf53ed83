//===- AccumulateProducts.cpp - sums of products are one sum --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "passes/Block/Passes.h"
#include "passes/Block/Products.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_ACCUMULATEPRODUCTS
#include "passes/Block/Passes.h.inc"

namespace {

/// A product of matrices that only `reader` needs, with a known number of
/// terms.
struct Product {
  linalg::LinalgOp op;
  int64_t terms = 0;
  /// Whether the sum starts with nothing.
  bool startsAtZero = false;
};

std::optional<Product> productOf(Value value, Operation *reader) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  auto isReader = [&](Operation *user) { return user == reader; };
  if (!op || op->getBlock() != reader->getBlock() || op->getNumResults() != 1 ||
      !isPlainProduct(op) || !llvm::all_of(value.getUsers(), isReader))
    return std::nullopt;
  Product product{op, 1};
  for (auto [kind, range] :
       llvm::zip_equal(op.getIteratorTypesArray(), op.getStaticLoopRanges())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    if (ShapedType::isDynamic(range))
      return std::nullopt;
    product.terms *= range;
  }
  if (auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    product.startsAtZero = matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  return product;
}

/// Whether an op adds its two inputs, element by element, and does no more.
bool isSum(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumResults() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      llvm::any_of(op.getIndexingMapsArray(),
                   [](AffineMap map) { return !map.isIdentity(); }))
    return false;
  if (op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return false;
  auto add = dyn_cast<arith::AddFOp>(op.getBody()->front());
  return add && op.getBody()->getTerminator()->getOperand(0) == add &&
         llvm::is_contained(add->getOperands(), op.getBody()->getArgument(0)) &&
         llvm::is_contained(add->getOperands(), op.getBody()->getArgument(1)) &&
         add->getNextNode() == op.getBody()->getTerminator();
}

struct AccumulateProducts : impl::AccumulateProductsBase<AccumulateProducts> {
  void runOnOperation() override {
    if (getOperation().isExternal() || isOpaque(getOperation()))
      return;
    SmallVector<linalg::GenericOp> sums;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isSum(op))
        sums.push_back(op);
    });
    for (linalg::GenericOp sum : sums)
      accumulate(sum);
  }

  static void accumulate(linalg::GenericOp sum) {
    std::optional<Product> first = productOf(sum.getInputs()[0], sum),
                           second = productOf(sum.getInputs()[1], sum);
    if (!first || !second || first->op == second->op)
      return;
    // Of one array, one type may know more extents than another.
    for (const Product *product : {&*first, &*second})
      if (product->op->getResultTypes() != sum->getResultTypes())
        return;
    // The longer sum first: what reads its own result has the shorter way.
    if (first->terms < second->terms)
      std::swap(first, second);
    if (!second->startsAtZero)
      std::swap(first, second);
    if (!second->startsAtZero)
      return;
    second->op->moveBefore(sum);
    second->op.getDpsInitsMutable()[0].set(first->op->getResult(0));
    sum.getResult(0).replaceAllUsesWith(second->op->getResult(0));
    sum.erase();
  }
};

} // namespace
} // namespace drawloom
