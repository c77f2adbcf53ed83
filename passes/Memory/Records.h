//===- Records.h - the records of a function --------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_MEMORY_RECORDS_H
#define DRAWLOOM_PASSES_MEMORY_RECORDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace drawloom {

/// An op of the dialect offload, except `offload.again`.
struct Transfer {
  mlir::Operation *op;
  /// Number of its record; stores are numbered from 0.
  int64_t record;
};

/// The transfers of a function in order, the number of records, and the max
/// bytes of records at any time.
struct Transfers {
  llvm::SmallVector<Transfer> list;
  int64_t records = 0, recordBytes = 0;
};

/// Fails if a record was not made by a store in this function.
llvm::FailureOr<Transfers> transfersOf(mlir::func::FuncOp function);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_MEMORY_RECORDS_H
