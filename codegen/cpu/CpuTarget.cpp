//===- CpuTarget.cpp - x86 processors as a target -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuTarget.h"
#include "codegen/CompileTarget.h"
#include "codegen/LoadedProgram.h"
#include "codegen/cpu/InstructionSet.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/Signature.h"
#include "codegen/cpu/kernels/LowerOffload.h"
#include "codegen/cpu/llvm/Emit.h"
#include "codegen/cpu/vectors/Canonicalize.h"
#include "drawloom/runtime/CpuFeatures.h"
#include "drawloom/runtime/CpuProgram.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/SubsetOpInterfaceImpl.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Block/Passes.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace drawloom::cpu {

/// From block programs (on static tensors, domain ops among them) to register
/// tiles: vectors, no linalg op.
static void buildVectors(OpPassManager &pm, const CodegenOptions &options) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  CpuTileAndVectorizeOptions schedule;
  schedule.isa = options.isa;
  pm.addNestedPass<func::FuncOp>(createRestrictLoops());
  pm.addPass(createDecomposeBlocks());
  OpPassManager &function = pm.nest<func::FuncOp>();
  if (llvm::cantFail(findInstructionSet(options.isa))->pairUnit ==
      PairUnit::None)
    function.addPass(createElideOptionalTruncations());
  // A block program may come as one.
  function.addPass(createPromoteAccumulators());
  function.addPass(createCpuTileAndVectorize(schedule));
  function.addPass(createCpuVerifyVectors());
}

static void buildBuffers(OpPassManager &pm) {
  pm.addPass(createCpuBufferize());
  pm.addPass(createCpuVerifyBuffers());
  pm.addNestedPass<func::FuncOp>(createCpuTilesInPlace());
  pm.addNestedPass<func::FuncOp>(createCpuPrefetchTiles());
}

static void buildKernels(OpPassManager &pm) {
  pm.addPass(createCpuKernels());
  pm.addPass(createCanonicalizer());
  pm.addPass(createCSEPass());
  pm.addPass(createCpuShareRepeats());
}

static void buildLlvm(OpPassManager &pm, const CodegenOptions &options) {
  CpuLowerToLlvmOptions lowering;
  lowering.isa = options.isa;
  pm.addPass(createCpuLowerToLlvm(lowering));
}

namespace {
class CpuTarget final : public CompileTarget {
public:
  StringRef name() const override { return "cpu"; }
  std::vector<std::string> instructionSets() const override;
  bool isForTests(StringRef set) const override;
  void registerDialects(DialectRegistry &registry) const override;
  void registerPasses() const override { registerCpuPasses(); }
  PhaseText phaseText(Phase phase) const override {
    switch (phase) {
    case Phase::Tiles:
      return {"vectors", "register tiles as vectors, no linalg op left"};
    case Phase::Memory:
      return {"buffers", "memory instead of tensors, results are arguments"};
    case Phase::Kernels:
      return {"kernels",
              "a range function for each block program and a host entry"};
    default:
      return commonPhaseText(phase);
    }
  }
  BlockBudget blockBudget() const override {
    BlockBudget budget;
    budget.rows.wideProducts = true;
    budget.joinsRows = true;
    return budget;
  }
  void buildPhase(OpPassManager &pm, Phase phase,
                  const CodegenOptions &options) const override;
  std::optional<int64_t> workspaceBytesOf(ModuleOp module) const override;
  llvm::Expected<Artifact::Variant>
  emit(ModuleOp module, const CodegenOptions &options) const override;

protected:
  // How many cores there are is not known, and what is cut for two costs one
  // of them a fifth more. Products of 16 rows are as fast as any.
  MachineFacts machineOf(StringRef) const override { return {1, 0, 16}; }
  std::string fingerprintOf(StringRef isa) const override;
  std::optional<std::string> lacksFor(StringRef isa) const override;
  llvm::Expected<std::unique_ptr<Program>>
  loadVariant(const Artifact::Variant &variant) const override {
    return toProgram(runtime::loadCpuProgram(variant));
  }
};
} // namespace

std::vector<std::string> CpuTarget::instructionSets() const {
  std::vector<std::string> names{"native"};
  for (const InstructionSet &set : llvm::reverse(cpu::instructionSets()))
    names.push_back(set.name.str());
  return names;
}

