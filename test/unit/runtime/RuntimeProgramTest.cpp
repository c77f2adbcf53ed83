//===- RuntimeProgramTest.cpp - programs compiled ahead of time -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/Runtime.h"
#include "gtest/gtest.h"
#include <cmath>
#include <fstream>
#include <link.h>
#include <sstream>
#include <thread>

using namespace drawloom;

namespace {

/// The program of an old version, see Inputs/program-v3.mlir.
const std::string oldFile = DRAWLOOM_INPUTS "/program-v3.drawloom";

Program oldProgram(const std::string &isa = "") {
  Result<Program> program = Program::load(oldFile, isa);
  EXPECT_TRUE(bool(program)) << program.error().message();
  return std::move(*program);
}

std::string contents(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

class Old : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (GetParam() == std::string("avx2") && !__builtin_cpu_supports("avx2"))
      GTEST_SKIP() << "this machine has no AVX2";
    program.emplace_back(oldProgram(GetParam()));
  }
  Function find(const char *name) { return *program.front().find(name); }
  std::vector<Program> program;
};

TEST_P(Old, ProgramIsLoaded) {
  EXPECT_EQ(program.front().instructionSet(), GetParam());
  EXPECT_EQ(program.front().instructionSets(),
            (std::vector<std::string>{"avx2", "baseline"}));
  std::string names;
  for (const Function &function : program.front().functions())
    names += function.name() + " ";
  EXPECT_EQ(names, "sum power weigh gradient ");
}

TEST_P(Old, ProgramAdds) {
  float x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40}, z[4] = {};
  ASSERT_TRUE(
      bool(find("sum").call({buffer(x, 4), buffer(y, 4)}, {buffer(z, 4)})));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(z[i], x[i] + y[i]);
}

TEST_P(Old, ProgramCallsTheCLibrary) {
  double x[3] = {0.5, 1, 3}, s = 2, p[3] = {}, e = 0;
  ASSERT_TRUE(bool(find("power").call({buffer(x, 3), buffer(&s, 1)},
                                      {buffer(p, 3), buffer(&e, 1)})));
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(p[i], std::pow(x[i], x[i]), 1e-14 * p[i]);
  EXPECT_NEAR(e, std::exp(2.0), 1e-14 * e);
}

TEST_P(Old, ProgramHasItsConstants) {
  float x[8] = {1, 1, 1, 1, 3, 3, 3, 3}, y[8] = {};
  ASSERT_TRUE(bool(find("weigh").call({buffer(x, 8)}, {buffer(y, 8)})));
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(y[i], x[i] * static_cast<float>(1 << i));
}

/// The loss and its gradient; rows of x repeat, so that a few of them give the
/// expected value.
std::vector<float> gradientOf(const Function &function, unsigned threads) {
  std::vector<float> x(500 * 8), w(64), results(65);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 1 / static_cast<float>(i % 77 + 3);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = 1 / static_cast<float>(i + 1);
  Result<void> done = function.call(
      {buffer(x.data(), x.size()), buffer(w.data(), w.size())},
      {buffer(results.data() + 64, 1), buffer(results.data(), 64)}, threads);
  EXPECT_TRUE(bool(done)) << done.error().message();
  return results;
}

/// The same in double precision, by the chain rule.
std::vector<double> expectedGradient() {
  std::vector<double> results(65);
  for (int row = 0; row < 500; ++row)
    for (int column = 0; column < 8; ++column) {
      auto x = [&](int k) { return 1.0 / ((row * 8 + k) % 77 + 3); };
      double z = 0;
      for (int k = 0; k < 8; ++k)
        z += x(k) / (k * 8 + column + 1);
      double s = 1 / (1 + std::exp(-z)), difference = z * s - x(column);
      results[64] += difference * difference / 4000;
      double dz = 2 * difference / 4000 * (s + z * s * (1 - s));
      for (int k = 0; k < 8; ++k)
        results[k * 8 + column] += x(k) * dz;
    }
  return results;
}

