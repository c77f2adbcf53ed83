//===- BlockDifferentiate.cpp - gradients of the block ops ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::block {

static Value emptyLike(OpBuilder &b, Location loc, Value like) {
  return tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, like),
      cast<RankedTensorType>(like.getType()).getElementType());
}

static Value zerosLike(OpBuilder &b, Location loc, Value like) {
  Value empty = emptyLike(b, loc, like);
  Type element = cast<RankedTensorType>(like.getType()).getElementType();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
}

FailureOr<SmallVector<Value>>
GatherOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                   const llvm::SmallBitVector &needed) {
  SmallVector<Value> gradients(3);
  if (needed[0])
    gradients[0] = ScatterOp::create(builder, getLoc(), getSource().getType(),
                                     cotangents[0], getIndices(),
                                     zerosLike(builder, getLoc(), getSource()),
                                     /*accumulate=*/true);
  return gradients;
}

FailureOr<SmallVector<Value>>
ScatterOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                    const llvm::SmallBitVector &needed) {
  SmallVector<Value> gradients(3);
  if (needed[0])
    gradients[0] =
        GatherOp::create(builder, getLoc(), getRows().getType(), cotangents[0],
                         getIndices(), emptyLike(builder, getLoc(), getRows()));
  if (needed[2])
    // Stored rows hide what was there before; added ones do not.
    gradients[2] =
        getAccumulate()
            ? cotangents[0]
            : ScatterOp::create(builder, getLoc(), getDest().getType(),
                                zerosLike(builder, getLoc(), getRows()),
                                getIndices(), cotangents[0],
                                /*accumulate=*/false)
                  .getResult();
  return gradients;
}

FailureOr<SmallVector<Value>>
ScanOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                 const llvm::SmallBitVector &needed) {
  if (getKind() != ScanKind::Add)
    return emitOpError()
           << "has no gradient for a running "
           << (getKind() == ScanKind::Mul ? "product" : "maximum")
           << "; write it as an scf.for over slices, which has one";
  SmallVector<Value> gradients(2);
  if (!needed[0])
    return gradients;
  Value sum =
      ScanOp::create(builder, getLoc(), getInit().getType(), ScanKind::Add,
                     getExclusive(), !getReverse(), cotangents[0],
                     getDimension(), emptyLike(builder, getLoc(), getInit()));
  if (sum.getType() != getInput().getType())
    sum = arith::TruncFOp::create(builder, getLoc(), getInput().getType(), sum);
  gradients[0] = sum;
  return gradients;
}

/// -P Q^T where (i, j) is in the triangle that `op` reads, 0 elsewhere.
static Value negatedOuterProduct(OpBuilder &b, SolveTriangularOp op, Value p,
                                 Value q) {
  Location loc = op.getLoc();
  AffineExpr i = b.getAffineDimExpr(0), j = b.getAffineDimExpr(1),
             k = b.getAffineDimExpr(2);
  auto map = [&](ArrayRef<AffineExpr> exprs, unsigned dims) {
    return AffineMap::get(dims, 0, exprs, b.getContext());
  };
  SmallVector<AffineMap> maps = {map({i, k}, 3), map({j, k}, 3),
                                 map({i, j}, 3)};
  Value product =
      linalg::ContractOp::create(b, loc, TypeRange(op.getMatrix().getType()),
                                 ValueRange{p, q},
                                 ValueRange{zerosLike(b, loc, op.getMatrix())},
                                 b.getAffineMapArrayAttr(maps))
          .getResult(0);
  SmallVector<AffineMap> identity(2, b.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  Value empty = emptyLike(b, loc, op.getMatrix());
  auto masked = linalg::GenericOp::create(
      b, loc, TypeRange(empty), product, empty, identity, loops,
      [&](OpBuilder &nested, Location, ValueRange elements) {
        Value row = linalg::IndexOp::create(nested, loc, 0);
        Value column = linalg::IndexOp::create(nested, loc, 1);
        bool lower = op.getTriangle() == Triangle::Lower;
        arith::CmpIPredicate inside = op.getUnit()
                                          ? (lower ? arith::CmpIPredicate::sgt
                                                   : arith::CmpIPredicate::slt)
                                          : (lower ? arith::CmpIPredicate::sge
                                                   : arith::CmpIPredicate::sle);
        Value read = arith::CmpIOp::create(nested, loc, inside, row, column);
        Value negated = arith::NegFOp::create(nested, loc, elements[0]);
        Value zero = arith::ConstantOp::create(
            nested, loc, nested.getZeroAttr(negated.getType()));
        Value value = arith::SelectOp::create(nested, loc, read, negated, zero);
        linalg::YieldOp::create(nested, loc, value);
      });
  return masked.getResult(0);
}

FailureOr<SmallVector<Value>>
SolveTriangularOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                            const llvm::SmallBitVector &needed) {
  Value dRhs = SolveTriangularOp::create(builder, getLoc(), getRhs().getType(),
                                         getTriangle(), !getTranspose(),
                                         getUnit(), getMatrix(), cotangents[0]);
  SmallVector<Value> gradients = {Value(), dRhs};
  if (needed[0])
    gradients[0] = getTranspose()
                       ? negatedOuterProduct(builder, *this, getResult(), dRhs)
                       : negatedOuterProduct(builder, *this, dRhs, getResult());
  return gradients;
}

} // namespace drawloom::block
