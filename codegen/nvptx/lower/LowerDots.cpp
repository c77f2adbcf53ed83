//===- LowerDots.cpp - products of matrices -------------------------------===//
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

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/layouts/Dots.h"
#include "codegen/nvptx/lower/LowerKernel.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

LogicalResult LowerKernel::lowerDot(tile::DotOp op) {
  if (op.getTf32())
    lowerTf32(op);
  else if (usesTensorCores(op))
    lowerMma(op);
  else
    lowerOuterProducts(op);
  return success();
}

/// Matrices of 8 x 8, each lane giving the address of a row: `count` words.
LowerKernel::Registers LowerKernel::loadMatrices(Value address, int64_t bytes,
                                                 int64_t count, bool transposed,
                                                 DictionaryAttr element) {
  Type i32 = builder.getI32Type();
  Type type = i32;
  if (count > 1)
    type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                            SmallVector<Type>(count, i32));
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  auto loaded = NVVM::LdMatrixOp::create(
      builder, loc, type, addBytes(address, bytes), count,
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
      NVVM::LdStMatrixEltType::B16);
  if (element)
    loaded->setAttr(elementAttr, element);
  ++ops;
  if (count == 1)
    return {loaded.getRes()};
  Registers words;
  for (int64_t i = 0; i < count; ++i)
    words.push_back(
        LLVM::ExtractValueOp::create(builder, loc, loaded.getRes(), i));
  return words;
}

/// Words of two neighbouring 16-bit registers.
static Value pack(OpBuilder &builder, Location loc, Value low, Value high) {
  auto type = VectorType::get(2, low.getType());
  Value pair = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, value] : {std::pair(0, low), std::pair(1, high)}) {
    Value at = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                        builder.getI32IntegerAttr(i));
    pair = LLVM::InsertElementOp::create(builder, loc, pair, value, at);
  }
  return LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), pair);
}

bool LowerKernel::storeMatrices(const Memory &memory, const Layout &layout,
                                ArrayRef<int64_t> shape,
                                const Registers &source, Range range) {
  const SmallVector<Digit> fragment{
      {1, 2, 2}, {1, 4, 2}, {0, 1, 2}, {0, 2, 2}, {0, 4, 2}};
  bool fits = storesMatrices && memory.space == 3 && shape.size() == 2 &&
              bytesOf(memory.element) == 2 && layout.lanes == fragment &&
              !layout.registers.empty() &&
              layout.registers.front() == Digit{1, 1, 2} &&
              memory.strides[1] == 1 && memory.strides[0] * 2 % 16 == 0 &&
              memory.alignment % 16 == 0 && range.begin % 2 == 0 &&
              range.end % 2 == 0 && layout.extents(2) == shape;
  for (auto [size, extent] : llvm::zip(memory.sizes, shape))
    fits = fits && getConstantIntValue(size) == extent;
  if (!fits)
    return false;
  SmallVector<Digit> threads(layout.lanes);
  llvm::append_range(threads, layout.warps);
  int64_t rows = memory.strides[0];
  // Where the matrix is that begins with a register, and how far the next one
  // is from it: along which dimension, unless along both.
  auto placeOf = [&](int64_t i) { return layout.registerOffset(i, 2); };
  auto apart = [&](int64_t from, int64_t to) -> std::optional<Digit> {
    SmallVector<int64_t> a = placeOf(from), b = placeOf(to);
    if ((a[0] == b[0]) == (a[1] == b[1]))
      return std::nullopt;
    return a[0] == b[0] ? Digit{1, b[1] - a[1], 2} : Digit{0, b[0] - a[0], 2};
  };
  // Four matrices, two, or one: lanes 8 to 15 say where the second is, 16 to 31
  // where the others are.
  auto stepsFrom = [&](int64_t i) {
    SmallVector<Digit> steps;
    if (i + 4 > range.end)
      return steps;
    std::optional<Digit> next = apart(i, i + 2);
    if (!next)
      return steps;
    steps.push_back(*next);
    if (i + 8 > range.end || !(apart(i + 4, i + 6) == next))
      return steps;
    if (std::optional<Digit> half = apart(i, i + 4))
      steps.push_back(*half);
    return steps;
  };
  underCondition(isOwner(layout), [&] {
    for (int64_t begin = range.begin; begin < range.end;) {
      SmallVector<int64_t> first = placeOf(begin);
      SmallVector<Digit> words = stepsFrom(begin);
      int64_t count = int64_t(1) << words.size();
      SmallVector<std::pair<int64_t, int64_t>> bits{
          {0, rows}, {1, 2 * rows}, {2, 4 * rows}};
      for (auto [i, digit] : llvm::enumerate(words))
        bits.push_back({3 + i, digit.stride * memory.strides[digit.dim]});
      for (auto [i, digit] : llvm::enumerate(layout.warps))
        if (!digit.replicated())
          bits.push_back(
              {Layout::laneBits + i, digit.stride * memory.strides[digit.dim]});
      Value own = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                         valueOfBits(bits));
      Value address = rolledAddress(
          memory,
          addElements(addElements(memory.root, memory.offset, memory.element),
                      own, memory.element));
      Registers packed;
      for (int64_t i = 0; i < count; ++i)
        packed.push_back(pack(builder, loc, source[begin + 2 * i],
                              source[begin + 2 * i + 1]));
      auto store = NVVM::StMatrixOp::create(
          builder, loc, addBytes(address, 2 * (first[0] * rows + first[1])),
          packed, NVVM::MMALayout::row,
          NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
          NVVM::LdStMatrixEltType::B16);
      // A word has two neighbours.
      SmallVector<Digit> halves{{1, 1, 2}};
      llvm::append_range(halves, words);
      if (DictionaryAttr element =
              describe(memory, first, threads, {0, 0}, halves))
        store->setAttr(elementAttr, element);
      ++ops;
      begin += 2 * count;
    }
  });
  return true;
}

