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
  /// The state that the module is in, and the one to bring it to.
  Phase from = Phase::Input;
  Phase to = Phase::Llvm;
  const CompileTarget *target = &cpu::target();
  CodegenOptions codegen;
  /// Where the module is written after each phase, as
  /// <folder>/<n>-<phase>.mlir; empty: nowhere. With several instruction sets,
  /// each has a folder of its own in it for what follows `blocks`.
  std::string dumpPhasesTo;
  /// Try how large the tiles of blocks should be, where the target says that it
  /// is worth it.
  bool choosesTiles = true;
  /// Where compiled programs are looked for and kept; null: nowhere.
  const DiskCache *cache = nullptr;
  /// Called with what a user may want to know though nothing failed: an entry
  /// of the cache is damaged, the cache cannot be written.
  std::function<void(const llvm::Twine &)> note;
  /// Called before the passes that lead into each phase, with the module as the
  /// phase before has left it and the instruction sets that it will be for.
  std::function<void(Phase, mlir::ModuleOp, llvm::StringRef isa)> entering;
  /// Called where the module is compiled once more from the start, with smaller
  /// blocks, as those of the attempt before did not fit: what was said and
  /// measured of that does not count.
  std::function<void()> restarting;
  /// Called before choices are tried on copies of the module (true) and
  /// afterwards (false): remarks in between are not of what is compiled.
  std::function<void(bool)> trying;
  /// Asked before each pass and before machine code is made; true stops the
  /// compilation, which then fails without a diagnostic. Once true, it must
  /// stay so.
  std::function<bool()> cancelled;
  /// Called before machine code is made.
  std::function<void()> emitting;
  /// In their order.
  std::vector<InsertedPasses> inserted;
  /// Called with the pass manager of each phase, for instrumentation (timing,
  /// reproducers, printing).
  std::function<void(mlir::PassManager &)> configure;
};

/// A program's text or bytecode, and the name that diagnostics call it by.
struct Source {
  std::string name;
  std::string contents;
};

/// Parses sources and links them into one module: a private function that is
/// only declared is defined by any of the other sources. Diagnostics go to the
/// context's handlers; null on failure.
mlir::OwningOpRef<mlir::ModuleOp> parseSources(llvm::ArrayRef<Source> sources,
                                               mlir::MLIRContext &context);
/// The same for files.
mlir::OwningOpRef<mlir::ModuleOp>
parseSourceFiles(llvm::ArrayRef<std::string> files, mlir::MLIRContext &context);

/// Makes every other function private than `entry`, and drops what that does
/// not need.
llvm::LogicalResult keepOnly(mlir::ModuleOp module, llvm::StringRef entry);

/// Replaces every `?` in the signature of `entry` by the extents given (one
/// list for each argument; scalars have an empty one) and propagates them.
llvm::LogicalResult
specializeShapes(mlir::ModuleOp module, llvm::StringRef entry,
                 llvm::ArrayRef<std::vector<int64_t>> shapes);

/// Runs the phases (options.from, options.to] on `module` in place. Refuses
/// several instruction sets where a phase behind `blocks` is asked for.
llvm::LogicalResult compile(mlir::ModuleOp module,
                            const CompileOptions &options);

/// Compiles `module` (in any phase, see options.from) to code for each of the
/// options' instruction sets; the phases up to `blocks` run once.
llvm::Expected<Artifact> compileToArtifact(mlir::ModuleOp module,
                                           const CompileOptions &options);

/// Takes the program that `parts` determine (with the options' target and this
/// compiler) from the cache, or compiles it and keeps it there. Loads it into
/// this process, and gives the artifact where `kept` is not null.
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
/// Gives the artifact where `kept` is not null.
llvm::Expected<std::unique_ptr<Program>>
compileProgram(mlir::ModuleOp module, const CompileOptions &options,
               Artifact *kept = nullptr);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_COMPILER_H
