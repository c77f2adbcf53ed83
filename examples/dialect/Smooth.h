//===- Smooth.h - a dialect outside of Drawloom's tree ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMOOTH_H
#define SMOOTH_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "SmoothDialect.h.inc"

#define GET_OP_CLASSES
#include "SmoothOps.h.inc"

namespace smooth {

/// smooth-replace-tanh: `kan.tanh` becomes `smooth.softsign`, which has no
/// exponential.
void registerPasses();

} // namespace smooth

#endif // SMOOTH_H
