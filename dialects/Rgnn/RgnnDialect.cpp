//===- RgnnDialect.cpp - the rgnn dialect ---------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "dialects/Interfaces/Inlining.h"
#include "dialects/Rgnn/Rgnn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#include "dialects/Rgnn/RgnnDialect.cpp.inc"

#include "dialects/Rgnn/RgnnEnums.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Rgnn/RgnnOps.cpp.inc"

namespace drawloom::rgnn {

void RgnnDialect::initialize() {
  addTypes<GraphType>();
  addOperations<
#define GET_OP_LIST
#include "dialects/Rgnn/RgnnOps.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
}

Type RgnnDialect::parseType(DialectAsmParser &parser) const {
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return Type();
  if (keyword == "graph")
    return GraphType::get(getContext());
  parser.emitError(parser.getNameLoc()) << "rgnn has one type, 'graph'";
  return Type();
}

void RgnnDialect::printType(Type, DialectAsmPrinter &printer) const {
  printer << "graph";
}

Space nodesOf(Direction direction) {
  return direction == Direction::Incoming ? Space::Dst : Space::Src;
}

Space pairsOf(Direction direction) {
  return direction == Direction::Incoming ? Space::DstRel : Space::SrcRel;
}

bool isAt(Space space, Direction direction) {
  return space == nodesOf(direction) || space == pairsOf(direction);
}

Direction directionOf(Space space) {
  return isAt(space, Direction::Outgoing) ? Direction::Outgoing
                                          : Direction::Incoming;
}

Type rowType(RankedTensorType tensor, Space space) {
  ArrayRef<int64_t> shape = tensor.getShape();
  if (space != Space::All)
    shape = shape.drop_front();
  if (shape.empty())
    return tensor.getElementType();
  return RankedTensorType::get(shape, tensor.getElementType());
}

GraphOp graphOf(Value graph) { return graph.getDefiningOp<GraphOp>(); }

Order orderOf(GraphOp graph, Direction direction) {
  bool incoming = direction == Direction::Incoming;
  OperandRange arrays = incoming ? graph.getIncoming() : graph.getOutgoing();
  assert(!arrays.empty() && "verifiers ask for the order");
  return {arrays[0], arrays[1],
          arrays[2], arrays[3],
          arrays[4], arrays[5],
          arrays[6], arrays[7],
          arrays[8], incoming ? Value() : arrays[9]};
}

//===----------------------------------------------------------------------===//
// rgnn.traverse: syntax.
//===----------------------------------------------------------------------===//

/// Parses an enum's keyword.
template <typename Enum>
static ParseResult
parseKeyword(OpAsmParser &parser, int32_t &value, StringRef what,
             std::optional<Enum> (*symbolize)(llvm::StringRef)) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Enum> parsed = symbolize(keyword);
  if (!parsed)
    return parser.emitError(loc) << "'" << keyword << "' is no " << what;
  value = static_cast<int32_t>(*parsed);
  return success();
}

static ParseResult parseSpace(OpAsmParser &parser, int32_t &space) {
  return parseKeyword<Space>(parser, space, "space of rows", symbolizeSpace);
}

ParseResult TraverseOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand graph;
  int32_t over;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Type> inputTypes, resultTypes;
  SmallVector<int32_t> at, to, by;
  auto parseInput = [&]() -> ParseResult {
    return failure(parser.parseOperand(inputs.emplace_back()) ||
                   parser.parseKeyword("at") ||
                   parseSpace(parser, at.emplace_back()) ||
                   parser.parseColonType(inputTypes.emplace_back()));
  };
  auto parseResult = [&]() -> ParseResult {
    return failure(parser.parseType(resultTypes.emplace_back()) ||
                   parser.parseKeyword("at") ||
                   parseSpace(parser, to.emplace_back()) ||
                   parser.parseKeyword("by") ||
                   parseKeyword<Combiner>(parser, by.emplace_back(), "combiner",
                                          symbolizeCombiner));
  };
  if (parser.parseOperand(graph) || parser.parseKeyword("over") ||
      parseSpace(parser, over) ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseInput) ||
      parser.parseArrow() ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseResult) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion()))
    return failure();
  Builder &b = parser.getBuilder();
  result.addAttribute(getOverAttrName(result.name), b.getI32IntegerAttr(over));
  result.addAttribute(getAtAttrName(result.name), b.getDenseI32ArrayAttr(at));
  result.addAttribute(getToAttrName(result.name), b.getDenseI32ArrayAttr(to));
  result.addAttribute(getByAttrName(result.name), b.getDenseI32ArrayAttr(by));
  result.addTypes(resultTypes);
  return failure(parser.resolveOperand(graph, GraphType::get(b.getContext()),
                                       result.operands) ||
                 parser.resolveOperands(inputs, inputTypes, parser.getNameLoc(),
                                        result.operands));
}

void TraverseOp::print(OpAsmPrinter &p) {
  p << " " << getGraph() << " over " << stringifySpace(getOver()) << " (";
  llvm::interleaveComma(llvm::enumerate(getInputs()), p, [&](auto it) {
    p << it.value() << " at " << stringifySpace(inputSpace(it.index())) << " : "
      << it.value().getType();
  });
  p << ") -> (";
  llvm::interleaveComma(llvm::enumerate(getResultTypes()), p, [&](auto it) {
    p << it.value() << " at " << stringifySpace(resultSpace(it.index()))
      << " by " << stringifyCombiner(combiner(it.index()));
  });
  p << ")";
  p.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getOverAttrName(), getAtAttrName(), getToAttrName(), getByAttrName()});
  p << " ";
  p.printRegion(getBody());
}

} // namespace drawloom::rgnn
