//===- KanEdgeLayer.cpp - layers with learnable functions on edges --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/MachineFacts.h"
#include "dialects/Kan/Bases.h"
#include "dialects/Kan/Kan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace drawloom::kan {

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static BasisSize sizeOf(EdgeLayerOp op) {
  return {tensorType(op.getCoefficients()).getDimSize(0),
          static_cast<int64_t>(op.getOrder().value_or(0))};
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyShapes(EdgeLayerOp op) {
  RankedTensorType x = tensorType(op.getX()), y = tensorType(op.getY());
  RankedTensorType c = tensorType(op.getCoefficients());
  if (x.getRank() != 2 || x.isDynamicDim(1) || x.getDimSize(1) < 1)
    return op.emitOpError(
               "x must have shape [rows, inputs] with a known number "
               "of inputs, at least 1, but is ")
           << x;
  Type element = x.getElementType();
  if (c.getRank() != 3 || !c.hasStaticShape() || c.getNumElements() == 0 ||
      c.getDimSize(1) != x.getDimSize(1) || c.getElementType() != element)
    return op.emitOpError("the coefficients must have shape [functions, ")
           << x.getDimSize(1)
           << ", outputs], static and not empty, and x's element type "
           << element << ", but are " << c;
  auto expected =
      RankedTensorType::get({x.getDimSize(0), c.getDimSize(2)}, element);
  if (y != expected)
    return op.emitOpError("the result must be ")
           << expected << ", but is " << y;
  return success();
}

/// A formula grows with its order.
constexpr int64_t mostOrder = 32;

static LogicalResult verifySize(EdgeLayerOp op, const BasisFamily &family) {
  StringRef name = stringifyBasis(op.getBasis());
  if (op.getOrder().has_value() != (family.leastOrder > 0))
    return op.emitOpError("basis ")
           << name
           << (family.leastOrder > 0 ? " needs an order" : " has no order");
  BasisSize size = sizeOf(op);
  if (size.order < family.leastOrder ||
      (family.leastOrder > 0 && size.order > mostOrder))
    return op.emitOpError("the order of ")
           << name << " must be from " << family.leastOrder << " to "
           << mostOrder << ", but is " << size.order;
  int64_t least = family.leastFunctions(size.order);
  if (size.functions < least || size.functions % family.multiple != 0) {
    InFlightDiagnostic error = op.emitOpError("basis ") << name;
    if (family.leastOrder > 0)
      error << " of order " << size.order;
    error << " has at least " << least << " functions";
    if (family.multiple > 1)
      error << ", and a multiple of " << family.multiple;
    return error << ", but the coefficients are of " << size.functions;
  }
  return success();
}

static LogicalResult verifyParameter(EdgeLayerOp op, const BasisFamily &family,
                                     unsigned i) {
  const BasisParameter &parameter = family.parameters[i];
  RankedTensorType type = tensorType(op.getParameters()[i]);
  RankedTensorType c = tensorType(op.getCoefficients());
  int64_t count = parameter.count(sizeOf(op));
  ArrayRef<int64_t> shape = type.getShape();
  bool mayBeOne = family.isPointwise;
  bool fits = !shape.empty() &&
              (shape[0] == count || (mayBeOne && shape[0] == 1)) &&
              c.getShape().drop_front().take_front(shape.size() - 1) ==
                  shape.drop_front() &&
              shape.size() <= (family.isPointwise ? 3 : 2);
  if (!fits) {
    InFlightDiagnostic error = op.emitOpError("the ")
                               << parameter.name << " of "
                               << stringifyBasis(op.getBasis())
                               << " must have shape [" << count << "] or ["
                               << count << ", " << c.getDimSize(1) << "]";
    if (family.isPointwise)
      error << " or [" << count << ", " << c.getDimSize(1) << ", "
            << c.getDimSize(2) << "], with 1 in place of " << count
            << " for all functions";
    return error << ", but is " << type;
  }
  Type element = tensorType(op.getX()).getElementType();
  if (type.getElementType() != element &&
      type.getElementType() != computeType(element))
    return op.emitOpError("the ")
           << parameter.name << " must be " << element
           << " as x is, or f32 where x is f16 or bf16, but is "
           << type.getElementType();
  return success();
}

/// Polynomials of high degree overflow.
static LogicalResult verifyRange(EdgeLayerOp op, const BasisFamily &family) {
  BasisSize size = sizeOf(op);
  auto element = cast<FloatType>(tensorType(op.getX()).getElementType());
  double most =
      APFloat::getLargest(element.getFloatSemantics()).convertToDouble();
  for (double x : {1.0, -1.0})
    for (auto [k, value] :
         llvm::enumerate(family.evaluated.values(x, {}, size)))
      if (!(std::fabs(value) <= most))
        return op.emitOpError("function ")
               << k << " of " << stringifyBasis(op.getBasis()) << " overflows "
               << element << (x > 0 ? " at 1" : " at -1")
               << ": take fewer functions";
  return success();
}

LogicalResult EdgeLayerOp::verify() {
  const BasisFamily &family = basisFamily(getBasis());
  if (failed(verifyShapes(*this)) || failed(verifySize(*this, family)))
    return failure();
  if (getParameters().size() != family.parameters.size()) {
    InFlightDiagnostic error = emitOpError("basis ")
                               << stringifyBasis(getBasis()) << " has "
                               << family.parameters.size() << " parameters";
    if (!family.parameters.empty()) {
      error << " (";
      llvm::interleaveComma(family.parameters, error,
                            [&](const BasisParameter &p) { error << p.name; });
      error << ")";
    }
    return error << ", but has " << getParameters().size() << " here";
  }
  for (unsigned i = 0; i < family.parameters.size(); ++i)
    if (failed(verifyParameter(*this, family, i)))
      return failure();
  return family.parameters.empty() ? verifyRange(*this, family) : success();
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

namespace {
class LayerBuilder {
public:
  LayerBuilder(EdgeLayerOp op, OpBuilder &builder)
      : op(op), family(basisFamily(op.getBasis())), size(sizeOf(op)),
        builder(builder), b(builder, op.getLoc()), x(tensorType(op.getX())),
        inputs(x.getDimSize(1)),
        outputs(tensorType(op.getCoefficients()).getDimSize(2)) {
    prepare();
  }

  Value build() {
    bool differs = llvm::any_of(op.getParameters(), [](Value parameter) {
      return tensorType(parameter).getRank() == 3;
    });
    if (differs)
      return buildByEdge();
    return isLocal() ? buildWindows() : buildProduct();
  }

private:
  /// The parameters' numbers as tensors of what differs between edges, and what
  /// is computed of these.
  void prepare();
  /// Row k of a tensor, without that dimension.
  Value rowOf(Value tensor, int64_t k);
  /// [rows, `columns`], without content.
  Value empty(int64_t columns, Type element);
  /// Inputs of a generic for the prepared numbers, each once, with their maps.
  /// `loops` are those of inputs and outputs.
  void addPrepared(SmallVectorImpl<Value> &operands,
                   SmallVectorImpl<AffineMap> &maps, unsigned numLoops,
                   ArrayRef<unsigned> loops);
  /// The arguments of these in the body.
  Numbers<Written> preparedIn(ValueRange arguments, ScalarBuilder &inside);
  /// What the functions are made by, in one loop nest over rows and inputs
  /// whose results have these types.
  using Body = llvm::function_ref<SmallVector<Value>(ScalarBuilder &, Written,
                                                     ArrayRef<Written>)>;
  linalg::GenericOp byInput(ArrayRef<Type> elements, Body body);
  Value zeros(Type element);
  /// Few of many functions differ from 0 at a point. Where lanes run in step,
  /// each reading coefficients of its own costs more than products over all.
  bool isLocal() const {
    return family.written.window && size.functions >= 2 * (size.order + 1) &&
           !machineFactsOf(op).lockstep;
  }
  /// The functions' values for each input side by side, then the product.
  Value buildProduct();
  /// The functions that differ from 0 and the number of their first, then a
  /// product over all, whose terms are 0 but for these: passes leave out the
  /// others (passes/Block/RestrictLoops.cpp).
  Value buildWindows();
  /// All in one loop nest: a function's value serves one edge.
  Value buildByEdge();

  EdgeLayerOp op;
  const BasisFamily &family;
  BasisSize size;
  OpBuilder &builder;
  ScalarBuilder b;
  RankedTensorType x;
  int64_t inputs, outputs;
  Numbers<Written> prepared;
  /// Where the generic has each prepared number.
  llvm::SmallMapVector<Value, unsigned, 16> places;
};
} // namespace

Value LayerBuilder::rowOf(Value tensor, int64_t k) {
  RankedTensorType type = tensorType(tensor);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1)), sizes;
  offsets[0] = builder.getIndexAttr(k);
  sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  sizes[0] = builder.getIndexAttr(1);
  auto row = RankedTensorType::get(type.getShape().drop_front(),
                                   type.getElementType());
  return tensor::ExtractSliceOp::create(builder, op.getLoc(), row, tensor,
                                        offsets, sizes, strides);
}

