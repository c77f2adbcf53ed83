//===- OpenExtents.h - extents that calls choose ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_GRAPH_OPENEXTENTS_H
#define DRAWLOOM_PASSES_GRAPH_OPENEXTENTS_H

#include "llvm/ADT/StringRef.h"

namespace drawloom {

/// On arguments and results of a function, of tensors with a `?`: for each
/// dimension its extent (OpenExtent::code), -1 where the type says it. Extents
/// of one number are one and the same: a call has to agree with that, and a
/// result has the extent that the arguments have. `bind-extents` makes it.
inline constexpr llvm::StringLiteral extentsAttr = "drawloom.extents";

/// On arguments: the dimensions that the program leaves open and that are known
/// here, because it is compiled for one call. What is cut along them is cut as
/// if they were open, so that both programs have the same bits.
inline constexpr llvm::StringLiteral givenDimsAttr = "drawloom.given_dims";

/// On arguments: the shape that a call gives, in a program that is compiled as
/// if it were open, and bound to this shape at the end. So both have the same
/// bits however their code is made.
inline constexpr llvm::StringLiteral boundShapeAttr = "drawloom.bound_shape";

/// On functions: ops over given dimensions were left out because these have the
/// extent 0. Were it open, nothing would be cut along other dimensions.
inline constexpr llvm::StringLiteral noGivenRowsAttr = "drawloom.no_given_rows";

/// On functions with given dimensions: these are cut as a program for any
/// extents cuts its own, of which there may be several. `join-rows` makes it:
/// on targets that have no such programs, each is cut as suits it.
inline constexpr llvm::StringLiteral cutAsOpenAttr = "drawloom.cut_as_open";

} // namespace drawloom

#endif // DRAWLOOM_PASSES_GRAPH_OPENEXTENTS_H
