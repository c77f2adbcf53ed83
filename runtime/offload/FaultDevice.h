//===- FaultDevice.h - what disks do wrong, on purpose ---------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device around another one that does as it is told by the rules that
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
  uint64_t number = 0; ///< Of `when`.
  uint64_t value = 0;  ///< Of `action`.
  std::mt19937_64 random;
  uint64_t count = 0; ///< Operations of its kind so far.

  /// Whether it is for the next operation of its kind.
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
  /// Times that a rule did something.
  uint64_t faults() const { return done; }

private:
  /// What is to be done with a transfer that the device has.
  struct Fate {
    FaultRule::Do action;
    uint64_t value;
    Transfer transfer;       ///< As it was asked for.
    std::vector<char> bytes; ///< What is written in the place of its own.
  };
  struct Held {
    Completion completion;
    uint64_t at; ///< Not before.
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
  std::vector<uint32_t> alignments; ///< Of files.
  std::map<uint64_t, Fate> fates;   ///< By number of the transfer.
  std::vector<Held> held;
  std::vector<Completion> shuffled; ///< Of `reorder`.
  std::mt19937_64 order;
  std::vector<Transfer> swapped; ///< That wait for their other.
  std::vector<Transfer> lost;    ///< Of `never`.
  /// What was written last and before that, by file and place.
  struct Versions {
    std::vector<char> last, before;
  };
  std::map<std::pair<unsigned, uint64_t>, Versions> versions;
  uint64_t done = 0;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_FAULTDEVICE_H
