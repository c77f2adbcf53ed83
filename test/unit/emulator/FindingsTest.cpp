//===- FindingsTest.cpp - faults planted into kernels --------------------===//
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

constexpr const char *inAndOut = "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>,";

/// What the emulator says about out[tid] = r(in[tid]).
std::string findingsOf(const std::string &body, int threads = 64,
                       int64_t sharedBytes = 1024, uint64_t seed = 0) {
  Kernels kernels(kernel(inAndOut, perThread(body), threads));
  std::vector<uint32_t> in(static_cast<size_t>(threads)), out(in.size());
  std::iota(in.begin(), in.end(), 0u);
  const void *pin = in.data(), *pout = out.data();
  emulator::GlobalMemory memory;
  memory.add(in.data(), threads * 4);
  memory.add(out.data(), threads * 4);
  emulator::LaunchOptions options;
  options.memory = &memory;
  options.seed = seed;
  return kernels.run({&pin, &pout}, sharedBytes, options);
}

/// %mine and %other: shared words of this thread and of the one whose number
/// differs in the bits of `distance`.
std::string words(int distance) {
  return "%d = llvm.mlir.constant(" + std::to_string(distance) +
         " : i32) : i32\n%o = llvm.xor %tid, %d : i32\n"
         "%mine = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> "
         "!llvm.ptr<3>, i32\n"
         "%other = llvm.getelementptr %smem[%o] : (!llvm.ptr<3>, i32) -> "
         "!llvm.ptr<3>, i32\n";
}

std::string exchange(int distance, const std::string &between) {
  return words(distance) + "llvm.store %v, %mine : i32, !llvm.ptr<3>\n" +
         between + "\n%r = llvm.load %other : !llvm.ptr<3> -> i32\n";
}

TEST(Findings, AMissingBarrierIsARaceUnderEverySchedule) {
  for (uint64_t seed : {0, 1, 2, 3})
    EXPECT_TRUE(says(findingsOf(exchange(32, ""), 64, 1024, seed),
                     {"@k, block (0, 0, 0): race on byte ", "of shared memory",
                      "llvm.store at kernel.mlir:", "llvm.load at kernel.mlir:",
                      "no barrier of both lies in between"}));
  EXPECT_EQ(findingsOf(exchange(32, "nvvm.barrier0")), "");
}

TEST(Findings, AWarpBarrierIsEnoughWithinAWarpOnly) {
  std::string sync = "nvvm.bar.warp.sync %all : i32";
  EXPECT_TRUE(
      says(findingsOf(exchange(1, "")), {"they are lanes of one warp"}));
  EXPECT_EQ(findingsOf(exchange(1, sync)), "");
  EXPECT_TRUE(says(findingsOf(exchange(32, sync)), {"race on byte"}));
}

TEST(Findings, ABarrierOfSomeThreadsOrdersThoseOnly) {
  // All 128 threads cross a barrier, each half another one.
  std::string halves = R"(
    %64 = llvm.mlir.constant(64 : i32) : i32
    %half = llvm.udiv %tid, %64 : i32
    nvvm.barrier id = %half number_of_threads = %64)";
  EXPECT_EQ(findingsOf(exchange(32, halves), 128), "");
  EXPECT_TRUE(says(findingsOf(exchange(64, halves), 128), {"race on byte"}));
}

