//===- CudaTest.cpp - bundles and launches through a fake driver ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/Cuda.h"
#include "FakeCuda.h"
#include "drawloom/runtime/Sha256.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <new>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace drawloom::runtime::cuda;
using drawloom::runtime::sha256;

namespace {

testing::AssertionResult contains(const std::string &text, const char *part) {
  if (text.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "'" << text << "' lacks '" << part << "'";
}

/// A packed bundle of the given architectures: each an object of the manifest.
/// Its one kernel `k` has files "<arch>.cubin" and "<arch>.ptx" whose contents
/// are their names.
std::string pack(const std::string &architectures,
                 const std::vector<std::string> &files, int version = 1) {
  std::string list, contents;
  for (const std::string &file : files) {
    list +=
        (list.empty() ? "" : ",") +
        ("{\"path\":\"" + file + "\",\"bytes\":" + std::to_string(file.size()) +
         ",\"sha256\":\"" + sha256(file) + "\"}");
    contents += file;
  }
  std::string manifest = "{\"drawloom_bundle\":" + std::to_string(version) +
                         ",\"architectures\":[" + architectures +
                         "],\"files\":[" + list + "]}";
  std::string payload = manifest + contents;
  return "drawloom-bundle 1 " + std::to_string(manifest.size()) + " " +
         std::to_string(contents.size()) + " " + sha256(payload) + "\n" +
         payload;
}

std::string describe(const std::string &name, int capability, bool specific,
                     bool cubin = true) {
  return "{\"name\":\"" + name +
         "\",\"capability\":" + std::to_string(capability) +
         ",\"specific\":" + (specific ? "true" : "false") +
         ",\"plan\":{\"entries\":[]},\"kernels\":[{\"name\":\"k\",\"threads\":"
         "128,\"shared_bytes\":65536,\"registers\":40,\"ptx\":\"" +
         name + ".ptx\"" + (cubin ? ",\"cubin\":\"" + name + ".cubin\"" : "") +
         ",\"parameters\":[{\"name\":\"x\",\"kind\":\"ptr\",\"align\":16,"
         "\"nonnull\":true},{\"name\":\"y\",\"kind\":\"ptr\"},{\"name\":\"n\","
         "\"kind\":\"i32\"},{\"name\":\"scale\",\"kind\":\"f32\"}]}]}";
}

std::string packed() {
  return pack(describe("sm_80", 80, false) + "," + describe("sm_90a", 90, true),
              {"sm_80.cubin", "sm_80.ptx", "sm_90a.cubin", "sm_90a.ptx"});
}

class Cuda : public testing::Test {
protected:
  void SetUp() override {
    setenv("DRAWLOOM_LIBCUDA", DRAWLOOM_FAKE_CUDA, 1);
    void *library = dlopen(DRAWLOOM_FAKE_CUDA, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "fakeCuda"))();
    new (fake) FakeCuda(); // As if just loaded.
  }
  void TearDown() override {
    EXPECT_EQ(fake->pushed, 0);
    unsetenv("DRAWLOOM_LIBCUDA");
    unsetenv("DRAWLOOM_CUDA_BLOCKING");
  }

  static std::shared_ptr<Device> device() {
    auto driver = Driver::open();
    EXPECT_TRUE(driver.ok()) << driver.message();
    auto device = Device::open(*driver);
    EXPECT_TRUE(device.ok()) << device.message();
    return *device;
  }
  static std::shared_ptr<Bundle> bundle(const std::string &bytes = packed()) {
    auto bundle = Bundle::fromMemory(bytes.data(), bytes.size());
    EXPECT_TRUE(bundle.ok()) << bundle.message();
    return *bundle;
  }
  static std::shared_ptr<Module> module() {
    auto module = Module::load(device(), *bundle());
    EXPECT_TRUE(module.ok()) << module.message();
    return *module;
  }
  static std::vector<Argument> arguments(uint64_t x = 0x1000,
                                         uint64_t y = 0x2000) {
    return {Argument::pointer(reinterpret_cast<void *>(x), "64x2xf32"),
            Argument::pointer(reinterpret_cast<void *>(y)), Argument::i32(-7),
            Argument::f32(0.5f)};
  }
  static std::string failure(const std::string &bytes) {
    auto bundle = Bundle::fromMemory(bytes.data(), bytes.size());
    return bundle.ok() ? "" : bundle.message();
  }

  FakeCuda *fake = nullptr;
};

TEST(Checksum, IsSha256) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca49599"
                        "1b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb41"
                           "0ff61f20015ad");
  // Lengths around a block's end.
  EXPECT_EQ(sha256(std::string(56, 'a')),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST_F(Cuda, MissingDriverSaysWhatToDo) {
  setenv("DRAWLOOM_LIBCUDA", "/nowhere/libcuda.so", 1);
  auto driver = Driver::open();
  ASSERT_FALSE(driver.ok());
  EXPECT_TRUE(contains(driver.message(), "there is no CUDA driver"));
  EXPECT_TRUE(contains(driver.message(), "/nowhere/libcuda.so"));
}

TEST_F(Cuda, OldDriverIsNamed) {
  fake->version = 11080;
  auto driver = Driver::open();
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.message(), "the CUDA driver runs CUDA 11.8; 12.0 or newer "
                              "is needed. Update NVIDIA's driver");
}

