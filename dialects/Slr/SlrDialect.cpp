//===- SlrDialect.cpp - the slr dialect -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Inlining.h"
#include "dialects/Slr/Slr.h"
#include "dialects/Slr/TermBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#include "dialects/Slr/SlrDialect.cpp.inc"

#include "dialects/Slr/SlrEnums.cpp.inc"
#include "dialects/Slr/SlrInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Slr/SlrOps.cpp.inc"

namespace drawloom::slr {

struct detail::TermTypeStorage : TypeStorage {
  using KeyTy = std::pair<int64_t, int64_t>;
  explicit TermTypeStorage(const KeyTy &key) : extents(key) {}
  bool operator==(const KeyTy &key) const { return key == extents; }
  static TermTypeStorage *construct(TypeStorageAllocator &allocator,
                                    const KeyTy &key) {
    return new (allocator.allocate<TermTypeStorage>()) TermTypeStorage(key);
  }
  KeyTy extents;
};

TermType TermType::get(MLIRContext *context, int64_t inputs, int64_t outputs) {
  return Base::get(context, std::pair(inputs, outputs));
}

int64_t TermType::getInputs() const { return getImpl()->extents.first; }

int64_t TermType::getOutputs() const { return getImpl()->extents.second; }

void SlrDialect::initialize() {
  addTypes<TermType>();
  addOperations<
#define GET_OP_LIST
#include "dialects/Slr/SlrOps.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
}

Type SlrDialect::parseType(DialectAsmParser &parser) const {
  StringRef keyword;
  SmallVector<int64_t> extents;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return Type();
  if (keyword != "term") {
    parser.emitError(loc) << "slr has one type, 'term'";
    return Type();
  }
  if (parser.parseLess() ||
      parser.parseDimensionList(extents, /*allowDynamic=*/false,
                                /*withTrailingX=*/false) ||
      parser.parseGreater())
    return Type();
  if (extents.size() != 2 || extents[0] < 1 || extents[1] < 1) {
    parser.emitError(loc) << "a term has two extents of at least 1, its inputs "
                             "and its outputs: !slr.term<64x48>";
    return Type();
  }
  return TermType::get(getContext(), extents[0], extents[1]);
}

void SlrDialect::printType(Type type, DialectAsmPrinter &printer) const {
  auto term = cast<TermType>(type);
  printer << "term<" << term.getInputs() << 'x' << term.getOutputs() << '>';
}

} // namespace drawloom::slr
