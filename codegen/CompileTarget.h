//===- CompileTarget.h - what the compiler asks of a target --- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_COMPILETARGET_H
#define DRAWLOOM_CODEGEN_COMPILETARGET_H

#include "codegen/Phase.h"
#include "codegen/Program.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace drawloom {

struct CodegenOptions {
  /// Which of the target's instruction sets; "native" is this machine's.
  std::string isa = "native";
};

/// A machine that programs are compiled for. It owns everything below the phase
/// `blocks`; block programs themselves know of none.
class CompileTarget {
public:
  virtual ~CompileTarget();

  /// As --target spells it.
  virtual llvm::StringRef name() const = 0;
  /// The instruction sets that CodegenOptions may name, "native" among them.
  virtual std::vector<std::string> instructionSets() const = 0;
  /// What code is made for, in full: two machines or option sets that must not
  /// share compiled code differ in it.
  virtual llvm::Expected<std::string>
  fingerprint(const CodegenOptions &options) const = 0;

  /// The dialects that its passes make, with the models that these call.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  virtual void registerPasses() const = 0;

  /// Fails where code for these options could not run here, and says why. Asked
  /// before the work of compiling.
  virtual llvm::Error checkRunsHere(const CodegenOptions &options) const = 0;
  /// Adds the passes that lead from the phase before `phase` into it; `phase`
  /// is behind `blocks`.
  virtual void buildPhase(mlir::OpPassManager &pm, Phase phase,
                          const CodegenOptions &options) const = 0;
  /// Emits code from a module in the phase `llvm`.
  virtual llvm::Expected<Artifact>
  emit(mlir::ModuleOp module, const CodegenOptions &options) const = 0;
  virtual llvm::Expected<std::unique_ptr<Program>>
  load(const Artifact &artifact) const = 0;
};

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_COMPILETARGET_H
