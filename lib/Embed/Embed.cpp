//===- Embed.cpp - the C interface ----------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Embed/Embed.h"
#include "codegen/LoadedProgram.h"
#include "lib/Compiler/Inputs.h"
#include "lib/Compiler/Names.h"
#include "lib/Compiler/Targets.h"
#include "lib/RegisterAll.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace drawloom;
using namespace drawloom::embed;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

using runtime::Executable;
using runtime::Loaded;

namespace {
/// A program of any target, for the C interface.
class TargetProgram final : public Executable {
public:
  explicit TargetProgram(std::unique_ptr<Program> given)
      : program(std::move(given)), set(program->isa()),
        listed(program->signatures()) {}
  const std::string &isa() const override { return set; }
  const std::vector<Signature> &signatures() const override { return listed; }
  runtime::Status run(size_t entry, const void *const *arguments,
                      void *const *results, unsigned threads,
                      KernelProfile *profile,
                      const int64_t *extents) const override {
    const Signature &signature = listed[entry];
    return toStatus(program->run(
        signature.name, ArrayRef(arguments, signature.arguments.size()),
        ArrayRef(results, signature.results.size()), threads, profile,
        ArrayRef(extents, static_cast<size_t>(signature.openExtents))));
  }
  int64_t codeBytes() const override { return program->codeBytes(); }
  int64_t keptBytes() const override { return program->keptBytes(); }
  void trim() const override { program->trim(); }
  const runtime::DeviceCalls *onDevice() const override {
    return program->onDevice();
  }

private:
  std::unique_ptr<Program> program;
  std::string set;
  std::vector<Signature> listed;
};
} // namespace

std::unique_ptr<Executable>
embed::makeExecutable(std::unique_ptr<Program> program) {
  return std::make_unique<TargetProgram>(std::move(program));
}

