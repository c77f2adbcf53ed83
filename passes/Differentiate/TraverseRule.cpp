//===- TraverseRule.cpp - derivatives of message passing ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rgnn.traverse runs a region for each edge. Its gradient runs the region and
// the reverse of it: cotangents are read at the spaces of the results, and
// gradients added up at those of the inputs.
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/Rgnn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Differentiate/ReverseMode.h"
#include "passes/Differentiate/Rules.h"

using namespace mlir;
using drawloom::rgnn::Space;
using drawloom::rgnn::TraverseOp;
using llvm::SmallBitVector;

namespace drawloom {

using Values = SmallVector<Value>;

namespace {

/// A traverse that grows: the region of a given one, with more inputs, and
/// other results.
class Reversed {
public:
  Reversed(TraverseOp op, OpBuilder &builder)
      : op(op), builder(builder), inner(builder.getContext()),
        copy(cast<TraverseOp>(builder.clone(*op))), body(copy.getBody()),
        inputs(op.getInputs()), at(op.getAt()) {
    inner.setInsertionPoint(yield());
  }
  ~Reversed() { copy.erase(); }

  rgnn::YieldOp yield() {
    return cast<rgnn::YieldOp>(body.front().getTerminator());
  }
  /// The row of one more input.
  Value addInput(Value tensor, Space space) {
    inputs.push_back(tensor);
    at.push_back(static_cast<int32_t>(space));
    auto type = cast<RankedTensorType>(tensor.getType());
    return body.front().addArgument(rgnn::rowType(type, space), op.getLoc());
  }
  void addResult(Value row, Space space, Type type) {
    rows.push_back(row);
    types.push_back(type);
    to.push_back(static_cast<int32_t>(space));
    by.push_back(static_cast<int32_t>(
        space == op.getOver() ? rgnn::Combiner::None : rgnn::Combiner::Sum));
  }
  /// The op: its region has no inputs that it does not need.
  TraverseOp build();

  TraverseOp op;
  OpBuilder &builder;
  IRRewriter inner;
  /// What the region grows in: an op, as whoever looks for what encloses
  /// another op expects.
  TraverseOp copy;
  Region &body;

private:
  Values inputs, rows;
  SmallVector<int32_t> at, to, by;
  SmallVector<Type> types;
};

/// What a maximum is taken of, and the maximum: to be compared.
struct Compared {
  /// Rows of what the op is over; null where the region's own are exact.
  Value rows;
  Value top;
};

/// The gradients of one op.
class TraverseGradient {
public:
  TraverseGradient(TraverseOp op, OpBuilder &builder, ValueRange cotangents,
                   const SmallBitVector &needed)
      : op(op), builder(builder), cotangents(cotangents), needed(needed) {}
  FailureOr<Gradients> build();

private:
  Compared comparedOf(unsigned result);
  /// 1 where the row of an edge has what became the maximum, else 0.
  Value reaches(Reversed &reversed, unsigned result, const Compared &compared);
  /// What each of the rows gets that are equal to a maximum.
  Value shareOfMaximum(unsigned result, const Compared &compared);

  TraverseOp op;
  OpBuilder &builder;
  ValueRange cotangents;
  const SmallBitVector &needed;
};

} // namespace

TraverseOp Reversed::build() {
  Block &block = body.front();
  inner.replaceOpWithNewOp<rgnn::YieldOp>(yield(), rows);
  eraseDeadOps(inner, block);
  for (int64_t i = inputs.size() - 1; i >= 0; --i) {
    if (!block.getArgument(i).use_empty())
      continue;
    block.eraseArgument(i);
    inputs.erase(inputs.begin() + i);
    at.erase(at.begin() + i);
  }
  auto traverse = TraverseOp::create(builder, op.getLoc(), types, op.getGraph(),
                                     inputs, op.getOver(), at, to, by);
  traverse.getBody().takeBody(body);
  return traverse;
}

/// Whether a row is an argument of the region, or is made of one without
/// rounding.
static bool isExact(Value row) {
  if (isa<BlockArgument>(row))
    return true;
  Operation *made = row.getDefiningOp();
  return isa<arith::ExtFOp, arith::NegFOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp, tensor::ExtractOp>(made) &&
         isExact(made->getOperand(0));
}

/// Code that computes a row a second time may round it otherwise, and then no
/// row would be equal to the maximum: rows that are computed are kept.
Compared TraverseGradient::comparedOf(unsigned result) {
  Value top = op.getResult(result);
  Reversed kept(op, builder);
  Value row = kept.yield().getOperand(result);
  if (isExact(row))
    return {Value(), top};
  auto type = cast<RankedTensorType>(top.getType());
  rgnn::Order order = rgnn::orderOf(rgnn::graphOf(op.getGraph()),
                                    rgnn::directionOf(op.getOver()));
  Value counted = op.getOver() == Space::Edge ? order.far : order.pairRelation;
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = cast<RankedTensorType>(counted.getType()).getDimSize(0);
  kept.addResult(row, op.getOver(), type.clone(shape));
  Value rows = kept.build().getResult(0);
  auto maximum = TraverseOp::create(
      builder, op.getLoc(), TypeRange(type), op.getGraph(), rows, op.getOver(),
      {static_cast<int32_t>(op.getOver())},
      {static_cast<int32_t>(op.resultSpace(result))},
      {static_cast<int32_t>(rgnn::Combiner::Max)});
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&maximum.getBody());
  Value argument = body->addArgument(
      rgnn::rowType(cast<RankedTensorType>(rows.getType()), op.getOver()),
      op.getLoc());
  rgnn::YieldOp::create(builder, op.getLoc(), argument);
  return {rows, maximum.getResult(0)};
}

