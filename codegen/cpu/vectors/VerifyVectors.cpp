//===- VerifyVectors.cpp - what would make vector code slow ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUVERIFYVECTORS
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

constexpr int64_t largestVector = 1024;

struct CpuVerifyVectors : impl::CpuVerifyVectorsBase<CpuVerifyVectors> {
  using CpuVerifyVectorsBase::CpuVerifyVectorsBase;

  /// Whether only products read `value`, by rows: these are taken one by one,
  /// and there is no vector of them.
  static bool areRowsOfProducts(Value value) {
    return llvm::all_of(value.getUses(), [](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isa<vector::ContractionOp>(user))
        return use.getOperandNumber() == 0;
      return isa<vector::BroadcastOp, vector::ExtractOp, vector::TransposeOp>(
                 user) &&
             areRowsOfProducts(user->getResult(0));
    });
  }

  /// Null where the type is fine.
  StringRef fault(Value value) const {
    auto vector = dyn_cast<VectorType>(value.getType());
    if (!vector)
      return {};
    if (vector.getNumElements() > largestVector)
      return "has a vector of more than 1024 elements, which would be unrolled";
    if (vector.getRank() > 0 &&
        !llvm::isPowerOf2_64(vector.getShape().back()) &&
        !areRowsOfProducts(value))
      return "has a vector whose last dimension is not a power of two, which "
             "the machine does not have";
    return {};
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    int64_t operations = 0;
    bool failed = false;
    function.walk([&](Operation *op) {
      ++operations;
      if (isa<linalg::LinalgOp>(op)) {
        op->emitOpError("is left after vectorization");
        failed = true;
        return;
      }
      for (Value result : op->getResults())
        if (StringRef why = fault(result); !why.empty()) {
          op->emitOpError(why);
          failed = true;
          return;
        }
    });
    auto source = function->getAttrOfType<IntegerAttr>(sourceOpsAttr);
    // A function of few ops has its address arithmetic all the same.
    int64_t budget =
        source ? (source.getInt() + 8) * operationsPerSourceOp : operations;
    if (operations > budget) {
      function.emitError("holds ")
          << operations << " operations after vectorization, more than "
          << budget << " (" << operationsPerSourceOp.getValue()
          << " for each of its " << source.getInt()
          << " ops and 8 more): choose smaller register tiles";
      failed = true;
    }
    if (failed)
      signalPassFailure();
  }
};

} // namespace
} // namespace drawloom::cpu
