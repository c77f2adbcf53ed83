//===- Buffers.h - the memory of a function's tensors -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicts the buffers that bufferization will make of the tensors between the
// ops of a function: values that are updated in place by successive ops have
// one buffer. Terms are those of Arena.h: a step is an op of the function's
// body.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_MEMORY_BUFFERS_H
#define DRAWLOOM_PASSES_MEMORY_BUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Memory/Arena.h"
#include "llvm/ADT/MapVector.h"

namespace drawloom {

/// A value with memory, from the step that makes it until the last step that
/// reads it or a view of it.
struct MemoryValue {
  mlir::Value value;
  int64_t buffer = -1;
  /// Steps that use the value, ascending, each once; the first one makes it.
  llvm::SmallVector<int64_t> uses;
};

class FunctionBuffers {
public:
  /// Fails if an extent is unknown, since nothing can then be predicted.
  static mlir::FailureOr<FunctionBuffers> of(mlir::func::FuncOp function);

  llvm::ArrayRef<mlir::Operation *> steps() const { return ops; }
  llvm::ArrayRef<MemoryValue> values() const { return known; }
  /// Returns the lifetime of each buffer; arguments, results and constants have
  /// no bytes here.
  llvm::ArrayRef<Lifetime> lifetimes() const { return buffers; }
  /// Returns the index in values() of the value whose memory `value` is or
  /// views; -1 for arguments and constants.
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

/// Returns whether an op that starts from `init` can run a second time from a
/// new one, because it contains nothing that an op has computed.
bool startsAnew(mlir::Value init);

/// Returns whether `op` has no memory of its own and takes no time.
bool isFree(mlir::Operation *op);

/// Returns whether `op` is a view of its first operand's memory.
bool isView(mlir::Operation *op);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_MEMORY_BUFFERS_H
