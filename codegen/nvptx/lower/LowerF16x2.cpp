//===- LowerF16x2.cpp - two numbers of 16 bits at a time ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/LowerF16x2.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace drawloom::nvptx {

static bool isZeroSplat(Value value) {
  auto splat = value.getDefiningOp<tile::SplatOp>();
  return splat && matchPattern(splat.getValue(), m_PosZeroFloat());
}

bool LowerF16x2::lowerRounding(Operation *op, RegisterRange range) {
  bool maximum = false;
  Value source;
  if (auto round = dyn_cast<arith::TruncFOp>(op)) {
    source = round.getIn();
    if (!getElementTypeOrSelf(source).isF32())
      return false;
    // cvt.rn.relu does both.
    if (round->hasOneUse())
      if (auto next = dyn_cast<arith::MaximumFOp>(*round->getUsers().begin());
          next && next.getLhs() == round.getOut() &&
          isZeroSplat(next.getRhs())) {
        unrounded.insert(round.getOut());
        const Registers values = program.registers.lookup(source);
        program.registers[round.getOut()].append(values.begin() + range.begin,
                                                 values.begin() + range.end);
        return true;
      }
  } else if (auto next = dyn_cast<arith::MaximumFOp>(op);
             next && unrounded.contains(next.getLhs())) {
    source = next.getLhs();
    maximum = true;
  } else {
    return false;
  }
  Type element = getElementTypeOrSelf(op->getResult(0));
  const Registers values = program.registers.lookup(source);
  auto pair = VectorType::get(2, element);
  std::string name =
      element.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn";
  if (maximum)
    name += ".relu";
  std::map<std::pair<void *, void *>, std::pair<Value, Value>> done;
  Registers &results = program.registers[op->getResult(0)];
  for (int64_t i = range.begin; i < range.end; i += 2) {
    Value low = values[i], high = i + 1 < range.end ? values[i + 1] : low;
    auto &made = done[{low.getAsOpaquePointer(), high.getAsOpaquePointer()}];
    if (!made.first) {
      // The first operand is the upper half.
      Value rounded = LLVM::CallIntrinsicOp::create(builder, pair,
                                                    builder.getStringAttr(name),
                                                    ValueRange{high, low})
                          .getResult(0);
      made = {LLVM::ExtractElementOp::create(builder, rounded,
                                             program.constant(0, 32)),
              LLVM::ExtractElementOp::create(builder, rounded,
                                             program.constant(1, 32))};
      program.count();
    }
    results.push_back(made.first);
    if (i + 1 < range.end)
      results.push_back(made.second);
  }
  return true;
}

/// The vector that `value` is element `at` of.
static Value vectorOf(Value value, int64_t &at) {
  auto extract = value.getDefiningOp<LLVM::ExtractElementOp>();
  APInt place;
  if (!extract || !matchPattern(extract.getPosition(), m_ConstantInt(&place)))
    return {};
  at = place.getSExtValue();
  return extract.getVector();
}

bool LowerF16x2::lowerExtension(Operation *op, RegisterRange range) {
  auto extend = dyn_cast<arith::ExtFOp>(op);
  if (!program.options.splitWords || !extend ||
      !getElementTypeOrSelf(extend.getIn()).isBF16() ||
      !getElementTypeOrSelf(extend.getOut()).isF32())
    return false;
  const Registers values = program.registers.lookup(extend.getIn());
  // The upper half of a word is an f32 once the lower half is gone; taken out
  // by itself it would be shifted twice.
  auto isPair = [&](int64_t i) {
    int64_t low, high;
    if (i + 1 >= range.end)
      return false;
    Value vector = vectorOf(values[i], low);
    return vector && vectorOf(values[i + 1], high) == vector && low % 2 == 0 &&
           high == low + 1;
  };
  Type f32 = builder.getF32Type(), word = builder.getI32Type();
  Registers results;
  for (int64_t i = range.begin; i < range.end; ++i) {
    if (!isPair(i)) {
      results.push_back(
          arith::ExtFOp::create(builder, f32, values[i]).getResult());
      continue;
    }
    int64_t at;
    Value vector = vectorOf(values[i], at);
    int64_t words = cast<VectorType>(vector.getType()).getNumElements() / 2;
    Value both = LLVM::BitcastOp::create(
        builder, words > 1 ? VectorType::get(words, word) : word, vector);
    if (words > 1)
      both = LLVM::ExtractElementOp::create(builder, both,
                                            program.constant(at / 2, 32));
    Value low = arith::ShLIOp::create(builder, both, program.constant(16, 32));
    Value high =
        arith::AndIOp::create(builder, both, program.constant(0xffff0000, 32));
    for (Value half : {low, high}) {
      results.push_back(LLVM::BitcastOp::create(builder, f32, half));
      program.count();
    }
    ++i;
  }
  program.registers[extend.getOut()].append(results);
  return true;
}

