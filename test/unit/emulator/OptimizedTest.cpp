//===- OptimizedTest.cpp - what LLVM makes of a kernel is what runs -------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A barrier changes nothing behind a `noalias` pointer, LLVM says: with that
// attribute on memory that other threads write, kernels become others, and the
// emulator runs those.
//
//===----------------------------------------------------------------------===//

#include "test/unit/emulator/Kernels.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace drawloom;
using namespace drawloom::test;

namespace {

constexpr uint32_t threads = 64;

/// What is in %x behind the kernel, which began with 0, 10, 20, ...
std::vector<uint32_t> run(const std::string &attributes,
                          const std::string &body) {
  Kernels kernels(kernel("%x: !llvm.ptr<1>" + attributes + ",", body, threads));
  std::vector<uint32_t> x(threads + 1);
  for (uint32_t i = 0; i <= threads; ++i)
    x[i] = 10 * i;
  const void *px = x.data();
  emulator::GlobalMemory memory;
  memory.add(x.data(), static_cast<int64_t>(x.size() * 4));
  emulator::LaunchOptions options;
  options.memory = &memory;
  EXPECT_EQ(kernels.run({&px}, 0, options), "");
  return x;
}

/// Three times, each takes its neighbour's number and one more.
constexpr const char *neighbours = R"(
  %3 = llvm.mlir.constant(3 : i32) : i32
  %mine = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %next = llvm.getelementptr %mine[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
  llvm.br ^loop(%c0 : i32)
^loop(%i: i32):
  %v = llvm.load %next : !llvm.ptr<1> -> i32
  nvvm.barrier0
  %w = llvm.add %v, %c1 : i32
  llvm.store %w, %mine : i32, !llvm.ptr<1>
  nvvm.barrier0
  %j = llvm.add %i, %c1 : i32
  %more = llvm.icmp "ult" %j, %3 : i32
  llvm.cond_br %more, ^loop(%j : i32), ^end
^end:)";

TEST(Optimized, LoadsStayInLoopsWithBarriers) {
  std::vector<uint32_t> expected(threads + 1);
  for (uint32_t i = 0; i <= threads; ++i)
    expected[i] = 10 * i;
  for (int turn = 0; turn < 3; ++turn)
    for (uint32_t i = 0; i < threads; ++i)
      expected[i] = expected[i + 1] + 1;
  EXPECT_EQ(run("", neighbours), expected);
  EXPECT_NE(run(" {llvm.noalias}", neighbours), expected);
}

/// Each reads its neighbour's number, which that one changes, twice.
constexpr const char *reread = R"(
  %mine = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %next = llvm.getelementptr %mine[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
  %before = llvm.load %next : !llvm.ptr<1> -> i32
  nvvm.barrier0
  llvm.store %tid, %mine : i32, !llvm.ptr<1>
  nvvm.barrier0
  %behind = llvm.load %next : !llvm.ptr<1> -> i32
  nvvm.barrier0
  %sum = llvm.add %before, %behind : i32
  llvm.store %sum, %mine : i32, !llvm.ptr<1>)";

TEST(Optimized, LoadsBehindStoresOfOthersStay) {
  std::vector<uint32_t> expected(threads + 1, 10 * threads);
  for (uint32_t i = 0; i < threads; ++i)
    expected[i] = 10 * (i + 1) + (i + 1 < threads ? i + 1 : 10 * threads);
  EXPECT_EQ(run("", reread), expected);
  EXPECT_NE(run(" {llvm.noalias}", reread), expected);
}

/// The passes take a load out of a loop; what a report says of it is still the
/// place in the source.
TEST(Optimized, ReportsNameThePlaceOfWhatWasMoved) {
  Kernels kernels(kernel("%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, "
                         "%out: !llvm.ptr<1>,",
                         R"(
  %3 = llvm.mlir.constant(3 : i32) : i32
  %far = llvm.getelementptr %x[1024] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
  %mine = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.br ^loop(%c0 : i32)
^loop(%i: i32):
  %v = llvm.load %far : !llvm.ptr<1> -> i32
  llvm.store %v, %mine : i32, !llvm.ptr<1>
  %j = llvm.add %i, %c1 : i32
  %more = llvm.icmp "ult" %j, %3 : i32
  llvm.cond_br %more, ^loop(%j : i32), ^end
^end:)"));
  std::vector<uint32_t> x(32), out(32);
  const void *px = x.data(), *pout = out.data();
  emulator::GlobalMemory memory;
  memory.add(x.data(), 128);
  memory.add(out.data(), 128);
  emulator::LaunchOptions options;
  options.memory = &memory;
  EXPECT_TRUE(
      says(kernels.run({&px, &pout}, 0, options),
           {"reads 4 bytes of global memory", "llvm.load at kernel.mlir:"}));
}

} // namespace