TEST_F(Cuda, NoDeviceIsAnError) {
  fake->devices = 0;
  auto driver = Driver::open();
  ASSERT_FALSE(driver.ok());
  EXPECT_TRUE(contains(driver.message(), "finds no device"));
}

TEST_F(Cuda, UnknownDeviceIsAnError) {
  auto driver = Driver::open();
  ASSERT_TRUE(driver.ok());
  auto device = Device::open(*driver, 3);
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.message(), "there is no CUDA device 3; the driver finds 1");
}

TEST_F(Cuda, BundleDescribesItsKernels) {
  auto read = bundle();
  ASSERT_EQ(read->architectures().size(), 2u);
  const ArchitectureInfo &info = read->architectures()[1];
  EXPECT_EQ(info.name, "sm_90a");
  EXPECT_TRUE(info.specific);
  EXPECT_EQ(info.plan, "{\"entries\":[]}");
  ASSERT_EQ(info.kernels.size(), 1u);
  const KernelInfo &kernel = info.kernels[0];
  EXPECT_EQ(kernel.threads, 128u);
  EXPECT_EQ(kernel.sharedBytes, 65536);
  EXPECT_EQ(kernel.registers, 40);
  ASSERT_EQ(kernel.parameters.size(), 4u);
  EXPECT_EQ(kernel.parameters[0].alignment, 16u);
  EXPECT_EQ(kernel.parameters[3].kind, Kind::F32);
}

TEST_F(Cuda, BundleCutOffAnywhereIsAnError) {
  std::string bytes = packed();
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_NE(failure(bytes.substr(0, size)), "") << "of " << size << " bytes";
}

TEST_F(Cuda, AnyChangedByteOfABundleIsAnError) {
  std::string bytes = packed();
  for (size_t at = 0; at < bytes.size(); at += 5) {
    std::string changed = bytes;
    changed[at] ^= 1;
    ASSERT_NE(failure(changed), "") << "at " << at;
  }
}

TEST_F(Cuda, BundleOfAnotherVersionIsNamed) {
  EXPECT_TRUE(
      contains(failure(pack(describe("sm_80", 80, false), {}, /*version=*/2)),
               "of version 2, this runtime reads version 1"));
}

TEST_F(Cuda, DamagedManifestsAreErrors) {
  EXPECT_TRUE(contains(failure(pack("", {})), "it holds no kernels"));
  EXPECT_TRUE(contains(failure(pack("{}", {})), "kernels in its manifest"));
  EXPECT_TRUE(contains(failure(pack("7", {})), "kernels in its manifest"));
  EXPECT_TRUE(contains(failure(pack("", {"../up"})), "list of files"));
  EXPECT_TRUE(contains(failure(pack("", {"/etc/passwd"})), "list of files"));
}

