//===- TermBuilder.cpp - rows times terms, as linalg ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Slr/TermBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace drawloom::slr {

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// What costs how much.
//===----------------------------------------------------------------------===//

static Value withoutTransposes(Value term) {
  while (auto transpose = term.getDefiningOp<TransposeOp>())
    term = transpose.getOf();
  return term;
}

bool isDense(Value term) {
  return withoutTransposes(term).getDefiningOp<DenseOp>();
}

bool isQuantized(Value term) {
  return withoutTransposes(term).getDefiningOp<QuantizedOp>();
}

bool isMadeAnyway(Value term) {
  term = withoutTransposes(term);
  while (auto scale = term.getDefiningOp<ScaleOp>())
    term = withoutTransposes(scale.getScaled());
  return term.getDefiningOp<HadamardOp>();
}

int64_t operationsOfRow(Value term) {
  return cast<TermOpInterface>(term.getDefiningOp()).operationsOfRow();
}

int64_t operationsAsMatrix(Value term) {
  TermType type = termType(term);
  return 2 * type.getInputs() * type.getOutputs();
}

bool isWorthAMatrix(int64_t operations, int64_t asMatrix) {
  return 3 * operations > 4 * asMatrix;
}

Chain chainOf(ValueRange factors, Association association) {
  // The best way through the first i factors, and where its last group begins.
  size_t count = factors.size();
  SmallVector<int64_t> best(count + 1, 0), begin(count + 1, 0);
  for (size_t i = 1; i <= count; ++i) {
    best[i] = best[i - 1] + operationsOfRow(factors[i - 1]);
    begin[i] = i - 1;
    if (association == Association::Parts)
      continue;
    for (size_t from = 0; from + 1 < i; ++from) {
      int64_t asMatrix = 2 * termType(factors[from]).getInputs() *
                         termType(factors[i - 1]).getOutputs();
      if (best[from] + asMatrix < best[i] &&
          isWorthAMatrix(best[i] - best[from], asMatrix)) {
        best[i] = best[from] + asMatrix;
        begin[i] = from;
      }
    }
  }
  Chain chain{{}, best[count]};
  for (size_t end = count; end > 0; end = begin[end])
    chain.groups.insert(
        chain.groups.begin(),
        llvm::to_vector(factors.slice(begin[end], end - begin[end])));
  return chain;
}

//===----------------------------------------------------------------------===//
// Terms.
//===----------------------------------------------------------------------===//

Value rowsOfIdentity(Operation *term, TermBuilder &b) {
  Value rows = b.identity(TermBuilder::termOf(term).getInputs());
  return cast<TermOpInterface>(term).apply(b, rows, 1, /*transposed=*/false);
}

TermBuilder::TermBuilder(OpBuilder &b, Location loc, Block &region,
                         ValueRange values, Type element,
                         Association association)
    : b(b), loc(loc), element(element), form(association) {
  leaves.map(region.getArguments(), values);
}

Value TermBuilder::apply(Value term, Value x, int64_t dim, bool transposed) {
  if (form == Association::Matrix)
    return contract(x, dim, materialize(term), transposed);
  return cast<TermOpInterface>(term.getDefiningOp())
      .apply(*this, x, dim, transposed);
}

Value TermBuilder::applyProduct(ValueRange factors, Value x, int64_t dim,
                                bool transposed, double factor) {
  Chain chain = chainOf(factors, form);
  if (transposed)
    std::reverse(chain.groups.begin(), chain.groups.end());
  // The narrowest row on the way is scaled: that before group `at`.
  size_t at = 0;
  auto inputsOf = [&](ArrayRef<Value> group) {
    return transposed ? termType(group.back()).getOutputs()
                      : termType(group.front()).getInputs();
  };
  int64_t narrowest = inputsOf(chain.groups.front());
  for (size_t i = 1; i <= chain.groups.size(); ++i) {
    int64_t width = i < chain.groups.size() ? inputsOf(chain.groups[i])
                    : transposed ? termType(factors.front()).getInputs()
                                 : termType(factors.back()).getOutputs();
    if (width < narrowest) {
      narrowest = width;
      at = i;
    }
  }
  for (auto [i, group] : llvm::enumerate(chain.groups)) {
    if (i == at)
      x = scale(x, factor);
    if (group.size() == 1) {
      x = apply(group.front(), x, dim, transposed);
      continue;
    }
    Value matrix = materialize(group.front());
    for (Value other : ArrayRef(group).drop_front())
      matrix = apply(other, matrix, 1, false);
    x = contract(x, dim, matrix, transposed);
  }
  return at == chain.groups.size() ? scale(x, factor) : x;
}

