//===- Devices.h - devices by their names ----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If a device is destroyed while transfers are in progress, those that have not
// begun never do, and the others are not waited for. A disk that never answers
// keeps its threads, its file and the memory of its transfers: whoever destroys
// a device with transfers in progress must never reuse their memory, and must
// destroy it on the thread that submitted them.
//
// The thread that submits and reaps must block signals: a write beyond the file
// size limit of the process (ulimit -f) raises one.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_DEVICES_H
#define DRAWLOOM_RUNTIME_OFFLOAD_DEVICES_H

#include "runtime/offload/Folder.h"
#include <memory>

namespace drawloom::runtime::offload {

/// Checks that there is a device of this name.
Status checkDevice(const std::string &name);

/// Makes a device by name: "io_uring", "threads", or "memory" for tests; for
/// "", the first of these if the kernel permits it, else the second. `why`, if
/// not null, then receives the reason.
Result<std::unique_ptr<Device>> makeDevice(const std::string &name,
                                           std::string *why, Ways ways = {});

/// Makes a device with a pool of threads that read and write: four per folder,
/// at most sixteen.
std::unique_ptr<Device> makePoolDevice(Ways ways);

/// Makes a device with one ring of requests, shared with the kernel. Whether
/// a ring works is unknown until a write and a read have tested it, which this
/// function does.
Result<std::unique_ptr<Device>> makeUringDevice(Ways ways);

/// The clock that both devices use for `now()`.
uint64_t nanoseconds();

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_DEVICES_H
