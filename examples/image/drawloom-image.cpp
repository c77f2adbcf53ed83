//===- drawloom-image.cpp - teach a network a picture ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a picture, compiles network.mlir, trains, draws. Every failure is one
// message and exit status 1; Ctrl-C leaves a checkpoint and exit status 130.
//
//===----------------------------------------------------------------------===//

#include "examples/image/Checkpoint.h"
#include "examples/image/Files.h"
#include "examples/image/Options.h"
#include "examples/image/Plots.h"
#include "examples/image/Progress.h"
#include "examples/image/Samples.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <csignal>

using namespace llvm;
using namespace image;

static volatile std::sig_atomic_t interrupted = 0;

/// The first Ctrl-C asks for a checkpoint, the next one ends the process.
static void catchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

static std::string inFolder(StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

/// A fresh run, or the one that the checkpoint holds.
static Expected<Checkpoint> start(const Options &options) {
  Checkpoint run;
  if (options.resume) {
    Expected<Checkpoint> saved = readCheckpoint(options.checkpoint);
    if (!saved)
      return saved.takeError();
    if (Error error = checkAgainstCheckpoint(saved->settings))
      return error;
    run = std::move(*saved);
    // A picture that has moved can be named again; its contents are compared.
    if (options.imageGiven)
      run.settings.image = options.settings.image;
  } else {
    run.settings = options.settings;
    SmallString<128> absolute(run.settings.image);
    if (!sys::fs::make_absolute(absolute))
      run.settings.image = absolute.str().str();
  }
  return run;
}

/// Fails where the checkpoint belongs to another picture or network.
static Error checkOrigin(const Checkpoint &run, const Picture &picture,
                         const Network &network) {
  if (run.picture != picture.fingerprint())
    return makeError("the checkpoint was made with another picture than '" +
                     run.settings.image + "'");
  if (run.network != network.fingerprint())
    return makeError("the network's .mlir files have changed since the "
                     "checkpoint was made");
  return Error::success();
}

/// Trains to the last step, or until Ctrl-C: returns false then.
static Expected<bool> train(Checkpoint &run, Network &network,
                            const Picture &picture, const Options &options) {
  const Settings &settings = run.settings;
  Samples samples(picture, settings.seed);
  Buffer xy(settings.batch * 2), rgb(settings.batch * 3);
  auto first = static_cast<int64_t>(run.losses.size());
  Progress progress(first, settings.steps);
  double secondsBefore = run.seconds;
  auto began = std::chrono::steady_clock::now();
  for (int64_t step = first; step < settings.steps; ++step) {
    samples.batch(step, settings.batch, xy, rgb);
    // A cosine from 1 to 0 over the whole run.
    double progressed =
        static_cast<double>(step) / static_cast<double>(settings.steps);
    double rate = settings.rate * 0.5 * (1 + std::cos(M_PI * progressed));
    Expected<float> loss = network.train(xy, rgb, static_cast<float>(rate),
                                         step + 1, run.state, options.threads);
    if (!loss) {
      progress.finish();
      return loss.takeError();
    }
    if (!std::isfinite(*loss)) {
      progress.finish();
      return makeError(formatv("the loss is {0} at step {1}: training has "
                               "diverged; try a smaller --rate than {2}",
                               *loss, step + 1, settings.rate));
    }
    run.losses.push_back(*loss);
    run.seconds = secondsBefore + secondsSince(began);
    progress.update(step + 1, *loss);
    if (interrupted && step + 1 < settings.steps) {
      progress.finish();
      Error error = writeCheckpoint(options.checkpoint, run);
      if (!error)
        return false;
      // Stopping now would lose the run. Let the person make room first.
      errs() << "error: " << toString(std::move(error))
             << "\ntraining goes on; press Ctrl-C to try again, or twice to "
                "give the run up\n";
      interrupted = 0;
      catchInterrupts();
    }
  }
  progress.finish();
  return true;
}

static std::string describe(const Settings &settings) {
  return formatv("{0} encoding, 2 hidden layers of 64, {1} activation",
                 nameOf(settings.encoding), nameOf(settings.activation));
}

/// Draws everything into the output folder; returns the PSNR.
static Expected<double> draw(const Checkpoint &run, const Network &network,
                             const Picture &picture, const Options &options) {
  Expected<std::vector<float>> colours =
      network.predict(pixelCentres(picture), run.state, options.threads);
  if (!colours)
    return colours.takeError();
  Picture learnt = picture;
  for (size_t i = 0; i < learnt.rgb.size(); ++i)
    learnt.rgb[i] = std::min(std::max((*colours)[i], 0.0f), 1.0f);
  double decibels = psnr(picture, learnt);

  std::string what = describe(run.settings);
  auto steps = static_cast<int64_t>(run.losses.size());
  auto out = [&](StringRef name) { return inFolder(options.output, name); };
  if (Error error = writePicture(out("learnt.png"), learnt))
    return error;
  if (Error error =
          writeComparison(out("comparison.png"), picture, learnt,
                          formatv("{0}: {1:f2} dB after {2} steps in {3:f1} s",
                                  what, decibels, steps, run.seconds)
                              .str()))
    return error;
  if (Error error = writeLossCurve(out("loss.png"), run.losses, what))
    return error;

  // Every group starts alike, so one curve shows all of them.
  State initial = State::initial(run.settings);
  std::vector<Curves> layers(2);
  for (float x = -3; x <= 3.0001f; x += 0.025f)
    for (Curves &layer : layers)
      layer.x.push_back(x);
  ParameterIndex tables[][2] = {{Numerator1, Denominator1},
                                {Numerator2, Denominator2}};
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].title = formatv("hidden layer {0}", i + 1);
    for (const State *state : {&std::as_const(initial), &run.state}) {
      Expected<std::vector<std::vector<float>>> curves =
          network.activation(layers[i].x, state->parameter(tables[i][0]),
                             state->parameter(tables[i][1]));
      if (!curves)
        return curves.takeError();
      if (state == &initial)
        layers[i].initial = curves->front();
      else
        layers[i].learnt = std::move(*curves);
    }
  }
  if (Error error = writeActivations(
          out("activations.png"), layers,
          "Activation of each group of 8 units (dashed: before training)"))
    return error;
  return decibels;
}

