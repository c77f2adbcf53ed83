//===- Program.cpp - types of arguments and results -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Program.h"
#include "drawloom/OpenExtent.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace drawloom {

const Signature *Program::find(llvm::StringRef name) const {
  for (const Signature &signature : signatures())
    if (signature.name == name)
      return &signature;
  return nullptr;
}

std::optional<ElementType> elementTypeOf(Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isF64())
    return ElementType::F64;
  if (type.isF32())
    return ElementType::F32;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF16())
    return ElementType::F16;
  if (type.isInteger(64) || type.isIndex())
    return ElementType::I64;
  if (type.isInteger(32))
    return ElementType::I32;
  if (type.isInteger(8))
    return ElementType::I8;
  if (type.isInteger(1))
    return ElementType::I1;
  return std::nullopt;
}

std::optional<ValueType> valueTypeOf(Type type,
                                     llvm::ArrayRef<int64_t> numbers) {
  std::optional<ElementType> element = elementTypeOf(type);
  if (!element)
    return std::nullopt;
  ValueType value{*element, {}};
  if (auto shaped = dyn_cast<ShapedType>(type))
    value.shape = shaped.getShape().vec();
  int64_t bytes = elementBytes(*element);
  for (auto [dim, extent] : llvm::enumerate(value.shape)) {
    if (ShapedType::isDynamic(extent)) {
      if (dim >= numbers.size() || numbers[dim] < 0)
        return std::nullopt;
      extent = OpenExtent::ofCode(numbers[dim]).inShape();
      continue;
    }
    if (llvm::MulOverflow(bytes, extent, bytes))
      return std::nullopt;
  }
  return value;
}

} // namespace drawloom