void LayerBuilder::prepare() {
  SmallVector<Numbers<Written>> parameters;
  for (Value parameter : op.getParameters()) {
    Value wide = b.widen(parameter);
    Numbers<Written> numbers;
    for (int64_t k = 0; k < tensorType(wide).getDimSize(0); ++k)
      numbers.push_back({&b, rowOf(wide, k)});
    parameters.push_back(numbers);
  }
  const BasisFormula<Written> &formula = family.written;
  prepared =
      (isLocal() ? formula.prepareWindow : formula.prepare)(parameters, size);
}

Value LayerBuilder::empty(int64_t columns, Type element) {
  OpFoldResult rows = tensor::getMixedSize(builder, op.getLoc(), op.getX(), 0);
  return tensor::EmptyOp::create(
      builder, op.getLoc(),
      ArrayRef<OpFoldResult>{rows, builder.getIndexAttr(columns)}, element);
}

void LayerBuilder::addPrepared(SmallVectorImpl<Value> &operands,
                               SmallVectorImpl<AffineMap> &maps,
                               unsigned numLoops, ArrayRef<unsigned> loops) {
  for (Written number : prepared) {
    if (!places.insert({number.value, operands.size()}).second)
      continue;
    SmallVector<AffineExpr> dims;
    for (unsigned i = 0; i < tensorType(number.value).getRank(); ++i)
      dims.push_back(builder.getAffineDimExpr(loops[i]));
    operands.push_back(number.value);
    maps.push_back(AffineMap::get(numLoops, 0, dims, builder.getContext()));
  }
}