TEST_F(Cuda, BundleFolderIsReadAndChecked) {
  char folder[] = "/tmp/drawloom-cuda-XXXXXX";
  ASSERT_TRUE(mkdtemp(folder));
  std::string path(folder), bytes = packed();
  std::string payload = bytes.substr(bytes.find('\n') + 1);
  std::ofstream(path + "/bundle.json")
      << payload.substr(0, payload.rfind('}') + 1);
  std::ofstream(path + "/sm_90a.cubin") << "sm_90a.cubin";
  auto read = Bundle::fromFolder(path);
  ASSERT_TRUE(read.ok()) << read.message();
  auto contents = (*read)->read("sm_90a.cubin");
  EXPECT_TRUE(contents.ok()) << contents.message();
  std::ofstream(path + "/sm_90a.cubin") << "sm_90a.CUBIN";
  contents = (*read)->read("sm_90a.cubin");
  ASSERT_FALSE(contents.ok());
  EXPECT_TRUE(contains(contents.message(), "the checksum of 'sm_90a.cubin'"));
  contents = (*read)->read("sm_80.cubin");
  ASSERT_FALSE(contents.ok());
  EXPECT_TRUE(contains(contents.message(), "cannot be read"));
  unlink((path + "/bundle.json").c_str());
  unlink((path + "/sm_90a.cubin").c_str());
  rmdir(folder);
  auto missing = Bundle::fromFolder(path);
  ASSERT_FALSE(missing.ok());
  EXPECT_TRUE(contains(missing.message(), "bundle.json' cannot be read"));
}

TEST_F(Cuda, BestCodeForADeviceIsChosen) {
  auto both = bundle()->architectures();
  auto choose = [&](const std::vector<ArchitectureInfo> &list,
                    unsigned capability) -> std::string {
    auto choice = chooseArchitecture(list, capability);
    if (!choice.ok())
      return choice.message();
    return list[choice->index].name + (choice->ptx ? " ptx" : " cubin");
  };
  EXPECT_EQ(choose(both, 80), "sm_80 cubin");
  EXPECT_EQ(choose(both, 86), "sm_80 cubin");
  EXPECT_EQ(choose(both, 89), "sm_80 cubin");
  EXPECT_EQ(choose(both, 90), "sm_90a cubin");
  EXPECT_EQ(choose(both, 100), "sm_80 ptx");
  EXPECT_EQ(choose(both, 120), "sm_80 ptx");
  EXPECT_EQ(choose(both, 75),
            "no code in the bundle runs on a device of capability 7.5; it is "
            "for sm_80, sm_90a. Compile it for this device's architecture");
  std::vector<ArchitectureInfo> specific = {both[1]};
  EXPECT_TRUE(contains(choose(specific, 100), "no code in the bundle runs"));
  auto text = bundle(pack(describe("sm_90a", 90, true, /*cubin=*/false),
                          {"sm_90a.ptx"}))
                  ->architectures();
  EXPECT_EQ(choose(text, 90), "sm_90a ptx");
}

TEST_F(Cuda, LaunchPassesArgumentsGridAndStream) {
  auto loaded = module();
  EXPECT_STREQ(fake->image, "sm_90a.cubin");
  EXPECT_STREQ(fake->function, "k");
  EXPECT_EQ(fake->dynamicShared, 65536);
  for (int i = 0; i < 6; ++i)
    fake->argumentBytes[i] = i == 2 || i == 3 ? 4 : 8;
  int stream = 0;
  auto index = loaded->find("k");
  ASSERT_TRUE(index.ok());
  Status status = loaded->launch(*index, {3, 2, 1}, arguments(), &stream);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(fake->grid[0], 3u);
  EXPECT_EQ(fake->grid[1], 2u);
  EXPECT_EQ(fake->threads, 128u);
  EXPECT_EQ(fake->shared, 65536u);
  EXPECT_EQ(fake->stream, &stream);
  EXPECT_EQ(fake->arguments[0], 0x1000u);
  EXPECT_EQ(fake->arguments[1], 0x2000u);
  EXPECT_EQ(static_cast<int32_t>(fake->arguments[2]), -7);
  EXPECT_EQ(fake->arguments[3], 0x3f000000u); // 0.5
  EXPECT_EQ(fake->arguments[4], 0u);          // No scratch memory.
  EXPECT_EQ(fake->arguments[5], 0u);
}

TEST_F(Cuda, LaunchNeitherWaitsNorAllocates) {
  auto loaded = module();
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(loaded->launch(0, {1}, arguments(), nullptr).ok());
  EXPECT_EQ(fake->launches, 3u);
  EXPECT_EQ(fake->synchronizations, 0u);
  EXPECT_EQ(fake->allocations, 0u);
  // Each pointer is asked about once.
  EXPECT_EQ(fake->pointerQueries, 2u);
}

