//===- LowerRuns.h - runs of ops, part by part ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERRUNS_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERRUNS_H

#include "codegen/nvptx/lower/LowerElementwise.h"
#include "codegen/nvptx/lower/LowerMemory.h"
#include "codegen/nvptx/lower/LowerReductions.h"
#include "codegen/nvptx/lower/LowerRegisters.h"
#include "codegen/nvptx/lower/Runs.h"

namespace drawloom::nvptx {

/// Lowers the ops that go register by register: a single one for all registers
/// of its tile, or a run of them part by part. A run that would be very long
/// becomes a loop over groups of registers (RollRuns.cpp).
class LowerRuns {
public:
  LowerRuns(ThreadProgram &program, LowerRegisters &registers,
            LowerMemory &memory, LowerReductions &reductions)
      : program(program), registers(registers), memory(memory),
        reductions(reductions), elementwise(program) {}

  /// Lowers an op for some registers of its tile.
  void lowerPart(mlir::Operation *op, RegisterRange range);
  mlir::LogicalResult lower(const Run &run);

private:
  mlir::LogicalResult unroll(const Run &run);
  mlir::LogicalResult
  lowerMembers(const Run &run, RegisterRange range,
               llvm::function_ref<bool(mlir::Operation *)> wanted);

  /// The loop that a run becomes: registers that differ along a dimension by
  /// multiples of `step`, up to `extent`, are a turn each.
  struct Turns {
    int64_t dim, step, extent;
    /// Registers of a turn.
    int64_t registers;
  };
  /// Lowers a run that would be very long as a loop over groups of registers.
  /// Returns false, with a remark, if that is impossible.
  bool roll(const Run &run);
  /// Explains why a run cannot be a loop over registers that differ along
  /// `dim`, with `inner` of them per group; nothing if it can.
  std::optional<std::string> whyUnrolled(const Run &run, int64_t dim,
                                         int64_t inner);
  void writeLoop(const Run &run, Turns turns);
  /// Returns what the sums of a loop start at: a carried sum, or what leaves
  /// every number as it is.
  Registers startsOf(llvm::ArrayRef<tile::ReduceOp> sums);

  ThreadProgram &program;
  LowerRegisters &registers;
  LowerMemory &memory;
  LowerReductions &reductions;
  LowerElementwise elementwise;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERRUNS_H
