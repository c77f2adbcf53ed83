//===- LowerF16x2.h - two numbers of 16 bits at a time ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERF16X2_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERF16X2_H

#include "codegen/nvptx/lower/ThreadProgram.h"

namespace drawloom::nvptx {

/// Lowers arithmetic for which there are instructions on two numbers of 16 bits
/// in a word: rounding from f32, also with a maximum with zero, extension of
/// bf16 to f32, and the choice of numbers by a mask. Each method returns false
/// if the op is anything else.
class LowerF16x2 {
public:
  explicit LowerF16x2(ThreadProgram &program)
      : program(program), builder(program.builder) {}

  /// Lowers a rounding to 16 bits two registers at a time, including a
  /// following maximum with zero.
  bool lowerRounding(mlir::Operation *op, RegisterRange range);
  /// Lowers an extension of bf16 to f32, two registers loaded in one word at a
  /// time.
  bool lowerExtension(mlir::Operation *op, RegisterRange range);
  /// Lowers a select that keeps 16-bit numbers where others are nonzero, by bit
  /// masks.
  bool lowerMask(mlir::Operation *op, RegisterRange range);

private:
  /// Returns the word of two numbers.
  mlir::Value pack(mlir::Value low, mlir::Value high);

  ThreadProgram &program;
  mlir::ImplicitLocOpBuilder &builder;
  /// Tiles whose rounding is deferred to the op that reads them: their
  /// registers are still wide.
  llvm::DenseSet<mlir::Value> unrounded;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERF16X2_H