Value TermBuilder::materialize(Value term) {
  if (Value known = matrices.lookup(term))
    return known;
  Value matrix = cast<TermOpInterface>(term.getDefiningOp()).materialize(*this);
  matrices[term] = matrix;
  return matrix;
}

//===----------------------------------------------------------------------===//
// Tensors.
//===----------------------------------------------------------------------===//

Value TermBuilder::emptyLike(Value x, int64_t dim, int64_t extent) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x);
  sizes[dim] = b.getIndexAttr(extent);
  return tensor::EmptyOp::create(b, loc, sizes, element);
}

Value TermBuilder::filled(double number, Value empty) {
  Value constant = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getFloatAttr(element, number)));
  return linalg::FillOp::create(b, loc, constant, empty).getResult(0);
}

Value TermBuilder::generateInto(
    Value empty, ValueRange inputs, ArrayRef<AffineMap> maps,
    llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  int64_t rank = tensorType(empty).getRank();
  SmallVector<AffineMap> all(maps);
  all.push_back(b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> parallel(rank,
                                            utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, empty.getType(), inputs, empty, all, parallel,
             [&](OpBuilder &inner, Location at, ValueRange values) {
               linalg::YieldOp::create(inner, at, body(inner, values));
             })
      .getResult(0);
}

Value TermBuilder::elementwise(
    ValueRange inputs, ArrayRef<AffineMap> maps, Value like,
    llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  return generateInto(tensor::EmptyOp::create(
                          b, loc, tensor::getMixedSizes(b, loc, like), element),
                      inputs, maps, body);
}

Value TermBuilder::generate(
    ValueRange inputs, ArrayRef<AffineMap> maps, ArrayRef<int64_t> shape,
    llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  return generateInto(tensor::EmptyOp::create(b, loc, shape, element), inputs,
                      maps, body);
}

Value TermBuilder::contractWith(Value x, Value matrix, AffineMap xMap,
                                AffineMap matrixMap, Value empty) {
  AffineMap out = b.getMultiDimIdentityMap(xMap.getNumDims())
                      .dropResult(xMap.getNumDims() - 1);
  return linalg::ContractOp::create(
             b, loc, empty.getType(), ValueRange{x, matrix},
             ValueRange{filled(0.0, empty)},
             b.getAffineMapArrayAttr({xMap, matrixMap, out}))
      .getResult(0);
}

Value TermBuilder::contract(Value x, int64_t dim, Value matrix,
                            bool transposed) {
  // The loops of the result, then that of the sum.
  int64_t rank = tensorType(x).getRank();
  MLIRContext *context = b.getContext();
  SmallVector<AffineExpr> of;
  for (int64_t d = 0; d < rank; ++d)
    of.push_back(getAffineDimExpr(d == dim ? rank : d, context));
  AffineExpr inner = getAffineDimExpr(rank, context),
             outer = getAffineDimExpr(dim, context);
  SmallVector<AffineExpr> ofMatrix{inner, outer};
  if (transposed)
    std::swap(ofMatrix[0], ofMatrix[1]);
  return contractWith(
      x, matrix, AffineMap::get(rank + 1, 0, of, context),
      AffineMap::get(rank + 1, 0, ofMatrix, context),
      emptyLike(x, dim, tensorType(matrix).getDimSize(transposed ? 0 : 1)));
}

Value TermBuilder::contractBlocks(Value x, int64_t dim, Value blocks,
                                  bool transposed) {
  int64_t rank = tensorType(x).getRank();
  MLIRContext *context = b.getContext();
  SmallVector<AffineExpr> of;
  for (int64_t d = 0; d < rank; ++d)
    of.push_back(getAffineDimExpr(d == dim ? rank : d, context));
  SmallVector<AffineExpr> ofBlocks{getAffineDimExpr(dim - 1, context),
                                   getAffineDimExpr(rank, context),
                                   getAffineDimExpr(dim, context)};
  if (transposed)
    std::swap(ofBlocks[1], ofBlocks[2]);
  return contractWith(
      x, blocks, AffineMap::get(rank + 1, 0, of, context),
      AffineMap::get(rank + 1, 0, ofBlocks, context),
      emptyLike(x, dim, tensorType(blocks).getDimSize(transposed ? 1 : 2)));
}

Value TermBuilder::contractSparse(Value x, int64_t dim, Value values,
                                  ValueRange places, int64_t outputs,
                                  bool transposed) {
  // As rows: that dimension last, the others one.
  int64_t rank = tensorType(x).getRank();
  SmallVector<int64_t> last = llvm::to_vector(llvm::seq<int64_t>(rank));
  last.erase(last.begin() + dim);
  last.push_back(dim);
  bool isLast = dim == rank - 1;
  Value moved = isLast ? x : permute(x, last);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, moved);
  if (rank > 2)
    moved = collapse(moved, 0, rank - 1);
  if (tensorType(values).getRank() == 1)
    values = tensor::ExpandShapeOp::create(
        b, loc,
        RankedTensorType::get({tensorType(values).getDimSize(0), 1, 1},
                              element),
        values, ArrayRef<ReassociationIndices>{{0, 1, 2}});
  auto type = RankedTensorType::get({tensorType(moved).getDimSize(0), outputs},
                                    element);
  auto product =
      SparseLinearOp::create(b, loc, type, moved, values, places[0], places[1],
                             places[2], places[3], places[4], transposed);
  Value y = product.getY();
  if (rank > 2) {
    sizes.back() = b.getIndexAttr(outputs);
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    SmallVector<ReassociationIndices> groups(2);
    for (int64_t d = 0; d < rank; ++d)
      groups[d == rank - 1].push_back(d);
    y = tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get(shape, element), y, groups, sizes);
  }
  return isLast ? y : permute(y, invertPermutationVector(last));
}

