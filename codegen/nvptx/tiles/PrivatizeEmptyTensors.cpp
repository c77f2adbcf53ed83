//===- PrivatizeEmptyTensors.cpp - one empty tensor for each use ---------===//
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

#include "codegen/nvptx/tiles/BlockToTile.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::nvptx {

/// Each use of a slice of `empty` has a slice of its own.
static void separateSlices(tensor::EmptyOp empty, OpBuilder &builder) {
  SmallVector<tensor::ExtractSliceOp> slices;
  for (Operation *user : empty->getUsers())
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
      slices.push_back(slice);
  for (tensor::ExtractSliceOp slice : slices)
    for (OpOperand &use :
         llvm::make_early_inc_range(llvm::drop_begin(slice->getUses()))) {
      builder.setInsertionPointAfter(slice);
      use.set(builder.clone(*slice)->getResult(0));
    }
}

void privatizeEmptyTensors(func::FuncOp kernel) {
  SmallVector<tensor::EmptyOp> empties;
  kernel.walk([&](tensor::EmptyOp empty) { empties.push_back(empty); });
  OpBuilder builder(kernel);
  for (tensor::EmptyOp empty : empties) {
    if (empty->use_empty() || empty->hasOneUse())
      continue;
    separateSlices(empty, builder);
    // A slice is together with the insertion that puts it back, which comes
    // later; nothing else is.
    SmallVector<OpOperand *> uses;
    DenseMap<Operation *, OpOperand *> sliceOf;
    for (OpOperand &use : empty->getUses()) {
      uses.push_back(&use);
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner()))
        if (Operation *place = putBack(slice.getResult(), slice))
          sliceOf.try_emplace(place, &use);
    }
    SmallVector<SmallVector<OpOperand *>> groups;
    DenseSet<OpOperand *> grouped;
    for (OpOperand *use : uses) {
      OpOperand *slice = sliceOf.lookup(use->getOwner());
      if (!slice)
        continue;
      groups.push_back({slice, use});
      grouped.insert(slice);
      grouped.insert(use);
    }
    for (OpOperand *use : uses)
      if (!grouped.contains(use))
        groups.push_back({use});
    for (ArrayRef<OpOperand *> group : ArrayRef(groups).drop_front()) {
      builder.setInsertionPointAfter(empty);
      Value own = builder.clone(*empty)->getResult(0);
      for (OpOperand *use : group)
        use->set(own);
    }
  }
}

} // namespace drawloom::nvptx
