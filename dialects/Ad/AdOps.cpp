//===- AdOps.cpp - verifiers and syntax of the ad dialect -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Ad/Ad.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace drawloom::ad {

/// A type whose values form a vector space that gradients can live in.
static bool isDifferentiableType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return isa<FloatType>(tensor.getElementType());
  return isa<FloatType>(type);
}

/// Checks what both ops have in common and returns the callee.
template <typename OpTy>
static FailureOr<func::FuncOp> verifyRequest(OpTy op,
                                             SymbolTableCollection &tables) {
  auto callee = tables.lookupNearestSymbolFrom<func::FuncOp>(
      op.getOperation(), op.getCalleeAttr());
  if (!callee)
    return op.emitOpError("'@")
           << op.getCallee() << "' does not name a function";
  if (callee.isExternal())
    return op.emitOpError("'@")
           << op.getCallee() << "' has no body to differentiate";

  FunctionType type = callee.getFunctionType();
  if (op.getArguments().size() != type.getNumInputs())
    return op.emitOpError("'@")
           << op.getCallee() << "' takes " << type.getNumInputs()
           << " arguments, not " << op.getArguments().size();
  for (auto [i, given, wanted] :
       llvm::enumerate(op.getArguments().getTypes(), type.getInputs()))
    if (given != wanted)
      return op.emitOpError("argument ")
             << i << " has type " << given << " but '@" << op.getCallee()
             << "' takes " << wanted;

  if (op.getWrt().empty())
    return op.emitOpError("'wrt' must name at least one argument");
  llvm::SmallBitVector seen(type.getNumInputs());
  SmallVector<Type> results(type.getResults());
  for (int64_t index : op.getWrt()) {
    if (index < 0 || index >= type.getNumInputs())
      return op.emitOpError("'wrt' index ")
             << index << " is out of range: '@" << op.getCallee() << "' has "
             << type.getNumInputs() << " arguments";
    if (seen.test(index))
      return op.emitOpError("'wrt' names argument ") << index << " twice";
    seen.set(index);
    if (!isDifferentiableType(type.getInput(index)))
      return op.emitOpError("argument ")
             << index << " of type " << type.getInput(index)
             << " has no gradient: it must be a float or a ranked tensor of "
                "floats";
    results.push_back(type.getInput(index));
  }
  if (!llvm::equal(op.getResultTypes(), results))
    return op.emitOpError("results must be the results of '@")
           << op.getCallee()
           << "', then the 'wrt' arguments' types: " << results;
  return callee;
}

LogicalResult
ValueAndGradOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FailureOr<func::FuncOp> callee = verifyRequest(*this, symbolTable);
  if (failed(callee))
    return failure();
  Type loss = callee->getNumResults() ? callee->getResultTypes()[0] : Type();
  auto tensor = dyn_cast_if_present<RankedTensorType>(loss);
  if (!loss || !isDifferentiableType(loss) || (tensor && tensor.getRank() != 0))
    return emitOpError("the first result of '@")
           << getCallee()
           << "' is the loss and must be a rank-0 tensor of a float type";
  return success();
}

LogicalResult VjpOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FailureOr<func::FuncOp> callee = verifyRequest(*this, symbolTable);
  if (failed(callee))
    return failure();
  for (auto [i, type] : llvm::enumerate(callee->getResultTypes()))
    if (!isDifferentiableType(type))
      return emitOpError("result ")
             << i << " of '@" << getCallee() << "' has type " << type
             << ", which has no cotangent: it must be a float or a ranked "
                "tensor of floats";
  if (getCotangents().size() != callee->getNumResults())
    return emitOpError("needs one cotangent for each of the ")
           << callee->getNumResults() << " results of '@" << getCallee()
           << "', not " << getCotangents().size();
  for (auto [i, given, wanted] :
       llvm::enumerate(getCotangents().getTypes(), callee->getResultTypes()))
    if (given != wanted)
      return emitOpError("cotangent ") << i << " has type " << given
                                       << " but the result has type " << wanted;
  return success();
}

LogicalResult SavedOp::verify() {
  if (!isDifferentiableType(getType()))
    return emitOpError("keeps a ")
           << getType()
           << ", which has no derivative: it must be a float or a ranked "
              "tensor of floats";
  return success();
}

FailureOr<SmallVector<Value>> SavedOp::buildVjp(OpBuilder &,
                                                ValueRange cotangents,
                                                const llvm::SmallBitVector &) {
  return SmallVector<Value>{cotangents.front(), Value()};
}

/// The cotangents have the types of the first results: nothing to read.
static ParseResult
parseCotangentTypes(OpAsmParser &parser,
                    ArrayRef<OpAsmParser::UnresolvedOperand> cotangents,
                    SmallVectorImpl<Type> &types, ArrayRef<Type> results) {
  if (cotangents.size() > results.size())
    return parser.emitError(parser.getNameLoc())
           << cotangents.size() << " cotangents but only " << results.size()
           << " results";
  types.assign(results.begin(), results.begin() + cotangents.size());
  return success();
}

static void printCotangentTypes(OpAsmPrinter &, Operation *, OperandRange,
                                TypeRange, TypeRange) {}

} // namespace drawloom::ad

using namespace drawloom::ad;
#define GET_OP_CLASSES
#include "dialects/Ad/AdOps.cpp.inc"
