//===- Emit.cpp - from the llvm dialect to object files -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Emit.h"
#include "codegen/cpu/InstructionSet.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
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

/// Translates the module for an instruction set, every function marked with it,
/// and optimizes it.
static Expected<std::unique_ptr<Module>> translate(mlir::ModuleOp module,
                                                   StringRef isa,
                                                   LLVMContext &context,
                                                   TargetMachine &machine) {
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

  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  // As fast as O3's code, in half its time: the vectors are there already.
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O1)
      .run(*result, modules);
  return result;
}

Expected<std::string> emitCode(mlir::ModuleOp module, StringRef isa,
                               CodeKind kind) {
  Expected<std::unique_ptr<TargetMachine>> machine = createTargetMachine(isa);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  Expected<std::unique_ptr<Module>> translated =
      translate(module, isa, context, **machine);
  if (!translated)
    return translated.takeError();
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
  return std::string(bytes.begin(), bytes.end());
}

} // namespace drawloom::cpu