/// One contraction by mma.sync.
class LowerKernel::Mma {
public:
  Mma(LowerKernel &kernel, tile::DotOp op)
      : kernel(kernel), builder(kernel.builder), loc(kernel.loc), op(op),
        sums(*tile::layoutOf(op.getResult().getType())),
        element(cast<ShapedType>(op.getA().getType()).getElementType()),
        right(kernel.memoryOf(op.getB())) {
    // Columns are those of the instructions.
    for (int64_t i = 0; i < sums.registerCount(); ++i) {
      SmallVector<int64_t> at = sums.registerOffset(i, 2);
      rows.insert(at[0] / 16 * 16);
      columns.insert(tile::accumulatorPosition(at[1], op.columnsInThread()) /
                     8 * 8);
    }
    if (op.getBatch()) {
      batch.rows = op.getM() / op.batches();
      batch.step =
          cast<MemRefType>(op.getB().getType()).getDimSize(0) / op.batches();
    }
  }

  Registers run();

private:
  using Bits = SmallVector<std::pair<int64_t, int64_t>>;
  /// The left operand's words by (row tile, step).
  using Left = std::function<Registers(int64_t, int64_t)>;

  Bits warpPart(int64_t dim, int64_t stride);
  Value laneAddress(const Memory &memory, int64_t rowStride, int64_t third,
                    int64_t fourth, const Bits &warp);
  Left leftInMemory(int64_t &steps);
  Left leftInRegisters(int64_t &steps);
  Bits rightBits(int64_t stride);
  std::map<int64_t, Registers> loadRight(int64_t step, int64_t row);
  Registers operands(const Registers &words);
  void multiply(int64_t row, int64_t column, const Registers &a,
                const Registers &b, Registers &result);

  LowerKernel &kernel;
  OpBuilder &builder;
  Location loc;
  tile::DotOp op;
  Layout sums;
  Type element;
  const Memory &right;
  /// Where the tiles of 16 x 8 are that a warp has.
  llvm::SmallSetVector<int64_t, 8> rows, columns;
  /// Of several products, which rows of `b` belong to rows of `a`.
  Batch batch;
};

