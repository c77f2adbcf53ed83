//===- KanRational.cpp - the group-rational activation --------------------===//
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

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyTable(RationalOp op, StringRef name, Value table,
                                 int64_t channels, Type element) {
  auto type = cast<RankedTensorType>(table.getType());
  if (type.getRank() != 2 || !type.hasStaticShape() || type.getDimSize(0) < 1 ||
      type.getDimSize(1) < 1)
    return op.emitOpError() << "the " << name
                            << " must have shape [groups, coefficients], "
                               "static and not empty, but is "
                            << type;
  int64_t groups = type.getDimSize(0);
  if (channels % groups != 0)
    return op.emitOpError()
           << "the " << groups << " " << name << " groups do not divide the "
           << channels << " channels of x";
  Type coefficient = type.getElementType();
  if (coefficient != element && coefficient != computeType(element))
    return op.emitOpError()
           << "the " << name << " must be " << element
           << " as x is, or f32 where x is f16 or bf16, but is " << coefficient;
  return success();
}

LogicalResult RationalOp::verify() {
  auto type = cast<RankedTensorType>(getX().getType());
  if (type.getRank() < 1 || type.isDynamicDim(type.getRank() - 1))
    return emitOpError("x must have a last dimension of static size (the "
                       "channels), but is ")
           << type;
  int64_t channels = type.getShape().back();
  Type element = type.getElementType();
  if (failed(
          verifyTable(*this, "numerator", getNumerator(), channels, element)) ||
      failed(verifyTable(*this, "denominator", getDenominator(), channels,
                         element)))
    return failure();
  int64_t numerators =
      cast<RankedTensorType>(getNumerator().getType()).getDimSize(0);
  int64_t denominators =
      cast<RankedTensorType>(getDenominator().getType()).getDimSize(0);
  if (numerators % denominators != 0 && denominators % numerators != 0)
    return emitOpError() << "neither the number of numerator groups ("
                         << numerators << ") nor that of denominator groups ("
                         << denominators << ") divides the other";
  bool noisy = getForm() == RationalForm::AbsSumNoise;
  if (noisy != bool(getNoise()))
    return emitOpError(noisy ? "form abs_sum_noise needs the noise operand"
                             : "only form abs_sum_noise takes noise");
  if (noisy && getNoise().getType() != getNumerator().getType())
    return emitOpError("noise must have the numerator's type ")
           << getNumerator().getType() << ", but has " << getNoise().getType();
  if (getEps() && getForm() != RationalForm::AbsSumEps)
    return emitOpError("only form abs_sum_eps takes eps");
  if (!(epsilon() > 0))
    return emitOpError("eps must be positive");
  return success();
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

/// table[G, k] -> k vectors of `entries` entries, in which each group's
/// coefficient is repeated for its share. Spreading ahead of the evaluation
/// keeps every indexing map there a projected permutation, whatever the width
/// of a group, and makes a coefficient's gradient a plain column sum, which the
/// derivative of the spread folds to groups.
static SmallVector<Value> spread(OpBuilder &b, Location loc, Value table,
                                 int64_t entries) {
  auto type = cast<RankedTensorType>(table.getType());
  Type element = type.getElementType();
  int64_t groups = type.getDimSize(0), count = type.getDimSize(1);
  int64_t width = entries / groups;
  AffineExpr k, g, w;
  bindDims(b.getContext(), k, g, w);
  Value repeated =
      linalg::GenericOp::create(
          b, loc, RankedTensorType::get({count, groups, width}, element), table,
          ValueRange{tensor::EmptyOp::create(
              b, loc, ArrayRef<int64_t>{count, groups, width}, element)},
          ArrayRef{AffineMap::get(3, 0, {g, k}, b.getContext()),
                   AffineMap::getMultiDimIdentityMap(3, b.getContext())},
          SmallVector<utils::IteratorType>(3, utils::IteratorType::parallel),
          [](OpBuilder &b, Location loc, ValueRange args) {
            linalg::YieldOp::create(b, loc, args[0]);
          })
          .getResult(0);
  Value rows = tensor::CollapseShapeOp::create(
      b, loc, repeated, ArrayRef<ReassociationIndices>{{0}, {1, 2}});
  SmallVector<Value> vectors;
  for (int64_t i = 0; i < count; ++i)
    vectors.push_back(tensor::ExtractSliceOp::create(
        b, loc, RankedTensorType::get({entries}, element), rows,
        ArrayRef<OpFoldResult>{b.getIndexAttr(i), b.getIndexAttr(0)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(1), b.getIndexAttr(entries)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(1), b.getIndexAttr(1)}));
  return vectors;
}

/// coefficients[0] + coefficients[1] x + ... by Horner's rule.
static Value polynomial(ScalarBuilder &b, Value x, ValueRange coefficients) {
  Value sum = coefficients.back();
  for (Value c : llvm::reverse(coefficients.drop_back()))
    sum = b.fma(sum, x, c);
  return sum;
}

/// Q(x). The coefficients are b_1 .. b_n, in form abs_sum_eps b_0 .. b_n, and
/// are not negative in form abs_terms.
static Value denominator(RationalOp op, ScalarBuilder &b, Value x,
                         ValueRange coefficients) {
  Value one = b.constant(1.0, x);
  switch (op.getForm()) {
  case RationalForm::AbsTerms: {
    Value distance = b.abs(x);
    return b.fma(polynomial(b, distance, coefficients), distance, one);
  }
  case RationalForm::AbsSum:
  case RationalForm::AbsSumNoise:
    return b.add(b.abs(b.mul(polynomial(b, x, coefficients), x)), one);
  case RationalForm::AbsSumEps:
    return b.add(b.abs(polynomial(b, x, coefficients)), op.epsilon());
  case RationalForm::Unsafe:
    return b.fma(polynomial(b, x, coefficients), x, one);
  }
  llvm_unreachable("unknown form");
}

FailureOr<SmallVector<Value>>
RationalOp::decomposeOperation(OpBuilder &builder) {
  Location loc = getLoc();
  MLIRContext *context = builder.getContext();
  ScalarBuilder outer(builder, loc);
  auto type = cast<RankedTensorType>(getX().getType());
  int64_t rank = type.getRank(), channels = type.getShape().back();

  Value numeratorTable = outer.widen(getNumerator());
  if (getNoise())
    numeratorTable = outer.mul(numeratorTable, outer.widen(getNoise()));
  Value denominatorTable = outer.widen(getDenominator());
  // Before the spread, so that the derivative applies sign(b_j) once, to the
  // finished sums.
  if (getForm() == RationalForm::AbsTerms)
    denominatorTable = outer.abs(denominatorTable);
  // Channels [groups, steps, lanes] where groups are wide: a coefficient then
  // stays in a register while its group passes, and its gradient is summed lane
  // by lane. In narrow groups each channel gets its own copy.
  int64_t groups = std::max(
      cast<RankedTensorType>(getNumerator().getType()).getDimSize(0),
      cast<RankedTensorType>(getDenominator().getType()).getDimSize(0));
  constexpr int64_t lanes = 8, wide = 4 * lanes;
  int64_t width = channels / groups;
  bool isWide = width >= wide && width % lanes == 0;
  int64_t entries = isWide ? groups : channels;
  Value x = getX();
  SmallVector<ReassociationIndices> split;
  unsigned entryLoop = rank - 1;
  if (isWide) {
    SmallVector<int64_t> shape(type.getShape().drop_back());
    shape.append({groups, width / lanes, lanes});
    for (int64_t i = 0; i + 1 < rank; ++i)
      split.push_back({i});
    split.push_back({rank - 1, rank, rank + 1});
    x = tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()), x,
        split);
  }
  auto loops = cast<RankedTensorType>(x.getType()).getRank();

  SmallVector<Value> inputs{x};
  llvm::append_range(inputs, spread(builder, loc, numeratorTable, entries));
  size_t terms = inputs.size() - 1;
  llvm::append_range(inputs, spread(builder, loc, denominatorTable, entries));

  AffineMap elements = AffineMap::getMultiDimIdentityMap(loops, context);
  SmallVector<AffineMap> maps(
      inputs.size(),
      AffineMap::get(loops, 0, getAffineDimExpr(entryLoop, context)));
  maps.front() = elements;
  maps.push_back(elements);
  Value empty = tensor::EmptyOp::create(builder, loc,
                                        tensor::getMixedSizes(builder, loc, x),
                                        type.getElementType());
  auto generic = linalg::GenericOp::create(
      builder, loc, x.getType(), inputs, empty, maps,
      SmallVector<utils::IteratorType>(loops, utils::IteratorType::parallel),
      [&](OpBuilder &inside, Location loc, ValueRange args) {
        ScalarBuilder b(inside, loc);
        Value x = b.widen(args[0]);
        ValueRange a = args.slice(1, terms);
        Value p = polynomial(b, x, a);
        Value q =
            denominator(*this, b, x, args.drop_front(1 + terms).drop_back());
        linalg::YieldOp::create(inside, loc, b.convert(b.div(p, q), args[0]));
      });
  Value y = generic.getResult(0);
  if (isWide)
    y = tensor::CollapseShapeOp::create(builder, loc, type, y, split);
  return SmallVector<Value>{y};
}

