//===- ExpandConversions.cpp - conversions through shared memory ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/shared/SharedMemory.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXEXPANDCONVERSIONS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {
namespace {

void expandConversions(OpBuilder &builder, func::FuncOp kernel) {
  kernel.walk([&](tile::ConvertOp convert) {
    Layout from = *tile::layoutOf(convert.getSource().getType());
    Layout to = *tile::layoutOf(convert.getResult().getType());
    if (from.sameThreads(to))
      return;
    auto type = cast<RankedTensorType>(convert.getResult().getType());
    builder.setInsertionPoint(convert);
    Value buffer = allocatePadded(builder, convert.getLoc(), type.getShape(),
                                  type.getElementType());
    tile::StoreOp::create(builder, convert.getLoc(), convert.getSource(),
                          buffer);
    convert.replaceAllUsesWith(
        tile::LoadOp::create(builder, convert.getLoc(), type, buffer)
            .getResult());
    convert.erase();
  });
  kernel.walk([&](tile::ReduceOp reduce) {
    Layout layout = *tile::layoutOf(reduce.getSource().getType());
    int64_t shares = 1;
    for (const tile::Digit &digit : layout.warps)
      if (!digit.replicated() &&
          llvm::is_contained(reduce.getDims(), digit.dim))
        shares *= 2;
    if (shares == 1)
      return;
    auto type = cast<RankedTensorType>(reduce.getResult().getType());
    // A row of results for each warp that shares them.
    SmallVector<int64_t> shape{shares, 1};
    for (int64_t extent : tile::layoutOf(type)->extents(type.getRank()))
      shape[1] *= extent;
    builder.setInsertionPoint(reduce);
    Value buffer = tile::AllocOp::create(
        builder, reduce.getLoc(),
        MemRefType::get(shape, type.getElementType(),
                        MemRefLayoutAttrInterface(),
                        builder.getI64IntegerAttr(tile::sharedSpace)),
        IntegerAttr());
    reduce.getScratchMutable().assign(buffer);
  });
}

struct NvptxExpandConversions
    : impl::NvptxExpandConversionsBase<NvptxExpandConversions> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    if (isKernel(getOperation()))
      expandConversions(builder, getOperation());
  }
};

} // namespace
} // namespace drawloom::nvptx