TEST_P(Old, ProgramDifferentiates) {
  std::vector<float> results = gradientOf(find("gradient"), 1);
  std::vector<double> expected = expectedGradient();
  // A sum of 500 terms, each rounded a few times.
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_NEAR(results[i], expected[i], 1e-5 * std::abs(expected[i]) + 1e-8)
        << i;
}

TEST_P(Old, ProgramHasTheSameBitsOnAnyThreads) {
  std::vector<float> expected = gradientOf(find("gradient"), 1);
  for (unsigned threads : {2, 3, 8})
    EXPECT_EQ(gradientOf(find("gradient"), threads), expected);
}

INSTANTIATE_TEST_SUITE_P(Sets, Old, ::testing::Values("baseline", "avx2"),
                         [](const auto &info) { return info.param; });

TEST(RuntimeProgram, LoadsTheFirstSetThatRuns) {
  EXPECT_EQ(oldProgram().instructionSet(),
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                ? "avx2"
                : "baseline");
}

TEST(RuntimeProgram, RefusesASetThatIsNotThere) {
  Result<Program> program = Program::load(oldFile, "amx");
  ASSERT_FALSE(bool(program));
  EXPECT_EQ(program.error().code(), DRAWLOOM_ERROR_TARGET);
  EXPECT_EQ(program.error().message(),
            "'" + oldFile +
                "' is not loaded: the program holds no code for instruction "
                "set 'amx'; it has 'avx2', 'baseline'");
}

TEST(RuntimeProgram, EveryTruncationIsRefused) {
  std::string bytes = contents(oldFile);
  ASSERT_GT(bytes.size(), 1000u);
  for (size_t size = 0; size < bytes.size();
       size += size < 3000 || size + 64 > bytes.size() ? 1 : 97)
    EXPECT_FALSE(bool(Program::loadBytes(bytes.data(), size))) << size;
}

TEST(RuntimeProgram, EveryFlippedBitIsRefused) {
  std::string bytes = contents(oldFile);
  for (size_t at = 0; at < bytes.size(); at += at < 1500 ? 1 : 97) {
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << at % 8);
    EXPECT_FALSE(bool(Program::loadBytes(bytes.data(), bytes.size()))) << at;
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << at % 8);
  }
}

TEST(RuntimeProgram, IsSavedInTodaysFormWithTheSameCode) {
  Result<std::string> bytes = oldProgram().serialize();
  ASSERT_TRUE(bool(bytes));
  EXPECT_EQ(bytes->substr(0, 20), "drawloom-artifact 8 ");
  std::string old = contents(oldFile);
  std::string code = old.substr(old.find("\177ELF"));
  // Not EXPECT_EQ, which would print it.
  EXPECT_TRUE(bytes->substr(bytes->find("\177ELF")) == code);
  Result<Program> again = Program::loadBytes(bytes->data(), bytes->size());
  ASSERT_TRUE(bool(again)) << again.error().message();
  EXPECT_TRUE(*again->serialize() == *bytes);
  EXPECT_EQ(gradientOf(*again->find("gradient"), 2),
            gradientOf(*oldProgram().find("gradient"), 1));
}

TEST(RuntimeProgram, TakesAnyRowsOfAFileThatLeavesThemOpen) {
  Result<Program> program =
      Program::load(DRAWLOOM_INPUTS "/program-v5.drawloom");
  ASSERT_TRUE(bool(program)) << program.error().message();
  Function squares = *program->find("squares");
  for (int64_t rows : {0, 1, 2, 7, 8, 9, 64, 65, 200, 1000}) {
    Result<BoundFunction> bound = squares.bind({{rows, 2}});
    ASSERT_TRUE(bool(bound)) << bound.error().message();
    auto count = static_cast<size_t>(2 * rows);
    std::vector<float> x(count, 3), y(count);
    float sum[2] = {-1, -1};
    Result<void> done = bound->function().call(
        {buffer(x.data(), count)}, {buffer(y.data(), count), buffer(sum, 2)});
    ASSERT_TRUE(bool(done)) << done.error().message();
    EXPECT_EQ(y, std::vector<float>(count, 9));
    EXPECT_EQ(sum[0], 9.0F * static_cast<float>(rows));
    EXPECT_EQ(sum[1], 9.0F * static_cast<float>(rows));
  }
}

