//===- Store.cpp - records that wait on disks -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What callers do. StoreThread.cpp has what the thread does.
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Store.h"
#include "runtime/offload/Checksum.h"
#include "runtime/offload/Devices.h"
#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace drawloom::runtime::offload {

int Store::ownProcess() { return ::getpid(); }

/// A child has no thread of its parent's, and the lock as it was left.
bool Store::isForked(std::string &why) const {
  if (process == ownProcess())
    return false;
  why = "the store was opened before this process was forked: open another in "
        "the process that uses it";
  return true;
}

//===----------------------------------------------------------------------===//
// The lock
//===----------------------------------------------------------------------===//

void Store::Locked::giveUp() {
  if (!lock.owns_lock())
    return;
  bool news = std::exchange(store.core->changed, false) && store.waiters != 0;
  bool wake = store.core->dirty && std::exchange(store.asleep, false);
  lock.unlock();
  if (news)
    store.news.notify_all();
  if (wake)
    store.device->wake();
}

bool Store::Locked::wait(uint64_t end, uint64_t &stall) {
  if (store.core->dirty && store.asleep) {
    giveUp();
    take();
    return true;
  }
  uint64_t begin = nanoseconds();
  if (begin >= end)
    return false;
  ++store.waiters;
  // What this call has changed others are to see, too.
  if (std::exchange(store.core->changed, false))
    store.news.notify_all();
  if (end == UINT64_MAX)
    store.news.wait(lock);
  else
    store.news.wait_for(lock, std::chrono::nanoseconds(end - begin));
  --store.waiters;
  stall += nanoseconds() - begin;
  return true;
}

uint64_t Store::endOf(int64_t time) const {
  constexpr int64_t most = int64_t(1) << 60; // Some 36 years.
  return time < 0 ? UINT64_MAX
                  : nanoseconds() + static_cast<uint64_t>(std::min(time, most));
}

//===----------------------------------------------------------------------===//
// Puts and gets
//===----------------------------------------------------------------------===//

Outcome Store::put(const void *data, uint64_t bytes, const char *site,
                   uint64_t due, bool persistent, int64_t time, RecordId &id,
                   std::string &why) {
  if (isForked(why))
    return Outcome::Misused;
  uint64_t begin = nanoseconds(), until = endOf(time), stall = 0;
  Locked lock(*this);
  Outcome outcome = Outcome::Ready;
  if (id.generation == 0)
    do
      outcome = core->put(bytes, site, due, persistent, id, why);
    while (outcome == Outcome::Wait && lock.wait(until, stall));
  else if (!core->isPutting(id, why))
    return Outcome::Misused;
  while (outcome == Outcome::Ready) {
    Core::Span span;
    do
      outcome = core->fill(id, span, why);
    while (outcome == Outcome::Wait && lock.wait(until, stall));
    if (outcome != Outcome::Ready || !span.memory)
      break;
    lock.giveUp();
    uint32_t sum = copyWithCrc32c(
        span.memory, static_cast<const char *>(data) + span.offset, span.bytes);
    lock.take();
    core->filled(id, sum);
  }
  bool isOver = outcome == Outcome::Ready || outcome == Outcome::Wait;
  if (!isOver && id.generation != 0) {
    core->giveUp(id);
    id = RecordId();
  }
  putStall += stall;
  uint64_t end = nanoseconds();
  // Who only asks is not shown.
  if (outcome != Outcome::Wait || time != 0)
    events.add("put", Trace::puts, site, begin, end, bytes);
  return outcome;
}

