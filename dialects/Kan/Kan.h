//===- Kan.h - the kan dialect ----------------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_KAN_KAN_H
#define DRAWLOOM_DIALECTS_KAN_KAN_H

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/Kan/Grid.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "dialects/Kan/KanDialect.h.inc"
#include "dialects/Kan/KanEnums.h.inc"

#define GET_OP_CLASSES
#include "dialects/Kan/KanOps.h.inc"

#endif // DRAWLOOM_DIALECTS_KAN_KAN_H
