//===- NvptxEmitTest.cpp - the assembler and bundles of kernels -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/Bundle.h"
#include "codegen/nvptx/emit/Machine.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <chrono>
#include <cstdlib>

using namespace drawloom::nvptx;
namespace {

testing::AssertionResult contains(const std::string &text, const char *part) {
  if (text.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "'" << text << "' lacks '" << part << "'";
}

/// A folder for one test, and assemblers made of shell scripts in it.
class NvptxEmit : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("nvptx-emit", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) const {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return path.str().str();
  }
  void write(llvm::StringRef name, llvm::StringRef contents) const {
    std::error_code code;
    llvm::raw_fd_ostream(path(name), code) << contents;
    ASSERT_FALSE(code);
  }
  /// An assembler of CUDA 13.0 that answers --version and then does `body`,
  /// with the cubin's path in $object.
  std::string assembler(llvm::StringRef body,
                        llvm::StringRef release = "13.0") const {
    write("ptxas", ("#!/bin/sh\n"
                    "if [ \"$1\" = --version ]; then\n"
                    "  echo 'Cuda compilation tools, release " +
                    release + ", V" + release +
                    ".1'; exit 0\n"
                    "fi\n"
                    "for object; do :; done\n" +
                    body + "\n")
                       .str());
    std::string program = path("ptxas");
    llvm::sys::fs::setPermissions(program, llvm::sys::fs::all_all);
    return program;
  }
  static const Architecture &sm80() { return **findArchitecture("sm_80"); }
  /// The message of assembling with `program`; empty where it succeeds.
  static std::string failure(const std::string &program,
                             unsigned seconds = 20) {
    llvm::Expected<Ptxas> ptxas = Ptxas::find(sm80(), program);
    if (!ptxas)
      return llvm::toString(ptxas.takeError());
    llvm::Expected<Cubin> cubin =
        ptxas->assemble("ptx", sm80(), "kernel 'k'", true, seconds);
    return cubin ? "" : llvm::toString(cubin.takeError());
  }

  llvm::SmallString<128> folder;
};

TEST_F(NvptxEmit, AssemblerThatFailsIsQuotedWithTheKernelsName) {
  EXPECT_EQ(failure(assembler("echo 'ptxas fatal: nonsense' >&2; exit 1")),
            "ptxas 13.0.1 on kernel 'k' for sm_80: ptxas fatal: nonsense");
}

TEST_F(NvptxEmit, AssemblerThatHangsIsKilled) {
  auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(contains(failure(assembler("exec sleep 600"), 1),
                       "did not end within 1 seconds and was killed"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

TEST_F(NvptxEmit, AssemblerThatCrashesIsAnError) {
  EXPECT_NE(failure(assembler("kill -SEGV $$")), "");
}

TEST_F(NvptxEmit, AssemblerWithoutAResultIsAnError) {
  EXPECT_TRUE(contains(failure(assembler("exit 0")), "it wrote no cubin"));
}

TEST_F(NvptxEmit, SerializedInstructionsAreErrors) {
  EXPECT_TRUE(contains(
      failure(assembler("echo 'ptxas info : (C7510) Potential Performance "
                        "Loss: wgmma.mma_async serialized' >&2; "
                        "echo code > \"$object\"")),
      "the code would be slow: ptxas info : (C7510)"));
}

TEST_F(NvptxEmit, AssemblerThatIsTooOldIsNamedWithItsPtx) {
  EXPECT_TRUE(contains(failure(assembler("exit 0", "11.4")),
                       "of CUDA 11.4.1 reads PTX up to 7.4"));
}

TEST_F(NvptxEmit, ReleasesOfCudaReadTheirPtx) {
  for (auto [release, ptx] :
       {std::pair("12.5", 85u), std::pair("12.6", 85u), std::pair("12.8", 87u),
        std::pair("13.0", 90u), std::pair("13.1", 91u)}) {
    llvm::Expected<Ptxas> ptxas =
        Ptxas::find(sm80(), assembler("# of " + std::string(release), release));
    ASSERT_TRUE(bool(ptxas)) << llvm::toString(ptxas.takeError());
    EXPECT_EQ(ptxas->ptxVersion(), ptx) << release;
  }
}

TEST_F(NvptxEmit, PythonPackagesAreSearchedWithoutPython) {
  llvm::sys::fs::create_directories(
      path("lib/python3.9/site-packages/triton/backends/nvidia/bin"));
  setenv("VIRTUAL_ENV", folder.c_str(), 1);
  std::vector<PtxasPlace> places = ptxasPlaces();
  unsetenv("VIRTUAL_ENV");
  std::vector<std::string> paths;
  for (const PtxasPlace &place : places)
    paths.push_back(place.path);
  EXPECT_TRUE(llvm::is_contained(
      paths, path("lib/python3.9/site-packages/triton/backends/nvidia/bin/"
                  "ptxas-blackwell")));
}

TEST(Usage, IsReadOfEachKernel) {
  auto usage = parseUsage(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_80'\n"
      "ptxas info    : Function properties for a\n"
      "    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 16 bytes stack, "
      "48 bytes smem, 376 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_80'\n"
      "ptxas info    : Used 10 registers, 376 bytes cmem[0]\n");
  EXPECT_EQ(usage["a"].registers, 255u);
  EXPECT_EQ(usage["a"].stackBytes, 16);
  EXPECT_EQ(usage["a"].spillStoreBytes, 24);
  EXPECT_EQ(usage["a"].spillLoadBytes, 32);
  EXPECT_EQ(usage["a"].staticSharedBytes, 48);
  EXPECT_EQ(usage["a"].barriers, 1u);
  EXPECT_EQ(usage["b"].registers, 10u);
  EXPECT_EQ(usage["b"].barriers, 0u);
}

/// Two architectures with one kernel each.
Bundle exampleBundle() {
  std::vector<CompiledKernels> all;
  for (const char *name : {"sm_90a", "sm_80"}) {
    CompiledKernel kernel;
    kernel.info.name = "k";
    kernel.info.threads = 64;
    kernel.info.parameters = {{"x", "ptr", 16, true}, {"n", "i32"}};
    kernel.ptx = "ptx";
    kernel.cubin = std::string("\x7f"
                               "ELF\0",
                               5) +
                   name;
    kernel.module = "module {}";
    kernel.usage = KernelUsage();
    CompiledKernels one;
    one.architecture = *findArchitecture(name);
    one.kernels.push_back(kernel);
    one.plan = llvm::json::Object{{"entries", 1}};
    all.push_back(std::move(one));
  }
  BundleOptions options;
  options.modules = true;
  return makeBundle(all, options);
}

TEST(PackedBundle, RoundTrips) {
  Bundle bundle = exampleBundle();
  llvm::Expected<Bundle> read = unpackBundle(packBundle(bundle));
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->manifest, bundle.manifest);
  EXPECT_EQ(read->files, bundle.files);
  EXPECT_EQ(read->files.at("sm_80/k.cubin"), std::string("\x7f"
                                                         "ELF\0sm_80",
                                                         10));
}

TEST(PackedBundle, CutOffAnywhereIsAnError) {
  std::string bytes = packBundle(exampleBundle());
  for (size_t size = 0; size < bytes.size(); ++size) {
    llvm::Expected<Bundle> read =
        unpackBundle(llvm::StringRef(bytes).take_front(size));
    ASSERT_FALSE(bool(read)) << "of " << size << " bytes";
    llvm::consumeError(read.takeError());
  }
}

TEST(PackedBundle, AnyChangedByteIsAnError) {
  std::string bytes = packBundle(exampleBundle());
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string changed = bytes;
    changed[at] ^= 1;
    llvm::Expected<Bundle> read = unpackBundle(changed);
    ASSERT_FALSE(bool(read)) << "at " << at;
    llvm::consumeError(read.takeError());
  }
}

TEST(PackedBundle, OfAnotherVersionIsNamed) {
  std::string bytes = packBundle(exampleBundle());
  bytes.replace(bytes.find(" 1 "), 3, " 2 ");
  llvm::Expected<Bundle> read = unpackBundle(bytes);
  ASSERT_FALSE(bool(read));
  EXPECT_TRUE(contains(llvm::toString(read.takeError()),
                       "of version 2, this reads version 1"));
}

TEST(PackedBundle, MissingArchitectureNamesThoseThere) {
  Bundle bundle = exampleBundle();
  EXPECT_TRUE(bool(findArchitecture(bundle, "sm_80")));
  llvm::Expected<const llvm::json::Object *> missing =
      findArchitecture(bundle, "sm_100a");
  ASSERT_FALSE(bool(missing));
  EXPECT_EQ(llvm::toString(missing.takeError()),
            "the bundle has no code for 'sm_100a'; it has code for sm_80, "
            "sm_90a");
}

TEST_F(NvptxEmit, ResidentBlocksAreTheOccupancyOfTheManual) {
  const Machine &h200 = machineOf(**findArchitecture("sm_90a"));
  EXPECT_EQ(h200.product, "H200");
  // By registers: 255 are 8,192 of a warp, two of which a scheduler holds.
  EXPECT_EQ(residentBlocks(h200, 255, 0, 4), 2u);
  EXPECT_EQ(residentBlocks(h200, 128, 0, 4), 4u);
  EXPECT_EQ(residentBlocks(h200, 32, 0, 4), 16u);
  // By shared memory: each block costs 1,024 bytes more.
  EXPECT_EQ(residentBlocks(h200, 32, 112 << 10, 4), 2u);
  EXPECT_EQ(residentBlocks(h200, 32, 114 << 10, 4), 1u);
  // By blocks and by threads.
  EXPECT_EQ(residentBlocks(h200, 32, 0, 1), 32u);
  EXPECT_EQ(residentBlocks(h200, 32, 0, 33), 0u);
  EXPECT_EQ(residentBlocks(h200, 256, 0, 4), 0u);
}

TEST_F(NvptxEmit, BundleFolderRoundTripsAndIsReplaced) {
  Bundle bundle = exampleBundle();
  std::string target = path("bundle");
  ASSERT_FALSE(writeBundle(bundle, target));
  write("bundle/stale", "from before");
  ASSERT_FALSE(writeBundle(bundle, target));
  EXPECT_FALSE(llvm::sys::fs::exists(path("bundle/stale")));
  llvm::Expected<Bundle> read = readBundle(target);
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->files, bundle.files);
  // Nothing is left beside it.
  std::error_code code;
  int entries = 0;
  for (llvm::sys::fs::directory_iterator i(folder, code), end; i != end;
       i.increment(code))
    ++entries;
  EXPECT_EQ(entries, 1);
}

TEST_F(NvptxEmit, DamagedBundleFolderIsNamed) {
  auto damaged = [&](llvm::StringRef name, llvm::StringRef contents) {
    EXPECT_FALSE(writeBundle(exampleBundle(), path("bundle")));
    write(("bundle/" + name).str(), contents);
    llvm::Expected<Bundle> read = readBundle(path("bundle"));
    return read ? std::string() : llvm::toString(read.takeError());
  };
  EXPECT_TRUE(contains(damaged("sm_80/k.ptx", "pt"),
                       "'sm_80/k.ptx' has 2 bytes, not the 3"));
  EXPECT_TRUE(contains(damaged("sm_80/k.ptx", "qtx"),
                       "the checksum of 'sm_80/k.ptx' does not fit"));
  EXPECT_TRUE(contains(damaged("bundle.json", "{"),
                       "the manifest is cut off or damaged"));
  EXPECT_TRUE(contains(damaged("bundle.json", "{\"drawloom_bundle\": 7}"),
                       "version 7, this reads version 1"));
  EXPECT_TRUE(contains(
      damaged("bundle.json",
              "{\"drawloom_bundle\": 1, \"architectures\": [], \"files\": "
              "[{\"path\": \"../../etc/passwd\", \"bytes\": 1, \"sha256\": "
              "\"\"}]}"),
      "list of files is damaged"));
}

TEST_F(NvptxEmit, BundleFolderWithoutAFileIsNamed) {
  ASSERT_FALSE(writeBundle(exampleBundle(), path("bundle")));
  llvm::sys::fs::remove(path("bundle/sm_90a/k.cubin"));
  llvm::Expected<Bundle> read = readBundle(path("bundle"));
  ASSERT_FALSE(bool(read));
  EXPECT_TRUE(
      contains(llvm::toString(read.takeError()), "k.cubin' cannot be read"));
}

TEST(Architectures, ListsAreInTheTablesOrder) {
  auto chosen = selectArchitectures("sm_100a,sm_80,sm_100a");
  ASSERT_TRUE(bool(chosen));
  ASSERT_EQ(chosen->size(), 2u);
  EXPECT_EQ((*chosen)[0]->name, "sm_80");
  EXPECT_EQ((*chosen)[1]->name, "sm_100a");
  auto unknown = selectArchitectures("sm_80,sm_1");
  ASSERT_FALSE(bool(unknown));
  EXPECT_TRUE(contains(llvm::toString(unknown.takeError()), "'sm_1'"));
}

} // namespace
