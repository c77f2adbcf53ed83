//===- CompiledEngine.cpp - run compiled for this CPU ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact.h"
#include "drawloom/runtime/CallersStore.h"
#include "drawloom/runtime/Files.h"
#include "tools/drawloom-run/Engine.h"
#include "tools/drawloom-run/Spill.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

namespace drawloom::run {

Expected<mlir::OwningOpRef<mlir::ModuleOp>>
isolate(mlir::ModuleOp module, const EntryPoint &entry,
        const std::vector<Value> *arguments, const Options &options) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  // Signatures of later phases stand for what was callable; all is needed.
  if (options.compile.from >= Phase::Memory)
    return copy;
  if (failed(keepOnly(*copy, entry.name)))
    return alreadyReported();
  if (arguments) {
    std::vector<std::vector<int64_t>> shapes;
    for (const Value &argument : *arguments)
      shapes.push_back(argument.type.shape);
    if (failed(specializeShapes(*copy, entry.name, shapes)))
      return alreadyReported();
  }
  return copy;
}

namespace {
class CompiledEngine final : public Engine {
public:
  CompiledEngine(std::unique_ptr<Program> program, BoundSignature bound,
                 unsigned threads, std::unique_ptr<Spill> given)
      : program(std::move(program)), signature(bound.signature),
        extents(bound.extents), threads(threads), spill(std::move(given)) {
    if (spill)
      runtime::useStore(&spill->records());
    for (const ValueType &type : signature.results)
      values.push_back({type, std::string(type.bytes(), '\0')});
  }

  ~CompiledEngine() override {
    if (spill)
      runtime::useStore(nullptr);
  }

  Error run(ArrayRef<Value> arguments, KernelProfile *profile) override {
    std::vector<const void *> inputs;
    for (const Value &argument : arguments)
      inputs.push_back(argument.bytes.data());
    std::vector<void *> outputs;
    for (Value &value : values)
      outputs.push_back(value.bytes.data());
    return program->run(signature.name, inputs, outputs, threads, profile,
                        extents);
  }

  std::vector<Value> results() const override { return values; }
  void setThreads(unsigned count) override { threads = count; }
  StringRef isa() const override { return program->isa(); }

private:
  std::unique_ptr<Program> program;
  Signature signature;
  std::vector<int64_t> extents;
  unsigned threads;
  std::vector<Value> values;
  std::unique_ptr<Spill> spill;
};
} // namespace

static Expected<std::unique_ptr<Engine>>
makeEngine(std::unique_ptr<Program> program, const EntryPoint &entry,
           ArrayRef<Value> arguments, const Options &options) {
  const Signature *found = program->find(entry.name);
  if (!found)
    return createStringError("@" + entry.name +
                             " cannot be called in its compiled form");
  std::vector<std::vector<int64_t>> shapes;
  for (const Value &argument : arguments)
    shapes.push_back(argument.type.shape);
  runtime::Result<BoundSignature> bound = runtime::bind(*found, shapes);
  if (!bound.ok())
    return createStringError(bound.message());
  const Signature *signature = &bound->signature;
  // Before the results are allocated: a clear refusal instead of the kernel's.
  int64_t bytes = signature->workspaceBytes;
  for (const ValueType &type : signature->results) {
    Expected<int64_t> more = bytesNeeded(type.element, type.shape);
    if (!more)
      return createStringError("a result of @" + entry.name + ": " +
                               toString(more.takeError()));
    bytes += *more;
  }
  if (Error error = checkMemory(bytes, "@" + entry.name +
                                           " with its results and workspace"))
    return error;
  std::unique_ptr<Spill> spill;
  if (signature->records > 0 && !options.spill.empty()) {
    Expected<std::unique_ptr<Spill>> opened =
        Spill::open(options, signature->recordBytes);
    if (!opened)
      return opened.takeError();
    spill = std::move(*opened);
  }
  return std::make_unique<CompiledEngine>(std::move(program), std::move(*bound),
                                          options.threads, std::move(spill));
}

/// Compiles the function, for the arguments' extents if there are arguments,
/// and saves it where that is asked for.
static Expected<std::unique_ptr<Program>>
compileEntry(mlir::ModuleOp module, const EntryPoint &entry,
             const std::vector<Value> *arguments, const Options &options,
             report::Recorder *recorder) {
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> copy =
      isolate(module, entry, arguments, options);
  if (!copy)
    return copy.takeError();
  CompileOptions compile = options.compile;
  compile.cache = options.cache ? &*options.cache : nullptr;
  compile.note = [](const Twine &message) {
    WithColor::remark(errs(), "drawloom-run") << message << '\n';
  };
  SmallString<128> plan;
  if (options.printsPlan) {
    if (std::error_code code =
            sys::fs::createTemporaryFile("drawloom-plan", "txt", plan))
      return createStringError("--plan: no file for it: " + code.message());
    compile.codegen.memory.explain = plan.str().str();
  }
  if (recorder) {
    recorder->clear();
    recorder->follow(compile);
  }
  Artifact artifact;
  Expected<std::unique_ptr<Program>> program =
      compileProgram(**copy, compile, &artifact);
  if (options.printsPlan) {
    if (ErrorOr<std::unique_ptr<MemoryBuffer>> text =
            MemoryBuffer::getFile(plan))
      outs() << (*text)->getBuffer();
    sys::fs::remove(plan);
  }
  if (!program)
    return program.takeError();
  if (recorder)
    recorder->finish();
  if (!options.save.empty()) {
    runtime::Status written =
        runtime::writeFile(options.save, writeArtifact(artifact));
    if (!written.ok())
      return createStringError(written.message());
  }
  return program;
}

