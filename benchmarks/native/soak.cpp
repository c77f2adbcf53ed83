//===- soak.cpp - many calls and compilations, with measured memory -------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// soak [CALLS [COMPILATIONS [THREADS]]]: calls (100000) from threads (8) of one
// program, each result compared bit by bit; then compilations (1000) of as many
// programs, each saved to memory, loaded again and called. Prints the memory
// that the process holds as it goes on, and fails where a result is wrong or
// memory grows with use.
//
//===----------------------------------------------------------------------===//

#include "drawloom/Drawloom.h"
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace drawloom;

namespace {

/// Blocks of rows, a workspace, sums over all rows; the rows are open.
const char *const text = R"(
func.func private @loss(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = arith.constant 0.0 : f32
  %zero = linalg.fill ins(%f : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<?x8xf32>) -> tensor<?x8xf32>
  %p = kan.silu %z : tensor<?x8xf32>
  %l = loss.mse %p, %x : tensor<?x8xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @gradient(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>) {
  %l, %dw = ad.value_and_grad @loss(%x, %w) wrt [1] : (tensor<?x8xf32>, tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>)
  return %l, %dw : tensor<f32>, tensor<8x8xf32>
}
)";

std::atomic<bool> failed{false};

void fail(const std::string &why) {
  if (!failed.exchange(true))
    std::fprintf(stderr, "soak: %s\n", why.c_str());
}

double seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// KiB that the process holds.
long resident() {
  long pages = 0, held = 0;
  std::ifstream("/proc/self/statm") >> pages >> held;
  return held * (sysconf(_SC_PAGESIZE) / 1024);
}

std::vector<float> call(const Function &gradient, int64_t rows,
                        unsigned threads) {
  std::vector<float> x(static_cast<size_t>(rows * 8)), w(64), results(65);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 1 / static_cast<float>(i % 77 + 3);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = 1 / static_cast<float>(i + 1);
  Result<void> done = gradient.call(
      {buffer(x.data(), x.size()), buffer(w.data(), w.size())},
      {buffer(results.data() + 64, 1), buffer(results.data(), 64)}, threads);
  if (!done)
    fail(done.error().message());
  return results;
}

Result<Program> compile(const Compiler &compiler, int64_t rows) {
  return compiler.compile({{"soak.mlir", text}},
                          {{"gradient", {{rows, 8}, {8, 8}}}});
}

/// Calls in ten parts; memory after each. Gives what it grew by in the last
/// nine, KiB.
long callMany(int calls, int threads) {
  auto compiler = Compiler::create();
  if (!compiler)
    return fail(compiler.error().message()), 0;
  auto program = compile(*compiler, 500);
  if (!program)
    return fail(program.error().message()), 0;
  Function gradient = *program->find("gradient");
  std::vector<float> expected = call(gradient, 500, 1);
  long first = 0;
  for (int part = 0; part < 10 && !failed; ++part) {
    double start = seconds();
    std::vector<std::thread> list;
    for (int t = 0; t < threads; ++t)
      list.emplace_back([&, t] {
        for (int i = 0; i < calls / 10 / threads && !failed; ++i)
          if (call(gradient, 500, static_cast<unsigned>(t % 3 + 1)) != expected)
            fail("a call's result differs from the first one's");
      });
    for (std::thread &thread : list)
      thread.join();
    std::printf("%7d calls: %6ld KiB resident, %llu KiB of workspaces kept, "
                "%.1f us a call\n",
                calls / 10 * (part + 1), resident(),
                static_cast<unsigned long long>(program->memory().kept / 1024),
                (seconds() - start) * 1e7 / calls);
    if (part == 0)
      first = resident();
  }
  return resident() - first;
}

/// Compilations in ten parts, on as many threads; each program is saved,
/// loaded and called. Gives what memory grew by in the last seven, KiB.
long compileMany(int compilations, int threads) {
  long third = 0;
  for (int part = 0; part < 10 && !failed; ++part) {
    double start = seconds();
    std::atomic<int> next{0};
    std::vector<std::thread> list;
    for (int t = 0; t < threads; ++t)
      list.emplace_back([&] {
        CompilerOptions options;
        options.cache = false;
        auto compiler = Compiler::create(options);
        if (!compiler)
          return fail(compiler.error().message());
        for (int i; (i = next++) < compilations / 10 && !failed;) {
          int64_t rows = 64 + part * (compilations / 10) + i;
          auto program = compile(*compiler, rows);
          if (!program)
            return fail(program.error().message());
          auto bytes = program->serialize();
          auto loaded = bytes ? Program::loadBytes(bytes->data(), bytes->size())
                              : Result<Program>(bytes.takeError());
          if (!loaded)
            return fail(loaded.error().message());
          if (call(*loaded->find("gradient"), rows, 2) !=
              call(*program->find("gradient"), rows, 1))
            fail("a loaded program's result differs");
          compiler->forget();
        }
      });
    for (std::thread &thread : list)
      thread.join();
    std::printf("%7d compilations: %6ld KiB resident, %.1f ms each\n",
                compilations / 10 * (part + 1), resident(),
                (seconds() - start) * 1e4 / compilations);
    if (part == 2)
      third = resident();
  }
  return resident() - third;
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (i > 3 || std::atoi(argv[i]) < 1) {
      std::fprintf(stderr, "usage: drawloom-soak [calls [compilations "
                           "[threads]]]: numbers, by default 100000 1000 8\n");
      return 2;
    }
  auto number = [&](int i, int otherwise) {
    return argc > i ? std::max(std::atoi(argv[i]), 10) : otherwise;
  };
  int calls = number(1, 100000), compilations = number(2, 1000);
  int threads = argc > 3 ? std::max(std::atoi(argv[3]), 1) : 8;
  long byCalls = callMany(calls, threads);
  long byCompilations = compileMany(compilations, threads);
  std::printf(
      "growth: %ld KiB by the last nine tenths of the calls, %ld KiB by "
      "the last seven of the compilations\n",
      byCalls, byCompilations);
  // What an allocator's pools for so many threads may vary by; a leak of one
  // word a call, or of a program's code, is more.
  if (byCalls > 2048 || byCompilations > 2048 + compilations * 7 / 10)
    fail("memory grows with use");
  return failed ? 1 : 0;
}
