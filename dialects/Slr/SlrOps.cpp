//===- SlrOps.cpp - rows times structured weights -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Slr/TermBuilder.h"

using namespace mlir;

namespace drawloom::slr {

HostTerms::HostTerms(Block &region, ArrayRef<HostTensor> leaves) {
  for (auto [argument, leaf] : llvm::zip_equal(region.getArguments(), leaves))
    known[argument] = leaf;
}

HostTensor HostTerms::of(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  HostTensor dense =
      cast<TermOpInterface>(value.getDefiningOp()).toDense(*this);
  return known[value] = std::move(dense);
}

/// Whether a leaf is only what codes are multiplied by: that may be f32.
static bool scalesCodes(Value leaf, Type element) {
  return element.isF32() && llvm::all_of(leaf.getUsers(), [](Operation *user) {
           return isa<QuantizedOp>(user);
         });
}

/// What both ops have in common: the leaves, and that one term is yielded for
/// each result.
template <typename OpTy>
static LogicalResult verifyRegion(OpTy op, Type element) {
  Block &region = op.getBody().front();
  if (region.getArgumentTypes() != op.getLeaves().getTypes())
    return op.emitOpError("has a region with arguments of ")
           << region.getArgumentTypes() << " for leaves of "
           << op.getLeaves().getTypes();
  for (auto [i, type] : llvm::enumerate(op.getLeaves().getTypes()))
    if (Type other = cast<RankedTensorType>(type).getElementType();
        isa<FloatType>(other) && other != element &&
        !scalesCodes(region.getArgument(i), other))
      return op.emitOpError("leaf ") << i << " has elements of " << other
                                     << ", the rows of " << element;
  auto yield = dyn_cast<YieldOp>(region.getTerminator());
  if (!yield)
    return op.emitOpError("has a region that does not end with slr.yield");
  for (Operation &inner : region.without_terminator())
    if (!isa<TermOpInterface>(inner))
      return inner.emitOpError("makes no term, and stands in the region of ")
             << op->getName()
             << ": what it computes is computed in front of it, and is a leaf";
  if (yield.getTerms().size() != op.getNumResults())
    return op.emitOpError("has ")
           << op.getNumResults() << " results, and its region yields "
           << yield.getTerms().size() << " terms";
  return success();
}

static ValueRange termsOf(Region &body) {
  return cast<YieldOp>(body.front().getTerminator()).getTerms();
}

//===----------------------------------------------------------------------===//
// slr.linear
//===----------------------------------------------------------------------===//

static std::optional<Association> associationOf(StringRef name) {
  if (name == "auto")
    return Association::Auto;
  if (name == "parts")
    return Association::Parts;
  if (name == "matrix")
    return Association::Matrix;
  return std::nullopt;
}

LogicalResult LinearOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  if (x.getRank() != 2)
    return emitOpError("multiplies rows of a matrix, and x is a ") << x;
  if (!associationOf(getAssociation()))
    return emitOpError("has association '")
           << getAssociation() << "'; there are 'auto', 'parts' and 'matrix'";
  if (failed(verifyRegion(*this, x.getElementType())))
    return failure();
  for (auto [i, term, result] :
       llvm::enumerate(termsOf(getBody()), getResultTypes())) {
    auto type = cast<RankedTensorType>(result);
    if (termType(term).getInputs() != x.getDimSize(1))
      return emitOpError("term ") << i << " has " << termType(term).getInputs()
                                  << " inputs, and rows of x are of type " << x;
    if (type.getRank() != 2 || type.getDimSize(0) != x.getDimSize(0) ||
        type.getDimSize(1) != termType(term).getOutputs() ||
        type.getElementType() != x.getElementType())
      return emitOpError("result ")
             << i << " is a " << type << ", and x of " << x << " times "
             << term.getType() << " is not";
  }
  return success();
}

FailureOr<SmallVector<Value>> LinearOp::decomposeOperation(OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  TermBuilder terms(builder, getLoc(), getBody().front(), getLeaves(),
                    getElementTypeOrSelf(getX().getType()),
                    *associationOf(getAssociation()));
  SmallVector<Value> results;
  for (auto [term, type] :
       llvm::zip_equal(termsOf(getBody()), getResultTypes())) {
    auto result = cast<RankedTensorType>(type);
    // Upstream has no parts of what has no rows.
    results.push_back(result.getDimSize(0) == 0
                          ? terms.zeros(result.getShape())
                          : terms.apply(term, getX(), 1, /*transposed=*/false));
  }
  return results;
}

LogicalResult LinearOp::interpret(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  HostTerms terms(getBody().front(), operands.drop_front());
  const HostTensor &x = operands.front();
  for (Value term : termsOf(getBody())) {
    HostTensor w = terms.of(term);
    HostTensor y(/*isFloat=*/true, {x.dim(0), w.dim(1)});
    if (y.size() > 0) {
      MutableArrayRef<double> to = y.mutableF();
      for (int64_t t = 0; t < x.dim(0); ++t)
        for (int64_t k = 0; k < w.dim(0); ++k)
          for (int64_t n = 0; n < w.dim(1); ++n)
            to[t * w.dim(1) + n] += x.f({t, k}) * w.f({k, n});
    }
    results.push_back(std::move(y));
  }
  return terms.state;
}

//===----------------------------------------------------------------------===//
// slr.materialize
//===----------------------------------------------------------------------===//

LogicalResult MaterializeOp::verify() {
  if (getNumResults() == 0)
    return emitOpError("has at least one result");
  if (failed(verifyRegion(*this, getElementTypeOrSelf(getResultTypes()[0]))))
    return failure();
  for (auto [i, term, result] :
       llvm::enumerate(termsOf(getBody()), getResultTypes())) {
    auto type = cast<RankedTensorType>(result);
    if (type.getShape() != ArrayRef<int64_t>{termType(term).getInputs(),
                                             termType(term).getOutputs()} ||
        type.getElementType() != getElementTypeOrSelf(getResultTypes()[0]))
      return emitOpError("result ") << i << " is a " << type << ", and "
                                    << term.getType() << " is not";
  }
  return success();
}

FailureOr<SmallVector<Value>>
MaterializeOp::decomposeOperation(OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  TermBuilder terms(builder, getLoc(), getBody().front(), getLeaves(),
                    getElementTypeOrSelf(getResultTypes()[0]),
                    Association::Auto);
  SmallVector<Value> results;
  for (Value term : termsOf(getBody()))
    results.push_back(terms.materialize(term));
  return results;
}

LogicalResult MaterializeOp::interpret(ArrayRef<HostTensor> operands,
                                       SmallVectorImpl<HostTensor> &results) {
  HostTerms terms(getBody().front(), operands);
  for (Value term : termsOf(getBody()))
    results.push_back(terms.of(term));
  return terms.state;
}

} // namespace drawloom::slr