TEST(Findings, ExchangeOfRegistersOrdersNoMemory) {
  EXPECT_TRUE(says(findingsOf(exchange(1, R"(
    %clamp = llvm.mlir.constant(31 : i32) : i32
    %s = nvvm.shfl.sync bfly %all, %v, %c1, %clamp : i32 -> i32)")),
                   {"race on byte"}));
  EXPECT_TRUE(says(findingsOf(exchange(1, R"(
    %p = llvm.icmp "eq" %v, %c0 : i32
    %s = nvvm.vote.sync any %all, %p -> i1)")),
                   {"race on byte"}));
}

TEST(Findings, ArrivingDoesNotWait) {
  EXPECT_TRUE(says(findingsOf(words(32) + R"(
    llvm.store %v, %mine : i32, !llvm.ptr<3>
    %64 = llvm.mlir.constant(64 : i32) : i32
    %first = llvm.icmp "ult" %tid, %c32 : i32
    llvm.cond_br %first, ^a, ^b
  ^a:
    nvvm.barrier.arrive id = %c1 number_of_threads = %64
    llvm.br ^join
  ^b:
    nvvm.barrier id = %c1 number_of_threads = %64
    llvm.br ^join
  ^join:
    %r = llvm.load %other : !llvm.ptr<3> -> i32)"),
                   {"race on byte", "thread 0 (lane 0 of "
                                    "warp 0)"}));
}

TEST(Findings, ReadersAreOrderedBeforeTheNextWriter) {
  auto twice = [](const std::string &between) {
    return exchange(32, "nvvm.barrier0") + between +
           "\nllvm.store %tid, %mine : i32, !llvm.ptr<3>\n";
  };
  EXPECT_EQ(findingsOf(twice("nvvm.barrier0")), "");
  EXPECT_TRUE(says(findingsOf(twice("")), {"race on byte", "read it (llvm.load",
                                           "writes it (llvm.store"}));
}

TEST(Findings, WritingTheSameValueTwiceIsARaceToo) {
  EXPECT_TRUE(says(findingsOf(R"(
    llvm.store %c1, %smem : i32, !llvm.ptr<3>
    %r = llvm.add %v, %c0 : i32)"),
                   {"wrote it", "writes it"}));
}

TEST(Findings, NeighbouringBytesAreNoRace) {
  EXPECT_EQ(findingsOf(R"(
    %p = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %b = llvm.trunc %v : i32 to i8
    llvm.store %b, %p : i8, !llvm.ptr<3>
    %w = llvm.load %p : !llvm.ptr<3> -> i8
    %r = llvm.zext %w : i8 to i32)"),
            "");
}

TEST(Findings, RacesInGlobalMemory) {
  auto body = [](const std::string &between) {
    return "%o = llvm.xor %tid, %c32 : i32\n"
           "%pother = llvm.getelementptr %out[%o] : (!llvm.ptr<1>, i32) -> "
           "!llvm.ptr<1>, i32\nllvm.store %v, %pout : i32, !llvm.ptr<1>\n" +
           between +
           "\n%w = llvm.load %pother : !llvm.ptr<1> -> i32\nnvvm.barrier0\n"
           "%r = llvm.add %w, %c0 : i32\n";
  };
  EXPECT_EQ(findingsOf(body("nvvm.barrier0")), "");
  EXPECT_TRUE(says(findingsOf(body("")), {"race on global address 0x"}));
}

TEST(Findings, BlocksThatWriteTheSameBytes) {
  Kernels kernels(kernel("%out: !llvm.ptr<1>,", R"(
    %p = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %tid, %p : i32, !llvm.ptr<1>)"));
  std::vector<uint32_t> out(32);
  void *pout = out.data();
  EXPECT_EQ(kernels.run({&pout}), "");
  for (unsigned threads : {1u, 2u}) {
    emulator::LaunchOptions options;
    options.threads = threads;
    EXPECT_TRUE(
        says(kernels.run({&pout}, 0, options, {3, 1, 1}),
             {"of block number", "nothing orders blocks of one launch"}));
  }
}

TEST(Findings, DeadlocksSayWhereEachThreadWaits) {
  EXPECT_TRUE(says(findingsOf(R"(
    %first = llvm.icmp "ult" %tid, %c32 : i32
    llvm.cond_br %first, ^a, ^b
  ^a:
    nvvm.barrier id = %c1
    llvm.br ^join
  ^b:
    nvvm.barrier id = %c2
    llvm.br ^join
  ^join:
    %r = llvm.add %v, %c0 : i32)"),
                   {"deadlock, 64 of 64 threads wait for ever",
                    "threads 0 to 31 wait at barrier 1 (32 of 64 "
                    "threads have come): nvvm.barrier at kernel.mlir:",
                    "threads 32 to 63 wait at barrier 2"}));
}

TEST(Findings, AWarpThatDivergesAtABarrier) {
  std::string body = R"(
    %bit = llvm.and %tid, %c1 : i32
    %odd = llvm.icmp "eq" %bit, %c1 : i32
    llvm.cond_br %odd, ^a, ^b
  ^a:
    nvvm.barrier0
    llvm.br ^join
  ^b:
    nvvm.barrier0
    llvm.br ^join
  ^join:
    %r = llvm.add %v, %c0 : i32)";
  EXPECT_TRUE(
      says(findingsOf(body), {"the threads of warp 0 diverge",
                              "an aligned barrier needs the whole warp"}));
}

TEST(Findings, LanesThatMissACollective) {
  // Lanes 0 to 30 shuffle, lane 31 votes: each waits for the other.
  EXPECT_TRUE(says(findingsOf(R"(
    %31 = llvm.mlir.constant(31 : i32) : i32
    %few = llvm.icmp "ult" %tid, %31 : i32
    llvm.cond_br %few, ^a, ^b
  ^a:
    %s = nvvm.shfl.sync bfly %all, %v, %c1, %31 : i32 -> i32
    llvm.br ^join
  ^b:
    %q = nvvm.vote.sync any %all, %few -> i1
    llvm.br ^join
  ^join:
    %r = llvm.add %v, %c0 : i32)",
                              32),
                   {"shfl.sync", "vote.sync", "each waits for the other"}));
  EXPECT_TRUE(says(findingsOf(R"(
    %s = nvvm.shfl.sync bfly %c1, %v, %c1, %c1 : i32 -> i32
    %r = llvm.add %v, %c0 : i32)"),
                   {"lacks its own lane"}));
}

TEST(Findings, SharedMemoryBeyondItsEnd) {
  EXPECT_TRUE(says(findingsOf(words(0) + R"(
    llvm.store %v, %mine : i32, !llvm.ptr<3>
    %r = llvm.add %v, %c0 : i32)",
                              64, 252),
                   {"thread 63 (lane 31 of warp 1) writes 4 bytes at "
                    "offset 252 of shared memory, which has 252 bytes "
                    "(llvm.store at kernel.mlir:"}));
}

