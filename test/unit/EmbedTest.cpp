//===- EmbedTest.cpp - the C interface, through its C++ wrapper -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmbedFixture.h"
#include <csignal>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace drawloom;

namespace {

/// A compiled @sum with sane buffers, for tests that spoil one.
class Call : public ::testing::Test {
protected:
  Compiler compiler = makeCompiler();
  Program program = compileText(compiler, several);
  Function sum = *program.find("sum");
  alignas(64) float x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40}, z[4] = {};
  std::vector<DrawloomBuffer> in = {buffer(x, 4), buffer(y, 4)};
  std::vector<DrawloomBuffer> out = {buffer(z, 4)};

  void refuses(const std::string &why, unsigned threads = 1) {
    Result<void> done = sum.call(in, out, threads);
    ASSERT_FALSE(bool(done));
    EXPECT_EQ(done.error().code(), DRAWLOOM_ERROR_CALL);
    EXPECT_EQ(done.error().message(), why);
    EXPECT_EQ(z[0], 0) << "a refused call wrote a result";
  }
};

TEST(Embed, LibraryHasTheVersionOfItsHeader) {
  EXPECT_EQ(drawloomApiVersion(), DRAWLOOM_API_VERSION);
}

TEST_F(Call, ComputesResults) {
  ASSERT_TRUE(bool(sum.call(in, out)));
  EXPECT_EQ(z[3], 44);
}

TEST_F(Call, TakesScalarsByAddress) {
  double s = 1.5, t = 0;
  ASSERT_TRUE(bool(program.find("both")->call({buffer(x, 4), buffer(&s, 1)},
                                              {buffer(z, 4), buffer(&t, 1)})));
  EXPECT_EQ(z[3], 16);
  EXPECT_EQ(t, 3);
}

TEST_F(Call, TellsTypes) {
  Function both = *program.find("both");
  std::vector<Type> arguments = both.arguments();
  ASSERT_EQ(arguments.size(), 2u);
  EXPECT_EQ(arguments[0].element, DRAWLOOM_F32);
  EXPECT_EQ(arguments[0].extents, std::vector<int64_t>{4});
  EXPECT_EQ(arguments[0].bytes, 16);
  EXPECT_EQ(arguments[1].element, DRAWLOOM_F64);
  EXPECT_TRUE(arguments[1].extents.empty());
}

TEST_F(Call, ArgumentsMayShareMemory) {
  in[1] = in[0];
  ASSERT_TRUE(bool(sum.call(in, out)));
  EXPECT_EQ(z[3], 8);
}

TEST_F(Call, RefusesZeroThreads) { refuses("@sum cannot run on 0 threads", 0); }

TEST_F(Call, RefusesMissingBuffers) {
  in.pop_back();
  refuses("@sum has 2 arguments, but 1 are given");
}

TEST_F(Call, RefusesAnotherSize) {
  in[1].bytes = 12;
  refuses("argument 1 of @sum takes 16 bytes, but the buffer has 12");
}

TEST_F(Call, RefusesANullPointer) {
  in[0].data = nullptr;
  refuses("argument 0 of @sum is a null pointer");
}

TEST_F(Call, RefusesBadAlignment) {
  std::vector<char> bytes(32);
  in[0].data = bytes.data() + 1;
  refuses("argument 0 of @sum is not aligned to its elements, 4 bytes each");
}

TEST_F(Call, RefusesBadAlignmentOfAResult) {
  std::vector<char> bytes(32);
  out[0].data = bytes.data() + 2;
  refuses("result 0 of @sum is not aligned to its elements, 4 bytes each");
}

TEST_F(Call, RefusesAResultInAnArgument) {
  out[0].data = x;
  refuses("result 0 and argument 0 of @sum share memory; only arguments may");
}

TEST_F(Call, RefusesAResultThatReachesIntoAnArgument) {
  alignas(64) float both[7] = {};
  in[1].data = both;
  out[0].data = both + 3;
  refuses("result 0 and argument 1 of @sum share memory; only arguments may");
  in[1].data = both + 3;
  out[0].data = both;
  refuses("argument 1 and result 0 of @sum share memory; only arguments may");
}

TEST_F(Call, TakesAResultThatBeginsWhereAnArgumentEnds) {
  float both[8] = {1, 2, 3, 4};
  in[1].data = both;
  out[0].data = both + 4;
  ASSERT_TRUE(bool(sum.call(in, out)));
  EXPECT_EQ(both[7], 8);
}

