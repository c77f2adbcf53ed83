//===- MachineCode.cpp - from the llvm dialect to addresses ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/MachineCode.h"
#include "codegen/cpu/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <cmath>
#include <cstring>

using namespace llvm;

// The compiler's own support library, on processors without F16C. Called by
// generated code only, so that the types do not matter here.
extern "C" {
void __extendhfsf2();
void __truncdfhf2();
void __truncsfhf2();
}

namespace drawloom::cpu {

Expected<std::unique_ptr<TargetMachine>> createTargetMachine(StringRef isa) {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
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

Expected<std::unique_ptr<Module>> translate(mlir::ModuleOp module,
                                            StringRef isa, LLVMContext &context,
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

static Expected<SmallVector<char, 0>> emit(mlir::ModuleOp module, StringRef isa,
                                           CodeGenFileType kind) {
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
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, kind))
    return createStringError("this LLVM cannot emit that kind of file");
  passes.run(**translated);
  return bytes;
}

Expected<std::string> emitFile(mlir::ModuleOp module, StringRef isa,
                               FileKind kind) {
  Expected<SmallVector<char, 0>> bytes =
      emit(module, isa,
           kind == FileKind::Assembly ? CodeGenFileType::AssemblyFile
                                      : CodeGenFileType::ObjectFile);
  if (!bytes)
    return bytes.takeError();
  return std::string(bytes->begin(), bytes->end());
}

namespace {

/// The C library's functions that generated code may call: LLVM makes calls of
/// the first group out of loops, MLIR of the rest out of f64 mathematics.
std::vector<std::pair<StringRef, void *>> allowedSymbols() {
#define DRAWLOOM_UNARY(name)                                                   \
  {#name,                                                                      \
   reinterpret_cast<void *>(static_cast<double (*)(double)>(std::name))},      \
      {#name "f",                                                              \
       reinterpret_cast<void *>(static_cast<float (*)(float)>(std::name))}
#define DRAWLOOM_BINARY(name)                                                  \
  {#name, reinterpret_cast<void *>(                                            \
              static_cast<double (*)(double, double)>(std::name))},            \
  {                                                                            \
    #name "f", reinterpret_cast<void *>(                                       \
                   static_cast<float (*)(float, float)>(std::name))            \
  }
  return {
      {"__extendhfsf2", reinterpret_cast<void *>(__extendhfsf2)},
      {"__truncdfhf2", reinterpret_cast<void *>(__truncdfhf2)},
      {"__truncsfhf2", reinterpret_cast<void *>(__truncsfhf2)},
      {"memcpy", reinterpret_cast<void *>(std::memcpy)},
      {"memmove", reinterpret_cast<void *>(std::memmove)},
      {"memset", reinterpret_cast<void *>(std::memset)},
      DRAWLOOM_UNARY(acos),
      DRAWLOOM_UNARY(acosh),
      DRAWLOOM_UNARY(asin),
      DRAWLOOM_UNARY(asinh),
      DRAWLOOM_UNARY(atan),
      DRAWLOOM_UNARY(atanh),
      DRAWLOOM_UNARY(cbrt),
      DRAWLOOM_UNARY(ceil),
      DRAWLOOM_UNARY(cos),
      DRAWLOOM_UNARY(cosh),
      DRAWLOOM_UNARY(erf),
      DRAWLOOM_UNARY(erfc),
      DRAWLOOM_UNARY(exp),
      DRAWLOOM_UNARY(exp2),
      DRAWLOOM_UNARY(expm1),
      DRAWLOOM_UNARY(floor),
      DRAWLOOM_UNARY(log),
      DRAWLOOM_UNARY(log10),
      DRAWLOOM_UNARY(log1p),
      DRAWLOOM_UNARY(log2),
      DRAWLOOM_UNARY(round),
      DRAWLOOM_UNARY(rint),
      DRAWLOOM_UNARY(sin),
      DRAWLOOM_UNARY(sinh),
      DRAWLOOM_UNARY(sqrt),
      DRAWLOOM_UNARY(tan),
      DRAWLOOM_UNARY(tanh),
      DRAWLOOM_UNARY(trunc),
      DRAWLOOM_BINARY(atan2),
      DRAWLOOM_BINARY(fmod),
      DRAWLOOM_BINARY(pow),
      {"fma", reinterpret_cast<void *>(
                  static_cast<double (*)(double, double, double)>(std::fma))},
      {"fmaf", reinterpret_cast<void *>(
                   static_cast<float (*)(float, float, float)>(std::fma))},
      {"roundeven", reinterpret_cast<void *>(::roundeven)},
      {"roundevenf", reinterpret_cast<void *>(::roundevenf)},
  };
#undef DRAWLOOM_UNARY
#undef DRAWLOOM_BINARY
}

/// Names what an object file wants and will not get.
Error checkSymbols(MemoryBufferRef object) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  auto allowed = allowedSymbols();
  std::string unknown;
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & object::SymbolRef::SF_Undefined))
      continue;
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (name->empty() || *name == "_GLOBAL_OFFSET_TABLE_" ||
        any_of(allowed, [&](auto &known) { return known.first == *name; }))
      continue;
    unknown += (unknown.empty() ? "" : ", ") + name->str();
  }
  if (unknown.empty())
    return Error::success();
  return createStringError("the generated code refers to " + unknown +
                           ", which no program may call");
}

} // namespace

MachineCode::MachineCode(std::unique_ptr<orc::LLJIT> jit)
    : jit(std::move(jit)) {}
MachineCode::~MachineCode() = default;

Expected<std::unique_ptr<MachineCode>>
MachineCode::create(mlir::ModuleOp module, StringRef isa) {
  Expected<SmallVector<char, 0>> bytes =
      emit(module, isa, CodeGenFileType::ObjectFile);
  if (!bytes)
    return bytes.takeError();
  auto object = std::make_unique<SmallVectorMemoryBuffer>(
      std::move(*bytes), "drawloom", /*RequiresNullTerminator=*/false);
  if (Error error = checkSymbols(object->getMemBufferRef()))
    return error;
  Expected<std::unique_ptr<orc::LLJIT>> jit =
      orc::LLJITBuilder()
          // No static initializers, no symbols of this process.
          .setPlatformSetUp(orc::setUpInactivePlatform)
          .setLinkProcessSymbolsByDefault(false)
          .create();
  if (!jit)
    return jit.takeError();
  orc::SymbolMap symbols;
  for (auto [name, address] : allowedSymbols())
    symbols[(*jit)->mangleAndIntern(name)] = {
        orc::ExecutorAddr::fromPtr(address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  if (Error error = (*jit)->getMainJITDylib().define(
          orc::absoluteSymbols(std::move(symbols))))
    return error;
  if (Error error = (*jit)->addObjectFile(std::move(object)))
    return error;
  return std::unique_ptr<MachineCode>(new MachineCode(std::move(*jit)));
}

Expected<void *> MachineCode::lookup(StringRef name) const {
  Expected<orc::ExecutorAddr> address = jit->lookup(name);
  if (!address)
    return address.takeError();
  return address->toPtr<void *>();
}

} // namespace drawloom::cpu
