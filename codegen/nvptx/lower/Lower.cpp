//===- Lower.cpp - kernels over tiles become llvm and nvvm ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/lower/LowerKernel.h"
#include "codegen/nvptx/lower/MathFunctions.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXLOWER
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// Functions that are instructions, or a few of them. What lowerMath has left
/// of the others has no code on a GPU: those of f64, and some of f32
/// (docs/gpu.md lists them).
LogicalResult checkMath(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (!isa<math::MathDialect>(op->getDialect()) ||
        isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
            math::CountLeadingZerosOp, math::CountTrailingZerosOp,
            math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundEvenOp,
            math::RoundOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op))
      return WalkResult::advance();
    op->emitOpError()
        << "of " << op->getOperand(0).getType()
        << " has no code on a GPU: write it by functions that have, in f32, "
           "or compute the function on the CPU";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct NvptxLower : impl::NvptxLowerBase<NvptxLower> {
  using NvptxLowerBase::NvptxLowerBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    NvptxLowerBase::getDependentDialects(registry);
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                    math::MathDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpPassManager first(ModuleOp::getOperationName());
    first.addPass(createLowerAffinePass());
    first.addPass(createCanonicalizerPass());
    if (failed(runPipeline(first, module)))
      return signalPassFailure();

    SmallVector<func::FuncOp> kernels;
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(kernelAttr))
        kernels.push_back(function);
    if (kernels.empty())
      return;
    // The one arena of shared memory, of the size that a launch gives it.
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    if (!module.lookupSymbol("global_smem"))
      LLVM::GlobalOp::create(builder, module.getLoc(),
                             LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                             /*isConstant=*/false, LLVM::Linkage::External,
                             "global_smem", Attribute(), /*alignment=*/1024,
                             /*addrSpace=*/3);
    for (func::FuncOp kernel : kernels)
      if (failed(LowerKernel(kernel, maxOps, describeAccesses, splitWords,
                             storeMatrices)
                     .run()))
        return signalPassFailure();

    if (failed(lowerMath(module)) || failed(checkMath(module)))
      return signalPassFailure();
    OpPassManager last(ModuleOp::getOperationName());
    last.addPass(createCSEPass());
    last.addPass(createSCFToControlFlowPass());
    last.addPass(createArithToLLVMConversionPass());
    last.addPass(createConvertMathToLLVMPass());
    last.addPass(createConvertControlFlowToLLVMPass());
    last.addPass(createReconcileUnrealizedCastsPass());
    last.addPass(createCanonicalizerPass());
    last.addPass(createCSEPass());
    if (failed(runPipeline(last, module)))
      return signalPassFailure();
  }
};

} // namespace
} // namespace drawloom::nvptx
