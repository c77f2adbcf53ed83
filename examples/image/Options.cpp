//===- Options.cpp - what a run of the example is asked to do -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/image/Options.h"
#include "examples/image/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>

using namespace llvm;
using namespace image;

static const char overview[] =
    R"(Teaches a small neural network a picture, with code that Drawloom compiles
from examples/image/network.mlir.

The network maps a position (x, y) to a colour: an encoding of the position, two
layers of 64 units, red-green-blue. After training it has the picture in its
weights. A run writes to the output folder:

  comparison.png   original | learnt | error, side by side
  learnt.png       the picture as the network paints it
  loss.png         the loss of every step
  activations.png  the activation functions that it has learnt
  checkpoint.bin   all state; Ctrl-C writes it too, --resume continues from it

Examples:
  drawloom-image                                  the default picture
  drawloom-image --image=cat.jpg --steps=2000     your own, trained for longer
  drawloom-image --activation=relu --output=relu  a fixed activation instead
  drawloom-image --resume                         go on after Ctrl-C

The last line of the output is for scripts:
  result: psnr_db=... steps=... steps_per_s=... seconds=...
)";

StringRef image::nameOf(Activation activation) {
  switch (activation) {
  case Activation::Rational:
    return "rational";
  case Activation::Relu:
    return "relu";
  case Activation::Silu:
    return "silu";
  }
  llvm_unreachable("unknown activation");
}

StringRef image::nameOf(Encoding encoding) {
  return encoding == Encoding::Grid ? "grid" : "frequency";
}

namespace {
/// The options. An object, not globals: see removeLlvmOptions().
struct CommandLine {
  cl::OptionCategory category{"Options of drawloom-image"};

  cl::opt<Activation> activation{
      "activation", cl::desc("Activation of the two hidden layers:"),
      cl::values(
          clEnumValN(Activation::Rational, "rational",
                     "P(x)/Q(x), learnt, one for each 8 units (default)"),
          clEnumValN(Activation::Relu, "relu", "max(x, 0)"),
          clEnumValN(Activation::Silu, "silu", "x / (1 + exp(-x))")),
      cl::init(Activation::Rational), cl::cat(category)};
  cl::opt<Encoding> encoding{
      "encoding", cl::desc("Encoding of the position:"),
      cl::values(
          clEnumValN(Encoding::Grid, "grid",
                     "12 grids of learnt features, 16 to 512 cells (default)"),
          clEnumValN(Encoding::Frequency, "frequency",
                     "sine and cosine of 12 octaves")),
      cl::init(Encoding::Grid), cl::cat(category)};
  cl::opt<int64_t> steps{"steps", cl::value_desc("n"), cl::init(1000),
                         cl::desc("Training steps (default 1000)"),
                         cl::cat(category)};
  cl::opt<int64_t> batch{"batch", cl::value_desc("n"), cl::init(1 << 14),
                         cl::desc("Pixels in a step (default 16384)"),
                         cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::value_desc("n"), cl::init(1),
                         cl::desc("Seed of initial values and batches"),
                         cl::cat(category)};
  cl::opt<double> rate{"rate", cl::value_desc("factor"), cl::init(1),
                       cl::desc("Multiplies every learning rate (default 1)"),
                       cl::cat(category)};
  cl::opt<unsigned> threads{"threads", cl::value_desc("n"), cl::init(0),
                            cl::desc("Threads (default: all cores); the result "
                                     "has the same bits for any number"),
                            cl::cat(category)};
  cl::opt<std::string> target{
      "target", cl::value_desc("name"), cl::init("cpu"),
      cl::desc("What runs the network: cpu (default), cuda for an NVIDIA GPU, "
               "emulator for the GPU's code on the CPU (slow: for a few steps "
               "of a small --batch)"),
      cl::cat(category)};
  cl::opt<std::string> imageFile{
      "image", cl::value_desc("file"),
      cl::init(DRAWLOOM_IMAGE_FOLDER "/astronaut.png"),
      cl::desc("PNG or JPEG picture to learn"), cl::cat(category)};
  cl::opt<std::string> output{"output", cl::value_desc("folder"),
                              cl::init("output/image"),
                              cl::desc("Where the pictures go (default "
                                       "output/image)"),
                              cl::cat(category)};
  cl::opt<std::string> checkpoint{
      "checkpoint", cl::value_desc("file"),
      cl::desc("Checkpoint (default: checkpoint.bin "
               "in the output folder)"),
      cl::cat(category)};
  cl::opt<bool> resume{"resume",
                       cl::desc("Continue from the checkpoint, with the same "
                                "bits as if never interrupted"),
                       cl::cat(category)};
  cl::opt<std::string> network{
      "network", cl::value_desc("folder"), cl::init(DRAWLOOM_IMAGE_FOLDER),
      cl::desc("Folder of network.mlir and its library "
               "files"),
      cl::cat(category)};
  cl::opt<std::string> dumpPhasesTo{
      "dump-phases-to", cl::value_desc("folder"),
      cl::desc("Write the network there as it is after each phase of the "
               "compiler"),
      cl::cat(category)};
};

/// LLVM's libraries register hundreds of options of their own, one of them
/// called --threads. They are not this program's: out with them, before its own
/// come in, and they neither clash nor are suggested for a misspelt option.
void removeLlvmOptions() {
  SmallVector<cl::Option *> others;
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (!StringRef(name).starts_with("help"))
      others.push_back(option);
  for (cl::Option *option : others)
    option->removeArgument();
}

CommandLine &commandLine() {
  static bool alone = (removeLlvmOptions(), true);
  static CommandLine options;
  (void)alone;
  return options;
}
} // namespace

