//===- NvptxTranslations.cpp - kernel modules to GPU code -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/drawloom-translate/NvptxTranslations.h"
#include "codegen/emulator/Emulator.h"
#include "codegen/nvptx/emit/Bundle.h"
#include "codegen/nvptx/launch/LaunchPlan.h"
#include "codegen/nvptx/schedule/Schedule.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace drawloom;
using namespace drawloom::nvptx;

namespace {
struct Options {
  llvm::cl::OptionCategory category{"Translations to NVIDIA's machine code"};
  std::string archHelp = "Architectures: " + architectureNames() +
                         ", or all; several with commas for a bundle";
  llvm::cl::opt<std::string> arch{"arch", llvm::cl::desc(archHelp),
                                  llvm::cl::init("sm_80"),
                                  llvm::cl::cat(category)};
  llvm::cl::opt<std::string> ptxas{
      "ptxas",
      llvm::cl::desc("The assembler (default: $DRAWLOOM_PTXAS, else searched "
                     "for on PATH, in CUDA's folders and in Python packages)"),
      llvm::cl::value_desc("file"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> kernel{
      "kernel", llvm::cl::desc("The kernel to compile, of several in a module"),
      llvm::cl::value_desc("name"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> folder{
      "bundle-dir", llvm::cl::desc("The folder that --mlir-to-bundle writes"),
      llvm::cl::value_desc("folder"), llvm::cl::cat(category)};
  llvm::cl::opt<bool> modules{
      "bundle-modules",
      llvm::cl::desc("Add the kernel modules, which the emulated driver runs"),
      llvm::cl::cat(category)};
  llvm::cl::opt<bool> lineInfo{
      "line-info", llvm::cl::desc("Keep places in the source (default: yes)"),
      llvm::cl::init(true), llvm::cl::cat(category)};

  KernelOptions kernelOptions(Assemble assemble) const {
    KernelOptions result;
    result.ptx.lineInfo = lineInfo;
    result.ptxas = ptxas;
    result.assemble = assemble;
    return result;
  }
};
} // namespace

/// Reports an error that is not about a place in the program.
static mlir::LogicalResult report(mlir::ModuleOp module, llvm::Error error) {
  return mlir::emitError(mlir::UnknownLoc::get(module.getContext()))
         << llvm::toString(std::move(error));
}

/// The program's kernels for one architecture.
static mlir::FailureOr<CompiledKernels>
compileFor(mlir::ModuleOp program, const Architecture &architecture,
           const LowerToKernels &lower, const KernelOptions &options) {
  auto lowered = lower(program, architecture.name);
  if (failed(lowered))
    return mlir::failure();
  llvm::Expected<CompiledKernels> compiled =
      compileKernels(**lowered, architecture, options);
  if (!compiled)
    return report(program, compiled.takeError());
  // Modules written by hand are kernels alone.
  if ((**lowered)->hasAttr(planAttr)) {
    llvm::Expected<LaunchPlan> plan = planOf(**lowered);
    if (!plan)
      return report(program, plan.takeError());
    compiled->plan = toJson(*plan);
  }
  if (!compiled->note.empty())
    mlir::emitRemark(mlir::UnknownLoc::get(program.getContext()))
        << compiled->note;
  return std::move(*compiled);
}

static mlir::FailureOr<const Architecture *>
oneArchitecture(mlir::ModuleOp program, const Options &options) {
  llvm::Expected<const Architecture *> found = findArchitecture(options.arch);
  if (!found)
    return report(program, found.takeError());
  return *found;
}

static mlir::LogicalResult toPtx(mlir::ModuleOp program,
                                 llvm::raw_ostream &stream,
                                 const LowerToKernels &lower,
                                 const Options &options) {
  auto architecture = oneArchitecture(program, options);
  if (failed(architecture))
    return mlir::failure();
  auto lowered = lower(program, (*architecture)->name);
  if (failed(lowered))
    return mlir::failure();
  PtxOptions ptxOptions;
  ptxOptions.lineInfo = options.lineInfo;
  llvm::Expected<std::string> ptx =
      emitPtx(**lowered, (*architecture)->name, ptxOptions);
  if (!ptx)
    return report(program, ptx.takeError());
  stream << *ptx;
  return mlir::success();
}

static mlir::LogicalResult toEmulated(mlir::ModuleOp program,
                                      llvm::raw_ostream &stream,
                                      const LowerToKernels &lower,
                                      const Options &options) {
  auto lowered = lower(program, options.arch);
  if (failed(lowered))
    return mlir::failure();
  llvm::Expected<std::string> text =
      emulator::printIntercepted(**lowered, options.arch);
  if (!text)
    return report(program, text.takeError());
  stream << *text;
  return mlir::success();
}

static mlir::LogicalResult toCubin(mlir::ModuleOp program,
                                   llvm::raw_ostream &stream,
                                   const LowerToKernels &lower,
                                   const Options &options) {
  auto architecture = oneArchitecture(program, options);
  if (failed(architecture))
    return mlir::failure();
  auto compiled = compileFor(program, **architecture, lower,
                             options.kernelOptions(Assemble::Always));
  if (failed(compiled))
    return mlir::failure();
  std::string names;
  for (const CompiledKernel &kernel : compiled->kernels) {
    if (compiled->kernels.size() == 1 || kernel.info.name == options.kernel) {
      stream << kernel.cubin;
      return mlir::success();
    }
    names += (names.empty() ? "" : ", ") + kernel.info.name;
  }
  return report(program,
                llvm::createStringError(
                    "a cubin holds one kernel; name one of " + names +
                    " with --kernel, or write all with --mlir-to-bundle"));
}

static mlir::LogicalResult toBundle(mlir::ModuleOp program,
                                    llvm::raw_ostream &stream,
                                    const LowerToKernels &lower,
                                    const Options &options) {
  if (options.folder.empty())
    return report(program, llvm::createStringError(
                               "--mlir-to-bundle writes a folder: name it with "
                               "--bundle-dir=FOLDER"));
  llvm::Expected<std::vector<const Architecture *>> chosen =
      selectArchitectures(options.arch);
  if (!chosen)
    return report(program, chosen.takeError());
  std::vector<CompiledKernels> compiled;
  for (const Architecture *architecture : *chosen) {
    auto one = compileFor(program, *architecture, lower,
                          options.kernelOptions(Assemble::IfFound));
    if (failed(one))
      return mlir::failure();
    printUsage(*one, stream);
    compiled.push_back(std::move(*one));
  }
  BundleOptions bundleOptions;
  bundleOptions.modules = options.modules;
  if (llvm::Error error =
          writeBundle(makeBundle(compiled, bundleOptions), options.folder))
    return report(program, std::move(error));
  return mlir::success();
}

static mlir::LogicalResult toSchedules(mlir::ModuleOp program,
                                       llvm::raw_ostream &stream,
                                       const LowerToKernels &lower,
                                       const Options &options) {
  auto architecture = oneArchitecture(program, options);
  if (failed(architecture))
    return mlir::failure();
  auto lowered = lower(program, (*architecture)->name);
  if (failed(lowered))
    return mlir::failure();
  stream << llvm::formatv("{0:2}", schedulesToJson(**lowered)) << '\n';
  return mlir::success();
}

static const Options &theOptions() {
  static const Options options;
  return options;
}

const std::string &drawloom::architectureOption() {
  return theOptions().arch.getValue();
}

void drawloom::registerNvptxTranslations(
    std::function<void(mlir::DialectRegistry &)> registerDialects,
    LowerToKernels lower, LowerToKernels lowerToLayouts) {
  // Before the command line is read.
  (void)theOptions();
  auto add = [&](llvm::StringRef name, llvm::StringRef description,
                 auto translation, LowerToKernels lower) {
    mlir::TranslateFromMLIRRegistration(
        name, description,
        [translation, lower](mlir::ModuleOp program,
                             llvm::raw_ostream &stream) {
          return translation(program, stream, lower, theOptions());
        },
        [registerDialects](mlir::DialectRegistry &registry) {
          registry.insert<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
          registerDialects(registry);
        });
  };
  add("mlir-to-ptx", "compile a program to PTX for --arch", toPtx, lower);
  add("mlir-to-emulated",
      "print what the emulator runs of a program compiled for --arch",
      toEmulated, lower);
  add("mlir-to-cubin", "compile a program to a cubin for --arch", toCubin,
      lower);
  add("mlir-to-bundle",
      "compile a program to a folder of kernels that Drawloom's runtime and "
      "Triton load",
      toBundle, lower);
  add("mlir-to-schedules",
      "print how a program's kernels are cut and what the model predicts, as "
      "JSON",
      toSchedules, lowerToLayouts);
}