/// The bits of the thread number that say which rows or columns a warp has.
LowerKernel::Mma::Bits LowerKernel::Mma::warpPart(int64_t dim, int64_t stride) {
  Bits bits;
  for (auto [i, digit] : llvm::enumerate(sums.warps))
    if (!digit.replicated() && digit.dim == dim)
      bits.push_back({Layout::laneBits + i, digit.stride * stride});
  return bits;
}

/// The address of the row of a matrix that this lane gives: bits 0-2 of the
/// lane are the row, `third` and `fourth` what bits 3 and 4 add.
Value LowerKernel::Mma::laneAddress(const Memory &memory, int64_t rowStride,
                                    int64_t third, int64_t fourth,
                                    const Bits &warp) {
  Bits bits{{0, rowStride},
            {1, 2 * rowStride},
            {2, 4 * rowStride},
            {3, third},
            {4, fourth}};
  llvm::append_range(bits, warp);
  Value address =
      kernel.addElements(memory.root, memory.offset, memory.element);
  Value own = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                     kernel.valueOfBits(bits));
  return kernel.addElements(address, own, memory.element);
}

LowerKernel::Mma::Left LowerKernel::Mma::leftInMemory(int64_t &steps) {
  const Memory &memory = kernel.memoryOf(op.getA());
  auto shape = cast<MemRefType>(op.getA().getType()).getShape();
  bool transposed = op.getTransposeA();
  steps = shape[transposed ? 0 : 1];
  int64_t m = memory.strides[transposed ? 1 : 0];
  int64_t k = memory.strides[transposed ? 0 : 1];
  // Matrices in the order of the fragment: the second 8 rows, then the second
  // 8 steps.
  Value address =
      laneAddress(memory, transposed ? k : m, 8 * m, 8 * k, warpPart(0, m));
  return [this, &memory, transposed, m, k, address](int64_t row, int64_t step) {
    // What a lane holds of it, by the manual: two neighbouring steps, the
    // second 8 rows in the second word, the second 8 steps in the third.
    int64_t rows = transposed ? 1 : 0, along = 1 - rows;
    return kernel.loadMatrices(
        address, 2 * (row * m + step * k), 4, transposed,
        kernel.describeFragment(memory, rows, row, step, sums, 0,
                                {{along, 1}, {rows, 8}, {along, 8}}, Batch()));
  };
}

LowerKernel::Mma::Left LowerKernel::Mma::leftInRegisters(int64_t &steps) {
  Layout layout = *tile::layoutOf(op.getA().getType());
  steps = layout.extents(2)[1];
  const Registers values = kernel.registers.lookup(op.getA());
  return [this, layout, values](int64_t row, int64_t step) {
    Registers words;
    for (auto [m, k] :
         {std::pair(0, 0), std::pair(8, 0), std::pair(0, 8), std::pair(8, 8)})
      words.push_back(
          pack(builder, loc, values[*layout.registerAt({row + m, step + k})],
               values[*layout.registerAt({row + m, step + k + 1})]));
    return words;
  };
}

/// The op has words for bf16, pairs for f16.
LowerKernel::Registers LowerKernel::Mma::operands(const Registers &words) {
  if (element.isBF16())
    return words;
  auto pair = VectorType::get(2, element);
  return llvm::map_to_vector<8>(words, [&](Value word) -> Value {
    return LLVM::BitcastOp::create(builder, loc, pair, word);
  });
}

LowerKernel::Mma::Bits LowerKernel::Mma::rightBits(int64_t stride) {
  Bits bits = warpPart(1, stride);
  for (auto [i, digit] : llvm::enumerate(sums.warps))
    if (int64_t part = batch.partOf(digit))
      bits.push_back({Layout::laneBits + i, part * right.strides[0]});
  return bits;
}