//===----------------------------------------------------------------------===//
// Interpretation
//===----------------------------------------------------------------------===//

LogicalResult RationalOp::interpret(ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0], &a = operands[1], &b = operands[2];
  HostTensor y = x;
  MutableArrayRef<double> values = y.mutableF();
  int64_t channels = x.shape().back();
  RationalForm form = getForm();
  int64_t firstPower = form == RationalForm::AbsSumEps ? 0 : 1;
  for (auto [index, value] : llvm::enumerate(values)) {
    int64_t c = index % channels;
    int64_t rowA = c * a.dim(0) / channels, rowB = c * b.dim(0) / channels;
    double p = 0, q = 0;
    for (int64_t i = 0; i < a.dim(1); ++i) {
      double noise = getNoise() ? operands[3].f({rowA, i}) : 1;
      p += a.f({rowA, i}) * noise * std::pow(value, i);
    }
    for (int64_t j = 0; j < b.dim(1); ++j) {
      double term = b.f({rowB, j}) * std::pow(value, j + firstPower);
      q += form == RationalForm::AbsTerms ? std::fabs(term) : term;
    }
    if (form != RationalForm::Unsafe)
      q = std::fabs(q);
    value = p / (q + (form == RationalForm::AbsSumEps ? epsilon() : 1));
  }
  results.push_back(y);
  return success();
}

} // namespace drawloom::kan