TEST_F(Cuda, GridOfNoBlocksIsNoLaunch) {
  auto loaded = module();
  EXPECT_TRUE(loaded->launch(0, {0}, arguments(), nullptr).ok());
  EXPECT_EQ(fake->launches, 0u);
}

TEST_F(Cuda, WrongLaunchesAreRefused) {
  auto loaded = module();
  auto refused = [&](const Grid &grid, std::vector<Argument> given) {
    Status status = loaded->launch(0, grid, given, nullptr);
    EXPECT_EQ(fake->launches, 0u);
    return status.message();
  };
  auto changed = arguments();
  changed.pop_back();
  EXPECT_TRUE(
      contains(refused({1}, changed), "it takes 4 arguments, 3 were given"));
  changed = arguments();
  changed[2] = Argument::i64(1);
  EXPECT_TRUE(contains(refused({1}, changed),
                       "argument 'n' is of kind i64, the kernel takes i32"));
  EXPECT_TRUE(contains(refused({1, 65536}, arguments()),
                       "65536 blocks along y, the device takes 0 to 65535"));
  EXPECT_TRUE(
      contains(refused({1}, arguments(0)), "argument 'x' is a null pointer"));
  EXPECT_TRUE(contains(refused({1}, arguments(0x1008)),
                       "argument 'x' must be a multiple of 16 bytes"));
  fake->hostBegin = 0x5000, fake->hostEnd = 0x6000;
  std::string message = refused({4, 2}, arguments(0x5000));
  EXPECT_TRUE(contains(message, "kernel 'k', grid 4x2x1, 128 threads, (x = "
                                "0x5000: 64x2xf32, y = 0x2000, n = -7"));
  EXPECT_TRUE(contains(message, "argument 'x' points to memory that the "
                                "device cannot read"));
}

/// A module whose kernel reads 64 bytes of x and writes 32 each of y and z.
std::shared_ptr<Module> writingModule(std::shared_ptr<Device> device) {
  std::string bytes = pack(
      "{\"name\":\"sm_80\",\"capability\":80,\"specific\":false,\"kernels\":[{"
      "\"name\":\"k\",\"threads\":128,\"shared_bytes\":0,\"ptx\":\"p\","
      "\"parameters\":[{\"name\":\"x\",\"kind\":\"ptr\",\"bytes\":64},"
      "{\"name\":\"y\",\"kind\":\"ptr\",\"bytes\":32,\"written\":true},"
      "{\"name\":\"z\",\"kind\":\"ptr\",\"bytes\":32,\"written\":true},"
      "{\"name\":\"w\",\"kind\":\"ptr\",\"bytes\":64}]}]}",
      {"p"});
  auto bundle = Bundle::fromMemory(bytes.data(), bytes.size());
  EXPECT_TRUE(bundle.ok()) << bundle.message();
  auto module = Module::load(device, **bundle);
  EXPECT_TRUE(module.ok()) << module.message();
  return *module;
}

TEST_F(Cuda, WhatIsWrittenMustOverlapNothing) {
  auto loaded = writingModule(device());
  auto launch = [&](uint64_t x, uint64_t y, uint64_t z, uint64_t w) {
    std::vector<Argument> given;
    for (uint64_t at : {x, y, z, w})
      given.push_back(Argument::pointer(reinterpret_cast<void *>(at)));
    return loaded->launch(0, {1}, given, nullptr).message();
  };
  // Neighbours, and inputs on each other, overlap nothing that is written.
  EXPECT_EQ(launch(0x1000, 0x1040, 0x1060, 0x1000), "");
  EXPECT_EQ(launch(0x1000, 0xfe0, 0, 0x1020), "");
  EXPECT_TRUE(contains(
      launch(0x1000, 0x103f, 0x2000, 0x3000),
      "argument 'y' (0x103f to 0x105e), which the kernel writes, overlaps "
      "argument 'x' (0x1000 to 0x103f): give it memory of its own"));
  EXPECT_TRUE(contains(launch(0x1000, 0x2000, 0x201f, 0x3000),
                       "argument 'y' (0x2000 to 0x201f), which the kernel "
                       "writes, overlaps argument 'z' (0x201f to 0x203e)"));
  EXPECT_TRUE(contains(launch(0x1000, 0x2000, 0x2fe1, 0x3000),
                       "argument 'z' (0x2fe1 to 0x3000), which the kernel "
                       "writes, overlaps argument 'w' (0x3000 to 0x303f)"));
  // Ends beyond 32 bits are what they are.
  EXPECT_TRUE(contains(launch(0x1000, 0xfffffff0, 0x10000000f, 0x3000),
                       "argument 'y' (0xfffffff0 to 0x10000000f), which"));
  EXPECT_EQ(fake->launches, 2u);
}

