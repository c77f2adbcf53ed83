//===- GpuProgramTest.cpp - files with code for GPUs, without LLVM --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/Runtime.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sstream>

using namespace drawloom;

namespace {

std::string contents(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A file that drawloom-translate made for the CPU and for GPUs, and the
/// emulated driver.
class GpuProgram : public testing::Test {
protected:
  static void SetUpTestSuite() {
    char name[] = "/tmp/drawloom-program-XXXXXX";
    ASSERT_TRUE(mkdtemp(name));
    folder = name;
    translate("--mlir-to-artifact --target=cpu,cuda --isa=baseline"
              " --arch=sm_80,sm_90a -o " +
              folder + "/both.drawloom");
    translate("--mlir-to-bundle --arch=sm_80,sm_90a --bundle-modules "
              "--bundle-dir=" +
              folder + "/b");
    std::string modules;
    for (const char *arch : {"/b/sm_80:", "/b/sm_90a:"})
      modules += folder + arch;
    setenv("DRAWLOOM_EMULATED_MODULES", modules.c_str(), 1);
    setenv("DRAWLOOM_EMULATOR_LOG", (folder + "/log").c_str(), 1);
    setenv("DRAWLOOM_EMULATED_DEVICES", "2", 1);
    library = dlopen(DRAWLOOM_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library) << dlerror();
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(std::system(("rm -rf " + folder).c_str()), 0);
  }
  void SetUp() override {
    setenv("DRAWLOOM_LIBCUDA", DRAWLOOM_EMULATED_CUDA, 1);
  }
  void TearDown() override {
    unsetenv("DRAWLOOM_EMULATED_CAPABILITY");
    unsetenv("DRAWLOOM_EMULATED_DEFER");
  }

  static void translate(const std::string &options) {
    std::string command = DRAWLOOM_TRANSLATE " " DRAWLOOM_INPUTS
                                             "/gpu-program.mlir " +
                          options + " > " + folder + "/log 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command << "\n"
                                               << contents(folder + "/log");
  }
  static std::string path(const char *name) {
    return folder + "/" + name + ".drawloom";
  }
  static Program load(const char *target, const char *name = "both") {
    Result<Program> program = Program::load(path(name), "", target);
    EXPECT_TRUE(bool(program)) << program.error().message();
    return std::move(*program);
  }
  static std::string errorOf(const char *name, const char *target,
                             const char *isa = "") {
    Result<Program> program = Program::load(path(name), isa, target);
    if (program)
      return "";
    EXPECT_EQ(program.error().code(), DRAWLOOM_ERROR_TARGET);
    return program.error().message();
  }
  /// A function of the driver that the runtime does not need.
  template <typename... T> static void call(const char *name, T... arguments) {
    auto *function = reinterpret_cast<int (*)(T...)>(dlsym(library, name));
    ASSERT_TRUE(function) << name;
    ASSERT_EQ(function(arguments...), 0) << name;
  }

  static std::string folder;
  static void *library;
};
std::string GpuProgram::folder;
void *GpuProgram::library = nullptr;

struct Values {
  float a = 3;
  std::vector<float> x = std::vector<float>(1000), y = x, z = x;
  float b = 0;
  Values() {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i % 17) - 8;
      y[i] = static_cast<float>(i % 5);
    }
  }
  void expectResults() const {
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(z[i], a * x[i] + y[i]) << i;
  }
};

Result<void> callOnHost(const Program &program, Values &values) {
  return program.find("axpy")->call(
      {buffer(&values.a, 1), buffer(values.x.data(), 1000),
       buffer(values.y.data(), 1000)},
      {buffer(values.z.data(), 1000), buffer(&values.b, 1)});
}

TEST_F(GpuProgram, FileRunsOnTheCpuUnlessItIsTold) {
  setenv("DRAWLOOM_LIBCUDA", "/there/is/no/libcuda.so.1", 1);
  Program program = load("");
  EXPECT_EQ(program.target(), "cpu");
  EXPECT_EQ(program.targets(), (std::vector<std::string>{"cpu", "cuda"}));
  EXPECT_EQ(program.instructionSets(), (std::vector<std::string>{"baseline"}));
  Values values;
  ASSERT_TRUE(bool(callOnHost(program, values)));
  values.expectResults();
}

