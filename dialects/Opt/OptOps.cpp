//===- OptOps.cpp - verification, decomposition, meaning of optimizers ----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/Opt/Opt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;

namespace drawloom::opt {

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// `types` or `types keyword types`: what parameters and optimizer state have.
static ParseResult parseStateTypes(OpAsmParser &parser, StringRef keyword,
                                   SmallVectorImpl<Type> &params,
                                   SmallVectorImpl<Type> &state) {
  if (parser.parseTypeList(params))
    return failure();
  if (succeeded(parser.parseOptionalKeyword(keyword)))
    return parser.parseTypeList(state);
  state.assign(params.begin(), params.end());
  return success();
}

static void printStateTypes(OpAsmPrinter &printer, StringRef keyword,
                            TypeRange params, TypeRange state) {
  printer << params;
  if (!state.empty() && state != params)
    printer << ' ' << keyword << ' ' << state;
}

static ParseResult parseMomentTypes(
    OpAsmParser &parser, SmallVectorImpl<Type> &params,
    SmallVectorImpl<Type> &grads, SmallVectorImpl<Type> &first,
    SmallVectorImpl<Type> &second, SmallVectorImpl<Type> &newParams,
    SmallVectorImpl<Type> &newFirst, SmallVectorImpl<Type> &newSecond) {
  if (parseStateTypes(parser, "moments", params, first))
    return failure();
  grads.assign(params.begin(), params.end());
  newParams.assign(params.begin(), params.end());
  for (SmallVectorImpl<Type> *types : {&second, &newFirst, &newSecond})
    types->assign(first.begin(), first.end());
  return success();
}

static void printMomentTypes(OpAsmPrinter &printer, Operation *,
                             TypeRange params, TypeRange, TypeRange first,
                             TypeRange, TypeRange, TypeRange, TypeRange) {
  printStateTypes(printer, "moments", params, first);
}

static ParseResult
parseBufferTypes(OpAsmParser &parser, SmallVectorImpl<Type> &params,
                 SmallVectorImpl<Type> &grads,
                 ArrayRef<OpAsmParser::UnresolvedOperand> bufferOperands,
                 SmallVectorImpl<Type> &buffers,
                 SmallVectorImpl<Type> &newParams,
                 SmallVectorImpl<Type> &newBuffers) {
  if (parseStateTypes(parser, "buffers", params, buffers))
    return failure();
  if (bufferOperands.empty())
    buffers.clear();
  grads.assign(params.begin(), params.end());
  newParams.assign(params.begin(), params.end());
  newBuffers.assign(buffers.begin(), buffers.end());
  return success();
}

static void printBufferTypes(OpAsmPrinter &printer, Operation *,
                             TypeRange params, TypeRange, OperandRange,
                             TypeRange buffers, TypeRange, TypeRange) {
  printStateTypes(printer, "buffers", params, buffers);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Every group has a tensor for each parameter, of its shape.
static LogicalResult verifyGroup(Operation *op, StringRef name,
                                 ValueRange params, ValueRange group,
                                 bool mayWiden) {
  if (group.size() != params.size())
    return op->emitOpError() << "has " << params.size() << " parameters but "
                             << group.size() << " " << name << " tensors";
  for (auto [p, s] : llvm::zip_equal(params, group)) {
    auto type = cast<RankedTensorType>(p.getType());
    Type wide = type.clone(computeType(type.getElementType()));
    if (s.getType() != type && !(mayWiden && s.getType() == wide)) {
      InFlightDiagnostic error = op->emitOpError()
                                 << "a " << name << " tensor has type "
                                 << s.getType() << " where the parameter has "
                                 << type;
      if (mayWiden && wide != type)
        error << " (f32 elements would do as well)";
      return error;
    }
  }
  return success();
}

/// `values` holds one entry, or one for each parameter.
static LogicalResult verifyPerTensor(Operation *op, StringRef name,
                                     std::optional<ArrayRef<double>> values,
                                     size_t params) {
  if (!values || values->size() == 1 || values->size() == params)
    return success();
  return op->emitOpError() << name << " has " << values->size()
                           << " entries for " << params
                           << " parameters; give one for each, or one for all";
}

static double perTensor(std::optional<ArrayRef<double>> values, size_t i,
                        double absent) {
  if (!values)
    return absent;
  return values->size() == 1 ? values->front() : (*values)[i];
}

LogicalResult AdamWOp::verify() {
  for (auto [name, group] :
       {std::pair<StringRef, ValueRange>{"first", getFirst()},
        {"second", getSecond()},
        {"new_first", getNewFirst()},
        {"new_second", getNewSecond()}})
    if (failed(verifyGroup(*this, name, getParams(), group, true)))
      return failure();
  if (failed(verifyGroup(*this, "grads", getParams(), getGrads(), false)) ||
      failed(verifyGroup(*this, "new_params", getParams(), getNewParams(),
                         false)) ||
      failed(verifyPerTensor(*this, "weight_decay", getWeightDecay(),
                             getParams().size())) ||
      failed(
          verifyPerTensor(*this, "lr_scale", getLrScale(), getParams().size())))
    return failure();
  for (const auto &[name, beta] :
       {std::pair<StringRef, APFloat>{"beta1", getBeta1()},
        {"beta2", getBeta2()}})
    if (!(beta.convertToDouble() >= 0 && beta.convertToDouble() < 1))
      return emitOpError() << name << " must lie in [0, 1)";
  if (!(getEpsilon().convertToDouble() > 0))
    return emitOpError("epsilon must be positive");
  return success();
}

LogicalResult SgdOp::verify() {
  double momentum = getMomentum().convertToDouble();
  double dampening = getDampening().convertToDouble();
  if (!(momentum >= 0))
    return emitOpError("momentum must not be negative");
  if (momentum == 0 && !getBuffers().empty())
    return emitOpError("takes buffers only where momentum is not 0");
  if (getNesterov() && (momentum == 0 || dampening != 0))
    return emitOpError("nesterov needs momentum and no dampening");
  if ((dampening != 0) != bool(getStep()))
    return emitOpError(getStep() ? "takes the step only where dampening is "
                                   "not 0"
                                 : "dampening needs the step operand");
  if (failed(verifyGroup(*this, "grads", getParams(), getGrads(), false)) ||
      failed(verifyGroup(*this, "new_params", getParams(), getNewParams(),
                         false)) ||
      failed(verifyPerTensor(*this, "weight_decay", getWeightDecay(),
                             getParams().size())) ||
      failed(
          verifyPerTensor(*this, "lr_scale", getLrScale(), getParams().size())))
    return failure();
  if (momentum == 0)
    return success();
  if (failed(verifyGroup(*this, "buffers", getParams(), getBuffers(), true)))
    return failure();
  return verifyGroup(*this, "new_buffers", getParams(), getNewBuffers(), true);
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

/// The number that a scalar or a tensor of rank 0 holds, as f64.
static Value asDouble(ScalarBuilder &b, Value value) {
  if (isa<RankedTensorType>(value.getType()))
    value = tensor::ExtractOp::create(b.builder, b.loc, value, ValueRange());
  Type f64 = b.builder.getF64Type();
  if (isa<FloatType>(value.getType()))
    return b.convert(value, f64);
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b.builder, b.loc, b.builder.getI64Type(),
                                       value);
  return arith::SIToFPOp::create(b.builder, b.loc, f64, value);
}

/// 1 - beta^t in f64: the difference of two nearly equal f32 would keep four
/// digits in the first steps.
static Value biasCorrection(ScalarBuilder &b, double beta, Value t) {
  return b.sub(1.0, b.exp(b.mul(t, std::log(beta))));
}

/// One generic over the elements of `outputs` that updates all of them in
/// place: it reads its outputs, so that bufferization needs no copy. `scalars`
/// (f64) reach the body in the type that `outputs` are computed in. Float body
/// arguments arrive widened: first inputs, then scalars, then outputs.
static SmallVector<Value> updateInPlace(
    ScalarBuilder &b, ValueRange inputs, ValueRange scalars, ValueRange outputs,
    function_ref<SmallVector<Value>(ScalarBuilder &, ValueRange)> body) {
  auto type = cast<RankedTensorType>(outputs[0].getType());
  MLIRContext *context = b.builder.getContext();
  int64_t rank = type.getRank();
  SmallVector<Value> ins(inputs);
  for (Value scalar : scalars)
    ins.push_back(b.convert(scalar, computeType(type.getElementType())));
  AffineMap element = AffineMap::getMultiDimIdentityMap(rank, context);
  SmallVector<AffineMap> maps(ins.size() + outputs.size(), element);
  std::fill_n(maps.begin() + inputs.size(), scalars.size(),
              AffineMap::get(rank, 0, {}, context));
  auto generic = linalg::GenericOp::create(
      b.builder, b.loc, outputs.getTypes(), ins, outputs, maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &inside, Location loc, ValueRange args) {
        ScalarBuilder s(inside, loc);
        SmallVector<Value> wide;
        for (Value arg : args)
          wide.push_back(s.widen(arg));
        SmallVector<Value> updated = body(s, wide);
        for (auto [value, like] :
             llvm::zip_equal(updated, args.take_back(outputs.size())))
          value = s.convert(value, like);
        linalg::YieldOp::create(inside, loc, updated);
      });
  return llvm::to_vector_of<Value>(generic.getResults());
}

FailureOr<SmallVector<Value>> AdamWOp::decomposeOperation(OpBuilder &builder) {
  ScalarBuilder b(builder, getLoc());
  double beta1 = getBeta1().convertToDouble();
  double beta2 = getBeta2().convertToDouble();
  double epsilon = getEpsilon().convertToDouble();
  Value lr = asDouble(b, getLr()), t = asDouble(b, getStep());
  Value correctedRate = b.div(lr, biasCorrection(b, beta1, t));
  Value rootScale = b.div(1.0, b.sqrt(biasCorrection(b, beta2, t)));
  size_t count = getParams().size();
  SmallVector<Value> results(3 * count);
  for (size_t i = 0; i < count; ++i) {
    double scale = perTensor(getLrScale(), i, 1.0);
    double decay = perTensor(getWeightDecay(), i, 0.01);
    Value keep = b.sub(1.0, b.mul(lr, scale * decay));
    Value rate = b.mul(correctedRate, scale);
    SmallVector<Value> updated = updateInPlace(
        b, getGrads()[i], {keep, rate, rootScale},
        {getParams()[i], getFirst()[i], getSecond()[i]},
        [&](ScalarBuilder &s, ValueRange args) {
          Value g = args[0], keep = args[1], rate = args[2];
          Value rootScale = args[3], p = args[4], m = args[5], v = args[6];
          Value first = s.add(m, s.mul(s.sub(g, m), 1 - beta1));
          Value second = s.add(s.mul(v, beta2), s.mul(s.mul(g, g), 1 - beta2));
          Value root = s.mul(s.sqrt(second), rootScale);
          Value direction = s.div(first, s.add(root, epsilon));
          Value moved = s.sub(s.mul(p, keep), s.mul(direction, rate));
          return SmallVector<Value>{moved, first, second};
        });
    for (size_t k = 0; k < 3; ++k)
      results[k * count + i] = updated[k];
  }
  return results;
}

FailureOr<SmallVector<Value>> SgdOp::decomposeOperation(OpBuilder &builder) {
  ScalarBuilder b(builder, getLoc());
  double momentum = getMomentum().convertToDouble();
  Value lr = asDouble(b, getLr());
  // The first step takes the whole gradient into the buffer (which is zero).
  Value share;
  if (getStep()) {
    Value t = asDouble(b, getStep());
    Value first = b.less(t, b.constant(1.5, t));
    Value whole = b.constant(1.0, t);
    double rest = 1 - getDampening().convertToDouble();
    share = b.select(first, whole, b.constant(rest, t));
  }
  size_t count = getParams().size();
  SmallVector<Value> newParams, newBuffers;
  for (size_t i = 0; i < count; ++i) {
    double decay = perTensor(getWeightDecay(), i, 0.0);
    SmallVector<Value> scalars{b.mul(lr, perTensor(getLrScale(), i, 1.0))};
    if (share)
      scalars.push_back(share);
    SmallVector<Value> outputs{getParams()[i]};
    if (momentum != 0)
      outputs.push_back(getBuffers()[i]);
    SmallVector<Value> updated = updateInPlace(
        b, getGrads()[i], scalars, outputs,
        [&](ScalarBuilder &s, ValueRange args) -> SmallVector<Value> {
          Value g = args[0], rate = args[1];
          Value p = args[1 + scalars.size()];
          if (decay != 0)
            g = s.add(g, s.mul(p, decay));
          if (momentum == 0)
            return {s.sub(p, s.mul(g, rate))};
          Value m = s.add(s.mul(args.back(), momentum),
                          share ? s.mul(g, args[2]) : g);
          Value direction = getNesterov() ? s.add(g, s.mul(m, momentum)) : m;
          return {s.sub(p, s.mul(direction, rate)), m};
        });
    newParams.push_back(updated[0]);
    if (momentum != 0)
      newBuffers.push_back(updated[1]);
  }
  newParams.append(newBuffers);
  return newParams;
}

//===----------------------------------------------------------------------===//
// Interpretation
//===----------------------------------------------------------------------===//

static double number(const HostTensor &value) {
  return value.isFloat() ? value.asFloat() : value.asInt();
}

LogicalResult AdamWOp::interpret(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  size_t count = getParams().size();
  double lr = number(operands[4 * count]), t = number(operands[4 * count + 1]);
  if (t < 1)
    return emitOpError() << "the number of the step must be at least 1, but is "
                         << static_cast<int64_t>(t);
  double beta1 = getBeta1().convertToDouble();
  double beta2 = getBeta2().convertToDouble();
  results.append(operands.begin(), operands.begin() + count);
  results.append(operands.begin() + 2 * count, operands.begin() + 4 * count);
  for (size_t i = 0; i < count; ++i) {
    double rate = lr * perTensor(getLrScale(), i, 1.0);
    double decay = perTensor(getWeightDecay(), i, 0.01);
    MutableArrayRef<double> p = results[i].mutableF();
    MutableArrayRef<double> m = results[count + i].mutableF();
    MutableArrayRef<double> v = results[2 * count + i].mutableF();
    for (auto [k, g] : llvm::enumerate(operands[count + i].f())) {
      p[k] -= rate * decay * p[k];
      m[k] = beta1 * m[k] + (1 - beta1) * g;
      v[k] = beta2 * v[k] + (1 - beta2) * g * g;
      double mean = m[k] / (1 - std::pow(beta1, t));
      double square = v[k] / (1 - std::pow(beta2, t));
      p[k] -=
          rate * mean / (std::sqrt(square) + getEpsilon().convertToDouble());
    }
  }
  return success();
}

LogicalResult SgdOp::interpret(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  size_t count = getParams().size(), buffers = getBuffers().size();
  double lr = number(operands[2 * count + buffers]);
  bool isFirst = getStep() && number(operands.back()) == 1;
  double momentum = getMomentum().convertToDouble();
  double share = isFirst ? 1 : 1 - getDampening().convertToDouble();
  results.append(operands.begin(), operands.begin() + count);
  results.append(operands.begin() + 2 * count,
                 operands.begin() + 2 * count + buffers);
  for (size_t i = 0; i < count; ++i) {
    MutableArrayRef<double> p = results[i].mutableF();
    MutableArrayRef<double> m;
    if (buffers)
      m = results[count + i].mutableF();
    for (auto [k, gradient] : llvm::enumerate(operands[count + i].f())) {
      double g = gradient + perTensor(getWeightDecay(), i, 0.0) * p[k];
      double direction = g;
      if (buffers) {
        m[k] = momentum * m[k] + share * g;
        direction = getNesterov() ? g + momentum * m[k] : m[k];
      }
      p[k] -= lr * perTensor(getLrScale(), i, 1.0) * direction;
    }
  }
  return success();
}

} // namespace drawloom::opt

using namespace drawloom::opt;

#define GET_OP_CLASSES
#include "dialects/Opt/OptOps.cpp.inc"
