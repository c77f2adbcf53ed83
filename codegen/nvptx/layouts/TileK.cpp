//===- TileK.cpp - loops over the steps of long products -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operands of a product lie in shared memory at full depth. Where that is
// more than there is, or more than is good for the blocks beside this one, a
// loop goes over the steps, some at a time, and carries the sums: in the same
// order, so with the same bits. What the loop reads of inputs is copied an
// iteration ahead (PipelineCopies.cpp).
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/dialect/Tile.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXTILEK
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// Bytes that the operands of an iteration should take.
constexpr int64_t iterationBytes = 16 * 1024;
/// Steps of the largest instruction.
constexpr int64_t leastSteps = 16;

class KTiling {
public:
  KTiling(OpBuilder &builder, func::FuncOp kernel)
      : builder(builder), kernel(kernel) {}

  void tile(tile::DotOp dot, int64_t steps);

private:
  /// The operand's steps from `at` on, which is a number or a value.
  Value part(Value operand, int64_t dim, OpFoldResult at, int64_t count);
  /// What part() reads many times, where it can be read in parts.
  void prepare(Value operand);
  Value subview(Location loc, Value memory, int64_t dim, OpFoldResult at,
                int64_t count);

  OpBuilder &builder;
  func::FuncOp kernel;
  /// Copies of tiles that are made by more than arithmetic on inputs.
  DenseMap<Value, Value> copies;
};

RankedTensorType withExtent(Type type, int64_t dim, int64_t extent) {
  auto ranked = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(ranked.getShape());
  shape[dim] = extent;
  return ranked.clone(shape);
}

/// Whether it is arithmetic of one element of each operand, all tiles of the
/// same shape.
bool isElementwise(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         OpTrait::hasElementwiseMappableTraits(op) &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Whether a tile is arithmetic on inputs, element by element: then any part of
/// it can be read by itself, at any time.
bool isSliceable(func::FuncOp kernel, Value tile) {
  Operation *def = tile.getDefiningOp();
  if (!def)
    return false;
  if (isa<tile::SplatOp>(def))
    return true;
  if (auto load = dyn_cast<tile::LoadOp>(def)) {
    // An input says the same whenever it is read.
    Value root = load.getSource();
    while (Operation *view = root.getDefiningOp()) {
      if (!isa<memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp,
               memref::ExpandShapeOp>(view))
        return false;
      root = view->getOperand(0);
    }
    auto argument = cast<BlockArgument>(root);
    return argument.getOwner() == &kernel.getBody().front() &&
           static_cast<int64_t>(argument.getArgNumber()) <
               kernel->getAttrOfType<IntegerAttr>(inputsAttr).getInt();
  }
  return isElementwise(def) &&
         llvm::all_of(def->getOperands(), [&](Value operand) {
           return isSliceable(kernel, operand);
         });
}

void KTiling::prepare(Value operand) {
  if (isa<MemRefType>(operand.getType()) || isSliceable(kernel, operand) ||
      copies.contains(operand))
    return;
  auto type = cast<RankedTensorType>(operand.getType());
  Value buffer = allocatePadded(builder, operand.getLoc(), type.getShape(),
                                type.getElementType());
  tile::StoreOp::create(builder, operand.getLoc(), operand, buffer);
  copies[operand] = buffer;
}

Value KTiling::subview(Location loc, Value memory, int64_t dim, OpFoldResult at,
                       int64_t count) {
  auto type = cast<MemRefType>(memory.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)),
      sizes = memref::getMixedSizes(builder, loc, memory),
      ones(rank, builder.getIndexAttr(1));
  offsets[dim] = at;
  sizes[dim] = builder.getIndexAttr(count);
  return memref::SubViewOp::create(builder, loc, memory, offsets, sizes, ones);
}