TEST_F(Call, RefusesResultsThatShareMemory) {
  double memory[4] = {}, s = 1;
  Result<void> done = program.find("both")->call(
      {buffer(x, 4), buffer(&s, 1)},
      {{memory, 4 * sizeof(float)}, {memory + 1, sizeof(double)}});
  ASSERT_FALSE(bool(done));
  EXPECT_EQ(done.error().message(),
            "result 1 and result 0 of @both share memory; only arguments may");
  EXPECT_EQ(memory[0], 0);
}

TEST_F(Call, NamesTheFunctionsThatThereAre) {
  Result<Function> function = program.find("some");
  ASSERT_FALSE(bool(function));
  EXPECT_EQ(function.error().message(),
            "the program has no function @some; it has @sum, @both");
}

TEST(Embed, ShapesTakeThePlaceOfQuestionMarks) {
  Compiler compiler = makeCompiler();
  Program program = compileText(compiler, doubling, {{"twice", {{3}}}});
  float x[3] = {1, 2, 3}, y[3];
  ASSERT_TRUE(
      bool(program.find("twice")->call({buffer(x, 3)}, {buffer(y, 3)})));
  EXPECT_EQ(y[2], 6);
}

TEST(Embed, ParsedProgramTellsItsTypesAndDoesNoMore) {
  DrawloomCompiler *compiler = nullptr;
  DrawloomCompilerOptions options = {};
  options.size = sizeof(options);
  options.cacheFolder = "";
  ASSERT_EQ(drawloomCompilerCreate(&options, &compiler), nullptr);
  DrawloomSource source = {"test.mlir", doubling, strlen(doubling)};
  DrawloomProgram *handle = nullptr;
  ASSERT_EQ(drawloomParse(compiler, &source, 1, &handle), nullptr);
  Program program(handle);
  Function twice = *program.find("twice");
  EXPECT_EQ(twice.arguments()[0].extents, std::vector<int64_t>{-1});
  EXPECT_FALSE(bool(twice.call({{}}, {{}})));
  EXPECT_FALSE(bool(twice.callTensors({nullptr}, {nullptr})));
  EXPECT_FALSE(bool(program.save("/there/is/no.drawloom")));
  EXPECT_FALSE(bool(program.serialize()));
  EXPECT_EQ(program.instructionSet(), "");
  EXPECT_EQ(program.memory().code, 0u);
  program.trim();
  drawloomCompilerDestroy(compiler);
}

TEST(Embed, ErrorHasPlacePhaseAndReproducer) {
  Compiler compiler = makeCompiler();
  Result<Program> program = compiler.compile(
      {{"wrong.mlir", "func.func @f() {\n  kan.nothing\n}\n"}});
  ASSERT_FALSE(bool(program));
  EXPECT_EQ(program.error().code(), DRAWLOOM_ERROR_PROGRAM);
  EXPECT_EQ(program.error().location(), "wrong.mlir:2:3");
  EXPECT_EQ(program.error().phase(), "parse");
  EXPECT_EQ(program.error().reproducer(), "drawloom-run wrong.mlir");
  EXPECT_NE(program.error().message().find("kan.nothing"), std::string::npos);
}

TEST(Embed, ShapeThatDoesNotFitIsAnError) {
  Compiler compiler = makeCompiler();
  Result<Program> program =
      compiler.compile({{"test.mlir", doubling}}, {{"twice", {{3, 4}}}});
  ASSERT_FALSE(bool(program));
  EXPECT_EQ(program.error().phase(), "shapes");
}

TEST(Embed, RefusesPassesThatAreUnknown) {
  for (auto [passes, message] :
       {std::pair("structred:cse", "'structred:cse' names no passes in front "
                                   "of a phase: a phase (differentiated, "),
        std::pair("structured:canonicalise", "; did you mean 'canonicalize'?"),
        std::pair("structured:func.func(fuse-rosw)", "'fuse-rows'?")}) {
    CompilerOptions options;
    options.insertedPasses = {"structured:cse", passes};
    Result<Compiler> compiler = Compiler::create(options);
    ASSERT_FALSE(bool(compiler));
    EXPECT_EQ(compiler.error().code(), DRAWLOOM_ERROR_CALL);
    EXPECT_NE(compiler.error().message().find(message), std::string::npos)
        << compiler.error().message();
  }
}

