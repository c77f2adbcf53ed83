//===- Devices.h - devices by their names ----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a device that is destroyed while transfers are under way, those that have
// not begun never do, and the others end when they end: nobody waits for them.
// A disk that never answers keeps its threads, its file and the memory of its
// transfers: who destroys a device with transfers under way never uses their
// memory again, and does it in the thread that submitted them.
//
// The thread that submits and reaps has its signals blocked: a write beyond the
// limit of this process's files (ulimit -f) sends one.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_DEVICES_H
#define DRAWLOOM_RUNTIME_OFFLOAD_DEVICES_H

#include "runtime/offload/Folder.h"
#include <memory>

namespace drawloom::runtime::offload {

/// Whether there is a device of a name.
Status checkDevice(const std::string &name);

/// The device of a name: "io_uring", "threads", "memory" for tests, or for ""
/// the first where the kernel lets this process have one, else the second.
/// `why`, if not null, then says what was in the way.
Result<std::unique_ptr<Device>> makeDevice(const std::string &name,
                                           std::string *why, Ways ways = {});

/// Threads that read and write: four for each folder, sixteen in all.
std::unique_ptr<Device> makePoolDevice(Ways ways);

/// One ring of requests, shared with the kernel. Of one that is not tried out
/// yet by a write and a read nothing is known: they are done here.
Result<std::unique_ptr<Device>> makeUringDevice(Ways ways);

/// What `now()` of both is.
uint64_t nanoseconds();

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_DEVICES_H