static void require(bool condition, const Twine &message) {
  if (condition)
    return;
  errs() << "error: " << message << "\n";
  exit(1);
}

Options image::parseOptions(int argc, char **argv) {
  CommandLine &line = commandLine();
  cl::HideUnrelatedOptions(line.category);
  cl::ParseCommandLineOptions(argc, argv, overview);
  require(line.steps >= 1, "--steps must be at least 1");
  require(line.batch >= 1 && line.batch <= (1 << 24),
          "--batch must be between 1 and 16777216");
  require(line.threads <= 1024, "--threads must be at most 1024");
  require(std::isfinite(line.rate) && line.rate > 0, "--rate must be positive");

  Options options;
  options.settings = {line.activation, line.encoding, line.steps,    line.batch,
                      line.seed,       line.rate,     line.imageFile};
  options.output = line.output;
  options.checkpoint = line.checkpoint;
  if (options.checkpoint.empty()) {
    SmallString<128> path(options.output);
    sys::path::append(path, "checkpoint.bin");
    options.checkpoint = path.str().str();
  }
  options.resume = line.resume;
  options.imageGiven = line.imageFile.getNumOccurrences() > 0;
  options.threads = line.threads
                        ? line.threads.getValue()
                        : hardware_concurrency().compute_thread_count();
  options.target = line.target;
  options.network = line.network;
  options.dumpPhasesTo = line.dumpPhasesTo;
  return options;
}

Error image::checkAgainstCheckpoint(const Settings &saved) {
  const CommandLine &line = commandLine();
  auto conflict = [](const cl::Option &option, bool equal,
                     const Twine &value) -> Error {
    if (option.getNumOccurrences() == 0 || equal)
      return Error::success();
    return makeError("--" + option.ArgStr + " differs from the checkpoint's (" +
                     value +
                     "), which a resumed run has to keep; leave the "
                     "option out, or --resume");
  };
  Error error = conflict(line.activation, line.activation == saved.activation,
                         nameOf(saved.activation));
  auto check = [&](const cl::Option &option, bool equal, const Twine &value) {
    if (!error)
      error = conflict(option, equal, value);
  };
  check(line.encoding, line.encoding == saved.encoding, nameOf(saved.encoding));
  check(line.steps, line.steps == saved.steps, Twine(saved.steps));
  check(line.batch, line.batch == saved.batch, Twine(saved.batch));
  check(line.seed, line.seed == saved.seed, Twine(saved.seed));
  check(line.rate, line.rate == saved.rate, Twine(std::to_string(saved.rate)));
  return error;
}
