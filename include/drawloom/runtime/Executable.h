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

/// Provides the memory that calls need besides their arguments, such as a
/// framework's allocator.
struct DeviceAllocator {
  void *context = nullptr;
  /// Returns memory aligned to 256 bytes and immediately usable on `stream`;
  /// null if there is none.
  void *(*allocate)(void *context, size_t bytes, void *stream) = nullptr;
  /// Called when all work that uses the memory has been enqueued on `stream`.
  void (*release)(void *context, void *memory, void *stream) = nullptr;
};

/// The CUDA device that a program is loaded onto, and calls with device memory.
/// Streams are CUstreams; null is the legacy default stream. Callable from many
/// threads at once.
class DeviceCalls {
public:
  virtual ~DeviceCalls() = default;
  /// Returns the device's number, as the driver and DLPack count.
  virtual int device() const = 0;
  /// Returns whether kernels take an argument by value; such an argument is in
  /// host memory.
  virtual bool takesNumber(size_t entry, size_t argument) const = 0;
  /// Like Executable::run, but with device memory; enqueues the work on
  /// `stream` and returns. Additional memory comes from `allocator`, or from
  /// the program's own allocator if it is null.
  virtual Status run(size_t entry, const void *const *arguments,
                     void *const *results, void *stream, const int64_t *extents,
                     const DeviceAllocator *allocator) const = 0;
  /// Allocates memory, aligned to 256 bytes, for use on `stream` until it is
  /// released there; null if `bytes` is 0.
  virtual Result<void *> allocate(size_t bytes, void *stream) const = 0;
  virtual void release(void *memory, void *stream) const = 0;
  /// Copies in stream order; the copy is complete on return.
  virtual Status upload(void *device, const void *host, size_t bytes,
                        void *stream) const = 0;
  virtual Status download(void *host, const void *device, size_t bytes,
                          void *stream) const = 0;
  /// Makes work enqueued on `after` from now on wait for the work now on
  /// `before`.
  virtual Status order(void *before, void *after) const = 0;
};

/// A loaded program. Immutable; callable from many threads at once.
class Executable {
public:
  virtual ~Executable() = default;
  virtual const std::string &isa() const = 0;
  virtual const std::vector<Signature> &signatures() const = 0;
  /// Runs an entry, given by its index in signatures(), on up to `threads`
  /// threads. `arguments` and `results` point to the entry's values, which are
  /// dense, row-major and must not overlap. `extents` are the entry's open
  /// extents, as found by bind(). Fails if memory or a device is lacking. Adds
  /// to `profile` unless it is null.
  virtual Status run(size_t entry, const void *const *arguments,
                     void *const *results, unsigned threads = 1,
                     KernelProfile *profile = nullptr,
                     const int64_t *extents = nullptr) const = 0;
  /// Bytes of loaded code, and bytes of memory kept for later calls.
  virtual int64_t codeBytes() const = 0;
  virtual int64_t keptBytes() const = 0;
  virtual void trim() const = 0;
  /// Null for a program that runs on the host.
  virtual const DeviceCalls *onDevice() const { return nullptr; }
};

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_EXECUTABLE_H
