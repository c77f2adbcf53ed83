//===- ConstantOps.cpp - constants and their types ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Offload/Offload.h"
#include "dialects/Rgnn/Rgnn.h"
#include "lib/Interpreter/Machine.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace drawloom::interpreter {

bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

unsigned elementBits(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

bool isSupported(Type type) {
  if (isa<offload::RecordType, rgnn::GraphType>(type))
    return true;
  if (isa<ShapedType>(type) &&
      !isa<RankedTensorType, VectorType, MemRefType>(type))
    return false;
  if (auto vector = dyn_cast<VectorType>(type))
    if (vector.isScalable())
      return false;
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ||
         (element.isIntOrFloat() && element.getIntOrFloatBitWidth() > 0 &&
          element.getIntOrFloatBitWidth() <= 64);
}

int64_t wrapInteger(int64_t value, unsigned bits) {
  if (bits == 64)
    return value;
  if (bits == 1)
    return value & 1;
  unsigned unused = 64 - bits;
  return int64_t(uint64_t(value) << unused) >> unused;
}

static double toDouble(llvm::APFloat value) {
  bool inexact;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &inexact);
  return value.convertToDouble();
}

static int64_t toInteger(const llvm::APInt &value) {
  return wrapInteger(value.getSExtValue(), value.getBitWidth());
}

static std::optional<HostTensor> elementsValue(DenseElementsAttr attribute) {
  Type type = attribute.getType();
  if (!isSupported(type))
    return std::nullopt;
  HostTensor value = HostTensor::zerosOf(type);
  if (value.isFloat()) {
    MutableArrayRef<double> data = value.mutableF();
    if (attribute.isSplat())
      llvm::fill(data, toDouble(attribute.getSplatValue<llvm::APFloat>()));
    else
      for (auto [to, from] :
           llvm::zip_equal(data, attribute.getValues<llvm::APFloat>()))
        to = toDouble(from);
    return value;
  }
  MutableArrayRef<int64_t> data = value.mutableI();
  if (attribute.isSplat())
    llvm::fill(data, toInteger(attribute.getSplatValue<llvm::APInt>()));
  else
    for (auto [to, from] :
         llvm::zip_equal(data, attribute.getValues<llvm::APInt>()))
      to = toInteger(from);
  return value;
}

/// Large constants are kept outside of the module's attributes.
static std::optional<HostTensor>
resourceValue(DenseResourceElementsAttr attribute) {
  AsmResourceBlob *blob = attribute.getRawHandle().getBlob();
  ShapedType type = attribute.getType();
  // Bits of i1 are packed in some producers' files and not in others'.
  if (!blob || !isSupported(type) || elementBits(type) == 1)
    return std::nullopt;
  bool isSplat = false;
  if (!DenseElementsAttr::isValidRawBuffer(type, blob->getData(), isSplat))
    return std::nullopt;
  return elementsValue(
      DenseElementsAttr::getFromRawBuffer(type, blob->getData()));
}

std::optional<HostTensor> attributeValue(Attribute attribute) {
  if (auto value = dyn_cast<FloatAttr>(attribute)) {
    if (isSupported(value.getType()))
      return HostTensor::scalar(toDouble(value.getValue()));
  } else if (auto value = dyn_cast<IntegerAttr>(attribute)) {
    if (isSupported(value.getType()))
      return HostTensor::scalar(toInteger(value.getValue()));
  } else if (auto elements = dyn_cast<DenseElementsAttr>(attribute)) {
    return elementsValue(elements);
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    return resourceValue(resource);
  }
  return std::nullopt;
}

std::string indexText(ArrayRef<int64_t> index) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(index, stream);
  stream << ']';
  return text;
}

bool advance(MutableArrayRef<int64_t> index, ArrayRef<int64_t> extents) {
  for (size_t dim = index.size(); dim-- > 0;) {
    if (++index[dim] < extents[dim])
      return true;
    index[dim] = 0;
  }
  return false;
}

SmallVector<int64_t, 4> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

namespace {
struct PreparedConstant : Prepared {
  /// Empty until a large one is first asked for.
  std::optional<HostTensor> value;
};
} // namespace

static LogicalResult makeConstant(Operation *op,
                                  std::optional<HostTensor> &value) {
  value = attributeValue(op->getAttr("value"));
  if (!value)
    return op->emitOpError("has a value that the interpreter does not hold");
  return success();
}

/// Whether a type has so many elements that they have to be asked for.
static bool isLarge(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  int64_t elements = 1;
  if (shaped)
    for (int64_t extent : shaped.getShape())
      if (__builtin_mul_overflow(elements, extent, &elements))
        return true;
  return elements > int64_t(1) << 20;
}

static FailureOr<std::shared_ptr<Prepared>> prepareConstant(Operation *op,
                                                            Compiler &) {
  auto prepared = std::make_shared<PreparedConstant>();
  if (!isLarge(op->getResult(0).getType()) &&
      failed(makeConstant(op, prepared->value)))
    return failure();
  return std::shared_ptr<Prepared>(std::move(prepared));
}

static LogicalResult runConstant(Call &call) {
  auto &prepared = call.prepared<PreparedConstant>();
  if (!prepared.value) {
    // A splat of any size takes no memory in the program: the limit is asked
    // first.
    Type type = call.op()->getResult(0).getType();
    if (failed(call.machine.allocate(call.op(), type,
                                     cast<ShapedType>(type).getShape())) ||
        failed(makeConstant(call.op(), prepared.value)))
      return failure();
  }
  call.yield(*prepared.value);
  return success();
}

static LogicalResult runSizeOf(Call &call) {
  call.yield(HostTensor::scalar(int64_t(64)));
  return success();
}

static LogicalResult runPoison(Call &call) {
  Type type = call.op()->getResult(0).getType();
  SmallVector<int64_t> shape;
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    if (!shaped.hasStaticShape())
      return call.error() << "has a dynamic shape";
    llvm::append_range(shape, shaped.getShape());
  }
  FailureOr<HostTensor> value =
      call.machine.allocateUndefined(call.op(), type, shape);
  if (failed(value))
    return failure();
  call.yield(std::move(*value));
  return success();
}

void addConstantOps(Registry &registry) {
  for (const char *name :
       {"arith.constant", "index.constant", "index.bool.constant"})
    registry[name] = {runConstant, prepareConstant};
  registry["index.sizeof"] = {runSizeOf};
  registry["ub.poison"] = {runPoison};
}

} // namespace drawloom::interpreter
