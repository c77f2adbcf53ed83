//===- Trace.h - the last events of a store --------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_TRACE_H
#define DRAWLOOM_RUNTIME_OFFLOAD_TRACE_H

#include <cstdint>
#include <string>
#include <vector>

namespace drawloom::runtime::offload {

/// A ring of events. It is guarded by the same lock as the store's state.
class Trace {
public:
  explicit Trace(size_t most) : most(most) {}

  /// An activity from `begin` to `end`. Nonnegative lanes are files; negative
  /// ones are calls.
  struct Event {
    const char *name; ///< A string literal.
    int lane;
    char site[24]; ///< Truncated.
    uint64_t begin, end, bytes;
  };
  static constexpr int puts = -1, gets = -2;
  void add(const char *name, int lane, const std::string &site, uint64_t begin,
           uint64_t end, uint64_t bytes);
  /// Returns the events in the JSON format of the Chrome and Perfetto
  /// timelines.
  std::string json(const std::vector<std::string> &folders) const;
  size_t size() const { return events.size(); }

private:
  size_t most;
  size_t next = 0; ///< The oldest event, once the ring is full.
  std::vector<Event> events;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_TRACE_H
