//===- MultiplyAdds.h - products that keep their extra bits -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_MULTIPLYADDS_H
#define DRAWLOOM_CODEGEN_CPU_MULTIPLYADDS_H

#include "mlir/IR/Operation.h"

namespace drawloom::cpu {

/// Makes one multiply-add of a product in f32 or f64 and the sum that alone
/// takes it up: one instruction where the machine has it, and never less
/// accurate. Of the sums below `root`, those that `mayFuse` allows.
void fuseMultiplyAdds(mlir::Operation *root,
                      llvm::function_ref<bool(mlir::Operation *)> mayFuse);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_MULTIPLYADDS_H
