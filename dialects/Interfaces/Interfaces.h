//===- Interfaces.h - what an op implements to take part --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_INTERFACES_INTERFACES_H
#define DRAWLOOM_DIALECTS_INTERFACES_INTERFACES_H

#include "dialects/Interfaces/HostTensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallBitVector.h"

#include "dialects/Interfaces/Interfaces.h.inc"

#endif // DRAWLOOM_DIALECTS_INTERFACES_INTERFACES_H
