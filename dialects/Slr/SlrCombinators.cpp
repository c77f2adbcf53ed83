//===- SlrCombinators.cpp - terms that are made of terms ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Slr/TermBuilder.h"
#include <cmath>

using namespace mlir;

namespace drawloom::slr {

static LogicalResult needTerms(std::optional<Location> loc, StringRef op,
                               ValueRange terms) {
  if (terms.empty())
    return emitOptionalError(loc, op, " has at least one term");
  return success();
}

static LogicalResult needEqual(std::optional<Location> loc, StringRef what,
                               Value term, Value first) {
  if (term.getType() != first.getType())
    return emitOptionalError(loc, what, " have equal extents, not ",
                             first.getType(), " and ", term.getType());
  return success();
}

static HostTensor multiplied(const HostTensor &left, const HostTensor &right) {
  HostTensor product(/*isFloat=*/true, {left.dim(0), right.dim(1)});
  MutableArrayRef<double> to = product.mutableF();
  for (int64_t i = 0; i < left.dim(0); ++i)
    for (int64_t k = 0; k < left.dim(1); ++k)
      for (int64_t j = 0; j < right.dim(1); ++j)
        to[i * right.dim(1) + j] += left.f({i, k}) * right.f({k, j});
  return product;
}

static void added(HostTensor &sum, const HostTensor &part) {
  for (auto [to, from] : llvm::zip_equal(sum.mutableF(), part.f()))
    to += from;
}

static HostTensor transposedOf(const HostTensor &matrix) {
  HostTensor other(/*isFloat=*/true, {matrix.dim(1), matrix.dim(0)});
  for (int64_t i = 0; i < matrix.dim(0); ++i)
    for (int64_t j = 0; j < matrix.dim(1); ++j)
      other.mutableF()[j * matrix.dim(0) + i] = matrix.f({i, j});
  return other;
}

//===----------------------------------------------------------------------===//
// slr.sum
//===----------------------------------------------------------------------===//

LogicalResult SumOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  if (failed(needTerms(loc, "slr.sum", adaptor.getTerms())))
    return failure();
  for (Value term : adaptor.getTerms())
    if (failed(needEqual(loc, "the terms of a sum", term,
                         adaptor.getTerms().front())))
      return failure();
  types.push_back(adaptor.getTerms().front().getType());
  return success();
}

/// What becomes one matrix: parts of which all together cost more than it does;
/// and beside a matrix that is made in any case what is a matrix as well.
static SmallVector<Value> joinedTerms(SumOp op, Association association) {
  SmallVector<Value> parts, matrices;
  int64_t operations = 0, quantized = 0;
  bool isMade = false;
  if (association != Association::Auto)
    return {};
  for (Value term : op.getTerms()) {
    quantized += isQuantized(term);
    isMade |= isMadeAnyway(term);
    if (isDense(term) || isQuantized(term) || isMadeAnyway(term)) {
      matrices.push_back(term);
    } else {
      parts.push_back(term);
      operations += operationsOfRow(term);
    }
  }
  // One part decides for itself.
  if (parts.size() < 2 ||
      !isWorthAMatrix(operations, operationsAsMatrix(op.getTerm())))
    parts.clear();
  if (isMade || quantized > 1) {
    llvm::append_range(parts, matrices);
  } else if (!parts.empty()) {
    // A base stays as it is: it has no gradient, which the sum would have.
    llvm::copy_if(matrices, std::back_inserter(parts), isQuantized);
  }
  return parts;
}

Value SumOp::apply(TermBuilder &b, Value x, int64_t dim, bool transposed) {
  SmallVector<Value> joined = joinedTerms(*this, b.association());
  Value sum;
  auto add = [&](Value part) { sum = sum ? b.add(sum, part) : part; };
  for (Value term : getTerms())
    if (!llvm::is_contained(joined, term))
      add(b.apply(term, x, dim, transposed));
  if (joined.empty())
    return sum;
  Value matrix;
  for (Value term : joined) {
    Value part = b.materialize(term);
    matrix = matrix ? b.add(matrix, part) : part;
  }
  add(b.contract(x, dim, matrix, transposed));
  return sum;
}

