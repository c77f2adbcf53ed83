//===- Intercept.h - calls of the emulator in LLVM IR -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_EMULATOR_INTERCEPT_H
#define DRAWLOOM_CODEGEN_EMULATOR_INTERCEPT_H

#include "codegen/emulator/Places.h"
#include "runtime/emulator/Shadow.h"
#include "runtime/emulator/Symbols.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/Error.h"

namespace drawloom::emulator {

/// Prefix of a kernel's name that gives the name of the function that runs one
/// thread of it.
inline constexpr llvm::StringLiteral emulatePrefix = "emulate.";

/// Turns LLVM IR of GPU kernels, as the back end would get it, into functions
/// that a CPU runs for each thread: GPU instructions become calls of the
/// emulator's runtime (runtime/emulator/Symbols.h), a checking call is inserted
/// in front of each memory access, each function gets the emulated thread as
/// its first argument, and the arena becomes the block's memory in the runtime.
/// Each kernel @k gets a function @emulate.k(thread, parameters). If the
/// runtime lacks something, the error names it. Places without a number get
/// one.
llvm::Error intercept(llvm::Module &module, Places &places,
                      llvm::ArrayRef<std::string> kernels);

/// Rewrites the instructions of one function.
class Interceptor {
public:
  Interceptor(llvm::Module &module, Places &places,
              const llvm::DenseMap<const llvm::Instruction *, int32_t> &numbers)
      : module(module), places(places), numbers(numbers),
        b(module.getContext()), i32(b.getInt32Ty()), i64(b.getInt64Ty()),
        ptr(b.getPtrTy()) {}

  llvm::Error run(llvm::Function &function);

private:
  /// Returns the number of the instruction's place.
  int32_t place(llvm::Instruction &instruction);
  llvm::Value *site(llvm::Instruction &instruction) {
    return number(place(instruction));
  }
  llvm::Error notEmulated(llvm::Instruction &instruction,
                          llvm::StringRef what = "is not emulated");

  // Helpers that build the operands and results of calls.
  llvm::Value *number(int64_t value) {
    return b.getInt32(static_cast<uint32_t>(value));
  }
  template <typename Enum> llvm::Value *code(Enum value) {
    return number(static_cast<int64_t>(value));
  }
  /// Calls a function of the runtime; pointers lose their address spaces.
  llvm::Value *call(llvm::StringRef name, llvm::Type *result,
                    llvm::ArrayRef<llvm::Value *> operands);
  llvm::Value *generic(llvm::Value *pointer);
  /// Allocates memory of the thread for that many 32-bit words.
  llvm::Value *buffer(size_t words);
  void storeWords(llvm::ArrayRef<llvm::Value *> values, llvm::Value *buffer);
  /// Loads 32-bit words into a struct, or the single word.
  llvm::Value *loadResult(llvm::Type *type, llvm::Value *buffer);
  /// Unpacks a 32-bit value with a predicate in bit 32: returns the value, or
  /// both as a struct.
  llvm::Value *pairResult(llvm::Type *type, llvm::Value *packed,
                          llvm::Type *valueType);
  llvm::Value *toWord(llvm::Value *value);
  void replace(llvm::Instruction &instruction, llvm::Value *value);

  // Memory accesses.
  llvm::Error interceptInstruction(llvm::Instruction &instruction);
  void access(llvm::Instruction &at, llvm::Value *address, llvm::Type *type,
              AccessKind kind, llvm::Align alignment);
  void accessBytes(llvm::Instruction &at, llvm::Value *address,
                   llvm::Value *bytes, AccessKind kind, uint64_t alignment);
  void fence(llvm::Instruction &at, bool before, llvm::AtomicOrdering ordering);
  llvm::Value *rootOf(const Meaning &meaning);
  void describe(llvm::Instruction &at, llvm::Value *address, llvm::Value *bytes,
                const Meaning *meaning);

  // Calls. The names are those after "llvm.nvvm.".
  llvm::Error interceptCall(llvm::CallInst &call);
  llvm::Error interceptNvvm(llvm::CallInst &call, llvm::StringRef name);
  llvm::Value *specialRegister(llvm::StringRef name);
  bool synchronize(llvm::CallInst &call, llvm::StringRef name);
  bool copyAsync(llvm::CallInst &call, llvm::StringRef name);
  bool exchange(llvm::CallInst &call, llvm::StringRef name);
  bool moveMatrix(llvm::CallInst &call, llvm::StringRef name);
  bool multiply(llvm::CallInst &call, llvm::StringRef name);
  bool convert(llvm::CallInst &call, llvm::StringRef name);
  /// Computes the result of add.rn.ftz.f and similar intrinsics; null for other
  /// names.
  llvm::Value *arithmetic(llvm::CallInst &call, llvm::StringRef name);

  llvm::Module &module;
  Places &places;
  const llvm::DenseMap<const llvm::Instruction *, int32_t> &numbers;
  llvm::IRBuilder<> b;
  llvm::Type *i32, *i64, *ptr;
  /// The function's first argument, and the address at which its block's shared
  /// memory begins.
  llvm::Value *thread = nullptr;
  llvm::Value *arena = nullptr;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_CODEGEN_EMULATOR_INTERCEPT_H
