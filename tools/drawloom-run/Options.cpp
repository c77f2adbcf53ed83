//===- Options.cpp - the command line -------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/drawloom-run/Options.h"
#include "lib/Compiler/Targets.h"
#include "lib/RegisterAll.h"
#include "lib/Version.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Regex.h"
#include <thread>

using namespace llvm;

namespace drawloom::run {

/// "cpu, interpreter".
static std::string targetNames() {
  std::string names;
  for (const CompileTarget *target : allTargets())
    names += target->name().str() + ", ";
  return names + "interpreter";
}

static constexpr StringLiteral overview =
    "Runs a function of .mlir files.\n\n"
    "  The program is compiled for this CPU, or interpreted in float64. "
    "Several\n"
    "  files make one program: a function that one only declares, another\n"
    "  defines. A file that --save wrote is run as it is. Without --entry, the "
    "only public function runs; if there are\n"
    "  several, all those without arguments (tests with check ops).\n";

static constexpr StringLiteral examples = R"(
EXAMPLES:

  Run on random arguments and look at the results:
    drawloom-run step.mlir --random --seed=7 --print

  Run on arrays that NumPy saved, and save the results for NumPy:
    drawloom-run step.mlir --input=x.npy --input=w.npy --output=results.npz

  Compare compiled code with the float64 interpreter:
    drawloom-run step.mlir --random --compare=interpreter

  Give extents that the program leaves open (argument 0 is tensor<?x64xf32>):
    drawloom-run step.mlir --random --shape=0:16384x64

  Compile once for all runs:
    drawloom-run step.mlir --input=x.npz --print --cache

  Compile for all processors, and run that without compiling:
    drawloom-run step.mlir --shape=0:128x64 --isa=all --save=step.drawloom
    drawloom-run step.drawloom --input=x.npz --print

  The same for any extents in place of each `?`:
    drawloom-run step.mlir --open --save=step.drawloom

  Measure, on two threads, without AVX-512:
    drawloom-run step.mlir --random --benchmark=50 --threads=2 --isa=avx2

  See where the time goes, in a browser:
    drawloom-run step.mlir --random --report=step.html

  Run in less memory; what does not fit waits on a disk:
    drawloom-run step.mlir --random --memory=512MiB --spill=/var/tmp --plan

  See what each phase of the compiler made of the program:
    drawloom-run step.mlir --random --dump-phases-to=phases
)";

namespace {
/// Constructed on use: a tool that is linked with this file, but does not parse
/// a command line, must not get its options.
struct CommandLine {
  cl::OptionCategory program{"Program"};
  cl::OptionCategory arguments{"Arguments"};
  cl::OptionCategory results{"Results"};
  cl::OptionCategory compiling{"Compiling"};
  cl::OptionCategory measuring{"Measuring"};
  cl::extrahelp help{examples};

  cl::list<std::string> files{cl::Positional, cl::desc("FILE.mlir..."),
                              cl::cat(program)};
  cl::opt<std::string> entry{"entry", cl::desc("Function to run"),
                             cl::value_desc("name"), cl::cat(program)};
  std::string targetHelp = targetNames() + ": what runs the program, compiled "
                                           "code or the float64 reference "
                                           "(default: cpu)";
  cl::opt<std::string> target{"target", cl::desc(targetHelp),
                              cl::value_desc("name"), cl::init("cpu"),
                              cl::cat(program)};
  cl::opt<unsigned> threads{
      "threads",
      cl::desc("Threads that run it; the results' bits do not depend on it "
               "(default: all cores)"),
      cl::value_desc("n"), cl::init(0), cl::cat(program)};

