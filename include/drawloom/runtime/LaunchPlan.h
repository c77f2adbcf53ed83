//===- LaunchPlan.h - what an entry launches, on which memory ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels alone are not a program: a function of the source launches several of
// them, one after another, on its arguments, its results and intermediate
// memory. The plan describes this as data, which can be followed without a
// compiler.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_LAUNCHPLAN_H
#define DRAWLOOM_RUNTIME_LAUNCHPLAN_H

#include "drawloom/runtime/Artifact.h"
#include "drawloom/runtime/CudaProducts.h"

namespace drawloom::runtime::cuda {

/// An integer computed from the open extents of a call: a constant, an extent
/// by number, or an operation on two subexpressions. In JSON: N, ["extent", K]
/// or ["add", X, Y].
struct ExtentExpression {
  enum Kind { Number, Extent, Add, Sub, Mul, Div, Rem, Min, Max };
  Kind kind = Number;
  /// The constant, or the extent's number.
  int64_t value = 0;
  /// The two operands of an operation.
  std::vector<ExtentExpression> operands = {};
};
/// JSON names, in the order of ExtentExpression::Kind starting at Add.
inline constexpr const char *extentOperations[] = {"add", "sub", "mul", "div",
                                                   "rem", "min", "max"};

/// Returns nothing if the value overflows 64 bits, or if a division has a
/// divisor that is not positive or a negative dividend.
std::optional<int64_t> evaluate(const ExtentExpression &expression,
                                const int64_t *extents);

/// An argument of a launch: the memory of a function's argument or result,
/// workspace starting at a byte offset, an argument that is a number, an open
/// extent as a 64-bit number, workspace that grows with extents, or the value
/// of an open extent that is the same in all calls.
struct LaunchOperand {
  enum Kind {
    Argument,
    Result,
    Workspace,
    Scalar,
    Extent,
    OpenWorkspace,
    Number
  };
  Kind kind = Argument;
  /// Index of the argument, result or extent; byte offset for workspace; or the
  /// number itself. Growing workspace starts this many bytes, times the product
  /// of its term's extents, behind the start of the term.
  int64_t value = 0;
  /// Index into Signature::workspaceTerms, for growing workspace.
  int64_t term = 0;
};
/// JSON names, in the order of LaunchOperand::Kind.
inline constexpr const char *launchOperandKinds[] = {
    "argument", "result",         "workspace", "scalar",
    "extent",   "open_workspace", "number"};

/// What a step does with a value that leaves device memory, identified by its
/// number within the entry. The first three kinds have the value's memory as
/// operand, and its bytes.
struct LaunchTransfer {
  enum Kind {
    /// The value is written to a store. Its memory stays the value's until
    /// `Release`.
    Store,
    /// The value is read back into this memory, which is not valid until
    /// `Await`.
    Fetch,
    /// Subsequent steps may use the value in this memory.
    Await,
    /// Subsequent steps may overwrite the memory that the value was stored
    /// from.
    Release,
    /// The value will be fetched soon.
    Load,
    /// The value is no longer needed.
    Drop,
  };
  Kind kind = Store;
  int64_t record = 0;

  bool hasMemory() const { return kind <= Await; }
};
/// JSON names, in the order of LaunchTransfer::Kind.
inline constexpr const char *launchTransferKinds[] = {
    "store", "fetch", "await", "release", "load", "drop"};

/// One step of a plan: a kernel launch; a library product, with the operands
/// left, right, addend and bias if present, result, and `bytes` bytes of
/// workspace; a transfer; or a copy of `bytes` bytes from operands[0] to
/// operands[1].
struct LaunchStep {
  std::string kernel;
  std::vector<LaunchOperand> operands;
  int64_t bytes = 0;
  std::optional<Product> product = {};
  std::optional<LaunchTransfer> transfer = {};
  /// Bytes of a copy, if they depend on open extents.
  std::optional<ExtentExpression> openBytes = {};
};

struct LaunchEntry {
  Signature signature;
  std::vector<LaunchStep> steps;
};

struct LaunchKernel {
  std::string name;
  int64_t grid = 1;
  int64_t threads = 32;
  int64_t sharedBytes = 0;
  /// Number of blocks, if it depends on open extents.
  std::optional<ExtentExpression> openGrid = {};
};

struct LaunchPlan {
  std::vector<LaunchEntry> entries;
  std::vector<LaunchKernel> kernels;
  const LaunchKernel *find(const std::string &name) const;
  /// Returns whether following the plan needs a product library.
  bool hasProducts() const;
};

/// Returns the bytes of a value for the given open extents.
int64_t bytesOf(const ValueType &type, const int64_t *extents);

/// Returns the bytes that an operand refers to: those of the whole value, or
/// the workspace from the offset on; -1 if they depend on extents and none are
/// given.
int64_t bytesBehind(const LaunchEntry &entry, const LaunchOperand &operand,
                    const int64_t *extents = nullptr);

/// Returns the byte offset, from the start of all workspace, of an operand in
/// growing workspace.
int64_t offsetOf(const LaunchEntry &entry, const LaunchOperand &operand,
                 const int64_t *extents);

/// Parses a plan from JSON, as written by codegen/nvptx/launch/LaunchPlan.h.
/// Refuses steps that cannot be run: unknown kernels or values, or accesses
/// beyond a value's end.
Result<LaunchPlan> parsePlan(const std::string &text);

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_LAUNCHPLAN_H