Value SumOp::materialize(TermBuilder &b) {
  Value matrix;
  for (Value term : getTerms()) {
    Value part = b.materialize(term);
    matrix = matrix ? b.add(matrix, part) : part;
  }
  return matrix;
}

int64_t SumOp::operationsOfRow() {
  int64_t count = 0;
  for (Value term : getTerms())
    count += slr::operationsOfRow(term) + termType(term).getOutputs();
  return count;
}

HostTensor SumOp::toDense(HostTerms &values) {
  HostTensor sum = values.of(getTerms().front());
  for (Value term : getTerms().drop_front())
    added(sum, values.of(term));
  return sum;
}

//===----------------------------------------------------------------------===//
// slr.product
//===----------------------------------------------------------------------===//

LogicalResult ProductOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  ValueRange terms = adaptor.getTerms();
  if (failed(needTerms(loc, "slr.product", terms)))
    return failure();
  for (auto [one, next] : llvm::zip(terms, terms.drop_front()))
    if (termType(one).getOutputs() != termType(next).getInputs())
      return emitOptionalError(loc, "a factor with ",
                               termType(next).getInputs(),
                               " inputs stands behind one with ",
                               termType(one).getOutputs(), " outputs");
  types.push_back(TermType::get(context, termType(terms.front()).getInputs(),
                                termType(terms.back()).getOutputs()));
  return success();
}

Value ProductOp::apply(TermBuilder &b, Value x, int64_t dim, bool transposed) {
  return b.applyProduct(getTerms(), x, dim, transposed);
}

Value ProductOp::materialize(TermBuilder &b) {
  // The rows of the first factor go through the others.
  Value first = b.materialize(getTerms().front());
  return getTerms().size() == 1
             ? first
             : b.applyProduct(getTerms().drop_front(), first, 1, false);
}

int64_t ProductOp::operationsOfRow() {
  return chainOf(getTerms(), Association::Auto).operations;
}

HostTensor ProductOp::toDense(HostTerms &values) {
  HostTensor product = values.of(getTerms().front());
  for (Value factor : getTerms().drop_front())
    product = multiplied(product, values.of(factor));
  return product;
}

//===----------------------------------------------------------------------===//
// slr.scale
//===----------------------------------------------------------------------===//

LogicalResult ScaleOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getScaled().getType());
  return success();
}

Value ScaleOp::apply(TermBuilder &b, Value x, int64_t dim, bool transposed) {
  double factor = getFactor().convertToDouble();
  SmallVector<Value> one{getScaled()};
  auto product = getScaled().getDefiningOp<ProductOp>();
  return b.applyProduct(product ? ValueRange(product.getTerms())
                                : ValueRange(one),
                        x, dim, transposed, factor);
}

Value ScaleOp::materialize(TermBuilder &b) {
  return b.scale(b.materialize(getScaled()), getFactor().convertToDouble());
}

int64_t ScaleOp::operationsOfRow() {
  return slr::operationsOfRow(getScaled()) +
         std::min(termType(getTerm()).getInputs(),
                  termType(getTerm()).getOutputs());
}

HostTensor ScaleOp::toDense(HostTerms &values) {
  double factor = getFactor().convertToDouble();
  return mapElements(values.of(getScaled()),
                     [=](double x) { return factor * x; });
}

//===----------------------------------------------------------------------===//
// slr.transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  TermType type = termType(adaptor.getOf());
  types.push_back(TermType::get(context, type.getOutputs(), type.getInputs()));
  return success();
}

Value TransposeOp::apply(TermBuilder &b, Value x, int64_t dim,
                         bool transposed) {
  return b.apply(getOf(), x, dim, !transposed);
}

Value TransposeOp::materialize(TermBuilder &b) {
  return b.permute(b.materialize(getOf()), {1, 0});
}

int64_t TransposeOp::operationsOfRow() { return slr::operationsOfRow(getOf()); }

HostTensor TransposeOp::toDense(HostTerms &values) {
  return transposedOf(values.of(getOf()));
}