/// As the library without a compiler, and targets that it has not.
runtime::Result<std::unique_ptr<Executable>>
runtime::loadExecutable(const Artifact &artifact, const TargetDevice &target,
                        const std::string &isa) {
  llvm::Expected<std::unique_ptr<Program>> program =
      loadArtifact(artifact, target, isa);
  if (!program)
    return Status::error(toString(program.takeError()));
  return makeExecutable(std::move(*program));
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

DrawloomError *drawloomCompilerCreate(const DrawloomCompilerOptions *given,
                                      DrawloomCompiler **result) {
  *result = nullptr;
  DrawloomCompilerOptions options = {};
  // A caller built against an older header has fewer fields.
  if (given)
    std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  auto compiler = std::make_unique<DrawloomCompiler>();
  llvm::Expected<const CompileTarget *> target =
      findTarget(options.target ? options.target : "cpu");
  if (!target)
    return makeError(DRAWLOOM_ERROR_TARGET, toString(target.takeError()));
  CompileOptions &compile = compiler->options;
  compile.target = *target;
  if (options.isa)
    compile.codegen.isa = options.isa;
  MemoryBudget &memory = compile.codegen.memory;
  memory.bytes = static_cast<int64_t>(
      std::min<uint64_t>(options.memory, std::numeric_limits<int64_t>::max()));
  memory.stores = options.stores != 0;
  if (options.plan)
    memory.explain = options.plan;
  if (llvm::Error error = parseMemoryRates(
          options.memoryRates ? options.memoryRates : "", memory.rates))
    return makeError(DRAWLOOM_ERROR_CALL, toString(std::move(error)));
  if (llvm::Error error = (*target)->checkRunsHere(compile.codegen))
    return makeError(DRAWLOOM_ERROR_TARGET, toString(std::move(error)));
  if (options.dumpPhasesTo)
    compile.dumpPhasesTo = options.dumpPhasesTo;
  if (options.note)
    compile.note = [note = options.note,
                    context = options.noteContext](const Twine &message) {
      note(context, message.str().c_str());
    };
  std::string folder =
      options.cacheFolder ? options.cacheFolder : DiskCache::defaultFolder();
  if (!folder.empty() && compile.dumpPhasesTo.empty() &&
      memory.explain.empty()) {
    compiler->cache.emplace(folder);
    if (options.cacheBytes)
      compiler->cache.emplace(folder, options.cacheBytes);
  }
  compile.cache = compiler->cache ? &*compiler->cache : nullptr;
  if (options.cancelled)
    compiler->askCancelled = [ask = options.cancelled,
                              context = options.cancelledContext] {
      return ask(context) != 0;
    };
  if (llvm::Error error = insertPasses(
          ArrayRef(options.insertedPasses, options.insertedPassCount), compile))
    return makeError(DRAWLOOM_ERROR_CALL, toString(std::move(error)));
  registerAllDialects(compiler->registry);
  compile.plugins = addPlugins(compiler->registry);
  *result = compiler.release();
  return nullptr;
}

void drawloomCompilerDestroy(DrawloomCompiler *compiler) { delete compiler; }

mlir::LogicalResult embed::specialize(mlir::ModuleOp module,
                                      ArrayRef<DrawloomShapes> shapes) {
  for (const DrawloomShapes &one : shapes) {
    std::vector<std::vector<int64_t>> extents;
    for (const DrawloomExtents &argument :
         ArrayRef(one.arguments, one.argumentCount))
      extents.emplace_back(argument.extents, argument.extents + argument.rank);
    if (failed(specializeShapes(module, one.function, extents)))
      return mlir::failure();
  }
  return mlir::success();
}

std::string embed::reproducer(ArrayRef<Source> sources, StringRef phase,
                              StringRef isa, const CompileOptions &options) {
  const CompileTarget &target = *options.target;
  const MemoryBudget &memory = options.codegen.memory;
  std::string command = "drawloom-run";
  for (const Source &source : sources)
    command += " " + source.name;
  for (const Plugin &plugin : options.plugins)
    command += " '--plugin=" + plugin.path + "'";
  if (!target.parsePhase(phase))
    return command;
  for (const InsertedPasses &passes : options.inserted)
    command +=
        " '--insert-passes=" + passes.phase + ":" + passes.pipeline + "'";
  if (&target != &cpu::target())
    command += " --target=" + target.name().str();
  if (memory.bytes > 0)
    command += " --memory=" + std::to_string(memory.bytes);
  if (memory.stores)
    command += " --spill=.";
  return (command + " --isa=" + isa + " --compile-to=" + phase).str();
}

/// "function|4x8|8" for each of them.
static std::vector<std::string> textsOf(ArrayRef<DrawloomShapes> shapes) {
  std::vector<std::string> texts;
  for (const DrawloomShapes &one : shapes) {
    std::string &text = texts.emplace_back(one.function);
    for (const DrawloomExtents &argument :
         ArrayRef(one.arguments, one.argumentCount))
      text +=
          "|" +
          llvm::join(llvm::map_range(ArrayRef(argument.extents, argument.rank),
                                     [](int64_t e) { return llvm::itostr(e); }),
                     "x");
  }
  return texts;
}

static DrawloomError *compileSources(DrawloomCompiler *compiler,
                                     ArrayRef<Source> sources,
                                     ArrayRef<DrawloomShapes> shapes,
                                     DrawloomProgram **result) {
  std::vector<std::string> shapeTexts = textsOf(shapes);
  llvm::SmallVector<StringRef> parts;
  for (const Source &source : sources)
    parts.push_back(source.contents);
  parts.append(shapeTexts.begin(), shapeTexts.end());
  // Kept apart: what was a source could be a shape elsewhere.
  std::string counts =
      (Twine(sources.size()) + " " + Twine(shapes.size())).str();
  parts.push_back(counts);
  std::string key = cacheKey(parts);
  Cancellation cancellation(*compiler);
  auto cancelled = [&] { return cancellation.ask(); };
  auto stopped = [&] {
    return makeError(DRAWLOOM_ERROR_CANCELLED, "the compilation was cancelled");
  };
  if (cancelled())
    return stopped();
  std::optional<std::shared_ptr<const Loaded>> known =
      compiler->findOrStart(key, cancelled);
  if (!known)
    return stopped();
  if (*known) {
    *result = new DrawloomProgram{std::move(*known)};
    return nullptr;
  }
  std::shared_ptr<const Loaded> compiled;
  llvm::scope_exit finish([&] { compiler->finish(key, compiled); });

  // Both outlive the context.
  std::string phase = "parse", isa;
  CompileOptions options = compiler->options;
  options.cancelled = cancelled;
  options.entering = [&](Phase next, mlir::ModuleOp, StringRef set) {
    phase = compiler->options.target->phaseName(next).str();
    isa = set.str();
  };
  auto failure = std::make_unique<DrawloomError>();
  failure->code = DRAWLOOM_ERROR_PROGRAM;
  Artifact artifact;
  bool compiles = false;
  auto start = std::chrono::steady_clock::now();
  llvm::Expected<std::unique_ptr<Program>> program = loadOrCompile(
      parts, options,
      [&]() -> llvm::Expected<Artifact> {
        compiles = true;
        // Threads of its own for each compilation would be too many.
        mlir::MLIRContext context(compiler->registry,
                                  mlir::MLIRContext::Threading::DISABLED);
        Diagnostics diagnostics(context);
        auto fail = [&](StringRef otherwise) -> llvm::Error {
          failure->message = diagnostics.message;
          failure->location = diagnostics.location;
          return llvm::createStringError(otherwise);
        };
        mlir::OwningOpRef<mlir::ModuleOp> module =
            parseSources(sources, context);
        if (!module)
          return fail("the sources cannot be read");
        phase = "shapes";
        if (failed(specialize(*module, shapes)))
          return fail("the shapes do not fit");
        llvm::Expected<Artifact> artifact = compileToArtifact(*module, options);
        if (!artifact && !diagnostics.message.empty()) {
          llvm::consumeError(artifact.takeError());
          return fail("compilation failed");
        }
        return artifact;
      },
      &artifact);
  {
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    std::lock_guard<std::mutex> lock(compiler->mutex);
    DrawloomCompilerStatistics &count = compiler->statistics;
    ++(!program ? count.failed : compiles ? count.compiled : count.loaded);
    count.seconds += compiles ? took.count() : 0;
  }
  if (!program) {
    std::string message = toString(program.takeError());
    // What failed because passes were left out is no error of the program.
    if (cancellation.seen())
      return stopped();
    if (failure->message.empty())
      failure->message = message;
    failure->phase = phase;
    failure->reproducer = reproducer(sources, phase, isa, compiler->options);
    return failure.release();
  }
  compiled = std::make_shared<const Loaded>(
      makeExecutable(std::move(*program)),
      compiler->options.target->name().str(), std::move(artifact));
  *result = new DrawloomProgram{compiled};
  return nullptr;
}

std::vector<Source> embed::copySources(const DrawloomSource *sources,
                                       size_t sourceCount) {
  std::vector<Source> list;
  for (const DrawloomSource &source : ArrayRef(sources, sourceCount))
    list.push_back({source.name ? source.name : "source",
                    std::string(source.contents, source.bytes)});
  return list;
}

DrawloomError *drawloomCompile(DrawloomCompiler *compiler,
                               const DrawloomSource *sources,
                               size_t sourceCount, const DrawloomShapes *shapes,
                               size_t shapeCount, DrawloomProgram **program) {
  *program = nullptr;
  std::vector<Source> list = copySources(sources, sourceCount);
  if (list.empty())
    return makeError(DRAWLOOM_ERROR_CALL, "no source is given");
  return compileSources(compiler, list, ArrayRef(shapes, shapeCount), program);
}

/// The types of arguments or results, with -1 for extents that are open.
/// Nothing where one has no form in the host's memory.
static std::optional<std::vector<ValueType>> openTypes(mlir::TypeRange types) {
  std::vector<ValueType> result;
  for (mlir::Type type : types) {
    std::optional<ElementType> element = elementTypeOf(type);
    if (!element)
      return std::nullopt;
    ValueType &open = result.emplace_back();
    open.element = *element;
    if (auto shaped = llvm::dyn_cast<mlir::ShapedType>(type)) {
      if (!shaped.hasRank())
        return std::nullopt;
      for (int64_t extent : shaped.getShape())
        open.shape.push_back(mlir::ShapedType::isDynamic(extent) ? -1 : extent);
    } else {
      open.isScalar = true;
    }
  }
  return result;
}

DrawloomError *drawloomParse(DrawloomCompiler *compiler,
                             const DrawloomSource *sources, size_t sourceCount,
                             DrawloomProgram **result) {
  *result = nullptr;
  std::vector<Source> list = copySources(sources, sourceCount);
  if (list.empty())
    return makeError(DRAWLOOM_ERROR_CALL, "no source is given");
  mlir::MLIRContext context(compiler->registry,
                            mlir::MLIRContext::Threading::DISABLED);
  Diagnostics diagnostics(context);
  mlir::OwningOpRef<mlir::ModuleOp> module = parseSources(list, context);
  if (!module || failed(verifyNames(*module)))
    return new DrawloomError{DRAWLOOM_ERROR_PROGRAM, diagnostics.message,
                             diagnostics.location, "parse",
                             reproducer(list, "parse", "", compiler->options)};
  std::vector<Signature> parsed;
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    auto arguments = openTypes(function.getArgumentTypes());
    auto results = openTypes(function.getResultTypes());
    if (function.isPublic() && !function.isDeclaration() && arguments &&
        results) {
      Signature &signature = parsed.emplace_back(
          Signature{function.getName().str(), std::move(*arguments),
                    std::move(*results)});
      giveNames(namesOf(function), signature);
    }
  }
  *result =
      new DrawloomProgram{std::make_shared<const Loaded>(std::move(parsed))};
  return nullptr;
}

