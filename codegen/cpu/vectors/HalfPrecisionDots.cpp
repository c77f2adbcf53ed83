//===- HalfPrecisionDots.cpp - products of bf16 and f16 matrices ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/vectors/HalfPrecisionDots.h"
#include "codegen/cpu/vectors/PackPanels.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom::cpu {

/// The forms in which an operand is kept. `Inner`: its last dimension is the
/// inner one.
enum Form { Wide, LeftPairs, LeftPairsInner, RightPairs, RightPairsInner };

Value HalfPrecisionDots::remember(Value matrix, int form, Value value) {
  made[{matrix, form}] = value;
  return value;
}

Value HalfPrecisionDots::known(LinalgOp dot, Value matrix, int form) {
  Value value = made.lookup({matrix, form});
  // Made before the dot, in its block or in one around it.
  if (!value || !value.getParentBlock()->findAncestorOpInBlock(*dot))
    return nullptr;
  return value;
}

Value HalfPrecisionDots::widened(LinalgOp dot, Value matrix) {
  if (Value value = known(dot, matrix, Wide))
    return value;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(outermostUser(matrix, dot));
  auto type = cast<RankedTensorType>(matrix.getType());
  Value empty = tensor::EmptyOp::create(rewriter, dot.getLoc(), type.getShape(),
                                        rewriter.getF32Type());
  return remember(matrix, Wide,
                  linalg::CopyOp::create(rewriter, dot.getLoc(), matrix, empty)
                      ->getResult(0));
}

/// [M, K] as [M, K/2, 2] for the left operand, [K/2, N, 2] for the right one.
Value HalfPrecisionDots::paired(LinalgOp dot, Value matrix, bool innerLast,
                                bool left) {
  int form = left ? (innerLast ? LeftPairsInner : LeftPairs)
                  : (innerLast ? RightPairsInner : RightPairs);
  if (Value value = known(dot, matrix, form))
    return value;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(outermostUser(matrix, dot));
  Location loc = dot.getLoc();
  auto transpose = [&](Value value, ArrayRef<int64_t> permutation) -> Value {
    auto type = cast<RankedTensorType>(value.getType());
    Value empty = tensor::EmptyOp::create(
        rewriter, loc, applyPermutation(type.getShape(), permutation),
        type.getElementType());
    return linalg::TransposeOp::create(rewriter, loc, value, empty, permutation)
        ->getResult(0);
  };
  Type element = getElementTypeOrSelf(matrix.getType());
  auto split = [&](Value value, unsigned dim) -> Value {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= 2;
    shape.insert(shape.begin() + dim + 1, 2);
    SmallVector<ReassociationIndices> groups =
        dim == 0 ? SmallVector<ReassociationIndices>{{0, 1}, {2}}
                 : SmallVector<ReassociationIndices>{{0}, {1, 2}};
    return tensor::ExpandShapeOp::create(
        rewriter, loc, RankedTensorType::get(shape, element), value, groups);
  };
  Value result;
  if (left)
    result = split(innerLast ? matrix : transpose(matrix, {1, 0}), 1);
  else if (innerLast)
    result = transpose(split(matrix, 1), {1, 0, 2});
  else
    result = transpose(split(matrix, 0), {0, 2, 1});
  return remember(matrix, form, result);
}

/// The maps of a contraction over (m, n, k, 2), of which m and k may be
/// missing.
static SmallVector<AffineMap> pairMaps(MLIRContext *context, bool hasRows,
                                       bool hasSteps) {
  unsigned dims = 0;
  auto next = [&](bool there) -> SmallVector<AffineExpr> {
    if (!there)
      return {};
    return {getAffineDimExpr(dims++, context)};
  };
  SmallVector<AffineExpr> m = next(hasRows), n = next(true), k = next(hasSteps),
                          pair = next(true);
  auto map = [&](std::initializer_list<ArrayRef<AffineExpr>> parts) {
    SmallVector<AffineExpr> exprs;
    for (ArrayRef<AffineExpr> part : parts)
      llvm::append_range(exprs, part);
    return AffineMap::get(dims, 0, exprs, context);
  };
  return {map({m, k, pair}), map({k, n, pair}), map({m, n})};
}

