//===- Bases.h - the functions on edges of KAN layers -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A basis is a row of one table (Bases.cpp): its parameters, its formula, where
// it comes from. Derivatives of any order follow from the formula.
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

/// How many functions a basis has, and its order, where it has one.
struct BasisSize {
  int64_t functions;
  int64_t order;
};

/// The functions that may differ from 0 at one point, which follow each other:
/// as many as the order and one more.
template <typename Number> struct Window {
  /// The number of the first, an integer that all of them fit behind.
  Number start;
  Numbers<Number> values;
};

template <typename Number> struct BasisFormula {
  /// What does not depend on x: computed once for all rows.
  Numbers<Number> (*prepare)(Parameters<Number> parameters, BasisSize size);
  /// phi_0(x), phi_1(x), ...
  Numbers<Number> (*values)(Number x, llvm::ArrayRef<Number> prepared,
                            BasisSize size);
  /// Of a basis whose functions are 0 but in some intervals; null of others. It
  /// has its own preparation.
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
  /// Each function has numbers of its own, and is the same formula of these: a
  /// parameter may have one number for all functions, or differ from edge to
  /// edge.
  bool isPointwise = false;
  /// There is an order, which is at least this (0: there is none).
  int64_t leastOrder = 0;
  /// The least number of functions, and what it is a multiple of.
  int64_t (*leastFunctions)(int64_t order) = nullptr;
  int64_t multiple = 1;
};

const BasisFamily &basisFamily(Basis basis);

} // namespace drawloom::kan

#endif // DRAWLOOM_DIALECTS_KAN_BASES_H
