//===- drawloom-run.cpp - run a function of .mlir files -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/schedule/Schedule.h"
#include "lib/RegisterAll.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "tools/drawloom-run/Arguments.h"
#include "tools/drawloom-run/Benchmark.h"
#include "tools/drawloom-run/Engine.h"
#include "tools/drawloom-run/Spill.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;

namespace drawloom::run {

namespace {
/// A failure whose message is already on the error stream.
class AlreadyReported : public ErrorInfo<AlreadyReported> {
public:
  static char ID;
  void log(raw_ostream &stream) const override { stream << "already reported"; }
  std::error_code convertToErrorCode() const override {
    return inconvertibleErrorCode();
  }
};
char AlreadyReported::ID = 0;
} // namespace

Error alreadyReported() { return make_error<AlreadyReported>(); }

/// Prints a line for each result; error where one is out of tolerance.
static Error compareResults(const EntryPoint &entry, ArrayRef<Value> actual,
                            ArrayRef<Value> expected, const Options &options) {
  bool passed = true;
  for (auto [i, a, b] : enumerate(actual, expected)) {
    std::string type = typeText(a.type.element, a.type.shape);
    if (a.type.shape != b.type.shape) {
      outs() << resultName(entry, i) << ": " << type << ", but shape "
             << numpy::shapeText(b.type.shape)
             << " in the interpreter: FAILED\n";
      passed = false;
      continue;
    }
    Tolerance tolerance = toleranceOf(a.type.element);
    if (options.absoluteTolerance >= 0)
      tolerance.absolute = options.absoluteTolerance;
    if (options.relativeTolerance >= 0)
      tolerance.relative = options.relativeTolerance;
    Difference difference = compare(a, b, tolerance);
    bool fine = difference.ofTolerance <= 1;
    passed &= fine;
    outs() << resultName(entry, i) << ": " << type
           << format(": largest error %.3g, relative %.3g, %.3g of the "
                     "tolerance: ",
                     difference.largestAbsolute, difference.largestRelative,
                     difference.ofTolerance)
           << (fine ? "passed" : "FAILED");
    if (!fine)
      outs() << format(" (element %lld: %.9g, expected %.9g)",
                       static_cast<long long>(difference.at),
                       a.asDouble(difference.at), b.asDouble(difference.at));
    outs() << '\n';
  }
  return passed
             ? Error::success()
             : createStringError("the results differ from the interpreter's");
}

/// Of all functions where no entry is given.
static Error printPhase(mlir::ModuleOp module, const EntryPoint *entry,
                        const std::vector<Value> *arguments,
                        const Options &options) {
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> copy =
      entry ? isolate(module, *entry, arguments, options)
            : mlir::OwningOpRef<mlir::ModuleOp>(module.clone());
  if (!copy)
    return copy.takeError();
  if (failed(compile(**copy, options.compile)))
    return alreadyReported();
  (*copy)->print(outs());
  outs() << '\n';
  return Error::success();
}

/// Counted in the structured phase: later ones recompute and pad.
static Work workOf(mlir::ModuleOp module, const EntryPoint &entry,
                   ArrayRef<Value> arguments, ArrayRef<Value> results,
                   const Options &options) {
  Work work;
  for (ArrayRef<Value> values : {arguments, results})
    for (const Value &value : values)
      work.bytes += static_cast<double>(value.bytes.size());
  if (!module)
    return work;
  std::vector<Value> given = arguments.vec();
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> copy =
      isolate(module, entry, &given, options);
  if (!copy) {
    consumeError(copy.takeError());
    return work;
  }
  CompileOptions compileOptions = options.compile;
  compileOptions.to = Phase::Structured;
  compileOptions.dumpPhasesTo.clear();
  if (options.compile.from < Phase::Tiles &&
      succeeded(compile(**copy, compileOptions)))
    work.operations = report::countOperations(**copy);
  return work;
}

/// Runs again on 1, 2 and 3 threads in turn: each result must have the bits of
/// the first run's.
static Error checkBits(Engine &engine, const EntryPoint &entry,
                       ArrayRef<Value> arguments, ArrayRef<Value> expected,
                       const Options &options) {
  for (unsigned run = 0; run < options.bitRuns; ++run) {
    unsigned threads = run % 3 + 1;
    engine.setThreads(threads);
    if (Error error = engine.run(arguments))
      return error;
    for (auto [i, a, b] : enumerate(engine.results(), expected))
      if (a.bytes != b.bytes)
        return createStringError(resultName(entry, i) + ": other bits in run " +
                                 Twine(run + 2) + ", on " + Twine(threads) +
                                 " threads, than in the first");
  }
  engine.setThreads(options.threads);
  return Error::success();
}

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// All that is done with an engine. Without a module there is no source to
/// compare or count by.
static Error runEngine(Engine &engine, mlir::ModuleOp module,
                       const EntryPoint &entry, ArrayRef<Value> arguments,
                       const report::Recorder &recorder, double compileSeconds,
                       const Options &options) {
  if (Error error = engine.run(arguments))
    return error;
  std::vector<Value> results = engine.results();
  if (options.print)
    for (auto [i, result] : enumerate(results))
      print(outs(), resultName(entry, i), result);
  if (!options.output.empty())
    if (Error error = writeResults(options.output, entry, results))
      return error;
  if (options.compareWithInterpreter) {
    // Compared with what it computed, not with that rounded.
    Options exact = options;
    exact.float64 = true;
    Expected<std::unique_ptr<Engine>> reference =
        createInterpreter(module, entry, exact);
    if (!reference)
      return reference.takeError();
    if (Error error = (*reference)->run(arguments))
      return error;
    if (Error error =
            compareResults(entry, results, (*reference)->results(), options))
      return error;
  }
  if (options.bitRuns)
    if (Error error = checkBits(engine, entry, arguments, results, options))
      return error;
  if (options.report) {
    Signature signature{entry.name, {}, {}, 0, {}};
    for (const Value &value : arguments)
      signature.arguments.push_back(value.type);
    for (const Value &value : results)
      signature.results.push_back(value.type);
    return writeReport(engine, signature, arguments, recorder, options);
  }
  if (options.benchmarkRuns)
    return benchmark(engine, entry.name, arguments,
                     workOf(module, entry, arguments, results, options),
                     compileSeconds, options);
  return Error::success();
}

/// Whether the program of a phase is printed, for whatever arguments.
static bool printsWithoutArguments(const Options &options) {
  return options.stopsAtPhase && options.target == Target::Compiled &&
         options.inputs.empty() && !options.random;
}

/// Whether the program is compiled and saved for shapes alone: there are no
/// arguments to run it on.
static bool onlySaves(const EntryPoint &entry, const Options &options) {
  bool wantsResults = options.print || !options.output.empty() ||
                      options.compareWithInterpreter || options.bitRuns ||
                      options.benchmarkRuns || options.report;
  return !options.save.empty() && !entry.arguments.empty() &&
         options.inputs.empty() && !options.random && !wantsResults;
}

static Error runEntry(mlir::ModuleOp module, const EntryPoint &entry,
                      report::Recorder &recorder, const Options &options) {
  if (StringRef(options.output).ends_with(".npy") && entry.results.size() != 1)
    return createStringError("@" + entry.name + " has " +
                             Twine(entry.results.size()) +
                             " results: --output takes a folder or a .npz "
                             "file for them");
  if (printsWithoutArguments(options))
    return printPhase(module, &entry, nullptr, options);
  bool saves = onlySaves(entry, options);
  if (saves && options.open)
    return saveOpen(module, entry, options);
  Options given = options;
  given.random |= saves;
  Expected<std::vector<Value>> arguments = makeArguments(entry, given);
  if (!arguments)
    return arguments.takeError();
  if (options.stopsAtPhase && options.target == Target::Compiled)
    return printPhase(module, &entry, &*arguments, options);

  auto start = std::chrono::steady_clock::now();
  Expected<std::unique_ptr<Engine>> engine =
      options.target == Target::Compiled
          ? createCompiled(module, entry, *arguments, options,
                           options.report ? &recorder : nullptr)
          : createInterpreter(module, entry, options);
  if (!engine)
    return engine.takeError();
  if (saves)
    return Error::success();
  double compileSeconds = secondsSince(start);
  return runEngine(**engine, module, entry, *arguments, recorder,
                   compileSeconds, options);
}

/// A program that was compiled before.
static Error runSaved(const Artifact &artifact, const Options &options) {
  mlir::MLIRContext context;
  Expected<std::vector<EntryPoint>> entries =
      chooseEntries(entryPoints(artifact, context), options);
  if (!entries)
    return entries.takeError();
  if (!options.output.empty())
    if (Error error = checkOutput(options.output))
      return error;
  const report::Recorder nothing;
  for (const EntryPoint &entry : *entries) {
    Expected<std::vector<Value>> arguments = makeArguments(entry, options);
    if (!arguments)
      return arguments.takeError();
    auto start = std::chrono::steady_clock::now();
    Expected<std::unique_ptr<Engine>> engine =
        createSaved(artifact, entry, *arguments, options);
    if (!engine)
      return engine.takeError();
    double seconds = secondsSince(start);
    if (Error error = runEngine(**engine, nullptr, entry, *arguments, nothing,
                                seconds, options))
      return error;
  }
  return Error::success();
}

static Error runProgram(Options &options) {
  mlir::DialectRegistry registry;
  drawloom::registerAllDialects(registry);
  for (const std::string &plugin : options.plugins)
    if (Error error = loadPlugin(plugin))
      return error;
  options.compile.plugins = addPlugins(registry);
  report::Recorder recorder;
  mlir::MLIRContext context(registry);
  SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);

