//===- SlrCodes.cpp - terms that are kept as codes or places --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Slr/TermBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace drawloom::slr {

static ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

/// Whether a tensor has `rank` known extents of at least 1; an error else.
static LogicalResult needExtents(std::optional<Location> loc, StringRef what,
                                 Value tensor, int64_t rank) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == rank && type.hasStaticShape() &&
      !llvm::is_contained(type.getShape(), 0))
    return success();
  return emitOptionalError(loc, what, " have ", rank,
                           " known extents of at least 1, and this one is a ",
                           type);
}

//===----------------------------------------------------------------------===//
// What codes stand for.
//===----------------------------------------------------------------------===//

static int64_t bitsOf(Format format) {
  switch (format) {
  case Format::UInt1:
    return 1;
  case Format::UInt2:
  case Format::Int2:
    return 2;
  case Format::NF4:
  case Format::FP4:
  case Format::UInt4:
  case Format::Int4:
    return 4;
  case Format::UInt8:
  case Format::Int8:
  case Format::F8E4M3FN:
  case Format::F8E5M2:
    return 8;
  }
  llvm_unreachable("all formats are handled");
}

/// The numbers of a format that is a table; none for another one.
static ArrayRef<float> tableOf(Format format) {
  // The quantiles as bitsandbytes rounds them.
  static const float nf4[] = {
      -1.0F,         -0.696192801F, -0.525073051F,  -0.394917488F,
      -0.284441382F, -0.184773430F, -0.0910500363F, 0.0F,
      0.0795802996F, 0.160930201F,  0.246112302F,   0.337915242F,
      0.440709829F,  0.562617004F,  0.722956836F,   1.0F};
  static const float fp4[] = {
      0.0F,          0.00520833349F, 0.666666687F,  1.0F,  0.333333343F,
      0.5F,          0.166666672F,   0.25F,         -0.0F, -0.00520833349F,
      -0.666666687F, -1.0F,          -0.333333343F, -0.5F, -0.166666672F,
      -0.25F};
  if (format == Format::NF4)
    return nf4;
  if (format == Format::FP4)
    return fp4;
  return {};
}

static bool isSigned(Format format) {
  return format == Format::Int2 || format == Format::Int4 ||
         format == Format::Int8;
}

/// What a code stands for, in double precision.
static double valueOf(Format format, int64_t code) {
  if (ArrayRef<float> table = tableOf(format); !table.empty())
    return table[code];
  int64_t bits = bitsOf(format);
  if (format == Format::F8E4M3FN || format == Format::F8E5M2) {
    const llvm::fltSemantics &kind = format == Format::F8E5M2
                                         ? APFloat::Float8E5M2()
                                         : APFloat::Float8E4M3FN();
    return APFloat(kind, APInt(8, code)).convertToDouble();
  }
  if (isSigned(format) && code >= int64_t(1) << (bits - 1))
    code -= int64_t(1) << bits;
  return code;
}

namespace {
/// Scalar ops of a code.
class Decoder {
public:
  Decoder(OpBuilder &b, Location loc, Format format, Type type)
      : b(b), loc(loc), format(format), type(type) {}

  /// `code`: i32, with the bits of a code and zeros above.
  Value decode(Value code) {
    if (ArrayRef<float> table = tableOf(format); !table.empty())
      return chosen(table, code);
    if (format == Format::F8E5M2)
      return halfOf(code);
    if (format == Format::F8E4M3FN)
      return smallFloat(code);
    if (!isSigned(format))
      return arith::UIToFPOp::create(b, loc, type, code);
    Value above = integer(32 - bitsOf(format));
    Value high = arith::ShLIOp::create(b, loc, code, above);
    return arith::SIToFPOp::create(b, loc, type,
                                   arith::ShRSIOp::create(b, loc, high, above));
  }

  Value integer(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }

private:
  Value number(double value) {
    return arith::ConstantOp::create(
        b, loc, cast<TypedAttr>(b.getFloatAttr(type, value)));
  }

