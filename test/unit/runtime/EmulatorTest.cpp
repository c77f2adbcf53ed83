//===- EmulatorTest.cpp - the emulator without generated code -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Instructions.h"
#include "runtime/emulator/Launch.h"
#include "runtime/emulator/Shadow.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace drawloom::emulator;

namespace {

const std::vector<std::string> sites = {"nowhere", "the store", "the barrier",
                                        "the load", "the end"};

uint32_t threadOf(void *thread) {
  return static_cast<uint32_t>(
      emuRegister(thread, static_cast<int32_t>(SpecialRegister::ThreadX)));
}

uint32_t blockOf(void *thread) {
  return static_cast<uint32_t>(
      emuRegister(thread, static_cast<int32_t>(SpecialRegister::BlockX)));
}

int32_t access(AccessKind kind, Space space) {
  return static_cast<int32_t>(kind) + 16 * static_cast<int32_t>(space);
}

void storeShared(void *thread, uint32_t index, uint32_t value) {
  uint32_t *to = static_cast<uint32_t *>(emuArena(thread)) + index;
  emuAccess(thread, to, 4, access(AccessKind::Store, Space::Shared), 4, 1);
  *to = value;
}

uint32_t loadShared(void *thread, uint32_t index) {
  uint32_t *from = static_cast<uint32_t *>(emuArena(thread)) + index;
  emuAccess(thread, from, 4, access(AccessKind::Load, Space::Shared), 4, 3);
  return *from;
}

KernelCode code(void (*entry)(void *, const void *const *),
                int64_t threads = 64) {
  KernelCode kernel;
  kernel.name = "kernel";
  kernel.entry = entry;
  kernel.threads = threads;
  kernel.sites = &sites;
  return kernel;
}

/// Each thread passes a number on to its neighbour, eight times.
void passOn(void *thread, const void *const *parameters) {
  auto *out = *static_cast<uint32_t *const *>(parameters[0]);
  uint32_t tid = threadOf(thread), value = tid;
  for (int round = 0; round < 8; ++round) {
    storeShared(thread, tid, value);
    emuBarrier(thread, 0, 0, -1, 0, 2);
    value = loadShared(thread, (tid + 1) % 64);
    emuBarrier(thread, 0, 0, -1, 0, 2);
  }
  uint32_t *to = out + blockOf(thread) * 64 + tid;
  emuAccess(thread, to, 4, access(AccessKind::Store, Space::Global), 4, 4);
  *to = value;
}

TEST(Emulator, BlocksShareTheThreadsOfTheHost) {
  for (unsigned threads : {1u, 3u})
    for (uint64_t seed : {0, 7}) {
      std::vector<uint32_t> out(64 * 6);
      uint32_t *data = out.data();
      const void *parameters[] = {&data};
      LaunchOptions options;
      options.threads = threads;
      options.seed = seed;
      Report report;
      EXPECT_EQ(launchKernel(code(passOn), {6, 1, 1}, parameters, 256, options,
                             report),
                "");
      EXPECT_EQ(report.blocks, 6);
      EXPECT_GT(report.switches, 0);
      for (uint32_t i = 0; i < out.size(); ++i)
        EXPECT_EQ(out[i], (i + 8) % 64);
    }
}

TEST(Emulator, RacesAreFoundWithoutTheBarrier) {
  auto kernel = code([](void *thread, const void *const *) {
    uint32_t tid = threadOf(thread);
    storeShared(thread, tid, tid);
    loadShared(thread, tid ^ 32);
  });
  Report report;
  std::string found = launchKernel(kernel, {}, nullptr, 256, {}, report);
  EXPECT_NE(found.find("race on byte"), std::string::npos) << found;
  LaunchOptions unchecked;
  unchecked.checkRaces = false;
  EXPECT_EQ(launchKernel(kernel, {}, nullptr, 256, unchecked, report), "");
}

TEST(Emulator, ALaunchAfterAFaultStartsAnew) {
  auto broken = code([](void *thread, const void *const *) {
    storeShared(thread, threadOf(thread) + 1, 0);
    emuBarrier(thread, 0, 0, -1, 0, 2);
  });
  auto stuck = code([](void *thread, const void *const *) {
    if (threadOf(thread) < 32)
      emuBarrier(thread, 1, 64, -1, 0, 2);
  });
  for (int i = 0; i < 3; ++i) {
    Report report;
    EXPECT_NE(launchKernel(broken, {4, 1, 1}, nullptr, 256, {}, report)
                  .find("offset 256"),
              std::string::npos);
    EXPECT_NE(launchKernel(stuck, {4, 1, 1}, nullptr, 256, {}, report)
                  .find("threads 32 to 63 have exited"),
              std::string::npos);
  }
}

TEST(Emulator, BarriersDoNotWaitForThreadsThatHaveExited) {
  auto kernel = code([](void *thread, const void *const *) {
    if (threadOf(thread) >= 32)
      emuBarrier(thread, 0, 0, -1, 0, 2);
  });
  Report report;
  for (uint64_t seed : {0, 1, 2}) {
    LaunchOptions options;
    options.seed = seed;
    EXPECT_EQ(launchKernel(kernel, {}, nullptr, 0, options, report), "");
  }
}

TEST(Emulator, ShadowsTellBytesApart) {
  SharedShadow shadow;
  shadow.reset(64);
  Clock clock;
  clock.epochs.resize(64);
  Actor first{0, 0, 1, &clock}, second{0, 1, 1, &clock};
  auto touch = [&](const Actor &who, uint64_t at, int64_t bytes,
                   AccessKind kind) {
    return shadow.touch(who, at, bytes, kind, 1).kind;
  };
  EXPECT_EQ(touch(first, 0, 8, AccessKind::Store), Conflict::None);
  EXPECT_EQ(touch(second, 8, 1, AccessKind::Store), Conflict::None);
  EXPECT_EQ(touch(first, 9, 3, AccessKind::Store), Conflict::None);
  EXPECT_EQ(touch(second, 8, 1, AccessKind::Load), Conflict::None);
  EXPECT_EQ(touch(second, 8, 2, AccessKind::Load), Conflict::Race);
  EXPECT_EQ(touch(second, 4, 4, AccessKind::Load), Conflict::Race);
  EXPECT_EQ(touch(second, 12, 4, AccessKind::Load), Conflict::Uninitialized);
  // The second thread learns what the first one has done.
  Clock told = clock;
  told.epochs[0] = 1;
  Actor wiser{0, 1, 1, &told};
  EXPECT_EQ(touch(wiser, 0, 12, AccessKind::Load), Conflict::None);
  EXPECT_EQ(touch(first, 0, 1, AccessKind::Store), Conflict::Race);
}

TEST(Emulator, MemoryIsARangeOfBytes) {
  GlobalMemory memory;
  char bytes[64];
  memory.add(bytes, 16);
  memory.add(bytes + 32, 16);
  auto holds = [&](int at, int64_t size) {
    auto address = reinterpret_cast<uintptr_t>(bytes + at);
    return memory.find(address).contains(address, size);
  };
  EXPECT_TRUE(holds(0, 16));
  EXPECT_FALSE(holds(0, 17));
  EXPECT_FALSE(holds(16, 1));
  EXPECT_TRUE(holds(47, 1));
  EXPECT_TRUE(memory.remove(bytes));
  EXPECT_FALSE(memory.remove(bytes));
  EXPECT_FALSE(holds(0, 1));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

float fromBits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// The number that 16 bits stand for, by the definition of the formats.
double decode(uint32_t bits, Number number) {
  int exponentBits = number == Number::F16 ? 5 : 8;
  int fractionBits = 15 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  int exponent =
      static_cast<int>(bits >> fractionBits) & ((1 << exponentBits) - 1);
  double fraction = (bits & ((1u << fractionBits) - 1)) /
                    static_cast<double>(1 << fractionBits);
  double size = exponent == 0 ? std::ldexp(fraction, 1 - bias)
                              : std::ldexp(1 + fraction, exponent - bias);
  return (bits & 0x8000) ? -size : size;
}

TEST(Numbers, ConversionsRoundToTheNearestAndToZero) {
  std::mt19937 random(1);
  for (Number number : {Number::F16, Number::BF16})
    for (int i = 0; i < 20000; ++i) {
      // Sizes that f16 has, subnormal ones among them.
      float x = std::ldexp(static_cast<float>(random() % 65536) / 32768 - 1,
                           static_cast<int>(random() % 40) - 25);
      auto near = static_cast<uint32_t>(
          emuConvert(static_cast<int32_t>(number),
                     static_cast<int32_t>(Rounding::Nearest), 0, x));
      auto zero = static_cast<uint32_t>(
          emuConvert(static_cast<int32_t>(number),
                     static_cast<int32_t>(Rounding::Zero), 0, x));
      double error = std::fabs(decode(near, number) - x);
      for (int step : {-1, 1}) {
        double other = std::fabs(decode(near + step, number) - x);
        EXPECT_TRUE(error < other || (error == other && near % 2 == 0) ||
                    (near & 0x7fff) == 0)
            << x;
      }
      EXPECT_LE(std::fabs(decode(zero, number)), std::fabs(x));
      EXPECT_GT(std::fabs(decode(zero + 1, number)), std::fabs(x));
    }
}

TEST(Numbers, ConversionsKeepToTheirQualifiers) {
  auto convert = [](Number number, int32_t flags, float x,
                    Rounding rounding = Rounding::Nearest) {
    return static_cast<uint32_t>(emuConvert(static_cast<int32_t>(number),
                                            static_cast<int32_t>(rounding),
                                            flags, x));
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(convert(Number::BF16, 1, -2.0f), 0u);
  EXPECT_EQ(convert(Number::BF16, 1, 2.0f), 0x4000u);
  EXPECT_EQ(convert(Number::F16, 0, 1e6f), 0x7c00u);
  EXPECT_EQ(convert(Number::F16, 2, 1e6f), 0x7bffu);
  EXPECT_EQ(convert(Number::BF16, 0, -infinity), 0xff80u);
  EXPECT_EQ(convert(Number::F16, 0, std::nanf("")), 0x7fffu);
  EXPECT_EQ(convert(Number::F16, 0, -0.0f), 0x8000u);
  // Ties: 1 + 2^-11 lies in the middle between two tf32 numbers.
  float tie = 1 + std::ldexp(1.0f, -11);
  EXPECT_EQ(convert(Number::TF32, 0, tie), 0x3f800000u);
  EXPECT_EQ(convert(Number::TF32, 0, tie, Rounding::NearestAway), 0x3f802000u);
  EXPECT_EQ(convert(Number::TF32, 0, -tie, Rounding::NearestAway), 0xbf802000u);
  EXPECT_EQ(convert(Number::TF32, 0, 1.999999f, Rounding::Zero), 0x3fffe000u);
  EXPECT_EQ(static_cast<uint32_t>(emuConvertPair(
                static_cast<int32_t>(Number::BF16),
                static_cast<int32_t>(Rounding::Nearest), 0, 1.0f, 2.0f)),
            0x3f804000u);
}

TEST(Numbers, PermutationsOfBytes) {
  // Bytes 7 to 0 of the pool are 0xf7 ... 0x80.
  constexpr auto low = static_cast<int32_t>(0x83020180),
                 high = static_cast<int32_t>(0xf7060504);
  auto permute = [&](int32_t mode, int32_t selector) {
    return static_cast<uint32_t>(emuPermute(mode, low, high, selector));
  };
  EXPECT_EQ(permute(0, 0x3210), 0x83020180u);
  EXPECT_EQ(permute(0, 0x0246), 0x80020406u);
  // Bit 3 of a selector repeats the sign.
  EXPECT_EQ(permute(0, 0xf8ba), 0xffffff00u);
  EXPECT_EQ(permute(1, 1), 0x04830201u); // f4e
  EXPECT_EQ(permute(2, 1), 0x06f78001u); // b4e
  EXPECT_EQ(permute(3, 3), 0x83838383u); // rc8
  EXPECT_EQ(permute(4, 2), 0x83020202u); // ecl
  EXPECT_EQ(permute(5, 1), 0x01010180u); // ecr
  EXPECT_EQ(permute(6, 1), 0x83028302u); // rc16
}

TEST(Numbers, ApproximationsAreWithinOneUnit) {
  struct Case {
    Function function;
    double (*exact)(double);
    float least, greatest;
  };
  for (Case c : {Case{Function::Exp2, std::exp2, -120, 120},
                 Case{Function::Log2, std::log2, 1e-3f, 1e6f},
                 Case{Function::Sqrt, std::sqrt, 1e-3f, 1e6f},
                 Case{Function::Tanh, std::tanh, -5, 5},
                 Case{Function::Sin, std::sin, -3, 3},
                 Case{Function::Cos, std::cos, -3, 3}})
    for (int i = 0; i <= 100; ++i) {
      float x = c.least + (c.greatest - c.least) * static_cast<float>(i) / 100;
      double exact = c.exact(x);
      EXPECT_NEAR(emuMath(static_cast<int32_t>(c.function), 1, x), exact,
                  std::fabs(exact) * 6e-8 + 1e-38);
    }
  EXPECT_EQ(emuMath(static_cast<int32_t>(Function::Reciprocal), 1, 8.0f),
            0.125f);
  EXPECT_EQ(emuMath(static_cast<int32_t>(Function::ReciprocalSqrt), 1, 16.0f),
            0.25f);
  // Subnormal numbers count as zeros, on both sides.
  float subnormal = fromBits(1);
  EXPECT_EQ(emuMath(static_cast<int32_t>(Function::Log2), 1, subnormal),
            -std::numeric_limits<float>::infinity());
  EXPECT_EQ(emuMath(static_cast<int32_t>(Function::Exp2), 1, -130.0f), 0.0f);
  EXPECT_EQ(emuMath(static_cast<int32_t>(Function::Exp2), 0, -130.0f),
            std::ldexp(1.0f, -130));
}

} // namespace
