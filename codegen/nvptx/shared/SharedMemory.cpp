//===- SharedMemory.cpp - buffers of shared memory, and what fills them --===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/shared/SharedMemory.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

Value rootOf(Value memory) {
  while (Operation *view = memory.getDefiningOp()) {
    if (isa<tile::AllocOp>(view))
      break;
    memory = view->getOperand(0);
  }
  return memory;
}

DenseSet<Value> inputsOf(func::FuncOp kernel) {
  DenseSet<Value> inputs;
  int64_t count = kernel->getAttrOfType<IntegerAttr>(inputsAttr).getInt();
  for (BlockArgument argument : kernel.getArguments().take_front(count))
    inputs.insert(argument);
  return inputs;
}

int64_t bytesOf(MemRefType type) {
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip(type.getShape(), strides))
    last += (extent - 1) * stride;
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return (last + 1) * llvm::divideCeil(bits, 8);
}

bool isFree(Operation *op) {
  return isa_and_nonnull<tile::SplatOp, tile::IotaOp, tile::BroadcastOp>(op);
}

bool isOwned(const Layout &layout) {
  auto replicated = [](const tile::Digit &digit) { return digit.replicated(); };
  return llvm::none_of(layout.lanes, replicated) &&
         llvm::none_of(layout.warps, replicated);
}

Value cloneFree(OpBuilder &builder, Value tile) {
  Operation *op = tile.getDefiningOp();
  IRMapping mapping;
  if (isa<tile::BroadcastOp>(op))
    if (auto load = op->getOperand(0).getDefiningOp<tile::LoadOp>()) {
      auto memory = dyn_cast<BlockArgument>(rootOf(load.getSource()));
      auto kernel = load->getParentOfType<func::FuncOp>();
      if (memory && memory.getOwner() == &kernel.getBody().front() &&
          static_cast<int64_t>(memory.getArgNumber()) <
              kernel->getAttrOfType<IntegerAttr>(inputsAttr).getInt())
        mapping.map(load.getResult(), builder.clone(*load)->getResult(0));
    }
  return builder.clone(*op, mapping)->getResult(0);
}

Value allocatePadded(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                     Type element) {
  Attribute space = builder.getI64IntegerAttr(tile::sharedSpace);
  MemRefLayoutAttrInterface layout;
  int64_t bytes = element.isIndex()
                      ? 8
                      : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  if (shape.size() >= 2) {
    int64_t row = shape.back() * bytes;
    if (row % 16 == 0 && row % 32 == 0) {
      SmallVector<int64_t> strides(shape.size(), 1);
      int64_t stride = shape.back() + 16 / bytes;
      for (int64_t dim = static_cast<int64_t>(shape.size()) - 2; dim >= 0;
           --dim) {
        strides[dim] = stride;
        stride *= shape[dim];
      }
      layout = StridedLayoutAttr::get(builder.getContext(), 0, strides);
    }
  }
  return tile::AllocOp::create(builder, loc,
                               MemRefType::get(shape, element, layout, space),
                               IntegerAttr());
}
/// Whether a load may go in front of a loop: a loop that does not run may have
/// nothing to read where its offsets point to.
static bool mayReadBefore(scf::ForOp loop, Value memory) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> to = getConstantIntValue(loop.getUpperBound());
  if (from && to && *from < *to)
    return true;
  while (Operation *view = memory.getDefiningOp()) {
    if (auto part = dyn_cast<memref::SubViewOp>(view);
        part && part->getNumOperands() > 1)
      return false;
    memory = view->getOperand(0);
  }
  return true;
}

bool collectInvariant(scf::ForOp loop, Value value,
                      const DenseSet<Value> &inputs,
                      llvm::SetVector<Operation *> &ops) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumRegions() != 0 || def->getBlock() != loop.getBody())
    return false;
  if (!isPure(def) && !isa<tile::LoadOp>(def))
    return false;
  for (Value operand : def->getOperands())
    if (!collectInvariant(loop, operand, inputs, ops))
      return false;
  if (auto load = dyn_cast<tile::LoadOp>(def)) {
    if (!inputs.contains(rootOf(load.getSource())) ||
        !mayReadBefore(loop, load.getSource()))
      return false;
  }
  ops.insert(def);
  return true;
}

} // namespace drawloom::nvptx