  /// The number of a table, bit by bit: lanes of a vector have no memory to
  /// look it up in.
  Value chosen(ArrayRef<float> table, Value code) {
    SmallVector<Value> left =
        llvm::map_to_vector(table, [&](float value) { return number(value); });
    for (int64_t bit = 0; left.size() > 1; ++bit) {
      Value set = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::ne,
          arith::AndIOp::create(b, loc, code, integer(int64_t(1) << bit)),
          integer(0));
      SmallVector<Value> half;
      for (size_t i = 0; i < left.size(); i += 2)
        half.push_back(
            arith::SelectOp::create(b, loc, set, left[i + 1], left[i]));
      left = half;
    }
    return left.front();
  }

  Value widened(Value value) {
    return type == value.getType()
               ? value
               : arith::ExtFOp::create(b, loc, type, value).getResult();
  }

  /// f8e5m2 has the upper byte of an f16.
  Value halfOf(Value code) {
    Value upper = arith::TruncIOp::create(
        b, loc, b.getI16Type(),
        arith::ShLIOp::create(b, loc, code, integer(8)));
    return widened(arith::BitcastOp::create(b, loc, b.getF16Type(), upper));
  }

  /// f8e4m3fn: exponent and mantissa at their places in an f32 are the value
  /// divided by 2^120, subnormal ones too. All ones are not a number.
  Value smallFloat(Value code) {
    Value low = arith::AndIOp::create(b, loc, code, integer(0x7F));
    Value sign = arith::ShLIOp::create(
        b, loc, arith::AndIOp::create(b, loc, code, integer(0x80)),
        integer(24));
    Value bits = arith::OrIOp::create(
        b, loc, sign, arith::ShLIOp::create(b, loc, low, integer(20)));
    auto f32 = [&](double value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
    };
    Value finite = arith::MulFOp::create(
        b, loc, arith::BitcastOp::create(b, loc, b.getF32Type(), bits),
        f32(0x1.0p120));
    Value none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low,
                                       integer(0x7F));
    return widened(arith::SelectOp::create(
        b, loc, none, f32(std::numeric_limits<float>::quiet_NaN()), finite));
  }

  OpBuilder &b;
  Location loc;
  Format format;
  Type type;
};
} // namespace

//===----------------------------------------------------------------------===//
// slr.quantized
//===----------------------------------------------------------------------===//

LogicalResult QuantizedOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  if (failed(needExtents(loc, "the codes of slr.quantized", adaptor.getCodes(),
                         2)) ||
      failed(needExtents(loc, "the scales of slr.quantized",
                         adaptor.getScales(), 2)))
    return failure();
  ArrayRef<int64_t> codes = shapeOf(adaptor.getCodes()),
                    scales = shapeOf(adaptor.getScales());
  if (codes[0] != scales[0])
    return emitOptionalError(loc, "there are ", codes[0], " rows of codes and ",
                             scales[0], " of scales");
  if (codes[1] % scales[1])
    return emitOptionalError(loc, codes[1], " bytes of codes are not ",
                             scales[1], " groups of one length");
  if (adaptor.getOffsets() &&
      adaptor.getOffsets().getType() != adaptor.getScales().getType())
    return emitOptionalError(loc, "offsets are of the type of the scales, ",
                             adaptor.getScales().getType(), ", not ",
                             adaptor.getOffsets().getType());
  types.push_back(TermType::get(context, codes[0],
                                codes[1] * (8 / bitsOf(adaptor.getFormat()))));
  return success();
}

Value QuantizedOp::apply(TermBuilder &b, Value x, int64_t dim,
                         bool transposed) {
  return b.contract(x, dim, b.materialize(getTerm()), transposed);
}

