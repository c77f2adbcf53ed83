//===- Passes.h - passes that interpret -------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_PASSES_H
#define DRAWLOOM_LIB_INTERPRETER_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace drawloom {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Interpreter/Passes.h.inc"

} // namespace drawloom

#endif // DRAWLOOM_LIB_INTERPRETER_PASSES_H
