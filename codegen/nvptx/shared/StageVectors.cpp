//===- StageVectors.cpp - vectors of loops in shared memory --------------===//
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
#define GEN_PASS_DEF_NVPTXSTAGEVECTORS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {
namespace {

/// Registers of a thread that copies of vectors may take in a loop; what is
/// beyond is read from shared memory in each iteration.
constexpr int64_t mostVectorRegisters = 24;

/// The type that all uses of a vector widen it to, once they have broadcast it.
Type widenedElement(tile::LoadOp load) {
  Type wide;
  for (Operation *user : load->getUsers()) {
    auto broadcast = dyn_cast<tile::BroadcastOp>(user);
    if (!broadcast)
      return {};
    for (Operation *reader : broadcast->getUsers()) {
      auto extension = dyn_cast<arith::ExtFOp>(reader);
      if (!extension || (wide && wide != getElementTypeOrSelf(extension)))
        return {};
      wide = getElementTypeOrSelf(extension);
    }
  }
  return wide;
}

void stageVector(OpBuilder &builder, tile::LoadOp load) {
  auto type = cast<RankedTensorType>(load.getResult().getType());
  Layout layout = *tile::layoutOf(type);
  Location loc = load.getLoc();
  builder.setInsertionPoint(load);
  auto spread = tile::withLayout(
      type, tile::blockedLayout(
                type.getShape(),
                128 / std::max<int64_t>(type.getElementTypeBitWidth(), 16),
                layout.warpCount()));
  Value elements = tile::LoadOp::create(builder, loc, spread, load.getSource());
  Type wide = widenedElement(load), element = type.getElementType();
  if (wide) {
    element = wide;
    elements =
        arith::ExtFOp::create(builder, loc, spread.clone(wide), elements);
  }
  Value buffer = allocatePadded(builder, loc, type.getShape(), element);
  tile::StoreOp::create(builder, loc, elements, buffer);
  Value copies =
      tile::LoadOp::create(builder, loc, type.clone(element), buffer);
  if (!wide) {
    load.replaceAllUsesWith(copies);
    load.erase();
    return;
  }
  for (Operation *user : llvm::make_early_inc_range(load->getUsers())) {
    auto broadcast = cast<tile::BroadcastOp>(user);
    builder.setInsertionPoint(broadcast);
    Value rows = tile::BroadcastOp::create(
        builder, loc,
        cast<RankedTensorType>(broadcast.getResult().getType()).clone(wide),
        copies, broadcast.getDims());
    for (Operation *reader :
         llvm::make_early_inc_range(broadcast->getUsers())) {
      reader->getResult(0).replaceAllUsesWith(rows);
      reader->erase();
    }
    broadcast.erase();
  }
  load.erase();
}

void stageVectors(OpBuilder &builder, func::FuncOp kernel) {
  DenseSet<Value> inputs = inputsOf(kernel);
  kernel.walk([&](scf::ForOp loop) {
    SmallVector<tile::LoadOp> loads;
    int64_t registers = 0;
    for (auto load : loop.getBody()->getOps<tile::LoadOp>()) {
      auto type = cast<RankedTensorType>(load.getResult().getType());
      Layout layout = *tile::layoutOf(type);
      llvm::SetVector<Operation *> ops;
      if (!type.getElementType().isIntOrFloat() ||
          tile::isShared(load.getSource().getType()) ||
          llvm::none_of(layout.lanes,
                        [](tile::Digit lane) { return lane.replicated(); }) ||
          !collectInvariant(loop, load, inputs, ops))
        continue;
      loads.push_back(load);
      Type wide = widenedElement(load);
      registers +=
          layout.registerCount() *
          (wide ? wide : type.getElementType()).getIntOrFloatBitWidth() / 32;
    }
    if (registers > mostVectorRegisters)
      for (tile::LoadOp load : loads)
        stageVector(builder, load);
  });
}

struct NvptxStageVectors : impl::NvptxStageVectorsBase<NvptxStageVectors> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    if (isKernel(getOperation()))
      stageVectors(builder, getOperation());
  }
};

} // namespace
} // namespace drawloom::nvptx
