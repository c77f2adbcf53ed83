//===- MachineCode.h - object files loaded into this process -- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_MACHINECODE_H
#define DRAWLOOM_CODEGEN_CPU_MACHINECODE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace drawloom::cpu {

/// Machine code loaded into this process.
class MachineCode {
public:
  ~MachineCode();
  /// Links an object file. Refuses one that refers to any symbol other than the
  /// C library's memory and mathematical functions, and names it.
  static llvm::Expected<std::unique_ptr<MachineCode>>
  create(llvm::StringRef code);
  llvm::Expected<void *> lookup(llvm::StringRef name) const;

private:
  explicit MachineCode(std::unique_ptr<llvm::orc::LLJIT> jit);
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_MACHINECODE_H