Expected<std::unique_ptr<Engine>> createCompiled(mlir::ModuleOp module,
                                                 const EntryPoint &entry,
                                                 ArrayRef<Value> arguments,
                                                 const Options &options,
                                                 report::Recorder *recorder) {
  std::vector<Value> given = arguments.vec();
  Expected<std::unique_ptr<Program>> program = compileEntry(
      module, entry, options.open ? nullptr : &given, options, recorder);
  if (!program)
    return program.takeError();
  return makeEngine(std::move(*program), entry, arguments, options);
}

Error saveOpen(mlir::ModuleOp module, const EntryPoint &entry,
               const Options &options) {
  return compileEntry(module, entry, nullptr, options, nullptr).takeError();
}

Expected<std::optional<Artifact>> readSaved(const Options &options) {
  constexpr StringLiteral magic = "drawloom-artifact ";
  for (const std::string &path : options.files) {
    // A pipe can be read once, by the parser; which says why another file
    // cannot.
    if (!sys::fs::is_regular_file(path))
      continue;
    ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
    if (!file || !(*file)->getBuffer().starts_with(magic))
      continue;
    auto refuse = [&](const Twine &why) {
      return createStringError("'" + path + "' is a compiled program: " + why);
    };
    if (options.files.size() > 1)
      return refuse("nothing else can be linked to it");
    if (options.target != Target::Compiled || options.compareWithInterpreter ||
        options.stopsAtPhase || options.report || !options.save.empty() ||
        !options.compile.dumpPhasesTo.empty() || !options.plugins.empty() ||
        !options.compile.inserted.empty())
      return refuse("what asks for its source cannot be done");
    Expected<Artifact> artifact = readArtifact((*file)->getBuffer());
    if (!artifact)
      return createStringError(
          "'" + path + "' is not loaded: " + toString(artifact.takeError()));
    return std::optional<Artifact>(std::move(*artifact));
  }
  return std::nullopt;
}

static mlir::Type elementType(ElementType element, mlir::Builder builder) {
  switch (element) {
  case ElementType::F64:
    return builder.getF64Type();
  case ElementType::F32:
    return builder.getF32Type();
  case ElementType::BF16:
    return builder.getBF16Type();
  case ElementType::F16:
    return builder.getF16Type();
  case ElementType::I64:
    return builder.getI64Type();
  case ElementType::I32:
    return builder.getI32Type();
  case ElementType::I8:
    return builder.getI8Type();
  case ElementType::I1:
    return builder.getI1Type();
  }
  llvm_unreachable("all types are listed");
}

std::vector<EntryPoint> entryPoints(const Artifact &artifact,
                                    mlir::MLIRContext &context) {
  std::vector<EntryPoint> list;
  for (const Artifact::Entry &known : artifact.variants.front().entries) {
    EntryPoint &entry = list.emplace_back();
    entry.name = known.signature.name;
    for (auto [types, into, names] :
         {std::tuple(&known.signature.arguments, &entry.arguments,
                     &entry.names.arguments),
          std::tuple(&known.signature.results, &entry.results,
                     &entry.names.results)})
      for (const ValueType &type : *types) {
        names->push_back(type.name);
        std::vector<int64_t> shape = type.shape;
        for (int64_t &extent : shape)
          if (extent < 0)
            extent = mlir::ShapedType::kDynamic;
        into->push_back(mlir::RankedTensorType::get(
            shape, elementType(type.element, mlir::Builder(&context))));
      }
  }
  return list;
}

Expected<std::unique_ptr<Engine>> createSaved(const Artifact &artifact,
                                              const EntryPoint &entry,
                                              ArrayRef<Value> arguments,
                                              const Options &options) {
  // Native is whatever is best here.
  StringRef isa = options.compile.codegen.isa;
  runtime::Result<runtime::TargetDevice> target =
      runtime::chooseTarget(artifact, options.savedTarget);
  if (!target.ok())
    return createStringError("'" + options.files.front() +
                             "' is not loaded: " + target.message());
  Expected<std::unique_ptr<Program>> program =
      loadArtifact(artifact, *target, isa == "native" ? "" : isa);
  if (!program)
    return createStringError("'" + options.files.front() + "' is not loaded: " +
                             toString(program.takeError()));
  return makeEngine(std::move(*program), entry, arguments, options);
}

} // namespace drawloom::run
