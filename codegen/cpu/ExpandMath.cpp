//===- ExpandMath.cpp - elementary functions as vector arithmetic ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/MathFunctions.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/ShareRepeats.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATH
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// Functions of more elementary functions than this call them: each becomes
/// some thirty operations, and assigning registers to ten thousands of
/// operations in a row takes more than linear time.
constexpr size_t mostExpandedInPlace = 200;

/// Puts elementary functions that `function` takes of vectors over and over
/// into functions of their own.
void callFunctions(func::FuncOp function, SymbolTable &symbols) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    // By their operations a square root and its like are cheaper than a call.
    if (isa<math::MathDialect>(op->getDialect()) && op->getNumResults() == 1 &&
        isa<VectorType>(op->getResult(0).getType()) &&
        getElementTypeOrSelf(op->getResult(0).getType()).isF32() &&
        !isa<math::AbsFOp, math::SqrtOp, math::FmaOp, math::CopySignOp,
             math::FloorOp, math::CeilOp, math::RoundEvenOp, math::TruncOp>(op))
      ops.push_back(op);
  });
  if (ops.size() <= mostExpandedInPlace)
    return;
  OpBuilder builder(function);
  // By name, attributes and type of what is called.
  DenseMap<std::tuple<OperationName, DictionaryAttr, Type>, func::FuncOp> known;
  for (Operation *op : ops) {
    auto type =
        builder.getFunctionType(op->getOperandTypes(), op->getResultTypes());
    func::FuncOp &callee =
        known[{op->getName(), op->getAttrDictionary(), type}];
    if (!callee) {
      callee = createSharedFunction(
          function, symbols, op->getLoc(),
          function.getName() + "_" + op->getName().stripDialect(), type);
      Block *body = &callee.getBody().front();
      builder.setInsertionPointToStart(body);
      IRMapping mapping;
      mapping.map(op->getOperands(), body->getArguments());
      func::ReturnOp::create(builder, op->getLoc(),
                             builder.clone(*op, mapping)->getResults());
    }
    builder.setInsertionPoint(op);
    op->replaceAllUsesWith(
        func::CallOp::create(builder, op->getLoc(), callee, op->getOperands()));
    op->erase();
  }
}

struct CpuExpandMath : impl::CpuExpandMathBase<CpuExpandMath> {
  void runOnOperation() override {
    if (auto module = dyn_cast<ModuleOp>(getOperation())) {
      SymbolTable symbols(module);
      for (auto function :
           llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
        callFunctions(function, symbols);
    }
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
