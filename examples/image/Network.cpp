//===- Network.cpp - the compiled network and its state -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/image/Network.h"
#include "examples/image/Files.h"
#include "lib/RegisterAll.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace drawloom;
using namespace drawloom::image;

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

/// Replaces the `?` of an entry; says which entry failed.
static Error specialize(mlir::ModuleOp module, StringRef entry,
                        ArrayRef<std::vector<int64_t>> shapes) {
  if (failed(specializeShapes(module, entry, shapes)))
    return makeError("the shapes do not fit @" + entry + " of network.mlir");
  return Error::success();
}

Expected<Network> Network::create(const Options &options,
                                  const Settings &settings) {
  Network network;
  network.batch = settings.batch;

  std::vector<std::string> files;
  for (const std::string &name :
       {std::string("network.mlir"),
        "encoding_" + nameOf(settings.encoding).str() + ".mlir",
        "activation_" + nameOf(settings.activation).str() + ".mlir"}) {
    SmallString<128> path(options.network);
    sys::path::append(path, name);
    files.push_back(path.str().str());
    ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(path);
    if (!text)
      return makeError("cannot read '" + path +
                       "': " + text.getError().message());
    network.sources = network.sources * 31 + xxh3_64bits((*text)->getBuffer());
  }

  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = parseSources(files, context);
  if (!module)
    return makeError("'" + files.front() + "' does not compile");

  std::vector<std::vector<int64_t>> parameters =
      parameterShapes(settings.encoding);
  auto append = [](std::vector<std::vector<int64_t>> &list,
                   ArrayRef<std::vector<int64_t>> more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  std::vector<std::vector<int64_t>> step = {
      {network.batch, 2}, {network.batch, 3}, {}, {}};
  for (int copy = 0; copy < 3; ++copy)
    append(step, parameters);
  std::vector<std::vector<int64_t>> predict = {{predictRows, 2}};
  append(predict, parameters);
  if (Error error = specialize(*module, "step", step))
    return error;
  if (Error error = specialize(*module, "predict", predict))
    return error;
  if (Error error = specialize(*module, "activations",
                               {{curveRows, width},
                                parameters[Numerator1],
                                parameters[Denominator1]}))
    return error;

  CompileOptions compileOptions;
  compileOptions.dumpPhasesTo = options.dumpPhasesTo;
  Expected<std::unique_ptr<Program>> program =
      compileProgram(*module, compileOptions);
  if (!program)
    return program.takeError();
  network.program = std::move(*program);
  for (const char *entry : {"step", "predict", "activations"})
    if (!network.program->find(entry))
      return makeError("network.mlir has no function @" + Twine(entry));
  for (int copy = 0; copy < 3; ++copy)
    for (const std::vector<int64_t> &shape : parameters) {
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
  SmallVector<const void *> arguments = {xy.data(), rgb.data(), &rate, &step};
  SmallVector<void *> results = {&loss};
  for (const Buffer &tensor : state.tensors)
    arguments.push_back(tensor.data());
  for (Buffer &tensor : next.tensors)
    results.push_back(tensor.data());
  if (Error error = program->run("step", arguments, results, threads))
    return error;
  std::swap(state.tensors, next.tensors);
  return loss;
}

Expected<std::vector<float>> Network::predict(ArrayRef<float> xy,
                                              const State &state,
                                              unsigned threads) const {
  int64_t rows = xy.size() / 2;
  Buffer positions(predictRows * 2), colours(predictRows * 3);
  std::vector<float> result;
  result.reserve(rows * 3);
  for (int64_t first = 0; first < rows; first += predictRows) {
    // The last call's surplus rows keep what the call before left there.
    int64_t count = std::min(predictRows, rows - first);
    std::copy_n(xy.data() + first * 2, count * 2, positions.data());
    SmallVector<const void *> arguments = {positions.data()};
    for (int i = 0; i < ParameterCount; ++i)
      arguments.push_back(state.tensors[i].data());
    if (Error error =
            program->run("predict", arguments, {colours.data()}, threads))
      return error;
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
  if (Error error =
          program->run("activations",
                       {argument.data(), numerator.data(), denominator.data()},
                       {value.data()}))
    return error;
  std::vector<std::vector<float>> curves(groups);
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t row = 0; row < points; ++row)
      curves[group].push_back(
          value.data()[row * width + group * (width / groups)]);
  return curves;
}
