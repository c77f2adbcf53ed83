//===- Search.cpp - what is compiled more than once to choose -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Search.h"
#include "dialects/Drawloom/Attributes.h"
#include "lib/Compiler/PlanSearch.h"
#include "lib/Compiler/RunPhases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Block/Rows/RowCost.h"
#include "passes/Memory/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace drawloom {

/// Plans what leaves memory, for a workspace of so many bytes.
static LogicalResult planMemory(ModuleOp module, const CompileOptions &options,
                                int64_t workspace) {
  const MemoryBudget &memory = options.codegen.memory;
  MemoryRates rates = options.target->ratesOf(memory);
  PassManager pm(module.getContext());
  if (options.configure)
    options.configure(pm);
  PlanMemoryOptions plan;
  plan.bytes = workspace;
  plan.mayStore = memory.stores;
  plan.staging = memory.staging();
  plan.operations = rates.operations;
  plan.memory = rates.memory;
  plan.write_ = rates.write;
  plan.read = rates.read;
  plan.copy = rates.copy;
  plan.explain = memory.explain;
  PlaceTransfersOptions place;
  place.operations = plan.operations;
  place.memory = plan.memory;
  place.read = plan.read;
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createPlanMemory(plan));
  function.addPass(createPlaceTransfers(place));
  function.addPass(createVerifyTransfers());
  // What is computed again has results that nobody wants twice.
  pm.addPass(createCanonicalizerPass());
  return pm.run(module);
}

/// Runs the phases; where there is a budget, so that workspaces keep to it.
/// Plans go by what bufferization should make of tensors, and panels and copies
/// come on top: what was too much is known of the kernels, and the next plan
/// does with so much less; or with half of that, where none can.
static LogicalResult runWithinMemory(ModuleOp module,
                                     const CompileOptions &given,
                                     const MachineFacts &machine) {
  const MemoryBudget &memory = given.codegen.memory;
  if (!memory.isGiven() || given.to < Phase::Blocks)
    return runPhases(module, given, machine);
  Location loc = module.getLoc();
  if (given.from > Phase::Blocks)
    return emitError(loc) << "memory is planned in the phase blocks, and the "
                             "program is in a later one";
  if (!given.target->workspaceBytesOf(module))
    return emitError(loc) << "no memory is planned for the target "
                          << given.target->name();
  int64_t most = given.target->workspaceOf(memory);
  if (memory.bytes > 0 && most <= 0)
    return emitError(loc) << memory.bytes
                          << " bytes of memory are too few: the store alone "
                             "has "
                          << memory.staging();
  CompileOptions options = given;
  options.to = Phase::Blocks;
  if (failed(runPhases(module, options, machine)))
    return failure();
  options.from = Phase::Blocks;
  options.to = std::min(given.to, Phase::Kernels);
  OwningOpRef<ModuleOp> blocks = module.clone();
  PlanSearch search(memory.bytes > 0 ? most : 0);
  for (int i = 1;; ++i) {
    HeldDiagnostics diagnostics(module.getContext());
    // Of the plan that counts.
    if (!memory.explain.empty())
      llvm::sys::fs::remove(memory.explain);
    bool goesOn = false;
    if (failed(planMemory(module, options, search.next()))) {
      goesOn = search.refused();
      if (search.smallest() == 0)
        return failure();
    } else {
      if (failed(runPhases(module, options, machine)))
        return failure();
      int64_t bytes = *options.target->workspaceBytesOf(module);
      if (given.to < Phase::Kernels || memory.bytes == 0 || bytes <= most)
        break;
      goesOn = search.exceeded(bytes);
    }
    diagnostics.forget();
    if (!goesOn || i == mostPlans) {
      // The store may have a quarter of it.
      MemoryBudget needed = memory;
      while (given.target->workspaceOf(needed) < search.smallest())
        needed.bytes += search.smallest() - given.target->workspaceOf(needed);
      return emitError(loc) << "the program needs " << needed.bytes
                            << " bytes of memory, as far as "
                            << "could be found, and may have " << memory.bytes
                            << ": give it more memory"
                            << (memory.stores ? "" : ", or a store (--spill)");
    }
    if (options.restarting)
      options.restarting();
    OwningOpRef<ModuleOp> again = blocks->clone();
    module.getBodyRegion().takeBody(again->getBodyRegion());
    module->setAttrs((*again)->getAttrDictionary());
  }
  options.from = options.to;
  options.to = given.to;
  return options.from < options.to ? runPhases(module, options, machine)
                                   : success();
}