Value TermBuilder::scale(Value x, double factor) {
  if (factor == 1.0)
    return x;
  Value constant = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getFloatAttr(element, factor)));
  return elementwise(x, b.getMultiDimIdentityMap(tensorType(x).getRank()), x,
                     [&](OpBuilder &inner, ValueRange values) -> Value {
                       return arith::MulFOp::create(inner, loc, values[0],
                                                    constant);
                     });
}

Value TermBuilder::multiplyAlong(Value x, int64_t dim, Value vector) {
  int64_t rank = tensorType(x).getRank();
  return elementwise({x, vector},
                     {b.getMultiDimIdentityMap(rank),
                      AffineMap::get(rank, 0, b.getAffineDimExpr(dim))},
                     x, [&](OpBuilder &inner, ValueRange values) -> Value {
                       return arith::MulFOp::create(inner, loc, values[0],
                                                    values[1]);
                     });
}

template <typename Op> Value TermBuilder::pointwise(Value left, Value right) {
  AffineMap same = b.getMultiDimIdentityMap(tensorType(left).getRank());
  return elementwise({left, right}, {same, same}, left,
                     [&](OpBuilder &inner, ValueRange values) -> Value {
                       return Op::create(inner, loc, values[0], values[1]);
                     });
}

Value TermBuilder::add(Value left, Value right) {
  return pointwise<arith::AddFOp>(left, right);
}

Value TermBuilder::multiply(Value left, Value right) {
  return pointwise<arith::MulFOp>(left, right);
}

Value TermBuilder::sumOver(Value x, int64_t dim) {
  int64_t rank = tensorType(x).getRank();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x);
  sizes.erase(sizes.begin() + dim);
  Value start = filled(0.0, tensor::EmptyOp::create(b, loc, sizes, element));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators[dim] = utils::IteratorType::reduction;
  AffineMap all = b.getMultiDimIdentityMap(rank);
  return linalg::GenericOp::create(
             b, loc, start.getType(), x, start, {all, all.dropResult(dim)},
             iterators,
             [&](OpBuilder &inner, Location at, ValueRange values) {
               Value sum =
                   arith::AddFOp::create(inner, at, values[0], values[1]);
               linalg::YieldOp::create(inner, at, sum);
             })
      .getResult(0);
}

