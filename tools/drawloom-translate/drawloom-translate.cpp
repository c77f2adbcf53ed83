//===- drawloom-translate.cpp - between .mlir and other formats -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TtirTranslation.h"
#include "codegen/Artifact.h"
#include "codegen/cpu/CpuTarget.h"
#include "codegen/cpu/llvm/Emit.h"
#include "codegen/cpu/llvm/ExportC.h"
#include "codegen/nvptx/GpuTarget.h"
#include "codegen/nvptx/emit/Machine.h"
#include "codegen/nvptx/schedule/Schedule.h"
#include "drawloom/runtime/CudaProgram.h"
#include "lib/Compiler/Compiler.h"
#include "lib/Compiler/Inputs.h"
#include "lib/Compiler/Targets.h"
#include "lib/RegisterAll.h"
#include "lib/Version.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/InitAllTranslations.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "tools/drawloom-translate/NvptxTranslations.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace drawloom;

static constexpr llvm::StringLiteral machineOption = "print-machine";

namespace {
/// Constructed before the command line is read, like the translations.
struct CodeOptions {
  llvm::cl::OptionCategory category{"Translations to machine code"};
  std::string isaHelp = instructionSetHelp(cpu::target());
  llvm::cl::opt<std::string> isa{"isa", llvm::cl::desc(isaHelp),
                                 llvm::cl::init("native"),
                                 llvm::cl::cat(category)};
  llvm::cl::opt<std::string> target{
      "target",
      llvm::cl::desc("What --mlir-to-artifact makes code for: cpu (for --isa); "
                     "cuda (for --arch); several with commas (default: cpu)"),
      llvm::cl::init("cpu"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> from{
      "compile-from",
      llvm::cl::desc("The phase that the program is in (default: input)"),
      llvm::cl::init("input"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> denseProducts{
      "dense-products",
      llvm::cl::desc(
          "Who computes dense products that nothing fuses with, for a bundle: "
          "own; assume (whoever is estimated to be faster, and the bundle's "
          "machine has cuBLASLt); library (default: own)"),
      llvm::cl::init("own"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> schedule{
      "schedule",
      llvm::cl::desc("Cut kernels as this file says, in the form that "
                     "--mlir-to-schedules writes"),
      llvm::cl::value_desc("file"), llvm::cl::cat(category)};
  /// Listed in the help; obeyed before anything asks for a program.
  llvm::cl::opt<bool> printMachine{
      llvm::StringRef(machineOption),
      llvm::cl::desc("Print what the compiler knows of NVIDIA's devices, as "
                     "JSON, and end"),
      llvm::cl::cat(category)};
};
} // namespace

/// Whoever wrote the program has its line; what passes had made of it by then
/// is for those who write passes.
static void keepLoweredIrOutOfErrors(mlir::ModuleOp module) {
  module.getContext()->printOpOnDiagnostic(false);
}

/// Reports an error that is not about a place in the program.
static mlir::LogicalResult report(mlir::ModuleOp module, llvm::Error error) {
  return mlir::emitError(mlir::UnknownLoc::get(module.getContext()))
         << llvm::toString(std::move(error));
}

/// What is found on this machine says nothing about the one that code is for.
static std::optional<DenseProducts> productsOf(const CodeOptions &options) {
  std::optional<DenseProducts> products =
      parseDenseProducts(options.denseProducts);
  return products == DenseProducts::Auto ? std::nullopt : products;
}

static mlir::LogicalResult reportProducts(mlir::ModuleOp module,
                                          const CodeOptions &options) {
  return report(module, llvm::createStringError(
                            "--dense-products=" + options.denseProducts +
                            ": expected own, assume or library"));
}

static mlir::LogicalResult reportPhase(mlir::ModuleOp module,
                                       const CodeOptions &options,
                                       const CompileTarget &target) {
  return report(module, llvm::createStringError("the target " + target.name() +
                                                " has no phase '" +
                                                options.from + "'"));
}

/// Brings a program to the llvm dialect.
static mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lower(mlir::ModuleOp module, const CodeOptions &options,
      const CompileTarget &target, llvm::StringRef isa,
      Phase to = Phase::Llvm) {
  keepLoweredIrOutOfErrors(module);
  std::optional<Phase> from = target.parsePhase(options.from);
  if (!from)
    return reportPhase(module, options, target);
  CompileOptions compileOptions;
  compileOptions.target = &target;
  compileOptions.codegen.isa = isa.str();
  compileOptions.from = *from;
  std::optional<DenseProducts> products = productsOf(options);
  if (!products)
    return reportProducts(module, options);
  compileOptions.codegen.denseProducts = *products;
  compileOptions.to = to;
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  if (llvm::Error error = nvptx::applyScheduleFile(*copy, options.schedule))
    return report(module, std::move(error));
  if (failed(compile(*copy, compileOptions)))
    return mlir::failure();
  return copy;
}

/// Brings a program to kernels of nvvm, unless it is that already.
static mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lowerToKernels(mlir::ModuleOp program, llvm::StringRef arch,
               const CodeOptions &options) {
  for (auto function : program.getOps<mlir::LLVM::LLVMFuncOp>())
    if (function->hasAttr(mlir::NVVM::NVVMDialect::getKernelFuncAttrName()))
      return mlir::OwningOpRef<mlir::ModuleOp>(program.clone());
  return lower(program, options, nvptx::cudaTarget(), arch);
}

static mlir::LogicalResult emitCode(mlir::ModuleOp module,
                                    llvm::raw_ostream &stream,
                                    cpu::CodeKind kind,
                                    const CodeOptions &options) {
  auto lowered = lower(module, options, cpu::target(), options.isa);
  if (failed(lowered))
    return mlir::failure();
  llvm::Expected<std::string> contents =
      cpu::emitCode(**lowered, options.isa, kind);
  if (!contents)
    return report(module, contents.takeError());
  stream << *contents;
  return mlir::success();
}

/// Compiles a program for all sets that the options name, and writes what
/// `write` makes of it.
static mlir::LogicalResult emitArtifact(
    mlir::ModuleOp module, llvm::raw_ostream &stream,
    const CodeOptions &options,
    llvm::function_ref<llvm::Expected<std::string>(const Artifact &)> write) {
  keepLoweredIrOutOfErrors(module);
  std::optional<DenseProducts> products = productsOf(options);
  if (!products)
    return reportProducts(module, options);
  Artifact artifact;
  llvm::SmallVector<llvm::StringRef> targets;
  llvm::StringRef(options.target).split(targets, ',');
  for (llvm::StringRef name : targets) {
    CompileOptions compileOptions;
    llvm::Expected<const CompileTarget *> target = findTarget(name);
    if (!target)
      return report(module, target.takeError());
    std::optional<Phase> from = (*target)->parsePhase(options.from);
    if (!from)
      return reportPhase(module, options, **target);
    compileOptions.from = *from;
    compileOptions.target = *target;
    compileOptions.codegen.denseProducts = *products;
    compileOptions.codegen.isa = (*target)->name() == runtime::cuda::targetName
                                     ? architectureOption()
                                     : options.isa;
    mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
    if ((*target)->name() == runtime::cuda::targetName)
      if (llvm::Error error = nvptx::applyScheduleFile(*copy, options.schedule))
        return report(module, std::move(error));
    llvm::Expected<Artifact> compiled =
        compileToArtifact(*copy, compileOptions);
    if (!compiled)
      return report(module, compiled.takeError());
    llvm::move(compiled->variants, std::back_inserter(artifact.variants));
  }
  llvm::Expected<std::string> contents = write(artifact);
  if (!contents)
    return report(module, contents.takeError());
  stream << *contents;
  return mlir::success();
}

int main(int argc, char **argv) {
  llvm::cl::SetVersionPrinter(printVersion);
  if (!checkInputs(argc, argv))
    return 1;
  if (llvm::any_of(llvm::ArrayRef(argv, argc), [](llvm::StringRef argument) {
        return argument.ltrim('-') == machineOption;
      })) {
    llvm::outs() << llvm::formatv("{0:2}", nvptx::machinesToJson()) << '\n';
    return 0;
  }
  mlir::registerAllTranslations();
  CodeOptions options;
  auto registerDialects = [](mlir::DialectRegistry &registry) {
    drawloom::registerAllDialects(registry);
  };
  mlir::TranslateFromMLIRRegistration toLlvmIr(
      "drawloom-to-llvmir", "compile a program to optimized LLVM IR",
      [&](mlir::ModuleOp module, llvm::raw_ostream &stream) {
        return emitCode(module, stream, cpu::CodeKind::LlvmIr, options);
      },
      registerDialects);
  mlir::TranslateFromMLIRRegistration toAssembly(
      "mlir-to-assembly", "compile a program to assembly",
      [&](mlir::ModuleOp module, llvm::raw_ostream &stream) {
        return emitCode(module, stream, cpu::CodeKind::Assembly, options);
      },
      registerDialects);
  mlir::TranslateFromMLIRRegistration toObject(
      "mlir-to-object", "compile a program to an object file",
      [&](mlir::ModuleOp module, llvm::raw_ostream &stream) {
        return emitCode(module, stream, cpu::CodeKind::Object, options);
      },
      registerDialects);
  mlir::TranslateFromMLIRRegistration toArtifact(
      "mlir-to-artifact",
      "compile a program to a file that libdrawloom_runtime.so loads; "
      "--target, --isa and --arch may name several, or all",
      [&](mlir::ModuleOp module, llvm::raw_ostream &stream) {
        return emitArtifact(module, stream, options, writeArtifact);
      },
      registerDialects);
  mlir::TranslateFromMLIRRegistration toHeader(
      "mlir-to-header",
      "write the C header of what --mlir-to-object compiles a program to",
      [&](mlir::ModuleOp module, llvm::raw_ostream &stream) {
        return emitArtifact(
            module, stream, options,
            [&](const Artifact &artifact) -> llvm::Expected<std::string> {
              if (artifact.variants.front().target != cpu::target().name())
                return llvm::createStringError(
                    "an object file is for the CPU, not for --target=" +
                    options.target);
              if (artifact.variants.size() > 1)
                return llvm::createStringError(
                    "an object file is for one instruction set, but --isa=" +
                    options.isa + " names several: choose one");
              return cpu::exportHeader(artifact.variants.front());
            });
      },
      registerDialects);
  mlir::TranslateFromMLIRRegistration toTvmFfi(
      "mlir-to-tvm-ffi",
      "compile a program to C source of a library that TVM's foreign function "
      "interface loads; --isa may name several instruction sets, or all",
      [&](mlir::ModuleOp module, llvm::raw_ostream &stream) {
        return emitArtifact(module, stream, options, cpu::exportTvmFfi);
      },
      registerDialects);
  registerNvptxTranslations(
      registerDialects,
      [&](mlir::ModuleOp program, llvm::StringRef arch) {
        return lowerToKernels(program, arch, options);
      },
      [&](mlir::ModuleOp program, llvm::StringRef arch) {
        return lower(program, options, nvptx::cudaTarget(), arch,
                     Phase::Memory);
      });
  registerTtirTranslation(options.from);
  return mlir::failed(
      mlir::mlirTranslateMain(argc, argv, "Drawloom translation driver\n"));
}