  cl::list<std::string> inputs{
      "input",
      cl::desc("The next arguments: a .npy file is one, a .npz file holds "
               "several, by their names if the program has these, else in its "
               "order; bfloat16 comes as uint16 or void16"),
      cl::value_desc("file"), cl::CommaSeparated, cl::cat(arguments)};
  cl::opt<bool> random{
      "random",
      cl::desc("Random arguments: floats uniform in [-1, 1), integers as "
               "--random-integers says"),
      cl::cat(arguments)};
  cl::opt<uint64_t> seed{"seed", cl::desc("Seed of --random (default: 0)"),
                         cl::value_desc("n"), cl::init(0), cl::cat(arguments)};
  cl::opt<std::string> randomIntegers{
      "random-integers",
      cl::desc("Range of random integers, without its end (default: 0:2)"),
      cl::value_desc("low:high"), cl::init("0:2"), cl::cat(arguments)};
  cl::list<std::string> shapes{
      "shape",
      cl::desc("Extents of an argument that the program leaves open, for "
               "--random or --save"),
      cl::value_desc("argument:8x64"), cl::cat(arguments)};
  cl::opt<bool> convert{"convert",
                        cl::desc("Convert inputs whose element type differs"),
                        cl::cat(arguments)};

  cl::opt<bool> print{"print", cl::desc("Print the results"), cl::cat(results)};
  cl::opt<std::string> output{
      "output",
      cl::desc("Write the results: result0, result1, ... in one .npz file, "
               "the only one as a .npy file, else one .npy each in a folder"),
      cl::value_desc("path"), cl::cat(results)};
  cl::opt<bool> float64{
      "float64",
      cl::desc("Do not round what the interpreter computed to the result's "
               "type, but print and write float64"),
      cl::cat(results)};
  cl::opt<std::string> compare{
      "compare",
      cl::desc("Run the interpreter too, print the largest error of each "
               "result, and fail where it is above the type's tolerance"),
      cl::value_desc("interpreter"), cl::cat(results)};
  cl::opt<unsigned> bits{
      "check-bits",
      cl::desc("Run so many times more, on 1, 2 and 3 threads in turn, and "
               "fail where a bit of a result differs"),
      cl::value_desc("runs"), cl::init(0), cl::cat(results)};
  cl::opt<double> absolute{
      "absolute-tolerance",
      cl::desc("Tolerance of --compare in place of the type's own"),
      cl::value_desc("x"), cl::init(-1), cl::cat(results)};
  cl::opt<double> relative{
      "relative-tolerance",
      cl::desc("Its part that is multiplied by the expected value"),
      cl::value_desc("x"), cl::init(-1), cl::cat(results)};

