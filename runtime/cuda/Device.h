//===- Device.h - what the launches on a device share -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CUDA_DEVICE_H
#define DRAWLOOM_RUNTIME_CUDA_DEVICE_H

#include "Api.h"
#include <atomic>
#include <mutex>

namespace drawloom::runtime::cuda {

struct Device::State {
  /// DRAWLOOM_CUDA_BLOCKING: each launch waits, so that an error names the
  /// kernel that caused it.
  bool blocking = false;

  void remember(const std::string &kernel, const Grid &grid) {
    std::lock_guard<std::mutex> lock(mutex);
    // The string's memory is reused, so that a launch allocates nothing.
    lastKernel.assign(kernel);
    lastGrid = grid;
  }

  std::string lastLaunch() {
    std::lock_guard<std::mutex> lock(mutex);
    if (lastKernel.empty())
      return "No kernel of Drawloom was launched before";
    return "The last kernel of Drawloom that was launched is '" + lastKernel +
           "', grid " + std::to_string(lastGrid.x) + "x" +
           std::to_string(lastGrid.y) + "x" + std::to_string(lastGrid.z) +
           "; with DRAWLOOM_CUDA_BLOCKING=1 the error names the kernel that "
           "failed";
  }

  /// Returns whether the driver knew a pointer when it was last asked. A
  /// pointer freed since then passes as well; the launch itself then fails, as
  /// it would have anyway.
  bool isKnown(uint64_t pointer) const {
    return known[slot(pointer)].load(std::memory_order_relaxed) == pointer;
  }
  void learn(uint64_t pointer) {
    known[slot(pointer)].store(pointer, std::memory_order_relaxed);
  }

private:
  static constexpr size_t slots = 256;
  static size_t slot(uint64_t pointer) {
    return (pointer >> 8) * 0x9E3779B97F4A7C15ull >> 56;
  }

  std::mutex mutex;
  std::string lastKernel;
  Grid lastGrid;
  std::atomic<uint64_t> known[slots] = {};
};

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_CUDA_DEVICE_H
