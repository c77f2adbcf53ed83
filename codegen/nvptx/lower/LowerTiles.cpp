//===- LowerTiles.cpp - kernels over tiles become threads' programs ------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/lower/LowerKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXLOWERTILES
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// Declares the one arena of shared memory, of the size that a launch gives it.
void declareArena(ModuleOp module) {
  if (module.lookupSymbol("global_smem"))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  LLVM::GlobalOp::create(builder, module.getLoc(),
                         LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External,
                         "global_smem", Attribute(), /*alignment=*/1024,
                         /*addrSpace=*/3);
}

struct NvptxLowerTiles : impl::NvptxLowerTilesBase<NvptxLowerTiles> {
  using NvptxLowerTilesBase::NvptxLowerTilesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> kernels(
        llvm::make_filter_range(module.getOps<func::FuncOp>(), isKernel));
    if (kernels.empty())
      return;
    declareArena(module);
    const NvptxLowerTilesOptions options{maxOps, describeAccesses, splitWords,
                                         storeMatrices};
    for (func::FuncOp kernel : kernels)
      if (failed(LowerKernel(kernel, options).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace drawloom::nvptx
