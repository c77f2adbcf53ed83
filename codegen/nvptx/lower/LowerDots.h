//===- LowerDots.h - products of matrices -----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERDOTS_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERDOTS_H

#include "codegen/nvptx/lower/Views.h"

namespace drawloom::nvptx {

// Three ways to multiply the tiles of a `tile.dot`. Each returns the registers
// of the result: those of the accumulator, to which the product is added.

/// Multiplies bf16 or f16 by mma.sync. The right operand is in shared memory,
/// the left one there or in registers.
Registers multiplyByMma(ThreadProgram &program, const Views &views,
                        tile::DotOp op);
/// Multiplies f32 by mma.sync, rounded to tf32. Both operands are in shared
/// memory.
Registers multiplyByTf32(ThreadProgram &program, const Views &views,
                         tile::DotOp op);
/// Multiplies by fused multiply-adds, in order. Both operands are in shared
/// memory.
Registers multiplyByFma(ThreadProgram &program, const Views &views,
                        tile::DotOp op);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERDOTS_H
