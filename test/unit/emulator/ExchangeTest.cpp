//===- ExchangeTest.cpp - barriers and exchange between lanes -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/emulator/Kernels.h"
#include "gtest/gtest.h"
#include <numeric>
#include <set>

using namespace drawloom;
using namespace drawloom::test;

namespace {

std::vector<uint32_t> scrambled(size_t size) {
  std::vector<uint32_t> values(size);
  for (size_t i = 0; i < size; ++i)
    values[i] = static_cast<uint32_t>((i + 1) * 2654435761u);
  return values;
}

std::string shuffleBody(const std::string &kind, uint32_t offset,
                        uint32_t clamp) {
  return "%o = llvm.mlir.constant(" + std::to_string(offset) +
         " : i32) : i32\n%c = llvm.mlir.constant(" + std::to_string(clamp) +
         " : i32) : i32\n%s = nvvm.shfl.sync " + kind +
         " %all, %v, %o, %c {return_value_and_is_valid} : i32 -> "
         "!llvm.struct<(i32, i1)>\n"
         "%a = llvm.extractvalue %s[0] : !llvm.struct<(i32, i1)>\n"
         "%p = llvm.extractvalue %s[1] : !llvm.struct<(i32, i1)>\n"
         "%z = llvm.zext %p : i1 to i32\n"
         "%r = llvm.xor %a, %z : i32\n";
}

/// What lane `lane` reads, in the words of CUDA's __shfl_*_sync: the warp is
/// cut into parts of `width` lanes, and who would leave its part keeps its own.
int sourceLane(const std::string &kind, int lane, int offset, int width) {
  int part = lane / width * width, from = lane;
  if (kind == "bfly")
    from = lane ^ offset;
  else if (kind == "up")
    from = lane - offset;
  else if (kind == "down")
    from = lane + offset;
  else
    from = part + offset % width;
  bool inside = kind == "bfly" ? from < part + width
                               : from >= part && from < part + width;
  return inside ? from : -1;
}

TEST(Exchange, ShufflesAsCudaDefinesThem) {
  std::vector<uint32_t> in = scrambled(32);
  for (uint32_t &value : in)
    value &= ~1u;
  for (const char *kind : {"bfly", "up", "down", "idx"})
    for (int width : {32, 8})
      for (int offset : {1, 3, 9, 16}) {
        // As CUDA's headers make the operand: up is bounded from below.
        uint32_t clamp = static_cast<uint32_t>((32 - width) << 8) |
                         (std::string(kind) == "up" ? 0u : 31u);
        std::vector<uint32_t> out = runPerThread(
            shuffleBody(kind, static_cast<uint32_t>(offset), clamp), in);
        for (int lane = 0; lane < 32; ++lane) {
          int from = sourceLane(kind, lane, offset, width);
          EXPECT_EQ(out[lane], from < 0 ? in[lane] : (in[from] | 1))
              << kind << " " << offset << " width " << width << " lane "
              << lane;
        }
      }
}

TEST(Exchange, ShufflesOfFloatsKeepTheBits) {
  std::vector<uint32_t> in = scrambled(64);
  std::vector<uint32_t> out = runPerThread(R"(
    %clamp = llvm.mlir.constant(31 : i32) : i32
    %f = llvm.bitcast %v : i32 to f32
    %s = nvvm.shfl.sync bfly %all, %f, %c4, %clamp : f32 -> f32
    %r = llvm.bitcast %s : f32 to i32)",
                                           in);
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(out[i], in[i ^ 4]);
}

