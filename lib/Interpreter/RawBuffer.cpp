//===- RawBuffer.cpp - dense memory of element types ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/RawBuffer.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include <cstring>

using namespace mlir;

namespace drawloom {

int64_t rawElementBytes(Type elementType) {
  if (elementType.isIndex())
    return 8;
  if (elementType.isF64() || elementType.isF32() || elementType.isBF16() ||
      elementType.isF16())
    return elementType.getIntOrFloatBitWidth() / 8;
  if (elementType.isSignlessInteger())
    switch (elementType.getIntOrFloatBitWidth()) {
    case 1:
      return 1;
    case 8:
    case 16:
    case 32:
    case 64:
      return elementType.getIntOrFloatBitWidth() / 8;
    }
  return 0;
}

/// The bits of the value of a float type that is nearest to `value`.
static uint64_t floatBits(double value, FloatType type) {
  llvm::APFloat number(value);
  bool inexact;
  number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                 &inexact);
  return number.bitcastToAPInt().getZExtValue();
}

static double floatOfBits(uint64_t bits, FloatType type) {
  llvm::APFloat number(type.getFloatSemantics(),
                       llvm::APInt(type.getWidth(), bits));
  bool inexact;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToDouble();
}

// The low bytes of a register are the element's bytes: all hosts that LLVM's
// JIT serves here are little-endian.

void writeRaw(const HostTensor &tensor, Type elementType, void *memory) {
  int64_t bytes = rawElementBytes(elementType);
  assert(bytes != 0 && "no dense memory of this type");
  auto *to = static_cast<char *>(memory);
  if (tensor.isFloat()) {
    auto type = cast<FloatType>(elementType);
    for (double value : tensor.f()) {
      uint64_t bits = floatBits(value, type);
      std::memcpy(to, &bits, bytes);
      to += bytes;
    }
    return;
  }
  assert(!isa<FloatType>(elementType) && "integers into floats");
  for (int64_t value : tensor.i()) {
    std::memcpy(to, &value, bytes);
    to += bytes;
  }
}

HostTensor readRaw(ArrayRef<int64_t> shape, Type elementType,
                   const void *memory) {
  int64_t bytes = rawElementBytes(elementType);
  assert(bytes != 0 && "no dense memory of this type");
  auto *from = static_cast<const char *>(memory);
  auto floatType = dyn_cast<FloatType>(elementType);
  HostTensor tensor(bool(floatType), shape);
  if (floatType) {
    for (double &value : tensor.mutableF()) {
      uint64_t bits = 0;
      std::memcpy(&bits, from, bytes);
      value = floatOfBits(bits, floatType);
      from += bytes;
    }
    return tensor;
  }
  int64_t unused = 64 - bytes * 8;
  bool isBool = elementType.isInteger(1);
  for (int64_t &value : tensor.mutableI()) {
    uint64_t bits = 0;
    std::memcpy(&bits, from, bytes);
    value = isBool ? int64_t(bits & 1) : int64_t(bits << unused) >> unused;
    from += bytes;
  }
  return tensor;
}

HostTensor roundedTo(const HostTensor &tensor, Type elementType) {
  auto type = dyn_cast<FloatType>(elementType);
  if (!type || type.isF64())
    return tensor;
  return mapElements(tensor, [&](double value) {
    return floatOfBits(floatBits(value, type), type);
  });
}

} // namespace drawloom
