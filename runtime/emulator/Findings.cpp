//===- Findings.cpp - what is wrong with a kernel -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Findings.h"

namespace drawloom::emulator {

void Findings::add(FindingKind kind, int32_t site, int32_t otherSite,
                   const std::string &text) {
  std::lock_guard<std::mutex> lock(mutex);
  Key key{kind, site, otherSite};
  auto found = entries.find(key);
  if (found != entries.end()) {
    ++found->second.more;
    return;
  }
  if (entries.size() == most) {
    ++dropped;
    return;
  }
  entries[key].text = text;
}

bool Findings::any() const {
  std::lock_guard<std::mutex> lock(mutex);
  return !entries.empty();
}

std::string Findings::text() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::string all;
  for (const auto &[key, entry] : entries) {
    if (!all.empty())
      all += '\n';
    all += entry.text;
    if (entry.more > 0)
      all += " (and " + std::to_string(entry.more) + " more like it)";
  }
  if (dropped > 0)
    all += "\nand " + std::to_string(dropped) + " findings at other places";
  return all;
}

} // namespace drawloom::emulator
