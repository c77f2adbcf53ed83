//===- Segments.h - sequences cut into parts ------------------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_SCHEDULE_SEGMENTS_H
#define DRAWLOOM_DIALECTS_LINREC_SCHEDULE_SEGMENTS_H

#include "dialects/LinRec/LinRec.h"

namespace drawloom::linrec {

/// Returns the results of an op with `segments`, all of whose sequences have
/// tokens.
llvm::SmallVector<mlir::Value> scanInSegments(mlir::OpBuilder &b, ScanOp op);
llvm::SmallVector<mlir::Value> differentiateInSegments(mlir::OpBuilder &b,
                                                       ScanBwdOp op);

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_SCHEDULE_SEGMENTS_H