/// The right operand's words by column, of the product that `row` is of.
std::map<int64_t, LowerKernel::Registers>
LowerKernel::Mma::loadRight(int64_t step, int64_t row) {
  bool transposed = op.getTransposeB();
  int64_t k = right.strides[transposed ? 1 : 0];
  int64_t n = right.strides[transposed ? 0 : 1];
  int64_t across = transposed ? 0 : 1;
  std::map<int64_t, Registers> found;
  int64_t below = batch.rows ? row / batch.rows * batch.step : 0;
  for (size_t i = 0; i < columns.size(); i += 2) {
    bool pair = i + 1 < columns.size();
    int64_t apart = pair ? columns[i + 1] - columns[i] : 0;
    Value address =
        laneAddress(right, transposed ? n : k, 8 * k, apart * n, rightBits(n));
    Registers words = kernel.loadMatrices(
        address, 2 * (step * k + columns[i] * n + below * right.strides[0]),
        pair ? 4 : 2, !transposed,
        kernel.describeFragment(
            right, across, columns[i] + (across == 0 ? below : 0),
            step + (across == 0 ? 0 : below), sums, 1,
            {{1 - across, 1}, {1 - across, 8}, {across, apart}}, batch));
    found[columns[i]] = {words[0], words[1]};
    if (pair)
      found[columns[i + 1]] = {words[2], words[3]};
  }
  for (auto &[column, words] : found)
    words = operands(words);
  return found;
}

/// Adds the product of two fragments to the accumulators of one tile.
void LowerKernel::Mma::multiply(int64_t row, int64_t column, const Registers &a,
                                const Registers &b, Registers &result) {
  // Of rows that are alike a thread keeps one.
  bool rowsAlike = op->hasAttr(rowsAlikeAttr);
  SmallVector<int64_t> places;
  for (auto [m, c] :
       {std::pair(0, 0), std::pair(0, 1), std::pair(8, 0), std::pair(8, 1)})
    places.push_back(*sums.registerAt(
        {row + m, tile::accumulatorColumn(column + c, op.columnsInThread())}));
  Registers c;
  for (int64_t place : places)
    c.push_back(result[place]);
  Type f32 = builder.getF32Type();
  if (rowsAlike)
    c[2] = c[3] =
        LLVM::ConstantOp::create(builder, loc, f32, builder.getF32FloatAttr(0));
  Type four = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               SmallVector<Type>(4, f32));
  auto type = element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  Value product = NVVM::MmaOp::create(
      builder, loc, four, a, b, c, ArrayRef<int64_t>{16, 8, 16},
      /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
      std::array<NVVM::MMATypes, 2>{type, type},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  ++kernel.ops;
  for (auto [i, place] : llvm::enumerate(places))
    result[place] = rowsAlike && i >= 2
                        ? result[places[i - 2]]
                        : LLVM::ExtractValueOp::create(builder, loc, product, i)
                              .getResult();
}

LowerKernel::Registers LowerKernel::Mma::run() {
  Registers result = kernel.registers.lookup(op.getAccumulator());
  int64_t steps = 0;
  Left left = isa<MemRefType>(op.getA().getType()) ? leftInMemory(steps)
                                                   : leftInRegisters(steps);
  for (int64_t step = 0; step < steps; step += 16) {
    std::map<int64_t, Registers> words;
    int64_t part = -1;
    for (int64_t row : rows) {
      if (int64_t here = batch.rows ? row / batch.rows : 0; here != part) {
        words = loadRight(step, row);
        part = here;
      }
      Registers a = operands(left(row, step));
      for (int64_t column : columns)
        multiply(row, column, a, words[column], result);
    }
  }
  return result;
}

void LowerKernel::lowerMma(tile::DotOp op) {
  Registers result = Mma(*this, op).run();
  registers[op.getResult()] = std::move(result);
}

/// Multiply-adds of a thread that each turn of a loop over them has, if the
/// loop is long enough.
static constexpr int64_t fewestProducts = 128;