TEST_F(GpuProgram, FileRunsOnTheGpuFromTheHostsMemory) {
  for (auto [capability, isa] :
       {std::pair("80", "sm_80"), std::pair("90", "sm_90a"),
        std::pair("120", "sm_80")}) {
    setenv("DRAWLOOM_EMULATED_CAPABILITY", capability, 1);
    Program program = load("cuda");
    EXPECT_EQ(program.target(), "cuda");
    EXPECT_EQ(program.instructionSet(), isa);
    EXPECT_EQ(program.instructionSets(),
              (std::vector<std::string>{"sm_90a", "sm_80"}));
    Values values;
    Result<void> done = callOnHost(program, values);
    ASSERT_TRUE(bool(done)) << done.error().message();
    values.expectResults();
    EXPECT_EQ(values.b, values.a) << "a number that is handed through";
    EXPECT_GT(program.memory().kept, 0u);
    program.trim();
    EXPECT_EQ(program.memory().kept, 0u);
  }
}

TEST_F(GpuProgram, FileOfTheFirstVersionWithCodeForGpusRuns) {
  // See Inputs/program-v4.mlir.
  std::string file = DRAWLOOM_INPUTS "/program-v4.drawloom";
  std::string modules = std::getenv("DRAWLOOM_EMULATED_MODULES");
  setenv("DRAWLOOM_EMULATED_MODULES", DRAWLOOM_INPUTS "/program-v4", 1);
  setenv("DRAWLOOM_EMULATED_CAPABILITY", "80", 1);
  for (const char *target : {"cpu", "cuda"}) {
    Result<Program> program = Program::load(file, "", target);
    ASSERT_TRUE(bool(program)) << program.error().message();
    EXPECT_EQ(program->target(), target);
    Values values;
    Result<void> done = callOnHost(*program, values);
    ASSERT_TRUE(bool(done)) << done.error().message();
    values.expectResults();
  }
  setenv("DRAWLOOM_EMULATED_MODULES", modules.c_str(), 1);
}

TEST_F(GpuProgram, FileOfGpusAloneRunsThereByDefault) {
  translate("--mlir-to-artifact --target=cuda --arch=sm_90a -o " + folder +
            "/gpu.drawloom");
  EXPECT_EQ(load("", "gpu").target(), "cuda");
}

TEST_F(GpuProgram, LoadedProgramIsSavedWithAllItsTargets) {
  Result<std::string> bytes = load("cuda").serialize();
  ASSERT_TRUE(bool(bytes));
  EXPECT_EQ(*bytes, contents(path("both")));
}

TEST_F(GpuProgram, WhatIsMissingIsTold) {
  Result<Program> old =
      Program::load(DRAWLOOM_INPUTS "/program-v3.drawloom", "", "cuda");
  ASSERT_FALSE(bool(old));
  EXPECT_EQ(old.error().code(), DRAWLOOM_ERROR_TARGET);
  EXPECT_NE(old.error().message().find(
                "the program holds no code for target 'cuda'; it has "
                "code for 'cpu'"),
            std::string::npos);
  setenv("DRAWLOOM_EMULATED_CAPABILITY", "75", 1);
  EXPECT_NE(
      errorOf("both", "cuda").find("capability 7.5; it is for sm_90a, sm_80"),
      std::string::npos)
      << errorOf("both", "cuda");
  unsetenv("DRAWLOOM_EMULATED_CAPABILITY");
  EXPECT_NE(errorOf("both", "cuda", "sm_100a")
                .find("no code for architecture 'sm_100a'; it has 'sm_90a', "
                      "'sm_80'"),
            std::string::npos);
  setenv("DRAWLOOM_LIBCUDA", "/there/is/no/libcuda.so.1", 1);
  EXPECT_NE(errorOf("both", "cuda").find("there is no CUDA driver"),
            std::string::npos);
}

