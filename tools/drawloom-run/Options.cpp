//===- Options.cpp - the command line -------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/drawloom-run/Options.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include <thread>

using namespace llvm;

namespace drawloom::run {

static constexpr StringLiteral overview =
    "Runs a function of .mlir files.\n\n"
    "  The program is compiled for this CPU, or interpreted in float64. "
    "Several\n"
    "  files make one program: a function that one only declares, another\n"
    "  defines. Without --entry, the only public function runs; if there are\n"
    "  several, all those without arguments (tests with check ops).\n";

static constexpr StringLiteral examples = R"(
EXAMPLES:

  Run on random arguments and look at the results:
    drawloom-run step.mlir --random --seed=7 --print

  Run on arrays that NumPy saved, and save the results for NumPy:
    drawloom-run step.mlir --input=x.npy --input=w.npy --output=results.npz

  Give extents that the program leaves open (argument 0 is tensor<?x64xf32>):
    drawloom-run step.mlir --random --shape=0:16384x64

)";

namespace {
/// Constructed on use: a tool that is linked with this file, but does not parse
/// a command line, must not get its options.
struct CommandLine {
  cl::OptionCategory program{"Program"};
  cl::OptionCategory arguments{"Arguments"};
  cl::OptionCategory results{"Results"};
  cl::extrahelp help{examples};

  cl::list<std::string> files{cl::Positional, cl::desc("FILE.mlir..."),
                              cl::cat(program)};
  cl::opt<std::string> entry{"entry", cl::desc("Function to run"),
                             cl::value_desc("name"), cl::cat(program)};
  cl::opt<Target> target{
      "target", cl::desc("What runs the program:"),
      cl::init(Target::Interpreter),
      cl::values(clEnumValN(Target::Interpreter, "interpreter",
                            "the float64 reference (graph and block levels)")),
      cl::cat(program)};
  cl::opt<unsigned> threads{
      "threads",
      cl::desc("Threads that run it; the results' bits do not depend on it "
               "(default: all cores)"),
      cl::value_desc("n"), cl::init(0), cl::cat(program)};

  cl::list<std::string> inputs{
      "input",
      cl::desc("The next arguments: a .npy file is one, a .npz file holds "
               "several, in its order; bfloat16 comes as uint16 or void16"),
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
               "--random"),
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
  SmallVector<const cl::OptionCategory *> categories() {
    return {&program, &arguments, &results};
  }
};
} // namespace

static Error readShape(StringRef text, Options &options) {
  auto [number, extents] = text.split(':');
  unsigned argument;
  if (number.getAsInteger(10, argument))
    return createStringError("--shape=" + text +
                             ": expected an argument's number and its extents, "
                             "as in --shape=0:8x64");
  std::vector<int64_t> &shape = options.shapes[argument];
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

Expected<Options> parseCommandLine(int argc, char **argv) {
  // LLVM's libraries bring options of their own, some by the same names. None
  // is of use here.
  cl::ResetCommandLineParser();
  static CommandLine line;
  cl::HideUnrelatedOptions(line.categories());
  cl::ParseCommandLineOptions(argc, argv, overview);

  Options options;
  options.files.assign(line.files.begin(), line.files.end());
  if (options.files.empty())
    return createStringError("no .mlir file given; --help shows how");
  options.entry = line.entry;
  options.target = line.target;
  options.threads = line.threads
                        ? line.threads
                        : std::max(1u, std::thread::hardware_concurrency());

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

  options.print = line.print;
  options.output = line.output;
  options.float64 = line.float64;
  if (options.float64 && options.target != Target::Interpreter)
    return createStringError("--float64 needs --target=interpreter");
  return options;
}

} // namespace drawloom::run
