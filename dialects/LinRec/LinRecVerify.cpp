//===- LinRecVerify.cpp - what the ops of linrec ask for ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/LinRec/Chunk/Recurrence.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

bool compatible(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto dims) {
           auto [x, y] = dims;
           return ShapedType::isDynamic(x) || ShapedType::isDynamic(y) ||
                  x == y;
         });
}

std::string text(ArrayRef<int64_t> shape) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  llvm::interleave(
      shape, stream,
      [&](int64_t extent) {
        if (ShapedType::isDynamic(extent))
          stream << "?";
        else
          stream << extent;
      },
      "x");
  return result;
}

RankedTensorType typeOf(Value value) {
  return value ? Recurrence::type(value) : RankedTensorType();
}

LogicalResult expectShape(Operation *op, StringRef name, RankedTensorType type,
                          ArrayRef<int64_t> shape) {
  if (!type || compatible(type.getShape(), shape))
    return success();
  return op->emitOpError() << name << " must have shape " << text(shape)
                           << ", but has " << text(type.getShape());
}

LogicalResult expectType(Operation *op, StringRef name, Type type,
                         RankedTensorType expected) {
  auto own = cast<RankedTensorType>(type);
  if (own.getElementType() == expected.getElementType() &&
      compatible(own.getShape(), expected.getShape()))
    return success();
  return op->emitOpError() << name << " must be " << expected << ", but is "
                           << type;
}

/// The same for an operand of each token whose heads may be shared: with
/// `heads` at dimension `at`, those of the operand divide it.
LogicalResult expectShape(Operation *op, StringRef name, RankedTensorType type,
                          SmallVector<int64_t> shape, int64_t at) {
  if (type && type.getRank() == static_cast<int64_t>(shape.size()) &&
      !type.isDynamicDim(at) && type.getDimSize(at) > 0 &&
      shape[at] % type.getDimSize(at) == 0)
    shape[at] = type.getDimSize(at);
  return expectShape(op, name, type, shape);
}

/// Either all float operands are f64 or none, as `main`.
LogicalResult expectOneWidth(Operation *op, StringRef name, Value main) {
  bool wide = getElementTypeOrSelf(main).isF64();
  for (Value operand : op->getOperands())
    if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(operand)))
      if (element.isF64() != wide)
        return op->emitOpError()
               << "either all operands are f64 or none, but " << name << " is "
               << main.getType() << " and another " << operand.getType();
  return success();
}

/// Of sequences of `x`, [batch, tokens, ...].
LogicalResult expectStarts(Operation *op, Value starts, RankedTensorType x) {
  if (!starts)
    return success();
  RankedTensorType type = typeOf(starts);
  if (type.getRank() != 1 || type.getDimSize(0) == 0)
    return op->emitOpError() << "starts must have one dimension of at least 1 "
                             << "entry, but is " << type;
  int64_t batch = x.getDimSize(0), tokens = x.getDimSize(1);
  if (!ShapedType::isDynamic(batch) && batch != 1)
    return op->emitOpError()
           << "with starts, all sequences are packed into one "
           << "batch entry, but there are " << batch;
  if (type.getDimSize(0) == 1 && !ShapedType::isDynamic(tokens) && tokens > 0)
    return op->emitOpError()
           << "starts of one entry are those of no sequence, but there are "
           << tokens << " tokens";
  return success();
}

/// The number of sequences, as far as the operands say.
int64_t sequencesOf(Value starts, int64_t batch) {
  if (!starts)
    return batch;
  int64_t entries = typeOf(starts).getDimSize(0);
  return ShapedType::isDynamic(entries) ? entries : entries - 1;
}

} // namespace

