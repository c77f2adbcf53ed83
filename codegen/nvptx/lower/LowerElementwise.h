//===- LowerElementwise.h - arithmetic on each register ---------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERELEMENTWISE_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERELEMENTWISE_H

#include "codegen/nvptx/lower/LowerF16x2.h"

namespace drawloom::nvptx {

/// Lowers elementwise ops of any dialect: the same op on each register, once
/// for registers that hold the same.
class LowerElementwise {
public:
  explicit LowerElementwise(ThreadProgram &program)
      : program(program), pairs(program) {}

  void lower(mlir::Operation *op, RegisterRange range);

private:
  ThreadProgram &program;
  LowerF16x2 pairs;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERELEMENTWISE_H
