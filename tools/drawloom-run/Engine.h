//===- Engine.h - what runs a function --------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TOOLS_DRAWLOOM_RUN_ENGINE_H
#define DRAWLOOM_TOOLS_DRAWLOOM_RUN_ENGINE_H

#include "lib/Report/Report.h"
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
  /// Adds to `profile` where there is one; the interpreter has no kernels.
  virtual llvm::Error run(llvm::ArrayRef<Value> arguments,
                          KernelProfile *profile = nullptr) = 0;
  virtual std::vector<Value> results() const = 0;
  /// For the next runs; the interpreter has one thread only.
  virtual void setThreads(unsigned threads) {}
  /// The instruction set of the code that runs.
  virtual llvm::StringRef isa() const { return "native"; }
};

llvm::Error alreadyReported();

/// Compiles for this CPU; the shapes are those of `arguments`.
llvm::Expected<std::unique_ptr<Engine>>
createCompiled(mlir::ModuleOp module, const EntryPoint &entry,
               llvm::ArrayRef<Value> arguments, const Options &options,
               report::Recorder *recorder = nullptr);
/// Compiles for any extents, and writes that to the file of --save.
llvm::Error saveOpen(mlir::ModuleOp module, const EntryPoint &entry,
                     const Options &options);
/// Reads the program that is the only file of the command line, if it was
/// compiled before; nothing where the files are sources.
llvm::Expected<std::optional<Artifact>> readSaved(const Options &options);
/// The functions of a compiled program.
std::vector<EntryPoint> entryPoints(const Artifact &artifact,
                                    mlir::MLIRContext &context);
/// Loads a compiled program for this machine, or for --isa.
llvm::Expected<std::unique_ptr<Engine>>
createSaved(const Artifact &artifact, const EntryPoint &entry,
            llvm::ArrayRef<Value> arguments, const Options &options);

/// The interpreter on the program as written, or, for --target=interpreter
/// with --compile-to, as it is after that phase.
llvm::Expected<std::unique_ptr<Engine>>
createInterpreter(mlir::ModuleOp module, const EntryPoint &entry,
                  const Options &options);

/// A copy of the module without what `entry` does not need, and with the
/// extents of `arguments` in place of unknown ones (null: leaves them).
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
isolate(mlir::ModuleOp module, const EntryPoint &entry,
        const std::vector<Value> *arguments, const Options &options);

} // namespace drawloom::run

#endif // DRAWLOOM_TOOLS_DRAWLOOM_RUN_ENGINE_H
