//===- Buffers.h - the memory of a function's tensors -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What bufferization will make of the tensors between the ops of a function:
// values that one op updates and the next one goes on with have one buffer.
// Names follow Arena.h: a step is an op of the function's body.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_MEMORY_BUFFERS_H
#define DRAWLOOM_PASSES_MEMORY_BUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Memory/Arena.h"
#include "llvm/ADT/MapVector.h"

namespace drawloom {

/// A value that has memory, from the step that makes it until the last one that
/// reads it, itself or a view of it.
struct MemoryValue {
  mlir::Value value;
  int64_t buffer = -1;
  /// Steps, ascending, each once; the first one makes it.
  llvm::SmallVector<int64_t> uses;
};

class FunctionBuffers {
public:
  /// Fails where an extent is not known: nothing can be said in advance.
  static mlir::FailureOr<FunctionBuffers> of(mlir::func::FuncOp function);

  llvm::ArrayRef<mlir::Operation *> steps() const { return ops; }
  llvm::ArrayRef<MemoryValue> values() const { return known; }
  /// Of each buffer; arguments, results and constants have no bytes here.
  llvm::ArrayRef<Lifetime> lifetimes() const { return buffers; }
  /// The value whose memory `value` is or shows, by its place in values(); -1
  /// of arguments and constants.
  int64_t valueOf(mlir::Value value) const;
  bool isStep(mlir::Operation *op) const { return numbers.contains(op); }
  int64_t stepOf(mlir::Operation *op) const { return numbers.lookup(op); }

private:
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
  llvm::SmallVector<MemoryValue> known;
  llvm::DenseMap<mlir::Value, int64_t> places;
  llvm::SmallVector<Lifetime> buffers;

  bool add(mlir::Operation *op);
  int64_t define(mlir::Value value, int64_t step);
  void use(mlir::Value value, int64_t step);
  void share(mlir::func::FuncOp function);
};

/// Whether an op that starts from `init` can be run a second time from a new
/// one: there is nothing in it that an op has computed.
bool startsAnew(mlir::Value init);

/// Whether `op` has no memory of its own and takes no time.
bool isFree(mlir::Operation *op);

/// Whether `op` shows the memory of its first operand in another form.
bool isView(mlir::Operation *op);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_MEMORY_BUFFERS_H