static Error runExample(const Options &options) {
  Expected<Checkpoint> started = start(options);
  if (!started)
    return started.takeError();
  Checkpoint &run = *started;
  const Settings &settings = run.settings;
  Expected<Picture> picture = readPicture(settings.image);
  if (!picture)
    return picture.takeError();
  // The pictures take at most 4 bytes for each pixel of 4 panels.
  if (Error error =
          prepareFolder(options.output, checkpointBytes(settings) +
                                            16 * picture->pixels() + (4 << 20)))
    return error;
  if (!options.resume && sys::fs::exists(options.checkpoint))
    errs() << "note: this run will replace '" << options.checkpoint
           << "'; --resume would continue it\n";

  errs() << describe(settings) << "; picture " << picture->width << "x"
         << picture->height << "; " << options.threads
         << (options.threads == 1 ? " thread" : " threads") << "\n";
  auto began = std::chrono::steady_clock::now();
  Expected<Network> network = Network::create(options, settings);
  if (!network)
    return network.takeError();
  errs() << formatv("compiled network.mlir in {0:f2} s\n", secondsSince(began));

  if (options.resume) {
    if (Error error = checkOrigin(run, *picture, *network))
      return error;
    errs() << "resumed at step " << run.losses.size() << "\n";
  } else {
    run.picture = picture->fingerprint();
    run.network = network->fingerprint();
    run.state = State::initial(settings);
  }

  catchInterrupts();
  Expected<bool> finished = train(run, *network, *picture, options);
  if (!finished)
    return finished.takeError();
  if (!*finished) {
    errs() << "interrupted after step " << run.losses.size() << " of "
           << settings.steps << "; state saved in '" << options.checkpoint
           << "', continue with --resume\n";
    exit(130);
  }

  // Whatever goes wrong while drawing, the training is not lost.
  if (Error error = writeCheckpoint(options.checkpoint, run))
    return error;
  Expected<double> decibels = draw(run, *network, *picture, options);
  if (!decibels)
    return decibels.takeError();
  errs() << "look at " << inFolder(options.output, "comparison.png") << "\n";
  outs() << formatv("result: psnr_db={0:f2} steps={1} steps_per_s={2:f2} "
                    "seconds={3:f2}\n",
                    *decibels, run.losses.size(),
                    static_cast<double>(run.losses.size()) /
                        std::max(run.seconds, 1e-9),
                    run.seconds);
  return Error::success();
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  if (Error error = runExample(options)) {
    errs() << "error: " << toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
