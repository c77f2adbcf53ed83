//===- ValueTypeJson.h - types of arguments and results as JSON -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_VALUETYPEJSON_H
#define DRAWLOOM_CODEGEN_VALUETYPEJSON_H

#include "codegen/Program.h"
#include "llvm/Support/JSON.h"

namespace drawloom {

llvm::json::Value toJSON(const ValueType &type);

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_VALUETYPEJSON_H
