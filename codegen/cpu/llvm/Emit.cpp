//===- Emit.cpp - from the llvm dialect to object files -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/llvm/Emit.h"
#include "codegen/cpu/InstructionSet.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace drawloom::cpu {

/// Registers LLVM's code generator of this machine, once.
static void initializeTarget() {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
}

static Expected<std::unique_ptr<TargetMachine>>
createTargetMachine(StringRef isa) {
  initializeTarget();
  Expected<TargetDescription> description = describeTarget(isa);
  if (!description)
    return description.takeError();
  std::string error;
  Triple triple(sys::getProcessTriple());
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("this LLVM has no code generator for " +
                             triple.str() + ": " + error);
  // The small code model reaches 2 GB; constants come with the code.
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, description->processor, description->features, TargetOptions(),
      Reloc::PIC_, std::nullopt, CodeGenOptLevel::Default));
  if (!machine)
    return createStringError("no code generator for processor '" +
                             description->processor + "'");
  return machine;
}

/// Keeps the optimizer from unrolling loops around loops: what the passes of
/// the block level left as loops stays, and the time goes to innermost ones.
static void keepOuterLoops(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    for (Loop *loop : loops.getLoopsInPreorder())
      if (!loop->isInnermost())
        loop->setLoopAlreadyUnrolled();
  }
}

/// Has what is called from one place only become a part of it, unless it says
/// that it must not.
static void inlineSingleCalls(Module &module) {
  for (Function &function : module)
    if (function.hasLocalLinkage() && function.hasOneUse() &&
        !function.hasFnAttribute(Attribute::NoInline))
      if (auto *call = dyn_cast<CallBase>(function.user_back());
          call && call->getCalledFunction() == &function)
        function.addFnAttr(Attribute::AlwaysInline);
}

/// LLVM's passes. The vectors are there already, and so is the order of loops:
/// what is left to do is to bring address arithmetic out of loops, to unroll
/// short innermost ones and to clean up. O1, which makes as fast code as O3 in
/// half its time, spends half of its own on passes that find nothing, `indvars`
/// above all. Without unrolling, compiling would take another tenth less, and
/// training the example of an image a fortieth more.
static constexpr StringRef optimizations =
    "always-inline,globaldce,"
    "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,"
    "instcombine<max-iterations=1;no-verify-fixpoint>,"
    "loop-mssa(loop-instsimplify,loop-simplifycfg,"
    "loop-rotate<header-duplication;no-prepare-for-lto>,"
    "licm<allowspeculation>),simplifycfg,"
    "loop(loop-deletion,loop-unroll-full),sroa<modify-cfg>,early-cse<>,"
    "instcombine<max-iterations=1;no-verify-fixpoint>,loop-unroll<O1>,"
    "infer-alignment,instcombine<max-iterations=1;no-verify-fixpoint>,"
    "loop-mssa(licm<allowspeculation>),div-rem-pairs,adce,simplifycfg)";

/// Translates the module for an instruction set, every function marked with it,
/// and optimizes it.
static Expected<std::unique_ptr<Module>>
translate(mlir::ModuleOp module, StringRef isa, LLVMContext &context,
          TargetMachine &machine, const std::function<bool()> &cancelled) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  module->getContext()->appendDialectRegistry(registry);
  std::unique_ptr<Module> result =
      mlir::translateModuleToLLVMIR(module, context, "drawloom");
  if (!result)
    return createStringError("translation to LLVM IR failed; see the "
                             "diagnostics");
  Expected<const InstructionSet *> set = findInstructionSet(isa);
  if (!set)
    return set.takeError();
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  for (Function &function : *result) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(Attribute::NoUnwind);
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    if (!machine.getTargetFeatureString().empty())
      function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("prefer-vector-width",
                       std::to_string((*set)->vectorBytes * 8));
  }

  keepOuterLoops(*result);
  inlineSingleCalls(*result);

  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  // Without the passes that are not needed, the rest has little to do.
  PassInstrumentationCallbacks callbacks;
  if (cancelled)
    callbacks.registerShouldRunOptionalPassCallback(
        [&](StringRef, Any) { return !cancelled(); });
  PassBuilder builder(&machine, PipelineTuningOptions(), std::nullopt,
                      &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager passes;
  if (Error error = builder.parsePassPipeline(passes, optimizations))
    return error;
  passes.run(*result, modules);
  return result;
}

namespace {
/// Leaves out the code generator's passes that it can do without.
class CancelGate : public OptPassGate {
public:
  explicit CancelGate(const std::function<bool()> &cancelled)
      : cancelled(cancelled) {}
  bool shouldRunPass(StringRef, StringRef) const override {
    return !cancelled();
  }
  bool isEnabled() const override { return true; }

private:
  const std::function<bool()> &cancelled;
};
} // namespace

Expected<std::string> emitCode(mlir::ModuleOp module, StringRef isa,
                               CodeKind kind,
                               const std::function<bool()> &cancelled) {
  Expected<std::unique_ptr<TargetMachine>> machine = createTargetMachine(isa);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  CancelGate gate(cancelled);
  if (cancelled)
    context.setOptPassGate(gate);
  auto stopped = [&] { return cancelled && cancelled(); };
  auto stop = [] {
    return createStringError("the making of machine code was cancelled");
  };
  Expected<std::unique_ptr<Module>> translated =
      translate(module, isa, context, **machine, cancelled);
  if (!translated)
    return translated.takeError();
  if (stopped())
    return stop();
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  if (kind == CodeKind::LlvmIr) {
    stream << **translated;
    return std::string(bytes.begin(), bytes.end());
  }
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      kind == CodeKind::Assembly
                                          ? CodeGenFileType::AssemblyFile
                                          : CodeGenFileType::ObjectFile))
    return createStringError("this LLVM cannot emit that kind of file");
  passes.run(**translated);
  if (stopped())
    return stop();
  return std::string(bytes.begin(), bytes.end());
}

} // namespace drawloom::cpu
