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

/// Name of the arena of shared memory, common to all kernels.
inline constexpr llvm::StringLiteral arenaName = "global_smem";

/// The element that an access is supposed to touch, if the compiler states it
/// (`elementAttr` of codegen/nvptx/Passes.h).
struct Meaning {
  /// Index into the table of elements.
  int32_t element = 0;
  /// The base of the element's offsets: an argument of the function, by number,
  /// or else the global of this name.
  std::optional<unsigned> argument;
  std::string global;
};

/// Numbers the ops of a module of `llvm` and `nvvm`; the numbers survive
/// translation and the subsequent passes. Number 0 means that the place is
/// unknown.
class Places {
public:
  /// Numbers ops and stores the numbers in their locations. Fails with a
  /// diagnostic if an access describes its element incompletely.
  llvm::LogicalResult number(mlir::ModuleOp module);
  /// Moves the numbers from locations to a form that passes preserve: locations
  /// get lost when an instruction is hoisted out of a loop.
  static void keep(llvm::Module &module);
  /// Returns the number of an instruction after the passes.
  int32_t numberOf(const llvm::Instruction &instruction) const;

  /// Returns what the instruction reads or writes; for a copy, what it reads.
  const Meaning *meaningOf(int32_t number) const;
  /// Returns what a copy writes.
  const Meaning *copiedTo(int32_t number) const;

  /// The op and its location, by number.
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
  /// Indexed by the compiler's description, and whether the access may be
  /// elsewhere.
  llvm::DenseMap<std::pair<mlir::Attribute, unsigned>, int32_t> elementNumbers;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_CODEGEN_EMULATOR_PLACES_H