TEST_F(GpuProgram, EveryTruncationIsRefused) {
  std::string bytes = contents(path("both"));
  ASSERT_GT(bytes.size(), 10000u);
  for (size_t size = 0; size < bytes.size(); ++size) {
    Result<Program> program =
        Program::loadBytes(bytes.data(), size, "", "cuda");
    ASSERT_FALSE(bool(program)) << size;
    EXPECT_EQ(program.error().code(), DRAWLOOM_ERROR_FILE);
  }
}

TEST_F(GpuProgram, FlippedBitsAreRefused) {
  std::string bytes = contents(path("both"));
  for (size_t at = 0; at < bytes.size(); at += at < 512 ? 1 : 499) {
    std::string damaged = bytes;
    damaged[at] ^= 1 << at % 8;
    EXPECT_FALSE(
        bool(Program::loadBytes(damaged.data(), damaged.size(), "", "cuda")))
        << at;
  }
}

/// Tensors of the emulated device, and a stream on which all happens.
class OnStream : public GpuProgram {
protected:
  void SetUp() override {
    GpuProgram::SetUp();
    program.emplace_back(load("cuda"));
    call("cuStreamCreate", &stream, 0u);
    x = upload(values.x);
    y = upload(values.y);
    z = allocate(4000);
    b = allocate(4);
    tensors = {tensor(&values.a, {}, 1), tensor(x, thousand, 2),
               tensor(y, thousand, 2), tensor(z, thousand, 2),
               tensor(b, {}, 2)};
  }
  void TearDown() override {
    for (void *memory : {x, y, z, b})
      program[0].release(memory, stream);
    call("cuStreamDestroy_v2", stream);
    program.clear();
    GpuProgram::TearDown();
  }

  void *allocate(size_t bytes) {
    Result<void *> memory = program[0].allocate(bytes, stream);
    EXPECT_TRUE(bool(memory));
    return *memory;
  }
  void *upload(const std::vector<float> &from) {
    void *memory = allocate(4 * from.size());
    EXPECT_TRUE(
        bool(program[0].upload(memory, from.data(), 4 * from.size(), stream)));
    return memory;
  }
  static DrawloomTensor tensor(void *data, const std::vector<int64_t> &extents,
                               int32_t device) {
    DrawloomTensor tensor = {};
    tensor.data = data;
    tensor.deviceType = device;
    tensor.rank = static_cast<int32_t>(extents.size());
    tensor.elementCode = 2;
    tensor.elementBits = 32;
    tensor.lanes = 1;
    tensor.extents = extents.data();
    return tensor;
  }
  Result<void> run() {
    const DrawloomTensor *t = tensors.data();
    return program[0].find("axpy")->callTensorsOnStream({t, t + 1, t + 2},
                                                        {t + 3, t + 4}, stream);
  }
  void refuses(const std::string &why) {
    Result<void> done = run();
    ASSERT_FALSE(bool(done));
    EXPECT_EQ(done.error().code(), DRAWLOOM_ERROR_CALL);
    EXPECT_EQ(done.error().message(), why);
  }
  void download() {
    Result<void> done = program[0].download(values.z.data(), z, 4000, stream);
    ASSERT_TRUE(bool(done)) << done.error().message();
    ASSERT_TRUE(bool(program[0].download(&values.b, b, 4, stream)));
  }

  const std::vector<int64_t> thousand{1000};
  std::vector<Program> program;
  Values values;
  void *stream = nullptr, *x = nullptr, *y = nullptr, *z = nullptr,
       *b = nullptr;
  std::vector<DrawloomTensor> tensors;
};

TEST_F(OnStream, TensorsOfTheDeviceAreUsedInPlace) {
  Result<void> done = run();
  ASSERT_TRUE(bool(done)) << done.error().message();
  download();
  values.expectResults();
  EXPECT_EQ(values.b, values.a);
  EXPECT_EQ(program[0].device(), (std::pair<int32_t, int32_t>(2, 0)));
  EXPECT_TRUE(program[0].find("axpy")->takesNumber(0));
  EXPECT_FALSE(program[0].find("axpy")->takesNumber(1));
}

