//===- HostTensor.cpp - a value of the reference interpreter --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/HostTensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include <cassert>

namespace drawloom {

static int64_t product(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

HostTensor::HostTensor(bool isFloat, llvm::ArrayRef<int64_t> shape)
    : extents(shape.begin(), shape.end()) {
  if (isFloat)
    floats = std::make_shared<std::vector<double>>(product(shape));
  else
    ints = std::make_shared<std::vector<int64_t>>(product(shape));
}

HostTensor HostTensor::zerosOf(mlir::Type type) {
  bool isFloat = mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type));
  if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type)) {
    assert(shaped.hasStaticShape() && "the shape must be known");
    return HostTensor(isFloat, shaped.getShape());
  }
  return HostTensor(isFloat, {});
}

HostTensor HostTensor::scalar(double value) {
  HostTensor t(true, {});
  t.floats->front() = value;
  return t;
}

HostTensor HostTensor::scalar(int64_t value) {
  HostTensor t(false, {});
  t.ints->front() = value;
  return t;
}

int64_t HostTensor::size() const { return product(extents); }

int64_t HostTensor::offset(llvm::ArrayRef<int64_t> index) const {
  assert(index.size() == extents.size() && "one index for each dimension");
  int64_t at = 0;
  for (auto [i, extent] : llvm::zip_equal(index, extents)) {
    assert(i >= 0 && i < extent && "index out of range");
    at = at * extent + i;
  }
  return at;
}

llvm::MutableArrayRef<double> HostTensor::mutableF() {
  assert(floats && "not a float tensor");
  if (floats.use_count() > 1)
    floats = std::make_shared<std::vector<double>>(*floats);
  return *floats;
}

llvm::MutableArrayRef<int64_t> HostTensor::mutableI() {
  assert(ints && "not an integer tensor");
  if (ints.use_count() > 1)
    ints = std::make_shared<std::vector<int64_t>>(*ints);
  return *ints;
}

HostTensor HostTensor::reshaped(llvm::ArrayRef<int64_t> shape) const {
  assert(product(shape) == size() && "the number of elements must not change");
  HostTensor t = *this;
  t.extents.assign(shape.begin(), shape.end());
  return t;
}

} // namespace drawloom