Numbers<Written> LayerBuilder::preparedIn(ValueRange arguments,
                                          ScalarBuilder &inside) {
  Numbers<Written> numbers;
  for (Written number : prepared)
    numbers.push_back({&inside, arguments[places.lookup(number.value)]});
  return numbers;
}

linalg::GenericOp LayerBuilder::byInput(ArrayRef<Type> elements, Body make) {
  SmallVector<Value> operands{op.getX()};
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  SmallVector<AffineMap> maps{identity};
  addPrepared(operands, maps, 2, {1});
  maps.append(elements.size(), identity);
  SmallVector<Value> outs;
  SmallVector<Type> types;
  for (Type element : elements) {
    outs.push_back(empty(inputs, element));
    types.push_back(outs.back().getType());
  }
  return linalg::GenericOp::create(
      builder, op.getLoc(), types, operands, outs, maps,
      SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
      [&](OpBuilder &body, Location loc, ValueRange arguments) {
        ScalarBuilder inside(body, loc);
        Written at{&inside, inside.widen(arguments[0])};
        linalg::YieldOp::create(
            body, loc, make(inside, at, preparedIn(arguments, inside)));
      });
}

Value LayerBuilder::zeros(Type element) {
  Value zero = arith::ConstantOp::create(builder, op.getLoc(),
                                         builder.getZeroAttr(element));
  return linalg::FillOp::create(builder, op.getLoc(), zero,
                                empty(outputs, element))
      .getResult(0);
}

