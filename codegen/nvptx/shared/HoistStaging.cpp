//===- HoistStaging.cpp - what each iteration stages alike is staged once ===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXHOISTSTAGING
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

void hoistStaging(func::FuncOp kernel, int64_t limit) {
  int64_t hoisted = 0;
  DenseSet<Operation *> counted;
  DenseSet<Value> inputs = inputsOf(kernel);
  // From the innermost loop outwards.
  kernel.walk([&](scf::ForOp loop) {
    SmallVector<tile::AllocOp> buffers(loop.getBody()->getOps<tile::AllocOp>());
    for (tile::AllocOp buffer : buffers) {
      llvm::SetVector<Operation *> ops;
      SmallVector<tile::StoreOp> stores;
      SmallVector<Operation *> readers;
      bool invariant = true;
      std::function<void(Value)> visit = [&](Value memory) {
        for (Operation *user : memory.getUsers()) {
          if (isa<memref::SubViewOp, memref::ReinterpretCastOp>(user)) {
            visit(user->getResult(0));
            continue;
          }
          auto store = dyn_cast<tile::StoreOp>(user);
          if (!store) {
            readers.push_back(user);
            invariant &= isa<tile::DotOp, tile::LoadOp>(user);
            continue;
          }
          if (store->getBlock() != loop.getBody())
            invariant = false;
          stores.push_back(store);
        }
      };
      visit(buffer);
      if (!invariant)
        continue;
      llvm::sort(stores, [](tile::StoreOp a, tile::StoreOp b) {
        return a->isBeforeInBlock(b);
      });
      // What is read before the last of them must not find what that one
      // stores.
      for (Operation *reader : readers) {
        Operation *ancestor = loop.getBody()->findAncestorOpInBlock(*reader);
        invariant &= !stores.empty() && ancestor &&
                     stores.back()->isBeforeInBlock(ancestor);
      }
      // The buffer's own address is the same wherever it is taken.
      for (tile::StoreOp store : stores) {
        invariant =
            invariant && collectInvariant(loop, store.getSource(), inputs, ops);
        if (invariant && store.getDest() != buffer.getBuffer()) {
          Operation *view = store.getDest().getDefiningOp();
          invariant = llvm::all_of(
              view->getOperands().drop_front(), [&](Value operand) {
                return !loop.getRegion().isAncestor(operand.getParentRegion());
              });
          ops.insert(view);
        }
        ops.insert(store);
      }
      if (!invariant || stores.empty())
        continue;
      int64_t bytes = bytesOf(cast<MemRefType>(buffer.getBuffer().getType()));
      // A buffer that was taken out of an inner loop is counted already.
      if (!counted.contains(buffer) && hoisted + bytes > limit)
        continue;
      if (counted.insert(buffer).second)
        hoisted += bytes;
      buffer->moveBefore(loop);
      for (Operation *op : ops)
        op->moveBefore(loop);
    }
  });
}
struct NvptxHoistStaging : impl::NvptxHoistStagingBase<NvptxHoistStaging> {
  using NvptxHoistStagingBase::NvptxHoistStagingBase;
  void runOnOperation() override {
    if (isKernel(getOperation()))
      hoistStaging(getOperation(), limit);
  }
};

} // namespace
} // namespace drawloom::nvptx
