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

/// A ring of events. Whoever guards the store's state guards it, too.
class Trace {
public:
  explicit Trace(size_t most) : most(most) {}

  /// What took from `begin` to `end`. Lanes 0 and up are files; those of calls
  /// are below 0.
  struct Event {
    const char *name; ///< A literal.
    int lane;
    char site[24]; ///< Shortened.
    uint64_t begin, end, bytes;
  };
  static constexpr int puts = -1, gets = -2;
  void add(const char *name, int lane, const std::string &site, uint64_t begin,
           uint64_t end, uint64_t bytes);
  /// As Chrome's and Perfetto's timelines read it.
  std::string json(const std::vector<std::string> &folders) const;
  size_t size() const { return events.size(); }

private:
  size_t most;
  size_t next = 0; ///< The oldest, once the ring is full.
  std::vector<Event> events;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_TRACE_H
