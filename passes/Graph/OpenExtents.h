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

/// Attribute of arguments and results of a function that are tensors with a
/// `?`: for each dimension its extent (OpenExtent::code), or -1 if the type
/// states it. Equal numbers stand for equal extents: calls must satisfy that,
/// and a result has the extent that the arguments have. Set by `bind-extents`.
inline constexpr llvm::StringLiteral extentsAttr = "drawloom.extents";

/// Attribute of arguments: the dimensions that the program leaves open, but
/// that are known because it is compiled for one call. Work is split along them
/// as if they were open, so that both programs give the same bits.
inline constexpr llvm::StringLiteral givenDimsAttr = "drawloom.given_dims";

/// Attribute of arguments: the shape given by a call, in a program that is
/// compiled as if it were open and bound to this shape at the end. Both
/// programs then give the same bits, however their code is made.
inline constexpr llvm::StringLiteral boundShapeAttr = "drawloom.bound_shape";

/// Attribute of functions: ops over given dimensions were left out because the
/// dimensions have the extent 0. If the extents were open, nothing would be
/// split along other dimensions.
inline constexpr llvm::StringLiteral noGivenRowsAttr = "drawloom.no_given_rows";

/// Attribute of functions with given dimensions: these are split as a program
/// for any extents splits its open dimensions, of which there may be several.
/// Set by `join-rows`; targets without such programs split each dimension as
/// suits it.
inline constexpr llvm::StringLiteral cutAsOpenAttr = "drawloom.cut_as_open";

} // namespace drawloom

#endif // DRAWLOOM_PASSES_GRAPH_OPENEXTENTS_H
