//===- Network.cpp - the compiled network and its state -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/image/Network.h"
#include "examples/image/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace image;

/// Rows of a call of @predict and of @activations: the shapes are static.
static constexpr int64_t predictRows = 1 << 14;
static constexpr int64_t curveRows = 512;
static constexpr int64_t width = 64;
static constexpr int64_t groups = 8;

Buffer::Buffer(int64_t size) : length(size) {
  // aligned_alloc wants a multiple of the alignment.
  size_t bytes = (static_cast<size_t>(size) * sizeof(float) + 63) / 64 * 64;
  memory.reset(static_cast<float *>(
      std::aligned_alloc(64, std::max<size_t>(bytes, 64))));
  if (!memory)
    report_bad_alloc_error("no memory for the network's state");
  std::memset(memory.get(), 0, bytes);
}

State State::initial(const Settings &settings) {
  State state;
  for (int i = 0; i < ParameterCount; ++i) {
    std::vector<float> values = initialValues(static_cast<ParameterIndex>(i),
                                              settings.encoding, settings.seed);
    Buffer &tensor = state.tensors.emplace_back(values.size());
    std::copy(values.begin(), values.end(), tensor.data());
  }
  // Both moments start at 0.
  for (int moment = 0; moment < 2; ++moment)
    for (int i = 0; i < ParameterCount; ++i)
      state.tensors.emplace_back(state.tensors[i].size());
  return state;
}

/// The functions of network.mlir that are called.
enum Entry { Step, Predict, Activations };
static constexpr const char *entryNames[] = {"step", "predict", "activations"};

/// Drawloom's error, with the place in the source.
static Error toError(const drawloom::Error &error) {
  std::string location = error.location();
  return makeError((location.empty() ? "" : location + ": ") + error.message());
}

static DrawloomBuffer bufferOf(const Buffer &buffer) {
  return drawloom::buffer(buffer.data(), buffer.size());
}

/// What the `?` of the three functions stand for.
static std::vector<drawloom::Shapes> shapesFor(const Settings &settings) {
  std::vector<std::vector<int64_t>> parameters =
      parameterShapes(settings.encoding);
  auto append = [](std::vector<std::vector<int64_t>> &list,
                   ArrayRef<std::vector<int64_t>> more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  std::vector<std::vector<int64_t>> step = {
      {settings.batch, 2}, {settings.batch, 3}, {}, {}};
  for (int copy = 0; copy < 3; ++copy)
    append(step, parameters);
  std::vector<std::vector<int64_t>> predict = {{predictRows, 2}};
  append(predict, parameters);
  return {
      {entryNames[Step], step},
      {entryNames[Predict], predict},
      {entryNames[Activations],
       {{curveRows, width}, parameters[Numerator1], parameters[Denominator1]}}};
}

Expected<Network> Network::create(const Options &options,
                                  const Settings &settings) {
  std::vector<drawloom::Source> sources;
  uint64_t fingerprint = 0;
  for (const std::string &name :
       {std::string("network.mlir"),
        "encoding_" + nameOf(settings.encoding).str() + ".mlir",
        "activation_" + nameOf(settings.activation).str() + ".mlir"}) {
    SmallString<128> path(options.network);
    sys::path::append(path, name);
    ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(path);
    if (!text)
      return makeError("cannot read '" + path +
                       "': " + text.getError().message());
    fingerprint = fingerprint * 31 + xxh3_64bits((*text)->getBuffer());
    sources.push_back({path.str().str(), (*text)->getBuffer().str()});
  }

  drawloom::CompilerOptions compilerOptions;
  compilerOptions.target = options.target;
  compilerOptions.dumpPhasesTo = options.dumpPhasesTo;
  compilerOptions.note = [](const char *message) {
    errs() << "note: " << message << '\n';
  };
  auto compiler = drawloom::Compiler::create(std::move(compilerOptions));
  if (!compiler)
    return toError(compiler.error());
  auto program = compiler->compile(sources, shapesFor(settings));
  if (!program)
    return toError(program.error());

  Network network(std::move(*program));
  network.sources = fingerprint;
  for (const char *name : entryNames) {
    auto function = network.program.find(name);
    if (!function)
      return toError(function.error());
    network.functions.push_back(*function);
  }
  for (int copy = 0; copy < 3; ++copy)
    for (const std::vector<int64_t> &shape :
         parameterShapes(settings.encoding)) {
      int64_t size = 1;
      for (int64_t extent : shape)
        size *= extent;
      network.next.tensors.emplace_back(size);
    }
  return network;
}

Expected<float> Network::train(const Buffer &xy, const Buffer &rgb, float rate,
                               int64_t step, State &state, unsigned threads) {
  float loss = 0;
  std::vector<DrawloomBuffer> arguments = {bufferOf(xy), bufferOf(rgb),
                                           drawloom::buffer(&rate, 1),
                                           drawloom::buffer(&step, 1)};
  std::vector<DrawloomBuffer> results = {drawloom::buffer(&loss, 1)};
  for (const Buffer &tensor : state.tensors)
    arguments.push_back(bufferOf(tensor));
  for (const Buffer &tensor : next.tensors)
    results.push_back(bufferOf(tensor));
  auto done = functions[Step].call(arguments, results, threads);
  if (!done)
    return toError(done.error());
  std::swap(state.tensors, next.tensors);
  return loss;
}

Expected<std::vector<float>> Network::predict(ArrayRef<float> xy,
                                              const State &state,
                                              unsigned threads) const {
  int64_t rows = xy.size() / 2;
  Buffer positions(predictRows * 2), colours(predictRows * 3);
  std::vector<DrawloomBuffer> arguments = {bufferOf(positions)};
  for (int i = 0; i < ParameterCount; ++i)
    arguments.push_back(bufferOf(state.tensors[i]));
  std::vector<float> result;
  result.reserve(rows * 3);
  for (int64_t first = 0; first < rows; first += predictRows) {
    // The last call's surplus rows keep what the call before left there.
    int64_t count = std::min(predictRows, rows - first);
    std::copy_n(xy.data() + first * 2, count * 2, positions.data());
    auto done =
        functions[Predict].call(arguments, {bufferOf(colours)}, threads);
    if (!done)
      return toError(done.error());
    result.insert(result.end(), colours.data(), colours.data() + count * 3);
  }
  return result;
}

Expected<std::vector<std::vector<float>>>
Network::activation(ArrayRef<float> x, const Buffer &numerator,
                    const Buffer &denominator) const {
  Buffer argument(curveRows * width), value(curveRows * width);
  int64_t points = std::min<int64_t>(x.size(), curveRows);
  for (int64_t row = 0; row < points; ++row)
    std::fill_n(argument.data() + row * width, width, x[row]);
  auto done = functions[Activations].call(
      {bufferOf(argument), bufferOf(numerator), bufferOf(denominator)},
      {bufferOf(value)});
  if (!done)
    return toError(done.error());
  std::vector<std::vector<float>> curves(groups);
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t row = 0; row < points; ++row)
      curves[group].push_back(
          value.data()[row * width + group * (width / groups)]);
  return curves;
}