/// Whether a tile is a maximum with zero, or a copy of one.
static bool isNonnegative(Value value) {
  if (auto maximum = value.getDefiningOp<arith::MaximumFOp>())
    return isZeroSplat(maximum.getRhs());
  auto load = value.getDefiningOp<tile::LoadOp>();
  return load && load->hasAttr(nonnegativeAttr);
}

/// The comparison of 16-bit numbers with zero by which `select` chooses between
/// its own ones and zero.
static arith::CmpFOp maskOf(arith::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  Type element = getElementTypeOrSelf(select.getType());
  if (!compare || !(element.isBF16() || element.isF16()) ||
      compare.getPredicate() != arith::CmpFPredicate::UNE ||
      getElementTypeOrSelf(compare.getLhs()) != element ||
      !isZeroSplat(compare.getRhs()) || !isZeroSplat(select.getFalseValue()) ||
      !isNonnegative(compare.getLhs()))
    return {};
  return compare;
}

Value LowerF16x2::pack(Value low, Value high) {
  Value both =
      LLVM::PoisonOp::create(builder, VectorType::get(2, low.getType()));
  both = LLVM::InsertElementOp::create(builder, both, low,
                                       program.constant(0, 32));
  both = LLVM::InsertElementOp::create(builder, both, high,
                                       program.constant(1, 32));
  return LLVM::BitcastOp::create(builder, builder.getI32Type(), both);
}

bool LowerF16x2::lowerMask(Operation *op, RegisterRange range) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    if (!llvm::all_of(compare->getUsers(), [&](Operation *user) {
          auto select = dyn_cast<arith::SelectOp>(user);
          return select && select.getCondition() == compare.getResult() &&
                 maskOf(select) == compare;
        }))
      return false;
    // Its users read the numbers themselves.
    const Registers values = program.registers.lookup(compare.getLhs());
    program.registers[compare.getResult()].append(values.begin() + range.begin,
                                                  values.begin() + range.end);
    return true;
  }
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select || !maskOf(select))
    return false;
  Type element = getElementTypeOrSelf(select.getType());
  auto pair = VectorType::get(2, element);
  Type word = builder.getI32Type();
  const Registers signs = program.registers.lookup(select.getCondition());
  const Registers values = program.registers.lookup(select.getTrueValue());
  Registers &results = program.registers[select.getResult()];
  for (int64_t i = range.begin; i < range.end; i += 2) {
    int64_t next = std::min(i + 1, range.end - 1);
    // Numbers that are not zero carry into the highest bits of the halves,
    // which prmt (0x8 | byte) spreads over them.
    Value mask = arith::AddIOp::create(builder, pack(signs[i], signs[next]),
                                       program.constant(0x7fff7fff, 32));
    mask = LLVM::CallIntrinsicOp::create(
               builder, word, builder.getStringAttr("llvm.nvvm.prmt"),
               ValueRange{mask, mask, program.constant(0xbb99, 32)})
               .getResult(0);
    Value chosen =
        arith::AndIOp::create(builder, mask, pack(values[i], values[next]));
    chosen = LLVM::BitcastOp::create(builder, pair, chosen);
    program.count();
    for (int64_t half = 0; half <= next - i; ++half)
      results.push_back(LLVM::ExtractElementOp::create(
          builder, chosen, program.constant(half, 32)));
  }
  return true;
}

} // namespace drawloom::nvptx