TEST(Findings, GlobalMemoryBeyondItsEnd) {
  EXPECT_TRUE(says(findingsOf(R"(
    %p = llvm.getelementptr %pin[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %r = llvm.load %p : !llvm.ptr<1> -> i32)"),
                   {"reads 4 bytes of global memory at 0x"}));
  EXPECT_TRUE(says(findingsOf(R"(
    %null = llvm.mlir.zero : !llvm.ptr<1>
    %r = llvm.load %null : !llvm.ptr<1> -> i32)"),
                   {"the null pointer"}));
}

TEST(Findings, AddressesThatAreNoMultiples) {
  EXPECT_TRUE(says(findingsOf(R"(
    %p = llvm.getelementptr %smem[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %q = llvm.icmp "eq" %tid, %c0 : i32
    llvm.cond_br %q, ^a, ^b
  ^a:
    llvm.store %v, %p : i32, !llvm.ptr<3>
    llvm.br ^b
  ^b:
    %r = llvm.add %v, %c0 : i32)"),
                   {"at byte 2 of shared memory, which is not a multiple "
                    "of 4"}));
  EXPECT_TRUE(says(findingsOf(R"(
    %w = llvm.load %pin : !llvm.ptr<1> -> vector<2xi32>
    %r = llvm.extractelement %w[%c0 : i32] : vector<2xi32>)"),
                   {"not a multiple of 8"}));
}

TEST(Findings, SharedMemoryThatNothingHasWritten) {
  EXPECT_TRUE(
      says(findingsOf(words(0) + "%r = llvm.load %mine : !llvm.ptr<3> -> "
                                 "i32"),
           {"which nothing has written", "(and 63 more like it)"}));
}

TEST(Findings, AVolatileReadIsNoRaceWithOthersThatOnlyRead) {
  std::string body = R"(
    %w = llvm.load volatile %in : !llvm.ptr<1> -> i32
    %x = llvm.load %in : !llvm.ptr<1> -> i32
    %r = llvm.add %w, %x : i32)";
  EXPECT_EQ(findingsOf(body), "");
}

/// One thread waits for a flag that another one sets; the fences make what was
/// written before the flag visible.
TEST(Findings, AFlagWithFencesOrdersMemory) {
  auto body = [](const std::string &fence) {
    return words(32) + R"(
    %flag = llvm.getelementptr %smem[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %writes = llvm.icmp "eq" %tid, %c0 : i32
    llvm.cond_br %writes, ^init, ^start
  ^init:
    llvm.store %c0, %flag : i32, !llvm.ptr<3>
    llvm.br ^start
  ^start:
    nvvm.barrier0
    llvm.cond_br %writes, ^write, ^other
  ^write:
    llvm.store %c4, %mine : i32, !llvm.ptr<3>
    )" + fence +
           R"(
    %old = llvm.atomicrmw add %flag, %c1 monotonic : !llvm.ptr<3>, i32
    llvm.br ^end(%c0 : i32)
  ^other:
    %reads = llvm.icmp "eq" %tid, %c32 : i32
    llvm.cond_br %reads, ^loop, ^end(%c0 : i32)
  ^loop:
    %seen = llvm.load volatile %flag : !llvm.ptr<3> -> i32
    %again = llvm.icmp "eq" %seen, %c0 : i32
    llvm.cond_br %again, ^loop, ^read
  ^read:
    )" + fence +
           R"(
    %got = llvm.load %other : !llvm.ptr<3> -> i32
    llvm.br ^end(%got : i32)
  ^end(%r: i32):)";
  };
  for (uint64_t seed : {0, 1, 2}) {
    EXPECT_EQ(findingsOf(body("nvvm.memory.barrier #nvvm.mem_scope<cta>"), 64,
                         1024, seed),
              "");
    EXPECT_TRUE(says(findingsOf(body(""), 64, 1024, seed), {"race on byte"}));
  }
}

