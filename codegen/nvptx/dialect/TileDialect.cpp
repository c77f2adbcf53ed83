//===- TileDialect.cpp - the dialect and its layout attribute -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/dialect/Tile.h"
#include "dialects/Interfaces/Inlining.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "codegen/nvptx/dialect/TileDialect.cpp.inc"

#include "codegen/nvptx/dialect/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/nvptx/dialect/TileAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "codegen/nvptx/dialect/TileOps.cpp.inc"

namespace drawloom::tile {

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/nvptx/dialect/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "codegen/nvptx/dialect/TileOps.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
}

static SmallVector<int64_t> flatten(ArrayRef<Digit> digits) {
  SmallVector<int64_t> flat;
  for (const Digit &digit : digits)
    flat.append({digit.dim, digit.stride, digit.extent});
  return flat;
}

static SmallVector<Digit> unflatten(ArrayRef<int64_t> flat) {
  SmallVector<Digit> digits;
  for (size_t i = 0; i + 2 < flat.size(); i += 3)
    digits.push_back({flat[i], flat[i + 1], flat[i + 2]});
  return digits;
}

LayoutAttr LayoutAttr::get(MLIRContext *context, const Layout &layout) {
  return get(context, flatten(layout.registers), flatten(layout.lanes),
             flatten(layout.warps));
}

Layout LayoutAttr::getLayout() const {
  Layout layout;
  layout.registers = unflatten(getRegisterDigits());
  layout.lanes = unflatten(getLaneDigits());
  layout.warps = unflatten(getWarpDigits());
  return layout;
}

static void printDigits(AsmPrinter &printer, ArrayRef<Digit> digits) {
  printer << '[';
  llvm::interleaveComma(digits, printer, [&](const Digit &digit) {
    if (digit.replicated()) {
      printer << '?';
      return;
    }
    printer << digit.dim << ':' << digit.stride;
    if (digit.extent != 2)
      printer << '*' << digit.extent;
  });
  printer << ']';
}

void LayoutAttr::print(AsmPrinter &printer) const {
  Layout layout = getLayout();
  printer << "<registers = ";
  printDigits(printer, layout.registers);
  printer << ", lanes = ";
  printDigits(printer, layout.lanes);
  printer << ", warps = ";
  printDigits(printer, layout.warps);
  printer << '>';
}

static ParseResult parseDigits(AsmParser &parser, StringRef keyword,
                               SmallVector<Digit> &digits) {
  if (parser.parseKeyword(keyword) || parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        Digit digit;
        if (succeeded(parser.parseOptionalQuestion())) {
          digits.push_back(digit);
          return success();
        }
        if (parser.parseInteger(digit.dim) || parser.parseColon() ||
            parser.parseInteger(digit.stride))
          return failure();
        if (succeeded(parser.parseOptionalStar()) &&
            parser.parseInteger(digit.extent))
          return failure();
        if (digit.dim < 0 || digit.stride < 1 || digit.extent < 1)
          return parser.emitError(parser.getCurrentLocation(),
                                  "a digit has a dimension, a positive stride "
                                  "and a positive number of values");
        digits.push_back(digit);
        return success();
      });
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  Layout layout;
  if (parser.parseLess() ||
      parseDigits(parser, "registers", layout.registers) ||
      parser.parseComma() || parseDigits(parser, "lanes", layout.lanes) ||
      parser.parseComma() || parseDigits(parser, "warps", layout.warps) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), layout);
}

bool isShared(Type memref) {
  auto space =
      dyn_cast_or_null<IntegerAttr>(cast<MemRefType>(memref).getMemorySpace());
  return space && space.getInt() == sharedSpace;
}

std::optional<Layout> layoutOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  auto attribute = dyn_cast_or_null<LayoutAttr>(tensor.getEncoding());
  if (!attribute)
    return std::nullopt;
  return attribute.getLayout();
}

RankedTensorType withLayout(RankedTensorType type, const Layout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               LayoutAttr::get(type.getContext(), layout));
}

} // namespace drawloom::tile
