//===- Jit.h - intercepted kernels as machine code --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_EMULATOR_JIT_H
#define DRAWLOOM_CODEGEN_EMULATOR_JIT_H

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace drawloom::emulator {

/// Machine code of one module whose kernels call the emulator.
class Jit {
public:
  ~Jit();
  static llvm::Expected<std::unique_ptr<Jit>>
  create(std::unique_ptr<llvm::Module> module,
         std::unique_ptr<llvm::LLVMContext> context);
  llvm::Expected<void *> lookup(llvm::StringRef name) const;

private:
  explicit Jit(std::unique_ptr<llvm::orc::LLJIT> jit);
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_CODEGEN_EMULATOR_JIT_H