//===----------------------------------------------------------------------===//
// slr.concat
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  ValueRange terms = adaptor.getTerms();
  if (failed(needTerms(loc, "slr.concat", terms)))
    return failure();
  int64_t inputs = termType(terms.front()).getInputs(), outputs = 0;
  for (Value term : terms) {
    if (termType(term).getInputs() != inputs)
      return emitOptionalError(loc,
                               "terms side by side have equal inputs, not ",
                               inputs, " and ", termType(term).getInputs());
    outputs += termType(term).getOutputs();
  }
  types.push_back(TermType::get(context, inputs, outputs));
  return success();
}

Value ConcatOp::apply(TermBuilder &b, Value x, int64_t dim, bool transposed) {
  SmallVector<Value> parts;
  int64_t offset = 0;
  for (Value term : getTerms()) {
    int64_t size = termType(term).getOutputs();
    Value part =
        transposed && getTerms().size() > 1 ? b.slice(x, dim, offset, size) : x;
    parts.push_back(b.apply(term, part, dim, transposed));
    offset += size;
  }
  if (!transposed)
    return b.concat(parts, dim);
  Value sum = parts.front();
  for (Value part : ArrayRef(parts).drop_front())
    sum = b.add(sum, part);
  return sum;
}

Value ConcatOp::materialize(TermBuilder &b) {
  SmallVector<Value> parts;
  for (Value term : getTerms())
    parts.push_back(b.materialize(term));
  return b.concat(parts, 1);
}

int64_t ConcatOp::operationsOfRow() {
  int64_t count = 0;
  for (Value term : getTerms())
    count += slr::operationsOfRow(term);
  return count;
}

HostTensor ConcatOp::toDense(HostTerms &values) {
  TermType type = termType(getTerm());
  HostTensor dense(/*isFloat=*/true, {type.getInputs(), type.getOutputs()});
  int64_t offset = 0;
  for (Value term : getTerms()) {
    HostTensor part = values.of(term);
    for (int64_t i = 0; i < part.dim(0); ++i)
      for (int64_t j = 0; j < part.dim(1); ++j)
        dense.mutableF()[dense.offset({i, offset + j})] = part.f({i, j});
    offset += part.dim(1);
  }
  return dense;
}

//===----------------------------------------------------------------------===//
// slr.kronecker
//===----------------------------------------------------------------------===//

LogicalResult KroneckerOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  TermType left = termType(adaptor.getLeft()),
           right = termType(adaptor.getRight());
  types.push_back(TermType::get(context, left.getInputs() * right.getInputs(),
                                left.getOutputs() * right.getOutputs()));
  return success();
}

/// Operations of a row where the right factor goes first, and where the left
/// one does.
static std::pair<int64_t, int64_t> operationsByOrder(KroneckerOp op,
                                                     bool transposed) {
  auto inputs = [&](Value term) {
    return transposed ? termType(term).getOutputs()
                      : termType(term).getInputs();
  };
  auto outputs = [&](Value term) {
    return transposed ? termType(term).getInputs()
                      : termType(term).getOutputs();
  };
  Value left = op.getLeft(), right = op.getRight();
  return {inputs(left) * operationsOfRow(right) +
              outputs(right) * operationsOfRow(left),
          inputs(right) * operationsOfRow(left) +
              outputs(left) * operationsOfRow(right)};
}

/// A factor of few inputs and outputs is one matrix, where this takes at most
/// twice the operations: what it saves are passes through rows.
static Value applyFactor(TermBuilder &b, Value factor, Value x, int64_t dim,
                         bool transposed) {
  bool asMatrix = b.association() == Association::Auto && !isDense(factor) &&
                  operationsAsMatrix(factor) <= 2 * operationsOfRow(factor);
  return asMatrix ? b.contract(x, dim, b.materialize(factor), transposed)
                  : b.apply(factor, x, dim, transposed);
}

Value KroneckerOp::apply(TermBuilder &b, Value x, int64_t dim,
                         bool transposed) {
  auto extent = [&](Value term) {
    return transposed ? termType(term).getOutputs()
                      : termType(term).getInputs();
  };
  auto [rightFirst, leftFirst] = operationsByOrder(*this, transposed);
  x = b.expand(x, dim, {extent(getLeft()), extent(getRight())});
  if (leftFirst < rightFirst)
    x = applyFactor(b, getLeft(), x, dim, transposed);
  x = applyFactor(b, getRight(), x, dim + 1, transposed);
  if (leftFirst >= rightFirst)
    x = applyFactor(b, getLeft(), x, dim, transposed);
  return b.collapse(x, dim, 2);
}

