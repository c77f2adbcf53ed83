//===- LowerPairDots.cpp - products of pairs of bf16 ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/InstructionSet.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/vectors/HalfPrecisionDots.h"
#include "codegen/cpu/vectors/PairTiles.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPULOWERPAIRDOTS
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// A matrix of pairs, each as a number of 32 bits: bf16 by itself LLVM would
/// take apart where the machine has none.
Value bitsOf(OpBuilder &b, Location loc, Value matrix) {
  SmallVector<int64_t> shape(
      cast<VectorType>(matrix.getType()).getShape().drop_back());
  if (auto cast = matrix.getDefiningOp<vector::ShapeCastOp>())
    matrix = cast.getSource();
  SmallVector<int64_t> bits(cast<VectorType>(matrix.getType()).getShape());
  bits.back() /= 2;
  Value numbers = vector::BitCastOp::create(
      b, loc, VectorType::get(bits, b.getI32Type()), matrix);
  return vector::ShapeCastOp::create(
      b, loc, VectorType::get(shape, b.getI32Type()), numbers);
}

/// Reads rows of pairs that lie side by side as rows of numbers: pair by pair,
/// as upstream reads vectors whose last dimension is that of the pairs, a row
/// would be as many loads and insertions, which the compiler pays for.
Value readRows(Value matrix) {
  auto cast = matrix.getDefiningOp<vector::ShapeCastOp>();
  auto read = (cast ? cast.getSource() : matrix)
                  .getDefiningOp<vector::TransferReadOp>();
  if (!read)
    return matrix;
  auto memory = dyn_cast<MemRefType>(read.getShapedType());
  SmallVector<int64_t> shape(read.getVectorType().getShape());
  if (!memory || shape.size() < 2 || shape.back() != memory.getShape().back() ||
      !read.getPermutationMap().isMinorIdentity() || read.getMask() ||
      read.hasOutOfBoundsDim())
    return matrix;
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 1 < memory.getRank(); ++dim)
    groups.push_back({dim});
  groups.back().push_back(memory.getRank() - 1);
  if (!memref::CollapseShapeOp::isGuaranteedCollapsible(memory, groups))
    return matrix;
  // Where the memory is read, not where its numbers are multiplied.
  OpBuilder b(read);
  Location loc = read.getLoc();
  SmallVector<Value> indices(read.getIndices().drop_back());
  indices.back() = arith::MulIOp::create(
      b, loc, indices.back(),
      arith::ConstantIndexOp::create(b, loc, shape.back()));
  int64_t pair = shape.pop_back_val();
  shape.back() *= pair;
  Value rows = vector::TransferReadOp::create(
      b, loc, VectorType::get(shape, memory.getElementType()),
      memref::CollapseShapeOp::create(b, loc, read.getBase(), groups), indices,
      read.getPadding(), SmallVector<bool>(shape.size(), true));
  return vector::ShapeCastOp::create(b, loc, matrix.getType(), rows);
}

/// The first or the second of each pair in 32-bit lanes, as f32: bf16 is the
/// upper half of an f32.
Value halfOf(OpBuilder &b, Location loc, Value bits, bool second) {
  auto type = cast<VectorType>(bits.getType());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, b.getI32IntegerAttr(value)));
  };
  Value upper =
      second ? arith::AndIOp::create(b, loc, bits, constant(-65536)).getResult()
             : arith::ShLIOp::create(b, loc, bits, constant(16)).getResult();
  return arith::BitcastOp::create(
      b, loc, VectorType::get(type.getShape(), b.getF32Type()), upper);
}

