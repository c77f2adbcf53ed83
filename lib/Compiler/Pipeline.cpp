//===- Pipeline.cpp - the passes that lead into each phase ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LoadedProgram.h"
#include "dialects/Block/Block.h"
#include "lib/Compiler/Compiler.h"
#include "lib/Compiler/Names.h"
#include "lib/Compiler/PlanSearch.h"
#include "lib/Compiler/Targets.h"
#include "lib/Compiler/WholeFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Action.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Block/Passes.h"
#include "passes/Block/Rows/RowCost.h"
#include "passes/Differentiate/Passes.h"
#include "passes/Graph/OpenExtents.h"
#include "passes/Graph/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Recurrent/Passes.h"
#include "passes/Relational/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

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

static void buildStructured(OpPassManager &pm, const MachineFacts &machine) {
  pm.addNestedPass<func::FuncOp>(createFoldEmpty());
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
  pm.addNestedPass<func::FuncOp>(createFoldEmpty());
  // Shapes of linalg ops are refined, and constants show when these are known.
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createRefineResults());
  addCleanup(pm);
  // Extents that a call gave have come to every op: some may be 0.
  pm.addNestedPass<func::FuncOp>(createFoldEmpty());
  pm.addNestedPass<func::FuncOp>(createAccumulateWide());
  pm.addNestedPass<func::FuncOp>(createBindExtents());
  pm.addNestedPass<func::FuncOp>(createAccumulateProducts());
  pm.addNestedPass<func::FuncOp>(createMergeElementwise());
  addCleanup(pm);
}

static void buildBlocks(OpPassManager &pm, const CompileTarget &target) {
  pm.addNestedPass<func::FuncOp>(createFuseNeighbours());
  BlockBudget budget = target.blockBudget();
  if (budget.joinsRows)
    pm.addNestedPass<func::FuncOp>(createJoinRows());
  pm.addNestedPass<func::FuncOp>(createFuseRows(budget.rows));
  pm.addNestedPass<func::FuncOp>(createDistributeOps(budget.pieces));
  addCleanup(pm);
  // Of transfers that the program has as it is written.
  pm.addNestedPass<func::FuncOp>(createVerifyTransfers());
}

/// Adds the passes that lead from the phase before `phase` into it.
static void buildPhase(OpPassManager &pm, Phase phase,
                       const CompileOptions &options,
                       const MachineFacts &machine) {
  switch (phase) {
  case Phase::Input:
    return;
  case Phase::Differentiated:
    return buildDifferentiated(pm, machine);
  case Phase::Structured:
    return buildStructured(pm, machine);
  case Phase::Blocks:
    options.target->prepareBlocks(pm, options.codegen);
    return buildBlocks(pm, *options.target);
  case Phase::Vectors:
  case Phase::Buffers:
  case Phase::Kernels:
  case Phase::Llvm:
    return options.target->buildPhase(pm, phase, options.codegen);
  }
}

static LogicalResult dump(ModuleOp module, Phase phase, StringRef folder) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return module.emitError("cannot create the folder '")
           << folder << "' for the phases: " << error.message();
  SmallString<128> path(folder);
  llvm::sys::path::append(path, Twine(static_cast<int>(phase)) + "-" +
                                    phaseName(phase) + ".mlir");
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  if (std::error_code error = writeWholeFile(path, text))
    return module.emitError("cannot write '")
           << path << "': " << error.message();
  return success();
}

/// The one instruction set that the phases behind `blocks` are for.
static llvm::Expected<std::string> onlySet(const CompileOptions &options) {
  llvm::Expected<std::vector<std::string>> sets =
      options.target->selectSets(options.codegen.isa);
  if (!sets)
    return sets.takeError();
  if (sets->size() > 1)
    return llvm::createStringError(
        "phase '" + phaseName(std::max(options.from, options.to)) +
        "' is one instruction set's own, but '" + options.codegen.isa +
        "' names " + Twine(sets->size()) + " of them: choose one");
  return sets->front();
}

namespace {
/// While it lives, passes in a context are left out from when the compilation
/// is cancelled: a pass manager has no other way to stop.
class CancelPasses {
public:
  CancelPasses(MLIRContext *context, const std::function<bool()> &cancelled)
      : context(cancelled ? context : nullptr) {
    if (this->context)
      context->registerActionHandler(
          [&cancelled](function_ref<void()> run,
                       const tracing::Action &action) {
            if (!isa<PassExecutionAction>(action) || !cancelled())
              run();
          });
  }
  ~CancelPasses() {
    if (context)
      context->registerActionHandler(nullptr);
  }
  CancelPasses(const CancelPasses &) = delete;
  CancelPasses &operator=(const CancelPasses &) = delete;

private:
  MLIRContext *context;
};
} // namespace

