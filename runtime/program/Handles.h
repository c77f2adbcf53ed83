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
  const drawloom::runtime::Executable *program; ///< Null of one that is parsed.
  const drawloom::Signature *signature;
  size_t index;
  /// Of one that drawloomFunctionBind has made.
  const int64_t *extents = nullptr;
};

/// With what it points to.
struct DrawloomBoundFunction {
  drawloom::BoundSignature bound;
  DrawloomFunction function;
};

namespace drawloom::runtime {

/// A program that was loaded or compiled; shared by all who asked for the same.
struct Loaded {
  /// Keeps the artifact, without which the program could not be saved.
  Loaded(std::unique_ptr<Executable> program, std::string target,
         Artifact artifact);
  /// Of a program that is only parsed: it has signatures, and extents of -1 in
  /// them, and nothing to run or save.
  explicit Loaded(std::vector<Signature> parsed);
  std::unique_ptr<Executable> program; ///< Null of one that is parsed.
  std::string target;                  ///< That is loaded.
  std::vector<Signature> parsed;
  Artifact artifact;
  std::vector<DrawloomFunction> functions;

  int64_t artifactBytes() const;
  /// The variants for the target that is loaded.
  std::vector<const Artifact::Variant *> variants() const;
};

/// Loads an artifact for one of its targets, the variant for `isa` where that
/// is given. Each library has its own: the one with the compiler knows more
/// targets.
Result<std::unique_ptr<Executable>> loadExecutable(const Artifact &artifact,
                                                   const TargetDevice &target,
                                                   const std::string &isa);

DrawloomError *makeError(DrawloomErrorCode code, std::string message);

} // namespace drawloom::runtime

struct DrawloomProgram {
  std::shared_ptr<const drawloom::runtime::Loaded> loaded;
};

#endif // DRAWLOOM_RUNTIME_PROGRAM_HANDLES_H