/// How often blocks are made smaller before their error counts, and how often
/// in a row to no effect.
constexpr int mostAttempts = 8, mostWithoutEffect = 3;

/// Decompositions estimate what the tiles of a block take. Where
/// these turn out to need more than a block has, the module is compiled once
/// more, from the start and as if blocks had less, by as much as was lacking.
LogicalResult compileToFit(ModuleOp module, const CompileOptions &options) {
  auto attempt = [&](const MachineFacts &machine) {
    return runWithinMemory(module, options, machine);
  };
  llvm::Expected<MachineFacts> machine =
      options.target->machine(options.codegen);
  if (!machine)
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(machine.takeError());
  bool mayShrink = machine->blockBytes > 0 &&
                   options.from < Phase::Structured &&
                   options.to >= Phase::Kernels;
  if (!mayShrink)
    return attempt(*machine);
  OwningOpRef<ModuleOp> original = module.clone();
  int64_t limit = machine->blockBytes, neededBefore = 0;
  int withoutEffect = 0;
  for (int i = 1;; ++i) {
    HeldDiagnostics diagnostics(module.getContext());
    LogicalResult result = attempt(*machine);
    int64_t needed = options.target->blockBytesOf(module);
    withoutEffect = needed == neededBefore ? withoutEffect + 1 : 0;
    if (succeeded(result) || needed <= limit || i == mostAttempts ||
        withoutEffect == mostWithoutEffect)
      return result;
    diagnostics.forget();
    neededBefore = needed;
    // 0 would be no limit.
    machine->blockBytes =
        std::max<int64_t>(1, std::min(machine->blockBytes * limit / needed,
                                      machine->blockBytes / 4 * 3));
    if (options.restarting)
      options.restarting();
    OwningOpRef<ModuleOp> again = original->clone();
    module.getBodyRegion().takeBody(again->getBodyRegion());
    module->setAttrs((*again)->getAttrDictionary());
  }
}

/// Runs the phases behind `from` up to `to` and says nothing.
static LogicalResult tryPhases(ModuleOp module, const CompileOptions &options,
                               const MachineFacts &machine, Phase from,
                               Phase to) {
  HeldDiagnostics diagnostics(module.getContext());
  CompileOptions quiet;
  quiet.target = options.target;
  quiet.codegen = options.codegen;
  quiet.codegen.memory = {};
  quiet.cancelled = options.cancelled;
  quiet.inserted = options.inserted;
  quiet.from = from;
  quiet.to = to;
  LogicalResult result = runPhases(module, quiet, machine);
  diagnostics.forget();
  return result;
}

/// Whether blocks of rows of a function multiply and carry sums, and nobody has
/// said how large their tiles are: a product adds up over the longest extent.
static bool maySum(func::FuncOp function) {
  auto given = function->getAttrOfType<DictionaryAttr>(scheduleAttr);
  if (function.isExternal() || function->hasAttr(tileBytesAttr) ||
      (given && given.contains("rows")))
    return false;
  // Open extents are those of rows.
  auto lengthOf = [](int64_t range) {
    return ShapedType::isDynamic(range) ? std::numeric_limits<int64_t>::max()
                                        : range;
  };
  int64_t longest = 0;
  SmallVector<linalg::LinalgOp> products;
  for (Operation &op : function.getBody().front())
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      for (int64_t range : linalgOp.getStaticLoopRanges())
        longest = std::max(longest, lengthOf(range));
      if (linalg::isaContractionOpInterface(linalgOp))
        products.push_back(linalgOp);
    }
  return llvm::any_of(products, [&](linalg::LinalgOp product) {
    SmallVector<unsigned> summed;
    product.getReductionDims(summed);
    return llvm::any_of(summed, [&](unsigned dim) {
      return lengthOf(product.getStaticLoopRanges()[dim]) == longest;
    });
  });
}

/// Other tiles are taken where they are predicted to need less than this share
/// of the time: predictions are a little off.
constexpr double worthwhile = 0.95;
/// Registers that a kernel has to lack before smaller tiles are tried: some
/// that lacked fewer, by what is predicted, did not.
constexpr int64_t worthRescue = 56;

