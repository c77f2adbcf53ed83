//===- LowerReductions.h - sums and scans over registers --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERREDUCTIONS_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERREDUCTIONS_H

#include "codegen/nvptx/lower/DescribeAccess.h"
#include "codegen/nvptx/lower/Views.h"

namespace drawloom::nvptx {

/// Lowers reductions and scans, in an order that depends on the layout alone: a
/// thread's own registers first, then its lanes, then the warps, through a
/// scratch buffer.
class LowerReductions {
public:
  LowerReductions(ThreadProgram &program, const Views &views)
      : program(program), builder(program.builder), views(views),
        accesses(program), descriptions(program) {}

  /// Adds the registers in `range` to the thread's own results.
  void lowerReduce(tile::ReduceOp op, RegisterRange range);
  /// Completes results of which the thread has its own share.
  void reduceAcrossLanes(tile::ReduceOp op);
  void lowerScan(tile::ScanOp op);

  /// Returns the loop-carried sum that a reduction is immediately added to, if
  /// there is one.
  static mlir::Value carriedSum(tile::ReduceOp op);
  /// Returns the number that leaves every other as it is.
  mlir::Value neutral(tile::Combiner kind, mlir::Type type);

private:
  mlir::Value combine(tile::Combiner kind, mlir::Value a, mlir::Value b);
  void reduceAcrossWarps(tile::ReduceOp op, const tile::Layout &source,
                         Registers &results);
  /// Returns what comes before each lane's run of a scan, from the sums of the
  /// runs.
  mlir::Value before(tile::ScanOp op, const tile::Layout::Runs &runs,
                     mlir::Value sum);

  ThreadProgram &program;
  mlir::ImplicitLocOpBuilder &builder;
  const Views &views;
  Accesses accesses;
  DescribeAccess descriptions;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERREDUCTIONS_H
