//===- EmbedCancelTest.cpp - compilations that are told to stop ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmbedFixture.h"
#include <condition_variable>
#include <mutex>

using namespace drawloom;

namespace {

/// A compiler that asks `ask`, and keeps what it compiles in `folder`.
Compiler askingCompiler(std::function<bool()> ask,
                        const std::string &folder = "") {
  CompilerOptions options;
  options.cache = !folder.empty();
  options.cacheFolder = folder;
  options.cancelled = std::move(ask);
  Result<Compiler> compiler = Compiler::create(std::move(options));
  EXPECT_TRUE(bool(compiler));
  return std::move(*compiler);
}

void isCancelled(Result<Program> program) {
  ASSERT_FALSE(bool(program));
  EXPECT_EQ(program.error().code(), DRAWLOOM_ERROR_CANCELLED)
      << program.error().message();
  EXPECT_EQ(program.error().message(), "the compilation was cancelled");
}

TEST(Cancel, IsAskedForManyTimesAndChangesNothing) {
  int asked = 0;
  Compiler compiler = askingCompiler([&] {
    ++asked;
    return false;
  });
  Program program = compileText(compiler, gradient);
  EXPECT_EQ(*program.serialize(),
            *compileText(makeCompiler(), gradient).serialize());
  EXPECT_GT(asked, 50) << "each pass asks";
}

TEST(Cancel, StopsWhereverItIsAsked) {
  int questions = 0;
  compileText(askingCompiler([&] {
                ++questions;
                return false;
              }),
              several);
  Folder folder;
  for (int at = 1; at <= questions; at += at < 5 ? 1 : questions / 16) {
    int asked = 0;
    Compiler compiler =
        askingCompiler([&] { return ++asked == at; }, folder.path);
    isCancelled(compiler.compile({{"test.mlir", several}}));
    EXPECT_EQ(asked, at) << "asked again after it said yes";
    EXPECT_TRUE(folder.files().empty()) << "a half-compiled program was kept";
  }
}

TEST(Cancel, NextCompilationOfTheSameProgramSucceeds) {
  int asked = 0;
  Compiler compiler = askingCompiler([&] { return ++asked == 20; });
  isCancelled(compiler.compile({{"test.mlir", gradient}}));
  EXPECT_EQ(gradientOf(compileText(compiler, gradient), 1),
            gradientOf(compileText(makeCompiler(), gradient), 1));
}

TEST(Cancel, WrongProgramKeepsItsError) {
  Compiler compiler = askingCompiler([] { return false; });
  Result<Program> program = compiler.compile(
      {{"wrong.mlir", "func.func @f() {\n  kan.nothing\n}\n"}});
  ASSERT_FALSE(bool(program));
  EXPECT_EQ(program.error().code(), DRAWLOOM_ERROR_PROGRAM);
}

TEST(Cancel, CallbackThatThrowsStops) {
  int asked = 0;
  Compiler compiler = askingCompiler([&]() -> bool {
    if (++asked == 5)
      throw 1;
    return false;
  });
  isCancelled(compiler.compile({{"test.mlir", gradient}}));
}

/// Lets a compilation go as far as its first pass, and waits there.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool arrived = false, open = false;
  bool pass() {
    std::unique_lock<std::mutex> lock(mutex);
    arrived = true;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
    return false;
  }
  void awaitArrival() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return arrived; });
  }
  void unlock() {
    std::lock_guard<std::mutex> lock(mutex);
    open = true;
    changed.notify_all();
  }
};

TEST(Cancel, AnotherThreadStopsWhatIsInProgress) {
  Gate gate;
  int asked = 0;
  Compiler compiler =
      askingCompiler([&] { return ++asked == 4 ? gate.pass() : false; });
  std::thread work(
      [&] { isCancelled(compiler.compile({{"test.mlir", gradient}})); });
  gate.awaitArrival();
  compiler.cancel();
  gate.unlock();
  work.join();
  // What begins later is not concerned.
  compileText(compiler, gradient);
}

TEST(Cancel, ThreadThatWaitsForAnotherStopsAlone) {
  Gate gate;
  std::thread::id worker;
  std::atomic<bool> stopWaiter{false};
  std::atomic<int> asked{0};
  Compiler compiler = askingCompiler([&] {
    if (std::this_thread::get_id() == worker)
      return ++asked == 4 ? gate.pass() : false;
    return stopWaiter.load();
  });
  std::thread work([&] {
    worker = std::this_thread::get_id();
    compileText(compiler, gradient);
  });
  gate.awaitArrival();
  std::thread waiter(
      [&] { isCancelled(compiler.compile({{"test.mlir", gradient}})); });
  stopWaiter = true;
  waiter.join(); // While the other is still at work.
  gate.unlock();
  work.join();
}

} // namespace
