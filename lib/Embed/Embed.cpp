//===- Embed.cpp - the C interface ----------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom-c/drawloom.h"
#include "lib/Compiler/Compiler.h"
#include "lib/Compiler/Targets.h"
#include "lib/RegisterAll.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <condition_variable>
#include <list>
#include <mutex>

using namespace drawloom;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

struct DrawloomError {
  DrawloomErrorCode code;
  std::string message, location, phase, reproducer;
};

struct DrawloomFunction {
  const Program *program;
  const Signature *signature;
};

namespace {
/// What compiling gives; shared by all who asked for the same.
struct Compiled {
  std::unique_ptr<Program> program;
  /// Of a program that is only parsed, which has no `program`.
  std::vector<Signature> parsed;
  std::vector<DrawloomFunction> functions;
};
} // namespace

struct DrawloomProgram {
  std::shared_ptr<const Compiled> compiled;
};

struct DrawloomCompiler {
  CompileOptions options;
  std::optional<DiskCache> cache;
  mlir::DialectRegistry registry;

  /// The programs of this compiler by what they were compiled from, the one
  /// used last in front.
  static constexpr size_t mostPrograms = 256;
  std::mutex mutex;
  std::list<std::pair<std::string, std::shared_ptr<const Compiled>>> programs;
  /// Those that a thread is at work on, and what others that want one wait for.
  llvm::StringSet<> inWork;
  std::condition_variable finished;

  /// The program, as soon as no other thread is at work on it. Null where the
  /// caller is to compile it, and then to call `finish`.
  std::shared_ptr<const Compiled> findOrStart(StringRef key) {
    std::unique_lock<std::mutex> lock(mutex);
    finished.wait(lock, [&] { return !inWork.contains(key); });
    for (auto it = programs.begin(); it != programs.end(); ++it)
      if (it->first == key) {
        programs.splice(programs.begin(), programs, it);
        return it->second;
      }
    inWork.insert(key);
    return nullptr;
  }
  /// Remembers the program; null where compiling failed, and the next one that
  /// waits tries for itself: its error names its own sources.
  void finish(StringRef key, std::shared_ptr<const Compiled> compiled) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      inWork.erase(key);
      if (compiled)
        programs.emplace_front(key.str(), std::move(compiled));
      if (programs.size() > mostPrograms)
        programs.pop_back();
    }
    finished.notify_all();
  }
};

static DrawloomError *makeError(DrawloomErrorCode code, const Twine &message) {
  return new DrawloomError{code, message.str(), "", "", ""};
}

int drawloomApiVersion(void) { return DRAWLOOM_API_VERSION; }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void drawloomErrorDestroy(DrawloomError *error) { delete error; }
DrawloomErrorCode drawloomErrorCode(const DrawloomError *error) {
  return error->code;
}
const char *drawloomErrorMessage(const DrawloomError *error) {
  return error->message.c_str();
}
const char *drawloomErrorLocation(const DrawloomError *error) {
  return error->location.c_str();
}
const char *drawloomErrorPhase(const DrawloomError *error) {
  return error->phase.c_str();
}
const char *drawloomErrorReproducer(const DrawloomError *error) {
  return error->reproducer.c_str();
}

namespace {
/// Collects what the compiler says about a program. The first error counts; its
/// notes and the errors after it follow in the message.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext &context)
      : handler(&context,
                [this](mlir::Diagnostic &diagnostic) { add(diagnostic); }) {}

  std::string message, location;

private:
  static std::string text(mlir::Location where) {
    std::string text;
    where->walk([&](mlir::Location part) {
      auto file = llvm::dyn_cast<mlir::FileLineColLoc>(part);
      if (!file)
        return mlir::WalkResult::advance();
      text = (file.getFilename().getValue() + ":" + Twine(file.getLine()) +
              ":" + Twine(file.getColumn()))
                 .str();
      return mlir::WalkResult::interrupt();
    });
    return text;
  }

