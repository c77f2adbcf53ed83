//===- CopyTest.cpp - asynchronous copies arrive late --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/emulator/Kernels.h"
#include "gtest/gtest.h"
#include <cstring>
#include <numeric>

using namespace drawloom;
using namespace drawloom::test;

namespace {

/// Copies two rounds of 16 bytes for each of 32 threads in two groups, waits
/// until `pending` are under way, and reads round `round`, from this lane's
/// place or a neighbour's.
std::string copies(int pending, int round, const std::string &sync) {
  return kernel("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>,",
                R"(
    %16 = llvm.mlir.constant(16 : i32) : i32
    %o = llvm.mul %tid, %16 : i32
    %to = llvm.getelementptr %smem[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %from = llvm.getelementptr %in[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    nvvm.cp.async.shared.global %to, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    %to1 = llvm.getelementptr %to[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %from1 = llvm.getelementptr %from[512] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    nvvm.cp.async.shared.global %to1, %from1, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group )" +
                    std::to_string(pending) + "\n" + sync + R"(
    %other = llvm.xor %o, %16 : i32
    %t = llvm.getelementptr %smem[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %at = llvm.getelementptr %t[)" +
                    std::to_string(round * 512) +
                    R"(] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %w = llvm.load %at : !llvm.ptr<3> -> vector<4xi32>
    %back = llvm.getelementptr %out[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    llvm.store %w, %back : vector<4xi32>, !llvm.ptr<1>)");
}

std::string runCopies(const std::string &text, std::vector<uint32_t> &out) {
  std::vector<uint32_t> in(256);
  std::iota(in.begin(), in.end(), 0u);
  out.assign(128, 0);
  const void *pin = in.data(), *pout = out.data();
  Kernels kernels(text);
  return kernels.run({&pin, &pout}, 1024);
}

constexpr const char *warpBarrier = "nvvm.bar.warp.sync %all : i32";

TEST(Copy, ArrivesAtTheWait) {
  std::vector<uint32_t> out;
  for (int round : {0, 1}) {
    EXPECT_EQ(runCopies(copies(0, round, warpBarrier), out), "");
    for (uint32_t i = 0; i < 128; ++i)
      EXPECT_EQ(out[i], (i ^ 4) + static_cast<uint32_t>(round) * 128);
  }
  EXPECT_EQ(runCopies(copies(1, 0, warpBarrier), out), "");
  EXPECT_EQ(out[0], 4u);
}

TEST(Copy, UntilThenThereIsPoison) {
  std::vector<uint32_t> out;
  EXPECT_TRUE(
      says(runCopies(copies(1, 1, warpBarrier), out),
           {"while the asynchronous copy that thread",
            "nvvm.cp.async.shared.global at kernel.mlir", "is under way"}));
  EXPECT_EQ(out[0], ~0u);
}

TEST(Copy, WaitingIsForTheCopyingThreadOnly) {
  std::vector<uint32_t> out;
  EXPECT_TRUE(saysOne(runCopies(copies(0, 0, ""), out),
                      {"is under way", "race on byte"}));
}

/// One lane copies `size` bytes of which `sourceSize` come from memory.
std::vector<uint8_t> partial(int size, int sourceSize,
                             const std::string &cache) {
  std::vector<uint8_t> in(16), out(16, 0xee);
  std::iota(in.begin(), in.end(), 1);
  Kernels kernels(kernel("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32,",
                         R"(
    %first = llvm.icmp "eq" %tid, %c0 : i32
    llvm.cond_br %first, ^a, ^end
  ^a:
    nvvm.cp.async.shared.global %smem, %in, )" +
                             std::to_string(size) + ", cache = " + cache +
                             R"(, %n : !llvm.ptr<3>, !llvm.ptr<1>, i32
    llvm.call_intrinsic "llvm.nvvm.cp.async.wait.all"() : () -> ()
    %v = llvm.load %smem : !llvm.ptr<3> -> vector<)" +
                             std::to_string(size) +
                             R"(xi8>
    llvm.store %v, %out : vector<)" +
                             std::to_string(size) +
                             R"(xi8>, !llvm.ptr<1>
    llvm.br ^end
  ^end:)"));
  const void *pin = in.data(), *pout = out.data();
  emulator::GlobalMemory memory;
  memory.add(in.data(), std::max(sourceSize, 1));
  memory.add(out.data(), 16);
  emulator::LaunchOptions options;
  options.memory = &memory;
  EXPECT_EQ(kernels.run({&pin, &pout, &sourceSize}, 16, options), "");
  return out;
}

TEST(Copy, FillsWithZerosBehindTheSource) {
  for (int size : {4, 8, 16})
    for (int sourceSize : {0, 1, 3, size}) {
      std::vector<uint8_t> out =
          partial(size, sourceSize, size == 16 ? "cg" : "ca");
      for (int i = 0; i < 16; ++i)
        EXPECT_EQ(out[i], i >= size ? 0xee : i < sourceSize ? i + 1 : 0);
    }
}

TEST(Copy, ConflictsOfBanksAndSectorsAreCounted) {
  // Lane l reads 4 bytes at l * stride of shared and of global memory.
  for (int stride : {4, 8, 128}) {
    Kernels kernels(kernel("%in: !llvm.ptr<1>, %stride: i32,", R"(
      %o = llvm.mul %tid, %stride : i32
      %p = llvm.getelementptr %smem[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %q = llvm.getelementptr %in[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      %v = llvm.load %q : !llvm.ptr<1> -> i32
      llvm.store %v, %p : i32, !llvm.ptr<3>)"));
    std::vector<uint32_t> in(32 * 32 + 64);
    // Sectors count from multiples of 32 bytes.
    auto *start = reinterpret_cast<uint32_t *>(
        (reinterpret_cast<uintptr_t>(in.data()) + 127) / 128 * 128);
    void *pin = start;
    emulator::LaunchOptions options;
    options.countAccesses = true;
    ASSERT_EQ(kernels.run({&pin, &stride}, 4096, options, {2, 1, 1}), "");
    ASSERT_EQ(kernels.report.sites.size(), 2u);
    for (const emulator::SiteCount &site : kernels.report.sites) {
      EXPECT_EQ(site.accesses, 2);
      EXPECT_EQ(site.bytesPerThread, 4);
      // Two blocks: 32 words fit into one cycle or four sectors.
      if (site.shared)
        EXPECT_EQ(site.actual, 2 * (stride == 4 ? 1 : stride == 8 ? 2 : 32));
      else
        EXPECT_EQ(site.actual, 2 * (stride == 4 ? 4 : stride == 8 ? 8 : 32));
      EXPECT_EQ(site.ideal, site.shared ? 2 : 8);
    }
  }
}

} // namespace
