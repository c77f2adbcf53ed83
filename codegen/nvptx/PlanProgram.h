//===- PlanProgram.h - follows a launch plan on some device -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_PLANPROGRAM_H
#define DRAWLOOM_CODEGEN_NVPTX_PLANPROGRAM_H

#include "codegen/nvptx/LaunchPlan.h"
#include <memory>

namespace drawloom::nvptx {

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

  virtual ~DeviceSession();
  /// Aligned to 256 bytes; not null for 0 bytes.
  virtual llvm::Expected<void *> allocate(int64_t bytes) = 0;
  virtual llvm::Error upload(void *to, const void *from, int64_t bytes) = 0;
  virtual llvm::Error download(void *to, const void *from, int64_t bytes) = 0;
  virtual llvm::Error copy(void *to, const void *from, int64_t bytes) = 0;
  /// The scratch pointers of the kernel are the session's business.
  virtual llvm::Error launch(const LaunchKernel &kernel,
                             llvm::ArrayRef<Argument> arguments) = 0;
  /// A product by a library; fails where the device has none.
  virtual llvm::Error multiply(const Product &product,
                               const runtime::cuda::ProductOperands &operands);
};

/// Code that was loaded onto a device, and the plan to run it by. Arguments and
/// results of a call are in the host's memory.
class PlanProgram : public Program {
public:
  explicit PlanProgram(LaunchPlan plan);
  llvm::ArrayRef<Signature> signatures() const override { return all; }
  llvm::Error run(llvm::StringRef entry, llvm::ArrayRef<const void *> arguments,
                  llvm::ArrayRef<void *> results, unsigned threads,
                  KernelProfile *profile) const override;

protected:
  /// `threads`: of the host, where these do the work.
  virtual llvm::Expected<std::unique_ptr<DeviceSession>>
  open(unsigned threads) const = 0;

private:
  LaunchPlan plan;
  std::vector<Signature> all;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_PLANPROGRAM_H