  std::string isaHelp = instructionSetHelp(cpu::target()) +
                        "; several with commas between them, or all: compiled "
                        "for each, run by the best that this machine has";
  cl::opt<std::string> isa{"isa", cl::desc(isaHelp), cl::value_desc("name"),
                           cl::init("native"), cl::cat(compiling)};
  cl::opt<std::string> denseProducts{
      "dense-products",
      cl::desc("Who computes dense products that nothing fuses with, for "
               "--target=cuda: auto (whoever is estimated to be faster, where "
               "cuBLASLt is found), library, own (default: auto)"),
      cl::value_desc("who"), cl::init("auto"), cl::cat(compiling)};
  cl::list<std::string> plugins{
      "plugin",
      cl::desc("Load dialects and passes from this library, as "
               "examples/dialect makes one"),
      cl::value_desc("file"), cl::cat(compiling)};
  cl::list<std::string> inserted{
      "insert-passes",
      cl::desc("Run these passes in front of those that lead into a phase, "
               "such as structured:canonicalize,cse"),
      cl::value_desc("phase:pipeline"), cl::cat(compiling)};
  cl::opt<int64_t> processors{
      "processors",
      cl::desc(
          "Blocks of a program that run at once, for schedules that depend "
          "on it (default: $DRAWLOOM_PROCESSORS, else the target's)"),
      cl::value_desc("n"), cl::init(0), cl::cat(compiling)};
  cl::opt<std::string> cache{
      "cache",
      cl::desc("Keep the compiled program for the next run, in this folder "
               "(default: $DRAWLOOM_CACHE, else drawloom in the user's "
               "caches), and take it from there; not with --report, "
               "--remarks-filter or --dump-phases-to"),
      cl::value_desc("folder"), cl::ValueOptional, cl::cat(compiling)};
  cl::opt<std::string> from{
      "compile-from",
      cl::desc("The phase that the files are in (default: input)"),
      cl::value_desc("phase"), cl::init("input"), cl::cat(compiling)};
  cl::opt<std::string> to{
      "compile-to",
      cl::desc("Stop after this phase and print the program instead of running "
               "it; --target=interpreter runs it as it is then"),
      cl::value_desc("phase"), cl::cat(compiling)};
  cl::opt<std::string> dump{
      "dump-phases-to",
      cl::desc(
          "Write the program after each phase to <folder>/<n>-<phase>.mlir"),
      cl::value_desc("folder"), cl::cat(compiling)};
  cl::opt<std::string> remarks{
      "remarks-filter",
      cl::desc("Print remarks (what was and was not optimised, and why) whose "
               "category matches; '.*' for all"),
      cl::value_desc("regex"), cl::cat(compiling)};
  cl::opt<std::string> save{
      "save",
      cl::desc("Write the compiled program to this file, for the arguments' "
               "shapes and all instruction sets of --isa: drawloom-run and "
               "libdrawloom_runtime.so load it"),
      cl::value_desc("file"), cl::cat(compiling)};
  cl::opt<bool> open{
      "open",
      cl::desc("Compile once for all extents that the program leaves open, not "
               "for those of the arguments; an error says where that cannot "
               "be"),
      cl::cat(compiling)};
  cl::opt<std::string> schedule{
      "schedule",
      cl::desc("Cut kernels for GPUs as this file says, a JSON object by "
               "functions and kernels: {\"step\": {\"rows\": 64, \"warps\": "
               "8}}; drawloom-translate --mlir-to-schedules writes one"),
      cl::value_desc("file"), cl::cat(compiling)};
  cl::opt<std::string> reproducer{
      "reproducer",
      cl::desc("When a pass fails or crashes, write the program before it and "
               "the pass pipeline, for drawloom-opt --run-reproducer"),
      cl::value_desc("file"), cl::cat(compiling)};

  cl::opt<std::string> memory{
      "memory",
      cl::desc("What the program may have of memory beyond arguments and "
               "results, such as 512MiB: values are computed again, or wait in "
               "the folder of --spill, where that would be more; on a GPU, of "
               "its own memory"),
      cl::value_desc("size"), cl::cat(compiling)};
  cl::list<std::string> spill{
      "spill",
      cl::desc("Folder of a local disk for values that leave memory; several "
               "share them"),
      cl::value_desc("folder"), cl::cat(compiling)};
  cl::opt<std::string> memoryRates{
      "memory-rates",
      cl::desc("What the plan for --memory goes by, in operations and bytes a "
               "second; --calibrate prints what is true here"),
      cl::value_desc("operations=1e11,memory=1e10,copy=4e9,write=1e9,read=1e9"),
      cl::cat(compiling)};
  cl::opt<std::string> plan{
      "plan",
      cl::desc("Print which values leave memory for how long and what that "
               "costs, or write it: a table (.txt), or data (.json)"),
      cl::value_desc("file"), cl::ValueOptional, cl::cat(compiling)};
  cl::opt<bool> calibrate{
      "calibrate",
      cl::desc("Measure this machine and the folders of --spill for a second "
               "or two, and print --memory-rates for them"),
      cl::cat(measuring)};

  cl::opt<std::string> benchmark{
      "benchmark",
      cl::desc("Measure this many runs after one that warms up (default: 20): "
               "median, least, and share of what this machine reaches"),
      cl::value_desc("runs"), cl::ValueOptional, cl::cat(measuring)};

  cl::opt<std::string> report{
      "report",
      cl::desc("Where the time goes: each kernel's time, operations and bytes "
               "beside what this machine reaches, the time of each phase of "
               "compiling, and its remarks. Printed, or written: a page "
               "(.html), for programs (.json), as printed (.txt)"),
      cl::value_desc("file"), cl::ValueOptional, cl::cat(measuring)};

