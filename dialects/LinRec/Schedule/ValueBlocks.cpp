//===- ValueBlocks.cpp - states cut along their values --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No column of the state has to do with another, so n blocks of a head's values
// are n heads that share their queries, keys and decays. What belongs to a
// head, and not to its tokens, is repeated for each of them.
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Schedule/ValueBlocks.h"
#include "dialects/LinRec/Chunk/Recurrence.h"
#include "dialects/LinRec/Shapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

class Blocks {
public:
  template <typename Op>
  Blocks(OpBuilder &b, Op op)
      : b(b), loc(op.getLoc()), form(op), count(*form.valueBlocks) {}

  /// [B, T, H, V] as [B, T, H n, V / n].
  Value ofValues(Value x) {
    SmallVector<int64_t> shape(Recurrence::type(x).getShape());
    shape[2] *= count, shape[3] /= count;
    return reshaped(b, loc, x, shape);
  }
  /// [..., H, K, V] as [..., H n, K, V / n], and back.
  Value ofStates(Value x) {
    if (!x)
      return x;
    SmallVector<int64_t> shape(Recurrence::type(x).getShape());
    int64_t rank = shape.size();
    shape[rank - 1] /= count;
    shape.insert(shape.end() - 1, count);
    x = transposed(b, loc, reshaped(b, loc, x, shape), turn(rank));
    shape = heads(shape, rank);
    return reshaped(b, loc, x, shape);
  }
  Value statesOf(Value x) {
    SmallVector<int64_t> shape(Recurrence::type(x).getShape());
    int64_t rank = shape.size();
    shape[rank - 3] /= count;
    shape.insert(shape.begin() + rank - 2, count);
    x = transposed(b, loc, reshaped(b, loc, x, shape), turn(rank));
    SmallVector<int64_t> joined(Recurrence::type(x).getShape());
    joined[rank - 1] *= joined[rank];
    joined.pop_back();
    return reshaped(b, loc, x, joined);
  }
  /// [H, ...] for each block, and the sum of such.
  Value ofHeads(Value x) {
    SmallVector<int64_t> shape(Recurrence::type(x).getShape());
    shape[0] *= count;
    return reshaped(b, loc, repeated(b, loc, x, 1, count), shape);
  }
  Value headsOf(Value x) {
    SmallVector<int64_t> shape(Recurrence::type(x).getShape());
    shape[0] /= count;
    shape.insert(shape.begin() + 1, count);
    return sumOver(b, loc, reshaped(b, loc, x, shape), 1);
  }

  /// The operands of the op whose heads are blocks, in order.
  SmallVector<Value> operands() {
    Value decay = form.decay;
    if (form.decayKind == DecayKind::Constant)
      decay = ofHeads(decay);
    else if (form.decayKind == DecayKind::Value)
      decay = ofValues(decay);
    return {form.q,
            form.k,
            ofValues(form.v),
            decay,
            ofStates(form.rates),
            form.beta,
            form.erase,
            form.lowrank,
            form.bonus ? ofHeads(form.bonus) : Value(),
            ofStates(form.initial),
            form.starts};
  }

private:
  /// Exchanges keys and blocks of a shape that has `rank` dimensions without
  /// blocks.
  static SmallVector<int64_t> turn(int64_t rank) {
    SmallVector<int64_t> permutation =
        llvm::to_vector(llvm::seq<int64_t>(rank + 1));
    std::swap(permutation[rank - 2], permutation[rank - 1]);
    return permutation;
  }
  SmallVector<int64_t> heads(SmallVector<int64_t> shape, int64_t rank) {
    std::swap(shape[rank - 2], shape[rank - 1]);
    shape[rank - 3] *= count;
    shape.erase(shape.begin() + rank - 2);
    return shape;
  }

public:
  OpBuilder &b;
  Location loc;
  Recurrence form;
  int64_t count;
};

} // namespace

SmallVector<Value> scanInValueBlocks(OpBuilder &b, ScanOp op) {
  Blocks blocks(b, op);
  SmallVector<Value> x = blocks.operands();
  SmallVector<int64_t> state(Recurrence::type(op.getFinal()).getShape());
  state[1] *= blocks.count, state[3] /= blocks.count;
  auto inner = ScanOp::create(
      b, op.getLoc(), x[2].getType(),
      Recurrence::type(op.getFinal()).clone(state), x[0], x[1], x[2], x[3],
      x[4], x[5], x[6], x[7], x[8], x[9], x[10],
      b.getF64FloatAttr(blocks.form.scale), op.getDecayAlongValuesAttr(),
      op.getEraseBeforeDecayAttr(), op.getDecayBoundAttr(), op.getChunkAttr(),
      op.getSegmentsAttr(), /*value_blocks=*/b.getI64IntegerAttr(1),
      op.getCheckpointIntervalAttr(), /*steps_per_token=*/IntegerAttr());
  RankedTensorType o = Recurrence::type(op.getO());
  return {op.getO().use_empty()
              ? tensor::EmptyOp::create(b, op.getLoc(), o.getShape(),
                                        o.getElementType())
                    .getResult()
              : reshaped(b, op.getLoc(), inner.getO(), o.getShape()),
          blocks.statesOf(inner.getFinal())};
}

SmallVector<Value> differentiateInValueBlocks(OpBuilder &b, ScanBwdOp op) {
  Blocks blocks(b, op);
  SmallVector<Value> x = blocks.operands();
  SmallVector<Type> types;
  for (Value operand : ArrayRef(x).drop_back())
    if (operand)
      types.push_back(operand.getType());
  auto inner = ScanBwdOp::create(
      b, op.getLoc(), types, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7],
      x[8], x[9], x[10], blocks.ofValues(op.getDO()),
      blocks.ofStates(op.getDFinal()), b.getF64FloatAttr(blocks.form.scale),
      op.getDecayAlongValuesAttr(), op.getEraseBeforeDecayAttr(),
      op.getDecayBoundAttr(), op.getChunkAttr(), op.getSegmentsAttr(),
      /*value_blocks=*/b.getI64IntegerAttr(1), op.getCheckpointIntervalAttr(),
      /*steps_per_token=*/IntegerAttr());
  SmallVector<Value> found;
  size_t at = 0;
  for (auto [operand, perToken] : blocks.form.perToken()) {
    if (!operand)
      continue;
    size_t position = at++;
    RankedTensorType type = Recurrence::type(operand);
    // What nobody reads stays so.
    if (op.getGradients()[position].use_empty()) {
      found.push_back(tensor::EmptyOp::create(b, op.getLoc(), type.getShape(),
                                              type.getElementType()));
      continue;
    }
    Value gradient = inner.getGradients()[position];
    if (perToken)
      gradient = reshaped(b, op.getLoc(), gradient, type.getShape());
    else if (position + 1 == inner.getNumResults() && blocks.form.initial)
      gradient = blocks.statesOf(gradient);
    else if (type.getRank() == 3)
      gradient = blocks.statesOf(gradient);
    else
      gradient = blocks.headsOf(gradient);
    found.push_back(gradient);
  }
  return found;
}

} // namespace drawloom::linrec
