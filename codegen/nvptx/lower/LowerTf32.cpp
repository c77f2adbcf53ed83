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

#include "codegen/nvptx/lower/Accumulators.h"
#include "codegen/nvptx/lower/LowerDots.h"
#include "codegen/nvptx/lower/Matrices.h"

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// One product of f32 on tensor cores, 8 steps at a time. Rows of four numbers
/// are rows of matrices of 16 bits; of an operand whose neighbours in memory
/// are not the steps, each number is loaded by itself.
class Tf32 {
public:
  Tf32(ThreadProgram &program, const Views &views, tile::DotOp op)
      : program(program), builder(program.builder), accesses(program),
        matrices(program), sums(program, op),
        left(operand(views, op.getA(), op.getTransposeA())),
        right(operand(views, op.getB(), !op.getTransposeB())),
        steps(cast<MemRefType>(op.getA().getType())
                  .getDimSize(op.getTransposeA() ? 0 : 1)) {}

  Registers run();

private:
  /// An operand in memory: how far two rows of the left one, or columns of the
  /// right one, are apart, how far two steps are, and whether the latter are
  /// the rows of the buffer.
  struct Operand {
    const Memory &memory;
    int64_t across, along;
    bool stepsAreRows;
  };
  static Operand operand(const Views &views, Value value, bool stepsAreRows);

  /// Returns the thread's address: of its number or, where matrices are loaded,
  /// of the row that it gives. `own` is the lane's part.
  Value address(const Operand &operand, ThreadBits own, int64_t dim);
  Value leftAddress();
  Value rightAddress();
  /// Loads the words of a fragment at a row or column, and a step: matrices, or
  /// the numbers at the `places` (across, along).
  Registers load(const Operand &operand, Value address, int64_t at,
                 int64_t step, ArrayRef<std::pair<int64_t, int64_t>> places);
  /// Rounds a word of f32 to tf32, ties away from zero.
  Value rounded(Value word);

  ThreadProgram &program;
  ImplicitLocOpBuilder &builder;
  Accesses accesses;
  Matrices matrices;
  Accumulators sums;
  Operand left, right;
  int64_t steps;
};

Tf32::Operand Tf32::operand(const Views &views, Value value,
                            bool stepsAreRows) {
  const Memory &memory = views.memoryOf(value);
  return {memory, memory.strides[stepsAreRows ? 1 : 0],
          memory.strides[stepsAreRows ? 0 : 1], stepsAreRows};
}

Value Tf32::address(const Operand &operand, ThreadBits own, int64_t dim) {
  llvm::append_range(own, sums.warpBits(dim, operand.across));
  Value elements = program.offsetOfBits(own);
  return accesses.addElements(accesses.start(operand.memory), elements,
                              operand.memory.element);
}

Value Tf32::leftAddress() {
  int64_t m = left.across, k = left.along;
  if (left.stepsAreRows)
    return address(left, {{0, k}, {1, 2 * k}, {2, m}, {3, 2 * m}, {4, 4 * m}},
                   0);
  return address(left, {{0, m}, {1, 2 * m}, {2, 4 * m}, {3, 8 * m}, {4, 4 * k}},
                 0);
}

Value Tf32::rightAddress() {
  int64_t n = right.across, k = right.along;
  if (right.stepsAreRows)
    return address(right, {{0, k}, {1, 2 * k}, {2, n}, {3, 2 * n}, {4, 4 * n}},
                   1);
  return address(right, {{0, n}, {1, 2 * n}, {2, 4 * n}, {3, 4 * k}}, 1);
}

Registers Tf32::load(const Operand &operand, Value address, int64_t at,
                     int64_t step,
                     ArrayRef<std::pair<int64_t, int64_t>> places) {
  auto bytesTo = [&](int64_t across, int64_t along) {
    return 4 *
           ((at + across) * operand.across + (step + along) * operand.along);
  };
  Registers words;
  if (!operand.stepsAreRows) {
    words = matrices.load(address, bytesTo(0, 0), places.size(),
                          /*transposed=*/false, {});
  } else {
    for (auto [across, along] : places)
      words.push_back(accesses.loadVector(
          accesses.addBytes(address, bytesTo(across, along)),
          operand.memory.element, 1, {}, {}));
  }
  for (Value &word : words)
    word = rounded(word);
  return words;
}

Value Tf32::rounded(Value word) {
  if (word.getType().isInteger(32))
    word = LLVM::BitcastOp::create(builder, builder.getF32Type(), word);
  return LLVM::CallIntrinsicOp::create(
             builder, builder.getI32Type(),
             builder.getStringAttr("llvm.nvvm.f2tf32.rna"), ValueRange{word})
      .getResult(0);
}

Registers Tf32::run() {
  Value leftStart = leftAddress(), rightStart = rightAddress();
  for (int64_t step = 0; step < steps; step += 8) {
    std::map<int64_t, Registers> b;
    for (int64_t column : sums.columns)
      b[column] = load(right, rightStart, column, step, {{0, 0}, {0, 4}});
    for (int64_t row : sums.rows) {
      Registers a =
          load(left, leftStart, row, step, {{0, 0}, {8, 0}, {0, 4}, {8, 4}});
      for (int64_t column : sums.columns)
        sums.add(row, column, a, b[column], 8, NVVM::MMATypes::tf32);
    }
  }
  return sums.sums();
}

} // namespace

Registers multiplyByTf32(ThreadProgram &program, const Views &views,
                         tile::DotOp op) {
  return Tf32(program, views, op).run();
}

} // namespace drawloom::nvptx
