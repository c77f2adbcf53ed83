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

/// Returns whether a tensor has just been filled with zeros.
bool isZeros(mlir::Value tensor);

/// Returns the type of the running value of a scan whose result has elements of
/// type `element`.
mlir::Type runningType(mlir::Type element);

/// Attribute of an op with a square result: the result is 0 above the diagonal,
/// whatever its operands hold there. Products of the result, and products that
/// only such ops read, can skip that part.
inline constexpr llvm::StringLiteral lowerTriangularAttr =
    "block.lower_triangular";

/// Attribute of a loop over blocks: each of its sums, except those of tile
/// products, is within one row, so that the number of its terms is the same in
/// programs for all extents, and a target may combine them in any fixed order.
/// On a reduction of tiles or vectors, it states the same of that reduction.
/// (Sums over rows have the same order in programs for all extents.)
inline constexpr llvm::StringLiteral withinRowsAttr = "block.within_rows";
} // namespace drawloom::block

#define GET_OP_CLASSES
#include "dialects/Block/BlockOps.h.inc"

#endif // DRAWLOOM_DIALECTS_BLOCK_BLOCK_H