TEST(Findings, ALoopWithoutEnd) {
  Kernels kernels(kernel("%p: !llvm.ptr<1>,", R"(
    llvm.br ^loop
  ^loop:
    %v = llvm.load volatile %p : !llvm.ptr<1> -> i32
    %again = llvm.icmp "eq" %v, %c0 : i32
    llvm.cond_br %again, ^loop, ^end
  ^end:)"));
  uint32_t zero = 0;
  void *p = &zero;
  emulator::LaunchOptions options;
  options.mostAccesses = 1000;
  EXPECT_TRUE(says(kernels.run({&p}, 0, options), {"run for ever"}));
}

TEST(Findings, LaunchesThatCannotBe) {
  Kernels kernels(kernel("", ""));
  EXPECT_TRUE(says(kernels.run({}, -1), {"-1 bytes of shared memory"}));
  EXPECT_TRUE(says(kernels.run({}, 1 << 20), {"no more than 232448"}));
  EXPECT_TRUE(says(kernels.run({}, 0, {}, {0, 1, 1}), {"a grid of 0 x 1"}));
  void *extra = nullptr;
  EXPECT_TRUE(says(kernels.run({&extra}), {"takes 2 parameters"}));
}

TEST(Findings, OpsThatAreNotEmulatedAreNamed) {
  EXPECT_TRUE(
      says(Kernels(kernel("", "nvvm.wgmma.fence.aligned")).error,
           {"nvvm.wgmma.fence.aligned", "is not emulated", "kernel.mlir"}));
  EXPECT_TRUE(says(Kernels(kernel("%p: !llvm.ptr<1>,",
                                  "%x = llvm.call_intrinsic "
                                  "\"llvm.nvvm.fns\"(%tid, %tid, %tid) : (i32, "
                                  "i32, i32) -> i32\n"
                                  "llvm.store %x, %p : i32, !llvm.ptr<1>"))
                       .error,
                   {"llvm.nvvm.fns"}));
  EXPECT_TRUE(
      says(Kernels(kernel("", "llvm.inline_asm has_side_effects \"nop\", "
                              "\"\" : () -> ()"))
               .error,
           {"llvm.inline_asm"}));
}

} // namespace
