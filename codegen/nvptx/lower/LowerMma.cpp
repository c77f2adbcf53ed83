//===- LowerMma.cpp - products by mma.sync --------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fragments are named as in the PTX ISA, section on warp-level matrix
// instructions. Of m16n8k16, with g = lane / 4 and t = lane % 4:
//   A: a0 (g, 2t..) a1 (g + 8, 2t..) a2 (g, 2t + 8..) a3 (g + 8, 2t + 8..)
//   B: b0 (2t.., g) b1 (2t + 8.., g)
//   C: c0 c1 (g, 2t..) c2 c3 (g + 8, 2t..)
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/Accumulators.h"
#include "codegen/nvptx/lower/LowerDots.h"
#include "codegen/nvptx/lower/Matrices.h"

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {
namespace {

/// One product of bf16 or f16 by mma.sync. Of each 16 steps, the words of the
/// right operand are loaded for all columns, then those of the left operand
/// tile by tile.
class Mma {
public:
  Mma(ThreadProgram &program, const Views &views, tile::DotOp op)
      : program(program), builder(program.builder), views(views),
        accesses(program), descriptions(program), matrices(program), op(op),
        sums(program, op),
        element(cast<ShapedType>(op.getA().getType()).getElementType()),
        right(views.memoryOf(op.getB())) {
    if (op.getBatch()) {
      batch.rows = op.getM() / op.batches();
      batch.step =
          cast<MemRefType>(op.getB().getType()).getDimSize(0) / op.batches();
    }
  }

  Registers run();

private:
  /// The left operand's words by (row tile, step).
  using Left = std::function<Registers(int64_t, int64_t)>;

  /// Returns the address of the row of a matrix that this lane gives: bits 0-2
  /// of the lane are the row, `third` and `fourth` what bits 3 and 4 add.
  Value laneAddress(const Memory &memory, int64_t rowStride, int64_t third,
                    int64_t fourth, const ThreadBits &warp);
  Left leftInMemory(int64_t &steps);
  Left leftInRegisters(int64_t &steps);
  /// Returns what a warp's part of the columns adds to the right operand's
  /// address.
  ThreadBits rightBits(int64_t stride);
  /// Returns the right operand's words by column, of the product that `row` is
  /// of.
  std::map<int64_t, Registers> loadRight(int64_t step, int64_t row);
  /// Returns words as the instruction takes them.
  Registers operands(const Registers &words);

  ThreadProgram &program;
  ImplicitLocOpBuilder &builder;
  const Views &views;
  Accesses accesses;
  DescribeAccess descriptions;
  Matrices matrices;
  tile::DotOp op;
  Accumulators sums;
  Type element;
  const Memory &right;
  /// Of several products, which rows of `b` belong to rows of `a`.
  Batch batch;
};

Value Mma::laneAddress(const Memory &memory, int64_t rowStride, int64_t third,
                       int64_t fourth, const ThreadBits &warp) {
  ThreadBits bits{{0, rowStride},
                  {1, 2 * rowStride},
                  {2, 4 * rowStride},
                  {3, third},
                  {4, fourth}};
  llvm::append_range(bits, warp);
  Value start = accesses.start(memory);
  return accesses.addElements(start, program.offsetOfBits(bits),
                              memory.element);
}

Mma::Left Mma::leftInMemory(int64_t &steps) {
  const Memory &memory = views.memoryOf(op.getA());
  auto shape = cast<MemRefType>(op.getA().getType()).getShape();
  bool transposed = op.getTransposeA();
  steps = shape[transposed ? 0 : 1];
  int64_t m = memory.strides[transposed ? 1 : 0];
  int64_t k = memory.strides[transposed ? 0 : 1];
  // Matrices in the order of the fragment: the second 8 rows, then the second
  // 8 steps.
  Value address = laneAddress(memory, transposed ? k : m, 8 * m, 8 * k,
                              sums.warpBits(0, m));
  return [this, &memory, transposed, m, k, address](int64_t row, int64_t step) {
    // What a lane holds of it, by the manual: two neighbouring steps, the
    // second 8 rows in the second word, the second 8 steps in the third.
    int64_t rows = transposed ? 1 : 0, along = 1 - rows;
    return matrices.load(
        address, 2 * (row * m + step * k), 4, transposed,
        descriptions.fragment(memory, rows, row, step, sums.resultLayout(), 0,
                              {{along, 1}, {rows, 8}, {along, 8}}, Batch()));
  };
}

Mma::Left Mma::leftInRegisters(int64_t &steps) {
  Layout layout = *tile::layoutOf(op.getA().getType());
  steps = layout.extents(2)[1];
  const Registers values = program.registers.lookup(op.getA());
  return [this, layout, values](int64_t row, int64_t step) {
    Registers words;
    for (auto [m, k] :
         {std::pair(0, 0), std::pair(8, 0), std::pair(0, 8), std::pair(8, 8)})
      words.push_back(
          matrices.pack(values[*layout.registerAt({row + m, step + k})],
                        values[*layout.registerAt({row + m, step + k + 1})]));
    return words;
  };
}

Registers Mma::operands(const Registers &words) {
  // The op has words for bf16, pairs for f16.
  if (element.isBF16())
    return words;
  auto pair = VectorType::get(2, element);
  return llvm::map_to_vector<8>(words, [&](Value word) -> Value {
    return LLVM::BitcastOp::create(builder, pair, word);
  });
}

ThreadBits Mma::rightBits(int64_t stride) {
  ThreadBits bits = sums.warpBits(1, stride);
  for (auto [i, digit] : llvm::enumerate(sums.resultLayout().warps))
    if (int64_t part = batch.partOf(digit))
      bits.push_back({Layout::laneBits + i, part * right.strides[0]});
  return bits;
}

std::map<int64_t, Registers> Mma::loadRight(int64_t step, int64_t row) {
  bool transposed = op.getTransposeB();
  int64_t k = right.strides[transposed ? 1 : 0];
  int64_t n = right.strides[transposed ? 0 : 1];
  int64_t across = transposed ? 0 : 1;
  std::map<int64_t, Registers> found;
  int64_t below = batch.rows ? row / batch.rows * batch.step : 0;
  for (size_t i = 0; i < sums.columns.size(); i += 2) {
    bool pair = i + 1 < sums.columns.size();
    int64_t apart = pair ? sums.columns[i + 1] - sums.columns[i] : 0;
    Value address =
        laneAddress(right, transposed ? n : k, 8 * k, apart * n, rightBits(n));
    Registers words = matrices.load(
        address,
        2 * (step * k + sums.columns[i] * n + below * right.strides[0]),
        pair ? 4 : 2, !transposed,
        descriptions.fragment(
            right, across, sums.columns[i] + (across == 0 ? below : 0),
            step + (across == 0 ? 0 : below), sums.resultLayout(), 1,
            {{1 - across, 1}, {1 - across, 8}, {across, apart}}, batch));
    found[sums.columns[i]] = {words[0], words[1]};
    if (pair)
      found[sums.columns[i + 1]] = {words[2], words[3]};
  }
  for (auto &[column, words] : found)
    words = operands(words);
  return found;
}

Registers Mma::run() {
  auto type = element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  int64_t steps = 0;
  Left left = isa<MemRefType>(op.getA().getType()) ? leftInMemory(steps)
                                                   : leftInRegisters(steps);
  for (int64_t step = 0; step < steps; step += 16) {
    std::map<int64_t, Registers> words;
    int64_t part = -1;
    for (int64_t row : sums.rows) {
      if (int64_t here = batch.rows ? row / batch.rows : 0; here != part) {
        words = loadRight(step, row);
        part = here;
      }
      Registers a = operands(left(row, step));
      for (int64_t column : sums.columns)
        sums.add(row, column, a, words[column], 16, type);
    }
  }
  return sums.sums();
}

} // namespace

Registers multiplyByMma(ThreadProgram &program, const Views &views,
                        tile::DotOp op) {
  return Mma(program, views, op).run();
}

} // namespace drawloom::nvptx