LinalgOp HalfPrecisionDots::prepare(LinalgOp dot) {
  SmallVector<AffineMap> maps = dot.getIndexingMapsArray();
  Type left = getElementTypeOrSelf(dot.getDpsInputs()[0].getType()),
       right = getElementTypeOrSelf(dot.getDpsInputs()[1].getType());
  auto isNarrow = [](Type type) { return type.isBF16() || type.isF16(); };
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(dot);
  if (!getElementTypeOrSelf(dot->getResult(0).getType()).isF32() ||
      (!isNarrow(left) && !isNarrow(right)) || !isa<FloatType>(left) ||
      !isa<FloatType>(right) || failed(dims))
    return dot;
  SmallVector<int64_t> ranges = dot.getStaticLoopRanges();
  bool simple = dims->m.size() == 1 && dims->n.size() == 1 &&
                dims->k.size() == 1 && dims->batch.empty();
  if (pairs && simple && left.isBF16() && right.isBF16() &&
      ranges[dims->k[0]] % 2 == 0 && ranges[dims->n[0]] % 4 == 0) {
    // That of the rows comes first by now, and they are the result's rows.
    assert(maps[2].getDimPosition(0) == dims->m[0] &&
           "a product whose loops are in order");
    unsigned inner = dims->k[0];
    auto innerLast = [&](unsigned i) {
      return maps[i].getDimPosition(1) == inner;
    };
    Value a = paired(dot, dot.getDpsInputs()[0], innerLast(0), true);
    Value b = paired(dot, dot.getDpsInputs()[1], innerLast(1), false);
    rewriter.setInsertionPoint(dot);
    auto contract = linalg::ContractOp::create(
        rewriter, dot.getLoc(), dot->getResultTypes(), ValueRange{a, b},
        dot.getDpsInits(),
        rewriter.getAffineMapArrayAttr(pairMaps(dot.getContext(), true, true)));
    rewriter.replaceOp(dot, contract->getResults());
    return cast<LinalgOp>(contract.getOperation());
  }
  SmallVector<Value> inputs;
  for (Value input : dot.getDpsInputs())
    inputs.push_back(isNarrow(getElementTypeOrSelf(input.getType()))
                         ? widened(dot, input)
                         : input);
  rewriter.setInsertionPoint(dot);
  auto contract = linalg::ContractOp::create(
      rewriter, dot.getLoc(), dot->getResultTypes(), inputs, dot.getDpsInits(),
      rewriter.getAffineMapArrayAttr(maps));
  rewriter.replaceOp(dot, contract->getResults());
  return cast<LinalgOp>(contract.getOperation());
}

bool isPairDot(LinalgOp dot) {
  return isa<linalg::ContractOp>(dot) && !dot.hasDynamicShape() &&
         dot.getIndexingMapsArray() == pairMaps(dot.getContext(), true, true) &&
         dot.getStaticLoopRanges()[3] == 2 &&
         getElementTypeOrSelf(dot.getDpsInputs()[0].getType()).isBF16() &&
         getElementTypeOrSelf(dot.getDpsInputs()[1].getType()).isBF16() &&
         getElementTypeOrSelf(dot->getResult(0).getType()).isF32();
}

void restoreUnitDimensions(func::FuncOp function) {
  SmallVector<vector::ContractionOp> ops;
  function.walk([&](vector::ContractionOp op) { ops.push_back(op); });
  for (vector::ContractionOp op : ops)
    for (auto [hasRows, hasSteps] :
         {std::pair(false, true), std::pair(true, false),
          std::pair(false, false)}) {
      MLIRContext *context = op.getContext();
      auto sum = dyn_cast<VectorType>(op.getResultType());
      VectorType left = op.getLhsType(), right = op.getRhsType();
      if (op.getIndexingMapsArray() != pairMaps(context, hasRows, hasSteps) ||
          !left.getElementType().isBF16() || !right.getElementType().isBF16() ||
          !sum || !sum.getElementType().isF32() ||
          left.getShape().back() != 2 ||
          op.getKind() != vector::CombiningKind::ADD)
        continue;
      int64_t m = hasRows ? left.getDimSize(0) : 1;
      int64_t k = hasSteps ? right.getDimSize(0) : 1;
      int64_t n = sum.getShape().back();
      OpBuilder b(op);
      auto reshape = [&](Value value, ArrayRef<int64_t> shape) -> Value {
        return vector::ShapeCastOp::create(
            b, op.getLoc(),
            VectorType::get(shape, getElementTypeOrSelf(value.getType())),
            value);
      };
      SmallVector<Attribute> iterators;
      for (vector::IteratorType type :
           {vector::IteratorType::parallel, vector::IteratorType::parallel,
            vector::IteratorType::reduction, vector::IteratorType::reduction})
        iterators.push_back(vector::IteratorTypeAttr::get(context, type));
      Value whole = vector::ContractionOp::create(
          b, op.getLoc(), reshape(op.getLhs(), {m, k, 2}),
          reshape(op.getRhs(), {k, n, 2}), reshape(op.getAcc(), {m, n}),
          b.getAffineMapArrayAttr(pairMaps(context, true, true)),
          b.getArrayAttr(iterators));
      op.getResult().replaceAllUsesWith(reshape(whole, sum.getShape()));
      op.erase();
      break;
    }
}

bool isPairContraction(vector::ContractionOp op) {
  VectorType left = op.getLhsType(), right = op.getRhsType();
  auto sum = dyn_cast<VectorType>(op.getResultType());
  if (!sum || left.getRank() != 3 || right.getRank() != 3 ||
      sum.getRank() != 2 || !left.getElementType().isBF16() ||
      !right.getElementType().isBF16() || !sum.getElementType().isF32() ||
      left.getDimSize(2) != 2 || op.getKind() != vector::CombiningKind::ADD)
    return false;
  return op.getIndexingMapsArray() == pairMaps(op.getContext(), true, true);
}

} // namespace drawloom::cpu
