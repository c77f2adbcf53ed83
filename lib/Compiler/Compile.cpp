//===- Compile.cpp - programs to machine code, or to a phase before it ----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LoadedProgram.h"
#include "lib/Compiler/Compiler.h"
#include "lib/Compiler/Names.h"
#include "lib/Compiler/RunPhases.h"
#include "lib/Compiler/Search.h"
#include "lib/Compiler/Targets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Action.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Graph/OpenExtents.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace drawloom {

/// The one instruction set that the phases behind `blocks` are for.
static llvm::Expected<std::string> onlySet(const CompileOptions &options) {
  llvm::Expected<std::vector<std::string>> sets =
      options.target->selectSets(options.codegen.isa);
  if (!sets)
    return sets.takeError();
  if (sets->size() > 1)
    return llvm::createStringError(
        "phase '" +
        options.target->phaseName(std::max(options.from, options.to)) +
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
  return compileToFit(module, options);
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

/// Identifies what others bring to the compiler.
static std::string keyOfOthers(const CompileOptions &options) {
  SmallVector<StringRef> parts;
  for (const Plugin &plugin : options.plugins)
    parts.push_back(plugin.digest);
  for (const InsertedPasses &passes : options.inserted) {
    parts.push_back(passes.phase);
    parts.push_back(passes.pipeline);
  }
  return cacheKey(parts);
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
    std::string others = keyOfOthers(options);
    SmallVector<StringRef> all{compilerBuild(), options.target->name(),
                               *machine, others};
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
      {options.target->phaseName(options.from), text}, options,
      [&] { return compileToArtifact(module, options); }, kept);
}

} // namespace drawloom