TEST(Embed, RefusesAPluginThatIsNone) {
  Result<void> loaded = loadPlugin("/none");
  ASSERT_FALSE(bool(loaded));
  EXPECT_EQ(loaded.error().code(), DRAWLOOM_ERROR_FILE);
  EXPECT_EQ(loaded.error().message(),
            "the plugin '/none' is not loaded: No such file or directory");
  DrawloomError *null = drawloomLoadPlugin(nullptr);
  ASSERT_NE(null, nullptr);
  EXPECT_STREQ(drawloomErrorMessage(null), "the path of the plugin is NULL");
  drawloomErrorDestroy(null);
}

TEST(Embed, RefusesAnUnknownInstructionSet) {
  CompilerOptions options;
  options.isa = "avx3";
  Result<Compiler> compiler = Compiler::create(options);
  ASSERT_FALSE(bool(compiler));
  EXPECT_EQ(compiler.error().code(), DRAWLOOM_ERROR_TARGET);
  EXPECT_NE(compiler.error().message().find("'avx3'"), std::string::npos);
}

TEST(Embed, CompilesForSeveralInstructionSets) {
  for (const char *isa : {"baseline,native", "all"}) {
    CompilerOptions options;
    options.isa = isa;
    options.cache = false;
    Result<Compiler> compiler = Compiler::create(options);
    ASSERT_TRUE(bool(compiler)) << compiler.error().message();
    Program program = compileText(*compiler, several);
    float x[4] = {1, 2, 3, 4}, z[4];
    ASSERT_TRUE(bool(program.find("sum")->call({buffer(x, 4), buffer(x, 4)},
                                               {buffer(z, 4)})));
    EXPECT_EQ(z[3], 8) << isa;
  }
}

TEST(Embed, RefusesAnUnknownTarget) {
  CompilerOptions options;
  options.target = "abacus";
  Result<Compiler> compiler = Compiler::create(options);
  ASSERT_FALSE(bool(compiler));
  EXPECT_EQ(compiler.error().message(),
            "unknown target 'abacus'; known: 'cpu', 'cuda', 'emulator'");
}

TEST(Embed, RefusesAMissingFile) {
  Compiler compiler = makeCompiler();
  Result<Program> program = compiler.compileFiles({"/there/is/no.mlir"});
  ASSERT_FALSE(bool(program));
  EXPECT_NE(program.error().message().find("'/there/is/no.mlir'"),
            std::string::npos);
}

TEST(Embed, ProgramOutlivesItsCompiler) {
  auto compiler = std::make_unique<Compiler>(makeCompiler());
  Program program = compileText(*compiler, several);
  compiler.reset();
  float x[4] = {1, 2, 3, 4}, z[4];
  ASSERT_TRUE(bool(
      program.find("sum")->call({buffer(x, 4), buffer(x, 4)}, {buffer(z, 4)})));
  EXPECT_EQ(z[0], 2);
}