/// Constraints 1 and 2.
template <typename Op> static LogicalResult verifyMain(Op op) {
  RankedTensorType v = typeOf(op.getV());
  constexpr int64_t leading = Op::hasTokens() ? 2 : 1;
  int64_t rank = leading + 2;
  for (auto [name, value] : {std::pair<StringRef, Value>("q", op.getQ()),
                             std::pair<StringRef, Value>("k", op.getK()),
                             std::pair<StringRef, Value>("v", op.getV())}) {
    RankedTensorType type = typeOf(value);
    if (type.getRank() != rank)
      return op.emitOpError()
             << name << " must have "
             << (leading == 2 ? "four dimensions (batch, tokens, heads, size)"
                              : "three dimensions (batch, heads, size)")
             << ", but is " << type;
    if (type.isDynamicDim(leading) || type.isDynamicDim(leading + 1) ||
        type.getDimSize(leading) < 1 || type.getDimSize(leading + 1) < 1)
      return op.emitOpError()
             << name << " must have a known number of heads and a known size, "
             << "at least 1, but is " << type;
    int64_t steps = name == "q" ? op.getStepsPerToken().value_or(1) : 1;
    if (steps > 1) {
      if (!compatible({type.getDimSize(0)}, {v.getDimSize(0)}) ||
          (!type.isDynamicDim(1) && !v.isDynamicDim(1) &&
           type.getDimSize(1) * steps != v.getDimSize(1)))
        return op.emitOpError() << "v must have the batch of q and " << steps
                                << " steps for each of its tokens, but q is "
                                << type << " and v " << v;
    } else if (!compatible(type.getShape().take_front(leading),
                           v.getShape().take_front(leading)))
      return op.emitOpError() << "q, k and v must have the same batch"
                              << (leading == 2 ? " and tokens" : "") << ", but "
                              << name << " is " << type << " and v " << v;
    if (name != "v" && v.getDimSize(leading) % type.getDimSize(leading) != 0)
      return op.emitOpError()
             << "the heads of " << name << " must divide those of v, but are "
             << type.getDimSize(leading) << " of " << v.getDimSize(leading);
  }
  int64_t size = typeOf(op.getQ()).getShape().back();
  if (typeOf(op.getK()).getShape().back() != size)
    return op.emitOpError()
           << "q and k must have the same size, but have " << size << " and "
           << typeOf(op.getK()).getShape().back();
  return success();
}

/// Constraint 3.
template <typename Op> static LogicalResult verifyShapes(Op op) {
  RankedTensorType v = typeOf(op.getV());
  constexpr int64_t leading = Op::hasTokens() ? 2 : 1;
  int64_t heads = v.getDimSize(leading), valueSize = v.getShape().back();
  int64_t keySize = typeOf(op.getQ()).getShape().back();
  bool alongValues = op.getDecayAlongValues();
  SmallVector<int64_t> perHead(v.getShape().drop_back());
  SmallVector<int64_t> perKey = perHead;
  perKey.push_back(keySize);
  int64_t rank = op.getDecay() ? typeOf(op.getDecay()).getRank() : 0;
  if (op.getDecay()) {
    SmallVector<int64_t> shape = perHead;
    if (op.getStepsPerToken().value_or(1) > 1)
      shape[1] = typeOf(op.getQ()).getDimSize(1);
    if (rank == 1)
      shape = {heads};
    else if (rank == leading + 2)
      shape.push_back(alongValues ? valueSize : keySize);
    else if (rank != leading + 1)
      return op.emitOpError()
             << "decay must have shape [heads], "
             << (leading == 2
                     ? "[batch, tokens, heads] or [batch, tokens, heads, size]"
                     : "[batch, heads] or [batch, heads, size]")
             << ", but is " << op.getDecay().getType();
    RankedTensorType decay = typeOf(op.getDecay());
    bool shared = rank != 1 && !alongValues;
    if (failed(shared ? expectShape(op, "decay", decay, shape, leading)
                      : expectShape(op, "decay", decay, shape)))
      return failure();
  }
  if (alongValues && rank != leading + 2)
    return op.emitOpError()
           << "decay_along_values needs a decay of "
           << (leading == 2 ? "four" : "three") << " dimensions";
  if (op.getRates() && !alongValues)
    return op.emitOpError() << "rates need decay_along_values: they say how "
                            << "each element of the state decays while the "
                            << "time of a value passes";
  if (failed(expectShape(op, "beta", typeOf(op.getBeta()), perHead, leading)) ||
      failed(
          expectShape(op, "erase", typeOf(op.getErase()), perKey, leading)) ||
      failed(expectShape(op, "lowrank", typeOf(op.getLowrank()), perKey,
                         leading)) ||
      failed(
          expectShape(op, "bonus", typeOf(op.getBonus()), {heads, keySize})) ||
      failed(expectShape(op, "rates", typeOf(op.getRates()),
                         {heads, keySize, valueSize})))
    return failure();
  if (op.getLowrank() && !op.getErase())
    return op.emitOpError() << "lowrank needs erase: what was read off the "
                            << "state is what it writes back";
  if (op.getEraseBeforeDecay() && !op.getErase() && !op.getBeta())
    return op.emitOpError() << "erase_before_decay needs erase or beta";
  return success();
}

