//===- EmbedFixture.h - what tests of the C interface share ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TEST_UNIT_EMBEDFIXTURE_H
#define DRAWLOOM_TEST_UNIT_EMBEDFIXTURE_H

#include "drawloom/Drawloom.h"
#include "gtest/gtest.h"
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace drawloom {

namespace fs = std::filesystem;

inline const char *const doubling = R"(
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = arith.addf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
)";

inline const char *const several = R"(
func.func @sum(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.addf %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func @both(%x: tensor<4xf32>, %s: f64) -> (tensor<4xf32>, f64) {
  %y = arith.mulf %x, %x : tensor<4xf32>
  %t = arith.addf %s, %s : f64
  return %y, %t : tensor<4xf32>, f64
}
)";

/// Many blocks of rows, and sums over all of them.
inline const char *const gradient = R"(
func.func private @loss(%x: tensor<5000x8xf32>, %w: tensor<8x8xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<5000x8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<5000x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<5000x8xf32>) -> tensor<5000x8xf32>
  %p = kan.silu %z : tensor<5000x8xf32>
  %l = loss.mse %p, %x : tensor<5000x8xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @gradient(%x: tensor<5000x8xf32>, %w: tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>) {
  %l, %dw = ad.value_and_grad @loss(%x, %w) wrt [1] : (tensor<5000x8xf32>, tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>)
  return %l, %dw : tensor<f32>, tensor<8x8xf32>
}
)";

/// A folder of the test's own.
class Folder {
public:
  Folder() {
    std::string model = fs::temp_directory_path() / "drawloom-embed-XXXXXX";
    path = mkdtemp(model.data());
  }
  ~Folder() {
    fs::permissions(path, fs::perms::owner_all);
    fs::remove_all(path);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> list;
    for (const auto &entry : fs::directory_iterator(path))
      if (entry.path().filename() != "llvmcache.timestamp")
        list.push_back(entry.path());
    return list;
  }
  fs::path path;
};

inline Compiler makeCompiler(const std::string &cacheFolder = "",
                             std::vector<std::string> *notes = nullptr) {
  CompilerOptions options;
  options.cache = !cacheFolder.empty();
  options.cacheFolder = cacheFolder;
  if (notes)
    options.note = [notes](const char *message) { notes->push_back(message); };
  Result<Compiler> compiler = Compiler::create(std::move(options));
  EXPECT_TRUE(bool(compiler));
  return std::move(*compiler);
}

inline Program compileText(const Compiler &compiler, const char *text,
                           const std::vector<Shapes> &shapes = {}) {
  Result<Program> program = compiler.compile({{"test.mlir", text}}, shapes);
  EXPECT_TRUE(bool(program)) << program.error().message();
  return std::move(*program);
}

/// Runs `work(i)` on `count` threads that start it at once.
template <typename Fn> void atOnce(int count, Fn work) {
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      ++arrived;
      while (arrived < count)
        std::this_thread::yield();
      work(i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Calls @gradient of the program and gives the loss and the gradient.
inline std::vector<float> gradientOf(const Program &program, unsigned threads) {
  std::vector<float> x(5000 * 8), w(64), results(65);
  // Not so round that sums in another order would be the same.
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 1 / static_cast<float>(i % 777 + 3);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = 1 / static_cast<float>(i + 1);
  EXPECT_TRUE(bool(
      program.find("gradient")
          ->call({buffer(x.data(), x.size()), buffer(w.data(), w.size())},
                 {buffer(results.data() + 64, 1), buffer(results.data(), 64)},
                 threads)));
  return results;
}

/// Bytes of memory that this process holds.
inline int64_t residentBytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

inline std::string readAll(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

} // namespace drawloom

#endif // DRAWLOOM_TEST_UNIT_EMBEDFIXTURE_H
