//===- LinRec.h - the linrec dialect -------------------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_LINREC_H
#define DRAWLOOM_DIALECTS_LINREC_LINREC_H

#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "dialects/LinRec/LinRecEnums.h.inc"

#include "dialects/LinRec/LinRecDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/LinRec/LinRecOps.h.inc"

#endif // DRAWLOOM_DIALECTS_LINREC_LINREC_H
