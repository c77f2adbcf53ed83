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

/// A memref: which elements of which buffer it is of. In a slot it is a tensor
/// of integers, {buffer, offset, sizes..., strides...}, counted in elements.
struct View {
  int64_t buffer = 0, offset = 0;
  llvm::SmallVector<int64_t, 4> sizes, strides;

  static View of(const HostTensor &value);
  HostTensor value() const;

  int64_t rank() const { return sizes.size(); }
  /// The position of an index tuple in the buffer.
  int64_t at(llvm::ArrayRef<int64_t> index) const;
  /// Whether these are neighbours in row-major order.
  bool isDense() const;
};

/// All memory of a machine. Buffers hold elements of one type each. Where a
/// program gives bytes several uses (the arena of a kernel's shared memory, a
/// workspace of bytes), each type of elements has a buffer over all of them,
/// and what is written as one type is undefined as every other.
class Memory {
public:
  /// A buffer with the elements of `contents`, in their shape.
  View add(HostTensor contents, mlir::Type element);
  /// `count` bytes that nothing has been written to.
  int64_t addArena(int64_t count);
  /// Elements of an arena from byte `byte` on; `byte` is a multiple of the
  /// element's size, which is whole bytes.
  View inArena(int64_t arena, int64_t byte, mlir::Type element,
               llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);
  /// The arena that a buffer of bytes is, which it becomes when first asked
  /// for.
  int64_t arenaOf(int64_t buffer);

  HostTensor read(const View &view) const;
  /// Writes a tensor of the view's shape.
  void write(const View &view, const HostTensor &value);
  /// One element, as a scalar.
  HostTensor readElement(const View &view, int64_t at) const;
  void writeElement(const View &view, int64_t at, const HostTensor &value);
  /// Makes the view's elements undefined.
  void poison(const View &view);

  /// Whether the view stays inside of its buffer.
  bool contains(const View &view) const;
  /// Frees what a buffer holds.
  void release(int64_t buffer);

  /// What has been added after `mark()` can be forgotten.
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
  /// Elements of the other types that lie where these do are undefined.
  void overwrite(const Buffer &by, int64_t at, int64_t length);

  std::vector<Buffer> buffers;
  std::vector<Arena> arenas;
};

/// A tensor of NaN, or of a recognisable integer.
HostTensor undefined(mlir::Type element, llvm::ArrayRef<int64_t> shape);
/// An element as it takes place in memory.
int64_t bytesOf(mlir::Type element);

} // namespace drawloom::interpreter

#endif // DRAWLOOM_LIB_INTERPRETER_MEMORY_H
