//===- SlrLeaves.cpp - terms that are made of tensors ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Slr/TermBuilder.h"

using namespace mlir;

namespace drawloom::slr {

static int64_t dimOf(Value tensor, int64_t dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

/// The type of a term with these extents; an error where there are no such.
static LogicalResult infer(MLIRContext *context, std::optional<Location> loc,
                           StringRef what, int64_t inputs, int64_t outputs,
                           SmallVectorImpl<Type> &types) {
  if (inputs < 1 || outputs < 1)
    return emitOptionalError(loc, what, " has known extents of at least 1");
  types.push_back(TermType::get(context, inputs, outputs));
  return success();
}

/// The shape of a tensor of `rank` known extents; an error for another one.
static FailureOr<ArrayRef<int64_t>> shapeOf(std::optional<Location> loc,
                                            StringRef what, Value tensor,
                                            int64_t rank) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() != rank || !type.hasStaticShape())
    return emitOptionalError(loc, what, " has ", rank,
                             " known extents, and this one is a ", type);
  return type.getShape();
}

/// A matrix of zeros.
static HostTensor zeros(Operation *op) {
  TermType type = TermBuilder::termOf(op);
  return HostTensor(/*isFloat=*/true, {type.getInputs(), type.getOutputs()});
}

//===----------------------------------------------------------------------===//
// slr.dense
//===----------------------------------------------------------------------===//

LogicalResult DenseOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto shape = shapeOf(loc, "the matrix of slr.dense", adaptor.getMatrix(), 2);
  if (failed(shape))
    return failure();
  return infer(context, loc, "the matrix of slr.dense", (*shape)[0],
               (*shape)[1], types);
}

Value DenseOp::apply(TermBuilder &b, Value x, int64_t dim, bool transposed) {
  return b.contract(x, dim, b.leaf(getMatrix()), transposed);
}

Value DenseOp::materialize(TermBuilder &b) { return b.leaf(getMatrix()); }

int64_t DenseOp::operationsOfRow() { return operationsAsMatrix(getTerm()); }

HostTensor DenseOp::toDense(HostTerms &values) {
  return values.of(getMatrix());
}

//===----------------------------------------------------------------------===//
// slr.diagonal
//===----------------------------------------------------------------------===//

LogicalResult DiagonalOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto shape = shapeOf(loc, "the diagonal", adaptor.getValues(), 1);
  if (failed(shape))
    return failure();
  return infer(context, loc, "the diagonal", (*shape)[0], (*shape)[0], types);
}

Value DiagonalOp::apply(TermBuilder &b, Value x, int64_t dim, bool) {
  return b.multiplyAlong(x, dim, b.leaf(getValues()));
}

int64_t DiagonalOp::operationsOfRow() { return dimOf(getValues(), 0); }

HostTensor DiagonalOp::toDense(HostTerms &values) {
  HostTensor dense = zeros(*this);
  HostTensor leaf = values.of(getValues());
  ArrayRef<double> diagonal = leaf.f();
  for (auto [i, value] : llvm::enumerate(diagonal))
    dense.mutableF()[i * diagonal.size() + i] = value;
  return dense;
}

//===----------------------------------------------------------------------===//
// slr.identity
//===----------------------------------------------------------------------===//

LogicalResult IdentityOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  int64_t extent = adaptor.getExtent();
  return infer(context, loc, "an identity", extent, extent, types);
}

Value IdentityOp::apply(TermBuilder &, Value x, int64_t, bool) { return x; }

int64_t IdentityOp::operationsOfRow() { return 0; }

HostTensor IdentityOp::toDense(HostTerms &) {
  HostTensor dense = zeros(*this);
  for (int64_t i = 0; i < dense.dim(0); ++i)
    dense.mutableF()[i * dense.dim(0) + i] = 1;
  return dense;
}

//===----------------------------------------------------------------------===//
// slr.block_diagonal
//===----------------------------------------------------------------------===//

LogicalResult BlockDiagonalOp::inferReturnTypes(MLIRContext *context,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  auto shape = shapeOf(loc, "an array of blocks", adaptor.getBlocks(), 3);
  if (failed(shape))
    return failure();
  return infer(context, loc, "an array of blocks", (*shape)[0] * (*shape)[1],
               (*shape)[0] * (*shape)[2], types);
}

Value BlockDiagonalOp::apply(TermBuilder &b, Value x, int64_t dim,
                             bool transposed) {
  x = b.expand(x, dim,
               {dimOf(getBlocks(), 0), dimOf(getBlocks(), transposed ? 2 : 1)});
  x = b.contractBlocks(x, dim + 1, b.leaf(getBlocks()), transposed);
  return b.collapse(x, dim, 2);
}

int64_t BlockDiagonalOp::operationsOfRow() {
  return 2 * cast<RankedTensorType>(getBlocks().getType()).getNumElements();
}

