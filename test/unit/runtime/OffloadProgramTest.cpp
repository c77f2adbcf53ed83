//===- OffloadProgramTest.cpp - programs that keep values in a store ------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DRAWLOOM_OFFLOAD_EVERY=1 lets each transfer of a call fail in each way.
// DRAWLOOM_OFFLOAD_CALLS says how many calls there are among which some loads
// fail: with 2000 of them, one of 10,000.
//
//===----------------------------------------------------------------------===//

#include "OffloadStores.h"
#include "drawloom/Runtime.h"
#include <cmath>

using namespace drawloom;

namespace {

/// Inputs/program-v8.mlir: of x, its absolute value and its square, both of
/// which have been in the store. They are more than its memory.
class StoringPrograms : public Stores {
protected:
  static constexpr size_t count = 3 << 20;

  StoringPrograms() : x(count), absolute(count), square(count) {
    options.memory = 8 * mebibyte;
    for (std::vector<float> *list : {&right[0], &right[1], &nothing[0]})
      list->resize(count);
    for (size_t i = 0; i < count; ++i) {
      x[i] = static_cast<float>(i % 1000) - 500;
      right[0][i] = std::fabs(x[i]);
      right[1][i] = x[i] * x[i];
    }
    std::memset(nothing[0].data(), 0xff, count * sizeof(float));
    nothing[1] = absolute = square = nothing[0];
    Result<Program> loaded =
        Program::load(DRAWLOOM_INPUTS "/program-v8.drawloom");
    EXPECT_TRUE(bool(loaded)) << loaded.error().message();
    program.push_back(std::move(*loaded));
  }
  ~StoringPrograms() override { drawloomUseStore(nullptr); }

  /// "" where the results are right, else the error; fails where they are wrong
  /// and there is none.
  std::string call() {
    DrawloomBuffer in = {x.data(), count * sizeof(float)};
    DrawloomBuffer out[] = {{absolute.data(), count * sizeof(float)},
                            {square.data(), count * sizeof(float)}};
    Result<void> called =
        program[0].functions()[0].call({in}, {out[0], out[1]}, 2);
    std::string text;
    if (!called) {
      EXPECT_EQ(called.error().code(), DRAWLOOM_ERROR_STORAGE);
      text = called.error().message();
    }
    // Nobody takes what was not computed for results.
    const auto &wanted = text.empty() ? right : nothing;
    EXPECT_EQ(
        std::memcmp(absolute.data(), wanted[0].data(), count * sizeof(float)),
        0)
        << text;
    EXPECT_EQ(
        std::memcmp(square.data(), wanted[1].data(), count * sizeof(float)), 0)
        << text;
    return text;
  }