DrawloomError *drawloomCompileFiles(DrawloomCompiler *compiler,
                                    const char *const *files, size_t fileCount,
                                    const DrawloomShapes *shapes,
                                    size_t shapeCount,
                                    DrawloomProgram **program) {
  *program = nullptr;
  std::vector<Source> list;
  for (const char *file : ArrayRef(files, fileCount)) {
    llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer =
        readInput(file);
    if (!buffer)
      return makeError(DRAWLOOM_ERROR_PROGRAM, toString(buffer.takeError()));
    list.push_back({file, (*buffer)->getBuffer().str()});
  }
  if (list.empty())
    return makeError(DRAWLOOM_ERROR_CALL, "no file is given");
  return compileSources(compiler, list, ArrayRef(shapes, shapeCount), program);
}

//===----------------------------------------------------------------------===//
// What a compiler keeps
//===----------------------------------------------------------------------===//

void drawloomCompilerCancel(DrawloomCompiler *compiler) {
  ++compiler->cancellations;
  compiler->finished.notify_all();
}

void drawloomCompilerMemory(DrawloomCompiler *compiler,
                            DrawloomCompilerMemory *memory) {
  DrawloomCompilerMemory known = {};
  known.size = std::min(memory->size, sizeof(known));
  {
    std::lock_guard<std::mutex> lock(compiler->mutex);
    for (const auto &entry : compiler->programs) {
      const Loaded &loaded = *entry.second;
      ++known.programs;
      known.bytes += static_cast<uint64_t>(loaded.program->codeBytes() +
                                           loaded.program->keptBytes() +
                                           loaded.artifactBytes());
    }
  }
  std::memcpy(memory, &known, known.size);
}

void drawloomCompilerStatistics(DrawloomCompiler *compiler,
                                DrawloomCompilerStatistics *statistics) {
  DrawloomCompilerStatistics known;
  {
    std::lock_guard<std::mutex> lock(compiler->mutex);
    known = compiler->statistics;
  }
  known.size = std::min(statistics->size, sizeof(known));
  std::memcpy(statistics, &known, known.size);
}

void drawloomCompilerForget(DrawloomCompiler *compiler) {
  decltype(compiler->programs) dropped; // Unloaded without the lock.
  std::lock_guard<std::mutex> lock(compiler->mutex);
  dropped.swap(compiler->programs);
}
