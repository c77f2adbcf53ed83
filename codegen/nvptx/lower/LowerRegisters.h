//===- LowerRegisters.h - tiles out of other registers ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERREGISTERS_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERREGISTERS_H

#include "codegen/nvptx/lower/ThreadProgram.h"

namespace drawloom::nvptx {

/// Lowers the ops whose results are numbers that the thread has, or knows,
/// already: splats, coordinates, broadcasts, and tiles in another layout or
/// shape. Only a slice may need the registers of another lane.
class LowerRegisters {
public:
  explicit LowerRegisters(ThreadProgram &program)
      : program(program), builder(program.builder) {}

  void lowerSplat(tile::SplatOp op, RegisterRange range);
  void lowerIota(tile::IotaOp op, RegisterRange range);
  void lowerBroadcast(tile::BroadcastOp op, RegisterRange range);
  void lowerConvert(tile::ConvertOp op);
  void lowerReshape(tile::ReshapeOp op);
  void lowerSlice(tile::SliceOp op);

private:
  ThreadProgram &program;
  mlir::ImplicitLocOpBuilder &builder;
};

/// Returns the source's registers that are the registers in `range` of a
/// broadcast's result.
Registers broadcastRegisters(tile::BroadcastOp op, const Registers &source,
                             RegisterRange range);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERREGISTERS_H
