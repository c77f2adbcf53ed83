//===- drawloom-opt.cpp - run passes on .mlir files -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Inputs.h"
#include "lib/Interpreter/VerifySemantics.h"
#include "lib/RegisterAll.h"
#include "lib/Version.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/drawloom-opt/EmulateKernels.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

namespace cl = llvm::cl;

static cl::OptionCategory semanticsCategory(
    "Same meaning before and after",
    "Interpret the module in float64 before and after the passes, on random "
    "arguments, and compare");
static cl::opt<std::string> verifySemantics(
    "verify-semantics", cl::ValueOptional, cl::value_desc("seed"),
    cl::desc("Fail if a public function computes something else after the "
             "passes than before"),
    cl::cat(semanticsCategory));
static cl::opt<std::string>
    semanticsEntry("verify-semantics-entry", cl::value_desc("function"),
                   cl::desc("Compare this function only"),
                   cl::cat(semanticsCategory));
static cl::opt<double>
    semanticsRtol("verify-semantics-rtol", cl::init(1e-6),
                  cl::desc("Relative tolerance (default 1e-6)"),
                  cl::cat(semanticsCategory));
static cl::opt<double>
    semanticsAtol("verify-semantics-atol", cl::init(1e-9),
                  cl::desc("Absolute tolerance (default 1e-9)"),
                  cl::cat(semanticsCategory));

/// MlirOptMain with the passes between a snapshot and a comparison; upstream's
/// offers no hook after the pipeline.
static mlir::LogicalResult
runWithSemanticsVerified(llvm::StringRef input, llvm::StringRef output,
                         mlir::DialectRegistry &registry) {
  drawloom::SemanticsOptions options;
  options.entry = semanticsEntry;
  options.tolerance = {semanticsRtol, semanticsAtol};
  options.runLowered = drawloom::emulateKernel;
  if (!verifySemantics.empty() &&
      llvm::StringRef(verifySemantics).getAsInteger(10, options.seed)) {
    llvm::errs() << "--verify-semantics takes a seed, a number; not '"
                 << verifySemantics << "'\n";
    return mlir::failure();
  }
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  mlir::MlirOptMainConfig passes = config;
  config.setPassPipelineSetupFn([&](mlir::PassManager &manager) {
    return drawloom::addWithSemanticsVerified(
        manager, options, [&](mlir::PassManager &inner) {
          return passes.setupPassPipeline(inner);
        });
  });
  std::string message;
  auto file = mlir::openInputFile(input, &message);
  auto result = file ? mlir::openOutputFile(output, &message) : nullptr;
  if (!result) {
    llvm::errs() << message << "\n";
    return mlir::failure();
  }
  if (failed(
          mlir::MlirOptMain(result->os(), std::move(file), registry, config)))
    return mlir::failure();
  result->keep();
  return mlir::success();
}

int main(int argc, char **argv) {
  llvm::cl::SetVersionPrinter(drawloom::printVersion);
  if (!drawloom::checkInputs(argc, argv))
    return 1;
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  drawloom::registerAllDialects(registry);
  drawloom::registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Drawloom optimizer driver\n", registry);
  if (verifySemantics.getNumOccurrences() == 0)
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, output, registry));
  llvm::InitLLVM initialize(argc, argv);
  return mlir::asMainReturnCode(
      runWithSemanticsVerified(input, output, registry));
}