  std::vector<Program> program;
  std::vector<float> x, absolute, square, right[2], nothing[2];
};

INSTANTIATE_TEST_SUITE_P(Offload, StoringPrograms,
                         testing::Values("memory", "threads", "io_uring"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST_P(StoringPrograms, ComputeWhatTheyDoWithoutOne) {
  EXPECT_EQ(program[0].functions()[0].stored(),
            static_cast<int64_t>(2 * count * sizeof(float)));
  open();
  drawloomUseStore(store);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(call(), "");
  EXPECT_EQ(counts().records, 0u);
  EXPECT_GT(counts().written, 3 * count * sizeof(float));
  EXPECT_LE(counts().mostMemory, options.memory);
}

TEST_P(StoringPrograms, NeedAStore) {
  EXPECT_EQ(call(), "@root_of_squares keeps 2 values outside memory for some "
                    "time and has no store for them: name a folder of a local "
                    "disk (--spill of drawloom-run, spill= in Python, "
                    "drawloomUseStore in C)");
}

TEST_P(StoringPrograms, AreCalledAgainWhereBytesAreLost) {
  options.faults = "op=write;nth=2;do=flip 77";
  open();
  drawloomUseStore(store);
  EXPECT_EQ(call(), "");
  EXPECT_GT(counts().mismatches, 0u);
  EXPECT_EQ(counts().records, 0u);
}

TEST_P(StoringPrograms, EndWithAnErrorWhereTheDiskFails) {
  options.faults = "op=write;do=flip 77";
  open();
  drawloomUseStore(store);
  EXPECT_NE(call().find("of @root_of_squares"), std::string::npos);
  EXPECT_EQ(counts().records, 0u);
}

TEST_P(StoringPrograms, DoNotFitASmallStore) {
  options.capacity = 16 * mebibyte;
  open();
  drawloomUseStore(store);
  EXPECT_NE(call().find("no room"), std::string::npos);
  EXPECT_EQ(counts().records, 0u);
}

TEST_P(StoringPrograms, GiveTheSameBytesWhateverFailsOnce) {
  // Each action meets some writes and reads; with the thread sanitizer, which
  // takes its time, one of them.
#if defined(__has_feature) && __has_feature(thread_sanitizer)
  constexpr unsigned usually = 43;
#else
  constexpr unsigned usually = 19;
#endif
  const char *given = std::getenv("DRAWLOOM_OFFLOAD_EVERY");
  unsigned every = given ? static_cast<unsigned>(std::atoi(given)) : usually;
  ASSERT_GT(every, 0u);
  static const char *const actions[] = {"errno EIO", "short 512", "flip 5",
                                        "drop",      "torn 3",    "stale",
                                        "swap",      "twice",     "reorder 2"};
  unsigned first = 0;
  for (const char *action : actions)
    for (unsigned k = 1 + (first += 4) % every; k <= 48; k += every) {
      std::string faults = "nth=" + std::to_string(k) + ";do=" + action;
      options.faults = faults.c_str();
      open();
      drawloomUseStore(store);
      EXPECT_EQ(call(), "") << faults;
      EXPECT_EQ(counts().records, 0u);
      drawloomUseStore(nullptr);
      EXPECT_EQ(message(drawloomStoreClose(store, -1)), "");
      store = nullptr;
    }
}

TEST_P(StoringPrograms, GiveTheSameBytesWhereSomeLoadsFail) {
  // Fewer with the thread sanitizer, which takes its time.
#if defined(__has_feature) && __has_feature(thread_sanitizer)
  constexpr unsigned usually = 3;
#else
  constexpr unsigned usually = 8;
#endif
  const char *given = std::getenv("DRAWLOOM_OFFLOAD_CALLS");
  unsigned calls = given ? static_cast<unsigned>(std::atoi(given)) : usually;
  // One transfer of forty, so that a call succeeds within a few tries: reads
  // that fail, and bytes that are lost as they are written. The first of each
  // is certain.
  options.faults = "op=read;nth=3;do=errno EIO | op=write;nth=3;do=flip 77 | "
                   "op=read;p=1/40,5;do=errno EIO | "
                   "op=write;p=1/40,6;do=flip 77";
  // Where bytes were lost nothing is written again.
  options.capacity = 256 * mebibyte;
  open();
  drawloomUseStore(store);
  unsigned errors = 0;
  for (unsigned i = 0; i < calls && !HasFailure(); ++i) {
    // Of two tries that a call makes itself, both may fail.
    std::string text = call();
    for (int again = 0; !text.empty() && again < 10; ++again) {
      ++errors;
      EXPECT_NE(text.find("of @root_of_squares"), std::string::npos) << text;
      text = call();
    }
    EXPECT_EQ(text, "");
    EXPECT_EQ(counts().records, 0u);
  }
  DrawloomStoreCounts found = counts();
  std::printf("%u calls, %llu bytes read: %llu transfers repeated, %llu "
              "checksums wrong, %llu records failed, %u errors\n",
              calls, static_cast<unsigned long long>(found.read),
              static_cast<unsigned long long>(found.retries),
              static_cast<unsigned long long>(found.mismatches),
              static_cast<unsigned long long>(found.failures), errors);
  EXPECT_GT(found.retries, 0u);
  EXPECT_GT(found.mismatches, 0u);
}

} // namespace
