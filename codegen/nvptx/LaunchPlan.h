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
// The plan says so as data, so that a runtime without a compiler can follow it.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LAUNCHPLAN_H
#define DRAWLOOM_CODEGEN_NVPTX_LAUNCHPLAN_H

#include "codegen/Program.h"
#include "codegen/nvptx/ProductAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace drawloom::nvptx {

/// What a launch is given: the memory of an argument or a result, workspace
/// from an offset in bytes on, or a number that is an argument.
struct LaunchOperand {
  enum Kind { Argument, Result, Workspace, Scalar };
  Kind kind = Argument;
  /// Of the argument or result; bytes for workspace.
  int64_t value = 0;
};

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
  const LaunchKernel *find(llvm::StringRef name) const;
  /// Whether a library is needed to follow it.
  bool hasProducts() const;
};

/// The attribute of a module that holds the entries, in the form of JSON.
inline constexpr llvm::StringLiteral planAttr = "drawloom.plan";

llvm::json::Value toJson(const LaunchPlan &plan);
llvm::Expected<LaunchPlan> planFromJson(const llvm::json::Value &json);

/// The plan of a module of kernels in the phase `llvm`.
llvm::Expected<LaunchPlan> planOf(mlir::ModuleOp module);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LAUNCHPLAN_H