TEST(Exchange, VotesCountTheLanesOfTheMask) {
  auto body = [](const std::string &kind, bool isBallot) {
    // The even lanes vote among themselves, and so do the odd ones.
    return "%odd = llvm.and %tid, %c1 : i32\n"
           "%even = llvm.mlir.constant(0x55555555 : i32) : i32\n"
           "%mask = llvm.shl %even, %odd : i32\n"
           "%p = llvm.icmp \"ne\" %v, %c0 : i32\n"
           "%q = nvvm.vote.sync " +
           kind + " %mask, %p -> " + (isBallot ? "i32" : "i1") + "\n" +
           (isBallot ? "%r = llvm.add %q, %c0 : i32\n"
                     : "%r = llvm.zext %q : i1 to i32\n");
  };
  for (uint32_t pattern : {0u, ~0u, 0x55555555u, 0x80000000u, 0x12345678u}) {
    std::vector<uint32_t> in(32);
    for (int i = 0; i < 32; ++i)
      in[i] = (pattern >> i) & 1;
    auto any = runPerThread(body("any", false), in);
    auto every = runPerThread(body("all", false), in);
    auto uniform = runPerThread(body("uni", false), in);
    auto ballot = runPerThread(body("ballot", true), in);
    for (int i = 0; i < 32; ++i) {
      uint32_t mask = 0x55555555u << (i % 2), votes = pattern & mask;
      EXPECT_EQ(any[i], votes != 0);
      EXPECT_EQ(every[i], votes == mask);
      EXPECT_EQ(uniform[i], votes == 0 || votes == mask);
      EXPECT_EQ(ballot[i], votes);
    }
  }
}

TEST(Exchange, ReducesOverTheWarp) {
  std::vector<uint32_t> in = scrambled(64);
  auto reduced = [&](const std::string &kind) {
    return runPerThread(
        "%r = nvvm.redux.sync " + kind + " %v, %all : i32 -> i32", in);
  };
  auto fold = [&](int warp, auto combine) {
    uint32_t value = in[warp * 32];
    for (int i = 1; i < 32; ++i)
      value = combine(value, in[warp * 32 + i]);
    return value;
  };
  auto isLess = [](uint32_t a, uint32_t b) {
    return static_cast<int32_t>(a) < static_cast<int32_t>(b);
  };
  using U = uint32_t;
  auto check = [&](const char *kind, auto combine) {
    std::vector<uint32_t> out = reduced(kind);
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(out[i], fold(i / 32, combine)) << kind;
  };
  check("add", [](U a, U b) { return a + b; });
  check("and", [](U a, U b) { return a & b; });
  check("or", [](U a, U b) { return a | b; });
  check("xor", [](U a, U b) { return a ^ b; });
  check("umax", [](U a, U b) { return a > b ? a : b; });
  check("umin", [](U a, U b) { return a < b ? a : b; });
  check("max", [&](U a, U b) { return isLess(a, b) ? b : a; });
  check("min", [&](U a, U b) { return isLess(a, b) ? a : b; });
}

TEST(Exchange, MatchFindsTheLanesWithTheSameValue) {
  std::vector<uint32_t> in(32);
  for (uint32_t i = 0; i < 32; ++i)
    in[i] = i % 5;
  auto any = runPerThread("%r = nvvm.match.sync any %all, %v : i32 -> i32", in);
  for (uint32_t i = 0; i < 32; ++i)
    for (uint32_t j = 0; j < 32; ++j)
      EXPECT_EQ((any[i] >> j) & 1, i % 5 == j % 5);
  auto all = runPerThread(R"(
    %s = nvvm.match.sync all %all, %v : i32 -> !llvm.struct<(i32, i1)>
    %r = llvm.extractvalue %s[0] : !llvm.struct<(i32, i1)>)",
                          in);
  EXPECT_EQ(all[3], 0u);
}

TEST(Exchange, OneLaneIsElected) {
  auto out = runPerThread(R"(
    %e = nvvm.elect.sync -> i1
    %r = llvm.zext %e : i1 to i32)",
                          std::vector<uint32_t>(64));
  EXPECT_EQ(std::accumulate(out.begin(), out.begin() + 32, 0u), 1u);
  EXPECT_EQ(std::accumulate(out.begin() + 32, out.end(), 0u), 1u);
}