/// One contraction by fused multiply-adds: sums of products of a column and a
/// row, step by step in order.
class LowerKernel::OuterProducts {
public:
  OuterProducts(LowerKernel &kernel, tile::DotOp op)
      : kernel(kernel), builder(kernel.builder), loc(kernel.loc), op(op),
        sums(*tile::layoutOf(op.getResult().getType())),
        a(kernel.memoryOf(op.getA())), b(kernel.memoryOf(op.getB())),
        element(a.element), bytes(bytesOf(element)),
        steps(cast<MemRefType>(op.getA().getType()).getDimSize(1)) {
    for (int64_t i = 0; i < sums.registerCount(); ++i) {
      SmallVector<int64_t> at = sums.registerOffset(i, 2);
      rows.insert(at[0]);
      columns.insert(at[1]);
    }
  }

  Registers run();

private:
  Value partOf(const Memory &memory, int64_t dim, int64_t along);
  void chooseWidths();
  bool fitsRows(int64_t width) const;
  SmallVector<Digit> digitsOf(int64_t dim) const;
  /// A turn further: columns of the left operand, rows of the right one.
  Moving moving(const Memory &memory, int64_t dim) const {
    int64_t stride = memory.strides[dim] * bytes;
    return Moving{turns * unroll * stride, (steps - turns * unroll) * stride};
  }
  std::map<int64_t, SmallVector<Value>> loadLeft(Value address, int64_t step);
  std::map<int64_t, Value> loadRight(Value address, int64_t step);
  Registers multiply(Value aStep, Value bStep, Registers result);

  LowerKernel &kernel;
  OpBuilder &builder;
  Location loc;
  tile::DotOp op;
  Layout sums;
  const Memory &a, &b;
  Type element;
  int64_t bytes, steps;
  llvm::SmallSetVector<int64_t, 16> rows, columns;
  /// Steps that one access of the left operand reads, how often a turn of the
  /// loop does so, and columns that one access of the right operand reads.
  int64_t unroll = 4, turns = 1, width = 1;
};

/// Where the part of an operand begins that a thread reads.
Value LowerKernel::OuterProducts::partOf(const Memory &memory, int64_t dim,
                                         int64_t along) {
  SmallVector<std::pair<int64_t, int64_t>> bits;
  for (auto [i, digit] : llvm::enumerate(sums.lanes))
    if (!digit.replicated() && digit.dim == dim)
      bits.push_back({i, digit.stride * memory.strides[along]});
  for (auto [i, digit] : llvm::enumerate(sums.warps))
    if (!digit.replicated() && digit.dim == dim)
      bits.push_back(
          {Layout::laneBits + i, digit.stride * memory.strides[along]});
  Value address =
      kernel.addElements(memory.root, memory.offset, memory.element);
  Value own = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                     kernel.valueOfBits(bits));
  return kernel.addElements(address, own, memory.element);
}

/// Whether each vector of so many columns is aligned.
bool LowerKernel::OuterProducts::fitsRows(int64_t width) const {
  if (!llvm::isPowerOf2_64(width) || sums.contiguousAlong(1) % width)
    return false;
  int64_t alignment = std::gcd(b.alignment, b.strides[0] * bytes);
  for (ArrayRef<Digit> digits :
       {ArrayRef(sums.registers), ArrayRef(sums.lanes), ArrayRef(sums.warps)})
    for (const Digit &digit : digits)
      if (digit.dim == 1 && !digit.replicated() && digit.stride >= width)
        alignment = std::gcd(alignment, digit.stride * bytes);
  return alignment % (width * bytes) == 0;
}

/// As many steps at once as a vector of the left operand holds, and as many
/// columns as one of the right operand.
void LowerKernel::OuterProducts::chooseWidths() {
  int64_t most = 16 / bytes;
  while (unroll > 1 &&
         (unroll > most || (a.strides[0] * bytes) % (unroll * bytes) != 0 ||
          a.alignment % (unroll * bytes) != 0 || steps % unroll != 0))
    unroll /= 2;
  // So many of these in each turn of the loop, lest its end takes more than a
  // twentieth.
  while (turns * unroll * sums.registerCount() < fewestProducts &&
         steps % (2 * turns * unroll) == 0)
    turns *= 2;
  width = std::min(sums.contiguousAlong(1), most);
  while (width > 1 && !fitsRows(width))
    --width;
}

