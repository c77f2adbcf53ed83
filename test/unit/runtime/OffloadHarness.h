//===- OffloadHarness.h - the core of offload in one thread ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a store's threads do, step by step and in virtual time.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TEST_OFFLOADHARNESS_H
#define DRAWLOOM_TEST_OFFLOADHARNESS_H

#include "runtime/offload/Checksum.h"
#include "runtime/offload/Core.h"
#include "runtime/offload/FaultDevice.h"
#include "runtime/offload/MemoryDevice.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

namespace drawloom::runtime::offload {

/// Of what is tried many times, one in so many is under a sanitizer.
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define DRAWLOOM_IS_SLOW
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define DRAWLOOM_IS_SLOW
#endif
#ifdef DRAWLOOM_IS_SLOW
constexpr unsigned slowness = 7;
#else
constexpr unsigned slowness = 1;
#endif

using Bytes = std::vector<char>;

/// Bytes that differ from those of other seeds.
inline Bytes contents(uint64_t seed, uint64_t count) {
  Bytes bytes(count);
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (char &byte : bytes) {
    state = state * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<char>(state >> 56);
  }
  return bytes;
}

/// Small, so that all limits are met.
struct HarnessOptions {
  CoreOptions core;
  MemoryDeviceOptions device;
  std::string faults;
  unsigned files = 1;
  uint64_t extents = 64; ///< Of each file.
  HarnessOptions() {
    core.unit = 1024;
    core.page = 512;
    core.slots = 4;
    core.readSlots = 1;
    core.loadMemory = 4096;
    core.depth = 2;
    core.timeout = 1'000'000'000;
    device.virtualTime = true;
  }
};

class Harness {
public:
  explicit Harness(const HarnessOptions &options) : options(options) {
    auto inner = std::make_unique<MemoryDevice>(options.device);
    memory = inner.get();
    Result<std::vector<FaultRule>> rules = parseFaultRules(options.faults);
    EXPECT_TRUE(rules.ok()) << rules.message();
    device = std::make_unique<FaultDevice>(std::move(inner), std::move(*rules));
    std::vector<FileFacts> facts;
    for (unsigned i = 0; i < options.files; ++i)
      facts.push_back(*device->open("disk" + std::to_string(i),
                                    options.extents * options.core.unit));
    staging.reset(static_cast<char *>(std::aligned_alloc(
        options.core.page, options.core.slots * options.core.unit)));
    core = std::make_unique<Core>(
        options.core, facts,
        std::vector<uint64_t>(options.files,
                              options.extents * options.core.unit),
        staging.get(), nullptr);
  }
  ~Harness() {
    // A transfer to the place of another one may meet the next one there.
    if (options.faults.find("swap") == std::string::npos)
      EXPECT_EQ(memory->mistakes(), "");
    core->shut();
    EXPECT_EQ(core->counts().records, 0u);
    while (step())
      ;
    for (void *buffer : mapped)
      std::free(buffer);
  }

  /// What the thread does in one turn. False: nothing, and nothing to come.
  bool step() {
    Core::Work work;
    core->dirty = core->changed = false;
    core->advance(device->now(), work);
    bool acted = !work.unmap.empty() || !work.map.empty() ||
                 !work.submit.empty() || !work.cancel.empty() ||
                 !work.checks.empty();
    for (auto [buffer, bytes] : work.unmap) {
      EXPECT_EQ(mapped.erase(buffer), 1u);
      expectUntouched(buffer, bytes, true);
      std::free(buffer);
    }
    for (auto [number, bytes] : work.map) {
      void *buffer =
          lacksMemory ? nullptr : std::aligned_alloc(options.core.page, bytes);
      if (buffer)
        mapped.insert(buffer);
      core->mapped(number, buffer);
    }
    for (uint64_t id : work.cancel)
      device->cancel(id);
    for (const Transfer &transfer : work.submit) {
      bool isRead = transfer.kind == Transfer::Kind::Read;
      expectUntouched(transfer.memory, transfer.count, isRead);
      EXPECT_TRUE(underWay.emplace(transfer.id, transfer).second);
      log.push_back(transfer);
    }
    device->submit(work.submit.data(), work.submit.size());
    for (const Check &check : work.checks) {
      bool right = true;
      for (const Check::Part &part : check.parts) {
        expectUntouched(check.data + part.offset, part.bytes, false);
        right &= crc32c(check.data + part.offset, part.bytes) == part.sum;
      }
      core->checked(check, right);
    }
    Completion completions[4];
    size_t count = device->reap(completions, 4, work.next);
    for (size_t i = 0; i < count; ++i) {
      underWay.erase(completions[i].id);
      core->complete(completions[i], device->now());
    }
    return acted || count != 0 || core->dirty || core->changed ||
           work.next != UINT64_MAX;
  }
  /// Nothing under way writes to the memory or, where it is to be written to,
  /// reads it; and nobody looks at what is.
  void expectUntouched(const void *memory, uint64_t bytes, bool written) {
    auto meets = [&](const void *other, uint64_t count) {
      const char *first = static_cast<const char *>(memory);
      const char *second = static_cast<const char *>(other);
      return first < second + count && second < first + bytes;
    };
    for (auto &[id, transfer] : underWay)
      if (written || transfer.kind == Transfer::Kind::Read)
        EXPECT_FALSE(meets(transfer.memory, transfer.count));
    for (const View *view : views) {
      EXPECT_FALSE(written && view->data && meets(view->data, view->bytes));
      EXPECT_FALSE(view->into && meets(view->into, view->bytes));
    }
  }
  /// From now on somebody looks at it, who ends it by seen().
  void look(const View &view) {
    if (view.data)
      expectUntouched(view.data, view.bytes, false);
    if (view.into)
      expectUntouched(view.into, view.bytes, true);
    views.insert(&view);
  }
  bool seen(const View &view, uint32_t sum) {
    views.erase(&view);
    return core->seen(view, sum);
  }