HostTensor BlockDiagonalOp::toDense(HostTerms &values) {
  HostTensor dense = zeros(*this);
  HostTensor blocks = values.of(getBlocks());
  for (int64_t g = 0; g < blocks.dim(0); ++g)
    for (int64_t i = 0; i < blocks.dim(1); ++i)
      for (int64_t j = 0; j < blocks.dim(2); ++j)
        dense.mutableF()[dense.offset(
            {g * blocks.dim(1) + i, g * blocks.dim(2) + j})] =
            blocks.f({g, i, j});
  return dense;
}

//===----------------------------------------------------------------------===//
// slr.permute
//===----------------------------------------------------------------------===//

LogicalResult PermuteOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> shape = adaptor.getShape();
  if (shape.empty() || llvm::any_of(shape, [](int64_t e) { return e < 1; }))
    return emitOptionalError(loc,
                             "the extents of a permuted shape are at least 1");
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (permutation.size() != shape.size() || !isPermutationVector(permutation))
    return emitOptionalError(loc, "a permutation has each number below ",
                             shape.size(), " once");
  int64_t extent = llvm::product_of(shape);
  return infer(context, loc, "a permutation", extent, extent, types);
}

Value PermuteOp::apply(TermBuilder &b, Value x, int64_t dim, bool transposed) {
  SmallVector<int64_t> shape(getShape()), order(getPermutation());
  if (transposed) {
    shape = applyPermutation(shape, order);
    order = invertPermutationVector(order);
  }
  x = b.expand(x, dim, shape);
  SmallVector<int64_t> all;
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank(),
          count = shape.size();
  for (int64_t d = 0; d < rank; ++d)
    all.push_back(d < dim || d >= dim + count ? d : dim + order[d - dim]);
  return b.collapse(b.permute(x, all), dim, count);
}

int64_t PermuteOp::operationsOfRow() { return 0; }

HostTensor PermuteOp::toDense(HostTerms &) {
  HostTensor dense = zeros(*this);
  HostTensor from(/*isFloat=*/true, getShape());
  SmallVector<int64_t> shape =
      applyPermutation(SmallVector<int64_t>(getShape()), getPermutation());
  HostTensor to(/*isFloat=*/true, shape);
  SmallVector<int64_t> index(shape.size(), 0), source(shape.size());
  for (int64_t i = 0; i < to.size(); ++i) {
    for (size_t d = 0; d < shape.size(); ++d)
      source[getPermutation()[d]] = index[d];
    dense.mutableF()[dense.offset({from.offset(source), i})] = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  return dense;
}

//===----------------------------------------------------------------------===//
// slr.fold
//===----------------------------------------------------------------------===//

LogicalResult FoldOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  int64_t extent = adaptor.getExtent(), count = adaptor.getCount();
  if (extent < 1 || count < 1 || extent % count)
    return emitOptionalError(loc, extent, " elements are not ", count,
                             " parts of one length");
  return infer(context, loc, "a fold", extent, extent / count, types);
}

Value FoldOp::apply(TermBuilder &b, Value x, int64_t dim, bool transposed) {
  int64_t count = getCount();
  if (transposed)
    return b.collapse(b.repeat(x, dim, count), dim, 2);
  return b.sumOver(b.expand(x, dim, {count, int64_t(getExtent()) / count}),
                   dim);
}

int64_t FoldOp::operationsOfRow() { return getExtent(); }

HostTensor FoldOp::toDense(HostTerms &) {
  HostTensor dense = zeros(*this);
  for (int64_t i = 0; i < dense.dim(0); ++i)
    dense.mutableF()[dense.offset({i, i % dense.dim(1)})] = 1;
  return dense;
}

//===----------------------------------------------------------------------===//
// slr.select
//===----------------------------------------------------------------------===//

LogicalResult SelectOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  int64_t size = adaptor.getSize(), offset = adaptor.getOffset(),
          extent = adaptor.getExtent();
  if (size < 1 || offset < 0 || offset > extent - size)
    return emitOptionalError(loc, size, " elements from ", offset,
                             " on are no part of ", extent);
  return infer(context, loc, "a part", extent, size, types);
}

Value SelectOp::apply(TermBuilder &b, Value x, int64_t dim, bool transposed) {
  if (transposed)
    return b.pad(x, dim, getOffset(), getExtent());
  return b.slice(x, dim, getOffset(), getSize());
}

int64_t SelectOp::operationsOfRow() { return 0; }

HostTensor SelectOp::toDense(HostTerms &) {
  HostTensor dense = zeros(*this);
  for (int64_t j = 0; j < dense.dim(1); ++j)
    dense.mutableF()[dense.offset({int64_t(getOffset()) + j, j})] = 1;
  return dense;
}

} // namespace drawloom::slr
