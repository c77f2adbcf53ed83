//===- FaultDevice.h - what disks do wrong, on purpose ---------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Wraps another device and injects faults according to the rules that
// drawloom-c/offload.h describes (`faults`).
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_FAULTDEVICE_H
#define DRAWLOOM_RUNTIME_OFFLOAD_FAULTDEVICE_H

#include "runtime/offload/Device.h"
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace drawloom::runtime::offload {

struct FaultRule {
  enum class When : uint8_t { Each, Nth, Every, Chance } when = When::Each;
  enum class Do : uint8_t {
    Errno,
    Short,
    Flip,
    Drop,
    Torn,
    Stale,
    Swap,
    Delay,
    Never,
    Twice,
    Reorder,
    Kill
  } action = Do::Errno;
  bool opens = false, writes = true, reads = true;
  uint64_t number = 0; ///< Parameter of `when`.
  uint64_t value = 0;  ///< Parameter of `action`.
  std::mt19937_64 random;
  uint64_t count = 0; ///< Operations of the rule's kind so far.

  /// Returns whether the rule applies to the next operation of its kind.
  bool applies();
};

Result<std::vector<FaultRule>> parseFaultRules(const std::string &text);

class FaultDevice final : public Device {
public:
  FaultDevice(std::unique_ptr<Device> inner, std::vector<FaultRule> rules)
      : inner(std::move(inner)), rules(std::move(rules)) {}
  const char *name() const override { return inner->name(); }
  std::string limitations() const override { return inner->limitations(); }
  Result<FileFacts> open(const std::string &folder, uint64_t bytes) override;
  void registerMemory(void *memory, uint64_t bytes) override {
    inner->registerMemory(memory, bytes);
  }
  void submit(const Transfer *transfers, size_t count) override;
  void cancel(uint64_t id) override;
  size_t reap(Completion *completions, size_t most, uint64_t until) override;
  void wake() override { inner->wake(); }
  uint64_t now() const override { return inner->now(); }
  size_t underWay() const override;

  Device &device() { return *inner; }
  /// Returns the number of faults injected.
  uint64_t faults() const { return done; }

private:
  /// What is to happen to a transfer that the wrapped device holds.
  struct Fate {
    FaultRule::Do action;
    uint64_t value;
    Transfer transfer;       ///< As it was requested.
    std::vector<char> bytes; ///< Written in place of the transfer's own data.
  };
  struct Held {
    Completion completion;
    uint64_t at; ///< Earliest time of completion.
  };
  void start(const Transfer &transfer);
  void act(FaultRule::Do action, uint64_t value, const Transfer &transfer);
  void pass(const Transfer &transfer) { inner->submit(&transfer, 1); }
  void answer(uint64_t id, int64_t result) {
    held.push_back({{id, result}, 0});
  }
  void remember(const Transfer &transfer);
  void readBefore(const Transfer &transfer);
  void come(Completion completion);
  void releaseSome();

  const std::unique_ptr<Device> inner;
  std::vector<FaultRule> rules;
  std::vector<uint32_t> alignments; ///< One per file.
  std::map<uint64_t, Fate> fates;   ///< By transfer number.
  std::vector<Held> held;
  std::vector<Completion> shuffled; ///< Completions held back by `reorder`.
  std::mt19937_64 order;
  std::vector<Transfer> swapped; ///< Transfers waiting for their counterpart.
  std::vector<Transfer> lost;    ///< Transfers lost by `never`.
  /// The data last written and the data before that, by file and position.
  struct Versions {
    std::vector<char> last, before;
  };
  std::map<std::pair<unsigned, uint64_t>, Versions> versions;
  uint64_t done = 0;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_FAULTDEVICE_H
