//===- LowerKernel.h - a kernel as one thread's program ---------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERKERNEL_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERKERNEL_H

#include "codegen/nvptx/lower/LowerRuns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace drawloom::nvptx {

/// Lowers a kernel to the work of one thread of a block: its signature, its
/// control flow, and its ops in order, each by the class that knows it.
class LowerKernel {
public:
  LowerKernel(mlir::func::FuncOp kernel, const NvptxLowerTilesOptions &options)
      : kernel(kernel), program(options, kernel), builder(program.builder),
        views(program), registers(program), memory(program, views),
        reductions(program, views),
        runs(program, registers, memory, reductions) {}

  /// Replaces the kernel by a function of llvm, whose body still has control
  /// flow of scf and arithmetic of arith and math.
  mlir::LogicalResult run();

private:
  //===- Signature --------------------------------------------------------===//
  mlir::LLVM::LLVMFuncOp makeFunction();
  /// Notes what the kernel's arguments became, and says of the function's what
  /// is known of their memory.
  mlir::LogicalResult takeArguments(mlir::LLVM::LLVMFuncOp function,
                                    mlir::Block *body);
  /// Returns the number of arguments that the kernel only reads.
  int64_t inputCount();

  //===- Control flow -----------------------------------------------------===//
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp op);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp op);
  /// Returns the number in 32 bits that an index is known to be; null where it
  /// may be more.
  mlir::Value inI32(mlir::Value index);

  //===- Ops --------------------------------------------------------------===//
  /// Lowers one op, with all registers of its tiles.
  mlir::LogicalResult lower(mlir::Operation *op);
  /// Lowers an op of another dialect: on tiles, register by register.
  mlir::LogicalResult lowerOther(mlir::Operation *op);
  void lowerBlockId(tile::BlockIdOp op);
  void lowerDot(tile::DotOp op);

  mlir::func::FuncOp kernel;
  ThreadProgram program;
  mlir::ImplicitLocOpBuilder &builder;
  Views views;
  LowerRegisters registers;
  LowerMemory memory;
  LowerReductions reductions;
  LowerRuns runs;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERKERNEL_H
