//===- ExpandMath.cpp - elementary functions as vector arithmetic ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/MathFunctions.h"
#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATH
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

struct CpuExpandMath : impl::CpuExpandMathBase<CpuExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    // The C library has what upstream's polynomials are bad at.
    populateMathExpansions(patterns, /*all=*/false);
    arith::populateExpandBFloat16Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // A product that a sum takes up may keep its extra bits: one multiply-add
    // where the machine has it, and never less accurate.
    getOperation()->walk([](Operation *op) {
      if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
        return;
      auto fastMath = cast<arith::ArithFastMathInterface>(op);
      arith::FastMathFlags flags = fastMath.getFastMathFlagsAttr().getValue() |
                                   arith::FastMathFlags::contract;
      op->setAttr(fastMath.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(op->getContext(), flags));
    });
  }
};

} // namespace
} // namespace drawloom::cpu
