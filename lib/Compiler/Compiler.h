//===- Compiler.h - from sources to compiled programs -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_COMPILER_H
#define DRAWLOOM_LIB_COMPILER_COMPILER_H

#include "codegen/CompileTarget.h"
#include "codegen/cpu/CpuTarget.h"
#include "lib/Compiler/Cache.h"
#include "lib/Compiler/Plugins.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>

namespace mlir {
class PassManager;
} // namespace mlir

namespace drawloom {

struct CompileOptions {
  /// The state that the module is in, and the state to bring it to.
  Phase from = Phase::Input;
  Phase to = Phase::Llvm;
  const CompileTarget *target = &cpu::target();
  CodegenOptions codegen;
  /// Folder to which the module is written after each phase, as
  /// <folder>/<n>-<phase>.mlir; empty for none. If there are several
  /// instruction sets, each has a subfolder for the phases after `blocks`.
  std::string dumpPhasesTo;
  /// Whether to choose tile sizes of blocks by trial, on targets for which that
  /// is worthwhile.
  bool choosesTiles = true;
  /// Cache of compiled programs; null for none.
  const DiskCache *cache = nullptr;
  /// Called with messages worth knowing although nothing failed: a cache entry
  /// is damaged, or the cache cannot be written.
  std::function<void(const llvm::Twine &)> note;
  /// Called before the passes that lead into each phase, with the module in the
  /// state of the previous phase and the instruction sets it is compiled for.
  std::function<void(Phase, mlir::ModuleOp, llvm::StringRef isa)> entering;
  /// Called when the module is recompiled from the start with smaller blocks
  /// because the blocks did not fit: messages and measurements of the previous
  /// attempt are void.
  std::function<void()> restarting;
  /// Called with true before choices are tried on copies of the module, and
  /// with false afterwards: remarks in between do not concern the module being
  /// compiled.
  std::function<void(bool)> trying;
  /// Polled before each pass and before code generation; true stops the
  /// compilation, which then fails without a diagnostic. Once true, it must
  /// stay true.
  std::function<bool()> cancelled;
  /// Called before code generation.
  std::function<void()> emitting;
  /// In the order in which they run.
  std::vector<InsertedPasses> inserted;
  /// Plugins that the module's context has (addPlugins).
  std::vector<Plugin> plugins;
  /// Called with the pass manager of each phase, for instrumentation (timing,
  /// reproducers, printing).
  std::function<void(mlir::PassManager &)> configure;
};

/// A program's text or bytecode, and its name in diagnostics.
struct Source {
  std::string name;
  std::string contents;
};

/// Parses sources and links them into one module: a private function that one
/// source only declares is defined by any other source. Diagnostics go to the
/// context's handlers; returns null on failure.
mlir::OwningOpRef<mlir::ModuleOp> parseSources(llvm::ArrayRef<Source> sources,
                                               mlir::MLIRContext &context);
/// Like parseSources, but reads the sources from files.
mlir::OwningOpRef<mlir::ModuleOp>
parseSourceFiles(llvm::ArrayRef<std::string> files, mlir::MLIRContext &context);

/// Makes every function except `entry` private, and removes those that `entry`
/// does not need.
llvm::LogicalResult keepOnly(mlir::ModuleOp module, llvm::StringRef entry);

/// Replaces every `?` in the signature of `entry` by the given extents (one
/// list per argument; empty for a scalar) and propagates them.
llvm::LogicalResult
specializeShapes(mlir::ModuleOp module, llvm::StringRef entry,
                 llvm::ArrayRef<std::vector<int64_t>> shapes);

/// Runs the phases (options.from, options.to] on `module` in place. Refuses
/// several instruction sets if options.to comes after `blocks`.
llvm::LogicalResult compile(mlir::ModuleOp module,
                            const CompileOptions &options);

/// Compiles `module` (in any phase, see options.from) for each of the options'
/// instruction sets; the phases up to `blocks` run once.
llvm::Expected<Artifact> compileToArtifact(mlir::ModuleOp module,
                                           const CompileOptions &options);

/// Loads the program identified by `parts` (together with this compiler and the
/// options' target, plugins and inserted passes) from the cache; if it is not
/// cached, compiles it and adds
/// it to the cache. Loads it into this process. Returns the artifact through
/// `kept` unless that is null.
llvm::Expected<std::unique_ptr<Program>>
loadOrCompile(llvm::ArrayRef<llvm::StringRef> parts,
              const CompileOptions &options,
              llvm::function_ref<llvm::Expected<Artifact>()> compile,
              Artifact *kept = nullptr);

/// Loads an artifact: the best variant for the target that this machine runs,
/// or the one for `isa`.
llvm::Expected<std::unique_ptr<Program>>
loadArtifact(const Artifact &artifact, const runtime::TargetDevice &target,
             llvm::StringRef isa = "");

/// Compiles `module`, or finds it in the cache, and loads it into this process.
/// Returns the artifact through `kept` unless that is null.
llvm::Expected<std::unique_ptr<Program>>
compileProgram(mlir::ModuleOp module, const CompileOptions &options,
               Artifact *kept = nullptr);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_COMPILER_H