/// Constraint 4, and 6 but for results.
template <typename Op> static LogicalResult verifyKinds(Op op) {
  if (op.getBeta() && op.getErase())
    return op.emitOpError() << "beta and erase exclude each other: beta stands "
                            << "for an erase of beta k";
  if (op.getBonus() && (op.getBeta() || op.getErase()))
    return op.emitOpError() << "bonus excludes beta and erase";
  if (op.getDecayAlongValues() &&
      (op.getBeta() || op.getErase() || op.getBonus()))
    return op.emitOpError()
           << "decays along values exclude beta, erase and bonus";
  if (failed(expectOneWidth(op, "v", op.getV())))
    return failure();
  FloatType wide = computeType(getElementTypeOrSelf(op.getV()));
  Value initial = op.getInitial();
  if (initial && getElementTypeOrSelf(initial) != wide)
    return op.emitOpError() << Op::stateName() << " must be of " << wide
                            << " for v of " << getElementTypeOrSelf(op.getV())
                            << ", but is " << initial.getType();
  return success();
}

/// The final state's type, as far as the operands say.
template <typename Op>
static RankedTensorType stateType(Op op, int64_t sequences) {
  RankedTensorType v = typeOf(op.getV());
  ArrayRef<int64_t> ofHead = v.getShape().take_back(2);
  return RankedTensorType::get(
      {sequences, ofHead[0], typeOf(op.getQ()).getShape().back(), ofHead[1]},
      computeType(v.getElementType()));
}

/// Everything but results and cotangents.
template <typename Op> static LogicalResult verifyScan(Op op) {
  if (std::optional<int64_t> steps = op.getStepsPerToken(); steps && *steps < 1)
    return op.emitOpError()
           << "steps_per_token must be positive, but is " << *steps;
  if (failed(verifyMain(op)))
    return failure();
  int64_t batch = typeOf(op.getV()).getDimSize(0);
  if (failed(expectStarts(op, op.getStarts(), typeOf(op.getV()))))
    return failure();
  RankedTensorType state = stateType(op, sequencesOf(op.getStarts(), batch));
  if (failed(verifyShapes(op)) ||
      failed(expectShape(op, Op::stateName(), typeOf(op.getInitial()),
                         state.getShape())) ||
      failed(verifyKinds(op)))
    return failure();
  if (std::optional<int64_t> steps = op.getStepsPerToken()) {
    bool ofHeads = op.getDecay() && typeOf(op.getDecay()).getRank() == 1;
    if (*steps > 1 && (op.getBonus() || ofHeads))
      return op.emitOpError()
             << "steps_per_token do not go with "
             << (ofHeads ? "a decay of heads: the first step of a token "
                           "decays, so it is given for each token"
                         : "bonus, by which tokens are read before they are "
                           "written");
  }
  // The attribute's own accessor takes it as unsigned.
  if (std::optional<int64_t> chunk = op.getChunk())
    if (*chunk != 1 && (*chunk < 16 || *chunk % 16 != 0))
      return op.emitOpError()
             << "chunk must be 1 or a multiple of 16, but is " << *chunk;
  if (std::optional<int64_t> segments = op.getSegments()) {
    if (*segments < 1)
      return op.emitOpError()
             << "segments must be positive, but is " << *segments;
    if (op.getStarts())
      return op.emitOpError() << "segments do not go with starts: packed "
                              << "sequences are computed side by side already";
  }
  if (std::optional<int64_t> blocks = op.getValueBlocks())
    if (*blocks < 1 || state.getDimSize(3) % *blocks != 0)
      return op.emitOpError() << "value_blocks must divide the size of values, "
                              << state.getDimSize(3) << ", but is " << *blocks;
  if (std::optional<int64_t> interval = op.getCheckpointInterval())
    if (*interval < 1)
      return op.emitOpError()
             << "checkpoint_interval must be positive, but is " << *interval;
  if (op.getDecayBound() && !(op.getDecayBound()->convertToDouble() <= 0))
    return op.emitOpError() << "decay_bound must not be positive";
  return success();
}

/// The type of what queries read: as v, with the tokens of q.
template <typename Op> static RankedTensorType outType(Op op) {
  RankedTensorType v = typeOf(op.getV());
  if (op.getStepsPerToken().value_or(1) == 1)
    return v;
  SmallVector<int64_t> shape(v.getShape());
  shape[1] = typeOf(op.getQ()).getDimSize(1);
  return RankedTensorType::get(shape, v.getElementType());
}

