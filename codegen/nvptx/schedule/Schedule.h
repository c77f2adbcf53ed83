//===- Schedule.h - how a block program is cut ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule is data: chosen by a cost model (Estimate.h), printed as JSON, and
// overridden by attributes or by the same JSON.
//
//   func.func @step(...) attributes {drawloom.schedule = {rows = 64, warps =
//   8}}
//   {"step": {"rows": 64}, "step_1": {"warps": 8, "staging": 65536}}
//
// On a function, a schedule applies to all its kernels; on an scf.forall, or
// under a kernel's name in JSON, to that kernel only.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_SCHEDULE_SCHEDULE_H
#define DRAWLOOM_CODEGEN_NVPTX_SCHEDULE_SCHEDULE_H

#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace drawloom::nvptx {

/// The fields that are 0 are chosen by the compiler.
struct Schedule {
  /// Rows of a tile; specified on functions, since kernels are made of tiles.
  int64_t rows = 0;
  /// Warps of a block: 1, 2, 4, ..., 32.
  int64_t warps = 0;
  /// Max bytes of shared memory for operands that are staged once per kernel.
  std::optional<int64_t> staging;
};

/// Default of Schedule::staging; the rest of shared memory is for what the loop
/// itself stages.
constexpr int64_t defaultStaging = 96 * 1024;

/// Reads the attribute of a function, an scf.forall or a kernel; if it is
/// absent, all fields are chosen by the compiler. Errors name unknown keys and
/// the valid values.
llvm::Expected<Schedule> readSchedule(mlir::DictionaryAttr attribute);
mlir::DictionaryAttr toAttribute(const Schedule &schedule,
                                 mlir::MLIRContext *context);
/// Returns the fields of `over` where they are set, and those of `under`
/// otherwise.
Schedule merge(const Schedule &over, const Schedule &under);

/// Sets the schedules of a JSON text on the functions that they name. On error,
/// nothing changes; `file` names the text in messages.
llvm::Error applySchedules(mlir::ModuleOp module, llvm::StringRef json,
                           llvm::StringRef file);
/// Like applySchedules, for a file; does nothing if `path` is empty.
llvm::Error applyScheduleFile(mlir::ModuleOp module, llvm::StringRef path);

/// Returns the schedules of a module whose kernels have layouts, in the form
/// that applySchedules reads, with the model's predictions.
llvm::json::Value schedulesToJson(mlir::ModuleOp module);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_SCHEDULE_SCHEDULE_H
