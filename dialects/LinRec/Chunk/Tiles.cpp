//===- Tiles.cpp - arithmetic on tiles ------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Chunk/Tiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;

namespace drawloom::linrec {

ArrayRef<int64_t> Tiles::shape(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getShape();
}

Value Tiles::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value Tiles::number(double value) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(element, value));
}

Value Tiles::empty(ArrayRef<int64_t> shape) {
  return tensor::EmptyOp::create(b, loc, shape, element);
}

Value Tiles::zeros(ArrayRef<int64_t> shape) {
  return linalg::FillOp::create(b, loc, number(0), empty(shape)).getResult(0);
}

Value Tiles::array(OpFoldResult count, ArrayRef<int64_t> shape) {
  SmallVector<OpFoldResult> sizes = {count};
  llvm::append_range(sizes, getAsIndexOpFoldResult(b.getContext(), shape));
  return tensor::EmptyOp::create(b, loc, sizes, element);
}

/// The letters of all operands, in the order in which the first output, then
/// the others name them.
static SmallString<8> lettersOf(ArrayRef<Indexed> inputs,
                                ArrayRef<Indexed> outputs) {
  SmallString<8> letters;
  for (ArrayRef<Indexed> group : {outputs, inputs})
    for (const Indexed &each : group)
      for (char letter : each.loops)
        if (!letters.str().contains(letter))
          letters.push_back(letter);
  return letters;
}

static AffineMap mapOf(StringRef loops, StringRef letters,
                       MLIRContext *context) {
  SmallVector<AffineExpr> dims;
  for (char letter : loops)
    dims.push_back(getAffineDimExpr(letters.find(letter), context));
  return AffineMap::get(letters.size(), 0, dims, context);
}

Tiles::Values Tiles::generic(ArrayRef<Indexed> inputs,
                             ArrayRef<Indexed> outputs, Body body) {
  SmallString<8> letters = lettersOf(inputs, outputs);
  SmallVector<AffineMap> maps;
  Values ins, outs;
  for (const Indexed &each : inputs) {
    maps.push_back(mapOf(each.loops, letters, b.getContext()));
    ins.push_back(each.tile);
  }
  SmallVector<utils::IteratorType> iterators(letters.size(),
                                             utils::IteratorType::parallel);
  for (const Indexed &each : outputs) {
    maps.push_back(mapOf(each.loops, letters, b.getContext()));
    outs.push_back(each.tile);
    for (auto [position, letter] : llvm::enumerate(letters))
      if (!each.loops.contains(letter))
        iterators[position] = utils::IteratorType::reduction;
  }
  auto op = linalg::GenericOp::create(
      b, loc, TypeRange(ValueRange(outs)), ins, outs, maps, iterators,
      [&](OpBuilder &nested, Location, ValueRange elements) {
        ScalarBuilder s(nested, loc, /*approximate=*/static_cast<bool>(narrow));
        linalg::YieldOp::create(nested, loc, body(s, elements));
      });
  return Values(op.getResults());
}

Value Tiles::map(ArrayRef<Indexed> inputs, StringRef loops,
                 ArrayRef<int64_t> shape, Scalar body) {
  return generic(inputs, {{empty(shape), loops}},
                 [&](ScalarBuilder &s, ValueRange elements) -> Values {
                   return {body(s, elements.drop_back())};
                 })[0];
}

Value Tiles::map(Value x, Scalar body) {
  StringRef loops = StringRef("abcd").take_front(shape(x).size());
  return map({{x, loops}}, loops, shape(x), body);
}

