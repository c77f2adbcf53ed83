//===- MemoryDevice.h - files that are memory ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device for tests. Transfers complete in an order that a seed determines,
// and overlapping transfers in progress, in a file or in memory, are detected.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_MEMORYDEVICE_H
#define DRAWLOOM_RUNTIME_OFFLOAD_MEMORYDEVICE_H

#include "runtime/offload/Device.h"
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

namespace drawloom::runtime::offload {

struct MemoryDeviceOptions {
  /// 0 for the order in which transfers were started.
  uint64_t seed = 0;
  /// Time advances only in reap(): by the duration of a transfer when one
  /// completes, and otherwise by the time waited for.
  bool virtualTime = false;
  uint64_t transferTime = 100'000;
  uint32_t alignment = 512;
};

class MemoryDevice final : public Device {
public:
  explicit MemoryDevice(const MemoryDeviceOptions &options = {});
  const char *name() const override { return "memory"; }
  Result<FileFacts> open(const std::string &folder, uint64_t bytes) override;
  void registerMemory(void *, uint64_t) override {}
  void submit(const Transfer *transfers, size_t count) override;
  void cancel(uint64_t id) override;
  size_t reap(Completion *completions, size_t most, uint64_t until) override;
  void wake() override;
  uint64_t now() const override;
  size_t underWay() const override { return pending.size() + done.size(); }

  /// Returns invalid requests: transfers that overlap, are misaligned or
  /// outside a file; "" if there was none.
  const std::string &mistakes() const { return found; }

private:
  struct File {
    struct Free {
      void operator()(char *memory) const { std::free(memory); }
    };
    std::unique_ptr<char, Free> memory;
    uint64_t bytes;
  };
  void check(const Transfer &transfer);
  Completion perform(const Transfer &transfer);

  const MemoryDeviceOptions options;
  std::mt19937_64 random;
  std::vector<File> files;
  std::vector<Transfer> pending;
  std::vector<Completion> done; ///< Cancelled transfers.
  std::string found;
  uint64_t time = 0;
  std::mutex mutex;
  std::condition_variable woken;
  bool isWoken = false;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_MEMORYDEVICE_H
