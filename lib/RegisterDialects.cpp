//===- RegisterDialects.cpp - every dialect, with its external models -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CompileTarget.h"
#include "dialects/Ad/Ad.h"
#include "dialects/Block/Block.h"
#include "dialects/Check/Check.h"
#include "dialects/Drawloom/Drawloom.h"
#include "dialects/Kan/Kan.h"
#include "dialects/LinRec/LinRec.h"
#include "dialects/Loss/Loss.h"
#include "dialects/Offload/Offload.h"
#include "dialects/Opt/Opt.h"
#include "dialects/Rgnn/Rgnn.h"
#include "dialects/Slr/Slr.h"
#include "lib/Compiler/Targets.h"
#include "lib/RegisterAll.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Differentiate/Passes.h"

using namespace mlir;

namespace drawloom {

void registerAllDialects(DialectRegistry &registry) {
  registry.insert<ad::AdDialect, block::BlockDialect, check::CheckDialect,
                  DrawloomDialect, kan::KanDialect, linrec::LinRecDialect,
                  loss::LossDialect, offload::OffloadDialect, opt::OptDialect,
                  rgnn::RgnnDialect, slr::SlrDialect>();
  registry.insert<affine::AffineDialect, arith::ArithDialect, gpu::GPUDialect,
                  bufferization::BufferizationDialect, cf::ControlFlowDialect,
                  func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                  scf::SCFDialect, tensor::TensorDialect, LLVM::LLVMDialect,
                  NVVM::NVVMDialect>();
  for (const CompileTarget *target : allTargets())
    target->registerDialects(registry);
  func::registerInlinerExtension(registry);
  // Its patterns mend what upstream's make of loops
  // (BlockCanonicalization.cpp).
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    context->loadDialect<block::BlockDialect>();
  });
  // Its attributes stand on functions, and are verified where it is loaded.
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *) {
    context->loadDialect<DrawloomDialect>();
  });
  registerDifferentiationRules(registry);
}

} // namespace drawloom
