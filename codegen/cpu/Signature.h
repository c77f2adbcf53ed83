//===- Signature.h - what a compiled function takes and gives ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bufferization turns results into arguments and the lowering to LLVM turns all
// of them into pointers. What they were stays on the function, in the attribute
// `drawloom.signature`:
//
//   {arguments = [tensor<8x4xf32>, f32], results = [tensor<f32>],
//    workspace_bytes = 4096 : i64, scratch_bytes = 0 : i64}
//
// Of a function that keeps values in a store, `records` besides, their number,
// and `record_bytes`.
// Of a function with open extents, `extents` besides, which has for each value
// the numbers of its extents (OpenExtents.h), and the memory that grows with
// them, behind these bytes:
//
//   open_extents = 2 : i64, scratch_terms = [],
//   workspace_terms = [{bytes = 16 : i64, extents = array<i64: 0, 1>}]
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_SIGNATURE_H
#define DRAWLOOM_CODEGEN_CPU_SIGNATURE_H

#include "dialects/Drawloom/Attributes.h"
#include "drawloom/runtime/CpuProgram.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace drawloom::cpu {

// From the llvm phase on.
inline constexpr llvm::StringRef entryPrefix = runtime::entryPrefix;
inline constexpr llvm::StringRef rangeSuffix = runtime::rangeSuffix;

struct FunctionSignature {
  llvm::SmallVector<mlir::Type> arguments;
  llvm::SmallVector<mlir::Type> results;
  /// Bytes that one call needs, and bytes that each thread needs besides.
  int64_t workspaceBytes = 0;
  int64_t scratchBytes = 0;
  /// Values that a call keeps in a store for some time, and the most bytes that
  /// are there at once.
  int64_t records = 0, recordBytes = 0;
  /// Of the arguments, then of the results, the numbers of open extents by
  /// dimension; empty where all extents are known.
  llvm::SmallVector<llvm::SmallVector<int64_t>> extents;
  int64_t openExtents = 0;
  /// What both need besides.
  std::vector<MemoryTerm> workspaceTerms, scratchTerms;

  bool isOpen() const { return openExtents > 0; }
};

/// Fails where the function has none, or one that cannot be understood.
mlir::FailureOr<FunctionSignature> getSignature(mlir::Operation *function);
void setSignature(mlir::Operation *function, const FunctionSignature &value);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_SIGNATURE_H