namespace {
/// What trials have shown of a function: the best share of the ordinary budget,
/// and whether more of it or less is worth another trial.
struct TileChoice {
  int64_t bytes = 0;
  double time = 0;
  enum { Larger, Smaller, Done } next = Larger;

  void note(const std::optional<Prediction> &found, int64_t tried) {
    bool isFirst = bytes == 0;
    bool fits = found && found->lacking == 0;
    bool isBetter = found && (isFirst || (found->time < time * worthwhile &&
                                          (fits || next == Smaller)));
    if (isFirst)
      bytes = tried;
    if (isBetter) {
      bytes = tried;
      time = found->time;
    }
    if (isFirst)
      next = fits                                     ? Larger
             : found && found->lacking >= worthRescue ? Smaller
                                                      : Done;
    else if (!isBetter || (next == Smaller && fits))
      next = Done;
  }
};
} // namespace

void chooseTiles(ModuleOp module, const CompileOptions &given) {
  std::optional<TileTrial> trial = given.target->tileTrial();
  if (!trial || given.from >= Phase::Blocks || given.to < Phase::Blocks)
    return;
  CompileOptions options = given;
  // What a library would do is asked of the machine: of another target's it is
  // no business.
  if (options.target != trial->target)
    options.codegen.denseProducts = DenseProducts::Own;
  options.target = trial->target;
  options.codegen.isa = trial->isa;
  llvm::Expected<MachineFacts> machine =
      options.target->machine(options.codegen);
  if (!machine)
    return llvm::consumeError(machine.takeError());
  if (options.trying)
    options.trying(true);
  auto end = llvm::scope_exit([&] {
    if (options.trying)
      options.trying(false);
  });
  OwningOpRef<ModuleOp> structured = module.clone();
  if (options.from < Phase::Structured &&
      failed(tryPhases(*structured, options, *machine, options.from,
                       Phase::Structured)))
    return;
  llvm::MapVector<StringAttr, TileChoice> functions;
  for (auto function : structured->getOps<func::FuncOp>())
    if (maySum(function))
      functions[function.getSymNameAttr()] = {};

  // With so many bytes, the functions for which that is the next trial.
  auto tryBytes = [&](int64_t bytes, auto next) {
    OwningOpRef<ModuleOp> copy = structured->clone();
    Builder builder(copy->getContext());
    SmallVector<StringAttr> tried;
    for (auto function :
         llvm::make_early_inc_range(copy->getOps<func::FuncOp>())) {
      auto *found = functions.find(function.getSymNameAttr());
      if (found == functions.end() || found->second.next != next) {
        // What is not tried takes no time.
        if (SymbolTable::symbolKnownUseEmpty(function, *copy))
          function.erase();
        continue;
      }
      function->setAttr(tileBytesAttr, builder.getI64IntegerAttr(bytes));
      // What is said of kernels is of those that the right rows make.
      if (auto said = function->getAttrOfType<DictionaryAttr>(scheduleAttr)) {
        NamedAttrList kept(said);
        kept.erase("kernels");
        function->setAttr(scheduleAttr, kept.getDictionary(copy->getContext()));
      }
      tried.push_back(found->first);
    }
    if (tried.empty() || (options.cancelled && options.cancelled()))
      return;
    bool compiles = succeeded(
        tryPhases(*copy, options, *machine, Phase::Structured, Phase::Kernels));
    for (StringAttr name : tried)
      functions[name].note(compiles ? options.target->predict(*copy, name)
                                    : std::nullopt,
                           bytes);
  };
  int64_t ordinary = options.target->blockBudget().rows.summedProductBytes;
  tryBytes(ordinary, TileChoice::Larger);
  for (int64_t part = 2; part <= trial->parts; part *= 2)
    tryBytes(ordinary / part, TileChoice::Smaller);
  for (int64_t scale = 2; scale <= trial->most; scale *= 2)
    tryBytes(ordinary * scale, TileChoice::Larger);

  for (auto &[name, choice] : functions)
    if (auto function = module.lookupSymbol<func::FuncOp>(name);
        function && choice.bytes)
      function->setAttr(
          tileBytesAttr,
          Builder(module.getContext()).getI64IntegerAttr(choice.bytes));
}

} // namespace drawloom
