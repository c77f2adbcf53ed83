//===- Places.h - what stands where in the source ---------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_EMULATOR_PLACES_H
#define DRAWLOOM_CODEGEN_EMULATOR_PLACES_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/emulator/Element.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include <optional>
#include <string>
#include <vector>

namespace drawloom::emulator {

/// The arena of shared memory that all kernels have.
inline constexpr llvm::StringLiteral arenaName = "global_smem";

/// What an access is meant to be, where the compiler says so (`elementAttr` of
/// codegen/nvptx/Passes.h).
struct Meaning {
  /// In the table of elements.
  int32_t element = 0;
  /// What the element's offsets are from: an argument of the function, by
  /// number, or else a global of this name.
  std::optional<unsigned> argument;
  std::string global;
};

/// The ops of a module of `llvm` and `nvvm`, by numbers that go with them
/// through translation and the passes behind it. Number 0 is for what has no
/// place.
class Places {
public:
  /// Numbers ops and writes the numbers into their locations. Fails with a
  /// diagnostic where an access does not say all of its element.
  llvm::LogicalResult number(mlir::ModuleOp module);
  /// Moves the numbers from locations to where passes keep them: locations get
  /// lost when an instruction is taken out of a loop.
  static void keep(llvm::Module &module);
  /// The number of an instruction behind the passes.
  int32_t numberOf(const llvm::Instruction &instruction) const;

  /// What the instruction reads or writes; of a copy, what it reads.
  const Meaning *meaningOf(int32_t number) const;
  /// What a copy writes.
  const Meaning *copiedTo(int32_t number) const;

  /// By number: the op, and where it is.
  std::vector<std::string> texts{"nowhere"};
  std::vector<Element> elements;

private:
  llvm::LogicalResult describe(mlir::Operation *op, llvm::StringRef attribute,
                               mlir::Value address,
                               std::optional<Meaning> &meaning);

  struct Meanings {
    std::optional<Meaning> accessed, copiedTo;
  };
  std::vector<Meanings> meanings{1};
  /// By what the compiler says, and whether the access may be elsewhere.
  llvm::DenseMap<std::pair<mlir::Attribute, unsigned>, int32_t> elementNumbers;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_CODEGEN_EMULATOR_PLACES_H
