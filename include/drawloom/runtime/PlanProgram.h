//===- PlanProgram.h - follows a launch plan on some device -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_PLANPROGRAM_H
#define DRAWLOOM_RUNTIME_PLANPROGRAM_H

#include "drawloom/runtime/Executable.h"
#include "drawloom/runtime/LaunchPlan.h"
#include <memory>

namespace drawloom::runtime::cuda {

/// Values that one call of an entry keeps outside device memory.
class DeviceRecords {
public:
  virtual ~DeviceRecords() = default;
  /// Executes a transfer, in the order of the launches. `memory` is null for
  /// kinds of transfers without memory.
  virtual Status transfer(const LaunchTransfer &transfer, void *memory,
                          int64_t bytes) = 0;
  /// Called between launches: advances whatever can proceed without waiting.
  virtual Status progress() { return {}; }
};

/// Memory and launches of one call of an entry. Memory that it allocates is
/// released with the session.
class DeviceSession {
public:
  struct Argument {
    /// Device memory; null for a number.
    void *memory = nullptr;
    /// For a number: its host memory and its type.
    const void *number = nullptr;
    ElementType element = ElementType::F32;
  };

  virtual ~DeviceSession() = default;
  /// Allocates memory, aligned to 256 bytes; not null even for 0 bytes.
  virtual Result<void *> allocate(int64_t bytes) = 0;
  virtual Status upload(void *to, const void *from, int64_t bytes) = 0;
  virtual Status download(void *to, const void *from, int64_t bytes) = 0;
  /// Stores a host number, whose memory may change after the return.
  virtual Status store(void *to, const void *number, int64_t bytes) {
    return upload(to, number, bytes);
  }
  virtual Status copy(void *to, const void *from, int64_t bytes) = 0;
  /// Launches a kernel. The session provides the kernel's scratch pointers.
  virtual Status launch(const LaunchKernel &kernel,
                        const std::vector<Argument> &arguments) = 0;
  /// Computes a library product; fails if the device has no library.
  virtual Status multiply(const Product &product,
                          const ProductOperands &operands);
  /// Makes the records of an entry that keeps values outside memory; fails if
  /// there is nowhere to keep them.
  virtual Result<std::unique_ptr<DeviceRecords>>
  records(const Signature &signature);
};

/// Code loaded onto a device, and the plan for running it.
class PlanProgram : public Executable {
public:
  /// `entries` are those of the file; they provide the names of values, which
  /// plans lack.
  PlanProgram(LaunchPlan plan, const std::vector<Artifact::Entry> &entries);
  const std::vector<Signature> &signatures() const override { return all; }
  /// Runs an entry on arguments and results in host memory.
  Status run(size_t entry, const void *const *arguments, void *const *results,
             unsigned threads, KernelProfile *profile,
             const int64_t *extents) const override;
  int64_t codeBytes() const override { return 0; }
  int64_t keptBytes() const override { return 0; }
  void trim() const override {}

protected:
  /// Opens a session. `threads` are host threads, on devices where these do the
  /// work.
  virtual Result<std::unique_ptr<DeviceSession>>
  open(unsigned threads) const = 0;

  /// Runs the steps of an entry on device memory; only arguments that are
  /// numbers are in host memory. `extents` are the open extents, as found by
  /// bind(); the amounts computed from them are checked before anything runs.
  Status follow(DeviceSession &session, size_t entry,
                const void *const *arguments, void *const *results,
                KernelProfile *profile, const int64_t *extents) const;
  /// Returns whether an argument is passed to kernels by value.
  bool isNumber(size_t entry, size_t argument) const;

  const LaunchPlan plan;

private:
  /// Runs all steps once.
  Status followOnce(DeviceSession &session, const LaunchEntry &entry,
                    const std::vector<int64_t> &amounts, char *workspace,
                    const void *const *arguments, void *const *results,
                    KernelProfile *profile, const int64_t *extents) const;
  /// Returns the number of blocks of a launch, or the bytes of a copy.
  Result<int64_t> amountOf(const LaunchEntry &entry, const LaunchStep &step,
                           const int64_t *extents) const;

  std::vector<Signature> all;
  std::vector<std::vector<bool>> numbers;
};

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_PLANPROGRAM_H
