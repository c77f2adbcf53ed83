//===- MachineCode.h - from the llvm dialect to addresses -------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_MACHINECODE_H
#define DRAWLOOM_LIB_COMPILER_MACHINECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class Module;
class TargetMachine;
namespace orc {
class LLJIT;
}
} // namespace llvm

namespace drawloom::cpu {

/// Translates a module of the llvm dialect for an instruction set (see
/// Target.h), every function marked with it, and optimizes it.
llvm::Expected<std::unique_ptr<llvm::Module>>
translate(mlir::ModuleOp module, llvm::StringRef isa,
          llvm::LLVMContext &context, llvm::TargetMachine &machine);

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(llvm::StringRef isa);

enum class FileKind { Assembly, Object };
/// What the module becomes on disk.
llvm::Expected<std::string> emitFile(mlir::ModuleOp module, llvm::StringRef isa,
                                     FileKind kind);

/// Machine code loaded into this process.
class MachineCode {
public:
  ~MachineCode();
  /// Refuses a module that refers to any symbol other than the C library's
  /// memory and mathematical functions, and names it.
  static llvm::Expected<std::unique_ptr<MachineCode>>
  create(mlir::ModuleOp module, llvm::StringRef isa);
  llvm::Expected<void *> lookup(llvm::StringRef name) const;

private:
  explicit MachineCode(std::unique_ptr<llvm::orc::LLJIT> jit);
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace drawloom::cpu

#endif // DRAWLOOM_LIB_COMPILER_MACHINECODE_H
