//===- CheckDialect.cpp - the check dialect -------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Check/Check.h"
#include "dialects/Interfaces/Inlining.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include <cmath>

using namespace mlir;

/// `tensor<4xf32>`, or both types where they differ.
static ParseResult parseOneOrTwoTypes(OpAsmParser &parser, Type &actual,
                                      Type &expected) {
  if (parser.parseType(actual))
    return failure();
  expected = actual;
  if (succeeded(parser.parseOptionalComma()))
    return parser.parseType(expected);
  return success();
}

static void printOneOrTwoTypes(OpAsmPrinter &printer, Operation *, Type actual,
                               Type expected) {
  printer << actual;
  if (actual != expected)
    printer << ", " << expected;
}

#include "dialects/Check/CheckDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Check/CheckOps.cpp.inc"

namespace drawloom::check {

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Check/CheckOps.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
}

static LogicalResult verifyShapes(Operation *op) {
  Type actual = op->getOperand(0).getType();
  Type expected = op->getOperand(1).getType();
  if (succeeded(verifyCompatibleShape(actual, expected)))
    return success();
  return op->emitOpError("compares values of incompatible shapes: ")
         << actual << " and " << expected;
}

LogicalResult CloseOp::verify() {
  if (failed(verifyShapes(*this)))
    return failure();
  for (auto [name, value] :
       {std::pair("rtol", getRtol()), std::pair("atol", getAtol())})
    if (value &&
        (!value->isFinite() || (value->isNegative() && !value->isZero())))
      return emitOpError() << "needs a finite " << name
                           << " that is not negative";
  if (getRtol() && getAtol())
    return success();
  for (Value operand : getOperands())
    if (!Tolerance::forType(operand.getType()))
      return emitOpError("has no default tolerance for ")
             << getElementTypeOrSelf(operand.getType())
             << "; give rtol and atol";
  return success();
}

Tolerance CloseOp::getTolerance() {
  Tolerance tolerance;
  for (Value operand : getOperands())
    if (auto byType = Tolerance::forType(operand.getType())) {
      tolerance.relative = std::max(tolerance.relative, byType->relative);
      tolerance.absolute = std::max(tolerance.absolute, byType->absolute);
    }
  if (auto relative = getRtol())
    tolerance.relative = relative->convertToDouble();
  if (auto absolute = getAtol())
    tolerance.absolute = absolute->convertToDouble();
  return tolerance;
}

LogicalResult EqualBitsOp::verify() { return verifyShapes(*this); }

/// Whether these are two finite numbers, the first not above the second.
static bool isRange(DenseF64ArrayAttr range) {
  return range && range.size() == 2 && std::isfinite(range[0]) &&
         std::isfinite(range[1]) && range[0] <= range[1];
}

LogicalResult GradientOp::verify() {
  if (getRangeAttr() && !isRange(getRangeAttr()))
    return emitOpError("needs a range of the form [low, high] with low <= "
                       "high");
  if (getOrder() == 1 || getOrder() == 2)
    return success();
  return emitOpError("checks gradients of order 1 or 2, not ") << getOrder();
}

LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto callee = tables.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getCalleeAttr());
  if (!callee || callee.isExternal())
    return emitOpError("'@")
           << getCallee() << "' is not a function with a body";
  auto isDifferentiable = [](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      type = tensor.getElementType();
    return isa<FloatType>(type);
  };
  if (getWrt().empty())
    return emitOpError("'wrt' must name at least one argument");
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t index : getWrt()) {
    if (index < 0 || index >= callee.getNumArguments())
      return emitOpError("'wrt' index ")
             << index << " is out of range: '@" << getCallee() << "' has "
             << callee.getNumArguments() << " arguments";
    if (!seen.insert(index).second)
      return emitOpError("'wrt' names argument ") << index << " twice";
    if (!isDifferentiable(callee.getArgumentTypes()[index]))
      return emitOpError("argument ")
             << index << " of type " << callee.getArgumentTypes()[index]
             << " has no gradient: it must be a float or a ranked tensor of "
                "floats";
  }
  for (auto [i, type] : llvm::enumerate(callee.getResultTypes()))
    if (!isDifferentiable(type))
      return emitOpError("result ")
             << i << " of '@" << getCallee() << "' has type " << type
             << ", which has no cotangent: it must be a float or a ranked "
                "tensor of floats";
  return success();
}

/// check.range and check.shape say what random arguments are like.
LogicalResult CheckDialect::verifyRegionArgAttribute(Operation *op,
                                                     unsigned regionIndex,
                                                     unsigned argument,
                                                     NamedAttribute attribute) {
  Type type = op->getRegion(regionIndex).empty()
                  ? Type()
                  : op->getRegion(regionIndex).getArgument(argument).getType();
  if (attribute.getName() == "check.range") {
    auto range = dyn_cast<DenseF64ArrayAttr>(attribute.getValue());
    if (!isRange(range))
      return op->emitOpError("has a check.range that is not of the form "
                             "array<f64: low, high> with low <= high");
    return success();
  }
  if (attribute.getName() == "check.shape") {
    auto shape = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (!shape)
      return op->emitOpError(
          "has a check.shape that is not of the form array<i64: ...>");
    ArrayRef<int64_t> extents;
    if (auto shaped = dyn_cast_or_null<ShapedType>(type))
      extents = shaped.getShape();
    if (type && failed(verifyCompatibleShape(extents, shape.asArrayRef())))
      return op->emitOpError("has a check.shape that does not fit ") << type;
    return success();
  }
  return op->emitOpError("has an argument attribute ")
         << attribute.getName() << "; the check dialect has check.range and "
         << "check.shape";
}

} // namespace drawloom::check
