//===- Passes.h - passes on recurrent cells ---------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_RECURRENT_PASSES_H
#define DRAWLOOM_PASSES_RECURRENT_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace drawloom {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Recurrent/Passes.h.inc"

} // namespace drawloom

#endif // DRAWLOOM_PASSES_RECURRENT_PASSES_H
