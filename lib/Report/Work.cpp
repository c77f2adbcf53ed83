//===- Work.cpp - operations and bytes of a program -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Report/Work.h"
#include "codegen/cpu/Signature.h"
#include "dialects/Drawloom/Attributes.h"
#include "dialects/Interfaces/SourcePlace.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Memory/Operations.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace drawloom::report {

std::optional<double> countOperations(mlir::ModuleOp module) {
  double sum = 0;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!function.isPublic())
      continue;
    std::optional<double> count = drawloom::countRegions(*function);
    if (!count)
      return std::nullopt;
    sum += *count;
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

/// The loop over a kernel's range [lo, hi) runs once for each block.
static std::optional<double> countKernelBlock(mlir::func::FuncOp kernel) {
  double sum = 0;
  for (mlir::Operation &op : kernel.getBody().front()) {
    auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op);
    std::optional<double> count =
        loop && mlir::isa<mlir::BlockArgument>(loop.getLowerBound())
            ? countRegions(op)
            : drawloom::countOperations(op);
    if (!count)
      return std::nullopt;
    sum += *count;
  }
  return sum;
}

std::vector<KernelWork> measureKernels(mlir::ModuleOp module) {
  std::vector<KernelWork> kernels;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    auto kind = function->getAttr(kernelAttr);
    if (!kind)
      continue;
    KernelWork work;
    work.name = function.getName().str();
    work.place = placeOf(function.getLoc());
    work.operationsPerBlock = countKernelBlock(function);
    // The last buffer of a kernel with scratch memory is that.
    unsigned buffers = function.getNumArguments() -
                       (mlir::isa<mlir::StringAttr>(kind) ? 1 : 0);
    for (mlir::BlockArgument argument :
         function.getArguments().take_front(buffers)) {
      auto type = mlir::dyn_cast<mlir::MemRefType>(argument.getType());
      if (type && type.hasStaticShape() && !argument.use_empty())
        work.bytes += static_cast<double>(type.getNumElements()) *
                      type.getElementTypeBitWidth() / 8;
    }
    kernels.push_back(std::move(work));
  }
  return kernels;
}

} // namespace drawloom::report
