//===- Phases.cpp - the passes that lead into each phase ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Phases.h"
#include "lib/Compiler/Targets.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Block/Passes.h"
#include "passes/Differentiate/Passes.h"
#include "passes/Graph/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Recurrent/Passes.h"
#include "passes/Relational/Passes.h"
#include <map>

using namespace mlir;

namespace drawloom {

static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void buildDifferentiated(OpPassManager &pm,
                                const MachineFacts &machine) {
  pm.addPass(createBoundCalls());
  pm.addNestedPass<func::FuncOp>(createFillOpenConstants());
  // One op has one op for all its gradients.
  pm.addNestedPass<func::FuncOp>(createMergeElementwise({true}));
  pm.addPass(createDifferentiatePass({machine.lockstep}));
  pm.addNestedPass<func::FuncOp>(createTakeSaved());
  pm.addPass(createInlinerPass());
  // What was inlined everywhere is only in the way of whoever reads on.
  pm.addPass(createSymbolDCEPass());
  addCleanup(pm);
  // Extents are known by now, and show most indices to be inside.
  pm.addPass(createMakeTotal());
}

static void buildStructuredForm(OpPassManager &pm,
                                const MachineFacts &machine) {
  pm.addNestedPass<func::FuncOp>(createFoldZeroElementTensors());
  pm.addNestedPass<func::FuncOp>(createExpandScans({machine.lockstep}));
  pm.addNestedPass<func::FuncOp>(createAssociate());
  pm.addNestedPass<func::FuncOp>(createFormSweeps());
  pm.addNestedPass<func::FuncOp>(createShareRows());
  DecomposeGraphOptions decomposition;
  decomposition.processors = machine.processors;
  decomposition.blockBytes = machine.blockBytes;
  decomposition.productRows = machine.productRows;
  decomposition.savedBytes = machine.savedBytes;
  decomposition.lockstep = machine.lockstep;
  pm.addPass(createDecomposeGraph(decomposition));
  pm.addNestedPass<func::FuncOp>(createFoldZeroElementTensors());
  // Shapes of linalg ops are refined, and constants show when these are known.
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createRefineResults());
  addCleanup(pm);
  // Extents that a call gave have come to every op: some may be 0.
  pm.addNestedPass<func::FuncOp>(createFoldZeroElementTensors());
  pm.addNestedPass<func::FuncOp>(createPromoteAccumulators());
  pm.addNestedPass<func::FuncOp>(createBindExtents());
  pm.addNestedPass<func::FuncOp>(createAccumulateProducts());
  pm.addNestedPass<func::FuncOp>(createMergeElementwise());
  addCleanup(pm);
}

static void buildBlocks(OpPassManager &pm, const CompileTarget &target) {
  pm.addNestedPass<func::FuncOp>(createFuseIntoBlocks());
  BlockBudget budget = target.blockBudget();
  if (budget.joinsRows)
    pm.addNestedPass<func::FuncOp>(createJoinRows());
  pm.addNestedPass<func::FuncOp>(createFuseRows(budget.rows));
  pm.addNestedPass<func::FuncOp>(createTileToForall(budget.pieces));
  addCleanup(pm);
  // Of transfers that the program has as it is written.
  pm.addNestedPass<func::FuncOp>(createVerifyTransfers());
}

void buildPhase(OpPassManager &pm, Phase phase, const CompileTarget &target,
                const CodegenOptions &options, const MachineFacts &machine) {
  switch (phase) {
  case Phase::Input:
    return;
  case Phase::Differentiated:
    return buildDifferentiated(pm, machine);
  case Phase::Structured:
    return buildStructuredForm(pm, machine);
  case Phase::Blocks:
    target.prepareBlocks(pm, options);
    return buildBlocks(pm, target);
  case Phase::Tiles:
  case Phase::Memory:
  case Phase::Kernels:
  case Phase::Llvm:
    return target.buildPhase(pm, phase, options);
  }
}

namespace {
struct PhaseOptions : PassPipelineOptions<PhaseOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("Which target's phase it is; by default the first that "
                     "has one of this name"),
      llvm::cl::init("")};
  Option<std::string> isa{*this, "isa",
                          llvm::cl::desc("Instruction set of the target"),
                          llvm::cl::init("native")};
};
} // namespace

/// Adds a phase of this name, by the options that are given as text.
static LogicalResult
addPhase(OpPassManager &pm, StringRef name, StringRef text,
         llvm::function_ref<LogicalResult(const Twine &)> error) {
  PhaseOptions options;
  if (failed(options.parseFromString(text)))
    return failure();
  const CompileTarget *target = nullptr;
  if (!options.target.empty()) {
    llvm::Expected<const CompileTarget *> found = findTarget(options.target);
    if (!found)
      return error(llvm::toString(found.takeError()));
    target = *found;
  } else {
    target = *llvm::find_if(allTargets(), [&](const CompileTarget *one) {
      return one->parsePhase(name).has_value();
    });
  }
  std::optional<Phase> phase = target->parsePhase(name);
  if (!phase)
    return error("the target " + target->name() + " has no phase '" + name +
                 "'");
  CodegenOptions codegen;
  codegen.isa = options.isa;
  llvm::Expected<std::vector<std::string>> sets =
      target->selectSets(codegen.isa);
  if (!sets)
    return error(llvm::toString(sets.takeError()));
  if (sets->size() > 1)
    return error("a phase is run for one instruction set, and '" + options.isa +
                 "' names several");
  llvm::Expected<MachineFacts> machine = target->machine(codegen);
  if (!machine)
    return error(llvm::toString(machine.takeError()));
  buildPhase(pm, *phase, *target, codegen, *machine);
  return success();
}

void registerPhasePipelines() {
  // Several targets may have phases of one name.
  std::map<StringRef, StringRef> descriptions;
  for (Phase phase : allPhases())
    for (const CompileTarget *target : allTargets())
      if (phase != Phase::Input)
        descriptions.emplace(target->phaseName(phase),
                             target->phaseText(phase).description);
  for (auto [name, description] : descriptions)
    registerPassPipeline(
        ("phase-" + name).str(),
        ("Into the phase " + name + ": " + description).str(),
        [name = name](OpPassManager &pm, StringRef text,
                      llvm::function_ref<LogicalResult(const Twine &)> error) {
          return addPhase(pm, name, text, error);
        },
        [](llvm::function_ref<void(const detail::PassOptions &)> handler) {
          handler(PhaseOptions());
        });
}

} // namespace drawloom
