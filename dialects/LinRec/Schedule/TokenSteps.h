//===- TokenSteps.h - tokens of several steps -------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_SCHEDULE_TOKENSTEPS_H
#define DRAWLOOM_DIALECTS_LINREC_SCHEDULE_TOKENSTEPS_H

#include "dialects/LinRec/LinRec.h"

namespace drawloom::linrec {

/// Returns the results of an op with more than one of `steps_per_token`.
llvm::SmallVector<mlir::Value> scanInSteps(mlir::OpBuilder &b, ScanOp op);
llvm::SmallVector<mlir::Value> differentiateInSteps(mlir::OpBuilder &b,
                                                    ScanBwdOp op);

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_SCHEDULE_TOKENSTEPS_H
