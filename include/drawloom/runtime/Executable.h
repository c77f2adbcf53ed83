//===- Executable.h - compiled programs that were loaded --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EXECUTABLE_H
#define DRAWLOOM_RUNTIME_EXECUTABLE_H

#include "drawloom/runtime/Artifact.h"

namespace drawloom::runtime {

/// Who gives the memory that calls need besides their arguments: a framework's
/// allocator, say.
struct DeviceAllocator {
  void *context = nullptr;
  /// Null where there is no memory. Aligned to 256 bytes, usable on `stream` at
  /// once.
  void *(*allocate)(void *context, size_t bytes, void *stream) = nullptr;
  /// Called when all that uses the memory has been put on `stream`.
  void (*release)(void *context, void *memory, void *stream) = nullptr;
};

/// A CUDA device that a program is loaded onto, and calls with its memory.
/// Streams are CUstreams; null is the legacy default stream. Callable from many
/// threads at once.
class DeviceCalls {
public:
  virtual ~DeviceCalls() = default;
  /// The device's number, as the driver and DLPack count.
  virtual int device() const = 0;
  /// Whether kernels get an argument by value: it is in the host's memory.
  virtual bool takesNumber(size_t entry, size_t argument) const = 0;
  /// As Executable::run, with memory of the device; puts the work on `stream`
  /// and returns. What it needs besides comes from `allocator`, or where that
  /// is null from the program's own.
  virtual Status run(size_t entry, const void *const *arguments,
                     void *const *results, void *stream, const int64_t *extents,
                     const DeviceAllocator *allocator) const = 0;
  /// Aligned to 256 bytes; null where `bytes` is 0. For use on `stream`, until
  /// it is released there.
  virtual Result<void *> allocate(size_t bytes, void *stream) const = 0;
  virtual void release(void *memory, void *stream) const = 0;
  /// Copies in the order of `stream`; done when they return.
  virtual Status upload(void *device, const void *host, size_t bytes,
                        void *stream) const = 0;
  virtual Status download(void *host, const void *device, size_t bytes,
                          void *stream) const = 0;
  /// What is put on `after` from now on waits for what is on `before` now.
  virtual Status order(void *before, void *after) const = 0;
};

/// A program that was loaded. Immutable, callable from many threads at once.
class Executable {
public:
  virtual ~Executable() = default;
  virtual const std::string &isa() const = 0;
  virtual const std::vector<Signature> &signatures() const = 0;
  /// Runs an entry, by its place in signatures(), on up to `threads` threads.
  /// `arguments` and `results` point to as many values as it has, dense and
  /// row-major, which must not overlap. `extents` has the open extents of the
  /// entry, as bind() finds them. Fails for want of memory, or of a device.
  /// Adds to `profile` where there is one.
  virtual Status run(size_t entry, const void *const *arguments,
                     void *const *results, unsigned threads = 1,
                     KernelProfile *profile = nullptr,
                     const int64_t *extents = nullptr) const = 0;
  /// Bytes of loaded code, and of memory kept for the next calls.
  virtual int64_t codeBytes() const = 0;
  virtual int64_t keptBytes() const = 0;
  virtual void trim() const = 0;
  /// Null of a program that runs on the host.
  virtual const DeviceCalls *onDevice() const { return nullptr; }
};

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_EXECUTABLE_H
