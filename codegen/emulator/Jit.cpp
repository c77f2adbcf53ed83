//===- Jit.cpp - intercepted kernels as machine code ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/emulator/Jit.h"
#include "drawloom/runtime/CLibrary.h"
#include "runtime/emulator/Symbols.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace drawloom::emulator {

/// This processor, but for the instructions that would make results depend on
/// it: those that convert to bf16 flush subnormal numbers.
static orc::JITTargetMachineBuilder describeMachine() {
  orc::JITTargetMachineBuilder machine{Triple(sys::getProcessTriple())};
  machine.setCPU("x86-64");
  StringMap<bool> features = sys::getHostCPUFeatures();
  for (StringRef name : {"avx", "avx2", "f16c", "fma"})
    if (features.lookup(name))
      machine.addFeatures({("+" + name).str()});
  machine.setRelocationModel(Reloc::PIC_);
  machine.setCodeGenOptLevel(CodeGenOptLevel::Default);
  return machine;
}

static void optimize(llvm::Module &module, TargetMachine &machine) {
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
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O1)
      .run(module, modules);
}

/// Instruction selection takes more than linear time for a block. Kernels that
/// are unrolled have some of tens of thousands of instructions.
constexpr unsigned longBlock = 2000, pieceOfBlock = 200;

/// Cuts long blocks into pieces. Says whether there were any: code generation
/// puts them together again unless it is told to be quick.
static bool cutLongBlocks(llvm::Module &module) {
  SmallVector<BasicBlock *> blocks;
  for (llvm::Function &function : module)
    for (BasicBlock &block : function)
      if (block.size() > longBlock)
        blocks.push_back(&block);
  for (BasicBlock *block : blocks)
    while (block->size() > pieceOfBlock) {
      auto at = std::next(block->getFirstNonPHIIt(), pieceOfBlock);
      if (at == block->end() || at->isTerminator())
        break;
      block = block->splitBasicBlock(at);
    }
  return !blocks.empty();
}

Jit::Jit(std::unique_ptr<orc::LLJIT> jit) : jit(std::move(jit)) {}
Jit::~Jit() = default;

Expected<std::unique_ptr<Jit>>
Jit::create(std::unique_ptr<llvm::Module> module,
            std::unique_ptr<LLVMContext> context) {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  orc::JITTargetMachineBuilder description = describeMachine();
  Expected<std::unique_ptr<TargetMachine>> machine =
      description.createTargetMachine();
  if (!machine)
    return machine.takeError();
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  for (llvm::Function &function : *module)
    function.addFnAttr(Attribute::NoUnwind);
  optimize(*module, **machine);
  if (cutLongBlocks(*module))
    description.setCodeGenOptLevel(CodeGenOptLevel::None);

  Expected<std::unique_ptr<orc::LLJIT>> jit =
      orc::LLJITBuilder()
          .setJITTargetMachineBuilder(std::move(description))
          // No static initializers, no symbols of this process.
          .setPlatformSetUp(orc::setUpInactivePlatform)
          .setLinkProcessSymbolsByDefault(false)
          .create();
  if (!jit)
    return jit.takeError();
  orc::SymbolMap symbols;
  auto define = [&](StringRef name, void *address) {
    symbols[(*jit)->mangleAndIntern(name)] = {
        orc::ExecutorAddr::fromPtr(address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  for (auto [name, address] : runtime::cLibrarySymbols())
    define(name, address);
  for (auto [name, address] : runtimeSymbols())
    define(name, address);
  if (Error error = (*jit)->getMainJITDylib().define(
          orc::absoluteSymbols(std::move(symbols))))
    return error;
  if (Error error = (*jit)->addIRModule(
          orc::ThreadSafeModule(std::move(module), std::move(context))))
    return error;
  return std::unique_ptr<Jit>(new Jit(std::move(*jit)));
}

Expected<void *> Jit::lookup(StringRef name) const {
  Expected<orc::ExecutorAddr> address = jit->lookup(name);
  if (!address)
    return address.takeError();
  return address->toPtr<void *>();
}

} // namespace drawloom::emulator
