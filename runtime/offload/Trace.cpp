//===- Trace.cpp - the last events of a store -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Trace.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace drawloom::runtime::offload {

void Trace::add(const char *name, int lane, const std::string &site,
                uint64_t begin, uint64_t end, uint64_t bytes) {
  Event event = {name, lane, {}, begin, end, bytes};
  // Not in the midst of a character of several bytes.
  size_t length = std::min(site.size(), sizeof(event.site) - 1);
  while (length > 0 && length < site.size() && (site[length] & 0xc0) == 0x80)
    --length;
  std::memcpy(event.site, site.data(), length);
  if (events.size() < most) {
    events.push_back(event);
    return;
  }
  events[next] = event;
  next = (next + 1) % most;
}

/// A string of JSON.
static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    char code[8];
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(code, sizeof(code), "\\u%04x", c);
      result += code;
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// Microseconds, as the format has them, without loss.
static std::string microseconds(uint64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%llu.%03u",
                static_cast<unsigned long long>(nanoseconds / 1000),
                static_cast<unsigned>(nanoseconds % 1000));
  return text;
}

std::string Trace::json(const std::vector<std::string> &folders) const {
  // Lanes are threads of one process; numbers of threads start at 1.
  auto thread = [](int lane) { return std::to_string(lane + 3); };
  std::string text = "{\"traceEvents\":[\n";
  auto name = [&](int lane, const std::string &named) {
    text += "{\"ph\":\"M\",\"pid\":1,\"tid\":" + thread(lane) +
            ",\"name\":\"thread_name\",\"args\":{\"name\":" + quoted(named) +
            "}},\n";
  };
  name(puts, "puts");
  name(gets, "gets");
  for (size_t i = 0; i < folders.size(); ++i)
    name(static_cast<int>(i), folders[i]);
  for (size_t i = 0; i < events.size(); ++i) {
    const Event &event = events[(next + i) % events.size()];
    text += "{\"ph\":\"X\",\"pid\":1,\"tid\":" + thread(event.lane) +
            ",\"name\":" + quoted(event.name) +
            ",\"ts\":" + microseconds(event.begin) +
            ",\"dur\":" + microseconds(event.end - event.begin) +
            ",\"args\":{\"site\":" + quoted(event.site) +
            ",\"bytes\":" + std::to_string(event.bytes) + "}},\n";
  }
  text +=
      "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":"
      "\"drawloom store\"}}]}\n";
  return text;
}

} // namespace drawloom::runtime::offload
