//===- GpuTarget.cpp - the passes from block programs to nvvm -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/GpuTarget.h"
#include "codegen/nvptx/dialect/Tile.h"
#include "codegen/nvptx/emit/Machine.h"
#include "codegen/nvptx/launch/LaunchPlan.h"
#include "codegen/nvptx/layouts/Dots.h"
#include "codegen/nvptx/schedule/Schedule.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Block/Passes.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace drawloom::nvptx {

void GpuTarget::registerDialects(DialectRegistry &registry) const {
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect,
                  linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect,
                  tensor::TensorDialect, tile::TileDialect>();
}

PhaseText GpuTarget::phaseText(Phase phase) const {
  switch (phase) {
  case Phase::Tiles:
    return {"tiles", "kernels over register tiles, and a plan of launches"};
  case Phase::Memory:
    return {"layouts", "every tile has a layout, every exchange a buffer"};
  case Phase::Kernels:
    return {"shared",
            "buffers lie in one arena of shared memory, with barriers"};
  default:
    return commonPhaseText(phase);
  }
}

BlockBudget GpuTarget::blockBudget() const {
  // Of 128 threads, about a hundred registers each hold what is alive of a
  // tile; and blocks enough for every multiprocessor of the largest device,
  // twice.
  BlockBudget budget;
  FuseRowsOptions &rows = budget.rows;
  rows.notesRows = true;
  rows.cacheBytes = 48 * 1024;
  // Each row more is one that reads no weight again. What waits for the
  // backward pass waits in shared memory then.
  rows.productBytes = 96 * 1024;
  rows.summedProductBytes = 72 * 1024;
  rows.minRows = 1;
  rows.maxRows = 256;
  // Rows of one element: eight for each thread, which are two accesses.
  rows.maxPlainRows = 1024;
  rows.sweptBytes = 1 << 20;
  // Of 256 KiB of registers, what the arithmetic leaves for sums that live from
  // the first row to the last.
  rows.sumBytes = 112 * 1024;
  rows.sumPartBytes = 128 * 1024;
  // Matrix instructions read either order.
  rows.packUniform = false;
  rows.restInBlocks = true;
  rows.maxBlocks = 264;
  // A multiprocessor without a block costs more than one more partial sum: 35
  // ns for 80 KiB against microseconds for a tile.
  rows.operationsPerSumByte = 0;
  budget.pieces.maxBlocks = 1 << 20;
  budget.pieces.pieceIterations = 2048;
  return budget;
}

MachineFacts GpuTarget::machineOf(StringRef isa) const {
  const Architecture *hopper = llvm::cantFail(findArchitecture("sm_90a"));
  MachineFacts facts{nvptx::machineOf(*hopper).multiprocessors,
                     sharedLimit(isa)};
  facts.lockstep = true;
  return facts;
}

int64_t GpuTarget::blockBytesOf(ModuleOp module) const {
  int64_t most = 0;
  for (auto kernel : module.getOps<func::FuncOp>())
    if (auto bytes = kernel->getAttrOfType<IntegerAttr>(sharedBytesAttr))
      most = std::max(most, bytes.getInt());
  return most;
}

MemoryRates GpuTarget::memoryRates() const {
  MemoryRates rates;
  // What kernels reach of an H100, and of the bus to the host.
  rates.operations = 3e13;
  rates.memory = 2e12;
  rates.copy = 2e10;
  return rates;
}

std::optional<int64_t> GpuTarget::workspaceBytesOf(ModuleOp module) const {
  int64_t most = 0;
  auto text = module->getAttrOfType<StringAttr>(planAttr);
  llvm::Expected<llvm::json::Value> plan =
      llvm::json::parse(text ? text.getValue() : "{}");
  if (!plan)
    return llvm::consumeError(plan.takeError()), std::nullopt;
  if (const llvm::json::Array *entries =
          plan->getAsObject()->getArray("entries"))
    for (const llvm::json::Value &entry : *entries)
      most = std::max(
          most, entry.getAsObject()->getInteger("workspace_bytes").value_or(0));
  return most;
}

std::optional<TileTrial> GpuTarget::tileTrial() const {
  // The architecture with the least memory: what fits there fits everywhere.
  return TileTrial{&cudaTarget(), "sm_80", 8, 4};
}

std::optional<Prediction> GpuTarget::predict(ModuleOp module,
                                             StringRef function) const {
  Prediction prediction;
  for (auto kernel : module.getOps<func::FuncOp>()) {
    auto owner = kernel->getAttrOfType<StringAttr>(kernelOfAttr);
    auto considered = kernel->getAttrOfType<ArrayAttr>(consideredAttr);
    if (!owner || owner != function || !considered || considered.empty())
      continue;
    auto chosen = cast<DictionaryAttr>(considered[0]);
    auto number = [&](StringRef name) {
      auto found = chosen.getAs<IntegerAttr>(name);
      return found ? found.getInt() : 0;
    };
    prediction.lacking = std::max(prediction.lacking, number("spilled"));
    prediction.time += static_cast<double>(number("clocks"));
  }
  if (prediction.time == 0)
    return std::nullopt;
  return prediction;
}

void addTilePasses(OpPassManager &pm, const NvptxBlockToTileOptions &tiles,
                   int64_t productWorkspace) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  DecomposeBlocksOptions decomposition;
  decomposition.keepTileOps = true;
  pm.addPass(createDecomposeBlocks(decomposition));
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createPromoteAccumulators());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createNvptxLoopOverBatches());
  pm.addNestedPass<func::FuncOp>(createNvptxPromoteScratch());
  pm.addPass(createNvptxOutlineKernels());
  // No cleanup in between: that would take the empty tensors that blocks fill
  // out of them.
  NvptxPlanLaunchesOptions plan;
  plan.productWorkspace = productWorkspace;
  pm.addPass(createNvptxPlanLaunches(plan));
  pm.addNestedPass<func::FuncOp>(createNvptxBlockToTile(tiles));
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createNvptxSimplifyTiles());
}

void GpuTarget::buildPhase(OpPassManager &pm, Phase phase,
                           const CodegenOptions &options) const {
  switch (phase) {
  case Phase::Tiles: {
    addTilePasses(pm, {}, productWorkspace(options.isa));
    return;
  }
  case Phase::Memory: {
    // Inputs that are read once may as well be read in parts.
    NvptxTileKOptions parts;
    parts.onlyInputs = true;
    NvptxSearchSchedulesOptions schedules;
    schedules.limit = sharedLimit(options.isa);
    pm.addNestedPass<func::FuncOp>(createNvptxReduceByMma());
    pm.addNestedPass<func::FuncOp>(createNvptxTileK(parts));
    pm.addNestedPass<func::FuncOp>(createNvptxSearchSchedules(schedules));
    return;
  }
  case Phase::Kernels: {
    NvptxAllocateSharedOptions arena;
    arena.limit = sharedLimit(options.isa);
    pm.addNestedPass<func::FuncOp>(createNvptxAllocateShared(arena));
    return;
  }
  case Phase::Llvm: {
    LowerOptions lower;
    lower.describeAccesses = describesAccesses();
    // There is an addition of bf16 to f32 from sm_100 on.
    lower.splitWords = !StringRef(options.isa).starts_with("sm_100");
    lower.storeMatrices = !StringRef(options.isa).starts_with("sm_80");
    buildLower(pm, lower);
    return;
  }
  default:
    llvm_unreachable("the phase belongs to no target");
  }
}

} // namespace drawloom::nvptx
