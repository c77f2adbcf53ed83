//===- SlrSparse.cpp - sparse matrices ------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/RowTiling.h"
#include "dialects/Slr/LoopBuilder.h"
#include "dialects/Slr/TermBuilder.h"

using namespace mlir;

namespace drawloom::slr {

/// The five arrays of an op, as they are in its operands.
template <typename OpTy> static SmallVector<Value> placesOf(OpTy op) {
  return {op.getRowStarts(), op.getColumns(), op.getColumnStarts(),
          op.getRows(), op.getOrder()};
}

/// Extents of the matrix, of its blocks, and their number; an error where the
/// arrays do not fit.
namespace {
struct Extents {
  int64_t rows, columns, p, q, count;
};
} // namespace

static FailureOr<Extents> extentsOf(std::optional<Location> loc, Value values,
                                    ArrayRef<Value> places) {
  RankedTensorType type = tensorType(values);
  if ((type.getRank() != 1 && type.getRank() != 3) || !type.hasStaticShape())
    return emitOptionalError(loc,
                             "the values of a sparse matrix are [blocks, "
                             "p, q] or [elements], not ",
                             type);
  SmallVector<int64_t> lengths;
  for (Value array : places) {
    if (!tensorType(array).hasStaticShape())
      return emitOptionalError(loc,
                               "the arrays of places have known extents, "
                               "and this one is a ",
                               tensorType(array));
    lengths.push_back(tensorType(array).getDimSize(0));
  }
  Extents extents{lengths[0] - 1, lengths[2] - 1, 1, 1, type.getDimSize(0)};
  if (type.getRank() == 3) {
    extents.p = type.getDimSize(1);
    extents.q = type.getDimSize(2);
  }
  if (extents.rows < 1 || extents.columns < 1 || extents.p < 1 || extents.q < 1)
    return emitOptionalError(
        loc, "a sparse matrix has at least one row and one column of blocks, "
             "and a start more than it has rows or columns");
  for (unsigned i : {1, 3, 4})
    if (lengths[i] != extents.count)
      return emitOptionalError(loc, extents.count,
                               " blocks have as many places, not ",
                               tensorType(places[i]));
  return extents;
}

//===----------------------------------------------------------------------===//
// slr.sparse
//===----------------------------------------------------------------------===//

LogicalResult SparseOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  FailureOr<Extents> extents =
      extentsOf(loc, adaptor.getValues(), placesOf(adaptor));
  if (failed(extents))
    return failure();
  types.push_back(TermType::get(context, extents->rows * extents->p,
                                extents->columns * extents->q));
  return success();
}

Value SparseOp::apply(TermBuilder &b, Value x, int64_t dim, bool transposed) {
  SmallVector<Value> places = llvm::map_to_vector(
      placesOf(*this), [&](Value array) { return b.leaf(array); });
  TermType type = termType(getTerm());
  return b.contractSparse(x, dim, b.leaf(getValues()), places,
                          transposed ? type.getInputs() : type.getOutputs(),
                          transposed);
}

int64_t SparseOp::operationsOfRow() {
  return 2 * tensorType(getValues()).getNumElements();
}

/// Calls `visit(row, column, block)` for every block, in the order of `values`.
static LogicalResult
visitBlocks(Operation *op, const Extents &extents, ArrayRef<HostTensor> places,
            llvm::function_ref<void(int64_t, int64_t, int64_t)> visit) {
  ArrayRef<int64_t> rowStarts = places[0].i(), columns = places[1].i(),
                    columnStarts = places[2].i(), rows = places[3].i(),
                    order = places[4].i();
  auto areStarts = [&](ArrayRef<int64_t> starts) {
    return starts.front() == 0 && starts.back() == extents.count &&
           llvm::is_sorted(starts);
  };
  if (!areStarts(rowStarts) || !areStarts(columnStarts))
    return op->emitOpError("has starts that do not rise from 0 to ")
           << extents.count << ", the number of blocks";
  // Each block once, and by columns the same.
  SmallVector<std::pair<int64_t, int64_t>> placeOf(extents.count);
  for (int64_t r = 0; r < extents.rows; ++r)
    for (int64_t e = rowStarts[r]; e < rowStarts[r + 1]; ++e) {
      if (columns[e] < 0 || columns[e] >= extents.columns ||
          (e > rowStarts[r] && columns[e] <= columns[e - 1]))
        return op->emitOpError("has columns of row ")
               << r << " that do not rise below " << extents.columns;
      placeOf[e] = {r, columns[e]};
      visit(r, columns[e], e);
    }
  for (int64_t c = 0; c < extents.columns; ++c)
    for (int64_t f = columnStarts[c]; f < columnStarts[c + 1]; ++f)
      if (order[f] < 0 || order[f] >= extents.count ||
          placeOf[order[f]] != std::pair(rows[f], c) ||
          (f > columnStarts[c] && rows[f] <= rows[f - 1]))
        return op->emitOpError("has other places by columns than by rows: "
                               "column ")
               << c;
  return success();
}

HostTensor SparseOp::toDense(HostTerms &values) {
  TermType type = termType(getTerm());
  HostTensor dense(/*isFloat=*/true, {type.getInputs(), type.getOutputs()});
  Extents extents = *extentsOf(std::nullopt, getValues(), placesOf(*this));
  HostTensor blocks =
      values.of(getValues()).reshaped({extents.count, extents.p, extents.q});
  SmallVector<HostTensor> places = llvm::map_to_vector(
      placesOf(*this), [&](Value array) { return values.of(array); });
  auto place = [&](int64_t r, int64_t c, int64_t e) {
    for (int64_t i = 0; i < extents.p; ++i)
      for (int64_t j = 0; j < extents.q; ++j)
        dense.mutableF()[dense.offset({r * extents.p + i, c * extents.q + j})] =
            blocks.f({e, i, j});
  };
  if (failed(visitBlocks(*this, extents, places, place)))
    values.state = failure();
  return dense;
}

