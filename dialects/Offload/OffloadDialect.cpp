//===- OffloadDialect.cpp - the offload dialect ---------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Inlining.h"
#include "dialects/Offload/Offload.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/Offload/OffloadDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Offload/OffloadTypes.cpp.inc"

namespace drawloom::offload {

void OffloadDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Offload/OffloadOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Offload/OffloadTypes.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
}

LogicalResult RecordType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 RankedTensorType tensor) {
  if (!tensor.hasStaticShape())
    return emitError() << "a record has as many bytes as its type says: "
                       << tensor << " leaves an extent open";
  return success();
}

} // namespace drawloom::offload
