//===- StreamStores.cpp - results that are written past the cache ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/llvm/StreamStores.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/buffers/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUSTREAMSTORES
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {

bool isOnlyWritten(Value memory) {
  return llvm::all_of(memory.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto write = dyn_cast<vector::TransferWriteOp>(user))
      return &use == &write.getBaseMutable();
    return isa<ViewLikeOpInterface>(user) && isOnlyWritten(user->getResult(0));
  });
}

namespace {

/// The argument of `kernel` that `write` goes to, if that is marked.
std::optional<unsigned> streamedArgument(func::FuncOp kernel,
                                         vector::TransferWriteOp write) {
  auto memory = dyn_cast<BlockArgument>(wholeOf(write.getBase()));
  if (!memory || memory.getOwner() != &kernel.getBody().front() ||
      !kernel.getArgAttr(memory.getArgNumber(), streamedAttr))
    return std::nullopt;
  return memory.getArgNumber();
}

void streamStores(func::FuncOp kernel, Region &region) {
  OpBuilder b(kernel.getContext());
  region.walk([&](vector::TransferWriteOp write) {
    VectorType type = write.getVectorType();
    if (!type.getElementType().isIntOrFloat() ||
        !streamedArgument(kernel, write))
      return;
    int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    // Smaller parts of a cache line would be written one by one.
    if (type.getRank() != 1 || bytes % 32 != 0 || write.getMask() ||
        write.hasOutOfBoundsDim() ||
        !write.getPermutationMap().isMinorIdentity() ||
        !cast<MemRefType>(write.getBase().getType()).isLastDimUnitStride())
      return;
    b.setInsertionPoint(write);
    vector::StoreOp::create(b, write.getLoc(), write.getVector(),
                            write.getBase(), write.getIndices(),
                            /*nontemporal=*/true,
                            llvm::MaybeAlign(std::min<int64_t>(bytes, 64)));
    write.erase();
  });
}

/// Runs the loops of `kernel` in one of two ways, of which the first is
/// returned: a branch at each store would cost more than such stores gain.
Region &splitWays(func::FuncOp kernel, Value streams) {
  Block &body = kernel.getBody().front();
  auto first =
      llvm::find_if(body, [](Operation &op) { return op.getNumRegions() > 0; });
  // Buffers on the stack stay in front of the branch.
  SmallVector<Operation *> ways;
  for (Operation &op :
       llvm::make_range(first, body.getTerminator()->getIterator()))
    ways.push_back(&op);
  Location loc = kernel.getLoc();
  OpBuilder b(&body, first);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value chosen =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, streams, zero);
  auto choice = scf::IfOp::create(b, loc, chosen, /*withElseRegion=*/true);
  OpBuilder past = choice.getThenBodyBuilder();
  IRMapping mapping;
  for (Operation *op : ways) {
    past.clone(*op, mapping);
    op->moveBefore(choice.elseBlock()->getTerminator());
  }
  return choice.getThenRegion();
}

struct CpuStreamStores : impl::CpuStreamStoresBase<CpuStreamStores> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (kernel.isExternal())
      return;
    Region *region = &kernel.getBody();
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      if (auto number = kernel.getArgAttrOfType<IntegerAttr>(i, streamedAttr)) {
        region = &splitWays(kernel, kernel.getArgument(number.getInt()));
        break;
      }
    streamStores(kernel, *region);
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      kernel.removeArgAttr(i, streamedAttr);
  }
};

} // namespace

void guardStreamedStores(LLVM::LLVMFuncOp function) {
  SmallVector<LLVM::StoreOp> stores;
  function.walk([&](LLVM::StoreOp store) {
    if (store.getNontemporal())
      stores.push_back(store);
  });
  if (stores.empty())
    return;
  OpBuilder b(function.getContext());
  Type i64 = b.getI64Type();
  for (LLVM::StoreOp store : stores) {
    Location loc = store.getLoc();
    Block *before = store->getBlock();
    Block *after = before->splitBlock(store->getNextNode());
    Block *streamed = before->splitBlock(store);
    Block *ordinary = b.createBlock(after);
    b.setInsertionPointToEnd(ordinary);
    auto plain = cast<LLVM::StoreOp>(b.clone(*store));
    plain.setNontemporal(false);
    plain.setAlignment(1);
    LLVM::BrOp::create(b, loc, after);
    b.setInsertionPointToEnd(streamed);
    LLVM::BrOp::create(b, loc, after);
    b.setInsertionPointToEnd(before);
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
    };
    Value address = LLVM::PtrToIntOp::create(b, loc, i64, store.getAddr());
    Value within = LLVM::AndOp::create(b, loc, address,
                                       constant(*store.getAlignment() - 1));
    Value aligned = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq,
                                         within, constant(0));
    LLVM::CondBrOp::create(b, loc, aligned, streamed, ordinary);
  }
  // Such stores are ordered with nothing else: whoever is told that the kernel
  // is done must see them.
  function.walk([&](LLVM::ReturnOp end) {
    b.setInsertionPoint(end);
    LLVM::CallIntrinsicOp::create(
        b, end.getLoc(), b.getStringAttr("llvm.x86.sse.sfence"), ValueRange());
  });
}

} // namespace drawloom::cpu
