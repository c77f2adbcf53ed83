//===- LaunchPlan.h - what an entry launches, on which memory ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels alone are not a program: a function of the source launches several of
// them, one after another, on its arguments, its results and memory in between.
// The plan says so as data, which needs no compiler to be followed.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_LAUNCHPLAN_H
#define DRAWLOOM_RUNTIME_LAUNCHPLAN_H

#include "drawloom/runtime/Artifact.h"
#include "drawloom/runtime/CudaProducts.h"

namespace drawloom::runtime::cuda {

/// A number that the open extents of a call say: a constant, an extent by its
/// number, or an operation on two others. JSON has it as N, ["extent", K] or
/// ["add", X, Y].
struct ExtentExpression {
  enum Kind { Number, Extent, Add, Sub, Mul, Div, Rem, Min, Max };
  Kind kind = Number;
  /// Of a constant or an extent.
  int64_t value = 0;
  /// Two of an operation.
  std::vector<ExtentExpression> operands = {};
};
/// In the order of ExtentExpression::Kind from Add on.
inline constexpr const char *extentOperations[] = {"add", "sub", "mul", "div",
                                                   "rem", "min", "max"};

/// Nothing where 64 bits do not count it, or where a division is by no more
/// than 0 or of what is less.
std::optional<int64_t> evaluate(const ExtentExpression &expression,
                                const int64_t *extents);

/// What a launch is given: the memory of an argument or a result, workspace
/// from an offset in bytes on, a number that is an argument, an open extent as
/// a number of 64 bits, workspace that grows with extents, or the number that
/// an open extent is in all calls.
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
  /// Of the argument, result or extent; bytes for workspace; the number. Of
  /// workspace that grows, as many bytes times what its term multiplies, from
  /// where the term begins on.
  int64_t value = 0;
  /// Which of Signature::workspaceTerms, of workspace that grows.
  int64_t term = 0;
};
/// In the order of LaunchOperand::Kind, as JSON has them.
inline constexpr const char *launchOperandKinds[] = {
    "argument", "result",         "workspace", "scalar",
    "extent",   "open_workspace", "number"};

/// What a step does with a value that leaves the device's memory, by its number
/// in the entry. Of these, the first three have the value's memory as their
/// operand, and its bytes.
struct LaunchTransfer {
  enum Kind {
    /// The value goes to a store. Its memory is the value's until `Release`.
    Store,
    /// It comes back into this memory, which is not the value's until `Await`.
    Fetch,
    /// What follows may use the value in this memory.
    Await,
    /// What follows may change the memory that the value was stored from.
    Release,
    /// The value will be fetched soon.
    Load,
    /// The value is not needed any more.
    Drop,
  };
  Kind kind = Store;
  int64_t record = 0;

  bool hasMemory() const { return kind <= Await; }
};
/// In the order of LaunchTransfer::Kind, as JSON has them.
inline constexpr const char *launchTransferKinds[] = {
    "store", "fetch", "await", "release", "load", "drop"};

/// A launch of a kernel; a product by a library, of the operands left, right,
/// addend and bias where it has them, result, and `bytes` bytes of workspace; a
/// transfer; or else a copy of `bytes` bytes from operands[0] to operands[1].
struct LaunchStep {
  std::string kernel;
  std::vector<LaunchOperand> operands;
  int64_t bytes = 0;
  std::optional<Product> product = {};
  std::optional<LaunchTransfer> transfer = {};
  /// Bytes of a copy, where extents say how many.
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
  /// Where extents say how many blocks there are.
  std::optional<ExtentExpression> openGrid = {};
};

struct LaunchPlan {
  std::vector<LaunchEntry> entries;
  std::vector<LaunchKernel> kernels;
  const LaunchKernel *find(const std::string &name) const;
  /// Whether a library is needed to follow it.
  bool hasProducts() const;
};

/// Bytes of a value where the open extents are these.
int64_t bytesOf(const ValueType &type, const int64_t *extents);

/// Bytes behind an operand: of the whole value, or of the workspace from the
/// offset on. -1 where they grow with extents, and none are given.
int64_t bytesBehind(const LaunchEntry &entry, const LaunchOperand &operand,
                    const int64_t *extents = nullptr);

/// Where workspace begins that grows with extents, in bytes behind the start of
/// all workspace.
int64_t offsetOf(const LaunchEntry &entry, const LaunchOperand &operand,
                 const int64_t *extents);

/// A plan in the form of JSON, as codegen/nvptx/launch/LaunchPlan.h writes it.
/// Refuses steps that cannot be run: of kernels or values that there are not,
/// or beyond a value's end.
Result<LaunchPlan> parsePlan(const std::string &text);

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_LAUNCHPLAN_H