/// See Inputs/program-v6.mlir.
Program openMemoryProgram() {
  Result<Program> program =
      Program::load(DRAWLOOM_INPUTS "/program-v6.drawloom");
  EXPECT_TRUE(bool(program)) << program.error().message();
  return std::move(*program);
}

TEST(RuntimeProgram, MemoryGrowsWithTheExtentsOfACall) {
  Program program = openMemoryProgram();
  Function sums = *program.find("sums");
  for (auto [rows, columns] : {std::pair<size_t, size_t>{3, 5},
                               {0, 7},
                               {7, 0},
                               {1, 1},
                               {65, 64},
                               {40, 500},
                               {500, 3}}) {
    Result<BoundFunction> bound = sums.bind(
        {{static_cast<int64_t>(rows), static_cast<int64_t>(columns)}});
    ASSERT_TRUE(bool(bound)) << bound.error().message();
    for (unsigned threads : {1, 2, 3}) {
      std::vector<float> x(rows * columns, 2), z(rows * columns);
      Result<void> done = bound->function().call(
          {buffer(x.data(), x.size())}, {buffer(z.data(), z.size())}, threads);
      ASSERT_TRUE(bool(done)) << done.error().message();
      for (size_t i = 0; i < z.size(); ++i)
        ASSERT_EQ(z[i], 4.0F * static_cast<float>(columns - i % columns)) << i;
    }
  }
}

TEST(RuntimeProgram, RefusesScratchMemoryThatNoMachineHas) {
  Program program = openMemoryProgram();
  Function sums = *program.find("sums");
  auto refusal = [&](int64_t columns, unsigned threads) {
    float none = 0;
    Result<BoundFunction> bound = sums.bind({{0, columns}});
    EXPECT_TRUE(bool(bound)) << bound.error().message();
    Result<void> done =
        bound->function().call({buffer(&none, 0)}, {buffer(&none, 0)}, threads);
    return done ? std::string() : done.error().message();
  };
  EXPECT_EQ(refusal(int64_t(1) << 50, 2),
            "@sums needs 9007199254741120 bytes of scratch memory for its "
            "threads, which this machine does not give");
  // Each thread's is counted by 64 bits, that of all is not.
  EXPECT_EQ(refusal(int64_t(1) << 60, 2),
            "@sums needs more than 2^63 bytes of scratch memory for its "
            "threads, which this machine does not give");
}

TEST(RuntimeProgram, RefusesWhatDoesNotFit) {
  Program program = oldProgram();
  float x[4] = {}, z[4] = {};
  Result<void> done = program.find("sum")->call({buffer(x, 4)}, {buffer(z, 4)});
  ASSERT_FALSE(bool(done));
  EXPECT_EQ(done.error().code(), DRAWLOOM_ERROR_CALL);
  EXPECT_FALSE(bool(program.find("loss"))) << "a private function";
}

TEST(RuntimeProgram, IsCalledAndTrimmedByManyThreadsAtOnce) {
  Program program = oldProgram();
  Function gradient = *program.find("gradient");
  std::vector<float> expected = gradientOf(gradient, 1);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(gradientOf(gradient, i % 3 + 1), expected);
        if (i == 0)
          program.trim();
        program.memory();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  program.trim();
  EXPECT_EQ(program.memory().kept, 0u);
}

TEST(RuntimeProgram, NeedsNoLlvm) {
  std::string libraries;
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *context) {
        *static_cast<std::string *>(context) +=
            std::string(object->dlpi_name) + "\n";
        return 0;
      },
      &libraries);
  EXPECT_EQ(libraries.find("LLVM"), std::string::npos) << libraries;
  EXPECT_EQ(libraries.find("MLIR"), std::string::npos) << libraries;
}

} // namespace
