//===- GpuOffloadTest.cpp - values that leave a device and come back ------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom-c/offload.h"
#include "drawloom/Runtime.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>

using namespace drawloom;

namespace {

constexpr size_t rows = 384, columns = 704, count = rows * columns;
using Values = std::vector<float>;

/// Inputs/gpu-offload.mlir in a file that drawloom-translate made for GPUs, on
/// the emulated driver, with a store.
class GpuOffload : public testing::Test {
protected:
  static void SetUpTestSuite() {
    char name[] = "/tmp/drawloom-offload-XXXXXX";
    ASSERT_TRUE(mkdtemp(name));
    folder = name;
    // Two of five values fit into memory as long as all are needed.
    tool(
        "drawloom-run " DRAWLOOM_INPUTS "/gpu-offload.mlir --target=cuda "
        "--isa=sm_80 --memory=5000000 --memory-rates=operations=1e8,memory=1e8 "
        "--spill=" +
        folder + " --compile-to=blocks > " + folder + "/blocks.mlir");
    std::string translate = "drawloom-translate --compile-from=blocks " +
                            folder + "/blocks.mlir --arch=sm_80 ";
    tool(translate + "--mlir-to-artifact --target=cuda -o " + folder +
         "/f.drawloom");
    tool(translate +
         "--mlir-to-bundle --bundle-modules --bundle-dir=" + folder + "/b");
    setenv("DRAWLOOM_EMULATED_MODULES", (folder + "/b/sm_80").c_str(), 1);
    setenv("DRAWLOOM_EMULATOR_LOG", (folder + "/log").c_str(), 1);
    setenv("DRAWLOOM_LIBCUDA", DRAWLOOM_EMULATED_CUDA, 1);
    driver = dlopen(DRAWLOOM_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(driver) << dlerror();
    for (size_t i = 0; i < count; ++i)
      x[i] = static_cast<float>(i * i % 1000) / 500 - 1;
    computeWanted();
  }
  static void tool(const std::string &command) {
    ASSERT_EQ(
        std::system(
            (DRAWLOOM_TOOLS "/" + command + " 2>> " + folder + "/log").c_str()),
        0)
        << command;
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder); }

  void SetUp() override { load(); }
  void TearDown() override {
    unsetenv("DRAWLOOM_EMULATED_DEFER");
    unsetenv("DRAWLOOM_EMULATED_FAULT");
    program.clear();
    close();
  }

  /// Exact numbers, and by how much those in f32 may be off, whatever the order
  /// of a sum is.
  struct Numbers {
    std::vector<double> values, errors;
  };
  static constexpr double unit = 1.0 / (1 << 24); ///< Of a rounding.

  /// Adds 0.001 times the sums of the columns, or of the rows.
  static Numbers shift(Numbers x, bool byRows) {
    size_t lines = byRows ? rows : columns, terms = count / lines;
    std::vector<double> sums(lines), sizes(lines), errors(lines);
    auto lineOf = [&](size_t i) { return byRows ? i / columns : i % columns; };
    for (size_t i = 0; i < count; ++i) {
      sums[lineOf(i)] += x.values[i];
      sizes[lineOf(i)] += std::fabs(x.values[i]) + x.errors[i];
      errors[lineOf(i)] += x.errors[i];
    }
    for (size_t i = 0; i < count; ++i) {
      size_t line = lineOf(i);
      // A sum of n terms rounds n - 1 times, at most by all of them together;
      // then the constant, the product and the sum with it round.
      double more = 0.001 * sums[line],
             error = 0.001 * (errors[line] + static_cast<double>(terms + 1) *
                                                 unit * sizes[line]);
      x.values[i] += more;
      x.errors[i] += error + unit * (std::fabs(more) + error +
                                     std::fabs(x.values[i]) + x.errors[i]);
    }
    return x;
  }
  static Numbers plus(Numbers x, const Numbers &y) {
    for (size_t i = 0; i < count; ++i) {
      x.values[i] += y.values[i];
      x.errors[i] += y.errors[i];
      x.errors[i] += unit * (std::fabs(x.values[i]) + x.errors[i]);
    }
    return x;
  }

  /// As the program's text says.
  static void computeWanted() {
    Numbers g{std::vector<double>(x.begin(), x.end()),
              std::vector<double>(count)};
    std::vector<Numbers> saved;
    bool byRows = false;
    for (int k = 0; k < 5; ++k, byRows = !byRows)
      saved.push_back(g = shift(g, byRows));
    for (size_t k = 5; k-- > 0; byRows = !byRows) {
      g = shift(plus(g, saved[k]), byRows);
      if (k == 2)
        wanted[1] = g;
    }
    wanted[0] = g;
  }

