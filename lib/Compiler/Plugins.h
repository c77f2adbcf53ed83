//===- Plugins.h - dialects and passes of others ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_PLUGINS_H
#define DRAWLOOM_LIB_COMPILER_PLUGINS_H

#include "codegen/Phase.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class OpPassManager;
class PassManager;
} // namespace mlir

namespace drawloom {

class CompileTarget;

/// Loads a plugin in MLIR's format (mlirGetDialectPluginInfo,
/// mlirGetPassPluginInfo, or both) into this process, where it stays, and
/// registers its passes. Does nothing if the process has the same file. Fails
/// without registering anything if the file needs another version of MLIR, or a
/// missing symbol, or if the process has another build of the plugin.
llvm::Error loadPlugin(const std::string &path);

/// Calls a function that registers passes. MLIR keeps them for a whole process;
/// no other thread registers passes or looks for them meanwhile.
void registerPasses(llvm::function_ref<void()> callback);

/// A plugin of this process.
struct Plugin {
  std::string path;
  /// Identifies the contents of its file.
  std::string digest;
};

/// Adds the dialects of all plugins of this process to the registry, and
/// returns the plugins in the order in which they were loaded.
std::vector<Plugin> addPlugins(mlir::DialectRegistry &registry);

/// A user's passes, as MLIR pipeline text for modules, that run before the
/// passes that lead into a phase.
struct InsertedPasses {
  Phase into;
  std::string phase, pipeline;

  /// Adds the passes to `passes`. The error says which one is unknown.
  llvm::Error addTo(mlir::OpPassManager &passes) const;

  /// Parses "structured:my-pass,func.func(other)", where the phase is named as
  /// the target names it.
  static llvm::Expected<InsertedPasses> parse(llvm::StringRef text,
                                              const CompileTarget &target);
};

/// Runs the passes inserted for a phase. If the passes cannot be parsed, fail,
/// or leave an invalid program, fails with a diagnostic that names the passes
/// and the phase.
llvm::LogicalResult
runInserted(llvm::ArrayRef<InsertedPasses> all, Phase into,
            mlir::ModuleOp module,
            const std::function<void(mlir::PassManager &)> &configure);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_PLUGINS_H