int64_t KroneckerOp::operationsOfRow() {
  auto [rightFirst, leftFirst] = operationsByOrder(*this, false);
  return std::min(rightFirst, leftFirst);
}

HostTensor KroneckerOp::toDense(HostTerms &values) {
  HostTensor left = values.of(getLeft()), right = values.of(getRight());
  TermType type = termType(getTerm());
  HostTensor dense(/*isFloat=*/true, {type.getInputs(), type.getOutputs()});
  for (int64_t a = 0; a < left.dim(0); ++a)
    for (int64_t c = 0; c < left.dim(1); ++c)
      for (int64_t e = 0; e < right.dim(0); ++e)
        for (int64_t d = 0; d < right.dim(1); ++d)
          dense.mutableF()[dense.offset(
              {a * right.dim(0) + e, c * right.dim(1) + d})] =
              left.f({a, c}) * right.f({e, d});
  return dense;
}

//===----------------------------------------------------------------------===//
// slr.hadamard
//===----------------------------------------------------------------------===//

LogicalResult HadamardOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  if (failed(needEqual(loc, "the factors of an elementwise product",
                       adaptor.getRight(), adaptor.getLeft())))
    return failure();
  types.push_back(adaptor.getLeft().getType());
  return success();
}

Value HadamardOp::apply(TermBuilder &b, Value x, int64_t dim, bool transposed) {
  return b.contract(x, dim, b.materialize(getTerm()), transposed);
}

Value HadamardOp::materialize(TermBuilder &b) {
  return b.multiply(b.materialize(getLeft()), b.materialize(getRight()));
}

int64_t HadamardOp::operationsOfRow() { return operationsAsMatrix(getTerm()); }

HostTensor HadamardOp::toDense(HostTerms &values) {
  HostTensor dense = values.of(getLeft());
  HostTensor right = values.of(getRight());
  for (auto [to, from] : llvm::zip_equal(dense.mutableF(), right.f()))
    to *= from;
  return dense;
}

//===----------------------------------------------------------------------===//
// slr.normalize_columns
//===----------------------------------------------------------------------===//

LogicalResult
NormalizeColumnsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  auto lengths = cast<RankedTensorType>(adaptor.getLengths().getType());
  int64_t columns = termType(adaptor.getOf()).getOutputs();
  if (lengths.getRank() != 1 || lengths.getDimSize(0) != columns)
    return emitOptionalError(loc, columns,
                             " columns have as many lengths, not ", lengths);
  types.push_back(adaptor.getOf().getType());
  return success();
}

Value NormalizeColumnsOp::apply(TermBuilder &b, Value x, int64_t dim,
                                bool transposed) {
  Value factors = b.columnFactors(b.materialize(getOf()), b.leaf(getLengths()));
  if (transposed)
    return b.apply(getOf(), b.multiplyAlong(x, dim, factors), dim, true);
  return b.multiplyAlong(b.apply(getOf(), x, dim, false), dim, factors);
}

Value NormalizeColumnsOp::materialize(TermBuilder &b) {
  Value matrix = b.materialize(getOf());
  return b.multiplyAlong(matrix, 1,
                         b.columnFactors(matrix, b.leaf(getLengths())));
}

int64_t NormalizeColumnsOp::operationsOfRow() {
  return slr::operationsOfRow(getOf()) + termType(getTerm()).getOutputs();
}

HostTensor NormalizeColumnsOp::toDense(HostTerms &values) {
  HostTensor dense = values.of(getOf());
  HostTensor lengths = values.of(getLengths());
  for (int64_t j = 0; j < dense.dim(1); ++j) {
    double squares = 0;
    for (int64_t i = 0; i < dense.dim(0); ++i)
      squares += dense.f({i, j}) * dense.f({i, j});
    for (int64_t i = 0; i < dense.dim(0); ++i)
      dense.mutableF()[dense.offset({i, j})] *=
          lengths.f()[j] / std::sqrt(squares);
  }
  return dense;
}

} // namespace drawloom::slr
