//===- FaultDevice.cpp - what disks do wrong, on purpose ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/FaultDevice.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace drawloom::runtime::offload {

using Do = FaultRule::Do;
static constexpr uint64_t sector = 512;

Result<FileFacts> FaultDevice::open(const std::string &folder, uint64_t bytes) {
  for (FaultRule &rule : rules) {
    if (!rule.opens || !rule.applies())
      continue;
    ++done;
    if (rule.action == Do::Kill)
      ::kill(::getpid(), SIGKILL);
    return Status::error("'" + folder + "' cannot be used: " +
                         std::strerror(static_cast<int>(rule.value)));
  }
  Result<FileFacts> facts = inner->open(folder, bytes);
  if (facts.ok())
    alignments.push_back(facts->alignment);
  return facts;
}

void FaultDevice::submit(const Transfer *transfers, size_t count) {
  for (size_t i = 0; i < count; ++i)
    start(transfers[i]);
}

void FaultDevice::start(const Transfer &transfer) {
  bool isWrite = transfer.kind == Transfer::Kind::Write;
  const FaultRule *found = nullptr;
  for (FaultRule &rule : rules)
    // All of them count, and the first of those that apply acts.
    if ((isWrite ? rule.writes : rule.reads) && rule.applies() && !found)
      found = &rule;
  Transfer sent = transfer;
  if (!found || found->action != Do::Swap)
    for (size_t i = 0; i < swapped.size(); ++i) {
      Transfer &other = swapped[i];
      if (other.kind != transfer.kind || other.count != transfer.count)
        continue;
      std::swap(sent.file, other.file);
      std::swap(sent.offset, other.offset);
      pass(other);
      swapped.erase(swapped.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  if (isWrite)
    remember(transfer);
  if (!found)
    return pass(sent);
  ++done;
  act(found->action, found->value, sent);
}

void FaultDevice::act(Do action, uint64_t value, const Transfer &transfer) {
  bool isWrite = transfer.kind == Transfer::Kind::Write;
  auto count = static_cast<int64_t>(transfer.count);
  Transfer sent = transfer;
  Fate fate = {action, value, transfer, {}};
  switch (action) {
  case Do::Kill:
    ::kill(::getpid(), SIGKILL);
    return;
  case Do::Errno:
    return answer(transfer.id, -static_cast<int64_t>(value));
  case Do::Drop:
    return answer(transfer.id, count);
  case Do::Stale:
    if (!isWrite)
      readBefore(transfer);
    return answer(transfer.id, count);
  case Do::Never:
    lost.push_back(transfer);
    return;
  case Do::Swap:
    swapped.push_back(transfer);
    return;
  case Do::Short:
  case Do::Torn: {
    uint64_t bytes = action == Do::Short ? value : value * sector;
    if (bytes >= transfer.count)
      return pass(transfer);
    sent.count = bytes - bytes % alignments[transfer.file];
    int64_t said = action == Do::Short ? static_cast<int64_t>(bytes) : count;
    if (sent.count == 0)
      return answer(transfer.id, said);
    fate.value = static_cast<uint64_t>(said);
    break;
  }
  case Do::Flip:
    if (isWrite) {
      // In memory that is aligned as its own.
      uint64_t page = 4096;
      fate.bytes.resize(transfer.count + page);
      uintptr_t begin = reinterpret_cast<uintptr_t>(fate.bytes.data());
      char *own = fate.bytes.data() + (page - begin % page) % page;
      std::memcpy(own, transfer.memory, transfer.count);
      own[value / 8 % transfer.count] ^= static_cast<char>(1 << value % 8);
      sent.memory = own;
    }
    break;
  case Do::Delay:
  case Do::Twice:
    break;
  case Do::Reorder:
    order.seed(value + done);
    break;
  }
  fates.emplace(transfer.id, std::move(fate));
  pass(sent);
}

/// Keeps what is written, if a rule may ask for it.
void FaultDevice::remember(const Transfer &transfer) {
  bool asked = std::any_of(rules.begin(), rules.end(), [](const auto &rule) {
    return rule.action == Do::Stale && rule.reads;
  });
  if (!asked)
    return;
  Versions &found = versions[{transfer.file, transfer.offset}];
  found.before = std::move(found.last);
  const char *bytes = static_cast<const char *>(transfer.memory);
  found.last.assign(bytes, bytes + transfer.count);
}

/// Bytes that were at a place before those that are there now; zeros where
/// there were none.
void FaultDevice::readBefore(const Transfer &transfer) {
  char *memory = static_cast<char *>(transfer.memory);
  std::memset(memory, 0, transfer.count);
  auto found = versions.upper_bound({transfer.file, transfer.offset});
  if (found == versions.begin() || (--found)->first.first != transfer.file)
    return;
  const std::vector<char> &bytes = found->second.before;
  uint64_t from = transfer.offset - found->first.second;
  if (from < bytes.size())
    std::memcpy(memory, bytes.data() + from,
                std::min<uint64_t>(transfer.count, bytes.size() - from));
}

void FaultDevice::cancel(uint64_t id) {
  // What never comes back does not where it is asked to, either.
  for (size_t i = 0; i < swapped.size(); ++i)
    if (swapped[i].id == id) {
      swapped.erase(swapped.begin() + static_cast<std::ptrdiff_t>(i));
      return answer(id, -ECANCELED);
    }
  inner->cancel(id);
}

/// A transfer has come back from the device.
void FaultDevice::come(Completion completion) {
  auto found = fates.find(completion.id);
  if (found == fates.end()) {
    held.push_back({completion, 0});
    return;
  }
  Fate fate = std::move(found->second);
  fates.erase(found);
  bool isDone = completion.result > 0;
  switch (fate.action) {
  case Do::Short:
  case Do::Torn:
    if (isDone)
      completion.result = static_cast<int64_t>(fate.value);
    break;
  case Do::Flip:
    if (isDone && fate.transfer.kind == Transfer::Kind::Read)
      static_cast<char *>(
          fate.transfer.memory)[fate.value / 8 % fate.transfer.count] ^=
          static_cast<char>(1 << fate.value % 8);
    break;
  case Do::Delay:
    held.push_back({completion, now() + fate.value * 1000});
    return;
  case Do::Twice:
    // When its number may be that of another one.
    held.push_back({completion, now() + 300'000});
    break;
  case Do::Reorder:
    shuffled.push_back(completion);
    return;
  default:
    break;
  }
  held.push_back({completion, 0});
}

/// What waits for others, where there are enough of them or no more to come.
void FaultDevice::releaseSome() {
  bool isIdle = inner->underWay() == 0;
  if (isIdle && !swapped.empty()) {
    for (const Transfer &transfer : swapped)
      pass(transfer);
    swapped.clear();
    isIdle = false;
  }
  while (!shuffled.empty() && (isIdle || shuffled.size() > 3)) {
    size_t next = order() % shuffled.size();
    held.push_back({shuffled[next], 0});
    shuffled.erase(shuffled.begin() + static_cast<std::ptrdiff_t>(next));
  }
}

size_t FaultDevice::reap(Completion *completions, size_t most, uint64_t until) {
  releaseSome();
  uint64_t next = until;
  for (const Held &one : held)
    next = std::min(next, one.at);
  std::vector<Completion> found(most);
  size_t count = inner->reap(found.data(), most, next);
  for (size_t i = 0; i < count; ++i)
    come(found[i]);
  releaseSome();
  uint64_t time = now();
  size_t given = 0;
  for (size_t i = 0; i < held.size() && given < most;) {
    if (held[i].at > time) {
      ++i;
      continue;
    }
    completions[given++] = held[i].completion;
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return given;
}

size_t FaultDevice::underWay() const {
  return inner->underWay() + held.size() + shuffled.size() + swapped.size() +
         lost.size();
}

} // namespace drawloom::runtime::offload
