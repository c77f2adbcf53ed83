//===- LinRecVerify.cpp - the constraints of recurrences ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/LinRec/Recurrence.h"

using namespace mlir;

namespace drawloom::linrec {

static bool compatible(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto dims) {
           auto [x, y] = dims;
           return ShapedType::isDynamic(x) || ShapedType::isDynamic(y) ||
                  x == y;
         });
}

static std::string text(ArrayRef<int64_t> shape) {
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

static LogicalResult expectShape(Operation *op, StringRef name, Value value,
                                 ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> own = Recurrence::type(value).getShape();
  if (compatible(own, shape))
    return success();
  return op->emitOpError() << name << " must have shape " << text(shape)
                           << ", but has " << text(own);
}

/// Constraints 1 and 2.
template <typename Op> static LogicalResult verifyMain(Op op) {
  RankedTensorType v = Recurrence::type(op.getV());
  for (auto [name, value] : {std::pair<StringRef, Value>("q", op.getQ()),
                             std::pair<StringRef, Value>("k", op.getK()),
                             std::pair<StringRef, Value>("v", op.getV())}) {
    RankedTensorType type = Recurrence::type(value);
    if (type.getRank() != 4)
      return op.emitOpError() << name << " must have four dimensions (batch, "
                              << "tokens, heads, size), but is " << type;
    if (type.isDynamicDim(2) || type.isDynamicDim(3) ||
        type.getDimSize(2) < 1 || type.getDimSize(3) < 1)
      return op.emitOpError()
             << name << " must have a known number of heads and a known size, "
             << "at least 1, but is " << type;
    if (!compatible(type.getShape().take_front(2), v.getShape().take_front(2)))
      return op.emitOpError()
             << "q, k and v must have the same batch and "
             << "tokens, but " << name << " is " << type << " and v " << v;
    if (name != "v" && v.getDimSize(2) % type.getDimSize(2) != 0)
      return op.emitOpError()
             << "the heads of " << name << " must divide those of v, but are "
             << type.getDimSize(2) << " of " << v.getDimSize(2);
  }
  int64_t size = Recurrence::type(op.getQ()).getDimSize(3);
  if (Recurrence::type(op.getK()).getDimSize(3) != size)
    return op.emitOpError()
           << "q and k must have the same size, but have " << size << " and "
           << Recurrence::type(op.getK()).getDimSize(3);
  return success();
}

/// Constraint 3.
template <typename Op> static LogicalResult verifyShapes(Op op) {
  RankedTensorType v = Recurrence::type(op.getV());
  int64_t batch = v.getDimSize(0), tokens = v.getDimSize(1);
  int64_t heads = v.getDimSize(2), valueSize = v.getDimSize(3);
  int64_t keySize = Recurrence::type(op.getQ()).getDimSize(3);
  bool alongValues = op.getDecayAlongValues();
  if (Value decay = op.getDecay()) {
    int64_t rank = Recurrence::type(decay).getRank();
    SmallVector<int64_t> shape = {batch, tokens, heads};
    if (rank == 1)
      shape = {heads};
    else if (rank == 4)
      shape.push_back(alongValues ? valueSize : keySize);
    else if (rank != 3)
      return op.emitOpError()
             << "decay must have shape [heads], [batch, tokens, heads] or "
             << "[batch, tokens, heads, size], but is " << decay.getType();
    if (failed(expectShape(op, "decay", decay, shape)))
      return failure();
  }
  if (alongValues &&
      (!op.getDecay() || Recurrence::type(op.getDecay()).getRank() != 4))
    return op.emitOpError() << "decay_along_values needs a decay of four "
                            << "dimensions";
  SmallVector<int64_t> perKey = {batch, tokens, heads, keySize};
  int64_t sequences = batch;
  if (Value starts = op.getStarts()) {
    RankedTensorType type = Recurrence::type(starts);
    if (type.getRank() != 1 || type.getDimSize(0) == 0)
      return op.emitOpError() << "starts must have one dimension of at least 1 "
                              << "entry, but is " << type;
    sequences =
        type.isDynamicDim(0) ? ShapedType::kDynamic : type.getDimSize(0) - 1;
  }
  if ((op.getBeta() &&
       failed(expectShape(op, "beta", op.getBeta(), {batch, tokens, heads}))) ||
      (op.getErase() &&
       failed(expectShape(op, "erase", op.getErase(), perKey))) ||
      (op.getLowrank() &&
       failed(expectShape(op, "lowrank", op.getLowrank(), perKey))) ||
      (op.getBonus() &&
       failed(expectShape(op, "bonus", op.getBonus(), {heads, keySize}))) ||
      (op.getInitial() &&
       failed(expectShape(op, "initial", op.getInitial(),
                          {sequences, heads, keySize, valueSize}))))
    return failure();
  if (op.getLowrank() && !op.getErase())
    return op.emitOpError() << "lowrank needs erase: what was read off the "
                            << "state is what it writes back";
  if (op.getEraseBeforeDecay() && !op.getErase() && !op.getBeta())
    return op.emitOpError() << "erase_before_decay needs erase or beta";
  return success();
}

/// Constraints 4, 5 and 7, and 6 but for results.
template <typename Op> static LogicalResult verifyRest(Op op) {
  if (op.getBeta() && op.getErase())
    return op.emitOpError() << "beta and erase exclude each other: beta stands "
                            << "for an erase of beta k";
  if (op.getBonus() && (op.getBeta() || op.getErase()))
    return op.emitOpError() << "bonus excludes beta and erase";
  if (op.getDecayAlongValues() &&
      (op.getBeta() || op.getErase() || op.getBonus()))
    return op.emitOpError()
           << "decays along values exclude beta, erase and bonus";
  int64_t batch = Recurrence::type(op.getV()).getDimSize(0);
  if (op.getStarts() && !ShapedType::isDynamic(batch) && batch != 1)
    return op.emitOpError() << "with starts, all sequences are packed into one "
                            << "batch entry, but there are " << batch;
  // The attribute's own accessor takes it as unsigned.
  if (std::optional<int64_t> chunk = op.getChunk())
    if (*chunk < 16 || *chunk % 16 != 0)
      return op.emitOpError()
             << "chunk must be a multiple of 16, but is " << *chunk;
  if (op.getDecayBound() && !(op.getDecayBound()->convertToDouble() <= 0))
    return op.emitOpError() << "decay_bound must not be positive";
  bool wide = getElementTypeOrSelf(op.getV()).isF64();
  for (Value operand : op->getOperands())
    if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(operand)))
      if (element.isF64() != wide)
        return op.emitOpError()
               << "either all operands are f64 or none, but v is "
               << op.getV().getType() << " and another " << operand.getType();
  if (op.getInitial() && getElementTypeOrSelf(op.getInitial()) !=
                             computeType(getElementTypeOrSelf(op.getV())))
    return op.emitOpError() << "initial must be of "
                            << computeType(getElementTypeOrSelf(op.getV()))
                            << " for v of " << getElementTypeOrSelf(op.getV())
                            << ", but is " << op.getInitial().getType();
  return success();
}