TEST_F(OnStream, CallIsInTheOrderOfItsStreamAndDoesNotWait) {
  // The function without a number that it hands through: nothing waits.
  setenv("DRAWLOOM_EMULATED_DEFER", "1", 1);
  void *w = upload(std::vector<float>(1000, 7.0f));
  DrawloomTensor result = tensor(w, thousand, 2);
  Result<void> done = program[0].find("add")->callTensorsOnStream(
      {&tensors[1], &tensors[2]}, {&result}, stream);
  ASSERT_TRUE(bool(done)) << done.error().message();
  // Emulated devices have the host's memory, which tells on them.
  EXPECT_EQ(static_cast<float *>(w)[3], 7.0f);
  void *other = nullptr;
  call("cuStreamCreate", &other, 0u);
  ASSERT_TRUE(bool(program[0].order(stream, other)));
  std::vector<float> sum(1000);
  ASSERT_TRUE(bool(program[0].download(sum.data(), w, 4000, other)));
  for (size_t i = 0; i < sum.size(); ++i)
    ASSERT_EQ(sum[i], values.x[i] + values.y[i]);
  program[0].release(w, stream);
  call("cuStreamDestroy_v2", other);
}

TEST_F(OnStream, CallsAreCapturedIntoAGraph) {
  Function add = *program[0].find("add");
  void *w = allocate(4000);
  DrawloomTensor result = tensor(w, thousand, 2);
  auto run = [&] {
    return bool(
        add.callTensorsOnStream({&tensors[1], &tensors[2]}, {&result}, stream));
  };
  ASSERT_TRUE(run());
  void *graph = nullptr, *executable = nullptr;
  call("cuStreamBeginCapture_v2", stream, 0);
  ASSERT_TRUE(run());
  call("cuStreamEndCapture", stream, &graph);
  call("cuGraphInstantiateWithFlags", &executable, graph, 0ull);
  std::vector<float> ones(1000, 1.0f), sum(1000);
  ASSERT_TRUE(bool(program[0].upload(x, ones.data(), 4000, stream)));
  call("cuGraphLaunch", executable, stream);
  ASSERT_TRUE(bool(program[0].download(sum.data(), w, 4000, stream)));
  for (size_t i = 0; i < sum.size(); ++i)
    ASSERT_EQ(sum[i], 1 + values.y[i]);
  program[0].release(w, stream);
}

/// The first call that needs a workspace is the captured one, and captures
/// forbid allocations. While the graph runs, another call is made on the stream
/// of the capture: each has a workspace of its own.
TEST_F(OnStream, GraphsKeepTheirWorkspace) {
  void *graph = nullptr, *executable = nullptr, *other = nullptr;
  call("cuStreamBeginCapture_v2", stream, 0);
  Result<void> captured = run();
  ASSERT_TRUE(bool(captured)) << captured.error().message();
  call("cuStreamEndCapture", stream, &graph);
  call("cuGraphInstantiateWithFlags", &executable, graph, 0ull);
  ASSERT_TRUE(bool(run()));
  download();
  values.expectResults();
  float expected = values.b;
  // Step by step: operations happen when somebody waits or asks.
  call("cuStreamCreate", &other, 1u);
  std::vector<float> zeros(1000);
  void *elsewhere = upload(zeros), *sum = allocate(4);
  setenv("DRAWLOOM_EMULATED_DEFER", "1", 1);
  for (int steps = 0; steps < 4; ++steps) {
    call("cuGraphLaunch", executable, other);
    auto *query =
        reinterpret_cast<int (*)(void *)>(dlsym(library, "cuStreamQuery"));
    for (int i = 0; i < steps; ++i)
      (void)query(other);
    DrawloomTensor zero = tensor(elsewhere, thousand, 2),
                   unused = tensor(elsewhere, thousand, 2),
                   total = tensor(sum, {}, 2);
    unused.data = allocate(4000);
    const DrawloomTensor *t = tensors.data();
    ASSERT_TRUE(bool(program[0].find("axpy")->callTensorsOnStream(
        {t, &zero, &zero}, {&unused, &total}, stream)));
    call("cuStreamSynchronize", stream);
    call("cuStreamSynchronize", other);
    program[0].release(unused.data, stream);
    download();
    EXPECT_EQ(values.b, expected) << steps;
  }
  call("cuStreamDestroy_v2", other);
}

