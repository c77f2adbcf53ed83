//===- Accumulators.cpp - sums of products by mma.sync -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/Accumulators.h"
#include "codegen/nvptx/layouts/Dots.h"

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

Accumulators::Accumulators(ThreadProgram &program, tile::DotOp op)
    : program(program), op(op),
      layout(*tile::layoutOf(op.getResult().getType())),
      registers(program.registers.lookup(op.getAccumulator())) {
  // Columns are those of the instructions.
  for (int64_t i = 0; i < layout.registerCount(); ++i) {
    SmallVector<int64_t> at = layout.registerOffset(i, 2);
    rows.insert(at[0] / 16 * 16);
    columns.insert(tile::accumulatorPosition(at[1], op.columnsInThread()) / 8 *
                   8);
  }
}

void Accumulators::add(int64_t row, int64_t column, const Registers &a,
                       const Registers &b, int64_t depth, NVVM::MMATypes type) {
  ImplicitLocOpBuilder &builder = program.builder;
  SmallVector<int64_t> places;
  Registers c;
  for (auto [m, n] :
       {std::pair(0, 0), std::pair(0, 1), std::pair(8, 0), std::pair(8, 1)}) {
    places.push_back(*layout.registerAt(
        {row + m, tile::accumulatorColumn(column + n, op.columnsInThread())}));
    c.push_back(registers[places.back()]);
  }
  // Of rows that are alike a thread keeps one.
  bool rowsAlike = op->hasAttr(rowsAlikeAttr);
  Type f32 = builder.getF32Type();
  if (rowsAlike)
    c[2] = c[3] =
        LLVM::ConstantOp::create(builder, f32, builder.getF32FloatAttr(0));
  Type four = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               SmallVector<Type>(4, f32));
  Value product = NVVM::MmaOp::create(
      builder, four, a, b, c, ArrayRef<int64_t>{16, 8, depth},
      /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
      std::array<NVVM::MMATypes, 2>{type, type},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  program.count();
  for (auto [i, place] : llvm::enumerate(places))
    registers[place] =
        rowsAlike && i >= 2
            ? registers[places[i - 2]]
            : LLVM::ExtractValueOp::create(builder, product, i).getResult();
}

ThreadBits Accumulators::warpBits(int64_t dim, int64_t stride) const {
  ThreadBits bits;
  for (auto [i, digit] : llvm::enumerate(layout.warps))
    if (!digit.replicated() && digit.dim == dim)
      bits.push_back({Layout::laneBits + i, digit.stride * stride});
  return bits;
}

} // namespace drawloom::nvptx
