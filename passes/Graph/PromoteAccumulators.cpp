//===- PromoteAccumulators.cpp - sums of narrow floats in f32 ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Graph/Passes.h"

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom {

#define GEN_PASS_DEF_PROMOTEACCUMULATORS
#include "passes/Graph/Passes.h.inc"

namespace {

bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

/// The same tensor in another type of float.
Value convert(OpBuilder &b, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, value), element);
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, empty.getType(), value, empty, {map, map}, loops,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               bool widens = element.getIntOrFloatBitWidth() >
                             args[0].getType().getIntOrFloatBitWidth();
               Value converted =
                   widens ? arith::ExtFOp::create(b, loc, element, args[0])
                                .getResult()
                          : arith::TruncFOp::create(b, loc, element, args[0])
                                .getResult();
               linalg::YieldOp::create(b, loc, converted);
             })
      .getResult(0);
}

/// What a sum starts from, in f32.
Value wideInit(OpBuilder &b, Location loc, Value init) {
  Type f32 = b.getF32Type();
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return convert(b, loc, init, f32);
  Value empty =
      tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, init), f32);
  Value value = arith::ExtFOp::create(b, loc, f32, fill.getInputs()[0]);
  return linalg::FillOp::create(b, loc, value, empty).getResult(0);
}

/// A product of narrow matrices: f32 holds its terms in full.
void widenProduct(IRRewriter &rewriter, LinalgOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value init = wideInit(rewriter, loc, op.getDpsInits()[0]);
  auto wide =
      linalg::ContractOp::create(rewriter, loc, init.getType(),
                                 op.getDpsInputs(), init, op.getIndexingMaps());
  rewriter.replaceOp(op,
                     convert(rewriter, loc, wide->getResult(0),
                             getElementTypeOrSelf(op->getResult(0).getType())));
}

/// For each result of `op` the addition that sums it up; none where it is wide
/// or made otherwise.
SmallVector<arith::AddFOp> additionsOf(linalg::GenericOp op) {
  SmallVector<arith::AddFOp> additions(op.getNumResults());
  for (OpResult result : op.getResults()) {
    unsigned i = result.getResultNumber();
    SmallVector<Operation *> combiners;
    bool adds = isNarrow(result.getType()) &&
                !op.getIndexingMapMatchingResult(result).isPermutation() &&
                matchReduction(op.getRegionOutputArgs(), i, combiners) &&
                combiners.size() == 1;
    if (adds)
      additions[i] = dyn_cast<arith::AddFOp>(combiners[0]);
  }
  return additions;
}

void widenSums(IRRewriter &rewriter, linalg::GenericOp op) {
  SmallVector<arith::AddFOp> additions = additionsOf(op);
  if (llvm::none_of(additions, [](arith::AddFOp add) { return add; }))
    return;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Type f32 = rewriter.getF32Type();
  SmallVector<Value> inits;
  for (auto [init, addition] : llvm::zip_equal(op.getOutputs(), additions))
    inits.push_back(addition ? wideInit(rewriter, loc, init) : init);
  SmallVector<Type> types;
  for (Value init : inits)
    types.push_back(init.getType());
  auto wide = linalg::GenericOp::create(rewriter, loc, types, op.getInputs(),
                                        inits, op.getIndexingMapsArray(),
                                        op.getIteratorTypesArray());
  rewriter.cloneRegionBefore(op.getRegion(), wide.getRegion(),
                             wide.getRegion().begin());
  Block *body = wide.getBody();
  for (auto [i, narrow] : llvm::enumerate(additions)) {
    if (!narrow)
      continue;
    BlockArgument sum = wide.getRegionOutputArgs()[i];
    sum.setType(f32);
    auto addition =
        body->getTerminator()->getOperand(i).getDefiningOp<arith::AddFOp>();
    Value term =
        addition.getLhs() == sum ? addition.getRhs() : addition.getLhs();
    rewriter.setInsertionPoint(addition);
    Value wideTerm = arith::ExtFOp::create(rewriter, loc, f32, term);
    rewriter.replaceOp(addition,
                       arith::AddFOp::create(rewriter, loc, sum, wideTerm,
                                             addition.getFastmathAttr()));
  }
  rewriter.setInsertionPointAfter(wide);
  SmallVector<Value> results;
  for (auto [result, old, addition] :
       llvm::zip_equal(wide.getResults(), op.getResults(), additions))
    results.push_back(addition ? convert(rewriter, loc, result,
                                         getElementTypeOrSelf(old.getType()))
                               : Value(result));
  rewriter.replaceOp(op, results);
}

struct PromoteAccumulators
    : impl::PromoteAccumulatorsBase<PromoteAccumulators> {
  void runOnOperation() override {
    SmallVector<LinalgOp> ops;
    getOperation().walk([&](LinalgOp op) {
      if (op.hasPureTensorSemantics() &&
          llvm::any_of(op->getResultTypes(), isNarrow) &&
          op.getNumParallelLoops() != op.getNumLoops())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (LinalgOp op : ops) {
      bool product = linalg::isaContractionOpInterface(op) &&
                     isNarrow(op.getDpsInputs()[0].getType()) &&
                     isNarrow(op.getDpsInputs()[1].getType());
      if (product && isPlainProduct(op)) {
        widenProduct(rewriter, op);
        continue;
      }
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        rewriter.setInsertionPoint(op);
        FailureOr<linalg::GenericOp> made =
            linalg::generalizeNamedOp(rewriter, op);
        if (failed(made))
          continue;
        generic = *made;
      }
      widenSums(rewriter, generic);
    }
  }

  /// Whether the body only multiplies and adds, and each loop is in two of the
  /// operands: what linalg.contract can say.
  static bool isPlainProduct(LinalgOp op) {
    SmallVector<int> uses(op.getNumLoops());
    for (AffineMap map : op.getIndexingMapsArray())
      for (AffineExpr result : map.getResults())
        ++uses[cast<AffineDimExpr>(result).getPosition()];
    return llvm::all_of(uses, [](int n) { return n >= 2; }) &&
           llvm::all_of(op.getBlock()->without_terminator(),
                        [](Operation &inner) {
                          return isa<arith::MulFOp, arith::AddFOp>(inner);
                        });
  }
};

} // namespace
} // namespace drawloom