TEST_F(OnStream, AllMemoryIsBackAfterClose) {
  size_t before = 0, after = 0, total = 0;
  call("cuMemGetInfo_v2", &before, &total);
  {
    Program second = load("cuda");
    ASSERT_TRUE(bool(second.allocate(100000, stream)));
    void *graph = nullptr;
    call("cuStreamBeginCapture_v2", stream, 0);
    const DrawloomTensor *t = tensors.data();
    ASSERT_TRUE(bool(second.find("axpy")->callTensorsOnStream(
        {t, t + 1, t + 2}, {t + 3, t + 4}, stream)));
    call("cuStreamEndCapture", stream, &graph);
    call("cuMemGetInfo_v2", &after, &total);
    EXPECT_LT(after, before - 100000);
  }
  call("cuMemGetInfo_v2", &after, &total);
  EXPECT_EQ(after, before);
}

TEST_F(OnStream, ProgramIsLoadedOntoTheCallersDevice) {
  void *context = nullptr;
  call("cuDevicePrimaryCtxRetain", &context, 1);
  call("cuCtxPushCurrent_v2", context);
  {
    Program second = load("cuda");
    EXPECT_EQ(second.device().second, 1);
    Values own;
    ASSERT_TRUE(bool(callOnHost(second, own)));
    own.expectResults();
    // The tensors are of the first device, whatever they say.
    for (DrawloomTensor &tensor : tensors)
      tensor.deviceId = 1;
    const DrawloomTensor *t = tensors.data();
    Result<void> done = second.find("axpy")->callTensorsOnStream(
        {t, t + 1, t + 2}, {t + 3, t + 4}, nullptr);
    ASSERT_FALSE(bool(done));
    EXPECT_NE(done.error().message().find(
                  "points to memory of device 0, and the kernel was loaded "
                  "onto device 1"),
              std::string::npos)
        << done.error().message();
  }
  call("cuCtxPopCurrent_v2", &context);
  call("cuDevicePrimaryCtxRelease_v2", 1);
}

TEST_F(GpuProgram, TargetsNameADevice) {
  EXPECT_EQ(load("cuda:1").device(), (std::pair<int32_t, int32_t>(2, 1)));
  EXPECT_EQ(load("cuda:1").target(), "cuda");
  EXPECT_EQ(load("cuda:0").device(), (std::pair<int32_t, int32_t>(2, 0)));
  EXPECT_NE(errorOf("both", "cuda:2")
                .find("there is no CUDA device 2; the driver finds 2"),
            std::string::npos);
  EXPECT_NE(errorOf("both", "cuda:one").find("'cuda:one' is no target"),
            std::string::npos);
}

/// Memory of a program's own allocator that a caller hands on, with a count.
struct Lent {
  explicit Lent(const Program &program) : program(program) {
    DrawloomDeviceAllocator allocator;
    allocator.context = this;
    allocator.allocate = [](void *self, size_t bytes, void *stream) -> void * {
      Lent &lent = *static_cast<Lent *>(self);
      if (lent.isEmpty)
        return nullptr;
      ++lent.allocated;
      return *lent.program.allocate(bytes, stream);
    };
    allocator.release = [](void *self, void *memory, void *stream) {
      Lent &lent = *static_cast<Lent *>(self);
      ++lent.released;
      lent.program.release(memory, stream);
    };
    drawloomUseDeviceAllocator(&allocator);
  }
  ~Lent() { drawloomUseDeviceAllocator(nullptr); }

  const Program &program;
  int allocated = 0, released = 0;
  bool isEmpty = false;
};