Value LayerBuilder::buildProduct() {
  Type element = x.getElementType();
  auto functions = byInput(
      SmallVector<Type>(size.functions, element),
      [&](ScalarBuilder &inside, Written at, ArrayRef<Written> numbers) {
        SmallVector<Value> values;
        for (Written value : family.written.values(at, numbers, size))
          values.push_back(inside.convert(value.value, element));
        return values;
      });
  Value side = functions.getResult(0);
  if (size.functions > 1) {
    auto type = RankedTensorType::get(
        {x.getDimSize(0), size.functions * inputs}, element);
    side = tensor::ConcatOp::create(builder, op.getLoc(), type, /*dim=*/1,
                                    functions.getResults());
  }
  Value matrix = tensor::CollapseShapeOp::create(
      builder, op.getLoc(), op.getCoefficients(),
      ArrayRef<ReassociationIndices>{{0, 1}, {2}});
  return linalg::MatmulOp::create(builder, op.getLoc(),
                                  ValueRange{side, matrix}, zeros(element))
      .getResult(0);
}

Value LayerBuilder::buildWindows() {
  Type element = x.getElementType(), wide = computeType(element);
  SmallVector<Type> types(size.order + 2, element);
  types.front() = builder.getI32Type();
  auto functions = byInput(types, [&](ScalarBuilder &inside, Written at,
                                      ArrayRef<Written> numbers) {
    Window<Written> window = family.written.window(at, numbers, size);
    Value start = arith::FPToSIOp::create(inside.builder, inside.loc,
                                          types.front(), window.start.value);
    // Passes see by this that it is in range.
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(
          inside.builder, inside.loc,
          builder.getI32IntegerAttr(static_cast<int32_t>(value)));
    };
    Value first = number(0), last = number(size.functions - size.order - 1);
    start = arith::MaxSIOp::create(inside.builder, inside.loc, start, first);
    start = arith::MinSIOp::create(inside.builder, inside.loc, start, last);
    SmallVector<Value> values{start};
    for (Written value : window.values)
      values.push_back(inside.convert(value.value, element));
    return values;
  });

  constexpr unsigned numLoops = 4;
  AffineExpr n, i, k, o;
  bindDims(builder.getContext(), n, i, k, o);
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(numLoops, 0, exprs, builder.getContext());
  };
  SmallVector<Value> operands(functions.getResults());
  SmallVector<AffineMap> maps(operands.size(), map({n, i}));
  // A row of an input's coefficients of 4 KiB has a line in each set of a
  // first-level cache. Of shorter ones all functions' lie side by side.
  Value coefficients = op.getCoefficients();
  bool isShort = outputs * element.getIntOrFloatBitWidth() < 8 * 4096;
  if (isShort) {
    Value turned = tensor::EmptyOp::create(
        builder, op.getLoc(), ArrayRef{inputs, size.functions, outputs},
        element);
    coefficients =
        linalg::TransposeOp::create(builder, op.getLoc(), coefficients, turned,
                                    ArrayRef<int64_t>{1, 0, 2})
            ->getResult(0);
  }
  operands.push_back(coefficients);
  maps.append({isShort ? map({i, k, o}) : map({k, i, o}), map({n, o})});
  Value sums = zeros(wide);
  using utils::IteratorType;
  Value y = linalg::GenericOp::create(
                builder, op.getLoc(), sums.getType(), operands, sums, maps,
                ArrayRef{IteratorType::parallel, IteratorType::reduction,
                         IteratorType::reduction, IteratorType::parallel},
                [&](OpBuilder &body, Location loc, ValueRange arguments) {
                  ScalarBuilder inside(body, loc);
                  Value number = arith::IndexCastOp::create(
                      body, loc, types.front(),
                      linalg::IndexOp::create(body, loc, 2));
                  Value place =
                      arith::SubIOp::create(body, loc, number, arguments[0]);
                  Value c = inside.widen(arguments[size.order + 2]);
                  Value function = inside.constant(0, c);
                  for (int64_t j = 0; j <= size.order; ++j) {
                    Value at = arith::ConstantOp::create(
                        body, loc, body.getI32IntegerAttr(j));
                    Value isHere = arith::CmpIOp::create(
                        body, loc, arith::CmpIPredicate::eq, place, at);
                    function = inside.select(
                        isHere, inside.widen(arguments[1 + j]), function);
                  }
                  Value term = arith::MulFOp::create(body, loc, function, c);
                  Value sum = inside.add(arguments.back(), term);
                  linalg::YieldOp::create(body, loc, sum);
                })
                .getResult(0);
  return b.convert(y, op.getX());
}

