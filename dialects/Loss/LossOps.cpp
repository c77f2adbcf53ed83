//===- LossOps.cpp - verification, decomposition, meaning of losses -------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/Loss/Loss.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace drawloom::loss {

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyLossType(Operation *op, Value operand, Value loss) {
  Type expected = computeType(getElementTypeOrSelf(operand));
  if (getElementTypeOrSelf(loss) != expected)
    return op->emitOpError()
           << "the loss must be tensor<" << expected << "> for operands of "
           << getElementTypeOrSelf(operand) << ", but is " << loss.getType();
  return success();
}

LogicalResult MseOp::verify() {
  return verifyLossType(*this, getPrediction(), getLoss());
}

LogicalResult HuberOp::verify() {
  if (!(getDelta().convertToDouble() > 0))
    return emitOpError("delta must be positive");
  return verifyLossType(*this, getPrediction(), getLoss());
}

static LogicalResult verifyRows(Operation *op, Value x) {
  if (cast<RankedTensorType>(x.getType()).getRank() < 1)
    return op->emitOpError("x must have at least one dimension");
  return success();
}

LogicalResult SoftmaxOp::verify() { return verifyRows(*this, getX()); }
LogicalResult LogSoftmaxOp::verify() { return verifyRows(*this, getX()); }

LogicalResult SoftmaxCrossEntropyOp::verify() {
  auto logits = cast<RankedTensorType>(getLogits().getType());
  auto labels = cast<RankedTensorType>(getLabels().getType());
  if (logits.getRank() != 2)
    return emitOpError("the logits must have shape [rows, classes], but are ")
           << logits;
  if (isa<FloatType>(labels.getElementType())) {
    if (labels != logits)
      return emitOpError("probabilities must have the logits' type ")
             << logits << ", but have " << labels;
  } else if (labels.getShape() != logits.getShape().drop_back()) {
    return emitOpError("class labels must have shape [rows] of the logits ")
           << logits << ", but are " << labels;
  }
  return verifyLossType(*this, getLogits(), getLoss());
}

//===----------------------------------------------------------------------===//
// Parts of decompositions
//===----------------------------------------------------------------------===//

using Body = function_ref<Value(ScalarBuilder &, ValueRange)>;

/// A tensor of the shape of `like` without its last `dropped` dimensions.
static Value emptyLike(ScalarBuilder &b, Value like, int64_t dropped,
                       Type element) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b.builder, b.loc, like);
  sizes.resize(sizes.size() - dropped);
  return tensor::EmptyOp::create(b.builder, b.loc, sizes, element);
}

/// A generic over the dimensions of inputs[0]. The other inputs lack as many
/// trailing dimensions as their rank is smaller; so does `init`, over whose
/// missing dimensions the body reduces. Body arguments of f16 and bf16 arrive
/// widened, the result is converted to the type of `init`.
static Value buildGeneric(ScalarBuilder &b, ValueRange inputs, Value init,
                          Body body) {
  int64_t rank = cast<RankedTensorType>(inputs[0].getType()).getRank();
  int64_t kept = cast<RankedTensorType>(init.getType()).getRank();
  MLIRContext *context = b.builder.getContext();
  SmallVector<AffineMap> maps;
  for (Type type : llvm::concat<Type>(llvm::to_vector(inputs.getTypes()),
                                      SmallVector<Type>{init.getType()})) {
    SmallVector<AffineExpr> dims;
    for (int64_t i = 0; i < cast<RankedTensorType>(type).getRank(); ++i)
      dims.push_back(getAffineDimExpr(i, context));
    maps.push_back(AffineMap::get(rank, 0, dims, context));
  }
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), kept, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b.builder, b.loc, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &inside, Location loc, ValueRange args) {
               ScalarBuilder s(inside, loc);
               SmallVector<Value> wide;
               for (Value arg : args)
                 wide.push_back(isa<FloatType>(arg.getType()) ? s.widen(arg)
                                                              : arg);
               linalg::YieldOp::create(inside, loc,
                                       s.convert(body(s, wide), args.back()));
             })
      .getResult(0);
}

/// Reduces the trailing `dropped` dimensions of inputs[0], starting from
/// `start`, in the type that its elements are computed in.
static Value reduce(ScalarBuilder &b, ValueRange inputs, int64_t dropped,
                    double start, Body body) {
  Type element = computeType(getElementTypeOrSelf(inputs[0]));
  Value empty = emptyLike(b, inputs[0], dropped, element);
  Value value = arith::ConstantOp::create(
      b.builder, b.loc, b.builder.getFloatAttr(element, start));
  Value init =
      linalg::FillOp::create(b.builder, b.loc, value, empty).getResult(0);
  return buildGeneric(b, inputs, init, body);
}

