//===- Handles.h - what the C interface's pointers point to ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_PROGRAM_HANDLES_H
#define DRAWLOOM_RUNTIME_PROGRAM_HANDLES_H

#include "drawloom-c/runtime.h"
#include "drawloom/runtime/Executable.h"
#include <memory>

struct DrawloomError {
  DrawloomErrorCode code;
  std::string message, location, phase, reproducer;
};

struct DrawloomFunction {
  /// Null for a program that is only parsed.
  const drawloom::runtime::Executable *program;
  const drawloom::Signature *signature;
  size_t index;
  /// Extents of a function bound by drawloomFunctionBind.
  const int64_t *extents = nullptr;
};

/// A bound function, including the data that it points to.
struct DrawloomBoundFunction {
  drawloom::BoundSignature bound;
  DrawloomFunction function;
};

namespace drawloom::runtime {

/// A program that was loaded or compiled; shared by all callers that requested
/// the same program.
struct Loaded {
  /// Keeps the artifact, without which the program could not be saved.
  Loaded(std::unique_ptr<Executable> program, std::string target,
         Artifact artifact);
  /// Makes a program that is only parsed: it has signatures, with open extents
  /// of -1, but nothing to run or save.
  explicit Loaded(std::vector<Signature> parsed);
  /// Null for a program that is only parsed.
  std::unique_ptr<Executable> program;
  std::string target; ///< The target that is loaded.
  std::vector<Signature> parsed;
  Artifact artifact;
  std::vector<DrawloomFunction> functions;

  int64_t artifactBytes() const;
  /// Returns the variants for the loaded target.
  std::vector<const Artifact::Variant *> variants() const;
};

/// Loads an artifact for one of its targets: the variant for `isa` if it is
/// given. Each library defines its own version: the one with the compiler
/// supports more targets.
Result<std::unique_ptr<Executable>> loadExecutable(const Artifact &artifact,
                                                   const TargetDevice &target,
                                                   const std::string &isa);

DrawloomError *makeError(DrawloomErrorCode code, std::string message);

} // namespace drawloom::runtime

struct DrawloomProgram {
  std::shared_ptr<const drawloom::runtime::Loaded> loaded;
};

#endif // DRAWLOOM_RUNTIME_PROGRAM_HANDLES_H
