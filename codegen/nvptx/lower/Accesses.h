//===- Accesses.h - accesses of a thread to memory --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_ACCESSES_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_ACCESSES_H

#include "codegen/nvptx/lower/Memory.h"
#include "codegen/nvptx/lower/ThreadProgram.h"

namespace drawloom::nvptx {

/// One access to neighbouring elements of a tile: its registers, and its
/// coordinates relative to the thread's own address.
struct Access {
  llvm::SmallVector<int64_t> registers;
  llvm::SmallVector<int64_t> coordinates;
};

/// Writes the accesses of a thread to memory: the addresses of its elements,
/// loads and stores of vectors of them, and the conditions under which elements
/// exist or the thread is the one to store them.
class Accesses {
public:
  explicit Accesses(ThreadProgram &program)
      : program(program), builder(program.builder) {}

  //===- Addresses --------------------------------------------------------===//
  mlir::Value addBytes(mlir::Value address, int64_t bytes);
  mlir::Value addElements(mlir::Value address, mlir::Value elements,
                          mlir::Type element);
  /// Returns the address of a view's first element.
  mlir::Value start(const Memory &memory);
  /// Returns the thread's address in a view, taking into account the dimensions
  /// from `first` on.
  mlir::Value threadAddress(const Memory &memory, const tile::Layout &layout,
                            int64_t first = 0);
  /// Returns the address in the group of registers that a rolled run is at.
  mlir::Value rolledAddress(const Memory &memory, mlir::Value address);
  /// Returns the address of coordinates relative to an address in a view,
  /// taking into account the dimensions from `first` on.
  mlir::Value addressAt(const Memory &memory, mlir::Value address,
                        llvm::ArrayRef<int64_t> coordinates, int64_t first = 0);
  /// Returns an address that a thread may read where its own elements do not
  /// exist.
  mlir::Value readable(const Memory &memory);

  //===- Vectors ----------------------------------------------------------===//
  /// Returns the accesses, as wide as memory and layout permit, to the
  /// registers in `range`. With `rowsApart`, rows are no neighbours in memory.
  static llvm::SmallVector<Access> of(const Memory &memory,
                                      const tile::Layout &layout,
                                      llvm::ArrayRef<int64_t> shape,
                                      bool rowsApart, RegisterRange range);
  /// Loads a vector. Where `condition` is false, reads `otherwise` (an address
  /// that is valid) and gives zeros.
  mlir::Value loadVector(mlir::Value address, mlir::Type element, int64_t count,
                         mlir::Value condition, mlir::Value otherwise,
                         mlir::DictionaryAttr place = {});
  /// Loads a vector. Where `condition` is false, reads nothing and gives zeros.
  mlir::Value loadVectorIf(mlir::Value condition, mlir::Value address,
                           mlir::Type element, int64_t count,
                           mlir::DictionaryAttr place);
  /// Appends the elements of a vector that was loaded.
  void unpack(mlir::Value vector, mlir::Type element, int64_t count,
              llvm::SmallVectorImpl<mlir::Value> &values);
  void storeVector(mlir::Value address, llvm::ArrayRef<mlir::Value> values,
                   mlir::DictionaryAttr place = {});

  //===- Conditions -------------------------------------------------------===//
  /// Returns whether the access is in bounds; null if it always is.
  mlir::Value inside(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                     const tile::Layout &layout, llvm::ArrayRef<int64_t> shape,
                     const Access &access);
  /// Returns true in the one thread, of those holding the same elements, that
  /// stores them; null if all threads hold different elements.
  mlir::Value isOwner(const tile::Layout &layout);
  /// Writes `body` where the condition holds; null always does.
  void underCondition(mlir::Value condition, llvm::function_ref<void()> body);

private:
  ThreadProgram &program;
  mlir::ImplicitLocOpBuilder &builder;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_ACCESSES_H