Value QuantizedOp::materialize(TermBuilder &b) {
  ArrayRef<int64_t> codes = shapeOf(getCodes()), scales = shapeOf(getScales());
  int64_t bits = bitsOf(getFormat()), perByte = 8 / bits,
          bytes = codes[1] / scales[1];
  bool parts = getPacking() == Packing::Parts;
  // Elements as they lie: [row, group, byte, code], or [row, group, code,
  // byte].
  MLIRContext *context = getContext();
  auto map = [&](ArrayRef<int64_t> dims) {
    return AffineMap::get(
        4, 0,
        llvm::map_to_vector(
            dims, [&](int64_t d) { return getAffineDimExpr(d, context); }),
        context);
  };
  int64_t byteDim = parts ? 3 : 2, codeDim = parts ? 2 : 3;
  SmallVector<int64_t> shape{codes[0], scales[1], 0, 0};
  shape[byteDim] = bytes;
  shape[codeDim] = perByte;
  SmallVector<Value> inputs{b.expand(b.leaf(getCodes()), 1, {scales[1], bytes}),
                            b.leaf(getScales())};
  SmallVector<AffineMap> maps{map({0, 1, byteDim}), map({0, 1})};
  if (getOffsets()) {
    inputs.push_back(b.leaf(getOffsets()));
    maps.push_back(map({0, 1}));
  }
  Type element = b.elementType();
  Type computed = element.isF64() ? element : b.builder().getF32Type();
  Value all = b.generate(
      inputs, maps, shape, [&](OpBuilder &inner, ValueRange values) -> Value {
        Location loc = b.location();
        Decoder decoder(inner, loc, getFormat(), computed);
        Value code =
            arith::ExtUIOp::create(inner, loc, inner.getI32Type(), values[0]);
        if (perByte > 1) {
          Value at = arith::IndexCastOp::create(
              inner, loc, inner.getI32Type(),
              linalg::IndexOp::create(inner, loc, codeDim));
          if (getPacking() == Packing::HighFirst)
            at = arith::SubIOp::create(inner, loc, decoder.integer(perByte - 1),
                                       at);
          Value shift =
              arith::MulIOp::create(inner, loc, at, decoder.integer(bits));
          code = arith::AndIOp::create(
              inner, loc, arith::ShRUIOp::create(inner, loc, code, shift),
              decoder.integer((1 << bits) - 1));
        }
        auto wide = [&](Value value) -> Value {
          return value.getType() == computed
                     ? value
                     : arith::ExtFOp::create(inner, loc, computed, value)
                           .getResult();
        };
        Value value = arith::MulFOp::create(inner, loc, decoder.decode(code),
                                            wide(values[1]));
        if (getOffsets())
          value = arith::AddFOp::create(inner, loc, value, wide(values[2]));
        return element == computed
                   ? value
                   : arith::TruncFOp::create(inner, loc, element, value)
                         .getResult();
      });
  return b.collapse(all, 1, 3);
}

int64_t QuantizedOp::operationsOfRow() { return operationsAsMatrix(getTerm()); }

HostTensor QuantizedOp::toDense(HostTerms &values) {
  TermType type = termType(getTerm());
  HostTensor dense(/*isFloat=*/true, {type.getInputs(), type.getOutputs()});
  HostTensor codes = values.of(getCodes()), scales = values.of(getScales());
  int64_t bits = bitsOf(getFormat()), perByte = 8 / bits,
          groups = scales.dim(1), inGroup = type.getOutputs() / groups,
          bytes = inGroup / perByte;
  for (int64_t i = 0; i < type.getInputs(); ++i)
    for (int64_t j = 0; j < type.getOutputs(); ++j) {
      int64_t group = j / inGroup, in = j % inGroup;
      int64_t byte = in / perByte, at = in % perByte;
      if (getPacking() == Packing::Parts) {
        byte = in % bytes;
        at = in / bytes;
      } else if (getPacking() == Packing::HighFirst) {
        at = perByte - 1 - at;
      }
      int64_t code =
          ((codes.i({i, group * bytes + byte}) & 0xFF) >> (at * bits)) &
          ((1 << bits) - 1);
      double value = valueOf(getFormat(), code) * scales.f({i, group});
      if (getOffsets())
        value += values.of(getOffsets()).f({i, group});
      dense.mutableF()[dense.offset({i, j})] = value;
    }
  return dense;
}