TEST_F(OnStream, WorkspacesComeFromTheCallersAllocator) {
  Lent lent(program[0]);
  Result<void> done = run();
  ASSERT_TRUE(bool(done)) << done.error().message();
  download();
  values.expectResults();
  EXPECT_GT(lent.allocated, 0);
  EXPECT_EQ(lent.allocated, lent.released);
  lent.isEmpty = true;
  done = run();
  ASSERT_FALSE(bool(done));
  EXPECT_EQ(done.error().code(), DRAWLOOM_ERROR_DEVICE);
  EXPECT_NE(
      done.error().message().find("cannot be had: the caller's allocator"),
      std::string::npos);
  // It is the thread's until it is taken back.
  drawloomUseDeviceAllocator(nullptr);
  EXPECT_TRUE(bool(run()));
}

TEST_F(OnStream, TensorsThatAreElsewhereAreRefused) {
  tensors[1].deviceType = 1;
  refuses("argument 1 of @axpy is in the host's memory, but the program runs "
          "on CUDA device 0, and its other tensors are taken from there; copy "
          "it to the device, or give all in the host's memory");
  tensors[1].deviceType = 2;
  tensors[1].deviceId = 1;
  refuses("argument 1 of @axpy is on CUDA device 1, but the program runs on "
          "CUDA device 0: it is loaded for one device; target 'cuda:1' is that "
          "of the tensor");
  tensors[1].deviceId = 0;
  tensors[1].deviceType = 10;
  refuses("argument 1 of @axpy is on a device of DLPack's type 10, but the "
          "program runs on CUDA device 0, and its other tensors are taken from "
          "there; copy it to the device, or give all in the host's memory");
  tensors[1].deviceType = 2;
  tensors[0].deviceType = 2;
  refuses("argument 0 of @axpy is on CUDA device 0, but it is a number that "
          "kernels get by value: give it in the host's memory");
  tensors[0].deviceType = 1;
  tensors[3].deviceType = 1;
  refuses("result 0 of @axpy is in the host's memory, but the program runs on "
          "CUDA device 0, and its other tensors are taken from there; copy it "
          "to the device, or give all in the host's memory");
  tensors[3].deviceType = 2;
  tensors[3].data = x;
  refuses("result 0 and argument 1 of @axpy share memory; only arguments may");
  tensors[3].data = z;
  EXPECT_TRUE(bool(run()));
}

TEST_F(OnStream, OtherCallsSayWhatToDo) {
  const DrawloomTensor *t = tensors.data();
  Result<void> done =
      program[0].find("axpy")->callTensors({t, t + 1, t + 2}, {t + 3, t + 4});
  ASSERT_FALSE(bool(done));
  EXPECT_EQ(done.error().message(),
            "argument 1 of @axpy is on CUDA device 0, but this call copies "
            "from and to the host's memory; drawloomCallTensorsOnStream takes "
            "tensors of the device");
  Program cpu = load("cpu");
  done = cpu.find("axpy")->callTensorsOnStream({t, t + 1, t + 2},
                                               {t + 3, t + 4}, stream);
  ASSERT_FALSE(bool(done));
  EXPECT_EQ(done.error().message(),
            "@axpy runs on the host, not on a GPU: load or compile it for "
            "target 'cuda'");
  EXPECT_FALSE(bool(cpu.allocate(4, nullptr)));
  EXPECT_EQ(cpu.device(), (std::pair<int32_t, int32_t>(1, 0)));
}

TEST_F(OnStream, FailureOfTheDeviceIsAnErrorOfItsOwn) {
  setenv("DRAWLOOM_EMULATED_FAULT", "late-failure", 1);
  setenv("DRAWLOOM_EMULATED_DEFER", "1", 1);
  ASSERT_TRUE(bool(program[0].find("add")->callTensorsOnStream(
      {&tensors[1], &tensors[2]}, {&tensors[3]}, stream)))
      << "it shows later";
  Result<void> done = program[0].download(values.z.data(), z, 4000, stream);
  unsetenv("DRAWLOOM_EMULATED_FAULT");
  ASSERT_FALSE(bool(done));
  EXPECT_EQ(done.error().code(), DRAWLOOM_ERROR_DEVICE);
  EXPECT_NE(done.error().message().find("add"), std::string::npos)
      << done.error().message();
  call("cuDevicePrimaryCtxReset_v2", 0);
  call("cuStreamCreate", &stream, 0u);
}

} // namespace