/// `sum` (rank 0) divided by the product of the first `dims` extents of `x`,
/// or by 1 where that is 0.
static Value divideByCount(ScalarBuilder &b, Value sum, Value x, int64_t dims) {
  auto type = cast<RankedTensorType>(x.getType());
  ArrayRef<int64_t> counted = type.getShape().take_front(dims);
  if (!ShapedType::isDynamicShape(counted)) {
    double count = ShapedType::getNumElements(counted);
    return b.mul(sum, 1 / std::max(count, 1.0));
  }
  Value count = arith::ConstantIndexOp::create(b.builder, b.loc, 1);
  for (int64_t i = 0; i < dims; ++i)
    count = arith::MulIOp::create(
        b.builder, b.loc, count, tensor::DimOp::create(b.builder, b.loc, x, i));
  count = arith::MaxSIOp::create(
      b.builder, b.loc, count,
      arith::ConstantIndexOp::create(b.builder, b.loc, 1));
  count = arith::IndexCastOp::create(b.builder, b.loc, b.builder.getI64Type(),
                                     count);
  count = arith::SIToFPOp::create(b.builder, b.loc, getElementTypeOrSelf(sum),
                                  count);
  Value reciprocal = tensor::FromElementsOp::create(
      b.builder, b.loc, sum.getType(), b.div(1.0, count));
  return b.mul(sum, reciprocal);
}

//===----------------------------------------------------------------------===//
// Mean squared error and Huber loss
//===----------------------------------------------------------------------===//

template <typename Op>
static FailureOr<SmallVector<Value>>
decomposeElementwise(Op op, OpBuilder &builder, Body lossOfDifference) {
  ScalarBuilder b(builder, op.getLoc());
  int64_t rank = cast<RankedTensorType>(op.getPrediction().getType()).getRank();
  Value sum = reduce(b, {op.getPrediction(), op.getTarget()}, rank, 0.0,
                     [&](ScalarBuilder &s, ValueRange args) {
                       Value difference = s.sub(args[0], args[1]);
                       return s.add(args[2], lossOfDifference(s, difference));
                     });
  return SmallVector<Value>{divideByCount(b, sum, op.getPrediction(), rank)};
}

static void
interpretElementwise(ArrayRef<HostTensor> operands,
                     SmallVectorImpl<HostTensor> &results,
                     function_ref<double(double)> lossOfDifference) {
  double sum = 0;
  for (auto [p, t] : llvm::zip_equal(operands[0].f(), operands[1].f()))
    sum += lossOfDifference(p - t);
  results.push_back(
      HostTensor::scalar(sum / std::max<double>(operands[0].size(), 1)));
}

FailureOr<SmallVector<Value>> MseOp::decomposeOperation(OpBuilder &builder) {
  return decomposeElementwise(
      *this, builder,
      [](ScalarBuilder &s, ValueRange d) { return s.mul(d[0], d[0]); });
}

LogicalResult MseOp::interpret(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  interpretElementwise(operands, results, [](double d) { return d * d; });
  return success();
}

// With c = min(|d|, delta), h(d) = c^2 / 2 + delta (|d| - c): nothing is
// squared that could overflow, in the derivative neither.
FailureOr<SmallVector<Value>> HuberOp::decomposeOperation(OpBuilder &builder) {
  double delta = getDelta().convertToDouble();
  return decomposeElementwise(
      *this, builder, [delta](ScalarBuilder &s, ValueRange d) {
        Value distance = s.abs(d[0]);
        Value limit = s.constant(delta, distance);
        Value clipped = s.select(s.less(limit, distance), limit, distance);
        Value outside = s.mul(s.sub(distance, clipped), delta);
        return s.add(s.mul(s.mul(clipped, clipped), 0.5), outside);
      });
}

