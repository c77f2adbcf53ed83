//===- SparseTiles.cpp - products with sparse matrices as loops -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Single elements: a tile of rows is turned, so that vectors run along the
// rows; a column's sums stay in registers while its elements go by. Blocks are
// multiplied as small matrices.
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "dialects/Interfaces/MachineFacts.h"
#include "dialects/Slr/LoopBuilder.h"
#include "dialects/Slr/Slr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::slr {

FailureOr<SmallVector<Value>>
SparseLinearOp::decomposeOperation(OpBuilder &builder) {
  LoopBuilder b(builder, getLoc(), tensorType(getX()).getElementType());
  ArrayRef<int64_t> blocks = tensorType(getValues()).getShape();
  int64_t p = blocks[1], q = blocks[2];
  OpFoldResult t = tensor::getMixedSize(builder, getLoc(), getX(), 0);
  int64_t outputs = tensorType(getY()).getDimSize(1);
  bool transposed = getTranspose();
  // Lists by what is written.
  Value starts = transposed ? getRowStarts() : getColumnStarts();
  Value sources = transposed ? getColumns() : getRows();
  auto blockAt = [&](Value e) { return transposed ? e : b.at(getOrder(), e); };
  OpFoldResult one = b.number(1), zero = b.number(0);
  if (p * q == 1) {
    Value turned = b.transpose(getX());
    AffineMap along = builder.getMultiDimIdentityMap(1);
    AffineMap scalar = AffineMap::get(1, 0, builder.getContext());
    auto sumOf = [&](Value o) {
      Value sum = b.loopOver(starts, o, b.zeros({t}), [&](Value e, Value part) {
        Value source = b.at(sources, e);
        Value value = tensor::ExtractOp::create(
            builder, getLoc(), getValues(),
            ValueRange{blockAt(e), b.index(0), b.index(0)});
        Value row = b.slice(turned, {source, zero}, {one, t}, 1);
        return b.accumulate(value, row, part, {scalar, along, along},
                            utils::IteratorType::parallel);
      });
      return b.rounded(sum);
    };
    // Some columns are turned back while they are at hand.
    Value y = b.empty({t, b.number(outputs)}, b.element);
    y = b.loopInSteps(b.number(outputs), {16, 1}, y,
                      [&](Value first, int64_t count, Value made) {
                        Value some =
                            b.loop(b.index(0), b.index(count), 1,
                                   b.empty({b.number(count), t}, b.element),
                                   [&](Value i, Value rows) {
                                     return b.insert(sumOf(b.add(first, i)),
                                                     rows, {i, zero}, {one, t});
                                   });
                        return b.insert(b.transpose(some), made, {zero, first},
                                        {t, b.number(count)});
                      });
    return SmallVector<Value>{b.typed(y, getY().getType())};
  }
  int64_t in = transposed ? q : p, out = transposed ? p : q;
  Value y = b.empty({t, b.number(outputs)}, b.element);
  y = b.loop(
      b.index(0), b.index(outputs / out), 1, y, [&](Value o, Value made) {
        Value sum = b.loopOver(
            starts, o, b.zeros({t, b.number(out)}), [&](Value e, Value part) {
              Value source = b.times(b.at(sources, e), in);
              Value rows =
                  b.slice(getX(), {zero, source}, {t, b.number(in)}, 2);
              Value block = b.slice(getValues(), {blockAt(e), zero, zero},
                                    {one, b.number(p), b.number(q)}, 2);
              return b.contract(rows, 1, block, transposed ? 1 : 0, part);
            });
        return b.insert(b.rounded(sum), made, {zero, b.times(o, out)},
                        {t, b.number(out)});
      });
  return SmallVector<Value>{b.typed(y, getY().getType())};
}

namespace {
/// The blocks of a sampled product, each some rows of the sparse matrix.
class SampledParts {
public:
  SampledParts(SampledProductOp op, OpBuilder &builder)
      : op(op), builder(builder), loc(op.getLoc()),
        b(builder, loc, tensorType(op.getX()).getElementType()),
        shape(tensorType(op.getValues()).getShape()),
        outputs(tensorType(op.getG()).getDimSize(1)),
        t(tensor::getMixedSize(builder, loc, op.getX(), 0)) {}