  SmallVector<const cl::OptionCategory *> categories() {
    return {&program, &arguments, &results, &compiling, &measuring};
  }
};
} // namespace

static Error readShape(StringRef text, Options &options) {
  auto [argument, extents] = text.split(':');
  if (argument.empty() || argument.size() == text.size())
    return createStringError("--shape=" + text +
                             ": expected an argument's number or name and its "
                             "extents, as in --shape=0:8x64");
  if (options.shapes.count(argument.str()))
    return createStringError("--shape names argument " + argument + " twice");
  std::vector<int64_t> &shape = options.shapes[argument.str()];
  SmallVector<StringRef> parts;
  if (!extents.empty())
    extents.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t extent;
    if (part.getAsInteger(10, extent) || extent < 0)
      return createStringError("--shape=" + text + ": '" + part +
                               "' is not an extent");
    shape.push_back(extent);
  }
  return Error::success();
}

static Error readPhase(StringRef option, StringRef text,
                       const CompileTarget &target, Phase &phase) {
  if (std::optional<Phase> parsed = target.parsePhase(text)) {
    phase = *parsed;
    return Error::success();
  }
  // The nearest name, and all of them with what they mean.
  StringRef nearest = target.phaseName(Phase::Input);
  std::string list;
  for (Phase other : allPhases()) {
    PhaseText known = target.phaseText(other);
    if (text.edit_distance(known.name) < text.edit_distance(nearest))
      nearest = known.name;
    list += ("\n  " + known.name + ": " + known.description).str();
  }
  return createStringError(
      "--" + option + "=" + text + ": there is no such phase; did you mean '" +
      nearest + "'? The phases of the target " + target.name() + " are" + list);
}

/// "512MiB", "1.5GiB", "1000000".
static std::optional<int64_t> readSize(StringRef text) {
  double scale = 1;
  if (text.consume_back("KiB"))
    scale = 1 << 10;
  else if (text.consume_back("MiB"))
    scale = 1 << 20;
  else if (text.consume_back("GiB"))
    scale = 1 << 30;
  double number;
  if (text.getAsDouble(number) || !(number * scale >= 1) ||
      number * scale > 9e18)
    return std::nullopt;
  return static_cast<int64_t>(number * scale);
}

/// What the program may have of memory, and what for.
static Error readMemory(const CommandLine &line, Options &options) {
  MemoryBudget &memory = options.compile.codegen.memory;
  options.spill.assign(line.spill.begin(), line.spill.end());
  memory.stores = !options.spill.empty();
  options.printsPlan = line.plan.getNumOccurrences() > 0 && line.plan.empty();
  memory.explain = line.plan;
  if (line.memory.getNumOccurrences()) {
    std::optional<int64_t> bytes = readSize(line.memory);
    if (!bytes)
      return createStringError("--memory=" + line.memory +
                               ": expected a size, such as 512MiB");
    memory.bytes = *bytes;
  }
  bool isCompiled = options.target == Target::Compiled;
  if ((memory.isGiven() || memory.stores || options.printsPlan) && !isCompiled)
    return createStringError("--memory, --spill and --plan are about compiled "
                             "code: the interpreter keeps all values");
  StringRef file = memory.explain;
  if (!file.empty() && !file.ends_with(".txt") && !file.ends_with(".json"))
    return createStringError("--plan=" + file +
                             ": a plan is a .txt or .json file");
  options.calibrates = line.calibrate;
  if (Error error = parseMemoryRates(line.memoryRates, memory.rates))
    return createStringError("--memory-rates: " + toString(std::move(error)));
  return Error::success();
}