/// The final state's type, as far as the operands say.
template <typename Op> static RankedTensorType stateType(Op op) {
  RankedTensorType v = Recurrence::type(op.getV());
  int64_t sequences = v.getDimSize(0);
  if (Value starts = op.getStarts()) {
    int64_t entries = Recurrence::type(starts).getDimSize(0);
    sequences = ShapedType::isDynamic(entries) ? entries : entries - 1;
  }
  return RankedTensorType::get({sequences, v.getDimSize(2),
                                Recurrence::type(op.getQ()).getDimSize(3),
                                v.getDimSize(3)},
                               computeType(v.getElementType()));
}

static LogicalResult expectType(Operation *op, StringRef name, Type type,
                                RankedTensorType expected) {
  auto own = cast<RankedTensorType>(type);
  if (own.getElementType() == expected.getElementType() &&
      compatible(own.getShape(), expected.getShape()))
    return success();
  return op->emitOpError() << name << " must be " << expected << ", but is "
                           << type;
}

template <typename Op> static LogicalResult verifyOperands(Op op) {
  return failure(failed(verifyMain(op)) || failed(verifyShapes(op)) ||
                 failed(verifyRest(op)));
}

LogicalResult ScanOp::verify() {
  if (failed(verifyOperands(*this)) ||
      failed(expectType(*this, "the first result", getO().getType(),
                        Recurrence::type(getV()))) ||
      failed(expectType(*this, "the final state", getFinal().getType(),
                        stateType(*this))))
    return failure();
  return success();
}

LogicalResult ScanBwdOp::verify() {
  if (failed(verifyOperands(*this)) ||
      failed(expectType(*this, "the cotangent d_o", getDO().getType(),
                        Recurrence::type(getV()))) ||
      (getDFinal() &&
       failed(expectType(*this, "the cotangent d_final", getDFinal().getType(),
                         stateType(*this)))))
    return failure();
  SmallVector<Value> expected = Recurrence(*this).differentiable();
  if (expected.size() != getNumResults())
    return emitOpError() << "must have one result for each operand but "
                         << "starts: " << expected.size() << ", but has "
                         << getNumResults();
  for (auto [operand, result] : llvm::zip_equal(expected, getResults()))
    if (operand.getType() != result.getType())
      return emitOpError() << "the gradient of an operand " << operand.getType()
                           << " must have its type, but "
                           << "is " << result.getType();
  return success();
}

} // namespace drawloom::linrec