  Value build() {
    if (machineFactsOf(op).lockstep)
      return buildInLockstep();
    int64_t rows = rowCount();
    int64_t inPart = llvm::divideCeil(rows, mostParts());
    Value empty =
        b.empty(getAsIndexOpFoldResult(builder.getContext(), shape), b.wide);
    auto forall = scf::ForallOp::create(
        builder, loc,
        ArrayRef<OpFoldResult>{b.number(llvm::divideCeil(rows, inPart))}, empty,
        std::nullopt);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(forall.getTerminator());
    first = b.times(forall.getInductionVar(0), inPart);
    last = arith::MinSIOp::create(builder, loc, b.add(first, b.index(inPart)),
                                  b.index(rows));
    begin = b.at(op.getRowStarts(), first);
    Value end = b.at(op.getRowStarts(), last);
    SmallVector<OpFoldResult> offsets{begin, zero(), zero()},
        sizes{arith::SubIOp::create(builder, loc, end, begin).getResult(),
              b.number(shape[1]), b.number(shape[2])};
    Value sums = b.zeros(sizes);
    if (isSingle()) {
      // What is added up lies side by side, and is so by a tree.
      forall->setAttr(block::withinRowsAttr, builder.getUnitAttr());
      Value firstRead =
          arith::MinSIOp::create(builder, loc, first, b.index(rows - inPart));
      sums = addElements(sums, firstRead, inPart);
    } else {
      sums = addBlocks(sums);
    }
    builder.setInsertionPointToStart(forall.getTerminator().getBody());
    SmallVector<OpFoldResult> strides(3, b.number(1));
    tensor::ParallelInsertSliceOp::create(builder, loc, sums,
                                          forall.getRegionIterArgs()[0],
                                          offsets, sizes, strides);
    // A block has as many as its rows say, and no memory for others beside
    // them.
    builder.setInsertionPointAfter(forall);
    return b.rounded(forall.getResult(0));
  }

private:
  OpFoldResult zero() { return b.number(0); }
  int64_t rowCount() { return tensorType(op.getRowStarts()).getDimSize(0) - 1; }
  bool isSingle() const { return shape[1] * shape[2] == 1; }

  /// Several threads find some. With single elements each turns all rows of the
  /// outputs, which should take little of its time.
  int64_t mostParts() const {
    return isSingle() ? std::clamp<int64_t>(shape[0] / (5 * outputs), 2, 8)
                      : 64;
  }

  /// Lanes work on one sum together, and no memory of theirs has an extent that
  /// the arrays say.
  Value buildInLockstep() {
    if (shape[0] == 0)
      return b.empty(getAsIndexOpFoldResult(builder.getContext(), shape),
                     b.element);
    int64_t p = shape[1], q = shape[2];
    // Lanes read what lies side by side.
    Value x = isSingle() ? b.transpose(op.getX()) : op.getX();
    Value g = isSingle() ? b.transpose(op.getG()) : op.getG();
    Value empty =
        b.empty(getAsIndexOpFoldResult(builder.getContext(), shape), b.element);
    auto forall = scf::ForallOp::create(
        builder, loc, ArrayRef<OpFoldResult>{b.number(shape[0])}, empty,
        std::nullopt);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(forall.getTerminator());
    Value e = forall.getInductionVar(0);
    Value r = b.times(rowOf(e), p), c = b.times(b.at(op.getColumns(), e), q);
    SmallVector<OpFoldResult> sizes{b.number(1), b.number(p), b.number(q)};
    AffineMap along = builder.getMultiDimIdentityMap(1);
    AffineMap scalar = AffineMap::get(1, 0, builder.getContext());
    Value sum = b.zeros(isSingle() ? ArrayRef<OpFoldResult>()
                                   : ArrayRef(sizes).drop_front());
    sum = b.loopInSteps(
        t, {256, 64, 16, 4, 1}, sum,
        [&](Value at, int64_t step, Value carried) {
          OpFoldResult count = b.number(step);
          if (isSingle())
            return b.accumulate(b.slice(x, {r, at}, {b.number(1), count}, 1),
                                b.slice(g, {c, at}, {b.number(1), count}, 1),
                                carried, {along, along, scalar},
                                utils::IteratorType::reduction);
          return b.contract(b.slice(x, {at, r}, {count, sizes[1]}, 2), 0,
                            b.slice(g, {at, c}, {count, sizes[2]}, 2), 0,
                            carried);
        });
    sum = b.rounded(sum);
    builder.setInsertionPointToStart(forall.getTerminator().getBody());
    SmallVector<OpFoldResult> offsets{e, zero(), zero()},
        strides(3, b.number(1));
    tensor::ParallelInsertSliceOp::create(builder, loc, sum,
                                          forall.getRegionIterArgs()[0],
                                          offsets, sizes, strides);
    return forall.getResult(0);
  }