LogicalResult HuberOp::interpret(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  double delta = getDelta().convertToDouble();
  interpretElementwise(operands, results, [delta](double d) {
    double distance = std::fabs(d);
    return distance > delta ? delta * (distance - delta / 2) : d * d / 2;
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static Value rowMaximum(ScalarBuilder &b, Value x) {
  return reduce(b, x, 1, -std::numeric_limits<double>::infinity(),
                [](ScalarBuilder &s, ValueRange args) {
                  return s.maximum(args[1], args[0]);
                });
}

static Value rowSum(ScalarBuilder &b, Value x) {
  return reduce(b, x, 1, 0.0, [](ScalarBuilder &s, ValueRange args) {
    return s.add(args[1], args[0]);
  });
}

FailureOr<SmallVector<Value>>
SoftmaxOp::decomposeOperation(OpBuilder &builder) {
  ScalarBuilder b(builder, getLoc());
  Value x = getX();
  Type element = getElementTypeOrSelf(x);
  Value exponential = buildGeneric(b, {x, rowMaximum(b, x)},
                                   emptyLike(b, x, 0, computeType(element)),
                                   [](ScalarBuilder &s, ValueRange args) {
                                     return s.exp(s.sub(args[0], args[1]));
                                   });
  Value y = buildGeneric(b, {exponential, rowSum(b, exponential)},
                         emptyLike(b, x, 0, element),
                         [](ScalarBuilder &s, ValueRange args) {
                           return s.div(args[0], args[1]);
                         });
  return SmallVector<Value>{y};
}

FailureOr<SmallVector<Value>>
LogSoftmaxOp::decomposeOperation(OpBuilder &builder) {
  ScalarBuilder b(builder, getLoc());
  Value x = getX();
  Value maximum = rowMaximum(b, x);
  Value sum =
      reduce(b, {x, maximum}, 1, 0.0, [](ScalarBuilder &s, ValueRange args) {
        return s.add(args[2], s.exp(s.sub(args[0], args[1])));
      });
  Value y = buildGeneric(b, {x, maximum, b.log(sum)},
                         emptyLike(b, x, 0, getElementTypeOrSelf(x)),
                         [](ScalarBuilder &s, ValueRange args) {
                           return s.sub(s.sub(args[0], args[1]), args[2]);
                         });
  return SmallVector<Value>{y};
}

// dx = y (g - sum_k g y)
FailureOr<SmallVector<Value>>
SoftmaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                    const llvm::SmallBitVector &needed) {
  ScalarBuilder b(builder, getLoc());
  Value g = b.widen(cotangents[0]);
  Value y = SoftmaxOp::create(builder, getLoc(), b.widen(getX()));
  Value dx = buildGeneric(b, {y, g, rowSum(b, b.mul(g, y))},
                          emptyLike(b, y, 0, getElementTypeOrSelf(getX())),
                          [](ScalarBuilder &s, ValueRange args) {
                            return s.mul(args[0], s.sub(args[1], args[2]));
                          });
  return SmallVector<Value>{dx};
}

// dx = g - softmax(x) sum_k g
FailureOr<SmallVector<Value>>
LogSoftmaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                       const llvm::SmallBitVector &needed) {
  ScalarBuilder b(builder, getLoc());
  Value g = b.widen(cotangents[0]);
  Value softmax = SoftmaxOp::create(builder, getLoc(), b.widen(getX()));
  Value dx = buildGeneric(b, {g, softmax, rowSum(b, g)},
                          emptyLike(b, g, 0, getElementTypeOrSelf(getX())),
                          [](ScalarBuilder &s, ValueRange args) {
                            return s.sub(args[0], s.mul(args[1], args[2]));
                          });
  return SmallVector<Value>{dx};
}

/// log softmax, row by row.
static HostTensor hostLogSoftmax(HostTensor x) {
  int64_t width = x.shape().back();
  MutableArrayRef<double> values = x.mutableF();
  for (int64_t start = 0; width && start < x.size(); start += width) {
    MutableArrayRef<double> row = values.slice(start, width);
    double maximum = *std::max_element(row.begin(), row.end()), sum = 0;
    for (double v : row)
      sum += std::exp(v - maximum);
    for (double &v : row)
      v -= maximum + std::log(sum);
  }
  return x;
}

LogicalResult LogSoftmaxOp::interpret(ArrayRef<HostTensor> operands,
                                      SmallVectorImpl<HostTensor> &results) {
  results.push_back(hostLogSoftmax(operands[0]));
  return success();
}

LogicalResult SoftmaxOp::interpret(ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  results.push_back(mapElements(hostLogSoftmax(operands[0]),
                                [](double v) { return std::exp(v); }));
  return success();
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
SoftmaxCrossEntropyOp::decomposeOperation(OpBuilder &builder) {
  ScalarBuilder b(builder, getLoc());
  Value logProbabilities =
      LogSoftmaxOp::create(builder, getLoc(), b.widen(getLogits()));
  bool areClasses = !isa<FloatType>(getElementTypeOrSelf(getLabels()));
  Value sum =
      reduce(b, {logProbabilities, getLabels()}, 2, 0.0,
             [&](ScalarBuilder &s, ValueRange args) -> Value {
               if (!areClasses)
                 return s.add(args[2], s.mul(s.neg(args[0]), args[1]));
               Value column = linalg::IndexOp::create(s.builder, s.loc, 1);
               Value label = args[1];
               if (!label.getType().isIndex())
                 label = arith::IndexCastOp::create(s.builder, s.loc,
                                                    column.getType(), label);
               Value chosen = arith::CmpIOp::create(
                   s.builder, s.loc, arith::CmpIPredicate::eq, column, label);
               Value term =
                   s.select(chosen, s.neg(args[0]), s.constant(0.0, args[0]));
               return s.add(args[2], term);
             });
  return SmallVector<Value>{divideByCount(b, sum, getLogits(), 1)};
}

LogicalResult
SoftmaxCrossEntropyOp::interpret(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  HostTensor logProbabilities = hostLogSoftmax(operands[0]);
  const HostTensor &labels = operands[1];
  int64_t rows = operands[0].dim(0), classes = operands[0].dim(1);
  double sum = 0;
  if (labels.isFloat()) {
    for (auto [t, l] : llvm::zip_equal(labels.f(), logProbabilities.f()))
      sum -= t * l;
  } else {
    for (int64_t n = 0; n < rows; ++n) {
      int64_t label = labels.i({n});
      if (label >= 0 && label < classes)
        sum -= logProbabilities.f({n, label});
    }
  }
  results.push_back(HostTensor::scalar(sum / std::max<double>(rows, 1)));
  return success();
}

} // namespace drawloom::loss

using namespace drawloom::loss;

#define GET_OP_CLASSES
#include "dialects/Loss/LossOps.cpp.inc"
