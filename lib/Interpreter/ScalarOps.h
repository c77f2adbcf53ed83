//===- ScalarOps.h - arithmetic on registers --------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_SCALAROPS_H
#define DRAWLOOM_LIB_INTERPRETER_SCALAROPS_H

#include "dialects/Interfaces/HostTensor.h"
#include "mlir/IR/Operation.h"
#include <array>
#include <optional>

namespace drawloom::interpreter {

/// A register of scalar code.
union Scalar {
  double f;
  int64_t i;
};

/// One arith, math or index op on scalars, ready to run on registers. The same
/// functions also compute whole tensors and the bodies of linalg ops.
struct ScalarOp {
  /// Returns null on success; otherwise an error message for the user.
  using Function = const char *(*)(const ScalarOp &op, Scalar *registers);

  const char *run(Scalar *registers) const {
    return function(*this, registers);
  }

  Function function = nullptr;
  std::array<unsigned, 3> in = {};
  std::array<unsigned, 2> out = {};
  /// Bits of the element types of the first operand and the first result.
  unsigned bitsIn = 64, bitsOut = 64;
  /// The predicate of a comparison.
  int64_t predicate = 0;
  /// The math function, for ops that only wrap one.
  union {
    double (*unary)(double);
    double (*binary)(double, double);
    const char *(*integer)(int64_t a, int64_t b, unsigned bits,
                           int64_t &result);
  };
  /// For tensor.extract in a linalg body: the tensor, and the registers of the
  /// index.
  const HostTensor *tensor = nullptr;
  llvm::SmallVector<unsigned, 4> index;
  mlir::Operation *op = nullptr;
};

/// Returns whether `makeScalarOp` supports the op.
bool isScalarOp(mlir::Operation *op);

/// Returns the op on scalars of its element types; the caller sets the
/// registers.
std::optional<ScalarOp> makeScalarOp(mlir::Operation *op);

/// Returns the op of this name with operands and results of one type. It must
/// be in the tables.
ScalarOp scalarOpNamed(llvm::StringRef name, mlir::Type type);

/// Tables by op name, one per file.
using ScalarTable = llvm::StringMap<ScalarOp>;
void addFloatScalarOps(ScalarTable &table);
void addIntegerScalarOps(ScalarTable &table);
void addConversionScalarOps(ScalarTable &table);

} // namespace drawloom::interpreter

#endif // DRAWLOOM_LIB_INTERPRETER_SCALAROPS_H