bool CpuTarget::isForTests(StringRef set) const {
  llvm::Expected<const InstructionSet *> known = findInstructionSet(set);
  if (!known) {
    llvm::consumeError(known.takeError());
    return false;
  }
  return cpu::isForTests(**known);
}

std::string CpuTarget::fingerprintOf(StringRef isa) const {
  // What is native here is another set elsewhere.
  const InstructionSet *set = llvm::cantFail(findInstructionSet(isa));
  TargetDescription description = llvm::cantFail(describeTarget(isa));
  return (set->name + " " + description.processor + " " + description.features)
      .str();
}

std::optional<std::string> CpuTarget::lacksFor(StringRef isa) const {
  llvm::Error error = checkHostRuns(*llvm::cantFail(findInstructionSet(isa)));
  if (error)
    return llvm::toString(std::move(error));
  return std::nullopt;
}

void CpuTarget::buildPhase(OpPassManager &pm, Phase phase,
                           const CodegenOptions &options) const {
  switch (phase) {
  case Phase::Tiles:
    return buildVectors(pm, options);
  case Phase::Memory:
    return buildBuffers(pm);
  case Phase::Kernels:
    return buildKernels(pm);
  case Phase::Llvm:
    return buildLlvm(pm, options);
  default:
    llvm_unreachable("the phase belongs to no target");
  }
}

std::optional<int64_t> CpuTarget::workspaceBytesOf(ModuleOp module) const {
  int64_t most = 0;
  for (auto function : module.getOps<func::FuncOp>())
    if (FailureOr<FunctionSignature> known = getSignature(function);
        succeeded(known))
      most = std::max(most, known->workspaceBytes);
  return most;
}

llvm::Expected<Artifact::Variant>
CpuTarget::emit(ModuleOp module, const CodegenOptions &options) const {
  Artifact::Variant variant;
  variant.isa = options.isa;
  variant.fingerprint = fingerprintOf(options.isa);
  for (StringRef feature :
       llvm::cantFail(findInstructionSet(options.isa))->features)
    variant.features.push_back(feature.str());
  if (options.isa == "native")
    variant.processor = runtime::processorWords();
  WalkResult result = module.walk([&](FunctionOpInterface function) {
    if (function->hasAttr(kernelAttr))
      variant.kernels.push_back(function.getName().str());
    FailureOr<FunctionSignature> known = getSignature(function);
    if (failed(known))
      return WalkResult::advance();
    Artifact::Entry entry;
    StringRef name = function.getName();
    name.consume_front(entryPrefix);
    entry.signature.name = name.str();
    entry.signature.workspaceBytes = known->workspaceBytes;
    entry.signature.records = known->records;
    entry.signature.recordBytes = known->recordBytes;
    entry.scratchBytes = known->scratchBytes;
    entry.scratchTerms = known->scratchTerms;
    entry.signature.openExtents = known->openExtents;
    entry.signature.workspaceTerms = known->workspaceTerms;
    size_t next = 0;
    for (auto [types, into] :
         {std::pair(ArrayRef<Type>(known->arguments),
                    &entry.signature.arguments),
          std::pair(ArrayRef<Type>(known->results), &entry.signature.results)})
      for (Type type : types) {
        SmallVector<int64_t> numbers;
        if (known->isOpen())
          numbers = known->extents[next++];
        std::optional<ValueType> value = valueTypeOf(type, numbers);
        if (!value) {
          function.emitError("cannot be called: ")
              << type << " in its signature has no form in the host's memory";
          return WalkResult::interrupt();
        }
        into->push_back(std::move(*value));
      }
    variant.entries.push_back(std::move(entry));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return llvm::createStringError("compilation failed; see the diagnostics");
  llvm::Expected<std::string> code =
      emitCode(module, options.isa, CodeKind::Object, options.cancelled);
  if (!code)
    return code.takeError();
  variant.code = std::move(*code);
  return variant;
}

void CpuTarget::registerDialects(DialectRegistry &registry) const {
  registry.insert<affine::AffineDialect, amx::AMXDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, func::FuncDialect,
                  linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect,
                  ub::UBDialect, vector::VectorDialect,
                  x86vector::X86VectorDialect>();
  registerTransferModels(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  tensor::registerTilingInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
  vector::registerSubsetOpInterfaceExternalModels(registry);
}

const CompileTarget &target() {
  static const CpuTarget target;
  return target;
}

} // namespace drawloom::cpu