Value TermBuilder::repeat(Value x, int64_t dim, int64_t count) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x);
  sizes.insert(sizes.begin() + dim, b.getIndexAttr(count));
  return generateInto(tensor::EmptyOp::create(b, loc, sizes, element), x,
                      b.getMultiDimIdentityMap(sizes.size()).dropResult(dim),
                      [](OpBuilder &, ValueRange values) { return values[0]; });
}

Value TermBuilder::permute(Value x, ArrayRef<int64_t> permutation) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x), ordered;
  for (int64_t from : permutation)
    ordered.push_back(sizes[from]);
  Value empty = tensor::EmptyOp::create(b, loc, ordered, element);
  return linalg::TransposeOp::create(b, loc, x, empty, permutation)
      ->getResult(0);
}

Value TermBuilder::expand(Value x, int64_t dim, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(x);
  SmallVector<int64_t> extents(type.getShape());
  extents.erase(extents.begin() + dim);
  extents.insert(extents.begin() + dim, shape.begin(), shape.end());
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0, at = 0; d < type.getRank(); ++d) {
    groups.emplace_back();
    for (size_t i = 0; i < (d == dim ? shape.size() : 1); ++i)
      groups.back().push_back(at++);
  }
  return tensor::ExpandShapeOp::create(
      b, loc, RankedTensorType::get(extents, type.getElementType()), x, groups);
}

Value TermBuilder::collapse(Value x, int64_t dim, int64_t count) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < tensorType(x).getRank(); ++d) {
    if (d <= dim || d >= dim + count)
      groups.emplace_back();
    groups.back().push_back(d);
  }
  return tensor::CollapseShapeOp::create(b, loc, x, groups);
}

Value TermBuilder::slice(Value x, int64_t dim, int64_t offset, int64_t size) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x),
                            offsets(sizes.size(), b.getIndexAttr(0)),
                            strides(sizes.size(), b.getIndexAttr(1));
  offsets[dim] = b.getIndexAttr(offset);
  sizes[dim] = b.getIndexAttr(size);
  return tensor::ExtractSliceOp::create(b, loc, x, offsets, sizes, strides);
}

Value TermBuilder::pad(Value x, int64_t dim, int64_t offset, int64_t extent) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x),
                            offsets(sizes.size(), b.getIndexAttr(0)),
                            strides(sizes.size(), b.getIndexAttr(1));
  offsets[dim] = b.getIndexAttr(offset);
  return tensor::InsertSliceOp::create(b, loc, x,
                                       filled(0.0, emptyLike(x, dim, extent)),
                                       offsets, sizes, strides);
}

Value TermBuilder::concat(ValueRange parts, int64_t dim) {
  if (parts.size() == 1)
    return parts.front();
  return tensor::ConcatOp::create(b, loc, dim, parts);
}

Value TermBuilder::zeros(ArrayRef<int64_t> shape) {
  return filled(0.0, tensor::EmptyOp::create(b, loc, shape, element));
}

Value TermBuilder::identity(int64_t extent) {
  return generate(
      {}, {}, {extent, extent}, [&](OpBuilder &inner, ValueRange) -> Value {
        Value row = linalg::IndexOp::create(inner, loc, 0);
        Value column = linalg::IndexOp::create(inner, loc, 1);
        Value same = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq,
                                           row, column);
        auto number = [&](double value) -> Value {
          return arith::ConstantOp::create(
              inner, loc, cast<TypedAttr>(inner.getFloatAttr(element, value)));
        };
        return arith::SelectOp::create(inner, loc, same, number(1), number(0));
      });
}

Value TermBuilder::columnFactors(Value matrix, Value lengths) {
  Value squares = sumOver(multiply(matrix, matrix), 0);
  AffineMap same = b.getMultiDimIdentityMap(1);
  return elementwise({lengths, squares}, {same, same}, lengths,
                     [&](OpBuilder &inner, ValueRange values) -> Value {
                       Value root = math::SqrtOp::create(inner, loc, values[1]);
                       return arith::DivFOp::create(inner, loc, values[0],
                                                    root);
                     });
}

} // namespace drawloom::slr
