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

/// What one call of an entry keeps outside the device's memory.
class DeviceRecords {
public:
  virtual ~DeviceRecords() = default;
  /// In the order of the launches. `memory` where the kind has any.
  virtual Status transfer(const LaunchTransfer &transfer, void *memory,
                          int64_t bytes) = 0;
  /// Between launches: what can go on without waiting.
  virtual Status progress() { return {}; }
};

/// Memory and launches of one call of an entry. What is allocated is released
/// with the session.
class DeviceSession {
public:
  struct Argument {
    /// Memory of the device; null for a number.
    void *memory = nullptr;
    /// A number: where it is in the host's memory, and its type.
    const void *number = nullptr;
    ElementType element = ElementType::F32;
  };

  virtual ~DeviceSession() = default;
  /// Aligned to 256 bytes; not null for 0 bytes.
  virtual Result<void *> allocate(int64_t bytes) = 0;
  virtual Status upload(void *to, const void *from, int64_t bytes) = 0;
  virtual Status download(void *to, const void *from, int64_t bytes) = 0;
  /// Stores a number of the host's, whose memory may change when this returns.
  virtual Status store(void *to, const void *number, int64_t bytes) {
    return upload(to, number, bytes);
  }
  virtual Status copy(void *to, const void *from, int64_t bytes) = 0;
  /// The scratch pointers of the kernel are the session's business.
  virtual Status launch(const LaunchKernel &kernel,
                        const std::vector<Argument> &arguments) = 0;
  /// A product by a library; fails where the device has none.
  virtual Status multiply(const Product &product,
                          const ProductOperands &operands);
  /// For an entry that keeps values outside memory; fails where they can be
  /// nowhere.
  virtual Result<std::unique_ptr<DeviceRecords>>
  records(const Signature &signature);
};

/// Code that was loaded onto a device, and the plan to run it by.
class PlanProgram : public Executable {
public:
  /// `entries` are those of the file: plans do not say what values are called.
  PlanProgram(LaunchPlan plan, const std::vector<Artifact::Entry> &entries);
  const std::vector<Signature> &signatures() const override { return all; }
  /// Arguments and results are in the host's memory.
  Status run(size_t entry, const void *const *arguments, void *const *results,
             unsigned threads, KernelProfile *profile,
             const int64_t *extents) const override;
  int64_t codeBytes() const override { return 0; }
  int64_t keptBytes() const override { return 0; }
  void trim() const override {}

protected:
  /// `threads`: of the host, where these do the work.
  virtual Result<std::unique_ptr<DeviceSession>>
  open(unsigned threads) const = 0;

  /// Runs the steps of an entry on memory of the device, but for arguments that
  /// are numbers. `extents` has the open ones, as bind() finds them; what they
  /// come to is checked before anything runs.
  Status follow(DeviceSession &session, size_t entry,
                const void *const *arguments, void *const *results,
                KernelProfile *profile, const int64_t *extents) const;
  /// Whether an argument is handed to kernels by value.
  bool isNumber(size_t entry, size_t argument) const;

  const LaunchPlan plan;

private:
  /// The steps, once.
  Status followOnce(DeviceSession &session, const LaunchEntry &entry,
                    const std::vector<int64_t> &amounts, char *workspace,
                    const void *const *arguments, void *const *results,
                    KernelProfile *profile, const int64_t *extents) const;
  /// Blocks of a launch, or bytes of a copy.
  Result<int64_t> amountOf(const LaunchEntry &entry, const LaunchStep &step,
                           const int64_t *extents) const;

  std::vector<Signature> all;
  std::vector<std::vector<bool>> numbers;
};

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_PLANPROGRAM_H
