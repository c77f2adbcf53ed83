//===- Library.h - the state behind an emulated libcublasLt -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuBLASLt's functions as its documentation describes them, for products of
// f32, f16 and bf16: every argument is checked, more strictly than the library
// itself does, and the CPU computes, in the order of the stream. What is wrong
// with a call is written where DRAWLOOM_EMULATOR_LOG says, or to standard
// error.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TEST_EMULATED_CUBLASLT_LIBRARY_H
#define DRAWLOOM_TEST_EMULATED_CUBLASLT_LIBRARY_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace drawloom::cublaslt {

/// cublasStatus_t.
enum Status : int {
  Success = 0,
  NotInitialized = 1,
  InvalidValue = 7,
  ExecutionFailed = 13,
  NotSupported = 15,
};

enum Type : int { F32 = 0, F16 = 2, BF16 = 14 };
size_t bytesOf(int type);

struct Layout {
  int type = 0;
  int32_t order = 0;
  uint64_t rows = 0, columns = 0;
  int64_t leadingDimension = 0;
  int32_t batch = 1;
  int64_t batchStride = 0;

  /// From the first byte of the first matrix to behind the last one's.
  int64_t bytes() const;
};

struct Descriptor {
  int computeType = 0, scaleType = 0;
  int32_t pointerMode = 0, transposeA = 0, transposeB = 0, transposeC = 0;
  uint32_t epilogue = 1;
  const void *bias = nullptr;
  int64_t biasStride = 0;
  int32_t biasType = -1;
};

struct Preference {
  uint64_t workspaceBytes = 0;
  uint32_t reductionSchemes = 7;
  uint32_t alignmentA = 256, alignmentB = 256, alignmentC = 256,
           alignmentD = 256;
};

struct Algorithm {
  uint64_t data[8];
};

/// What the first words of an algorithm hold here.
enum AlgorithmWord { Magic, Problem, Parts, WorkspaceBytes, Alignments };
constexpr uint64_t magic = 0x4c54616c676f7269;

struct HeuristicResult {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

/// The objects that live.
struct Library {
  static Library &get();
  std::mutex mutex;
  std::set<void *> handles;
  std::set<Layout *> layouts;
  std::set<Descriptor *> descriptors;
  std::set<Preference *> preferences;
};

/// Writes why a call is refused; gives the status.
int refuse(Status status, const std::string &function, const std::string &why);

/// Why these do not fit to each other; empty where they do.
std::string mismatch(const Descriptor &descriptor, const Layout &a,
                     const Layout &b, const Layout &c, const Layout &d);
/// Tells products apart: an algorithm is good for one alone.
uint64_t hashOf(const Descriptor &descriptor, const Layout &a, const Layout &b,
                const Layout &c, const Layout &d);

} // namespace drawloom::cublaslt

#define DRAWLOOM_CUBLASLT_API                                                  \
  extern "C" __attribute__((visibility("default"))) int

#endif // DRAWLOOM_TEST_EMULATED_CUBLASLT_LIBRARY_H
