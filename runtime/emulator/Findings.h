//===- Findings.h - what is wrong with a kernel -----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EMULATOR_FINDINGS_H
#define DRAWLOOM_RUNTIME_EMULATOR_FINDINGS_H

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace drawloom::emulator {

enum class FindingKind {
  Race,
  Uninitialized,
  InFlight,
  OutOfBounds,
  Misaligned,
  /// Access to another element than the compiler described.
  WrongElement,
  Divergence,
  Deadlock,
  Misuse,
  Endless,
};

/// Collects findings: the first of each kind and place in full, and the number
/// of the others. Thread-safe.
class Findings {
public:
  static constexpr size_t most = 12;

  void add(FindingKind kind, int32_t site, int32_t otherSite,
           const std::string &text);
  /// Returns the findings in the order of their sites, so that the text does
  /// not depend on thread scheduling in this process; empty if there are none.
  std::string text() const;
  bool any() const;

private:
  using Key = std::tuple<FindingKind, int32_t, int32_t>;
  struct Entry {
    std::string text;
    int64_t more = 0;
  };
  mutable std::mutex mutex;
  std::map<Key, Entry> entries;
  int64_t dropped = 0;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_FINDINGS_H
