//===- DrawloomDialect.cpp - verifies Drawloom's attributes ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Drawloom/Drawloom.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

#include "dialects/Drawloom/DrawloomDialect.cpp.inc"

namespace drawloom {

void DrawloomDialect::initialize() {}

namespace {
struct Known {
  StringLiteral name;
  StringLiteral type;
  bool (*isOfType)(Attribute);
};
} // namespace

static constexpr Known known[] = {
#define DRAWLOOM_ATTRIBUTE(identifier, name, type)                             \
  {identifier, #type, [](Attribute value) { return isa<type>(value); }},
#include "dialects/Drawloom/Attributes.def"
};

/// "UnitAttr" as a reader of MLIR's text knows it.
static StringRef describe(StringRef type) {
  return llvm::StringSwitch<StringRef>(type)
      .Case("ArrayAttr", "an array")
      .Case("DenseI64ArrayAttr", "an array<i64: ...>")
      .Case("DictionaryAttr", "a dictionary")
      .Case("IntegerAttr", "an integer")
      .Case("StringAttr", "a string")
      .Default("a unit, which has no value");
}

static LogicalResult verifyAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  const Known *nearest = nullptr;
  unsigned distance = name.size() / 3;
  for (const Known &one : known) {
    if (one.name == name)
      return one.isOfType(attribute.getValue())
                 ? success()
                 : op->emitError()
                       << "'" << name << "' is " << describe(one.type)
                       << ", and cannot be " << attribute.getValue();
    if (unsigned edits = name.edit_distance(one.name); edits < distance) {
      distance = edits;
      nearest = &one;
    }
  }
  InFlightDiagnostic error = op->emitError()
                             << "Drawloom has no attribute '" << name << "'";
  if (nearest)
    error << "; did you mean '" << nearest->name << "'?";
  return error;
}

LogicalResult DrawloomDialect::verifyOperationAttribute(Operation *op,
                                                        NamedAttribute attr) {
  return verifyAttribute(op, attr);
}

LogicalResult DrawloomDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                        unsigned,
                                                        NamedAttribute attr) {
  return verifyAttribute(op, attr);
}

LogicalResult
DrawloomDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                             NamedAttribute attr) {
  return verifyAttribute(op, attr);
}

} // namespace drawloom
