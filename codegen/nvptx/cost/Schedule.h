//===- Schedule.h - how a block program is cut ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule is data: chosen by a cost model (Estimate.h), printed as JSON, and
// taken from attributes or from the same JSON where somebody knows better.
//
//   func.func @step(...) attributes {drawloom.schedule = {rows = 64, warps =
//   8}}
//   {"step": {"rows": 64}, "step_1": {"warps": 8, "staging": 65536}}
//
// On a function it is meant for all its kernels; on an scf.forall, or in JSON
// under a kernel's name, for that kernel alone.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_COST_SCHEDULE_H
#define DRAWLOOM_CODEGEN_NVPTX_COST_SCHEDULE_H

#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace drawloom::nvptx {

/// What is 0 is chosen.
struct Schedule {
  /// Rows of a tile; said of functions, since kernels are made of tiles.
  int64_t rows = 0;
  /// Warps of a block: 1, 2, 4, ..., 32.
  int64_t warps = 0;
  /// Bytes of shared memory that what is read once for a kernel may take.
  std::optional<int64_t> staging;
};

/// Shared memory that what is staged once for a whole kernel may take, unless
/// somebody says otherwise: the rest is for what the loop itself stages.
constexpr int64_t defaultStaging = 96 * 1024;

/// Reads the attribute of a function, an scf.forall or a kernel; all chosen
/// where there is none. Names unknown keys, and what a value may be.
llvm::Expected<Schedule> readSchedule(mlir::DictionaryAttr attribute);
mlir::DictionaryAttr toAttribute(const Schedule &schedule,
                                 mlir::MLIRContext *context);
/// `over` where it says something, `under` else.
Schedule merge(const Schedule &over, const Schedule &under);

/// Puts the schedules of a JSON text on the functions that they name. Nothing
/// changes where it is an error; `file` is what messages call the text.
llvm::Error applySchedules(mlir::ModuleOp module, llvm::StringRef json,
                           llvm::StringRef file);
/// The same for a file; nothing happens where `path` is empty.
llvm::Error applyScheduleFile(mlir::ModuleOp module, llvm::StringRef path);

/// The schedules of a module whose kernels have layouts, in the form that
/// applySchedules reads, with what the model predicts.
llvm::json::Value schedulesToJson(mlir::ModuleOp module);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_COST_SCHEDULE_H
