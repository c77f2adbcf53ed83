//===- EmitPtx.cpp - from kernel modules to PTX ---------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/EmitPtx.h"
#include "codegen/nvptx/emit/CheckIr.h"
#include "codegen/nvptx/emit/Collectives.h"
#include "codegen/nvptx/emit/Indices.h"
#include "codegen/nvptx/emit/KernelInfo.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <chrono>

using namespace llvm;

namespace drawloom::nvptx {

/// The light pipeline: on the kernels measured, the registers of O3's code and
/// one per cent more instructions, in half the time. ptxas optimizes as well;
/// what it does not do is to take addresses out of loops.
static constexpr StringLiteral pipeline =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "loop-mssa(licm),early-cse),globaldce";

namespace {
/// LLVM's own handler ends the process over an error.
struct CollectErrors : DiagnosticHandler {
  explicit CollectErrors(std::string &text) : text(text) {}
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() != DS_Error)
      return true;
    raw_string_ostream stream(text);
    DiagnosticPrinterRawOStream printer(stream);
    if (!text.empty())
      stream << "; ";
    info.print(printer);
    return true;
  }
  std::string &text;
};
} // namespace

static Expected<std::unique_ptr<TargetMachine>>
createTargetMachine(const Architecture &architecture) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  std::string error;
  Triple triple("nvptx64-nvidia-cuda");
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("this LLVM has no code generator for " +
                             triple.str() + ": " + error);
  TargetOptions options;
  // Products and sums fuse where the module says so, by llvm.intr.fma.
  options.AllowFPOpFusion = FPOpFusion::Strict;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, architecture.name,
      formatv("+ptx{0}", architecture.ptxVersion).str(), options, std::nullopt,
      std::nullopt, CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("this LLVM has no code generator for " +
                             architecture.name);
  return machine;
}

/// Ops that the architecture does not have, as the nvvm dialect knows it.
static Error checkOps(mlir::ModuleOp module, const Architecture &architecture) {
  mlir::NVVM::NVVMCheckSMVersion target(
      architecture.specific, static_cast<int>(architecture.capability));
  mlir::Operation *missing = nullptr;
  module->walk([&](mlir::NVVM::RequiresSMInterface op) {
    if (op.getRequiredMinSMVersion().isCompatibleWith(target))
      return mlir::WalkResult::advance();
    missing = op;
    return mlir::WalkResult::interrupt();
  });
  if (!missing)
    return Error::success();
  auto function = missing->getParentOfType<mlir::LLVM::LLVMFuncOp>();
  return createStringError(
      "'" + (function ? function.getName() : StringRef("the module")) +
      "' holds " + missing->getName().getStringRef() + ", which " +
      architecture.name + " does not have");
}

static Error lowerToLlvmDialect(mlir::ModuleOp module,
                                const PtxOptions &options) {
  mlir::PassManager passes(module.getContext(),
                           mlir::ModuleOp::getOperationName());
  passes.addPass(mlir::createConvertNVVMToLLVMPass());
  if (options.lineInfo) {
    // Of these, the back end prints .file and .loc, and no section of DWARF:
    // ptxas would take that for a request not to optimize.
    mlir::LLVM::DIScopeForLLVMFuncOpPassOptions scope;
    scope.emissionKind = mlir::LLVM::DIEmissionKind::DebugDirectivesOnly;
    passes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass(scope));
  }
  if (mlir::failed(passes.run(module)))
    return createStringError("the nvvm dialect cannot be converted");
  return Error::success();
}

/// Branches of a loop from which on it is taken for one over several programs.
static constexpr unsigned fewestBranches = 6;

/// A launch of many programs is one loop with a branch for each: the addresses
/// of all of them, taken out of it, would be alive together, and each block
/// needs those of one.
static void keepInBranches(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    for (Loop *loop : loops) {
      unsigned branches = 0;
      for (BasicBlock *block : loop->blocks())
        branches += loops.getLoopFor(block) == loop &&
                    block->getTerminator()->getNumSuccessors() > 1;
      if (branches >= fewestBranches)
        addStringMetadataToLoop(loop, "llvm.licm.disable", 1);
    }
  }
}

static void optimize(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  // The machine makes its own analyses known: without them, passes move
  // operations of whole warps into branches.
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager passes;
  cantFail(builder.parsePassPipeline(passes, pipeline));
  passes.run(module, modules);
}