template <typename Op> static RankedTensorType finalType(Op op) {
  int64_t batch = typeOf(op.getV()).getDimSize(0);
  return stateType(op, sequencesOf(op.getStarts(), batch));
}

LogicalResult ScanOp::verify() {
  return failure(failed(verifyScan(*this)) ||
                 failed(expectType(*this, "the first result", getO().getType(),
                                   outType(*this))) ||
                 failed(expectType(*this, "the final state",
                                   getFinal().getType(), finalType(*this))));
}

/// One result for each of these operands, of its type.
static LogicalResult verifyGradients(Operation *op, ArrayRef<Value> expected) {
  if (expected.size() != op->getNumResults())
    return op->emitOpError()
           << "must have one result for each operand but starts: "
           << expected.size() << ", but has " << op->getNumResults();
  for (auto [operand, result] : llvm::zip_equal(expected, op->getResults()))
    if (operand.getType() != result.getType())
      return op->emitOpError()
             << "the gradient of an operand " << operand.getType()
             << " must have its type, but is " << result.getType();
  return success();
}

LogicalResult ScanBwdOp::verify() {
  if (failed(verifyScan(*this)) ||
      failed(expectType(*this, "the cotangent d_o", getDO().getType(),
                        outType(*this))) ||
      (getDFinal() &&
       failed(expectType(*this, "the cotangent d_final", getDFinal().getType(),
                         finalType(*this)))))
    return failure();
  return verifyGradients(*this, Recurrence(*this).differentiable());
}

LogicalResult StepOp::verify() {
  return failure(failed(verifyScan(*this)) ||
                 failed(expectType(*this, "the first result", getO().getType(),
                                   typeOf(getV()))) ||
                 failed(expectType(*this, "the next state", getNext().getType(),
                                   finalType(*this))));
}

LogicalResult EwScanOp::verify() {
  RankedTensorType x = typeOf(getX());
  if (x.getRank() != 3 || x.isDynamicDim(2) || x.getDimSize(2) < 1)
    return emitOpError() << "x must have three dimensions (batch, tokens, "
                         << "channels) and a known number of channels, at "
                         << "least 1, but is " << x;
  if (bool(getRates()) != bool(getWrite()) ||
      bool(getRates()) != bool(getRead()))
    return emitOpError() << "rates, write and read come together";
  int64_t batch = x.getDimSize(0), tokens = x.getDimSize(1);
  int64_t channels = x.getDimSize(2);
  if (failed(expectStarts(*this, getStarts(), x)))
    return failure();
  SmallVector<int64_t> state = {sequencesOf(getStarts(), batch), channels};
  if (getRates()) {
    RankedTensorType rates = typeOf(getRates());
    if (rates.getRank() != 2 || rates.isDynamicDim(1) ||
        rates.getDimSize(1) < 1)
      return emitOpError() << "rates must have two dimensions (channels, "
                           << "numbers of each), both known, but is " << rates;
    state.push_back(rates.getDimSize(1));
    if (failed(expectShape(*this, "rates", rates, {channels, state.back()})) ||
        failed(expectShape(*this, "write", typeOf(getWrite()),
                           {batch, tokens, state.back()})) ||
        failed(expectShape(*this, "read", typeOf(getRead()),
                           {batch, tokens, state.back()})))
      return failure();
  }
  auto stateType =
      RankedTensorType::get(state, computeType(x.getElementType()));
  return failure(
      failed(expectShape(*this, "decay", typeOf(getDecay()), x.getShape())) ||
      failed(expectOneWidth(*this, "x", getX())) ||
      (getInitial() && failed(expectType(*this, "initial",
                                         getInitial().getType(), stateType))) ||
      failed(expectType(*this, "the first result", getY().getType(), x)) ||
      failed(expectType(*this, "the final state", getFinal().getType(),
                        stateType)));
}