/// Adds the products of two vectors of pairs, given as 32-bit lanes, to `sum`.
Value multiplyPairs(OpBuilder &b, Location loc, Value left, Value right,
                    Value sum, bool byInstruction) {
  auto type = cast<VectorType>(sum.getType());
  int64_t count = type.getNumElements();
  if (byInstruction && count >= 4) {
    auto pairs = VectorType::get({2 * count}, b.getBF16Type());
    Value l = vector::BitCastOp::create(b, loc, pairs, left);
    Value r = vector::BitCastOp::create(b, loc, pairs, right);
    return x86vector::DotBF16Op::create(b, loc, type, sum, l, r);
  }
  for (bool second : {false, true})
    sum = vector::FMAOp::create(b, loc, halfOf(b, loc, left, second),
                                halfOf(b, loc, right, second), sum);
  return sum;
}

/// Rows of sums, each in vectors of at most `lanes`.
void lowerByVectors(vector::ContractionOp op, int64_t lanes,
                    bool byInstruction) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<VectorType>(op.getResultType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  int64_t steps = op.getLhsType().getDimSize(1);
  lanes = std::min(lanes, columns);
  // Every row reads the same vectors of the right matrix.
  Value leftBits = bitsOf(b, loc, op.getLhs()),
        rightBits = bitsOf(b, loc, readRows(op.getRhs()));
  SmallVector<SmallVector<Value>> right(steps);
  for (int64_t k = 0; k < steps; ++k) {
    Value bits = vector::ExtractOp::create(b, loc, rightBits, k);
    for (int64_t n = 0; n < columns; n += lanes)
      right[k].push_back(vector::ExtractStridedSliceOp::create(
          b, loc, bits, ArrayRef<int64_t>{n}, ArrayRef<int64_t>{lanes},
          ArrayRef<int64_t>{1}));
  }
  Value result = op.getAcc();
  for (int64_t m = 0; m < rows; ++m) {
    Value row = vector::ExtractOp::create(b, loc, op.getAcc(), m);
    for (int64_t n = 0; n < columns; n += lanes) {
      Value sum = vector::ExtractStridedSliceOp::create(
          b, loc, row, ArrayRef<int64_t>{n}, ArrayRef<int64_t>{lanes},
          ArrayRef<int64_t>{1});
      for (int64_t k = 0; k < steps; ++k) {
        Value pair = vector::ExtractOp::create(b, loc, leftBits,
                                               ArrayRef<int64_t>{m, k});
        Value copies = vector::BroadcastOp::create(
            b, loc, VectorType::get({lanes}, b.getI32Type()), pair);
        sum = multiplyPairs(b, loc, copies, right[k][n / lanes], sum,
                            byInstruction);
      }
      row = vector::InsertStridedSliceOp::create(
          b, loc, sum, row, ArrayRef<int64_t>{n}, ArrayRef<int64_t>{1});
    }
    result = vector::InsertOp::create(b, loc, row, result, m);
  }
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

struct CpuLowerPairDots : impl::CpuLowerPairDotsBase<CpuLowerPairDots> {
  using CpuLowerPairDotsBase::CpuLowerPairDotsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    llvm::Expected<const InstructionSet *> set = findInstructionSet(isa);
    if (!set) {
      function.emitError(llvm::toString(set.takeError()));
      return signalPassFailure();
    }
    if (function.isExternal())
      return;
    PairUnit unit = (*set)->pairUnit;
    restoreUnitDimensions(function);
    if (unit == PairUnit::Tiles || unit == PairUnit::ReplacedTiles)
      usePairTiles(function);
    if (unit == PairUnit::Tiles && failed(lowerPairTiles(function)))
      return signalPassFailure();
    if (unit == PairUnit::ReplacedTiles && failed(replacePairTiles(function)))
      return signalPassFailure();
    SmallVector<vector::ContractionOp> rest;
    function.walk([&](vector::ContractionOp op) {
      if (isPairContraction(op))
        rest.push_back(op);
    });
    for (vector::ContractionOp op : rest)
      lowerByVectors(op, (*set)->vectorBytes / 4, unit == PairUnit::Vectors);
  }
};

} // namespace
} // namespace drawloom::cpu