  /// The row of block `e`: the last whose start is not behind it.
  Value rowOf(Value e) {
    Value row = b.index(0);
    for (int64_t step = llvm::PowerOf2Ceil(rowCount()) / 2; step > 0;
         step /= 2) {
      Value next = b.least(b.add(row, b.index(step)), b.index(rowCount()));
      Value isBefore =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                b.at(op.getRowStarts(), next), e);
      row = arith::SelectOp::create(builder, loc, isBefore, next, row);
    }
    return row;
  }

  Value loopOverRow(Value r, Value init,
                    function_ref<Value(Value, Value)> body) {
    return b.loopOver(op.getRowStarts(), r, init, body);
  }

  /// The sum of block `e` goes on.
  Value addTo(Value sums, Value e, unsigned rank,
              function_ref<Value(Value)> next) {
    Value place = arith::SubIOp::create(builder, loc, e, begin);
    SmallVector<OpFoldResult> offsets{place, zero(), zero()},
        sizes{b.number(1), b.number(shape[1]), b.number(shape[2])};
    Value sum = next(b.slice(sums, offsets, sizes, rank));
    return b.insert(sum, sums, offsets, sizes);
  }

  /// Some of all rows at a time, turned: they stay in the cache.
  Value addElements(Value sums, Value firstRead, int64_t inPart) {
    AffineMap along = builder.getMultiDimIdentityMap(1);
    AffineMap scalar = AffineMap::get(1, 0, builder.getContext());
    return b.loopInSteps(
        t, {64, 16, 1}, sums, [&](Value at, int64_t step, Value carried) {
          OpFoldResult size = b.number(step);
          Value x = b.transpose(
              b.slice(op.getX(), {at, firstRead}, {size, b.number(inPart)}, 2));
          Value g = b.transpose(
              b.slice(op.getG(), {at, zero()}, {size, b.number(outputs)}, 2));
          return b.loop(first, last, 1, carried, [&](Value r, Value ofRow) {
            Value row = arith::SubIOp::create(builder, loc, r, firstRead);
            Value left = b.slice(x, {row, zero()}, {b.number(1), size}, 1);
            return loopOverRow(r, ofRow, [&](Value e, Value made) {
              Value right = b.slice(g, {b.at(op.getColumns(), e), zero()},
                                    {b.number(1), size}, 1);
              return addTo(made, e, 0, [&](Value sum) {
                return b.accumulate(left, right, sum, {along, along, scalar},
                                    utils::IteratorType::reduction);
              });
            });
          });
        });
  }

  /// Rows of one block's height are turned once for all blocks beside it.
  Value addBlocks(Value sums) {
    int64_t p = shape[1], q = shape[2];
    return b.loop(first, last, 1, sums, [&](Value r, Value ofRow) {
      Value left = b.times(r, p);
      return b.loopInSteps(
          t, {256, 64, 16, 4, 1}, ofRow,
          [&](Value at, int64_t step, Value carried) {
            Value x = b.transpose(b.slice(op.getX(), {at, left},
                                          {b.number(step), b.number(p)}, 2));
            return loopOverRow(r, carried, [&](Value e, Value made) {
              Value right = b.times(b.at(op.getColumns(), e), q);
              Value g = b.slice(op.getG(), {at, right},
                                {b.number(step), b.number(q)}, 2);
              return addTo(made, e, 2, [&](Value sum) {
                return b.contract(x, 1, g, 0, sum);
              });
            });
          });
    });
  }

  SampledProductOp op;
  OpBuilder &builder;
  Location loc;
  LoopBuilder b;
  ArrayRef<int64_t> shape;
  int64_t outputs;
  OpFoldResult t;
  Value first, last, begin;
};
} // namespace

FailureOr<SmallVector<Value>>
SampledProductOp::decomposeOperation(OpBuilder &builder) {
  return SmallVector<Value>{SampledParts(*this, builder).build()};
}

} // namespace drawloom::slr