Value TraverseGradient::reaches(Reversed &reversed, unsigned result,
                                const Compared &compared) {
  Value top = reversed.addInput(compared.top, op.resultSpace(result));
  Value row = compared.rows ? reversed.addInput(compared.rows, op.getOver())
                            : reversed.yield().getOperand(result);
  Value equal = arith::CmpFOp::create(reversed.inner, op.getLoc(),
                                      arith::CmpFPredicate::OEQ, row, top);
  return arith::UIToFPOp::create(reversed.inner, op.getLoc(), row.getType(),
                                 equal);
}

Value TraverseGradient::shareOfMaximum(unsigned result,
                                       const Compared &compared) {
  Reversed counted(op, builder);
  Value one = reaches(counted, result, compared);
  counted.addResult(one, op.resultSpace(result),
                    op.getResult(result).getType());
  Value count = counted.build().getResult(0);
  ScalarBuilder b(builder, op.getLoc());
  // None is equal where the maximum is NaN, or 0 of nothing.
  return b.div(cotangents[result], b.maximum(count, b.constant(1.0, count)));
}

FailureOr<Gradients> TraverseGradient::build() {
  Reversed reversed(op, builder);
  Values seeds(op.getNumResults());
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    if (!cotangents[i] || op.combiner(i) == rgnn::Combiner::Bound)
      continue;
    if (op.combiner(i) != rgnn::Combiner::Max) {
      seeds[i] = reversed.addInput(cotangents[i], op.resultSpace(i));
      continue;
    }
    Compared compared = comparedOf(i);
    Value share = shareOfMaximum(i, compared);
    Value row = reversed.addInput(share, op.resultSpace(i));
    Value one = reaches(reversed, i, compared);
    seeds[i] = ScalarBuilder(reversed.inner, op.getLoc()).mul(one, row);
  }
  Values wanted;
  SmallVector<unsigned> numbers;
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (needed[i + 1]) {
      wanted.push_back(reversed.body.front().getArgument(i));
      numbers.push_back(i);
    }
  FailureOr<Values> rows =
      ReverseMode(reversed.inner, reversed.body.front()).run(seeds, wanted);
  if (failed(rows))
    return failure();
  Gradients gradients(op->getNumOperands());
  SmallVector<unsigned> known;
  for (auto [number, row] : llvm::zip_equal(numbers, *rows))
    if (row) {
      // What was rounded to a narrow type is added up before it is.
      if (auto rounded = row.getDefiningOp<arith::TruncFOp>())
        row = rounded.getIn();
      auto type = cast<RankedTensorType>(op.getInputs()[number].getType());
      reversed.addResult(row, op.inputSpace(number),
                         type.clone(getElementTypeOrSelf(row)));
      known.push_back(number + 1);
    }
  if (known.empty())
    return gradients;
  TraverseOp traverse = reversed.build();
  for (auto [operand, gradient] : llvm::zip_equal(known, traverse.getResults()))
    gradients[operand] =
        ScalarBuilder(builder, op.getLoc())
            .convert(gradient, getElementTypeOrSelf(op->getOperand(operand)));
  return gradients;
}

namespace {
struct TraverseModel
    : DifferentiableOpInterface::ExternalModel<TraverseModel, TraverseOp> {
  FailureOr<Gradients> buildVjp(Operation *op, OpBuilder &builder,
                                ValueRange cotangents,
                                const SmallBitVector &needed) const {
    return TraverseGradient(cast<TraverseOp>(op), builder, cotangents, needed)
        .build();
  }
};
} // namespace

void attachTraverseRule(MLIRContext *context) {
  TraverseOp::attachInterface<TraverseModel>(*context);
}

} // namespace drawloom
