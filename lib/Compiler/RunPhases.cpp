//===- RunPhases.cpp - from one phase to another --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/RunPhases.h"
#include "dialects/Block/Block.h"
#include "lib/Compiler/Phases.h"
#include "lib/Compiler/WholeFile.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace drawloom {

static LogicalResult dump(ModuleOp module, Phase phase, StringRef name,
                          StringRef folder) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return module.emitError("cannot create the folder '")
           << folder << "' for the phases: " << error.message();
  SmallString<128> path(folder);
  llvm::sys::path::append(path, Twine(static_cast<int>(phase)) + "-" + name +
                                    ".mlir");
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  if (std::error_code error = writeWholeFile(path, text))
    return module.emitError("cannot write '")
           << path << "': " << error.message();
  return success();
}

/// Whether the module is verified after each pass and not only after each
/// phase: who works on the compiler learns which pass was wrong, who uses it
/// does not pay a seventh of its time for that.
#ifdef NDEBUG
static constexpr bool verifiesEachPass = false;
#else
static constexpr bool verifiesEachPass = true;
#endif

LogicalResult runPhases(ModuleOp module, const CompileOptions &options,
                        const MachineFacts &machine) {
  if (!options.dumpPhasesTo.empty() &&
      failed(dump(module, options.from, options.target->phaseName(options.from),
                  options.dumpPhasesTo)))
    return failure();
  // It canonicalizes ops of other dialects, too, of which upstream does not
  // take all.
  module.getContext()->loadDialect<block::BlockDialect>();
  for (Phase phase : allPhases()) {
    if (phase <= options.from || phase > options.to)
      continue;
    if (options.entering)
      options.entering(phase, module, options.codegen.isa);
    if (failed(runInserted(options.inserted, phase, module, options.configure)))
      return failure();
    PassManager pm(module.getContext());
    pm.enableVerifier(verifiesEachPass);
    if (options.configure)
      options.configure(pm);
    buildPhase(pm, phase, *options.target, options.codegen, machine);
    if (failed(pm.run(module)) || (options.cancelled && options.cancelled()) ||
        (!verifiesEachPass && failed(verify(module))))
      return failure();
    if (!options.dumpPhasesTo.empty() &&
        failed(dump(module, phase, options.target->phaseName(phase),
                    options.dumpPhasesTo)))
      return failure();
  }
  return success();
}

} // namespace drawloom