SmallVector<Digit> LowerKernel::OuterProducts::digitsOf(int64_t dim) const {
  SmallVector<Digit> digits = threadDigits(sums);
  for (Digit &digit : digits)
    if (digit.dim != dim)
      digit = Digit();
  return digits;
}

/// By row, the elements of `unroll` steps.
std::map<int64_t, SmallVector<Value>>
LowerKernel::OuterProducts::loadLeft(Value address, int64_t step) {
  std::map<int64_t, SmallVector<Value>> left;
  for (int64_t row : rows)
    kernel.unpack(
        kernel.loadVector(
            kernel.addBytes(address, (row * a.strides[0] + step) * bytes),
            element, unroll, {}, {},
            kernel.describe(a, {row, step}, digitsOf(0), moving(a, 1))),
        element, unroll, left[row]);
  return left;
}

/// By column, the elements of one step.
std::map<int64_t, Value> LowerKernel::OuterProducts::loadRight(Value address,
                                                               int64_t step) {
  std::map<int64_t, Value> right;
  for (int64_t column : columns) {
    if (column % width != 0)
      continue;
    SmallVector<Value> values;
    kernel.unpack(
        kernel.loadVector(
            kernel.addBytes(address, (step * b.strides[0] + column) * bytes),
            element, width, {}, {},
            kernel.describe(b, {step, column}, digitsOf(1), moving(b, 0))),
        element, width, values);
    for (auto [i, value] : llvm::enumerate(values))
      right[column + i] = value;
  }
  return right;
}

/// The steps of one turn of the loop.
LowerKernel::Registers LowerKernel::OuterProducts::multiply(Value aStep,
                                                            Value bStep,
                                                            Registers result) {
  Type sum = getElementTypeOrSelf(op.getResult());
  auto widened = [&](Value value) -> Value {
    if (value.getType() == sum)
      return value;
    return arith::ExtFOp::create(builder, loc, sum, value);
  };
  std::map<int64_t, SmallVector<Value>> left;
  for (int64_t k = 0; k < turns * unroll; ++k) {
    if (k % unroll == 0)
      left = loadLeft(aStep, k);
    std::map<int64_t, Value> right = loadRight(bStep, k);
    for (int64_t i = 0; i < sums.registerCount(); ++i) {
      SmallVector<int64_t> at = sums.registerOffset(i, 2);
      result[i] =
          math::FmaOp::create(builder, loc, widened(left[at[0]][k % unroll]),
                              widened(right[at[1]]), result[i]);
      ++kernel.ops;
    }
  }
  return result;
}

LowerKernel::Registers LowerKernel::OuterProducts::run() {
  Value aAddress = partOf(a, 0, 0), bAddress = partOf(b, 1, 1);
  chooseWidths();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  const Registers start = kernel.registers.lookup(op.getAccumulator());
  auto loop = scf::ForOp::create(builder, loc, index(0), index(steps),
                                 index(turns * unroll), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  Value step = kernel.toI64(loop.getInductionVar());
  Value aStep = kernel.addElements(aAddress, step, element);
  Value bStep = kernel.addElements(
      bAddress,
      arith::MulIOp::create(builder, loc, step,
                            kernel.constant(b.strides[0], 64)),
      element);
  scf::YieldOp::create(
      builder, loc,
      multiply(aStep, bStep, Registers(loop.getRegionIterArgs())));
  return Registers(loop.getResults());
}

void LowerKernel::lowerOuterProducts(tile::DotOp op) {
  Registers result = OuterProducts(*this, op).run();
  registers[op.getResult()] = std::move(result);
}

} // namespace drawloom::nvptx