  void add(mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return;
    if (message.empty())
      location = text(diagnostic.getLocation());
    else
      message += "\n";
    message += diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes()) {
      std::string where = text(note.getLocation());
      message += "\n" + (where.empty() ? "" : where + ": ") + note.str();
    }
  }

  mlir::ScopedDiagnosticHandler handler;
};
} // namespace

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
  if (!folder.empty() && compile.dumpPhasesTo.empty()) {
    compiler->cache.emplace(folder);
    if (options.cacheBytes)
      compiler->cache.emplace(folder, options.cacheBytes);
  }
  compile.cache = compiler->cache ? &*compiler->cache : nullptr;
  registerAllDialects(compiler->registry);
  *result = compiler.release();
  return nullptr;
}

void drawloomCompilerDestroy(DrawloomCompiler *compiler) { delete compiler; }

/// How the drawloom-run command line says the same.
static std::string reproducer(ArrayRef<Source> sources, StringRef phase,
                              StringRef isa) {
  std::string command = "drawloom-run";
  for (const Source &source : sources)
    command += " " + source.name;
  if (!parsePhase(phase))
    return command;
  return (command + " --isa=" + isa + " --compile-to=" + phase).str();
}

static DrawloomError *compileSources(DrawloomCompiler *compiler,
                                     ArrayRef<Source> sources,
                                     ArrayRef<DrawloomShapes> shapes,
                                     DrawloomProgram **result) {
  std::vector<std::string> shapeTexts;
  for (const DrawloomShapes &one : shapes) {
    std::string &text = shapeTexts.emplace_back(one.function);
    for (const DrawloomExtents &argument :
         ArrayRef(one.arguments, one.argumentCount))
      text +=
          "|" +
          llvm::join(llvm::map_range(ArrayRef(argument.extents, argument.rank),
                                     [](int64_t e) { return llvm::itostr(e); }),
                     "x");
  }
  llvm::SmallVector<StringRef> parts;
  for (const Source &source : sources)
    parts.push_back(source.contents);
  parts.append(shapeTexts.begin(), shapeTexts.end());
  // Kept apart: what was a source could be a shape elsewhere.
  std::string counts =
      (Twine(sources.size()) + " " + Twine(shapes.size())).str();
  parts.push_back(counts);
  std::string key = cacheKey(parts);
  if (std::shared_ptr<const Compiled> known = compiler->findOrStart(key)) {
    *result = new DrawloomProgram{std::move(known)};
    return nullptr;
  }
  std::shared_ptr<Compiled> compiled;
  llvm::scope_exit finish([&] { compiler->finish(key, compiled); });

  // Both outlive the context.
  std::string phase = "parse", isa;
  CompileOptions options = compiler->options;
  options.entering = [&](Phase next, mlir::ModuleOp, StringRef set) {
    phase = phaseName(next).str();
    isa = set.str();
  };
  auto failure = std::make_unique<DrawloomError>();
  failure->code = DRAWLOOM_ERROR_PROGRAM;
  llvm::Expected<std::unique_ptr<Program>> program =
      loadOrCompile(parts, options, [&]() -> llvm::Expected<Artifact> {
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
        for (const DrawloomShapes &one : shapes) {
          std::vector<std::vector<int64_t>> extents;
          for (const DrawloomExtents &argument :
               ArrayRef(one.arguments, one.argumentCount))
            extents.emplace_back(argument.extents,
                                 argument.extents + argument.rank);
          if (failed(specializeShapes(*module, one.function, extents)))
            return fail("the shapes do not fit");
        }
        llvm::Expected<Artifact> artifact = compileToArtifact(*module, options);
        if (!artifact && !diagnostics.message.empty()) {
          llvm::consumeError(artifact.takeError());
          return fail("compilation failed");
        }
        return artifact;
      });
  if (!program) {
    std::string message = toString(program.takeError());
    if (failure->message.empty())
      failure->message = message;
    failure->phase = phase;
    failure->reproducer = reproducer(sources, phase, isa);
    return failure.release();
  }
  compiled = std::make_shared<Compiled>();
  compiled->program = std::move(*program);
  for (const Signature &signature : compiled->program->signatures())
    compiled->functions.push_back({compiled->program.get(), &signature});
  *result = new DrawloomProgram{compiled};
  return nullptr;
}

