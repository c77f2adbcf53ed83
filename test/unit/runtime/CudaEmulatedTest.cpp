//===- CudaEmulatedTest.cpp - compiled bundles on the emulated driver -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/Cuda.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace drawloom::runtime::cuda;

namespace {

using Pointer = unsigned long long;

/// Bundles made by drawloom-translate of test/codegen/nvptx/emit/Inputs, and
/// the driver that runs their kernels on this machine.
class CudaEmulated : public testing::Test {
protected:
  static void SetUpTestSuite() {
    char name[] = "/tmp/drawloom-bundles-XXXXXX";
    ASSERT_TRUE(mkdtemp(name));
    folder = name;
    std::string modules;
    for (std::string kernel : {"add", "product"}) {
      std::string command =
          DRAWLOOM_TRANSLATE
          " --mlir-to-bundle --arch=sm_80,sm_90a --bundle-modules"
          " --bundle-dir=" +
          folder + "/" + kernel + " " DRAWLOOM_INPUTS "/" + kernel +
          ".mlir > " + folder + "/log 2>&1";
      ASSERT_EQ(std::system(command.c_str()), 0) << command;
      for (const char *arch : {"/sm_80:", "/sm_90a:"})
        modules += folder + "/" + kernel + arch;
    }
    setenv("DRAWLOOM_EMULATED_MODULES", modules.c_str(), 1);
    setenv("DRAWLOOM_EMULATOR_LOG", (folder + "/log").c_str(), 1);
    setenv("DRAWLOOM_LIBCUDA", DRAWLOOM_EMULATED_CUDA, 1);
    library = dlopen(DRAWLOOM_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library) << dlerror();
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(std::system(("rm -rf " + folder).c_str()), 0);
  }
  void SetUp() override { open(); }
  void TearDown() override {
    unsetenv("DRAWLOOM_EMULATED_CAPABILITY");
    call("cuDevicePrimaryCtxReset_v2", 0);
  }

  void open() {
    auto driver = Driver::open();
    ASSERT_TRUE(driver.ok()) << driver.message();
    auto opened = Device::open(*driver);
    ASSERT_TRUE(opened.ok()) << opened.message();
    device = *opened;
  }
  std::shared_ptr<Module> load(const std::string &name) {
    auto bundle = Bundle::fromFolder(folder + "/" + name);
    EXPECT_TRUE(bundle.ok()) << bundle.message();
    auto module = Module::load(device, **bundle);
    EXPECT_TRUE(module.ok()) << module.message();
    return *module;
  }

  /// A function of the driver that the runtime does not need.
  template <typename... T> static void call(const char *name, T... arguments) {
    auto *function = reinterpret_cast<int (*)(T...)>(dlsym(library, name));
    ASSERT_TRUE(function) << name;
    ASSERT_EQ(function(arguments...), 0) << name;
  }
  template <typename T>
  Argument upload(CachingAllocator &memory, const std::vector<T> &values,
                  void *stream = nullptr) {
    size_t bytes = values.size() * sizeof(T);
    auto block = memory.allocate(bytes, stream);
    EXPECT_TRUE(block.ok()) << block.message();
    call("cuMemcpyHtoD_v2", reinterpret_cast<Pointer>(*block),
         static_cast<const void *>(values.data()), bytes);
    return Argument::pointer(*block);
  }
  static std::vector<float> download(const Argument &from, size_t count) {
    std::vector<float> values(count);
    call("cuMemcpyDtoH_v2", static_cast<void *>(values.data()),
         Pointer(from.bits), count * sizeof(float));
    return values;
  }