  if (options.report || !options.remarksFilter.empty())
    if (!recorder.collectRemarks(context, options.remarksFilter,
                                 /*print=*/!options.remarksFilter.empty()))
      return createStringError("remarks cannot be collected");
  mlir::DefaultTimingManager timing;
  mlir::applyDefaultTimingManagerCLOptions(timing);
  mlir::TimingScope phases = timing.getRootScope();
  options.compile.configure = [&](mlir::PassManager &passes) {
    (void)mlir::applyPassManagerCLOptions(passes);
    passes.enableTiming(phases);
    if (!options.reproducer.empty())
      passes.enableCrashReproducerGeneration(options.reproducer);
  };

  mlir::OwningOpRef<mlir::ModuleOp> module =
      parseSourceFiles(options.files, context);
  if (!module)
    return alreadyReported();
  if (Error error = nvptx::applyScheduleFile(*module, options.schedule))
    return error;
  std::vector<EntryPoint> all = entryPoints(*module, options.compile.from);
  // As libraries compile it: whatever is public.
  if (options.entry.empty() && printsWithoutArguments(options) &&
      count_if(all, [](const EntryPoint &one) { return one.isPublic; }) > 1)
    return printPhase(*module, nullptr, nullptr, options);
  Expected<std::vector<EntryPoint>> entries = chooseEntries(all, options);
  if (!entries)
    return entries.takeError();
  if (!options.save.empty() && entries->size() > 1)
    return createStringError("--save writes one function for the shapes of its "
                             "arguments; --entry=NAME chooses it");
  if (!options.output.empty()) {
    if (entries->size() > 1)
      return createStringError("--output takes the results of one function; "
                               "--entry=NAME chooses it");
    if (Error error = checkOutput(options.output))
      return error;
  }
  if (!options.save.empty())
    if (Error error = checkFile(options.save))
      return error;
  if (!options.reportFile.empty()) {
    if (entries->size() > 1)
      return createStringError("--report=" + options.reportFile +
                               " takes one function; --entry=NAME chooses it");
    if (Error error = checkFile(options.reportFile))
      return error;
  }
  // Each function runs, also after one that failed.
  Error outcome = Error::success();
  for (const EntryPoint &entry : *entries) {
    Error error = runEntry(*module, entry, recorder, options);
    if (error && entries->size() > 1)
      errs() << "drawloom-run: @" << entry.name << " failed\n";
    outcome = joinErrors(std::move(outcome), std::move(error));
  }
  return outcome;
}

static int exitCode(Error error) {
  if (!error)
    return 0;
  outs().flush();
  handleAllErrors(
      std::move(error), [](const AlreadyReported &) {},
      [](const ErrorInfoBase &info) {
        WithColor::error(errs(), "drawloom-run") << info.message() << '\n';
      });
  return 1;
}

} // namespace drawloom::run

int main(int argc, char **argv) {
  using namespace drawloom::run;
  InitLLVM init(argc, argv);
  llvm::Expected<Options> options = parseCommandLine(argc, argv);
  if (!options)
    return exitCode(options.takeError());
  if (options->calibrates)
    return exitCode(calibrate(*options));
  llvm::Expected<std::optional<drawloom::Artifact>> saved = readSaved(*options);
  if (!saved)
    return exitCode(saved.takeError());
  return exitCode(*saved ? runSaved(**saved, *options) : runProgram(*options));
}
