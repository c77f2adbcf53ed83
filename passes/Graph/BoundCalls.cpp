//===- BoundCalls.cpp - how large calls make a program --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/SymbolTable.h"
#include "passes/Graph/Passes.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_BOUNDCALLS
#include "passes/Graph/Passes.h.inc"

namespace {

struct BoundCalls : impl::BoundCallsBase<BoundCalls> {
  using BoundCallsBase::BoundCallsBase;

  /// The operations of `function` with all calls expanded, at most one more
  /// than the bound; fails where a call leads back to it.
  FailureOr<int64_t> sizeOf(func::FuncOp function,
                            SymbolTableCollection &symbols, int depth = 0) {
    if (depth > mostDepth)
      return function.emitError("calls are nested more than ")
             << mostDepth << " deep here; write the repetition as scf.for";
    auto [known, isNew] = sizes.try_emplace(function, beingCounted);
    if (!isNew) {
      if (known->second != beingCounted)
        return known->second;
      return function.emitError("'@")
             << function.getName()
             << "' calls itself: calls are expanded where they stand, and "
                "these "
                "would have no end; write the repetition as scf.for or "
                "scf.while";
    }
    int64_t size = 0;
    bool failed = false;
    function.walk([&](Operation *op) {
      ++size;
      // Every op that names a function takes its body in: calls, requests for
      // derivatives.
      auto callee = op->getAttrOfType<FlatSymbolRefAttr>("callee");
      auto target =
          callee ? symbols.lookupNearestSymbolFrom<func::FuncOp>(op, callee)
                 : func::FuncOp();
      if (!target || target.isExternal())
        return WalkResult::advance();
      FailureOr<int64_t> added = sizeOf(target, symbols, depth + 1);
      failed = mlir::failed(added);
      if (failed)
        return WalkResult::interrupt();
      size = std::min(size + *added, maxOperations + 1);
      return WalkResult::advance();
    });
    if (failed)
      return failure();
    sizes[function] = size;
    return size;
  }

  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto function : getOperation()->getRegion(0).getOps<func::FuncOp>()) {
      FailureOr<int64_t> size = sizeOf(function, symbols);
      if (succeeded(size) && *size > maxOperations)
        function.emitError("'@")
            << function.getName() << "' has more than "
            << maxOperations.getValue()
            << " operations when all its calls are expanded, which is as many "
               "as "
               "are compiled; call less often, or write the repetition as "
               "scf.for";
      if (failed(size) || *size > maxOperations)
        return signalPassFailure();
    }
  }

private:
  static constexpr int64_t beingCounted = -1;
  /// A chain of calls is followed on the stack.
  static constexpr int mostDepth = 5000;
  DenseMap<Operation *, int64_t> sizes;
};

} // namespace
} // namespace drawloom
