//===- Random.cpp - seeded random arguments -------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Random.h"
#include "lib/Interpreter/Machine.h"
#include "lib/Interpreter/RawBuffer.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <cmath>

using namespace mlir;

namespace drawloom {

// The standard fixes what std::mt19937_64 yields but not the distributions, so
// these are written out.

double Random::unit() { return double((engine() >> 11) + 1) * 0x1p-53; }

double Random::normal() {
  // Box and Muller; the second value of the pair is dropped.
  double radius = std::sqrt(-2.0 * std::log(unit()));
  return radius * std::cos(2.0 * M_PI * unit());
}

double Random::uniform(double low, double high) {
  return low + (high - low) * unit();
}

int64_t Random::integer(int64_t low, int64_t high) {
  uint64_t count = uint64_t(high) - uint64_t(low) + 1;
  // The remainder's bias is at most count / 2^64.
  return count == 0 ? int64_t(engine()) : low + int64_t(engine() % count);
}

HostTensor Random::tensor(Type type, ArrayRef<int64_t> shape,
                          std::optional<Range> range) {
  HostTensor value(interpreter::isFloat(type), shape);
  Type element = getElementTypeOrSelf(type);
  if (value.isFloat()) {
    for (double &x : value.mutableF())
      x = range ? uniform(range->low, range->high) : normal();
    return roundedTo(value, element);
  }
  Range integers = range.value_or(Range{0, element.isInteger(1) ? 1.0 : 2.0});
  for (int64_t &x : value.mutableI())
    x = interpreter::wrapInteger(
        integer(std::llrint(std::ceil(integers.low)),
                std::llrint(std::floor(integers.high))),
        interpreter::elementBits(type));
  return value;
}

FailureOr<SmallVector<HostTensor>> randomArguments(func::FuncOp function,
                                                   uint64_t seed) {
  Random random(seed);
  int64_t dynamicExtent = 3 + 2 * random.integer(0, 2);
  SmallVector<HostTensor> arguments;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (!interpreter::isSupported(type))
      return function.emitOpError("has no random values for argument #")
             << i << " of type " << type;
    SmallVector<int64_t> shape;
    if (auto shaped = dyn_cast<ShapedType>(type))
      for (int64_t extent : shaped.getShape())
        shape.push_back(ShapedType::isDynamic(extent) ? dynamicExtent : extent);
    if (auto given =
            function.getArgAttrOfType<DenseI64ArrayAttr>(i, "check.shape"))
      shape.assign(given.asArrayRef().begin(), given.asArrayRef().end());
    int64_t elements = 1;
    for (int64_t extent : shape)
      if (__builtin_mul_overflow(elements, extent, &elements) ||
          elements > Interpreter::Limits().elements)
        return function.emitOpError("has no random values for argument #")
               << i << " of type " << type
               << ", which is above the interpreter's limit of "
               << Interpreter::Limits().elements << " elements";
    std::optional<Random::Range> range;
    if (auto given =
            function.getArgAttrOfType<DenseF64ArrayAttr>(i, "check.range"))
      range = Random::Range{given[0], given[1]};
    arguments.push_back(random.tensor(type, shape, range));
  }
  return arguments;
}

} // namespace drawloom
