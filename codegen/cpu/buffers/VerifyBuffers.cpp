//===- VerifyBuffers.cpp - copies and allocations inside loops ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUVERIFYBUFFERS
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

struct CpuVerifyBuffers : impl::CpuVerifyBuffersBase<CpuVerifyBuffers> {
  using CpuVerifyBuffersBase::CpuVerifyBuffersBase;

  void runOnOperation() override {
    bool failed = false;
    getOperation()->walk([&](Operation *op) {
      if (!isa<memref::CopyOp, memref::AllocOp, memref::AllocaOp>(op) ||
          !op->getParentOfType<scf::ForOp>())
        return;
      std::string report =
          std::string(isa<memref::CopyOp>(op) ? "copies" : "allocates") +
          " memory in each iteration of a loop";
      failed |= strict;
      if (strict)
        op->emitError(report);
      else
        remark::missed(op->getLoc(), remark::RemarkOpts::name("LoopMemory")
                                         .category("cpu-verify-buffers"))
            << report
            << ", which the compiler could not avoid: a cost where "
               "the loop's body is short, and nothing to change in the program";
    });
    if (failed)
      signalPassFailure();
  }
};

} // namespace
} // namespace drawloom::cpu
