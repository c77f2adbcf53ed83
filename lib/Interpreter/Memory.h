//===- Memory.h - what memrefs refer to -------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_MEMORY_H
#define DRAWLOOM_LIB_INTERPRETER_MEMORY_H

#include "dialects/Interfaces/HostTensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace drawloom::interpreter {

/// A memref: some elements of a buffer. In a slot it is represented as a tensor
/// of integers, {buffer, offset, sizes..., strides...}, counted in elements.
struct View {
  int64_t buffer = 0, offset = 0;
  llvm::SmallVector<int64_t, 4> sizes, strides;

  static View of(const HostTensor &value);
  HostTensor value() const;

  int64_t rank() const { return sizes.size(); }
  /// Returns the position of an index tuple in the buffer.
  int64_t at(llvm::ArrayRef<int64_t> index) const;
  /// Returns whether the elements are contiguous in row-major order.
  bool isDense() const;
};

/// All memory of a machine. A buffer holds elements of one type. If a program
/// reuses bytes (the arena of a kernel's shared memory, a workspace of bytes),
/// each element type has a buffer that covers all of the bytes, and data
/// written as one type is undefined as any other type.
class Memory {
public:
  /// Adds a buffer with the elements of `contents`, in their shape.
  View add(HostTensor contents, mlir::Type element);
  /// Adds `count` uninitialized bytes.
  int64_t addArena(int64_t count);
  /// Returns a view of elements of an arena, starting at byte `byte`, which is
  /// a multiple of the element's size; the size is in whole bytes.
  View inArena(int64_t arena, int64_t byte, mlir::Type element,
               llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);
  /// Returns the arena for a buffer of bytes, creating it on first use.
  int64_t arenaOf(int64_t buffer);

  HostTensor read(const View &view) const;
  /// Writes a tensor of the view's shape.
  void write(const View &view, const HostTensor &value);
  /// Returns one element as a scalar.
  HostTensor readElement(const View &view, int64_t at) const;
  void writeElement(const View &view, int64_t at, const HostTensor &value);
  /// Makes the view's elements undefined.
  void poison(const View &view);

  /// Returns whether the view stays inside its buffer.
  bool contains(const View &view) const;
  /// Frees the contents of a buffer.
  void release(int64_t buffer);

  /// A point in time: everything added after `mark()` can be discarded.
  struct Mark {
    size_t buffers, arenas;
  };
  Mark mark() const { return {buffers.size(), arenas.size()}; }
  void forget(Mark mark);

private:
  struct Buffer {
    HostTensor contents;
    mlir::Type element;
    int64_t arena = -1;
  };
  struct Arena {
    int64_t bytes = 0;
    llvm::SmallVector<int64_t, 2> buffers;
  };

  void
  forEachRun(const View &view,
             llvm::function_ref<void(int64_t at, int64_t length)> fn) const;
  /// Makes the elements of other types in the same bytes undefined.
  void overwrite(const Buffer &by, int64_t at, int64_t length);

  std::vector<Buffer> buffers;
  std::vector<Arena> arenas;
};

/// Returns a tensor of NaN, or of a recognizable integer.
HostTensor undefined(mlir::Type element, llvm::ArrayRef<int64_t> shape);
/// Returns the bytes that an element occupies in memory.
int64_t bytesOf(mlir::Type element);

} // namespace drawloom::interpreter

#endif // DRAWLOOM_LIB_INTERPRETER_MEMORY_H
