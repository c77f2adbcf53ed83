//===- SeparateEmpties.cpp - a tensor of its own for each that is made ----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors without content are all the same, so that two results that start as
// such ones start as one. But each is then filled in memory: in that of the
// result that it becomes, if it is the only one that starts there.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/BlockToTile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::nvptx {

static bool isSamePart(tensor::ExtractSliceOp slice,
                       tensor::InsertSliceOp insert) {
  return isEqualConstantIntOrValueArray(slice.getMixedOffsets(),
                                        insert.getMixedOffsets()) &&
         isEqualConstantIntOrValueArray(slice.getMixedSizes(),
                                        insert.getMixedSizes()) &&
         isEqualConstantIntOrValueArray(slice.getMixedStrides(),
                                        insert.getMixedStrides());
}

/// The loop's operand that a slice of `empty` is, which the loop fills and
/// `insert` puts back; null if there is none.
static OpOperand *filledSlice(tensor::EmptyOp empty,
                              tensor::InsertSliceOp insert) {
  auto loop = insert.getSource().getDefiningOp<scf::ForOp>();
  if (!loop)
    return nullptr;
  OpOperand *init = loop.getTiedLoopInit(cast<OpResult>(insert.getSource()));
  auto slice = init->get().getDefiningOp<tensor::ExtractSliceOp>();
  return slice && slice.getSource() == empty.getResult() &&
                 isSamePart(slice, insert)
             ? init
             : nullptr;
}

void separateEmpties(func::FuncOp kernel) {
  SmallVector<tensor::EmptyOp> empties;
  kernel.walk([&](tensor::EmptyOp empty) { empties.push_back(empty); });
  OpBuilder builder(kernel);
  for (tensor::EmptyOp empty : empties) {
    SmallVector<OpOperand *> starts;
    for (OpOperand &use : empty->getUses())
      if (auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
          insert ? &use == &insert.getDestMutable()
                 : isa<scf::ForOp>(use.getOwner()))
        starts.push_back(&use);
    for (OpOperand *start : ArrayRef(starts).drop_front(!starts.empty())) {
      builder.setInsertionPointAfter(empty);
      Value own = builder.clone(*empty)->getResult(0);
      if (auto insert = dyn_cast<tensor::InsertSliceOp>(start->getOwner()))
        if (OpOperand *init = filledSlice(empty, insert)) {
          Operation *slice = init->get().getDefiningOp();
          builder.setInsertionPointAfter(slice);
          Operation *other = builder.clone(*slice);
          other->setOperand(0, own);
          init->set(other->getResult(0));
        }
      start->set(own);
    }
  }
}

} // namespace drawloom::nvptx
