//===- LaunchTest.cpp - grids, schedules, parameters ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/emulator/Kernels.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace drawloom;
using namespace drawloom::test;

namespace {

/// out[thread of the grid] = x[the same] * factor, through shared memory: each
/// thread reads what its mirror image in the block wrote.
constexpr const char *mirrorBody = R"(
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %size = nvvm.read.ptx.sreg.ntid.x : i32
  %base = llvm.mul %block, %size : i32
  %i = llvm.add %base, %tid : i32
  %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %vx = llvm.load %px : !llvm.ptr<1> -> f32
  %vy = llvm.fmul %vx, %factor : f32
  %ps = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  llvm.store %vy, %ps : f32, !llvm.ptr<3>
  nvvm.barrier0
  %last = llvm.sub %size, %c1 : i32
  %other = llvm.sub %last, %tid : i32
  %pt = llvm.getelementptr %smem[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %vt = llvm.load %pt : !llvm.ptr<3> -> f32
  %po = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %vt, %po : f32, !llvm.ptr<1>
)";

std::string mirror() {
  return kernel("%x: !llvm.ptr<1>, %out: !llvm.ptr<1>, %factor: f32,",
                mirrorBody, 128);
}

std::vector<float> mirrored(const emulator::LaunchOptions &options) {
  constexpr int64_t blocks = 5, threads = 128;
  std::vector<float> x(blocks * threads), out(blocks * threads);
  std::iota(x.begin(), x.end(), 1.0f);
  float factor = 0.5f;
  const void *px = x.data(), *pout = out.data();
  Kernels kernels(mirror());
  EXPECT_EQ(
      kernels.run({&px, &pout, &factor}, threads * 4, options, {blocks, 1, 1}),
      "");
  EXPECT_EQ(kernels.report.blocks, blocks);
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t i = 0; i < threads; ++i)
      EXPECT_EQ(out[block * threads + i],
                x[block * threads + threads - 1 - i] * factor);
  return out;
}

TEST(Launch, ThreadsExchangeThroughSharedMemory) { mirrored({}); }

TEST(Launch, AnyScheduleGivesTheSame) {
  std::vector<float> first = mirrored({});
  for (uint64_t seed : {1, 2, 3, 4}) {
    emulator::LaunchOptions options;
    options.seed = seed;
    EXPECT_EQ(mirrored(options), first);
  }
}

TEST(Launch, SeveralHostThreadsGiveTheSame) {
  emulator::LaunchOptions options;
  options.threads = 4;
  EXPECT_EQ(mirrored(options), mirrored({}));
}

} // namespace