//===----------------------------------------------------------------------===//
// slr.n_of_m
//===----------------------------------------------------------------------===//

LogicalResult NOfMOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  if (failed(
          needExtents(loc, "the values of slr.n_of_m", adaptor.getValues(), 3)))
    return failure();
  ArrayRef<int64_t> values = shapeOf(adaptor.getValues());
  if (shapeOf(adaptor.getPlaces()) != values)
    return emitOptionalError(loc, "values of ", adaptor.getValues().getType(),
                             " have as many places, not ",
                             adaptor.getPlaces().getType());
  int64_t m = adaptor.getM();
  if (m < values[2] || m > 128)
    return emitOptionalError(loc, values[2], " values are not among ", m,
                             " neighbours, of which there are at most 128");
  types.push_back(TermType::get(context, values[0], values[1] * m));
  return success();
}

Value NOfMOp::apply(TermBuilder &b, Value x, int64_t dim, bool transposed) {
  return b.contract(x, dim, b.materialize(getTerm()), transposed);
}

Value NOfMOp::materialize(TermBuilder &b) {
  ArrayRef<int64_t> shape = shapeOf(getValues());
  // [row, group, neighbour], the sum of the values that are at this place.
  AffineMap all = b.builder().getMultiDimIdentityMap(4);
  AffineMap of = all.dropResult(2), to = all.dropResult(3);
  SmallVector<utils::IteratorType> loops(4, utils::IteratorType::parallel);
  loops[3] = utils::IteratorType::reduction;
  Value start = b.zeros({shape[0], shape[1], int64_t(getM())});
  Value sum =
      linalg::GenericOp::create(
          b.builder(), b.location(), start.getType(),
          ValueRange{b.leaf(getValues()), b.leaf(getPlaces())}, start,
          ArrayRef<AffineMap>{of, of, to}, loops,
          [&](OpBuilder &inner, Location at, ValueRange values) {
            Value here = arith::IndexCastOp::create(
                inner, at, inner.getI32Type(),
                linalg::IndexOp::create(inner, at, 2));
            Value place = arith::ExtSIOp::create(inner, at, inner.getI32Type(),
                                                 values[1]);
            Value same = arith::CmpIOp::create(
                inner, at, arith::CmpIPredicate::eq, here, place);
            Value none = arith::ConstantOp::create(
                inner, at,
                cast<TypedAttr>(inner.getFloatAttr(b.elementType(), 0.0)));
            Value value =
                arith::SelectOp::create(inner, at, same, values[0], none);
            linalg::YieldOp::create(
                inner, at,
                arith::AddFOp::create(inner, at, values[2], value).getResult());
          })
          .getResult(0);
  return b.collapse(sum, 1, 2);
}

int64_t NOfMOp::operationsOfRow() { return operationsAsMatrix(getTerm()); }

HostTensor NOfMOp::toDense(HostTerms &terms) {
  TermType type = termType(getTerm());
  HostTensor dense(/*isFloat=*/true, {type.getInputs(), type.getOutputs()});
  HostTensor values = terms.of(getValues()), places = terms.of(getPlaces());
  int64_t m = getM();
  for (int64_t i = 0; i < values.dim(0); ++i)
    for (int64_t g = 0; g < values.dim(1); ++g)
      for (int64_t p = 0; p < values.dim(2); ++p) {
        int64_t place = places.i({i, g, p});
        if (place >= 0 && place < m)
          dense.mutableF()[dense.offset({i, g * m + place})] +=
              values.f({i, g, p});
      }
  return dense;
}

} // namespace drawloom::slr