TEST_F(Cuda, MoreRegistersThanABlockHasAreExplained) {
  auto loaded = module();
  fake->launchCode = 701;
  std::string message = loaded->launch(0, {1}, arguments(), nullptr).message();
  EXPECT_TRUE(contains(message, "kernel 'k', grid 1x1x1, 128 threads"));
  EXPECT_TRUE(contains(message, "A block takes 128 threads of 40 registers and "
                                "65536 bytes of shared memory"));
  EXPECT_TRUE(contains(message, "Compile it with fewer warps"));
}

TEST_F(Cuda, GridsBeyond32BitsAreRefused) {
  // Not cut to their low bits, which would be one block.
  Status status =
      module()->launch(0, {(int64_t(1) << 32) + 1}, arguments(), nullptr);
  EXPECT_TRUE(
      contains(status.message(), "its grid has 4294967297 blocks along x"));
  EXPECT_EQ(fake->launches, 0u);
}

TEST_F(Cuda, NullIsAllowedWhereTheKernelDoesNotForbidIt) {
  EXPECT_TRUE(module()->launch(0, {1}, arguments(0x1000, 0), nullptr).ok());
}

TEST_F(Cuda, HostMemoryIsAllowedWhereTheDeviceReadsIt) {
  fake->pageable = true;
  fake->hostBegin = 0x5000, fake->hostEnd = 0x6000;
  EXPECT_TRUE(module()->launch(0, {1}, arguments(0x5000), nullptr).ok());
}

TEST_F(Cuda, LateFailureNamesTheKernelBefore) {
  auto loaded = module();
  ASSERT_TRUE(loaded->launch(0, {5}, arguments(), nullptr).ok());
  fake->launchCode = 700;
  std::string message = loaded->launch(0, {6}, arguments(), nullptr).message();
  EXPECT_TRUE(contains(message, "grid 6x1x1"));
  EXPECT_TRUE(contains(message, "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory "
                                "access was encountered"));
  EXPECT_TRUE(contains(message, "The last kernel of Drawloom that was launched "
                                "is 'k', grid 5x1x1"));
}

TEST_F(Cuda, SynchronizationNamesTheKernelBefore) {
  auto gpu = device();
  auto loaded = Module::load(gpu, *bundle());
  ASSERT_TRUE(loaded.ok());
  ASSERT_TRUE((*loaded)->launch(0, {5}, arguments(), nullptr).ok());
  EXPECT_TRUE(gpu->synchronize().ok());
  fake->synchronizeCode = 700;
  EXPECT_TRUE(contains(gpu->synchronize().message(), "'k', grid 5x1x1"));
}

TEST_F(Cuda, BlockingLaunchesNameTheKernelThatFailed) {
  setenv("DRAWLOOM_CUDA_BLOCKING", "1", 1);
  auto loaded = module();
  fake->synchronizeCode = 700;
  EXPECT_TRUE(contains(loaded->launch(0, {5}, arguments(), nullptr).message(),
                       "scale = 0x3f000000) failed: CUDA_ERROR_ILLEGAL"));
}

TEST_F(Cuda, ImageThatIsRefusedBringsTheAssemblersWords) {
  fake->moduleCode = 200;
  auto loaded = Module::load(device(), *bundle());
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.message(),
            "kernel 'k' for sm_90a cannot be loaded onto Fake GPU: "
            "CUDA_ERROR_INVALID_IMAGE: ptxas fatal: nonsense; its PTX: "
            "CUDA_ERROR_INVALID_IMAGE: ptxas fatal: nonsense");
}