  void load() {
    program.clear();
    Result<Program> loaded = Program::load(folder + "/f.drawloom", "", "cuda");
    ASSERT_TRUE(bool(loaded)) << loaded.error().message();
    program.push_back(std::move(*loaded));
  }
  void open(const char *faults = nullptr) {
    close();
    const char *name = folder.c_str();
    DrawloomStoreOptions options = {};
    options.size = sizeof(options);
    options.folders = &name;
    options.folderCount = 1;
    options.capacity = uint64_t(64) << 20;
    options.memory = uint64_t(8) << 20;
    options.device = "threads";
    options.faults = faults;
    DrawloomError *error = drawloomStoreOpen(&options, &store);
    ASSERT_FALSE(error) << drawloomErrorMessage(error);
    drawloomUseStore(store);
  }
  void close() {
    drawloomUseStore(nullptr);
    if (store)
      EXPECT_FALSE(drawloomStoreClose(store, -1));
    store = nullptr;
  }
  uint64_t countOf(uint64_t DrawloomStoreCounts::*which) {
    DrawloomStoreCounts counts = {};
    counts.size = sizeof(counts);
    drawloomStoreStatistics(store, &counts);
    return counts.*which;
  }
  /// Of the driver; false where it has no success.
  template <typename... T> static bool call(const char *name, T... arguments) {
    auto *function = reinterpret_cast<int (*)(T...)>(dlsym(driver, name));
    return function && function(arguments...) == 0;
  }

  void expectResults() {
    for (int r = 0; r < 2; ++r) {
      for (size_t i = 0; i < count; ++i)
        // The bound is of first order in the roundings.
        ASSERT_LE(std::fabs(results[r][i] - wanted[r].values[i]),
                  1.01 * wanted[r].errors[i])
            << r << ", " << i;
      // The first call decides on the last bits.
      if (first[r].empty())
        first[r] = results[r];
      EXPECT_EQ(std::memcmp(results[r].data(), first[r].data(), 4 * count), 0);
    }
  }
  /// "" where the results are right, else the error.
  std::string run() {
    for (Values &result : results)
      result.assign(count, 3);
    Result<void> done = program[0].functions()[0].call(
        {buffer(x.data(), count)},
        {buffer(results[0].data(), count), buffer(results[1].data(), count)});
    if (!done)
      return done.error().message();
    expectResults();
    return "";
  }

  /// Memory of the device for one value.
  DrawloomTensor tensorOn(void *stream) {
    static const int64_t extents[] = {rows, columns};
    DrawloomTensor tensor = {};
    tensor.data = *program[0].allocate(4 * count, stream);
    tensor.deviceType = 2;
    tensor.rank = 2;
    tensor.elementCode = 2;
    tensor.elementBits = 32;
    tensor.lanes = 1;
    tensor.extents = extents;
    return tensor;
  }

