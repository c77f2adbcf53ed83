//===- TokenSteps.cpp - tokens of several steps ---------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The n steps of a token are n tokens of the same op without `steps_per_token`:
// the decay of the first is the token's, the query of the last, and the others
// are 0. What the queries of 0 read is computed, too, and left.
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Schedule/TokenSteps.h"
#include "dialects/LinRec/Chunk/Recurrence.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

class Steps {
public:
  template <typename Op>
  Steps(OpBuilder &b, Op op) : b(b), loc(op.getLoc()), form(op) {}

  /// [B, T, ...] as one step `at` of each token, the others 0: [B, n T, ...].
  Value spread(Value x, int64_t at) {
    RankedTensorType type = Recurrence::type(x);
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin() + 2, form.steps);
    int64_t rank = shape.size();
    Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
    AffineMap all = b.getMultiDimIdentityMap(rank);
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    auto spread = linalg::GenericOp::create(
        b, loc, empty.getType(), x, empty,
        ArrayRef<AffineMap>{all.dropResult(2), all}, loops,
        [&](OpBuilder &nested, Location, ValueRange e) {
          Value step = linalg::IndexOp::create(nested, loc, 2);
          Value own = arith::ConstantIndexOp::create(nested, loc, at);
          Value is = arith::CmpIOp::create(nested, loc,
                                           arith::CmpIPredicate::eq, step, own);
          Value zero = arith::ConstantOp::create(
              nested, loc, nested.getZeroAttr(type.getElementType()));
          Value value = arith::SelectOp::create(nested, loc, is, e[0], zero);
          linalg::YieldOp::create(nested, loc, value);
        });
    return tensor::CollapseShapeOp::create(b, loc, spread.getResult(0),
                                           groups(rank));
  }

  /// Step `at` of each token of [B, n T, ...]: [B, T, ...].
  Value taken(Value x, int64_t at) {
    RankedTensorType type = Recurrence::type(x);
    SmallVector<int64_t> shape(type.getShape());
    shape[1] /= form.steps;
    auto result = RankedTensorType::get(shape, type.getElementType());
    shape.insert(shape.begin() + 2, form.steps);
    int64_t rank = shape.size();
    auto apart = RankedTensorType::get(shape, type.getElementType());
    x = tensor::ExpandShapeOp::create(b, loc, apart, x, groups(rank));
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), sizes,
        strides(rank, b.getIndexAttr(1));
    offsets[2] = b.getIndexAttr(at);
    shape[2] = 1;
    for (int64_t extent : shape)
      sizes.push_back(b.getIndexAttr(extent));
    return tensor::ExtractSliceOp::create(b, loc, result, x, offsets, sizes,
                                          strides);
  }

  /// The op of single steps.
  template <typename Op> Op ofSteps(Op op) {
    Op inner = cast<Op>(b.clone(*op));
    inner.removeStepsPerTokenAttr();
    inner.getQMutable().set(spread(form.q, form.steps - 1));
    if (form.decay)
      inner.getDecayMutable().assign(spread(form.decay, 0));
    if (form.starts)
      inner.getStartsMutable().assign(times(form.starts));
    // Behind what it takes.
    inner->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    return inner;
  }

private:
  static SmallVector<ReassociationIndices> groups(int64_t rank) {
    SmallVector<ReassociationIndices> groups = {{0}, {1, 2}};
    for (int64_t i = 3; i < rank; ++i)
      groups.push_back({i});
    return groups;
  }

  /// Tokens, counted in steps.
  Value times(Value starts) {
    RankedTensorType type = Recurrence::type(starts);
    Value empty =
        tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    AffineMap all = b.getMultiDimIdentityMap(1);
    return linalg::GenericOp::create(
               b, loc, type, starts, empty, ArrayRef<AffineMap>{all, all},
               ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
               [&](OpBuilder &nested, Location, ValueRange e) {
                 Value count;
                 if (type.getElementType().isIndex())
                   count =
                       arith::ConstantIndexOp::create(nested, loc, form.steps);
                 else
                   count = arith::ConstantOp::create(
                       nested, loc,
                       nested.getIntegerAttr(type.getElementType(),
                                             form.steps));
                 Value product =
                     arith::MulIOp::create(nested, loc, e[0], count);
                 linalg::YieldOp::create(nested, loc, product);
               })
        .getResult(0);
  }

public:
  OpBuilder &b;
  Location loc;
  Recurrence form;
};

} // namespace

SmallVector<Value> scanInSteps(OpBuilder &b, ScanOp op) {
  Steps steps(b, op);
  ScanOp inner = steps.ofSteps(op);
  inner.getO().setType(op.getV().getType());
  RankedTensorType o = Recurrence::type(op.getO());
  // What nobody reads stays so.
  Value read = op.getO().use_empty()
                   ? tensor::EmptyOp::create(b, op.getLoc(), o.getShape(),
                                             o.getElementType())
                         .getResult()
                   : steps.taken(inner.getO(), steps.form.steps - 1);
  return {read, inner.getFinal()};
}

SmallVector<Value> differentiateInSteps(OpBuilder &b, ScanBwdOp op) {
  Steps steps(b, op);
  Value dO = steps.spread(op.getDO(), steps.form.steps - 1);
  ScanBwdOp inner = steps.ofSteps(op);
  inner.getDOMutable().set(dO);
  // Gradients of what has a row for each token, and their step: of q, and
  // behind those of k and v, of the decay.
  inner.getGradients()[0].setType(inner.getQ().getType());
  if (inner.getDecay())
    inner.getGradients()[3].setType(inner.getDecay().getType());
  SmallVector<Value> found;
  for (auto [position, old] : llvm::enumerate(op.getGradients())) {
    Value gradient = inner.getGradients()[position];
    auto type = cast<RankedTensorType>(old.getType());
    if (old.use_empty())
      gradient = tensor::EmptyOp::create(b, op.getLoc(), type.getShape(),
                                         type.getElementType());
    else if (position == 0)
      gradient = steps.taken(gradient, steps.form.steps - 1);
    else if (position == 3 && inner.getDecay())
      gradient = steps.taken(gradient, 0);
    found.push_back(gradient);
  }
  return found;
}

} // namespace drawloom::linrec