TEST_F(Cuda, RefusedMachineCodeFallsBackToItsPtxAndSaysSo) {
  EXPECT_EQ(module()->note(), "");
  for (int code : {200, 209, 222}) {
    fake->cubinCode = code;
    auto loaded = module();
    EXPECT_STREQ(fake->image, "sm_90a.ptx");
    EXPECT_EQ(loaded->architecture().name, "sm_90a");
    EXPECT_TRUE(contains(loaded->note(),
                         "the driver refuses the machine code of kernel 'k' "
                         "for sm_90a (CUDA"));
    EXPECT_TRUE(contains(loaded->note(), "has assembled its PTX instead"));
  }
  // What has nothing to do with the image is told as it is.
  fake->cubinCode = 700;
  auto failed = Module::load(device(), *bundle());
  ASSERT_FALSE(failed.ok());
  EXPECT_TRUE(contains(failed.message(), "CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(Cuda, PtxIsHandedToTheDriverWhole) {
  fake->capability = 120;
  auto loaded = module();
  EXPECT_STREQ(fake->image, "sm_80.ptx");
  EXPECT_EQ(loaded->architecture().name, "sm_80");
}

TEST_F(Cuda, MoreSharedMemoryThanTheDeviceHasIsAnError) {
  std::string kernel = describe("sm_90a", 90, true);
  kernel.replace(kernel.find("65536"), 5, "240000");
  auto loaded = Module::load(
      device(), *bundle(pack(kernel, {"sm_90a.cubin", "sm_90a.ptx"})));
  ASSERT_FALSE(loaded.ok());
  EXPECT_TRUE(contains(loaded.message(), "it asks for 240000 bytes of shared "
                                         "memory, a block has 232448"));
}

TEST_F(Cuda, UnknownKernelNamesThoseThere) {
  auto index = module()->find("other");
  ASSERT_FALSE(index.ok());
  EXPECT_EQ(index.message(), "the bundle has no kernel 'other'; it has k");
}

TEST_F(Cuda, AllocatorGivesMemoryAgainOnItsStreamOnly) {
  CachingAllocator allocator(device());
  int first = 0, second = 0;
  auto a = allocator.allocate(1000, &first);
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*a) % 256, 0u);
  allocator.release(*a, &first);
  auto b = allocator.allocate(1000, &second);
  EXPECT_NE(*a, *b);
  auto c = allocator.allocate(900, &first);
  EXPECT_EQ(*a, *c);
  EXPECT_EQ(fake->allocations, 2u);
  EXPECT_EQ(fake->synchronizations, 0u);
  allocator.release(*b, &second);
  allocator.release(*c, &first);
  EXPECT_EQ(allocator.bytesInUse(), 0u);
  EXPECT_TRUE(allocator.trim().ok());
  EXPECT_EQ(allocator.bytesKept(), 0u);
  EXPECT_EQ(fake->memoryUsed, 0u);
}

TEST_F(Cuda, AllMemoryGoesWithTheAllocator) {
  {
    CachingAllocator allocator(device());
    auto used = allocator.allocate(1000, nullptr);
    auto kept = allocator.allocate(5000, nullptr);
    ASSERT_TRUE(used.ok() && kept.ok());
    allocator.release(*kept, nullptr);
    EXPECT_GT(fake->memoryUsed, 6000u);
  }
  EXPECT_EQ(fake->memoryUsed, 0u);
}

TEST_F(Cuda, AllocatorLosesAQuarterAtMost) {
  CachingAllocator allocator(device());
  for (size_t bytes : {513u, 1000u, 1025u, 5000u, 1u << 20, (1u << 20) + 1}) {
    size_t before = allocator.bytesInUse();
    ASSERT_TRUE(allocator.allocate(bytes, nullptr).ok());
    size_t given = allocator.bytesInUse() - before;
    EXPECT_GE(given, bytes);
    EXPECT_LE(given, bytes + bytes / 4) << bytes;
  }
}

TEST_F(Cuda, AllocatorGivesBackWhatItKeepsBeforeItFails) {
  fake->memory = 1 << 20;
  CachingAllocator allocator(device());
  auto a = allocator.allocate(700 << 10, nullptr);
  ASSERT_TRUE(a.ok());
  auto refused = allocator.allocate(600 << 10, nullptr);
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(contains(refused.message(), "614400 bytes of memory on Fake GPU "
                                          "cannot be had: CUDA_ERROR_OUT_OF"));
  allocator.release(*a, nullptr);
  EXPECT_TRUE(allocator.allocate(600 << 10, nullptr).ok());
}

TEST_F(Cuda, ThreadsShareAModule) {
  auto loaded = module();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k)
        loaded
            ->launch(0, {1}, arguments(0x1000 + 256 * uint64_t(k % (i + 1))),
                     nullptr)
            .ok();
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
