//===- RgnnDifferentiate.cpp - gradients of typed products ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The gradient of rgnn.traverse is the reverse of its region, for which
// passes/Differentiate has the rules.
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/Rgnn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace drawloom::rgnn {

/// Adds up rows at pairs to rows of `type` at `space`, which is that of the
/// pairs or of their nodes.
static Value sumTo(OpBuilder &builder, Location loc, Value graph, Value rows,
                   Space space, RankedTensorType type) {
  Space pairs = pairsOf(directionOf(space));
  if (space == pairs)
    return rows;
  auto sum = TraverseOp::create(builder, loc, TypeRange(type), graph, rows,
                                pairs, {static_cast<int32_t>(pairs)},
                                {static_cast<int32_t>(space)},
                                {static_cast<int32_t>(rgnn::Combiner::Sum)});
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&sum.getBody());
  Value row = body->addArgument(rowType(typeOf(rows), pairs), loc);
  YieldOp::create(builder, loc, row);
  return sum.getResult(0);
}

/// The type of rows at the pairs of a space, with `width` columns.
static RankedTensorType pairRows(GraphOp graph, Space space,
                                 RankedTensorType like, int64_t width) {
  Order order = orderOf(graph, directionOf(space));
  SmallVector<int64_t> shape(like.getShape());
  shape.front() = typeOf(order.pairRelation).getDimSize(0);
  shape.back() = width;
  return RankedTensorType::get(shape, like.getElementType());
}

/// linear(x at from, w), added up to rows of `type` at `to`.
static Value linearTo(OpBuilder &builder, Location loc, Value graph, Value x,
                      Space from, Value w, bool transpose, Space to,
                      RankedTensorType type) {
  RankedTensorType pairs =
      pairRows(graphOf(graph), from, type, type.getShape().back());
  Value y = LinearOp::create(builder, loc, pairs, graph, x, from, w, transpose);
  return sumTo(builder, loc, graph, y, to, type);
}

FailureOr<SmallVector<Value>>
LinearOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                   const llvm::SmallBitVector &needed) {
  Value dy = cotangents.front();
  Space pairs = pairsOf(directionOf(getAt()));
  SmallVector<Value> gradients(3);
  if (needed[1])
    gradients[1] = linearTo(builder, getLoc(), getGraph(), dy, pairs, getW(),
                            !getTranspose(), getAt(), typeOf(getX()));
  if (needed[2])
    gradients[2] =
        getTranspose()
            ? OuterOp::create(builder, getLoc(), getW().getType(), getGraph(),
                              dy, pairs, getX(), getAt())
            : OuterOp::create(builder, getLoc(), getW().getType(), getGraph(),
                              getX(), getAt(), dy, pairs);
  return gradients;
}

FailureOr<SmallVector<Value>>
OuterOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                  const llvm::SmallBitVector &needed) {
  Value dw = cotangents.front();
  // Matrices in the type of the rows.
  RankedTensorType narrow =
      typeOf(getW()).clone(typeOf(getA()).getElementType());
  if (dw.getType() != narrow)
    dw = arith::TruncFOp::create(builder, getLoc(), narrow, dw);
  SmallVector<Value> gradients(3);
  if (needed[1])
    gradients[1] = linearTo(builder, getLoc(), getGraph(), getB(), getBAt(), dw,
                            /*transpose=*/true, getAAt(), typeOf(getA()));
  if (needed[2])
    gradients[2] = linearTo(builder, getLoc(), getGraph(), getA(), getAAt(), dw,
                            /*transpose=*/false, getBAt(), typeOf(getB()));
  return gradients;
}

} // namespace drawloom::rgnn