LogicalResult GateOp::verify() {
  RankedTensorType x = typeOf(getX());
  if ((x.getRank() != 3 && x.getRank() != 4) || x.isDynamicDim(2) ||
      x.isDynamicDim(x.getRank() - 1))
    return emitOpError() << "x must have shape [batch, tokens, heads] or "
                         << "[batch, tokens, heads, size], heads and size "
                         << "known, but is " << x;
  GateKind kind = getKind();
  auto only = [&](StringRef name, bool given,
                  ArrayRef<GateKind> kinds) -> LogicalResult {
    if (!given || llvm::is_contained(kinds, kind))
      return success();
    return emitOpError() << name << " has no meaning for the kind "
                         << stringifyGateKind(kind);
  };
  if (failed(only("scale", bool(getScale()),
                  {GateKind::Softplus, GateKind::Bounded})) ||
      failed(only("temperature", getTemperature().has_value(),
                  {GateKind::LogSigmoid})) ||
      failed(only("limit", getLimit().has_value(), {GateKind::Bounded})) ||
      failed(only("floor", getFloor().has_value(), {GateKind::Floored})))
    return failure();
  if (kind == GateKind::Bounded && !getLimit())
    return emitOpError() << "the kind bounded needs a limit";
  if (kind == GateKind::Floored && !getFloor())
    return emitOpError() << "the kind floored needs a floor";
  if (getTemperature() && !(getTemperature()->convertToDouble() > 0))
    return emitOpError() << "temperature must be positive";
  if (getLimit() && !(getLimit()->convertToDouble() > 0))
    return emitOpError() << "limit must be positive";
  if (getFloor() && !(getFloor()->convertToDouble() >= 0 &&
                      getFloor()->convertToDouble() < 1))
    return emitOpError() << "floor must be at least 0 and less than 1";
  SmallVector<int64_t> bias = {x.getDimSize(2)};
  if (getBias() && typeOf(getBias()).getRank() == 2 && x.getRank() == 4)
    bias.push_back(x.getDimSize(3));
  return failure(failed(expectShape(*this, "scale", typeOf(getScale()),
                                    {x.getDimSize(2)})) ||
                 failed(expectShape(*this, "bias", typeOf(getBias()), bias)) ||
                 failed(expectOneWidth(*this, "x", getX())) ||
                 failed(expectType(*this, "the result", getG().getType(),
                                   x.clone(computeType(x.getElementType())))));
}

/// Everything but results and cotangents.
template <typename Op>
static LogicalResult verifyConv(Op op, RankedTensorType &stateType) {
  RankedTensorType x = typeOf(op.getX()), weight = typeOf(op.getWeight());
  ArrayRef<int64_t> channels =
      x.getShape().drop_front(std::min<size_t>(2, x.getRank()));
  if (channels.empty() || llvm::any_of(channels, [](int64_t extent) {
        return ShapedType::isDynamic(extent) || extent < 1;
      }))
    return op.emitOpError()
           << "x must have shape [batch, tokens, channels...], with known "
           << "numbers of channels, at least 1, but is " << x;
  int64_t width = weight.getRank() == 0 ? 0 : weight.getShape().back();
  SmallVector<int64_t> ofWeight(channels);
  ofWeight.push_back(ShapedType::kDynamic);
  if (failed(expectShape(op, "weight", weight, ofWeight)))
    return failure();
  if (ShapedType::isDynamic(width) || width < 2 || width > 8)
    return op.emitOpError() << "weight must have from 2 to 8 columns, one for "
                            << "each token, but is " << weight;
  int64_t batch = x.getDimSize(0);
  if (failed(expectStarts(op, op.getStarts(), x)))
    return failure();
  SmallVector<int64_t> state = {sequencesOf(op.getStarts(), batch), width - 1};
  llvm::append_range(state, channels);
  stateType = RankedTensorType::get(state, x.getElementType());
  return failure(
      failed(expectShape(op, "bias", typeOf(op.getBias()), channels)) ||
      failed(expectOneWidth(op, "x", op.getX())) ||
      (op.getInitial() &&
       failed(
           expectType(op, "initial", op.getInitial().getType(), stateType))));
}

LogicalResult ShortConvOp::verify() {
  RankedTensorType stateType;
  return failure(failed(verifyConv(*this, stateType)) ||
                 failed(expectType(*this, "the first result", getY().getType(),
                                   typeOf(getX()))) ||
                 failed(expectType(*this, "the final state",
                                   getFinal().getType(), stateType)));
}

LogicalResult ShortConvBwdOp::verify() {
  RankedTensorType stateType;
  if (failed(verifyConv(*this, stateType)) ||
      failed(expectType(*this, "the cotangent d_y", getDY().getType(),
                        typeOf(getX()))) ||
      (getDFinal() && failed(expectType(*this, "the cotangent d_final",
                                        getDFinal().getType(), stateType))))
    return failure();
  return verifyGradients(*this, getDifferentiable());
}

} // namespace drawloom::linrec