Value LayerBuilder::buildByEdge() {
  constexpr unsigned numLoops = 3; // Rows, inputs, outputs.
  AffineExpr n, i, o;
  bindDims(builder.getContext(), n, i, o);
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(numLoops, 0, exprs, builder.getContext());
  };
  SmallVector<Value> operands{op.getX()};
  SmallVector<AffineMap> maps{map({n, i})};
  for (int64_t k = 0; k < size.functions; ++k) {
    operands.push_back(rowOf(op.getCoefficients(), k));
    maps.push_back(map({i, o}));
  }
  addPrepared(operands, maps, numLoops, {1, 2});
  maps.push_back(map({n, o}));
  Value sums = zeros(computeType(x.getElementType()));
  using utils::IteratorType;
  Value y = linalg::GenericOp::create(
                builder, op.getLoc(), sums.getType(), operands, sums, maps,
                ArrayRef{IteratorType::parallel, IteratorType::reduction,
                         IteratorType::parallel},
                [&](OpBuilder &body, Location loc, ValueRange arguments) {
                  ScalarBuilder inside(body, loc);
                  Written at{&inside, inside.widen(arguments[0])};
                  Numbers<Written> numbers = preparedIn(arguments, inside);
                  Written term{&inside, {}};
                  for (auto [k, value] : llvm::enumerate(
                           family.written.values(at, numbers, size))) {
                    Written c{&inside, inside.widen(arguments[1 + k])};
                    term = k == 0 ? c * value : multiplyAdd(c, value, term);
                  }
                  Written sum{&inside, arguments.back()};
                  linalg::YieldOp::create(body, loc, (sum + term).value);
                })
                .getResult(0);
  return b.convert(y, op.getX());
}

FailureOr<SmallVector<Value>>
EdgeLayerOp::decomposeOperation(OpBuilder &builder) {
  return SmallVector<Value>{LayerBuilder(*this, builder).build()};
}

//===----------------------------------------------------------------------===//
// Interpretation
//===----------------------------------------------------------------------===//

LogicalResult EdgeLayerOp::interpret(ArrayRef<HostTensor> operands,
                                     SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0], &c = operands[1];
  ArrayRef<HostTensor> given = operands.drop_front(2);
  const BasisFamily &family = basisFamily(getBasis());
  BasisSize size = sizeOf(*this);
  int64_t rows = x.dim(0), inputs = x.dim(1), outputs = c.dim(2);
  HostTensor y(/*isFloat=*/true, {rows, outputs});
  MutableArrayRef<double> sums = y.mutableF();
  bool byEdge = llvm::any_of(given, [](auto &p) { return p.rank() == 3; });
  // Outputs that share the functions of an input.
  int64_t together = byEdge ? 1 : outputs;
  for (int64_t i = 0; i < inputs; ++i)
    for (int64_t first = 0; first < outputs; first += together) {
      SmallVector<Numbers<double>> parameters;
      for (const HostTensor &tensor : given) {
        Numbers<double> numbers;
        for (int64_t k = 0; k < tensor.dim(0); ++k)
          numbers.push_back(tensor.f(
              ArrayRef<int64_t>{k, i, first}.take_front(tensor.rank())));
        parameters.push_back(numbers);
      }
      Numbers<double> prepared = family.evaluated.prepare(parameters, size);
      for (int64_t n = 0; n < rows; ++n)
        for (auto [k, value] : llvm::enumerate(
                 family.evaluated.values(x.f({n, i}), prepared, size)))
          for (int64_t o = first; o < first + together; ++o)
            sums[n * outputs + o] +=
                c.f({static_cast<int64_t>(k), i, o}) * value;
    }
  results.push_back(y);
  return success();
}

} // namespace drawloom::kan
