//===- Signature.h - what a compiled function takes and gives ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bufferization turns results into arguments, and the lowering to LLVM turns
// all of them into pointers. The original signature stays on the function, in
// the attribute `drawloom.signature`:
//
//   {arguments = [tensor<8x4xf32>, f32], results = [tensor<f32>],
//    workspace_bytes = 4096 : i64, scratch_bytes = 0 : i64}
//
// A function that keeps values in a store additionally has `records`, their
// number, and `record_bytes`. A function with open extents additionally has
// `extents`, the numbers of the open extents of each value (OpenExtents.h), and
// the memory that grows with them and follows the fixed bytes:
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

// Prefix of entry names, from the llvm phase on.
inline constexpr llvm::StringRef entryPrefix = runtime::entryPrefix;
inline constexpr llvm::StringRef rangeSuffix = runtime::rangeSuffix;

struct FunctionSignature {
  llvm::SmallVector<mlir::Type> arguments;
  llvm::SmallVector<mlir::Type> results;
  /// Bytes that one call needs; scratchBytes are those that each thread needs
  /// in addition.
  int64_t workspaceBytes = 0;
  int64_t scratchBytes = 0;
  /// Number of values that a call temporarily keeps in a store, and their max
  /// bytes at any time.
  int64_t records = 0, recordBytes = 0;
  /// Numbers of open extents by dimension, for each argument and then each
  /// result; empty if all extents are known.
  llvm::SmallVector<llvm::SmallVector<int64_t>> extents;
  int64_t openExtents = 0;
  /// Parts of the workspace and of the scratch memory that grow with open
  /// extents.
  std::vector<MemoryTerm> workspaceTerms, scratchTerms;

  bool isOpen() const { return openExtents > 0; }
};

/// Fails if the function has no signature, or an invalid one.
mlir::FailureOr<FunctionSignature> getSignature(mlir::Operation *function);
void setSignature(mlir::Operation *function, const FunctionSignature &value);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_SIGNATURE_H
