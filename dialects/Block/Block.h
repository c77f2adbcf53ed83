//===- Block.h - the block dialect ------------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_BLOCK_BLOCK_H
#define DRAWLOOM_DIALECTS_BLOCK_BLOCK_H

#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Block/BlockEnums.h.inc"

#include "dialects/Block/BlockDialect.h.inc"

namespace drawloom::block {
// The interfaces of linalg are written for namespaces inside mlir.
using ::mlir::FailureOr;
using ::mlir::OpBuilder;
using ::mlir::SmallVector;
using ::mlir::Value;

/// Whether a tensor has just been filled with zeros.
bool isZeros(mlir::Value tensor);

/// The type of what runs along in a scan whose result has elements of
/// `element`.
mlir::Type runningType(mlir::Type element);

/// Of an op whose result is a square: what it computes above the diagonal is 0,
/// whatever its operands hold there. Products of the result, and those that
/// only such ops read, need not compute with that part.
inline constexpr llvm::StringLiteral lowerTriangularAttr =
    "block.lower_triangular";

/// Of a loop over blocks whose sums, those of products of tiles aside, are each
/// within one row: how many elements these have is the same in programs for all
/// extents, so that a target may combine them in any fixed order. On a
/// reduction of tiles or vectors it says the same of one. (Sums over rows have
/// the same order in programs for all extents.)
inline constexpr llvm::StringLiteral withinRowsAttr = "block.within_rows";
} // namespace drawloom::block

#define GET_OP_CLASSES
#include "dialects/Block/BlockOps.h.inc"

#endif // DRAWLOOM_DIALECTS_BLOCK_BLOCK_H