/// What runs the program, on how many threads.
static Error readTarget(const CommandLine &line, Options &options) {
  if (line.target == "interpreter") {
    options.target = Target::Interpreter;
  } else if (Expected<const CompileTarget *> target = findTarget(line.target)) {
    options.compile.target = *target;
    if (line.target.getNumOccurrences() > 0)
      options.savedTarget = line.target;
  } else {
    consumeError(target.takeError());
    return createStringError("--target=" + line.target +
                             ": there is no such target; there are " +
                             targetNames());
  }
  constexpr unsigned mostThreads = 4096;
  if (line.threads.getNumOccurrences() &&
      (line.threads < 1 || line.threads > mostThreads))
    return createStringError("--threads=" + Twine(line.threads) +
                             ": it is a number of threads, from 1 to " +
                             Twine(mostThreads));
  options.threads = line.threads
                        ? line.threads
                        : std::max(1u, std::thread::hardware_concurrency());
  return Error::success();
}

/// The arguments, from files or made up.
static Error readArguments(const CommandLine &line, Options &options) {
  options.inputs.assign(line.inputs.begin(), line.inputs.end());
  options.random = line.random;
  options.seed = line.seed;
  options.convert = line.convert;
  if (options.random && !options.inputs.empty())
    return createStringError("--random and --input exclude each other");
  auto [low, high] = StringRef(line.randomIntegers).split(':');
  if (low.getAsInteger(10, options.randomLow) ||
      high.getAsInteger(10, options.randomHigh) ||
      options.randomLow >= options.randomHigh)
    return createStringError(
        "--random-integers=" + line.randomIntegers +
        ": expected two integers, low:high, low below high");
  for (const std::string &shape : line.shapes)
    if (Error error = readShape(shape, options))
      return error;
  return Error::success();
}

/// What becomes of the results.
static Error readResults(const CommandLine &line, Options &options) {
  options.print = line.print;
  options.output = line.output;
  options.float64 = line.float64;
  if (options.float64 && options.target != Target::Interpreter)
    return createStringError("--float64 needs --target=interpreter");
  if (!line.compare.empty() && line.compare != "interpreter")
    return createStringError("--compare=" + line.compare +
                             ": only the interpreter can be compared with");
  options.compareWithInterpreter = !line.compare.empty();
  options.bitRuns = line.bits;
  options.absoluteTolerance = line.absolute;
  options.relativeTolerance = line.relative;
  return Error::success();
}

/// What code is made for.
static Error readCodegen(const CommandLine &line, Options &options) {
  options.compile.codegen.isa = line.isa;
  std::optional<DenseProducts> products =
      parseDenseProducts(line.denseProducts);
  if (!products)
    return createStringError("--dense-products=" + line.denseProducts +
                             ": expected auto, assume, library or own");
  if ((*products == DenseProducts::Library ||
       *products == DenseProducts::Assume) &&
      line.target != "cuda")
    return createStringError("--dense-products=" + line.denseProducts +
                             ": only --target=cuda has a library");
  options.compile.codegen.denseProducts = *products;
  if (line.processors.getNumOccurrences() && line.processors < 1)
    return createStringError("--processors=" + Twine(line.processors) +
                             ": it is a number of processors, from 1");
  options.compile.codegen.processors = line.processors;
  return Error::success();
}

