//===- TtirTranslation.cpp - programs as Triton kernels -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TtirTranslation.h"
#include "codegen/triton/ExportTtir.h"
#include "lib/Compiler/Compiler.h"
#include "lib/Compiler/Targets.h"
#include "lib/RegisterAll.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace drawloom;

/// Brings a copy of a program to the phase `blocks`, in blocks of the size that
/// a target takes, and exports it.
static mlir::FailureOr<std::vector<triton::TtirFunction>>
exportProgram(mlir::ModuleOp module, const std::string &from,
              const std::string &blocks, const std::string &precision) {
  std::optional<Phase> phase = cpu::target().parsePhase(from);
  if (!phase || *phase > Phase::Blocks)
    return module.emitError("no way leads from the phase '")
           << from << "' to blocks, from which TTIR is made";
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  if (*phase != Phase::Blocks) {
    llvm::Expected<const CompileTarget *> target = findTarget(blocks);
    if (!target)
      return module.emitError("--ttir-blocks: ")
             << llvm::toString(target.takeError());
    CompileOptions options;
    options.target = *target;
    options.from = *phase;
    options.to = Phase::Blocks;
    if (failed(compile(*copy, options)))
      return mlir::failure();
  }
  triton::TtirOptions options;
  options.dotPrecision = precision;
  return triton::exportTtir(*copy, options);
}

void drawloom::registerTtirTranslation(const std::string &from) {
  auto registerDialects = [](mlir::DialectRegistry &registry) {
    registerAllDialects(registry);
  };
  static llvm::cl::OptionCategory category("Translations to Triton");
  static llvm::cl::opt<std::string> precision(
      "ttir-dot-precision",
      llvm::cl::desc("Precision of f32 operands of products: ieee, tf32, "
                     "tf32x3 (default: ieee)"),
      llvm::cl::init("ieee"), llvm::cl::cat(category));
  static llvm::cl::opt<std::string> blocks(
      "ttir-blocks",
      llvm::cl::desc("Target whose size of blocks programs are cut into: cuda, "
                     "cpu (default: cuda)"),
      llvm::cl::init("cuda"), llvm::cl::cat(category));
  static mlir::TranslateFromMLIRRegistration toText(
      "mlir-to-ttir", "export a program as Triton kernels",
      [&from](mlir::ModuleOp module, llvm::raw_ostream &stream) {
        auto functions = exportProgram(module, from, blocks, precision);
        if (failed(functions))
          return mlir::failure();
        bool first = true;
        for (const triton::TtirFunction &function : *functions)
          for (const triton::TtirKernel &kernel : function.kernels) {
            stream << (first ? "" : "\n// -----\n\n") << "// " << kernel.name
                   << ": " << kernel.grid << " programs, " << kernel.warps
                   << " warps\n"
                   << kernel.text;
            first = false;
          }
        return mlir::success();
      },
      registerDialects);
  static mlir::TranslateFromMLIRRegistration toJson(
      "mlir-to-ttir-json",
      "export a program as Triton kernels and what to launch them with",
      [&from](mlir::ModuleOp module, llvm::raw_ostream &stream) {
        auto functions = exportProgram(module, from, blocks, precision);
        if (failed(functions))
          return mlir::failure();
        stream << llvm::formatv("{0:2}", triton::toJson(*functions)) << "\n";
        return mlir::success();
      },
      registerDialects);
}
