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

/// What a launch is given: the memory of an argument or a result, workspace
/// from an offset in bytes on, or a number that is an argument.
struct LaunchOperand {
  enum Kind { Argument, Result, Workspace, Scalar };
  Kind kind = Argument;
  /// Of the argument or result; bytes for workspace.
  int64_t value = 0;
};
/// In the order of LaunchOperand::Kind, as JSON has them.
inline constexpr const char *launchOperandKinds[] = {"argument", "result",
                                                     "workspace", "scalar"};

/// A launch of a kernel; a product by a library, of the operands left, right,
/// addend and bias where it has them, result, and `bytes` bytes of workspace;
/// or else a copy of `bytes` bytes from operands[0] to operands[1].
struct LaunchStep {
  std::string kernel;
  std::vector<LaunchOperand> operands;
  int64_t bytes = 0;
  std::optional<Product> product;
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
};

struct LaunchPlan {
  std::vector<LaunchEntry> entries;
  std::vector<LaunchKernel> kernels;
  const LaunchKernel *find(const std::string &name) const;
  /// Whether a library is needed to follow it.
  bool hasProducts() const;
};

/// Bytes behind an operand: of the whole value, or of the workspace from the
/// offset on.
int64_t bytesBehind(const LaunchEntry &entry, const LaunchOperand &operand);

/// A plan in the form of JSON, as codegen/nvptx/LaunchPlan.h writes it. Refuses
/// steps that cannot be run: of kernels or values that there are not, or beyond
/// a value's end.
Result<LaunchPlan> parsePlan(const std::string &text);

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_LAUNCHPLAN_H