  static std::string folder;
  static void *driver;
  static Values x, first[2];
  static Numbers wanted[2];
  std::vector<Program> program;
  DrawloomStore *store = nullptr;
  Values results[2];
};
std::string GpuOffload::folder;
void *GpuOffload::driver = nullptr;
Values GpuOffload::x(count), GpuOffload::first[2];
GpuOffload::Numbers GpuOffload::wanted[2];

// At once; only where someone waits; and so copies alone, or all but them.
const char *const orders[] = {"", "1", "side", "main"};

TEST_F(GpuOffload, ValuesComeBackInEveryOrderOfTheDevice) {
  EXPECT_EQ(program[0].functions()[0].stored(),
            static_cast<int64_t>(8 * count));
  for (const char *order : orders)
    for (const char *fault : {"", "late-event:5"}) {
      setenv("DRAWLOOM_EMULATED_DEFER", order, 1);
      setenv("DRAWLOOM_EMULATED_FAULT", fault, 1);
      open();
      EXPECT_EQ(run(), "") << order << ", " << fault;
      // Two values of two parts each.
      EXPECT_EQ(countOf(&DrawloomStoreCounts::puts), 4u);
      EXPECT_EQ(countOf(&DrawloomStoreCounts::gets), 4u);
      EXPECT_EQ(countOf(&DrawloomStoreCounts::records), 0u);
    }
}

TEST_F(GpuOffload, ValuesComeBackInTheOrderOfTheCallersStream) {
  open();
  for (const char *order : orders) {
    setenv("DRAWLOOM_EMULATED_DEFER", order, 1);
    void *stream = nullptr;
    ASSERT_TRUE(call("cuStreamCreate", &stream, 0u));
    DrawloomTensor tensors[] = {tensorOn(stream), tensorOn(stream),
                                tensorOn(stream)};
    ASSERT_TRUE(
        bool(program[0].upload(tensors[0].data, x.data(), 4 * count, stream)));
    // The second call has the memory of the first one.
    for (int i = 0; i < 2; ++i) {
      Result<void> done = program[0].functions()[0].callTensorsOnStream(
          {&tensors[0]}, {&tensors[1], &tensors[2]}, stream);
      ASSERT_TRUE(bool(done)) << done.error().message();
    }
    for (int r = 0; r < 2; ++r) {
      results[r].resize(count);
      ASSERT_TRUE(bool(program[0].download(
          results[r].data(), tensors[1 + r].data, 4 * count, stream)));
    }
    expectResults();
    for (const DrawloomTensor &tensor : tensors)
      program[0].release(tensor.data, stream);
    EXPECT_TRUE(call("cuStreamDestroy_v2", stream));
  }
}

TEST_F(GpuOffload, CopiesThatFailAreErrorsWhicheverItIs) {
  int copies = 0;
  for (std::string error = "?"; !error.empty(); ++copies) {
    ASSERT_LT(copies, 40) << error;
    // What failed stays, until then.
    program.clear();
    ASSERT_TRUE(call("cuDevicePrimaryCtxReset_v2", 0));
    load();
    open();
    setenv("DRAWLOOM_EMULATED_DEFER", orders[copies % 4], 1);
    setenv("DRAWLOOM_EMULATED_FAULT",
           ("copy-failure:" + std::to_string(copies)).c_str(), 1);
    error = run();
    EXPECT_EQ(countOf(&DrawloomStoreCounts::records), 0u);
    if (!error.empty())
      EXPECT_NE(error.find("CUDA_ERROR"), std::string::npos) << error;
    unsetenv("DRAWLOOM_EMULATED_FAULT");
  }
  // An argument, four parts that leave and come back, two results.
  EXPECT_EQ(copies, 1 + 4 + 4 + 2 + 1);
}

TEST_F(GpuOffload, BytesThatAreLostOnceAreComputedAgain) {
  for (const char *order : orders) {
    setenv("DRAWLOOM_EMULATED_DEFER", order, 1);
    open("op=write;nth=2;do=flip 77");
    EXPECT_EQ(run(), "");
    EXPECT_EQ(countOf(&DrawloomStoreCounts::records), 0u);
  }
}

TEST_F(GpuOffload, FullDisksAreErrors) {
  for (const char *order : orders) {
    setenv("DRAWLOOM_EMULATED_DEFER", order, 1);
    open();
    // Another one has all but two MiB.
    std::vector<char> others(uint64_t(62) << 20);
    DrawloomRecord record = {};
    int done = 0;
    ASSERT_FALSE(drawloomStorePut(store, others.data(), others.size(), "other",
                                  DRAWLOOM_DUE_UNKNOWN, 0, -1, &record, &done));
    EXPECT_NE(run().find("of @chain"), std::string::npos);
    EXPECT_EQ(countOf(&DrawloomStoreCounts::records), 1u);
    for (const Values &result : results)
      EXPECT_TRUE(std::isnan(result[5])) << "nobody takes it for a result";
    ASSERT_FALSE(drawloomStoreDrop(store, record));
    EXPECT_EQ(run(), "");
  }
}

TEST_F(GpuOffload, NeedsAStore) {
  EXPECT_EQ(run(), "@chain keeps 2 values outside memory for some time and has "
                   "no store for them: name a folder of a local disk (--spill "
                   "of drawloom-run, spill= in Python, drawloomUseStore in C)");
}

TEST_F(GpuOffload, SaysWhatMemoryIsLacking) {
  open();
  std::string all;
  for (int allocations = 0;; ++allocations) {
    program.clear();
    ASSERT_TRUE(call("cuDevicePrimaryCtxReset_v2", 0));
    load();
    setenv("DRAWLOOM_EMULATED_FAULT",
           ("out-of-memory:" + std::to_string(allocations)).c_str(), 1);
    std::string error = run();
    unsetenv("DRAWLOOM_EMULATED_FAULT");
    if (error.empty())
      break;
    ASSERT_LT(allocations, 100);
    all += error + "\n";
  }
  EXPECT_NE(all.find("gives no memory of 33554432 bytes that values can leave "
                     "it by"),
            std::string::npos)
      << all;
}

TEST_F(GpuOffload, CannotBeCaptured) {
  open();
  void *stream = nullptr, *graph = nullptr;
  ASSERT_TRUE(call("cuStreamCreate", &stream, 0u));
  DrawloomTensor tensor = tensorOn(stream), other = tensorOn(stream),
                 third = tensorOn(stream);
  ASSERT_TRUE(call("cuStreamBeginCapture_v2", stream, 0));
  Result<void> done = program[0].functions()[0].callTensorsOnStream(
      {&tensor}, {&other, &third}, stream);
  ASSERT_FALSE(bool(done));
  EXPECT_EQ(done.error().message(),
            "@chain keeps values outside memory for some time: a call of it "
            "cannot be captured into a CUDA graph");
  (void)call("cuStreamEndCapture", stream, &graph);
  EXPECT_TRUE(call("cuStreamDestroy_v2", stream));
}

} // namespace