Outcome Store::get(RecordId id, void *to, int64_t time, uint64_t &progress,
                   std::string &why) {
  if (isForked(why))
    return Outcome::Misused;
  uint64_t begin = nanoseconds(), until = endOf(time), bytes = 0, stall = 0;
  uint32_t pieces = 0;
  Locked lock(*this);
  Outcome outcome = core->begin(id, bytes, pieces, why);
  if (outcome != Outcome::Ready)
    return outcome;
  while (progress < pieces) {
    View view;
    outcome = core->view(id, static_cast<uint32_t>(progress), false, view, why);
    if (outcome == Outcome::Wait && lock.wait(until, stall))
      continue;
    if (outcome != Outcome::Ready)
      break;
    lock.giveUp();
    uint32_t sum = copyWithCrc32c(static_cast<char *>(to) + view.offset,
                                  view.data, view.bytes);
    lock.take();
    progress += core->seen(view, sum);
  }
  core->end(id, outcome == Outcome::Ready);
  getStall += stall;
  if (outcome != Outcome::Wait || time != 0)
    events.add("get", Trace::gets, core->siteOf(id), begin, nanoseconds(),
               bytes);
  return outcome;
}

Outcome Store::borrow(RecordId id, int64_t time, void *&data,
                      std::string &why) {
  data = nullptr;
  if (isForked(why))
    return Outcome::Misused;
  uint64_t begin = nanoseconds(), until = endOf(time), bytes = 0, stall = 0;
  uint32_t pieces = 0, piece = 0;
  Locked lock(*this);
  Outcome outcome = core->begin(id, bytes, pieces, why);
  if (outcome != Outcome::Ready)
    return outcome;
  // One of no bytes has memory, too.
  while (piece < std::max(pieces, 1u)) {
    View view;
    outcome = core->view(id, piece, true, view, why);
    if (outcome == Outcome::Wait && lock.wait(until, stall))
      continue;
    if (outcome != Outcome::Ready)
      break;
    uint32_t sum = 0;
    if (view.data) {
      lock.giveUp();
      sum = view.into ? copyWithCrc32c(view.into, view.data, view.bytes)
                      : crc32c(view.data, view.bytes);
      lock.take();
    }
    piece += core->seen(view, sum);
  }
  core->end(id, outcome == Outcome::Ready);
  // It may have failed, or been dropped, while its last piece was looked at.
  if (outcome == Outcome::Ready && !(data = core->lend(id)))
    outcome = core->begin(id, bytes, pieces, why);
  getStall += stall;
  events.add("borrow", Trace::gets, core->siteOf(id), begin, nanoseconds(),
             bytes);
  return outcome;
}

Status Store::giveBack(void *data) {
  std::string why;
  if (isForked(why))
    return Status::error(why);
  Locked lock(*this);
  return core->giveBack(data);
}

Outcome Store::drop(RecordId id, std::string &why) {
  if (isForked(why))
    return Outcome::Misused;
  Locked lock(*this);
  return core->drop(id, why);
}

Outcome Store::replace(RecordId old, RecordId by, std::string &why) {
  if (isForked(why))
    return Outcome::Misused;
  Locked lock(*this);
  return core->replace(old, by, why);
}

Outcome Store::expect(const RecordId *ids, size_t count, std::string &why) {
  if (isForked(why))
    return Outcome::Misused;
  Locked lock(*this);
  if (ids)
    return core->expect(ids, count, why);
  core->expectAll();
  return Outcome::Ready;
}

Outcome Store::finish(int64_t time, std::string &why) {
  if (isForked(why))
    return Outcome::Misused;
  uint64_t until = endOf(time), stall = 0;
  Locked lock(*this);
  core->beginFinish();
  Outcome outcome;
  do
    outcome = core->finish(why);
  while (outcome == Outcome::Wait && lock.wait(until, stall));
  core->endFinish();
  return outcome;
}

StoreCounts Store::counts() const {
  StoreCounts counts;
  std::string why;
  if (isForked(why))
    return counts;
  std::lock_guard<std::mutex> lock(mutex);
  static_cast<CoreCounts &>(counts) = core->counts();
  counts.putStall = putStall;
  counts.getStall = getStall;
  return counts;
}

Status Store::trace(std::string &json) const {
  std::string why;
  if (isForked(why))
    return Status::error(why);
  Trace copy(0);
  {
    std::lock_guard<std::mutex> lock(mutex);
    copy = events;
  }
  json = copy.json(lanes);
  return Status();
}

} // namespace drawloom::runtime::offload