  void settle() {
    while (step())
      ;
  }

  /// Tries until it is not told to wait.
  template <typename Try> Outcome until(Try attempt) {
    bool idle = false;
    for (int turn = 0; turn < 100000; ++turn) {
      Outcome outcome = attempt();
      if (outcome != Outcome::Wait)
        return outcome;
      if (idle) {
        why = "stuck";
        ADD_FAILURE() << "nothing is under way that it could wait for";
        return Outcome::Failed;
      }
      idle = !step();
    }
    ADD_FAILURE() << "no end";
    return Outcome::Failed;
  }

  Outcome put(const Bytes &bytes, const std::string &site, uint64_t due,
              RecordId &id, bool persistent = false) {
    Outcome outcome = until([&] {
      return core->put(bytes.size(), site, due, persistent, id, why);
    });
    if (outcome != Outcome::Ready)
      return outcome;
    for (;;) {
      Core::Span span;
      outcome = until([&] { return core->fill(id, span, why); });
      if (outcome != Outcome::Ready) {
        core->giveUp(id);
        return outcome;
      }
      if (!span.memory)
        return outcome;
      expectUntouched(span.memory, span.bytes, true);
      core->filled(id, copyWithCrc32c(span.memory, bytes.data() + span.offset,
                                      span.bytes));
    }
  }
  RecordId put(const Bytes &bytes, const std::string &site = "layer",
               uint64_t due = 0, bool persistent = false) {
    RecordId id;
    EXPECT_EQ(put(bytes, site, due, id, persistent), Outcome::Ready) << why;
    return id;
  }

  Outcome get(RecordId id, Bytes &bytes) {
    uint64_t count = 0;
    uint32_t pieces = 0;
    Outcome outcome = core->begin(id, count, pieces, why);
    if (outcome != Outcome::Ready)
      return outcome;
    bytes.assign(count, 0);
    for (uint32_t piece = 0; piece < pieces;) {
      View view;
      outcome = until([&] { return core->view(id, piece, false, view, why); });
      if (outcome != Outcome::Ready)
        break;
      look(view);
      piece += seen(view, copyWithCrc32c(bytes.data() + view.offset, view.data,
                                         view.bytes));
    }
    core->end(id, outcome == Outcome::Ready);
    return outcome;
  }
  Bytes get(RecordId id) {
    Bytes bytes;
    EXPECT_EQ(get(id, bytes), Outcome::Ready) << why;
    return bytes;
  }

  Outcome borrow(RecordId id, char *&data) {
    uint64_t count = 0;
    uint32_t pieces = 0;
    Outcome outcome = core->begin(id, count, pieces, why);
    if (outcome != Outcome::Ready)
      return outcome;
    for (uint32_t piece = 0; piece < std::max(pieces, 1u);) {
      View view;
      outcome = until([&] { return core->view(id, piece, true, view, why); });
      if (outcome != Outcome::Ready)
        break;
      look(view);
      uint32_t sum = !view.data ? 0
                     : view.into
                         ? copyWithCrc32c(view.into, view.data, view.bytes)
                         : crc32c(view.data, view.bytes);
      piece += seen(view, sum);
    }
    core->end(id, outcome == Outcome::Ready);
    if (outcome == Outcome::Ready)
      data = static_cast<char *>(core->lend(id));
    return outcome;
  }

  void drop(RecordId id) {
    EXPECT_EQ(core->drop(id, why), Outcome::Ready) << why;
  }
  Outcome finish() {
    core->beginFinish();
    Outcome outcome = until([&] { return core->finish(why); });
    core->endFinish();
    return outcome;
  }

  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  const HarnessOptions options;
  std::unique_ptr<FaultDevice> device;
  MemoryDevice *memory;
  std::unique_ptr<char, Free> staging;
  std::unique_ptr<Core> core;
  std::set<void *> mapped;
  std::map<uint64_t, Transfer> underWay;
  std::vector<Transfer> log; ///< All that were started.
  std::set<const View *> views;
  bool lacksMemory = false;
  std::string why;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_TEST_OFFLOADHARNESS_H