namespace {
/// Keeps the diagnostics of an attempt until it is known whether it counts.
class HeldDiagnostics {
public:
  explicit HeldDiagnostics(MLIRContext *context)
      : engine(context->getDiagEngine()),
        handler(engine.registerHandler([this](Diagnostic &diagnostic) {
          held.push_back(std::move(diagnostic));
        })) {}
  ~HeldDiagnostics() {
    engine.eraseHandler(handler);
    for (Diagnostic &diagnostic : held)
      engine.emit(std::move(diagnostic));
  }
  HeldDiagnostics(const HeldDiagnostics &) = delete;
  HeldDiagnostics &operator=(const HeldDiagnostics &) = delete;

  void forget() { held.clear(); }

private:
  DiagnosticEngine &engine;
  std::vector<Diagnostic> held;
  DiagnosticEngine::HandlerID handler;
};
} // namespace

/// How often blocks are made smaller before their error counts, and how often
/// in a row to no effect.
constexpr int mostAttempts = 8, mostWithoutEffect = 3;

/// Compiles by `attempt`, which is told of a machine and leaves what it made in
/// the module. Decompositions estimate what the tiles of a block take. Where
/// these turn out to need more than a block has, the module is compiled once
/// more, from the start and as if blocks had less, by as much as was lacking.
static LogicalResult
compileToFit(ModuleOp module, const CompileOptions &options,
             llvm::function_ref<LogicalResult(const MachineFacts &)> attempt) {
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

/// Whether the module is verified after each pass and not only after each
/// phase: who works on the compiler learns which pass was wrong, who uses it
/// does not pay a seventh of its time for that.
#ifdef NDEBUG
static constexpr bool verifiesEachPass = false;
#else
static constexpr bool verifiesEachPass = true;
#endif

static LogicalResult runPhases(ModuleOp module, const CompileOptions &options,
                               const MachineFacts &machine) {
  if (!options.dumpPhasesTo.empty() &&
      failed(dump(module, options.from, options.dumpPhasesTo)))
    return failure();
  // It canonicalizes ops of other dialects, too, of which upstream does not
  // take all.
  module.getContext()->loadDialect<block::BlockDialect>();
  for (Phase phase : allPhases()) {
    if (phase <= options.from || phase > options.to)
      continue;
    if (options.entering)
      options.entering(phase, module, options.codegen.isa);
    if (failed(runInserted(options.inserted, phase, module, options.configure)))
      return failure();
    PassManager pm(module.getContext());
    pm.enableVerifier(verifiesEachPass);
    if (options.configure)
      options.configure(pm);
    buildPhase(pm, phase, options, machine);
    if (failed(pm.run(module)) || (options.cancelled && options.cancelled()) ||
        (!verifiesEachPass && failed(verify(module))))
      return failure();
    if (!options.dumpPhasesTo.empty() &&
        failed(dump(module, phase, options.dumpPhasesTo)))
      return failure();
  }
  return success();
}

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
  auto given = function->getAttrOfType<DictionaryAttr>("drawloom.schedule");
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

/// Finds how many bytes the tiles of each function should have, by what is
/// predicted of kernels that have them, and notes it on the function: more than
/// the ordinary budget as long as registers are enough, less where they are
/// not. Where something fails, that is for the compilation to say.
static void chooseTiles(ModuleOp module, const CompileOptions &given) {
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
      if (auto said =
              function->getAttrOfType<DictionaryAttr>("drawloom.schedule")) {
        NamedAttrList kept(said);
        kept.erase("kernels");
        function->setAttr("drawloom.schedule",
                          kept.getDictionary(copy->getContext()));
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

/// Refuses tensors whose bytes 64 bits cannot count: offsets into them would
/// wrap, in all that follows.
static LogicalResult checkExtents(ModuleOp module) {
  auto check = [](Location loc, Type type) -> LogicalResult {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank())
      return success();
    // Of eight bytes each, the most that an element has.
    int64_t bytes = 8;
    for (int64_t extent : shaped.getShape())
      if (!ShapedType::isDynamic(extent) &&
          llvm::MulOverflow(bytes, std::max<int64_t>(extent, 1), bytes))
        return emitError(loc) << type << " has more bytes than 64 bits count";
    return success();
  };
  WalkResult result = module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(check(op->getLoc(), type)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (failed(check(argument.getLoc(), argument.getType())))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether a program is compiled for shapes that one call gives, of functions
/// that leave the first extents open: then it can be open, and bound at the
/// end.
static bool isOfCall(ModuleOp module, const CompileOptions &options) {
  if (options.from != Phase::Input || !options.target->bindsAtTheEnd())
    return false;
  bool any = false;
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument argument : function.isExternal()
                                      ? Block::BlockArgListType()
                                      : function.getArguments()) {
      auto given = function.getArgAttrOfType<DenseI64ArrayAttr>(
          argument.getArgNumber(), givenDimsAttr);
      if (!given)
        continue;
      if (given.asArrayRef() != ArrayRef<int64_t>{0} ||
          !llvm::all_of(argument.getUsers(), llvm::IsaPred<tensor::CastOp>))
        return false;
      any = true;
    }
  return any;
}

/// Undoes what specialize() did, and notes the shapes for who binds them.
static void reopen(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (BlockArgument argument : function.getArguments()) {
      unsigned number = argument.getArgNumber();
      auto given =
          function.getArgAttrOfType<DenseI64ArrayAttr>(number, givenDimsAttr);
      if (!given)
        continue;
      auto known = cast<RankedTensorType>(argument.getType());
      SmallVector<int64_t> shape(known.getShape());
      for (int64_t dim : given.asArrayRef())
        shape[dim] = ShapedType::kDynamic;
      argument.setType(known.clone(shape));
      for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
        user->getResult(0).replaceAllUsesWith(argument);
        user->erase();
      }
      function.removeArgAttr(number, givenDimsAttr);
      function.setArgAttr(
          number, boundShapeAttr,
          DenseI64ArrayAttr::get(function.getContext(), known.getShape()));
    }
    function.setType(FunctionType::get(
        function.getContext(), function.getBody().front().getArgumentTypes(),
        function.getResultTypes()));
  }
}

/// Compiles a program of one call as if it were open, if that can be; then both
/// have the same bits. False where it cannot, and nothing has changed.
static bool compileAsOpen(ModuleOp module, const CompileOptions &options,
                          llvm::function_ref<bool(ModuleOp)> compile) {
  if (!isOfCall(module, options))
    return false;
  OwningOpRef<ModuleOp> open = module.clone();
  reopen(*open);
  HeldDiagnostics diagnostics(module.getContext());
  if (!compile(*open)) {
    if (!options.cancelled || !options.cancelled()) {
      diagnostics.forget();
      if (options.restarting)
        options.restarting();
    }
    return false;
  }
  module.getBodyRegion().takeBody(open->getBodyRegion());
  module->setAttrs((*open)->getAttrDictionary());
  return true;
}

static LogicalResult compileAsItIs(ModuleOp module,
                                   const CompileOptions &given);

LogicalResult compile(ModuleOp module, const CompileOptions &given) {
  // Behind blocks, functions have other arguments than their callers give.
  if (given.to > Phase::Blocks && failed(takeNames(module)))
    return failure();
  if (compileAsOpen(module, given, [&](ModuleOp open) {
        return succeeded(compileAsItIs(open, given));
      }))
    return success();
  return compileAsItIs(module, given);
}

static LogicalResult compileAsItIs(ModuleOp module,
                                   const CompileOptions &given) {
  if (failed(checkExtents(module)))
    return failure();
  CompileOptions options = given;
  CancelPasses cancelPasses(module.getContext(), options.cancelled);
  if (options.to > Phase::Blocks) {
    llvm::Expected<std::string> set = onlySet(options);
    if (!set)
      return emitError(UnknownLoc::get(module.getContext()))
             << llvm::toString(set.takeError());
    options.codegen.isa = *set;
  }
  if (options.choosesTiles)
    chooseTiles(module, options);
  return compileToFit(module, options, [&](const MachineFacts &machine) {
    return runWithinMemory(module, options, machine);
  });
}

/// From `options.from` to code for the only instruction set of the options.
static llvm::Expected<Artifact::Variant>
compileVariant(ModuleOp module, const CompileOptions &options) {
  if (failed(compileAsItIs(module, options)))
    return llvm::createStringError("compilation failed; see the diagnostics");
  if (options.cancelled && options.cancelled())
    return llvm::createStringError("the compilation was cancelled");
  if (options.emitting)
    options.emitting();
  return options.target->emit(module, options.codegen);
}

/// Whether block programs are the same for all sets: no set comes into the
/// phases up to these but by the facts of its machine. Where blocks have to fit
/// into memory, what they take is known of each set's kernels only; as is the
/// workspace that is to keep to a budget.
static llvm::Expected<bool> shareBlocks(ArrayRef<std::string> sets,
                                        const CompileOptions &options) {
  std::optional<MachineFacts> first;
  for (const std::string &set : sets) {
    CodegenOptions alone = options.codegen;
    alone.isa = set;
    llvm::Expected<MachineFacts> machine = options.target->machine(alone);
    if (!machine)
      return machine.takeError();
    if (machine->blockBytes > 0 || options.codegen.memory.isGiven() ||
        (first && *machine != *first))
      return false;
    first = *machine;
  }
  return true;
}

static llvm::Expected<Artifact>
compileToArtifactAsItIs(ModuleOp module, const CompileOptions &given);

static llvm::Expected<Artifact> compileNameless(ModuleOp module,
                                                const CompileOptions &given) {
  std::optional<Artifact> artifact;
  if (compileAsOpen(module, given, [&](ModuleOp open) {
        llvm::Expected<Artifact> made = compileToArtifactAsItIs(open, given);
        if (made)
          artifact = std::move(*made);
        else
          llvm::consumeError(made.takeError());
        return artifact.has_value();
      }))
    return std::move(*artifact);
  return compileToArtifactAsItIs(module, given);
}

llvm::Expected<Artifact> compileToArtifact(ModuleOp module,
                                           const CompileOptions &given) {
  FailureOr<FunctionNames> names = takeNames(module);
  if (failed(names))
    return llvm::createStringError("compilation failed; see the diagnostics");
  llvm::Expected<Artifact> artifact = compileNameless(module, given);
  if (artifact)
    giveNames(*names, *artifact);
  return artifact;
}

static llvm::Expected<Artifact>
compileToArtifactAsItIs(ModuleOp module, const CompileOptions &given) {
  if (llvm::none_of(module.getOps<FunctionOpInterface>(), [](auto function) {
        return function.isPublic() && !function.isExternal();
      })) {
    return llvm::createStringError(
        "the program has no public function with a body: nothing in it could "
        "be called");
  }
  CompileOptions options = given;
  options.codegen.cancelled = options.cancelled;
  llvm::Expected<std::vector<std::string>> sets =
      options.target->selectSets(options.codegen.isa);
  if (!sets)
    return sets.takeError();
  bool several = sets->size() > 1;
  llvm::Expected<bool> shared = shareBlocks(*sets, options);
  if (!shared)
    return shared.takeError();
  if (several && *shared) {
    options.to = std::max(options.from, Phase::Blocks);
    if (failed(compileAsItIs(module, options)))
      return llvm::createStringError("compilation failed; see the diagnostics");
    options.from = options.to;
  }
  options.to = Phase::Llvm;
  // Once for all sets.
  {
    CancelPasses cancelPasses(module.getContext(), options.cancelled);
    chooseTiles(module, options);
  }
  options.choosesTiles = false;
  Artifact artifact;
  for (const std::string &set : *sets) {
    options.codegen.isa = set;
    if (several && !given.dumpPhasesTo.empty()) {
      SmallString<128> folder(given.dumpPhasesTo);
      llvm::sys::path::append(folder, set);
      options.dumpPhasesTo = folder.str().str();
    }
    OwningOpRef<ModuleOp> copy = several ? module.clone() : nullptr;
    llvm::Expected<Artifact::Variant> variant =
        compileVariant(copy ? *copy : module, options);
    if (!variant)
      return variant.takeError();
    variant->target = options.target->name().str();
    artifact.variants.push_back(std::move(*variant));
  }
  return artifact;
}

llvm::Expected<std::unique_ptr<Program>>
loadOrCompile(ArrayRef<StringRef> parts, const CompileOptions &options,
              llvm::function_ref<llvm::Expected<Artifact>()> compile,
              Artifact *into) {
  if (llvm::Error error = options.target->checkRunsHere(options.codegen))
    return error;
  auto note = [&](llvm::Error error) {
    if (options.note)
      options.note(llvm::toString(std::move(error)));
    else
      llvm::consumeError(std::move(error));
  };
  std::string key;
  if (options.cache) {
    llvm::Expected<std::string> machine =
        options.target->fingerprint(options.codegen);
    if (!machine)
      return machine.takeError();
    SmallVector<StringRef> all{compilerBuild(), options.target->name(),
                               *machine};
    all.append(parts.begin(), parts.end());
    key = cacheKey(all);
    llvm::Expected<std::optional<Artifact>> kept = options.cache->find(key);
    if (!kept) {
      note(kept.takeError());
    } else if (*kept) {
      llvm::Expected<std::unique_ptr<Program>> program =
          options.target->load(**kept);
      if (program) {
        if (into)
          *into = std::move(**kept);
        return program;
      }
      note(program.takeError());
    }
  }
  llvm::Expected<Artifact> artifact = compile();
  if (!artifact)
    return artifact.takeError();
  if (options.cache)
    if (llvm::Error error = options.cache->keep(key, *artifact))
      note(std::move(error));
  llvm::Expected<std::unique_ptr<Program>> program =
      options.target->load(*artifact);
  if (program && into)
    *into = std::move(*artifact);
  return program;
}

llvm::Expected<std::unique_ptr<Program>>
compileProgram(ModuleOp module, const CompileOptions &options, Artifact *kept) {
  std::string text;
  if (options.cache)
    llvm::raw_string_ostream(text) << module;
  return loadOrCompile(
      {phaseName(options.from), text}, options,
      [&] { return compileToArtifact(module, options); }, kept);
}

} // namespace drawloom