Value Tiles::product(Indexed x, Indexed y, Indexed sum) {
  SmallString<8> letters = lettersOf({x, y}, {sum});
  auto some = [&](const Indexed &in, const Indexed &too, const Indexed &not_) {
    return llvm::any_of(letters, [&](char letter) {
      return in.loops.contains(letter) && too.loops.contains(letter) &&
             !not_.loops.contains(letter);
    });
  };
  // A product of matrices has rows, columns and a sum. The sum of products
  // otherwise: its order is left open, and it goes along vectors.
  if (!some(x, sum, y) || !some(y, sum, x) || !some(x, y, sum))
    return generic({x, y}, {sum}, [](ScalarBuilder &s, ValueRange e) -> Values {
      return {s.add(e[2], s.mul(s.widen(e[0]), s.widen(e[1])))};
    })[0];
  SmallVector<Attribute> maps;
  for (const Indexed &each : {x, y, sum})
    maps.push_back(
        AffineMapAttr::get(mapOf(each.loops, letters, b.getContext())));
  Value left = rounded(x.tile), right = rounded(y.tile);
  return linalg::ContractOp::create(b, loc, TypeRange{sum.tile.getType()},
                                    ValueRange{left, right},
                                    ValueRange{sum.tile}, b.getArrayAttr(maps))
      .getResult(0);
}

Value Tiles::rounded(Value x) {
  if (!narrow || getElementTypeOrSelf(x.getType()) == narrow)
    return x;
  // What another block made need not be there.
  Value known = narrowed.lookup(x);
  if (known && known.getParentBlock() == b.getInsertionBlock())
    return known;
  RankedTensorType type = cast<RankedTensorType>(x.getType());
  StringRef loops = StringRef("abcd").take_front(type.getRank());
  Value into = tensor::EmptyOp::create(b, loc, type.getShape(), narrow);
  // A target that gains nothing by it may keep the digits.
  auto optional = arith::FastMathFlagsAttr::get(b.getContext(),
                                                arith::FastMathFlags::contract);
  return narrowed[x] =
             generic({{x, loops}}, {{into, loops}},
                     [&](ScalarBuilder &s, ValueRange elements) -> Values {
                       return {arith::TruncFOp::create(
                           s.builder, s.loc, narrow, elements[0],
                           arith::RoundingModeAttr(), optional)};
                     })[0];
}

Value Tiles::convert(Value x, FloatType to) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.getElementType() == to)
    return x;
  Value into =
      tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, x), to);
  StringRef loops = StringRef("abcd").take_front(type.getRank());
  Value converted =
      generic({{x, loops}}, {{into, loops}},
              [&](ScalarBuilder &s, ValueRange elements) -> Values {
                return {s.convert(elements[0], to)};
              })[0];
  if (type.getElementType() == narrow)
    narrowed[converted] = x;
  return converted;
}

Tiles::Values Tiles::loop(Value lo, Value hi, int64_t step, ValueRange carried,
                          llvm::function_ref<Values(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(
      b, loc, lo, hi, index(step), carried,
      [&](OpBuilder &nested, Location, Value i, ValueRange values) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        scf::YieldOp::create(b, loc, body(i, values));
      });
  return Values(op.getResults());
}

namespace {
/// Entry `i` of the first dimension as a slice.
struct EntrySlice {
  EntrySlice(OpBuilder &b, RankedTensorType tile, Value i) {
    ArrayRef<int64_t> shape = tile.getShape();
    offsets.assign(shape.size(), b.getIndexAttr(0));
    strides.assign(shape.size(), b.getIndexAttr(1));
    offsets[0] = i;
    sizes.push_back(b.getIndexAttr(1));
    for (int64_t extent : shape.drop_front())
      sizes.push_back(b.getIndexAttr(extent));
    type = RankedTensorType::get(shape.drop_front(), tile.getElementType());
  }
  SmallVector<OpFoldResult> offsets, sizes, strides;
  RankedTensorType type;
};
} // namespace

Value Tiles::entry(Value tile, Value i) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getRank() == 1)
    return tensor::ExtractOp::create(b, loc, tile, i);
  EntrySlice slice(b, type, i);
  return tensor::ExtractSliceOp::create(b, loc, slice.type, tile, slice.offsets,
                                        slice.sizes, slice.strides);
}

Value Tiles::withEntry(Value tile, Value i, Value entry) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getRank() == 1)
    return tensor::InsertOp::create(b, loc, entry, tile, i);
  EntrySlice slice(b, type, i);
  return tensor::InsertSliceOp::create(b, loc, entry, tile, slice.offsets,
                                       slice.sizes, slice.strides);
}

} // namespace drawloom::linrec