Value KTiling::part(Value operand, int64_t dim, OpFoldResult at,
                    int64_t count) {
  Location loc = operand.getLoc();
  if (isa<MemRefType>(operand.getType()))
    return subview(loc, operand, dim, at, count);
  if (Value copy = copies.lookup(operand))
    return subview(loc, copy, dim, at, count);
  RankedTensorType type = withExtent(operand.getType(), dim, count);
  Operation *def = operand.getDefiningOp();
  if (auto load = dyn_cast<tile::LoadOp>(def))
    return tile::LoadOp::create(builder, loc, type,
                                subview(loc, load.getSource(), dim, at, count));
  if (auto splat = dyn_cast<tile::SplatOp>(def))
    return tile::SplatOp::create(builder, loc, type, splat.getValue());
  OperationState state(loc, def->getName());
  for (Value given : def->getOperands())
    state.addOperands(part(given, dim, at, count));
  state.addTypes(type);
  state.addAttributes(llvm::to_vector(def->getDiscardableAttrs()));
  state.propertiesAttr = def->getPropertiesAsAttribute();
  return builder.create(state)->getResult(0);
}

void KTiling::tile(tile::DotOp dot, int64_t steps) {
  Location loc = dot.getLoc();
  builder.setInsertionPoint(dot);
  prepare(dot.getA());
  prepare(dot.getB());
  int64_t whole = dot.getK() / steps * steps;
  auto product = [&](OpFoldResult at, int64_t count, Value sums) -> Value {
    Value a = part(dot.getA(), dot.getTransposeA() ? 0 : 1, at, count);
    Value b = part(dot.getB(), dot.getTransposeB() ? 1 : 0, at, count);
    return tile::DotOp::create(builder, loc, sums.getType(), a, b, sums,
                               dot.getTransposeA(), dot.getTransposeB(),
                               dot.getNeighboursAttr(), dot.getTf32(),
                               /*batch=*/IntegerAttr());
  };
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto loop = scf::ForOp::create(builder, loc, index(0), index(whole),
                                 index(steps), dot.getAccumulator());
  Value sums = loop.getResult(0);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(
        builder, loc,
        product(loop.getInductionVar(), steps, loop.getRegionIterArg(0)));
  }
  if (whole < dot.getK())
    sums = product(builder.getIndexAttr(whole), dot.getK() - whole, sums);
  dot.replaceAllUsesWith(sums);
  dot.erase();
}

} // namespace

/// Whether every product of a kernel multiplies inputs, once: then nothing is
/// lost where these are read in parts.
static bool readsInputsOnce(func::FuncOp kernel) {
  bool once = true;
  kernel.walk([&](tile::DotOp dot) {
    once &= !dot->getParentOfType<scf::ForOp>() &&
            isSliceable(kernel, dot.getA()) && isSliceable(kernel, dot.getB());
  });
  return once;
}

/// Products whose operands take more than `most` bytes go over their steps in a
/// loop.
static void tileProducts(OpBuilder &builder, func::FuncOp kernel,
                         int64_t most) {
  SmallVector<tile::DotOp> dots;
  kernel.walk([&](tile::DotOp dot) { dots.push_back(dot); });
  bool changed = false;
  KTiling tiling(builder, kernel);
  for (tile::DotOp dot : dots) {
    Type element = getElementTypeOrSelf(dot.getA().getType());
    int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    int64_t step = bytes * (dot.getM() + dot.getN());
    if (dot.getBatch() || step * dot.getK() <= most)
      continue;
    int64_t steps = std::max(
        leastSteps,
        static_cast<int64_t>(llvm::bit_floor<uint64_t>(iterationBytes / step)));
    if (steps >= dot.getK())
      continue;
    tiling.tile(dot, steps);
    changed = true;
  }
  // What made operands whole may be needed no more.
  if (changed)
    kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
}

namespace {
struct NvptxTileK : impl::NvptxTileKBase<NvptxTileK> {
  using NvptxTileKBase::NvptxTileKBase;
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel) || (onlyInputs && !readsInputsOnce(kernel)))
      return;
    OpBuilder builder(&getContext());
    tileProducts(builder, kernel, maxBytes);
  }
};
} // namespace

} // namespace drawloom::nvptx
