//===- Check.h - the check dialect -----------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_CHECK_CHECK_H
#define DRAWLOOM_DIALECTS_CHECK_CHECK_H

#include "dialects/Check/Tolerance.h"
#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Check/CheckDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/Check/CheckOps.h.inc"

#endif // DRAWLOOM_DIALECTS_CHECK_CHECK_H