TEST(Exchange, SpecialRegistersNumberTheThreads) {
  auto of = [](const std::string &name) {
    return runPerThread("%r = nvvm.read.ptx.sreg." + name + " : i32",
                        std::vector<uint32_t>(96));
  };
  auto lane = of("laneid"), warp = of("warpid"), less = of("lanemask.lt"),
       greater = of("lanemask.ge"), size = of("ntid.x"), y = of("tid.y"),
       deep = of("ntid.z");
  for (uint32_t i = 0; i < 96; ++i) {
    EXPECT_EQ(lane[i], i % 32);
    EXPECT_EQ(warp[i], i / 32);
    EXPECT_EQ(less[i], (1ull << (i % 32)) - 1);
    EXPECT_EQ(greater[i], static_cast<uint32_t>(~0ull << (i % 32)));
    EXPECT_EQ(size[i], 96u);
    EXPECT_EQ(y[i], 0u);
    EXPECT_EQ(deep[i], 1u);
  }
}

TEST(Exchange, BarriersReduceTheirPredicates) {
  std::vector<uint32_t> in(64);
  in[3] = in[40] = in[41] = 7;
  auto body = [](const std::string &kind) {
    return "%r = nvvm.barrier #nvvm.reduction<" + kind + "> %v -> i32";
  };
  EXPECT_EQ(runPerThread(body("popc"), in), std::vector<uint32_t>(64, 3));
  EXPECT_EQ(runPerThread(body("and"), in), std::vector<uint32_t>(64, 0));
  EXPECT_EQ(runPerThread(body("or"), in), std::vector<uint32_t>(64, 1));
}

/// Two warps write and cross the barrier %id of 64 threads, two others do the
/// same with another one; each reads what its partner of the other warp wrote.
TEST(Exchange, NamedBarriersJoinTheirThreadsOnly) {
  std::vector<uint32_t> in = scrambled(128);
  for (uint64_t seed : {0, 1, 2})
    EXPECT_EQ(runPerThread(R"(
      %64 = llvm.mlir.constant(64 : i32) : i32
      %half = llvm.udiv %tid, %64 : i32
      %id = llvm.add %half, %c1 : i32
      %ps = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %v, %ps : i32, !llvm.ptr<3>
      nvvm.barrier id = %id number_of_threads = %64
      %other = llvm.xor %tid, %c32 : i32
      %pt = llvm.getelementptr %smem[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %r = llvm.load %pt : !llvm.ptr<3> -> i32)",
                           in, 512, seed)[5],
              in[37]);
}

/// The first warp fills memory and only arrives; the second one waits.
TEST(Exchange, ProducersArriveAndConsumersWait) {
  std::vector<uint32_t> in = scrambled(64);
  for (uint64_t seed : {0, 1, 2}) {
    auto out = runPerThread(R"(
      %64 = llvm.mlir.constant(64 : i32) : i32
      %first = llvm.icmp "ult" %tid, %c32 : i32
      llvm.cond_br %first, ^produce, ^consume
    ^produce:
      %ps = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %v, %ps : i32, !llvm.ptr<3>
      nvvm.barrier.arrive id = %c1 number_of_threads = %64
      llvm.br ^join(%c0 : i32)
    ^consume:
      nvvm.barrier id = %c1 number_of_threads = %64
      %other = llvm.xor %tid, %c32 : i32
      %pt = llvm.getelementptr %smem[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %got = llvm.load %pt : !llvm.ptr<3> -> i32
      llvm.br ^join(%got : i32)
    ^join(%r: i32):)",
                            in, 128, seed);
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(out[32 + i], in[i]);
  }
}

