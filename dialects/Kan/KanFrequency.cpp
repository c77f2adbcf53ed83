//===- KanFrequency.cpp - the frequency encoding --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/Kan/Kan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;

namespace drawloom::kan {

LogicalResult FrequencyEncodeOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  auto y = cast<RankedTensorType>(getY().getType());
  if (x.getRank() != 2 || x.isDynamicDim(1))
    return emitOpError("x must have shape [rows, coordinates] with a static "
                       "number of coordinates, but is ")
           << x;
  int64_t octaves = getOctaves();
  if (octaves < 1 || octaves > 64)
    return emitOpError("octaves must lie in [1, 64], but is ") << octaves;
  auto expected = RankedTensorType::get(
      {x.getDimSize(0), 2 * x.getDimSize(1) * octaves}, x.getElementType());
  if (y != expected)
    return emitOpError("the result must be ") << expected << ", but is " << y;
  return success();
}

// One generic over rows, coordinates and the 2 K features of a coordinate,
// with two constant vectors along the features: the scale 2^k, and whether the
// feature is a cosine. Sine and cosine are both computed and one is chosen,
// which costs less than interleaving two tensors.
FailureOr<SmallVector<Value>>
FrequencyEncodeOp::decomposeOperation(OpBuilder &builder) {
  Location loc = getLoc();
  auto x = cast<RankedTensorType>(getX().getType());
  FloatType element = computeType(x.getElementType());
  int64_t width = 2 * getOctaves();
  SmallVector<Attribute> scales, cosines;
  for (int64_t j = 0; j < width; ++j) {
    scales.push_back(builder.getFloatAttr(element, std::ldexp(1.0, j / 2)));
    cosines.push_back(builder.getFloatAttr(element, j % 2));
  }
  auto vector = RankedTensorType::get({width}, element);
  Value scale = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(vector, scales));
  Value cosine = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(vector, cosines));

  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, getX());
  sizes.push_back(builder.getIndexAttr(width));
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, x.getElementType());
  MLIRContext *context = builder.getContext();
  AffineExpr row, coordinate, feature;
  bindDims(context, row, coordinate, feature);
  AffineMap coordinates = AffineMap::get(3, 0, {row, coordinate}, context);
  AffineMap features = AffineMap::get(3, 0, feature, context);
  AffineMap all = AffineMap::getMultiDimIdentityMap(3, context);
  Value y =
      linalg::GenericOp::create(
          builder, loc, empty.getType(), ValueRange{getX(), scale, cosine},
          empty, ArrayRef{coordinates, features, features, all},
          SmallVector<utils::IteratorType>(3, utils::IteratorType::parallel),
          [](OpBuilder &inside, Location loc, ValueRange args) {
            ScalarBuilder b(inside, loc);
            Value z = b.mul(b.widen(args[0]), args[1]);
            Value isSine = b.less(args[2], b.constant(0.5, args[2]));
            Value value = b.select(isSine, SinpiOp::create(inside, loc, z),
                                   CospiOp::create(inside, loc, z));
            linalg::YieldOp::create(inside, loc, b.convert(value, args[0]));
          })
          .getResult(0);
  return SmallVector<Value>{tensor::CollapseShapeOp::create(
      builder, loc, getY().getType(), y,
      ArrayRef<ReassociationIndices>{{0}, {1, 2}})};
}

LogicalResult
FrequencyEncodeOp::interpret(ArrayRef<HostTensor> operands,
                             SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0];
  int64_t rows = x.dim(0), coordinates = x.dim(1), octaves = getOctaves();
  HostTensor y(/*isFloat=*/true, {rows, 2 * coordinates * octaves});
  MutableArrayRef<double> out = y.mutableF();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < coordinates; ++i)
      for (int64_t k = 0; k < octaves; ++k) {
        // The period is 2; fmod is exact, pi is not.
        double angle =
            std::acos(-1.0) * std::fmod(std::ldexp(x.f({r, i}), k), 2.0);
        int64_t at = y.offset({r, 2 * (i * octaves + k)});
        out[at] = std::sin(angle);
        out[at + 1] = std::cos(angle);
      }
  results.push_back(y);
  return success();
}

} // namespace drawloom::kan
