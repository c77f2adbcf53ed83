//===- Bases.h - the functions on edges of KAN layers -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A basis is a row of one table (Bases.cpp): its parameters, its formula and
// its source. Derivatives of any order follow from the formula.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_KAN_BASES_H
#define DRAWLOOM_DIALECTS_KAN_BASES_H

#include "dialects/Kan/Formula.h"
#include "dialects/Kan/Kan.h"
#include "llvm/ADT/SmallVector.h"

namespace drawloom::kan {

template <typename Number> using Numbers = llvm::SmallVector<Number>;
/// One list for each parameter of a basis.
template <typename Number> using Parameters = llvm::ArrayRef<Numbers<Number>>;

/// The number of functions of a basis, and its order, if it has one.
struct BasisSize {
  int64_t functions;
  int64_t order;
};

/// The consecutive functions that may be nonzero at one point; their number is
/// the order plus one.
template <typename Number> struct Window {
  /// Number of the first function, an integer such that the whole window is in
  /// range.
  Number start;
  Numbers<Number> values;
};

template <typename Number> struct BasisFormula {
  /// Computes the values that do not depend on x, once for all rows.
  Numbers<Number> (*prepare)(Parameters<Number> parameters, BasisSize size);
  /// Computes phi_0(x), phi_1(x), ...
  Numbers<Number> (*values)(Number x, llvm::ArrayRef<Number> prepared,
                            BasisSize size);
  /// For a basis whose functions are 0 outside some intervals; null for others.
  /// It has its own preparation.
  Numbers<Number> (*prepareWindow)(Parameters<Number> parameters,
                                   BasisSize size) = nullptr;
  Window<Number> (*window)(Number x, llvm::ArrayRef<Number> prepared,
                           BasisSize size) = nullptr;
};

struct BasisParameter {
  llvm::StringLiteral name;
  int64_t (*count)(BasisSize size);
};

struct BasisFamily {
  llvm::SmallVector<BasisParameter> parameters;
  BasisFormula<Written> written;
  BasisFormula<double> evaluated;
  /// Whether all functions are given by one formula, each with its own
  /// parameters: a parameter may then have one number for all functions, or
  /// differ between edges.
  bool isPointwise = false;
  /// The min order (0: the basis has no order).
  int64_t leastOrder = 0;
  /// The min number of functions, which must also be a multiple of `multiple`.
  int64_t (*leastFunctions)(int64_t order) = nullptr;
  int64_t multiple = 1;
};

const BasisFamily &basisFamily(Basis basis);

} // namespace drawloom::kan

#endif // DRAWLOOM_DIALECTS_KAN_BASES_H
