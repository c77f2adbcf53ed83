//===- Offload.h - the offload dialect --------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_OFFLOAD_OFFLOAD_H
#define DRAWLOOM_DIALECTS_OFFLOAD_OFFLOAD_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Offload/OffloadDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Offload/OffloadTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Offload/OffloadOps.h.inc"

#endif // DRAWLOOM_DIALECTS_OFFLOAD_OFFLOAD_H