TEST(Embed, CompilesOnManyThreadsAtOnce) {
  Compiler compiler = makeCompiler();
  std::vector<std::thread> threads;
  for (int64_t extent = 1; extent <= 8; ++extent)
    threads.emplace_back([&, extent] {
      Program program =
          compileText(compiler, doubling, {{"twice", {{extent}}}});
      std::vector<float> x(extent, 2), y(extent);
      EXPECT_TRUE(bool(program.find("twice")->call(
          {buffer(x.data(), extent)}, {buffer(y.data(), extent)})));
      EXPECT_EQ(y.back(), 4);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Embed, MoreThreadsThanCoresGiveTheSameBits) {
  Program program = compileText(makeCompiler(), gradient);
  std::vector<float> expected = gradientOf(program, 1);
  EXPECT_NE(expected[0], 0);
  for (unsigned threads : {2, 3, 7, 16, 64, 300})
    EXPECT_EQ(gradientOf(program, threads), expected) << threads;
}

namespace {
/// Does all on the thread that asks, in the opposite order.
struct CountingTeam {
  std::vector<unsigned> counts;

  static void run(void *self, unsigned count, void (*work)(void *, unsigned),
                  void *data) {
    static_cast<CountingTeam *>(self)->counts.push_back(count);
    while (count--)
      work(data, count);
  }
};
} // namespace

TEST(Embed, CallsRunOnTheCallersThreads) {
  Program program = compileText(makeCompiler(), gradient);
  std::vector<float> expected = gradientOf(program, 1);
  CountingTeam team;
  DrawloomThreads threads{&team, CountingTeam::run};
  drawloomUseThreads(&threads);
  EXPECT_EQ(gradientOf(program, 4), expected);
  EXPECT_FALSE(team.counts.empty());
  for (unsigned count : team.counts)
    EXPECT_EQ(count, 4u);
  size_t before = team.counts.size();
  // One thread's choice is no other's.
  atOnce(1, [&](int) { EXPECT_EQ(gradientOf(program, 4), expected); });
  drawloomUseThreads(nullptr);
  EXPECT_EQ(gradientOf(program, 4), expected);
  EXPECT_EQ(team.counts.size(), before);
}

TEST(Embed, ManyThreadsCallOneFunctionAtOnce) {
  Program program = compileText(makeCompiler(), gradient);
  std::vector<float> expected = gradientOf(program, 1);
  atOnce(8, [&](int i) {
    for (int round = 0; round < 5; ++round)
      EXPECT_EQ(gradientOf(program, i % 4 + 1), expected);
  });
}

TEST(Embed, ChildOfAForkCompilesAndCalls) {
#ifdef DRAWLOOM_THREAD_SANITIZER
  GTEST_SKIP() << "ThreadSanitizer takes no new threads after a fork";
#endif
#if defined(DRAWLOOM_SANITIZE) && !defined(__clang__)
  GTEST_SKIP() << "the allocator of gcc's AddressSanitizer may be locked when "
                  "another thread forks";
#endif
  Compiler compiler = makeCompiler();
  Program program = compileText(compiler, gradient);
  std::vector<float> expected = gradientOf(program, 4);
  pid_t child = fork();
  if (child == 0) {
    alarm(20); // A hang is a failure, not a test that never ends.
    bool same = gradientOf(program, 4) == expected;
    Program known = compileText(compiler, gradient);
    same &= gradientOf(known, 2) == expected;
    Program fresh = compileText(makeCompiler(), gradient);
    same &= gradientOf(fresh, 4) == expected;
    _exit(same && !::testing::Test::HasFailure() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(gradientOf(program, 4), expected);
}

/// A compiler whose cache cannot be written: each compilation gives a note.
struct NotingCompiler {
  NotingCompiler() {
    std::ofstream(folder.path / "file") << "in the way";
    CompilerOptions options;
    options.cacheFolder = folder.path / "file" / "cache";
    options.note = [this](const char *) { ++notes; };
    compiler.emplace(std::move(*Compiler::create(std::move(options))));
  }
  Folder folder;
  std::atomic<int> notes{0};
  std::optional<Compiler> compiler;
};

TEST(Embed, ThreadsThatWantTheSameProgramCompileItOnce) {
  NotingCompiler noting;
  for (int round = 1; round <= 4; ++round) {
    std::vector<Shapes> shapes = {{"twice", {{round}}}};
    atOnce(8, [&](int) {
      Program program = compileText(*noting.compiler, doubling, shapes);
      std::vector<float> x(round, 2), y(round);
      EXPECT_TRUE(bool(program.find("twice")->call({buffer(x.data(), round)},
                                                   {buffer(y.data(), round)})));
      EXPECT_EQ(y.back(), 4);
    });
    EXPECT_EQ(noting.notes, round);
  }
}

TEST(Embed, NotesComeFromEveryThreadThatCompiles) {
  NotingCompiler noting;
  atOnce(8, [&](int i) {
    compileText(*noting.compiler, doubling, {{"twice", {{i + 1}}}});
  });
  EXPECT_EQ(noting.notes, 8);
}

TEST(Embed, ThreadsThatWantTheSameWrongProgramGetTheirErrors) {
  Compiler compiler = makeCompiler();
  for (int round = 0; round < 4; ++round)
    atOnce(8, [&](int i) {
      // Of eight, every other one asks for a program that is right.
      std::string name = std::to_string(i) + ".mlir";
      Result<Program> program = compiler.compile(
          {{name, i % 2 ? doubling : "func.func @f() {\n  kan.nothing\n}\n"}},
          i % 2 ? std::vector<Shapes>{{"twice", {{round + 1}}}}
                : std::vector<Shapes>{});
      ASSERT_EQ(bool(program), i % 2 == 1);
      if (!program) {
        EXPECT_EQ(program.error().location(), name + ":2:3");
      }
    });
}

TEST(Embed, AThousandCompilationsLeaveNoMemoryBehind) {
#if defined(DRAWLOOM_SANITIZE) || defined(DRAWLOOM_THREAD_SANITIZER)
  GTEST_SKIP() << "sanitizers keep what is freed";
#endif
  int64_t before = 0;
  for (int64_t extent = 1; extent <= 1000; ++extent) {
    Compiler compiler = makeCompiler();
    Program program = compileText(compiler, doubling, {{"twice", {{extent}}}});
    std::vector<float> x(extent, 2), y(extent);
    EXPECT_TRUE(bool(program.find("twice")->call(
        {buffer(x.data(), extent)}, {buffer(y.data(), extent)}, 2)));
    // By then, what grows with use (the allocator's pools, tables of names) has
    // its size.
    if (extent == 200)
      before = residentBytes();
  }
  // The code of a program alone is several pages; a kibibyte for each allows
  // the allocator some disorder.
  EXPECT_LT(residentBytes() - before, 800 * 1024);
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

float twiceOfOne(const Program &program) {
  float x = 1, y = 0;
  EXPECT_TRUE(
      bool(program.find("twice")->call({buffer(&x, 1)}, {buffer(&y, 1)})));
  return y;
}

const std::vector<Shapes> one = {{"twice", {{1}}}};

TEST(Cache, KeepsOneEntryForEachProgram) {
  Folder folder;
  compileText(makeCompiler(folder.path), doubling, one);
  EXPECT_EQ(folder.files().size(), 1u);
  compileText(makeCompiler(folder.path), doubling, one);
  EXPECT_EQ(folder.files().size(), 1u);
  compileText(makeCompiler(folder.path), doubling, {{"twice", {{2}}}});
  EXPECT_EQ(folder.files().size(), 2u);
}

TEST(Cache, NothingIsKeptOfAProgramThatFails) {
  Folder folder;
  EXPECT_FALSE(bool(makeCompiler(folder.path).compile({{"bad", "func"}})));
  EXPECT_TRUE(folder.files().empty());
}

TEST(Cache, LoadedProgramComputesTheSame) {
  Folder folder;
  compileText(makeCompiler(folder.path), doubling, one);
  std::vector<std::string> notes;
  Compiler compiler = makeCompiler(folder.path, &notes);
  EXPECT_EQ(twiceOfOne(compileText(compiler, doubling, one)), 2);
  EXPECT_TRUE(notes.empty());
}

/// Replaces the only entry by `bytes`; it must be noted and compiled again.
void replacedEntryIsNotUsed(const Folder &folder, const std::string &bytes,
                            const std::string &why) {
  fs::path entry = folder.files().at(0);
  std::ofstream(entry, std::ios::binary) << bytes;
  std::vector<std::string> notes;
  Compiler compiler = makeCompiler(folder.path, &notes);
  EXPECT_EQ(twiceOfOne(compileText(compiler, doubling, one)), 2);
  ASSERT_EQ(notes.size(), 1u) << why;
  EXPECT_NE(notes[0].find("is not used"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find(why), std::string::npos) << notes[0];
}

TEST(Cache, EntryOfAnotherVersionIsNotUsed) {
  Folder folder;
  compileText(makeCompiler(folder.path), doubling, one);
  std::string bytes = readAll(folder.files()[0]);
  const std::string magic = "drawloom-artifact ";
  size_t at = bytes.find(magic) + magic.size();
  size_t digits = bytes.find(' ', at) - at;
  replacedEntryIsNotUsed(folder, bytes.replace(at, digits, "99"), "version 99");
}

TEST(Cache, ForeignFileIsNotUsed) {
  Folder folder;
  compileText(makeCompiler(folder.path), doubling, one);
  replacedEntryIsNotUsed(folder, "something else", "no entry");
}

/// The key of an entry is its first line. Where the line behind it ends, with
/// which the artifact begins.
size_t endOfHeader(const std::string &entry) {
  return entry.find('\n', entry.find('\n') + 1);
}

TEST(Cache, DamagedKeyIsNotUsed) {
  Folder folder;
  compileText(makeCompiler(folder.path), doubling, one);
  std::string bytes = readAll(folder.files()[0]);
  bytes[bytes.find('\n') - 1] ^= 1;
  replacedEntryIsNotUsed(folder, bytes, "another program");
}

TEST(Cache, DamagedEntryIsNotUsed) {
  Folder folder;
  compileText(makeCompiler(folder.path), doubling, one);
  std::string bytes = readAll(folder.files()[0]);
  // A few places of each part; ArtifactTest sweeps over every byte.
  for (size_t at : {endOfHeader(bytes) - 1, endOfHeader(bytes) + 5,
                    bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    replacedEntryIsNotUsed(folder, damaged, "checksum");
  }
}

TEST(Cache, TruncatedEntryIsNotUsed) {
  Folder folder;
  compileText(makeCompiler(folder.path), doubling, one);
  std::string bytes = readAll(folder.files()[0]);
  for (size_t size :
       {endOfHeader(bytes) + 1, bytes.size() / 2, bytes.size() - 1})
    replacedEntryIsNotUsed(folder, bytes.substr(0, size), "cut off");
}

TEST(Cache, FolderThatCannotBeMadeIsNoted) {
  Folder folder;
  std::string file = folder.path / "file";
  std::ofstream(file) << "in the way";
  std::vector<std::string> notes;
  Compiler compiler = makeCompiler(file + "/cache", &notes);
  EXPECT_EQ(twiceOfOne(compileText(compiler, doubling, one)), 2);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("is not kept in the cache"), std::string::npos);
}

TEST(Cache, DiskWithoutSpaceIsNotedAndNothingIsLeft) {
  // The largest size of a file stands in for the disk's.
  Folder folder;
  std::vector<std::string> notes;
  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, SIG_IGN);
  rlimit small = {64, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  Compiler compiler = makeCompiler(folder.path, &notes);
  EXPECT_EQ(twiceOfOne(compileText(compiler, doubling, one)), 2);
  setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("File too large"), std::string::npos) << notes[0];
  EXPECT_TRUE(folder.files().empty());
}

TEST(Cache, NoSignalGetsAHandler) {
  auto handlers = [] {
    std::vector<void (*)(int)> list;
    for (int signal = 1; signal < SIGRTMIN; ++signal) {
      struct sigaction action = {};
      sigaction(signal, nullptr, &action);
      list.push_back(action.sa_handler);
    }
    return list;
  };
  auto before = handlers();
  Folder folder, phases;
  compileText(makeCompiler(folder.path), doubling, one);
  CompilerOptions options;
  options.dumpPhasesTo = phases.path;
  compileText(*Compiler::create(options), doubling, one);
  EXPECT_FALSE(phases.files().empty());
  EXPECT_EQ(handlers(), before);
}

TEST(Cache, NoteThatThrowsDoesNotStopTheCompiler) {
  Folder folder;
  std::string file = folder.path / "file";
  std::ofstream(file) << "in the way";
  CompilerOptions options;
  options.cacheFolder = file + "/cache";
  bool called = false;
  options.note = [&](const char *) {
    called = true;
    throw std::runtime_error("from a note");
  };
  Result<Compiler> compiler = Compiler::create(options);
  EXPECT_EQ(twiceOfOne(compileText(*compiler, doubling, one)), 2);
  EXPECT_TRUE(called);
}

TEST(Cache, TellsInsertedPassesApart) {
  Folder folder;
  CompilerOptions options;
  options.cacheFolder = folder.path;
  size_t entries = 0;
  for (const char *passes : {"structured:cse", "blocks:cse", "blocks:sccp"}) {
    options.insertedPasses = {passes};
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(
          twiceOfOne(compileText(*Compiler::create(options), doubling, one)),
          2);
    EXPECT_EQ(folder.files().size(), ++entries);
  }
}

TEST(Cache, IsBoundedInSize) {
  Folder folder;
  CompilerOptions options;
  options.cacheFolder = folder.path;
  options.cacheBytes = 1;
  Result<Compiler> compiler = Compiler::create(options);
  compileText(*compiler, doubling, one);
  // The bound is looked at once a minute at most, first when the folder is new.
  EXPECT_TRUE(folder.files().empty());
}

} // namespace
