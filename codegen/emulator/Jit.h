//===- Jit.h - intercepted kernels as machine code --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_EMULATOR_JIT_H
#define DRAWLOOM_CODEGEN_EMULATOR_JIT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace drawloom::emulator {

/// Machine code of one module behind the pass emulator-intercept-nvvm.
class Jit {
public:
  ~Jit();
  static llvm::Expected<std::unique_ptr<Jit>> create(mlir::ModuleOp module);
  llvm::Expected<void *> lookup(llvm::StringRef name) const;

private:
  explicit Jit(std::unique_ptr<llvm::orc::LLJIT> jit);
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_CODEGEN_EMULATOR_JIT_H