  static std::string folder;
  static void *library;
  std::shared_ptr<Device> device;
};
std::string CudaEmulated::folder;
void *CudaEmulated::library = nullptr;

std::vector<float> numbers(size_t count, float step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = step * static_cast<float>(i % 37) - 3;
  return values;
}

TEST_F(CudaEmulated, KernelsOfEveryChoiceCompute) {
  // Machine code of its own, that of the generation, and PTX.
  for (const char *capability : {"90", "86", "120"}) {
    setenv("DRAWLOOM_EMULATED_CAPABILITY", capability, 1);
    open();
    auto module = load("add");
    EXPECT_EQ(module->architecture().name,
              std::string(capability) == "90" ? "sm_90a" : "sm_80");
    CachingAllocator memory(device);
    std::vector<float> x = numbers(1000, 0.5f), y = numbers(1000, 0.25f);
    Argument dx = upload(memory, x), dy = upload(memory, y);
    Status status =
        module->launch(0, {8}, {dx, dy, Argument::i32(1000)}, nullptr);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<float> result = download(dy, 1000);
    for (size_t i = 0; i < 1000; ++i)
      ASSERT_EQ(result[i], x[i] + y[i]) << i;
  }
}

TEST_F(CudaEmulated, MatrixInstructionsCompute) {
  auto module = load("product");
  CachingAllocator memory(device);
  // Small whole numbers, exact in bfloat16.
  auto element = [](size_t i, size_t k) { return float((i * 5 + k * 3) % 13); };
  auto bits = [](float value) {
    uint32_t word;
    std::memcpy(&word, &value, sizeof(word));
    return static_cast<uint16_t>(word >> 16);
  };
  std::vector<uint16_t> a, b;
  for (size_t i = 0; i < 16 * 16; ++i)
    a.push_back(bits(element(i / 16, i % 16)));
  for (size_t i = 0; i < 8 * 16; ++i)
    b.push_back(bits(element(i / 16 + 2, i % 16)));
  Argument da = upload(memory, a), db = upload(memory, b);
  Argument dc = upload(memory, std::vector<float>(128, -1));
  Status status = module->launch(0, {1}, {da, db, dc}, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<float> c = download(dc, 128);
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 8; ++j) {
      float sum = 0;
      for (size_t k = 0; k < 16; ++k)
        sum += element(i, k) * element(j + 2, k);
      ASSERT_EQ(c[i * 8 + j], sum) << i << ", " << j;
    }
}

TEST_F(CudaEmulated, LaunchesAreCapturedIntoGraphs) {
  auto module = load("add");
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  call("cuStreamCreate", &stream, 0u);
  CachingAllocator memory(device);
  std::vector<float> x(100, 2), y(100, 1);
  Argument dx = upload(memory, x, stream), dy = upload(memory, y, stream);
  call("cuStreamBeginCapture_v2", stream, 0);
  Status status = module->launch(0, {1}, {dx, dy, Argument::i32(100)}, stream);
  ASSERT_TRUE(status.ok()) << status.message();
  call("cuStreamEndCapture", stream, &graph);
  call("cuGraphInstantiateWithFlags", &executable, graph, 0ull);
  EXPECT_EQ(download(dy, 100), y);
  for (int i = 0; i < 3; ++i)
    call("cuGraphLaunch", executable, stream);
  call("cuStreamSynchronize", stream);
  EXPECT_EQ(download(dy, 100), std::vector<float>(100, 7));
}

TEST_F(CudaEmulated, FaultIsToldAtTheNextCallWithTheKernel) {
  auto module = load("add");
  CachingAllocator memory(device);
  Argument dx = upload(memory, std::vector<float>(8)),
           dy = upload(memory, std::vector<float>(8));
  // Far beyond both.
  std::vector<Argument> wrong = {dx, dy, Argument::i32(1 << 20)};
  (void)module->launch(0, {8192}, wrong, nullptr).ok();
  Status status = module->launch(0, {1}, {dx, dy, Argument::i32(8)}, nullptr);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("The last kernel of Drawloom that was "
                                  "launched is 'add', grid 8192x1x1"),
            std::string::npos)
      << status.message();
  EXPECT_FALSE(device->synchronize().ok());
}

TEST_F(CudaEmulated, HostPointersAreRefused) {
  auto module = load("add");
  std::vector<float> x(8), y(8);
  Status status =
      module->launch(0, {1},
                     {Argument::pointer(x.data(), "8xf32"),
                      Argument::pointer(y.data(), "8xf32"), Argument::i32(8)},
                     nullptr);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("argument 'x' points to memory that the "
                                  "device cannot read"),
            std::string::npos)
      << status.message();
}

} // namespace
