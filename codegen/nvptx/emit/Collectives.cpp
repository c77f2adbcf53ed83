//===- Collectives.cpp - instructions of whole warps and blocks -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/Collectives.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace drawloom::nvptx {

namespace {
struct Spelling {
  Collectives::Kind kind;
  /// What the name of an intrinsic, and an instruction of PTX, begin with.
  StringLiteral intrinsic, ptx;
};
} // namespace

// The first that fits holds.
static const Spelling spellings[] = {
    {Collectives::WarpBarrier, "llvm.nvvm.bar.warp.sync", "bar.warp.sync"},
    {Collectives::Barrier, "llvm.nvvm.barrier.cta.", "bar."},
    {Collectives::Barrier, "llvm.nvvm.barrier.cta.", "barrier."},
    {Collectives::Product, "llvm.nvvm.mma.", "mma.sync."},
    {Collectives::Load, "llvm.nvvm.ldmatrix.", "ldmatrix."},
    {Collectives::Store, "llvm.nvvm.stmatrix.", "stmatrix."},
    {Collectives::Exchange, "llvm.nvvm.shfl.sync.", "shfl.sync."},
    {Collectives::Exchange, "llvm.nvvm.vote.", "vote.sync."},
    {Collectives::Exchange, "llvm.nvvm.redux.sync.", "redux.sync."},
    {Collectives::Exchange, "llvm.nvvm.match.", "match."},
    {Collectives::Exchange, "llvm.nvvm.elect.sync", "elect.sync"},
};

static const char *nameOf(size_t kind) {
  static const char *const names[] = {"barriers", "barriers of warps",
                                      "mma.sync", "ldmatrix",
                                      "stmatrix", "exchanges between lanes"};
  return names[kind];
}

static std::optional<Collectives::Kind> kindOf(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  if (!call)
    return std::nullopt;
  // There is no intrinsic for some barriers.
  if (auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand())) {
    StringRef text = assembly->getAsmString();
    for (const Spelling &spelling : spellings)
      if (text.starts_with(spelling.ptx))
        return spelling.kind;
    return std::nullopt;
  }
  if (const Function *callee = call->getCalledFunction())
    for (const Spelling &spelling : spellings)
      if (callee->getName().starts_with(spelling.intrinsic))
        return spelling.kind;
  return std::nullopt;
}

Collectives Collectives::of(const Module &module) {
  Collectives result;
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (std::optional<Kind> kind = kindOf(instruction))
        ++result.count[*kind];
  return result;
}

Collectives Collectives::ofPtx(StringRef ptx) {
  Collectives result;
  while (!ptx.empty()) {
    StringRef line;
    std::tie(line, ptx) = ptx.split('\n');
    line = line.ltrim();
    // A predicate: @%p1 or @!%p1.
    if (line.starts_with("@"))
      line =
          line.drop_until([](char c) { return c == ' ' || c == '\t'; }).ltrim();
    for (const Spelling &spelling : spellings)
      if (line.starts_with(spelling.ptx)) {
        ++result.count[spelling.kind];
        break;
      }
  }
  return result;
}

static Error mistake(const char *who, unsigned now, size_t kind,
                     unsigned before) {
  return createStringError(Twine(who) + " made " + Twine(now) + " " +
                           nameOf(kind) + " of " + Twine(before) +
                           ": this is a mistake of the compiler");
}

Error Collectives::checkNoneAdded(const Module &optimized) const {
  Collectives now = of(optimized);
  for (size_t kind = 0; kind < Kinds; ++kind)
    if (now.count[kind] > count[kind])
      return mistake("LLVM's passes", now.count[kind], kind, count[kind]);
  return Error::success();
}

Error Collectives::checkPtx(StringRef ptx) const {
  Collectives now = ofPtx(ptx);
  for (size_t kind = 0; kind < Kinds; ++kind)
    if (now.count[kind] != count[kind])
      return mistake("LLVM's code generator", now.count[kind], kind,
                     count[kind]);
  return Error::success();
}

} // namespace drawloom::nvptx
