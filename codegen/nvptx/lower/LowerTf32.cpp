//===- LowerTf32.cpp - f32 products on tensor cores -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fragments of m16n8k8 with operands of tf32, with g = lane / 4 and t = lane %
// 4 (PTX ISA, matrix fragments for mma.m16n8k8):
//   A: a0 (g, t) a1 (g + 8, t) a2 (g, t + 4) a3 (g + 8, t + 4)
//   B: b0 (t, g) b1 (t + 4, g)
//   C: c0 c1 (g, 2t..) c2 c3 (g + 8, 2t..)
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/layouts/Dots.h"
#include "codegen/nvptx/lower/LowerKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

/// A word of f32, rounded to tf32: ties away from zero.
static Value roundToTf32(OpBuilder &builder, Location loc, Value word) {
  if (word.getType().isInteger(32))
    word = LLVM::BitcastOp::create(builder, loc, builder.getF32Type(), word);
  return LLVM::CallIntrinsicOp::create(
             builder, loc, builder.getI32Type(),
             builder.getStringAttr("llvm.nvvm.f2tf32.rna"), ValueRange{word})
      .getResult(0);
}

void LowerKernel::lowerTf32(tile::DotOp op) {
  Layout sums = *tile::layoutOf(op.getResult().getType());
  Registers result = registers.lookup(op.getAccumulator());
  int64_t neighbours = op.columnsInThread();
  llvm::SmallSetVector<int64_t, 8> rows, columns;
  for (int64_t i = 0; i < sums.registerCount(); ++i) {
    SmallVector<int64_t> at = sums.registerOffset(i, 2);
    rows.insert(at[0] / 16 * 16);
    columns.insert(tile::accumulatorPosition(at[1], neighbours) / 8 * 8);
  }
  // The lane's part of an address, and that of the warp's rows or columns.
  auto address = [&](const Memory &memory,
                     SmallVector<std::pair<int64_t, int64_t>> bits, int64_t dim,
                     int64_t stride) {
    for (auto [i, digit] : llvm::enumerate(sums.warps))
      if (!digit.replicated() && digit.dim == dim)
        bits.push_back({Layout::laneBits + i, digit.stride * stride});
    Value own = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                       valueOfBits(bits));
    return addElements(addElements(memory.root, memory.offset, memory.element),
                       own, memory.element);
  };
  /// One matrix of a fragment for each lane's group and place in it.
  auto rounded = [&](Registers words) {
    for (Value &word : words)
      word = roundToTf32(builder, loc, word);
    return words;
  };

  const Memory &a = memoryOf(op.getA()), &b = memoryOf(op.getB());
  int64_t m = a.strides[op.getTransposeA() ? 1 : 0];
  int64_t ka = a.strides[op.getTransposeA() ? 0 : 1];
  int64_t kb = b.strides[op.getTransposeB() ? 1 : 0];
  int64_t n = b.strides[op.getTransposeB() ? 0 : 1];
  int64_t steps = cast<MemRefType>(op.getA().getType())
                      .getDimSize(op.getTransposeA() ? 0 : 1);
  // Rows of four numbers are rows of matrices of 16 bits.
  Value left =
      op.getTransposeA()
          ? address(a, {{0, ka}, {1, 2 * ka}, {2, m}, {3, 2 * m}, {4, 4 * m}},
                    0, m)
          : address(a,
                    {{0, m}, {1, 2 * m}, {2, 4 * m}, {3, 8 * m}, {4, 4 * ka}},
                    0, m);
  auto leftWords = [&](int64_t row, int64_t step) -> Registers {
    if (!op.getTransposeA())
      return loadMatrices(left, 4 * (row * m + step * ka), 4, false, {});
    Registers words;
    for (auto [i, k] :
         {std::pair(0, 0), std::pair(8, 0), std::pair(0, 4), std::pair(8, 4)})
      words.push_back(
          loadVector(addBytes(left, 4 * ((row + i) * m + (step + k) * ka)),
                     a.element, 1, {}, {}));
    return words;
  };
  Value right =
      op.getTransposeB()
          ? address(b, {{0, n}, {1, 2 * n}, {2, 4 * n}, {3, 4 * kb}}, 1, n)
          : address(b, {{0, kb}, {1, 2 * kb}, {2, n}, {3, 2 * n}, {4, 4 * n}},
                    1, n);
  auto rightWords = [&](int64_t column, int64_t step) -> Registers {
    if (op.getTransposeB())
      return loadMatrices(right, 4 * (column * n + step * kb), 2, false, {});
    Registers words;
    for (int64_t k : {0, 4})
      words.push_back(
          loadVector(addBytes(right, 4 * (column * n + (step + k) * kb)),
                     b.element, 1, {}, {}));
    return words;
  };

  Type f32 = builder.getF32Type();
  Type four = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               SmallVector<Type>(4, f32));
  for (int64_t step = 0; step < steps; step += 8) {
    std::map<int64_t, Registers> right;
    for (int64_t column : columns)
      right[column] = rounded(rightWords(column, step));
    for (int64_t row : rows) {
      Registers left = rounded(leftWords(row, step));
      for (int64_t column : columns) {
        SmallVector<int64_t> places;
        Registers c;
        for (auto [i, j] : {std::pair(0, 0), std::pair(0, 1), std::pair(8, 0),
                            std::pair(8, 1)}) {
          places.push_back(*sums.registerAt(
              {row + i, tile::accumulatorColumn(column + j, neighbours)}));
          c.push_back(result[places.back()]);
        }
        Value product = NVVM::MmaOp::create(
            builder, loc, four, left, right[column], c,
            ArrayRef<int64_t>{16, 8, 8},
            /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
            std::array<NVVM::MMATypes, 2>{NVVM::MMATypes::tf32,
                                          NVVM::MMATypes::tf32},
            std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                           NVVM::MMALayout::col});
        ++ops;
        for (auto [i, place] : llvm::enumerate(places))
          result[place] =
              LLVM::ExtractValueOp::create(builder, loc, product, i);
      }
    }
  }
  registers[op.getResult()] = std::move(result);
}

} // namespace drawloom::nvptx