TEST(Exchange, HalvesOfAWarpSynchroniseApart) {
  std::vector<uint32_t> in = scrambled(32);
  auto out = runPerThread(R"(
      %16 = llvm.mlir.constant(16 : i32) : i32
      %low = llvm.mlir.constant(0xffff : i32) : i32
      %high = llvm.mlir.constant(0xffff0000 : i32) : i32
      %first = llvm.icmp "ult" %tid, %16 : i32
      %ps = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.cond_br %first, ^a, ^b
    ^a:
      llvm.store %v, %ps : i32, !llvm.ptr<3>
      nvvm.bar.warp.sync %low : i32
      llvm.br ^join
    ^b:
      llvm.store %v, %ps : i32, !llvm.ptr<3>
      nvvm.bar.warp.sync %high : i32
      llvm.br ^join
    ^join:
      %other = llvm.xor %tid, %c1 : i32
      %pt = llvm.getelementptr %smem[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %r = llvm.load %pt : !llvm.ptr<3> -> i32)",
                          in, 128);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], in[i ^ 1]);
}

TEST(Exchange, AtomicSumsOfAllBlocks) {
  Kernels kernels(kernel("%sum: !llvm.ptr<1>,", R"(
    llvm.atomicrmw add %sum, %tid monotonic : !llvm.ptr<1>, i32)",
                         64));
  for (unsigned threads : {1u, 3u}) {
    uint32_t sum = 0;
    void *psum = &sum;
    emulator::LaunchOptions options;
    options.threads = threads;
    EXPECT_EQ(kernels.run({&psum}, 0, options, {4, 2, 1}), "");
    EXPECT_EQ(sum, 8u * (63 * 64 / 2));
  }
}

/// Every block leaves a number; the one that counts last adds them up. Fences
/// around the counter are what makes this right.
TEST(Exchange, TheLastBlockReadsWhatTheOthersWrote) {
  std::string body = R"(
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %mine = llvm.getelementptr %parts[%block] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %is_first = llvm.icmp "eq" %tid, %c0 : i32
    llvm.cond_br %is_first, ^work, ^done
  ^work:
    llvm.store %block, %mine : i32, !llvm.ptr<1>
    FENCE
    %before = llvm.atomicrmw add %count, %c1 monotonic : !llvm.ptr<1>, i32
    %next = llvm.add %before, %c1 : i32
    %is_last = llvm.icmp "eq" %next, %blocks : i32
    llvm.cond_br %is_last, ^collect, ^done
  ^collect:
    FENCE
    llvm.br ^loop(%c0, %c0 : i32, i32)
  ^loop(%i: i32, %sum: i32):
    %p = llvm.getelementptr %parts[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %part = llvm.load %p : !llvm.ptr<1> -> i32
    %more = llvm.add %sum, %part : i32
    %j = llvm.add %i, %c1 : i32
    %go_on = llvm.icmp "ult" %j, %blocks : i32
    llvm.cond_br %go_on, ^loop(%j, %more : i32, i32), ^write
  ^write:
    llvm.store %more, %out : i32, !llvm.ptr<1>
    llvm.br ^done
  ^done:)";
  auto with = [&](const std::string &fence) {
    std::string text = body;
    for (size_t at; (at = text.find("FENCE")) != std::string::npos;)
      text.replace(at, 5, fence);
    return kernel("%parts: !llvm.ptr<1>, %count: !llvm.ptr<1>, %out: "
                  "!llvm.ptr<1>,",
                  text);
  };
  for (bool fenced : {true, false}) {
    Kernels kernels(
        with(fenced ? "nvvm.memory.barrier #nvvm.mem_scope<gpu>" : ""));
    for (unsigned threads : {1u, 2u}) {
      std::vector<uint32_t> parts(20);
      uint32_t count = 0, out = 0;
      void *pparts = parts.data(), *pcount = &count, *pout = &out;
      emulator::LaunchOptions options;
      options.threads = threads;
      std::string found =
          kernels.run({&pparts, &pcount, &pout}, 0, options, {20, 1, 1});
      EXPECT_EQ(out, 190u);
      if (fenced)
        EXPECT_EQ(found, "");
      else
        EXPECT_NE(found.find("nothing orders blocks"), std::string::npos)
            << found;
    }
  }
}

} // namespace
