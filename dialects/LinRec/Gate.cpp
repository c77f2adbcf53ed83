//===- Gate.cpp - log-decays and what is known of them --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/LinRec/LinRec.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;

namespace drawloom::linrec {

static double orElse(std::optional<APFloat> value, double other) {
  return value ? value->convertToDouble() : other;
}

std::optional<double> GateOp::getBound() {
  switch (getKind()) {
  case GateKind::Bounded:
    return -getLimit()->convertToDouble();
  case GateKind::Floored:
    if (double floor = getFloor()->convertToDouble(); floor > 0)
      return std::log(floor);
    return std::nullopt;
  case GateKind::LogSigmoid:
  case GateKind::Softplus:
    return std::nullopt;
  }
  llvm_unreachable("every kind is named");
}

namespace {

/// -|x|. By a choice and not by the absolute value, so that both signs of zero
/// are on the positive side, and the derivatives of all terms that look at the
/// sign fit together there.
struct Sides {
  Sides(ScalarBuilder &b, Value x)
      : zero(b.constant(0.0, x)), isNegative(b.less(x, zero)),
        below(b.select(isNegative, x, b.neg(x))) {}
  Value zero, isNegative, below;
};

/// exp is only taken of -|x|, so that it lies in [0, 1] whatever x is.
Value sigmoid(ScalarBuilder &b, Value x) {
  Sides sides(b, x);
  Value e = b.exp(sides.below);
  Value one = b.constant(1.0, x);
  return b.div(b.select(sides.isNegative, e, one), b.add(e, one));
}

/// log(1 + exp x)
Value softplus(ScalarBuilder &b, Value x) {
  Sides sides(b, x);
  return b.add(b.select(sides.isNegative, sides.zero, x),
               b.log1p(b.exp(sides.below)));
}

/// The formula on scalars; `scale` is a, already exponentiated.
Value formula(GateOp op, ScalarBuilder &b, Value z, Value scale) {
  switch (op.getKind()) {
  case GateKind::LogSigmoid:
    return b.mul(softplus(b, b.neg(z)), -1 / orElse(op.getTemperature(), 1.0));
  case GateKind::Softplus: {
    Value g = b.neg(softplus(b, z));
    return scale ? b.mul(g, scale) : g;
  }
  case GateKind::Bounded: {
    Value y = sigmoid(b, scale ? b.mul(z, scale) : z);
    return b.mul(y, -op.getLimit()->convertToDouble());
  }
  case GateKind::Floored: {
    double floor = op.getFloor()->convertToDouble();
    // Without a floor, a small sigmoid must not round to log 0.
    if (floor == 0)
      return b.neg(softplus(b, b.neg(z)));
    Value y = b.mul(sigmoid(b, z), 1 - floor);
    return b.log(b.add(y, floor));
  }
  }
  llvm_unreachable("every kind is named");
}

} // namespace

FailureOr<SmallVector<Value>> GateOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  MLIRContext *context = b.getContext();
  auto x = cast<RankedTensorType>(getX().getType());
  int64_t rank = x.getRank();
  auto dims = [&](ArrayRef<int64_t> which) {
    SmallVector<AffineExpr> exprs;
    for (int64_t i : which)
      exprs.push_back(getAffineDimExpr(i, context));
    return AffineMap::get(rank, 0, exprs, context);
  };
  AffineMap all = AffineMap::getMultiDimIdentityMap(rank, context);
  SmallVector<Value> inputs = {getX()};
  SmallVector<AffineMap> maps = {all};
  if (Value scale = getScale()) {
    // One exponential for each head, not for each token.
    auto type = cast<RankedTensorType>(scale.getType());
    Type wide = computeType(type.getElementType());
    Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), wide);
    AffineMap own = AffineMap::getMultiDimIdentityMap(1, context);
    auto factor = linalg::GenericOp::create(
        b, loc, empty.getType(), scale, empty, ArrayRef<AffineMap>{own, own},
        utils::IteratorType::parallel,
        [&](OpBuilder &nested, Location at, ValueRange e) {
          ScalarBuilder s(nested, at);
          linalg::YieldOp::create(nested, at, s.exp(s.widen(e[0])));
        });
    inputs.push_back(factor.getResult(0));
    maps.push_back(dims({2}));
  }
  if (Value bias = getBias()) {
    bool ofChannels = cast<RankedTensorType>(bias.getType()).getRank() == 2;
    inputs.push_back(bias);
    maps.push_back(ofChannels ? dims({2, 3}) : dims({2}));
  }
  maps.push_back(all);
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, getX()),
      cast<RankedTensorType>(getG().getType()).getElementType());
  bool scaled = static_cast<bool>(getScale());
  auto generic = linalg::GenericOp::create(
      b, loc, empty.getType(), inputs, empty, maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &nested, Location at, ValueRange e) {
        ScalarBuilder s(nested, at);
        Value z = s.widen(e[0]);
        if (getBias())
          z = s.add(z, s.widen(e[scaled ? 2 : 1]));
        Value g = formula(*this, s, z, scaled ? e[1] : Value());
        linalg::YieldOp::create(nested, at, s.convert(g, e.back()));
      });
  Value g = generic.getResult(0);
  if (g.getType() != getG().getType())
    g = tensor::CastOp::create(b, loc, getG().getType(), g);
  return SmallVector<Value>{g};
}

LogicalResult GateOp::interpret(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0];
  const HostTensor *scale = getScale() ? &operands[1] : nullptr;
  const HostTensor *bias = getBias() ? &operands[scale ? 2 : 1] : nullptr;
  HostTensor g(/*isFloat=*/true, x.shape());
  MutableArrayRef<double> out = g.mutableF();
  int64_t heads = x.dim(2), size = x.rank() == 4 ? x.dim(3) : 1;
  auto logOnePlusExp = [](double z) {
    return std::fmax(z, 0) + std::log1p(std::exp(-std::fabs(z)));
  };
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t channel = i % (heads * size), head = channel / size;
    double z = x.f()[i];
    if (bias)
      z += bias->f()[bias->rank() == 2 ? channel : head];
    double a = scale ? std::exp(scale->f()[head]) : 1.0;
    switch (getKind()) {
    case GateKind::LogSigmoid:
      out[i] = -logOnePlusExp(-z) / orElse(getTemperature(), 1.0);
      break;
    case GateKind::Softplus:
      out[i] = -a * logOnePlusExp(z);
      break;
    case GateKind::Bounded:
      out[i] = -getLimit()->convertToDouble() / (1 + std::exp(-a * z));
      break;
    case GateKind::Floored: {
      double floor = getFloor()->convertToDouble();
      out[i] = floor == 0 ? -logOnePlusExp(-z)
                          : std::log(floor + (1 - floor) / (1 + std::exp(-z)));
      break;
    }
    }
    // The maximum above drops a NaN.
    if (std::isnan(z))
      out[i] = z;
  }
  results.push_back(g);
  return success();
}

} // namespace drawloom::linrec
