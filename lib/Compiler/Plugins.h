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

namespace mlir {
class DialectRegistry;
class PassManager;
} // namespace mlir

namespace drawloom {

class CompileTarget;

/// Loads a plugin as MLIR defines them (mlirGetDialectPluginInfo,
/// mlirGetPassPluginInfo, or both): adds its dialects to the registry and
/// registers its passes. Fails, and loads nothing, where the file needs another
/// MLIR than this one, or a symbol that is not there.
llvm::Error loadPlugin(const std::string &path,
                       mlir::DialectRegistry &registry);

/// Passes of a user, as MLIR's text for pipelines over a module, that run in
/// front of those that lead into a phase.
struct InsertedPasses {
  Phase into;
  std::string phase, pipeline;

  /// "structured:my-pass,func.func(other)", a phase as the target calls it.
  static llvm::Expected<InsertedPasses> parse(llvm::StringRef text,
                                              const CompileTarget &target);
};

/// Runs those of a phase. Fails with a diagnostic that names the passes and the
/// phase where they cannot be understood, fail, or leave an invalid program.
llvm::LogicalResult
runInserted(llvm::ArrayRef<InsertedPasses> all, Phase into,
            mlir::ModuleOp module,
            const std::function<void(mlir::PassManager &)> &configure);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_PLUGINS_H
