//===- Runs.h - ops on tiles of one layout ----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_RUNS_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_RUNS_H

#include "codegen/nvptx/dialect/Layout.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace drawloom::nvptx {

/// Number of registers of a tile for which a run of ops of one layout is
/// lowered at a time: whole vectors of memory.
constexpr int64_t partRegisters = 8;

/// Returns how many elements of a part of a run go through its arithmetic at
/// once: all, or as few as there are registers for.
int64_t stepOfRun(llvm::ArrayRef<mlir::Operation *> run, int64_t part);

/// Ops on tiles of one layout that are lowered a few registers at a time, all
/// ops for the first registers, then all ops for the next: values live between
/// two ops are then less than a whole tile.
struct Run {
  tile::Layout layout;
  llvm::SmallVector<mlir::Operation *> members;
  /// Ops between the members that come in front of all of them.
  llvm::SmallVector<mlir::Operation *> others;
  /// The op behind the run.
  mlir::Operation *next = nullptr;

  /// Returns whether the run is short however it is written.
  bool isSmall() const { return layout.registerCount() <= 2 * partRegisters; }
};

/// Returns the run that starts at an op, if there is one. `inputs` are the
/// buffers that the kernel only reads.
std::optional<Run> findRun(mlir::Operation *first,
                           const llvm::DenseSet<mlir::Value> &inputs);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_RUNS_H
