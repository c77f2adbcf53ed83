//===- MultiplyAdds.cpp - products that keep their extra bits -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which products are rounded once with the sums that take them up is part of
// the bits of a program. So it is said here, and not allowed to LLVM, which
// would choose by what else it sees: loops that are unrolled for few rows would
// round otherwise than those for many.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/MultiplyAdds.h"
#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUFUSEMULTIPLYADDS
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {

void fuseMultiplyAdds(Operation *root,
                      llvm::function_ref<bool(Operation *)> mayFuse) {
  SmallVector<Operation *> sums;
  root->walk([&](Operation *op) {
    if (!isa<arith::AddFOp, arith::SubFOp>(op))
      return;
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    if ((type.isF32() || type.isF64()) && mayFuse(op))
      sums.push_back(op);
  });
  for (Operation *op : sums) {
    auto productOf = [&](unsigned i) {
      auto product = op->getOperand(i).getDefiningOp<arith::MulFOp>();
      return product && product->hasOneUse() ? product : arith::MulFOp();
    };
    arith::MulFOp first = productOf(0), second = productOf(1);
    if (!first && !second)
      continue;
    OpBuilder b(op);
    Location loc = op->getLoc();
    arith::MulFOp product = first ? first : second;
    Value x = product.getLhs(), added = op->getOperand(first ? 1 : 0);
    if (isa<arith::SubFOp>(op)) {
      // x y - z = x y + (-z), and z - x y = (-x) y + z.
      Value &negative = first ? added : x;
      negative = arith::NegFOp::create(b, loc, negative);
    }
    op->replaceAllUsesWith(
        math::FmaOp::create(b, loc, x, product.getRhs(), added));
    op->erase();
    product->erase();
  }
}

namespace {

struct CpuFuseMultiplyAdds
    : impl::CpuFuseMultiplyAddsBase<CpuFuseMultiplyAdds> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp op) { generics.push_back(op); });
    for (linalg::GenericOp op : generics) {
      // What adds to a result is how reductions and products are known.
      auto addsToResult = [&](Operation *sum) {
        return llvm::any_of(sum->getOperands(), [&](Value operand) {
          return llvm::is_contained(op.getRegionOutputArgs(), operand);
        });
      };
      fuseMultiplyAdds(op, [&](Operation *sum) { return !addsToResult(sum); });
    }
  }
};

} // namespace
} // namespace drawloom::cpu
