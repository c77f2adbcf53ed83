//===- RefineResults.cpp - return what is known about shapes --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_REFINERESULTS
#include "passes/Graph/Passes.h.inc"

namespace {

struct RefineResults : impl::RefineResultsBase<RefineResults> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // A private function has callers, which rely on its type.
    if (function.isPrivate() || function.isExternal() ||
        !function.getBody().hasOneBlock())
      return;
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      if (auto cast = operand.get().getDefiningOp<tensor::CastOp>())
        if (tensor::preservesStaticInformation(cast.getType(),
                                               cast.getSource().getType()))
          operand.set(cast.getSource());
    function.setType(FunctionType::get(&getContext(),
                                       function.getArgumentTypes(),
                                       terminator->getOperandTypes()));
  }
};

} // namespace
} // namespace drawloom
