//===- EmulateKernels.h - lowered kernels as an oracle's other side -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TOOLS_DRAWLOOM_OPT_EMULATEKERNELS_H
#define DRAWLOOM_TOOLS_DRAWLOOM_OPT_EMULATEKERNELS_H

#include "dialects/Interfaces/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace drawloom {

/// Runs what a kernel over tiles has become in `lowered`, a function of llvm
/// and nvvm of the same name, with the emulator, on memory of its arguments'
/// types. On success memory among the arguments holds what the kernel left
/// there. What the emulator finds wrong is an error.
llvm::LogicalResult emulateKernel(mlir::func::FuncOp kernel,
                                  mlir::ModuleOp lowered,
                                  llvm::MutableArrayRef<HostTensor> arguments);

} // namespace drawloom

#endif // DRAWLOOM_TOOLS_DRAWLOOM_OPT_EMULATEKERNELS_H