/// Which phases run, with what in between, and what is written of them.
static Error readPhases(const CommandLine &line, Options &options) {
  options.compile.dumpPhasesTo = line.dump;
  options.schedule = line.schedule;
  options.reproducer = line.reproducer;
  options.save = line.save;
  options.open = line.open;
  if (options.open && options.target != Target::Compiled)
    return createStringError("--open is about compiled code: the interpreter "
                             "takes any extents as it is");
  if (!options.save.empty() && options.target != Target::Compiled)
    return createStringError("--save needs compiled code: the interpreter "
                             "makes none");
  if (!options.save.empty() && !line.to.empty())
    return createStringError("--save writes compiled code, but --compile-to "
                             "stops before there is any");
  options.plugins.assign(line.plugins.begin(), line.plugins.end());
  if (!line.inserted.empty() && options.target != Target::Compiled &&
      line.to.empty())
    return createStringError("--insert-passes is about phases, and the "
                             "interpreter runs the program as it is written; "
                             "--compile-to=PHASE has it run after a phase");
  for (const std::string &text : line.inserted) {
    Expected<InsertedPasses> passes =
        InsertedPasses::parse(text, *options.compile.target);
    if (!passes)
      return createStringError("--insert-passes: " +
                               toString(passes.takeError()));
    options.compile.inserted.push_back(std::move(*passes));
  }
  if (Error error = readPhase("compile-from", line.from,
                              *options.compile.target, options.compile.from))
    return error;
  options.stopsAtPhase = !line.to.empty();
  if (options.stopsAtPhase)
    if (Error error = readPhase("compile-to", line.to, *options.compile.target,
                                options.compile.to))
      return error;
  return Error::success();
}

/// What is said and measured.
static Error readMeasuring(const CommandLine &line, Options &options) {
  std::string regexError;
  options.remarksFilter = line.remarks;
  if (!options.remarksFilter.empty() &&
      !Regex(options.remarksFilter).isValid(regexError))
    return createStringError("--remarks-filter=" + options.remarksFilter +
                             ": " + regexError);
  options.report = line.report.getNumOccurrences() > 0;
  options.reportFile = line.report;
  StringRef file = options.reportFile;
  if (!file.empty() && !file.ends_with(".html") && !file.ends_with(".json") &&
      !file.ends_with(".txt"))
    return createStringError("--report=" + file +
                             ": a report is a page, .html, or a .json or .txt "
                             "file");
  if (options.report && options.target != Target::Compiled)
    return createStringError("--report needs compiled code: the interpreter "
                             "has no kernels");
  if (options.report &&
      (StringRef(line.isa).contains(',') || line.isa == "all"))
    return createStringError("--report shows one instruction set's kernels, "
                             "but --isa=" +
                             line.isa + " names several");
  if (line.benchmark.getNumOccurrences()) {
    options.benchmarkRuns = 20;
    if (!line.benchmark.empty() &&
        (StringRef(line.benchmark).getAsInteger(10, options.benchmarkRuns) ||
         options.benchmarkRuns == 0))
      return createStringError("--benchmark=" + line.benchmark +
                               ": expected a number of runs above 0");
  }
  return Error::success();
}

/// Where compiled programs are kept.
static Error readCache(const CommandLine &line, Options &options) {
  // Whoever wants to see the compiler at work gets no finished program.
  if (line.cache.getNumOccurrences() && options.remarksFilter.empty() &&
      !options.report && options.compile.dumpPhasesTo.empty()) {
    std::string folder =
        line.cache.empty() ? DiskCache::defaultFolder() : line.cache.getValue();
    if (folder.empty())
      return createStringError("--cache: this user has no folder for it; "
                               "--cache=FOLDER names one");
    options.cache.emplace(folder);
  }
  return Error::success();
}

Expected<Options> parseCommandLine(int argc, char **argv) {
  // LLVM's libraries bring options of their own, some by the same names. None
  // is of use here.
  cl::ResetCommandLineParser();
  cl::SetVersionPrinter(printVersion);
  static CommandLine line;
  // Passes are named in options: --mlir-print-ir-after=fuse-rows.
  drawloom::registerAllPasses();
  // Timing, printing and statistics of passes: --help-hidden lists them.
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  cl::HideUnrelatedOptions(line.categories());
  cl::ParseCommandLineOptions(argc, argv, overview);

  Options options;
  options.files.assign(line.files.begin(), line.files.end());
  if (options.files.empty() && !line.calibrate)
    return createStringError("no .mlir file given; --help shows how");
  options.entry = line.entry;
  for (auto read : {readTarget, readArguments, readResults, readCodegen,
                    readMemory, readPhases, readMeasuring, readCache})
    if (Error error = read(line, options))
      return error;
  return options;
}

} // namespace drawloom::run
