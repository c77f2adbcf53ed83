//===- Indices.cpp - forms of indices that GPUs compute cheaply -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/Indices.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/ValueHandle.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace drawloom::nvptx {

/// min(max(x, 0), bound) is max(min(x, bound), 0) where the bound is not
/// negative. Of the second, ptxas makes one instruction from sm_90 on.
static bool boundBelowLast(Instruction &least) {
  Value *x;
  ConstantInt *bound;
  if (!match(&least, m_SMin(m_OneUse(m_SMax(m_Value(x), m_Zero())),
                            m_ConstantInt(bound))) ||
      bound->isNegative() || !least.getType()->isIntegerTy(32))
    return false;
  IRBuilder<> builder(&least);
  Value *below = builder.CreateBinaryIntrinsic(Intrinsic::smin, x, bound);
  least.replaceAllUsesWith(builder.CreateBinaryIntrinsic(Intrinsic::smax, below,
                                                         builder.getInt32(0)));
  return true;
}

/// An index in 64 bits that is a multiple of one in 32 bits, and does not
/// overflow these, is one wide product with the bytes of an element; LLVM
/// multiplies in 32 bits first.
static bool multiplyOnce(GetElementPtrInst &address) {
  const DataLayout &layout = address.getDataLayout();
  TypeSize size = layout.getTypeAllocSize(address.getSourceElementType());
  if (address.getNumIndices() != 1 || size.isScalable() ||
      !address.getType()->isPointerTy())
    return false;
  auto *wide = dyn_cast<CastInst>(address.getOperand(1));
  if (!wide || !isa<ZExtInst, SExtInst>(wide) ||
      !wide->getSrcTy()->isIntegerTy(32) || !wide->getDestTy()->isIntegerTy(64))
    return false;
  auto *multiple = dyn_cast<OverflowingBinaryOperator>(wide->getOperand(0));
  if (!multiple || !multiple->hasOneUse())
    return false;
  // Where the multiple is not negative, either extension is right.
  bool isEither = isa<ZExtInst>(wide) && wide->hasNonNeg();
  bool isUnsigned = isa<ZExtInst>(wide) && multiple->hasNoUnsignedWrap();
  bool isSigned = (isa<SExtInst>(wide) || isEither) &&
                  multiple->hasNoSignedWrap() && !isUnsigned;
  if (!isUnsigned && !isSigned)
    return false;
  ConstantInt *by;
  Value *x;
  uint64_t factor;
  if (match(multiple, m_Shl(m_Value(x), m_ConstantInt(by))) &&
      by->getValue().ult(31))
    factor = uint64_t(1) << by->getZExtValue();
  else if (match(multiple, m_Mul(m_Value(x), m_ConstantInt(by))) &&
           by->getValue().isStrictlyPositive())
    factor = by->getZExtValue();
  else
    return false;
  factor *= size.getFixedValue();
  if (factor == 0 || factor > INT32_MAX)
    return false;
  IRBuilder<> builder(&address);
  Type *type = wide->getDestTy();
  Value *extended =
      isSigned ? builder.CreateSExt(x, type) : builder.CreateZExt(x, type);
  Value *bytes =
      isPowerOf2_64(factor)
          ? builder.CreateShl(extended, Log2_64(factor), "",
                              /*HasNUW=*/!isSigned, /*HasNSW=*/true)
          : builder.CreateMul(extended, ConstantInt::get(type, factor), "",
                              /*HasNUW=*/!isSigned, /*HasNSW=*/true);
  Value *other = builder.CreatePtrAdd(address.getPointerOperand(), bytes, "",
                                      address.getNoWrapFlags());
  address.replaceAllUsesWith(other);
  return true;
}

/// Removes an instruction and operands that nobody else has.
static void erase(Instruction &first) {
  SmallVector<WeakTrackingVH> dead{&first};
  while (!dead.empty()) {
    auto *gone = dyn_cast_or_null<Instruction>(dead.pop_back_val());
    if (!gone || !gone->use_empty())
      continue;
    for (Value *operand : gone->operands())
      if (isa<CastInst, OverflowingBinaryOperator, MinMaxIntrinsic>(operand))
        dead.push_back(operand);
    gone->eraseFromParent();
  }
}

void chooseFormsOfIndices(Module &module) {
  for (Function &function : module) {
    SmallVector<WeakVH> all;
    for (Instruction &instruction : instructions(function))
      if (isa<GetElementPtrInst, MinMaxIntrinsic>(instruction))
        all.push_back(&instruction);
    for (WeakVH &value : all) {
      auto *instruction = cast_or_null<Instruction>(value);
      auto *address = dyn_cast_or_null<GetElementPtrInst>(instruction);
      if (instruction &&
          (address ? multiplyOnce(*address) : boundBelowLast(*instruction)))
        erase(*instruction);
    }
  }
}

} // namespace drawloom::nvptx
