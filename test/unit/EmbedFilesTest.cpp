//===- EmbedFilesTest.cpp - compiled programs as files -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmbedFixture.h"
#include <sys/wait.h>

using namespace drawloom;

namespace {

std::string errorOf(Result<Program> program) {
  return program ? "" : program.error().message();
}

std::string serialized(const Program &program) {
  Result<std::string> bytes = program.serialize();
  EXPECT_TRUE(bool(bytes));
  return *bytes;
}

Compiler compilerFor(const char *isa) {
  CompilerOptions options;
  options.isa = isa;
  options.cache = false;
  Result<Compiler> compiler = Compiler::create(options);
  EXPECT_TRUE(bool(compiler));
  return std::move(*compiler);
}

TEST(ProgramFile, SavedProgramComputesTheSame) {
  Folder folder;
  std::string path = folder.path / "gradient.drawloom";
  Program compiled = compileText(makeCompiler(), gradient);
  ASSERT_TRUE(bool(compiled.save(path)));
  Result<Program> loaded = Program::load(path);
  ASSERT_TRUE(bool(loaded)) << loaded.error().message();
  EXPECT_EQ(gradientOf(*loaded, 2), gradientOf(compiled, 1));
  EXPECT_EQ(loaded->instructionSet(), "native");
  EXPECT_EQ(loaded->target(), "cpu");
}

TEST(ProgramFile, FileOfTheFolderIsReplacedAsAWhole) {
  Folder folder;
  std::string path = folder.path / "p.drawloom";
  std::ofstream(path) << "in the way";
  ASSERT_TRUE(bool(compileText(makeCompiler(), several).save(path)));
  EXPECT_EQ(errorOf(Program::load(path)), "");
  EXPECT_EQ(folder.files().size(), 1u);
}

TEST(ProgramFile, HasTheSignaturesOfItsFunctions) {
  Program compiled = compileText(makeCompiler(), several);
  std::string bytes = serialized(compiled);
  Result<Program> loaded = Program::loadBytes(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(loaded));
  ASSERT_EQ(loaded->functions().size(), 2u);
  Function both = loaded->functions()[1];
  EXPECT_EQ(both.name(), "both");
  ASSERT_EQ(both.arguments().size(), 2u);
  EXPECT_EQ(both.arguments()[0].extents, std::vector<int64_t>{4});
  EXPECT_EQ(both.arguments()[1].element, DRAWLOOM_F64);
  EXPECT_EQ(both.results()[1].bytes, 8);
}

TEST(ProgramFile, HasTheNamesOfArgumentsAndResults) {
  std::string bytes = serialized(compileText(makeCompiler(), R"(
func.func @twice(%a: tensor<4xf32> {drawloom.name = "x"}, %b: tensor<4xf32>)
    -> (tensor<4xf32> {drawloom.name = "sum"}, tensor<4xf32>) {
  %y = arith.addf %a, %b : tensor<4xf32>
  return %y, %a : tensor<4xf32>, tensor<4xf32>
}
)"));
  Result<Program> loaded = Program::loadBytes(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(loaded));
  Function twice = loaded->functions()[0];
  EXPECT_EQ(twice.arguments()[0].name, "x");
  EXPECT_EQ(twice.arguments()[1].name, "");
  EXPECT_EQ(twice.results()[0].name, "sum");
  EXPECT_EQ(*twice.findArgument("x"), 0u);
  EXPECT_EQ(*twice.findResult("sum"), 0u);
  EXPECT_EQ(twice.findArgument("sum").error().message(),
            "@twice has no argument 'sum'; it has x");
  float x[4] = {}, y[4];
  Result<void> refused =
      twice.call({buffer(x, 3), buffer(x, 4)}, {buffer(y, 4), buffer(y, 4)});
  EXPECT_EQ(refused.error().message(),
            "argument 0 (x) of @twice takes 16 bytes, but the buffer has 12");
}

TEST(ProgramFile, SaysThatArgumentsHaveNoNames) {
  Program compiled = compileText(makeCompiler(), gradient);
  EXPECT_NE(compiled.functions()[0].findArgument("x").error().message().find(
                "has no argument 'x': its arguments have no names"),
            std::string::npos);
}

TEST(ProgramFile, HoldsEverySetAndLoadsTheOneThatIsAskedFor) {
  std::string bytes =
      serialized(compileText(compilerFor("baseline,avx2"), gradient));
  Result<Program> best = Program::loadBytes(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(best));
  EXPECT_EQ(best->instructionSets(),
            (std::vector<std::string>{"avx2", "baseline"}));
  Result<Program> baseline =
      Program::loadBytes(bytes.data(), bytes.size(), "baseline");
  ASSERT_TRUE(bool(baseline));
  EXPECT_EQ(baseline->instructionSet(), "baseline");
  EXPECT_NE(gradientOf(*baseline, 1)[64], 0);
  EXPECT_EQ(errorOf(Program::loadBytes(bytes.data(), bytes.size(), "avx512")),
            "the program is not loaded: the program holds no code for "
            "instruction set 'avx512'; it has 'avx2', 'baseline'");
}

TEST(ProgramFile, LoadedProgramIsSavedAgainWithTheSameBytes) {
  std::string bytes =
      serialized(compileText(compilerFor("baseline,avx2"), several));
  Result<Program> loaded = Program::loadBytes(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(loaded));
  EXPECT_EQ(serialized(*loaded), bytes);
}

TEST(ProgramFile, ProgramFromTheCacheCanBeSaved) {
  Folder folder;
  std::string first =
      serialized(compileText(makeCompiler(folder.path), several));
  EXPECT_EQ(serialized(compileText(makeCompiler(folder.path), several)), first);
}

TEST(ProgramFile, EveryTruncationIsRefused) {
  std::string bytes = serialized(compileText(compilerFor("baseline"), several));
  for (size_t size = 0; size < bytes.size();
       size += size < 2048 || size + 64 > bytes.size() ? 1 : 61) {
    Result<Program> program = Program::loadBytes(bytes.data(), size);
    ASSERT_FALSE(bool(program)) << size;
    EXPECT_EQ(program.error().code(), DRAWLOOM_ERROR_FILE);
  }
}

TEST(ProgramFile, EveryFlippedBitIsRefused) {
  std::string bytes = serialized(compileText(compilerFor("baseline"), several));
  for (size_t at = 0; at < bytes.size(); at += at < 2048 ? 1 : 31) {
    std::string damaged = bytes;
    damaged[at] ^= 1 << at % 8;
    EXPECT_NE(errorOf(Program::loadBytes(damaged.data(), damaged.size())), "")
        << at;
  }
}

TEST(ProgramFile, OtherFilesAreRefused) {
  Folder folder;
  EXPECT_NE(errorOf(Program::load("/there/is/no.drawloom"))
                .find("'/there/is/no.drawloom' cannot be read"),
            std::string::npos);
  std::string path = folder.path / "text";
  std::ofstream(path) << "func.func @f() { return }";
  EXPECT_EQ(errorOf(Program::load(path)),
            "'" + path + "' is not loaded: it is no artifact of Drawloom");
  EXPECT_NE(errorOf(Program::load(folder.path)), "");
  EXPECT_NE(errorOf(Program::loadBytes(nullptr, 0)), "");
}

TEST(ProgramFile, FolderThatCannotBeWrittenIsAnError) {
  Result<void> saved =
      compileText(makeCompiler(), several).save("/there/is/no.drawloom");
  ASSERT_FALSE(bool(saved));
  EXPECT_EQ(saved.error().code(), DRAWLOOM_ERROR_FILE);
  EXPECT_NE(saved.error().message().find("cannot be written"),
            std::string::npos);
}

TEST(ProgramFile, ManyThreadsLoadOneFileAtOnce) {
  std::string bytes = serialized(compileText(makeCompiler(), gradient));
  std::vector<float> expected =
      gradientOf(*Program::loadBytes(bytes.data(), bytes.size()), 1);
  atOnce(8, [&](int i) {
    for (int round = 0; round < 4; ++round) {
      Result<Program> program = Program::loadBytes(bytes.data(), bytes.size());
      ASSERT_TRUE(bool(program));
      EXPECT_EQ(gradientOf(*program, i % 3 + 1), expected);
    }
  });
}

TEST(ProgramFile, ProgramOfTheEmulatorIsLoadedByTheCompilersLibrary) {
  CompilerOptions options;
  options.target = "emulator";
  options.cache = false;
  Result<Compiler> compiler = Compiler::create(options);
  ASSERT_TRUE(bool(compiler)) << compiler.error().message();
  std::string bytes = serialized(compileText(*compiler, several));
  Result<Program> loaded = Program::loadBytes(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(loaded)) << loaded.error().message();
  float x[4] = {1, 2, 3, 4}, z[4] = {};
  Result<void> done =
      loaded->find("sum")->call({buffer(x, 4), buffer(x, 4)}, {buffer(z, 4)});
  ASSERT_TRUE(bool(done)) << done.error().message();
  EXPECT_EQ(z[3], 8);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Memory, OfAProgramIsCountedAndGivenBack) {
  Program program = compileText(makeCompiler(), gradient);
  DrawloomProgramMemory memory = program.memory();
  EXPECT_GT(memory.code, 0u);
  EXPECT_GT(memory.artifact, 0u);
  EXPECT_EQ(memory.kept, 0u);
  int64_t workspace = program.find("gradient")->workspace();
  ASSERT_GT(workspace, 0);
  std::vector<float> expected = gradientOf(program, 2);
  EXPECT_GE(program.memory().kept, static_cast<uint64_t>(workspace));
  uint64_t once = program.memory().kept;
  gradientOf(program, 2);
  EXPECT_EQ(program.memory().kept, once) << "a workspace is used again";
  program.trim();
  EXPECT_EQ(program.memory().kept, 0u);
  EXPECT_EQ(gradientOf(program, 2), expected);
}

TEST(Memory, IsGivenBackWhileCallsAreInProgress) {
  Program program = compileText(makeCompiler(), gradient);
  std::vector<float> expected = gradientOf(program, 1);
  atOnce(4, [&](int i) {
    for (int round = 0; round < 5; ++round) {
      if (i == 0)
        program.trim();
      EXPECT_EQ(gradientOf(program, i % 2 + 1), expected);
      program.memory();
    }
  });
}

TEST(Memory, OlderCallersGetTheFieldsThatTheyKnow) {
  Program program = compileText(makeCompiler(), several);
  DrawloomProgram *handle = nullptr;
  std::string bytes = serialized(program);
  ASSERT_EQ(
      drawloomProgramLoadBytes(bytes.data(), bytes.size(), nullptr, &handle),
      nullptr);
  DrawloomProgramMemory memory = {};
  memory.size = offsetof(DrawloomProgramMemory, artifact);
  memory.artifact = 77;
  drawloomProgramMemory(handle, &memory);
  EXPECT_GT(memory.code, 0u);
  EXPECT_EQ(memory.artifact, 77u);
  drawloomProgramDestroy(handle);
}

TEST(Statistics, CountWhatACompilerDid) {
  Folder folder;
  {
    Compiler compiler = makeCompiler(folder.path);
    EXPECT_EQ(compiler.statistics().compiled, 0u);
    compileText(compiler, several);
    compileText(compiler, several);
    EXPECT_FALSE(bool(compiler.compile({{"wrong.mlir", "func.func"}})));
    DrawloomCompilerStatistics counts = compiler.statistics();
    EXPECT_EQ(counts.compiled, 1u);
    EXPECT_GT(counts.seconds, 0.0);
    EXPECT_EQ(counts.loaded, 0u);
    EXPECT_EQ(counts.remembered, 1u);
    EXPECT_EQ(counts.failed, 1u);
  }
  Compiler another = makeCompiler(folder.path);
  compileText(another, several);
  EXPECT_EQ(another.statistics().compiled, 0u);
  EXPECT_EQ(another.statistics().loaded, 1u);
}

TEST(Memory, OfACompilerIsForgotten) {
  Compiler compiler = makeCompiler();
  EXPECT_EQ(compiler.memory().programs, 0u);
  Program program = compileText(compiler, several);
  compileText(compiler, doubling, {{"twice", {{3}}}});
  EXPECT_EQ(compiler.memory().programs, 2u);
  EXPECT_GT(compiler.memory().bytes, program.memory().code);
  compiler.forget();
  EXPECT_EQ(compiler.memory().programs, 0u);
  EXPECT_EQ(compiler.memory().bytes, 0u);
  float x[4] = {1, 2, 3, 4}, z[4];
  EXPECT_TRUE(bool(
      program.find("sum")->call({buffer(x, 4), buffer(x, 4)}, {buffer(z, 4)})));
}

} // namespace