static std::vector<Source> copySources(const DrawloomSource *sources,
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
  if (!module)
    return new DrawloomError{DRAWLOOM_ERROR_PROGRAM, diagnostics.message,
                             diagnostics.location, "parse",
                             reproducer(list, "parse", "")};
  auto parsed = std::make_shared<Compiled>();
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    auto arguments = openTypes(function.getArgumentTypes());
    auto results = openTypes(function.getResultTypes());
    if (function.isPublic() && !function.isDeclaration() && arguments &&
        results)
      parsed->parsed.push_back({function.getName().str(), std::move(*arguments),
                                std::move(*results)});
  }
  for (const Signature &signature : parsed->parsed)
    parsed->functions.push_back({nullptr, &signature});
  *result = new DrawloomProgram{std::move(parsed)};
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
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer)
      return makeError(DRAWLOOM_ERROR_PROGRAM,
                       "cannot read '" + Twine(file) +
                           "': " + buffer.getError().message());
    list.push_back({file, (*buffer)->getBuffer().str()});
  }
  if (list.empty())
    return makeError(DRAWLOOM_ERROR_CALL, "no file is given");
  return compileSources(compiler, list, ArrayRef(shapes, shapeCount), program);
}

void drawloomProgramDestroy(DrawloomProgram *program) { delete program; }

//===----------------------------------------------------------------------===//
// Calling
//===----------------------------------------------------------------------===//

size_t drawloomFunctionCount(const DrawloomProgram *program) {
  return program->compiled->functions.size();
}

const DrawloomFunction *drawloomFunctionAt(const DrawloomProgram *program,
                                           size_t index) {
  ArrayRef<DrawloomFunction> functions = program->compiled->functions;
  return index < functions.size() ? &functions[index] : nullptr;
}

DrawloomError *drawloomFunctionFind(const DrawloomProgram *program,
                                    const char *name,
                                    const DrawloomFunction **function) {
  *function = nullptr;
  std::string known;
  for (const DrawloomFunction &candidate : program->compiled->functions) {
    if (candidate.signature->name == name) {
      *function = &candidate;
      return nullptr;
    }
    known += (known.empty() ? "@" : ", @") + candidate.signature->name;
  }
  return makeError(DRAWLOOM_ERROR_CALL, "the program has no function @" +
                                            Twine(name) + "; it has " +
                                            (known.empty() ? "none" : known));
}

const char *drawloomFunctionName(const DrawloomFunction *function) {
  return function->signature->name.c_str();
}
size_t drawloomArgumentCount(const DrawloomFunction *function) {
  return function->signature->arguments.size();
}
size_t drawloomResultCount(const DrawloomFunction *function) {
  return function->signature->results.size();
}

static DrawloomElement elementOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return DRAWLOOM_F64;
  case ElementType::F32:
    return DRAWLOOM_F32;
  case ElementType::BF16:
    return DRAWLOOM_BF16;
  case ElementType::F16:
    return DRAWLOOM_F16;
  case ElementType::I64:
    return DRAWLOOM_I64;
  case ElementType::I32:
    return DRAWLOOM_I32;
  case ElementType::I8:
    return DRAWLOOM_I8;
  case ElementType::I1:
    return DRAWLOOM_I1;
  }
  llvm_unreachable("all types are listed");
}

static DrawloomType typeAt(ArrayRef<ValueType> types, size_t index) {
  if (index >= types.size())
    return {};
  const ValueType &type = types[index];
  return {elementOf(type.element), type.shape.size(), type.shape.data(),
          type.bytes()};
}
DrawloomType drawloomArgumentType(const DrawloomFunction *function,
                                  size_t index) {
  return typeAt(function->signature->arguments, index);
}
DrawloomType drawloomResultType(const DrawloomFunction *function,
                                size_t index) {
  return typeAt(function->signature->results, index);
}
int64_t drawloomFunctionWorkspace(const DrawloomFunction *function) {
  return function->signature->workspaceBytes;
}