/// Instructions of a loop from which on it is not unrolled any more.
static constexpr unsigned mostUnrolled = 40;

/// Keeps ptxas from unrolling what is long already: four times its sums of
/// products are what takes it seconds, and registers, and saves few branches.
/// Short loops wait for memory, of which it then asks for more at once.
static void keepLongLoops(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    for (Loop *loop : loops.getLoopsInPreorder()) {
      size_t length = 0;
      for (BasicBlock *block : loop->blocks())
        length += block->size();
      if (length > mostUnrolled)
        loop->setLoopAlreadyUnrolled();
    }
  }
}

Expected<DeviceIr> emitDeviceIr(mlir::ModuleOp module,
                                const Architecture &architecture,
                                const PtxOptions &options, LLVMContext &context,
                                function_ref<void(Module &)> translated) {
  Expected<std::unique_ptr<TargetMachine>> created =
      createTargetMachine(architecture);
  if (!created)
    return created.takeError();
  TargetMachine &machine = **created;
  if (Error error = checkOps(module, architecture))
    return error;
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  module->getContext()->appendDialectRegistry(registry);

  // One error with the first diagnostic in it, in place of both.
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(
      module->getContext(), [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
            diagnostics.empty()) {
          raw_string_ostream stream(diagnostics);
          stream << ": ";
          if (!isa<mlir::UnknownLoc>(diagnostic.getLocation()))
            stream << diagnostic.getLocation() << ": ";
          stream << diagnostic;
        }
        return mlir::success();
      });
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  if (Error error = lowerToLlvmDialect(*copy, options))
    return createStringError(toString(std::move(error)) + diagnostics);
  std::unique_ptr<Module> result =
      mlir::translateModuleToLLVMIR(*copy, context, "drawloom");
  if (!result)
    return createStringError("translation to LLVM IR failed" + diagnostics);

  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  for (GlobalVariable &global : make_early_inc_range(result->globals()))
    if (global.isDeclaration() && global.use_empty())
      global.eraseFromParent();
  for (Function &function : *result) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(Attribute::NoUnwind);
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
  }
  if (Error error = checkIr(*result, architecture))
    return error;
  if (translated)
    translated(*result);
  Collectives asked = Collectives::of(*result);
  keepInBranches(*result);
  optimize(*result, machine);
  if (Error error = asked.checkNoneAdded(*result))
    return error;
  keepLongLoops(*result);
  chooseFormsOfIndices(*result);
  // Passes turn some calls into others.
  if (Error error = checkIr(*result, architecture))
    return error;
  return DeviceIr{std::move(*created), std::move(result)};
}

Expected<DeviceCode> emitDeviceCode(mlir::ModuleOp kernelModule, StringRef arch,
                                    const PtxOptions &options) {
  auto start = std::chrono::steady_clock::now();
  Expected<const Architecture *> architecture = findArchitecture(arch);
  if (!architecture)
    return architecture.takeError();
  Expected<std::vector<KernelInfo>> kernels =
      describeKernels(kernelModule, **architecture);
  if (!kernels)
    return kernels.takeError();
  LLVMContext context;
  std::string errors;
  context.setDiagnosticHandler(std::make_unique<CollectErrors>(errors));
  Expected<DeviceIr> ir =
      emitDeviceIr(kernelModule, **architecture, options, context);
  if (!ir)
    return ir.takeError();

  DeviceCode code;
  raw_string_ostream(code.llvmIr) << *ir->module;
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (ir->machine->addPassesToEmitFile(passes, stream, nullptr,
                                       CodeGenFileType::AssemblyFile))
    return createStringError("this LLVM cannot emit PTX");
  passes.run(*ir->module);
  if (!errors.empty())
    return createStringError("LLVM's back end refuses " +
                             kernels->front().name + " for " + arch + ": " +
                             errors);
  code.ptx.assign(bytes.begin(), bytes.end());
  if (Error error = Collectives::of(*ir->module).checkPtx(code.ptx))
    return error;
  code.milliseconds = std::chrono::duration<double, std::milli>(
                          std::chrono::steady_clock::now() - start)
                          .count();
  return code;
}

Expected<std::string> emitPtx(mlir::ModuleOp kernelModule, StringRef arch,
                              const PtxOptions &options) {
  Expected<DeviceCode> code = emitDeviceCode(kernelModule, arch, options);
  if (!code)
    return code.takeError();
  return std::move(code->ptx);
}

} // namespace drawloom::nvptx
