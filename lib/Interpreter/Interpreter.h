//===- Interpreter.h - the float64 reference -------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_INTERPRETER_H
#define DRAWLOOM_LIB_INTERPRETER_INTERPRETER_H

#include "dialects/Interfaces/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace drawloom {

/// The float64 reference: executes programs of the graph and block levels
/// directly, op by op, as the ops are defined. It is the oracle for passes and
/// back ends, so it prefers being obviously right to being fast, and detects
/// what a compiler may assume never happens: uninitialized tensors are filled
/// with NaN; accesses outside a buffer, and two iterations of an `scf.forall`
/// that write the same element, are errors at the op's location.
class Interpreter {
public:
  struct Limits {
    /// Max depth of active calls.
    int64_t callDepth = 200;
    /// Max elements of one value: 2^28 doubles are 2 GiB.
    int64_t elements = int64_t(1) << 28;
    /// Max iterations of scf loops in one call of the interpreter.
    int64_t iterations = int64_t(1) << 30;
    /// Whether requests for derivatives are executed, by central differences,
    /// which take a few calls of the function for each element of a gradient.
    /// Otherwise such requests are errors.
    bool differences = false;
  };

  /// Calls `function` and returns its results. Emits an error and fails if the
  /// arguments do not match the signature, an op is not supported, or the
  /// program does something undefined.
  static mlir::FailureOr<llvm::SmallVector<HostTensor>>
  call(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> arguments) {
    return call(function, arguments, Limits());
  }
  static mlir::FailureOr<llvm::SmallVector<HostTensor>>
  call(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> arguments,
       const Limits &limits);

  /// Like the function above, for functions that write to memref arguments: on
  /// success, those entries of `arguments` hold the memory's contents after the
  /// call.
  static mlir::FailureOr<llvm::SmallVector<HostTensor>>
  callInPlace(mlir::func::FuncOp function,
              llvm::MutableArrayRef<HostTensor> arguments,
              const Limits &limits);

  /// Calls every function of the module that has a body and no arguments: tests
  /// whose oracle is a `check` op. Emits an error if there is none.
  static llvm::LogicalResult runChecks(mlir::Operation *module);
};

} // namespace drawloom

#endif // DRAWLOOM_LIB_INTERPRETER_INTERPRETER_H
