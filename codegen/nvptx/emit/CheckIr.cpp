//===- CheckIr.cpp - LLVM IR that the NVPTX back end accepts --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/CheckIr.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace drawloom::nvptx {

namespace {
/// Intrinsics whose names begin with `prefix` need `capability`, that one
/// exactly where `specific`; 100 stands for the 10x family there.
struct Requirement {
  StringLiteral prefix;
  unsigned capability;
  bool specific;
};
} // namespace

// The first that fits holds.
static const Requirement requirements[] = {
    {"llvm.nvvm.wgmma", 90, true},
    {"llvm.nvvm.tcgen05", 100, true},
    {"llvm.nvvm.redux.sync.f", 100, true},
    {"llvm.nvvm.ldmatrix.sync.aligned.m16n16", 100, true},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n16", 100, true},
    {"llvm.nvvm.stmatrix", 90, false},
    {"llvm.nvvm.cp.async.bulk", 90, false},
    {"llvm.nvvm.cp.async.mbarrier", 80, false},
    {"llvm.nvvm.fence.proxy", 90, false},
    {"llvm.nvvm.fence.mbarrier_init", 90, false},
    {"llvm.nvvm.barrier.cluster", 90, false},
    {"llvm.nvvm.mapa", 90, false},
    {"llvm.nvvm.griddepcontrol", 90, false},
    {"llvm.nvvm.setmaxnreg", 90, false},
    {"llvm.nvvm.elect.sync", 90, false},
    {"llvm.nvvm.mbarrier.try.wait", 90, false},
    {"llvm.nvvm.mbarrier.expect.tx", 90, false},
    {"llvm.nvvm.ex2.approx.ftz.bf16", 90, false},
    {"llvm.nvvm.ff2bf16x2.rs", 100, true},
    {"llvm.nvvm.ff2f16x2.rs", 100, true},
};

/// Whether the back end has no code for it, or only an inexact one that the
/// call does not allow.
static bool isMathWithoutCode(const CallBase &call, Intrinsic::ID id) {
  switch (id) {
  // With `afn`: ex2.approx, sin.approx, cos.approx, tanh.approx. The first also
  // without it.
  case Intrinsic::exp2:
  case Intrinsic::cos:
  case Intrinsic::sin:
  case Intrinsic::tanh:
    return !call.hasApproxFunc() || !call.getType()->isFloatTy();
  case Intrinsic::acos:
  case Intrinsic::asin:
  case Intrinsic::atan:
  case Intrinsic::atan2:
  case Intrinsic::cosh:
  case Intrinsic::exp:
  case Intrinsic::exp10:
  case Intrinsic::frexp:
  case Intrinsic::ldexp:
  case Intrinsic::log:
  case Intrinsic::log10:
  case Intrinsic::log2:
  case Intrinsic::modf:
  case Intrinsic::pow:
  case Intrinsic::powi:
  case Intrinsic::sincos:
  case Intrinsic::sinh:
  case Intrinsic::tan:
    return true;
  default:
    return false;
  }
}

static Error checkCall(const CallBase &call, const Architecture &architecture) {
  StringRef kernel = call.getFunction()->getName();
  if (call.isInlineAsm())
    return Error::success();
  const Function *callee = call.getCalledFunction();
  if (!callee)
    return createStringError("'" + kernel +
                             "' calls through a pointer, which kernels do not");
  StringRef name = callee->getName();
  if (!callee->isIntrinsic())
    return callee->isDeclaration()
               ? createStringError("'" + kernel + "' calls '" + name +
                                   "', which nothing defines")
               : Error::success();
  if (isMathWithoutCode(call, callee->getIntrinsicID()))
    return createStringError("'" + kernel + "' calls " + name +
                             ", which has no exact code on a GPU; expand it, "
                             "or call the llvm.nvvm intrinsic that is meant");
  for (const Requirement &requirement : requirements) {
    if (!name.starts_with(requirement.prefix))
      continue;
    bool fits = requirement.specific
                    ? architecture.specific && architecture.capability / 10 ==
                                                   requirement.capability / 10
                    : architecture.capability >= requirement.capability;
    if (fits)
      break;
    return createStringError(
        "'" + kernel + "' calls " + name + ", which needs sm_" +
        utostr(requirement.capability) + (requirement.specific ? "a" : "") +
        "; " + architecture.name + " does not have it");
  }
  return Error::success();
}

Error checkIr(const Module &module, const Architecture &architecture) {
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        if (Error error = checkCall(*call, architecture))
          return error;
      if (instruction.getOpcode() == Instruction::FRem)
        return createStringError("'" + function.getName() +
                                 "' holds frem, which has no exact code on a "
                                 "GPU; expand it");
      // The back end prints them all as relaxed (LLVM 22.1).
      if (const auto *atomic = dyn_cast<AtomicRMWInst>(&instruction))
        if (isStrongerThanMonotonic(atomic->getOrdering()))
          return createStringError(
              "'" + function.getName() + "' holds atomicrmw " +
              AtomicRMWInst::getOperationName(atomic->getOperation()) +
              " with order " + toIRString(atomic->getOrdering()) +
              ", which would be lost; make it monotonic, with llvm.fence "
              "before and behind it");
      if (isa<InvokeInst, IndirectBrInst, ResumeInst>(instruction))
        return createStringError("'" + function.getName() + "' holds '" +
                                 instruction.getOpcodeName() +
                                 "', which GPUs do not have");
      Type *type = instruction.getType()->getScalarType();
      if (type->isX86_FP80Ty() || type->isFP128Ty() || type->isPPC_FP128Ty() ||
          (type->isIntegerTy() && type->getIntegerBitWidth() > 128))
        return createStringError(
            "'" + function.getName() +
            "' computes with a type that GPUs do not have");
    }
  return Error::success();
}

} // namespace drawloom::nvptx