//===----------------------------------------------------------------------===//
// slr.sparse_linear and slr.sampled_product
//===----------------------------------------------------------------------===//

/// Whether `x` and `y` are rows of the inputs and of the outputs.
static LogicalResult verifyRows(Operation *op, const Extents &extents,
                                Value values, Value x, Value y) {
  auto check = [&](Value rows, int64_t extent) -> LogicalResult {
    RankedTensorType type = tensorType(rows);
    if (type.getRank() == 2 && type.getDimSize(1) == extent &&
        type.getDimSize(0) == tensorType(x).getDimSize(0) &&
        type.getElementType() == tensorType(values).getElementType())
      return success();
    return op->emitOpError("has rows of ")
           << extent << " elements of the type of the values, as many of the "
           << "inputs as of the outputs, and not " << type;
  };
  return success(succeeded(check(x, extents.rows * extents.p)) &&
                 succeeded(check(y, extents.columns * extents.q)));
}

template <typename OpTy>
static LogicalResult verifySparse(OpTy op, Value inputs, Value outputs) {
  FailureOr<Extents> extents =
      extentsOf(op.getLoc(), op.getValues(), placesOf(op));
  if (failed(extents))
    return failure();
  if (tensorType(op.getValues()).getRank() != 3)
    return op.emitOpError("has values of three dimensions");
  return verifyRows(op, *extents, op.getValues(), inputs, outputs);
}

LogicalResult SparseLinearOp::verify() {
  return getTranspose() ? verifySparse(*this, getY(), getX())
                        : verifySparse(*this, getX(), getY());
}

LogicalResult SampledProductOp::verify() {
  return verifySparse(*this, getX(), getG());
}

DRAWLOOM_TILE_ROWS(SparseLinearOp)

void SparseLinearOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                 MLIRContext *context) {
  patterns.add<RememberRows<SparseLinearOp>>(context);
}

FailureOr<SmallVector<Value>>
SparseLinearOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                         const llvm::SmallBitVector &needed) {
  SmallVector<Value> gradients(getNumOperands());
  Value g = cotangents[0];
  if (needed.test(0))
    gradients[0] = SparseLinearOp::create(
        builder, getLoc(), getX().getType(), g, getValues(), getRowStarts(),
        getColumns(), getColumnStarts(), getRows(), getOrder(),
        !getTranspose());
  if (needed.test(1))
    gradients[1] = SampledProductOp::create(
        builder, getLoc(), getValues().getType(), getTranspose() ? g : getX(),
        getTranspose() ? getX() : g, getRowStarts(), getColumns(),
        getColumnStarts(), getRows(), getOrder());
  return gradients;
}

FailureOr<SmallVector<Value>>
SampledProductOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                           const llvm::SmallBitVector &needed) {
  // <c, sampled(x, g)> = <x, g W(c)^T> = <g, x W(c)>.
  SmallVector<Value> gradients(getNumOperands());
  for (unsigned i : {0, 1})
    if (needed.test(i))
      gradients[i] = SparseLinearOp::create(
          builder, getLoc(), getOperand(i).getType(), getOperand(1 - i),
          cotangents[0], getRowStarts(), getColumns(), getColumnStarts(),
          getRows(), getOrder(), /*transpose=*/i == 0);
  return gradients;
}

LogicalResult SparseLinearOp::interpret(ArrayRef<HostTensor> operands,
                                        SmallVectorImpl<HostTensor> &results) {
  Extents extents = *extentsOf(std::nullopt, getValues(), placesOf(*this));
  const HostTensor &x = operands[0], &values = operands[1];
  int64_t k = extents.rows * extents.p, n = extents.columns * extents.q;
  HostTensor y(/*isFloat=*/true, {x.dim(0), getTranspose() ? k : n});
  LogicalResult valid =
      visitBlocks(*this, extents, operands.drop_front(2),
                  [&](int64_t r, int64_t c, int64_t e) {
                    for (int64_t t = 0; t < x.dim(0); ++t)
                      for (int64_t i = 0; i < extents.p; ++i)
                        for (int64_t j = 0; j < extents.q; ++j) {
                          int64_t in = r * extents.p + i,
                                  out = c * extents.q + j;
                          if (getTranspose())
                            std::swap(in, out);
                          y.mutableF()[y.offset({t, out})] +=
                              x.f({t, in}) * values.f({e, i, j});
                        }
                  });
  results.push_back(std::move(y));
  return valid;
}

LogicalResult
SampledProductOp::interpret(ArrayRef<HostTensor> operands,
                            SmallVectorImpl<HostTensor> &results) {
  Extents extents = *extentsOf(std::nullopt, getValues(), placesOf(*this));
  const HostTensor &x = operands[0], &g = operands[1];
  HostTensor values(/*isFloat=*/true, {extents.count, extents.p, extents.q});
  LogicalResult valid = visitBlocks(
      *this, extents, operands.drop_front(2),
      [&](int64_t r, int64_t c, int64_t e) {
        for (int64_t t = 0; t < x.dim(0); ++t)
          for (int64_t i = 0; i < extents.p; ++i)
            for (int64_t j = 0; j < extents.q; ++j)
              values.mutableF()[values.offset({e, i, j})] +=
                  x.f({t, r * extents.p + i}) * g.f({t, c * extents.q + j});
      });
  results.push_back(std::move(values));
  return valid;
}

} // namespace drawloom::slr
