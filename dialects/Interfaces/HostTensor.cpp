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

namespace drawloom {

static int64_t product(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

HostTensor::HostTensor(bool isFloat, llvm::ArrayRef<int64_t> shape)
    : extents(shape.begin(), shape.end()), floatKind(isFloat) {
  int64_t elements = product(shape);
  if (!isFloat)
    single.i = 0;
  if (elements == 1)
    return;
  if (isFloat)
    floats = std::make_shared<std::vector<double>>(elements);
  else
    ints = std::make_shared<std::vector<int64_t>>(elements);
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
  t.single.f = value;
  return t;
}

HostTensor HostTensor::scalar(int64_t value) {
  HostTensor t(false, {});
  t.single.i = value;
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
  assert(floatKind && "not a float tensor");
  if (!floats)
    return single.f;
  if (floats.use_count() > 1)
    floats = std::make_shared<std::vector<double>>(*floats);
  return *floats;
}

llvm::MutableArrayRef<int64_t> HostTensor::mutableI() {
  assert(!floatKind && "not an integer tensor");
  if (!ints)
    return single.i;
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
