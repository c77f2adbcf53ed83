//===- Kernels.h - kernels written for tests --------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TEST_UNIT_EMULATOR_KERNELS_H
#define DRAWLOOM_TEST_UNIT_EMULATOR_KERNELS_H

#include "codegen/emulator/Emulator.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <string>
#include <vector>

namespace drawloom::test {

/// A module with one kernel @k of `threads` threads: `arguments` (behind each
/// of them a comma) come before the two scratch pointers, `body` before the
/// return. The arena is there; %tid is the thread's number, %smem the arena's
/// address, %c0, %c1, %c2, %c4, %c32, %all (i32, the last one -1) are
/// constants.
std::string kernel(const std::string &arguments, const std::string &body,
                   int threads = 32);

/// The body of a kernel that computes an i32 %r from an i32 %v, for @k with the
/// arguments %in and %out: out[tid] = r(in[tid]).
std::string perThread(const std::string &body);

/// What that kernel makes of `in`, one number for each thread. Expects no
/// findings.
std::vector<uint32_t> runPerThread(const std::string &body,
                                   std::vector<uint32_t> in,
                                   int64_t sharedBytes = 0, uint64_t seed = 0);

/// A module of the emulator, or the error.
class Kernels {
public:
  explicit Kernels(const std::string &text);

  /// Launches @k; the two scratch pointers are added. Returns the findings,
  /// empty where there are none.
  std::string run(llvm::ArrayRef<const void *> parameters,
                  int64_t sharedBytes = 0,
                  const emulator::LaunchOptions &options = {},
                  emulator::Grid grid = {});

  mlir::MLIRContext context;
  std::unique_ptr<emulator::Module> module;
  std::string error;
  emulator::Report report;
};

/// Whether the text holds all the parts, or at least one of them.
testing::AssertionResult says(const std::string &text,
                              std::initializer_list<const char *> parts);
testing::AssertionResult saysOne(const std::string &text,
                                 std::initializer_list<const char *> parts);

} // namespace drawloom::test

#endif // DRAWLOOM_TEST_UNIT_EMULATOR_KERNELS_H
