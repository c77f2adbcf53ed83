//===- Devices.cpp - devices by their names -------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Devices.h"
#include "runtime/offload/MemoryDevice.h"
#include <chrono>

namespace drawloom::runtime::offload {

#ifndef DRAWLOOM_HAS_URING
Result<std::unique_ptr<Device>> makeUringDevice(Ways) {
  return Status::error("io_uring cannot be used: this library was built "
                       "without liburing");
}
#endif

Status checkDevice(const std::string &name) {
  if (name.empty() || name == "io_uring" || name == "threads" ||
      name == "memory")
    return Status();
  return Status::error("'" + name +
                       "' is no way to offload: there are 'io_uring', "
                       "'threads', 'memory' for tests, and '' for the better "
                       "of the first two here");
}

Result<std::unique_ptr<Device>> makeDevice(const std::string &name,
                                           std::string *why, Ways ways) {
  if (why)
    why->clear();
  if (Status known = checkDevice(name); !known.ok())
    return known;
  if (name == "memory")
    return std::unique_ptr<Device>(std::make_unique<MemoryDevice>());
  if (name == "threads")
    return makePoolDevice(ways);
  Result<std::unique_ptr<Device>> ring = makeUringDevice(ways);
  if (ring.ok())
    return ring;
  if (!name.empty())
    return Status::error(ring.message() + "; ask for 'threads'");
  if (why)
    *why = ring.message();
  return makePoolDevice(ways);
}

uint64_t nanoseconds() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

} // namespace drawloom::runtime::offload
