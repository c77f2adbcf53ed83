//===- Engine.h - what runs a function --------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TOOLS_DRAWLOOM_RUN_ENGINE_H
#define DRAWLOOM_TOOLS_DRAWLOOM_RUN_ENGINE_H

#include "tools/drawloom-run/Options.h"
#include "tools/drawloom-run/Values.h"

namespace drawloom::run {

/// Runs one function on arguments of fixed shapes. Failures that the compiler
/// or the interpreter has already reported with a location come as
/// `alreadyReported()`.
class Engine {
public:
  virtual ~Engine() = default;
  /// May be called again; a run overwrites the results of the one before.
  virtual llvm::Error run(llvm::ArrayRef<Value> arguments) = 0;
  virtual std::vector<Value> results() const = 0;
};

llvm::Error alreadyReported();

/// The interpreter on the program as written, or, where `options` name a phase
/// with --compile-to, as it is after that phase.
llvm::Expected<std::unique_ptr<Engine>>
createInterpreter(mlir::ModuleOp module, llvm::StringRef entry,
                  const Options &options);

} // namespace drawloom::run

#endif // DRAWLOOM_TOOLS_DRAWLOOM_RUN_ENGINE_H
