//===- Drawloom.h - the dialect of Drawloom's attributes --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_DRAWLOOM_DRAWLOOM_H
#define DRAWLOOM_DIALECTS_DRAWLOOM_DRAWLOOM_H

#include "dialects/Drawloom/Attributes.h"
#include "mlir/IR/Dialect.h"

#include "dialects/Drawloom/DrawloomDialect.h.inc"

#endif // DRAWLOOM_DIALECTS_DRAWLOOM_DRAWLOOM_H
