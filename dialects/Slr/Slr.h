//===- Slr.h - the slr dialect ----------------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_SLR_SLR_H
#define DRAWLOOM_DIALECTS_SLR_SLR_H

#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "dialects/Slr/SlrDialect.h.inc"
#include "dialects/Slr/SlrEnums.h.inc"

namespace drawloom::slr {
// The interfaces of linalg are written for namespaces inside mlir.
using ::mlir::FailureOr;
using ::mlir::OpBuilder;
using ::mlir::SmallVector;
using ::mlir::Value;

class HostTerms;
class TermBuilder;

namespace detail {
struct TermTypeStorage;
} // namespace detail

/// The type of terms, which are structured matrices. Rows of `inputs` elements
/// times a term are rows of `outputs` elements.
class TermType : public mlir::Type::TypeBase<TermType, mlir::Type,
                                             detail::TermTypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "slr.term";
  static TermType get(mlir::MLIRContext *context, int64_t inputs,
                      int64_t outputs);
  int64_t getInputs() const;
  int64_t getOutputs() const;
};

inline TermType termType(Value term) {
  return mlir::cast<TermType>(term.getType());
}

/// Applies a term to the rows of the identity, which gives the term's matrix.
Value rowsOfIdentity(mlir::Operation *term, TermBuilder &b);

/// Computes the terms of a region in double precision, for given leaves.
class HostTerms {
public:
  HostTerms(mlir::Block &region, llvm::ArrayRef<HostTensor> leaves);
  /// Returns a leaf, or the matrix of a term.
  HostTensor of(Value value);
  /// Whether the leaves satisfied the requirements of their terms.
  llvm::LogicalResult state = llvm::success();

private:
  llvm::DenseMap<Value, HostTensor> known;
};

} // namespace drawloom::slr

#include "dialects/Slr/SlrInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Slr/SlrOps.h.inc"

#endif // DRAWLOOM_DIALECTS_SLR_SLR_H