/// Refuses what a call must not be given: another number of buffers, a wrong
/// size, a null or badly aligned pointer.
static DrawloomError *checkBuffers(const Signature &signature, StringRef kind,
                                   ArrayRef<ValueType> types,
                                   ArrayRef<DrawloomBuffer> buffers) {
  if (buffers.size() != types.size())
    return makeError(DRAWLOOM_ERROR_CALL,
                     "@" + signature.name + " has " + Twine(types.size()) +
                         " " + kind + "s, but " + Twine(buffers.size()) +
                         " are given");
  for (size_t i = 0; i < types.size(); ++i) {
    auto refuse = [&](const Twine &why) {
      return makeError(DRAWLOOM_ERROR_CALL, kind + " " + Twine(i) + " of @" +
                                                signature.name + " " + why);
    };
    uint64_t bytes = types[i].bytes();
    if (buffers[i].bytes != bytes)
      return refuse("takes " + Twine(bytes) + " bytes, but the buffer has " +
                    Twine(buffers[i].bytes));
    if (bytes == 0)
      continue;
    if (!buffers[i].data)
      return refuse("is a null pointer");
    uint64_t alignment = elementBytes(types[i].element);
    if (reinterpret_cast<uintptr_t>(buffers[i].data) % alignment != 0)
      return refuse("is not aligned to its elements, " + Twine(alignment) +
                    " bytes each");
  }
  return nullptr;
}

namespace {
struct Region {
  uintptr_t begin, end;
  bool result;
  size_t index;
};
} // namespace

/// Refuses a result that shares memory with an argument or another result.
static DrawloomError *checkOverlap(const Signature &signature,
                                   ArrayRef<DrawloomBuffer> arguments,
                                   ArrayRef<DrawloomBuffer> results) {
  llvm::SmallVector<Region, 32> regions;
  auto add = [&](ArrayRef<DrawloomBuffer> buffers, bool result) {
    for (auto [i, buffer] : llvm::enumerate(buffers))
      if (buffer.bytes > 0) {
        auto begin = reinterpret_cast<uintptr_t>(buffer.data);
        regions.push_back({begin, begin + buffer.bytes, result, i});
      }
  };
  add(arguments, false);
  add(results, true);
  llvm::sort(regions, [](const Region &a, const Region &b) {
    return a.begin < b.begin;
  });
  // The furthest end so far, of any buffer and of a result.
  const Region *any = nullptr, *result = nullptr;
  for (const Region &region : regions) {
    const Region *other = region.result ? any : result;
    if (other && other->end > region.begin) {
      auto name = [](const Region &r) {
        return (r.result ? "result " : "argument ") + std::to_string(r.index);
      };
      return makeError(DRAWLOOM_ERROR_CALL,
                       name(region) + " and " + name(*other) + " of @" +
                           signature.name +
                           " share memory; only arguments may");
    }
    if (!any || region.end > any->end)
      any = &region;
    if (region.result && (!result || region.end > result->end))
      result = &region;
  }
  return nullptr;
}

DrawloomError *drawloomCall(const DrawloomFunction *function,
                            const DrawloomBuffer *arguments,
                            size_t argumentCount, const DrawloomBuffer *results,
                            size_t resultCount, unsigned threads) {
  const Signature &signature = *function->signature;
  ArrayRef<DrawloomBuffer> in(arguments, argumentCount);
  ArrayRef<DrawloomBuffer> out(results, resultCount);
  if (!function->program)
    return makeError(DRAWLOOM_ERROR_CALL,
                     "@" + signature.name +
                         " is parsed, not compiled: drawloomCompile does that");
  if (threads == 0)
    return makeError(DRAWLOOM_ERROR_CALL,
                     "@" + signature.name + " cannot run on 0 threads");
  if (DrawloomError *error =
          checkBuffers(signature, "argument", signature.arguments, in))
    return error;
  if (DrawloomError *error =
          checkBuffers(signature, "result", signature.results, out))
    return error;
  if (DrawloomError *error = checkOverlap(signature, in, out))
    return error;
  llvm::SmallVector<const void *, 16> from;
  llvm::SmallVector<void *, 16> to;
  for (const DrawloomBuffer &buffer : in)
    from.push_back(buffer.data);
  for (const DrawloomBuffer &buffer : out)
    to.push_back(buffer.data);
  // What is left to fail is memory: the rest was checked above.
  if (llvm::Error error =
          function->program->run(signature.name, from, to, threads))
    return makeError(DRAWLOOM_ERROR_MEMORY, toString(std::move(error)));
  return nullptr;
}
