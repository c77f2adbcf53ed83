//===- InterceptCalls.cpp - intrinsics of the GPU become calls ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/emulator/Intercept.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace drawloom::emulator {

/// Takes "x4" and the like from the front of the text.
static std::optional<unsigned> consumeCount(StringRef &text) {
  unsigned count = 0;
  if (!text.consume_front("x") || text.consumeInteger(10, count))
    return std::nullopt;
  return count;
}

static SmallVector<Value *> argumentsOf(CallInst &call) {
  return SmallVector<Value *>(call.args());
}

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

Value *Interceptor::specialRegister(StringRef name) {
  if (!name.consume_front("read.ptx.sreg."))
    return nullptr;
  // Blocks have one dimension.
  auto fixed = StringSwitch<int64_t>(name)
                   .Cases({"tid.y", "tid.z"}, 0)
                   .Cases({"ntid.y", "ntid.z"}, 1)
                   .Case("warpsize", 32)
                   .Default(-1);
  if (fixed >= 0)
    return number(fixed);
  auto which = StringSwitch<std::optional<SpecialRegister>>(name)
                   .Case("tid.x", SpecialRegister::ThreadX)
                   .Case("ctaid.x", SpecialRegister::BlockX)
                   .Case("ctaid.y", SpecialRegister::BlockY)
                   .Case("ctaid.z", SpecialRegister::BlockZ)
                   .Case("nctaid.x", SpecialRegister::GridX)
                   .Case("nctaid.y", SpecialRegister::GridY)
                   .Case("nctaid.z", SpecialRegister::GridZ)
                   .Case("ntid.x", SpecialRegister::Threads)
                   .Case("laneid", SpecialRegister::Lane)
                   .Case("warpid", SpecialRegister::Warp)
                   .Case("nwarpid", SpecialRegister::Warps)
                   .Case("lanemask.eq", SpecialRegister::LaneMaskEq)
                   .Case("lanemask.lt", SpecialRegister::LaneMaskLt)
                   .Case("lanemask.le", SpecialRegister::LaneMaskLe)
                   .Case("lanemask.gt", SpecialRegister::LaneMaskGt)
                   .Case("lanemask.ge", SpecialRegister::LaneMaskGe)
                   .Case("dynamic.smem.size", SpecialRegister::SharedBytes)
                   .Default(std::nullopt);
  return which ? call("emuRegister", i32, {thread, code(*which)}) : nullptr;
}

//===----------------------------------------------------------------------===//
// Barriers, fences, copies
//===----------------------------------------------------------------------===//

bool Interceptor::synchronize(CallInst &op, StringRef name) {
  SmallVector<Value *> args = argumentsOf(op);
  if (name == "bar.warp.sync") {
    call("emuWarpBarrier", nullptr, {thread, args[0], site(op)});
    return replace(op, nullptr), true;
  }
  if (name.consume_front("membar.")) {
    call(
        "emuFence", nullptr,
        {thread, code(name == "cta" ? Scope::Block : Scope::Device), site(op)});
    return replace(op, nullptr), true;
  }
  if (!name.consume_front("barrier.cta."))
    return false;
  // Barrier number, count of threads, predicate.
  bool counts = name.consume_back(".count");
  if ((!counts && !name.consume_back(".all")) || !name.consume_back(".aligned"))
    return false;
  Value *count = counts ? args[1] : number(0);
  if (name == "arrive") {
    call("emuBarrierArrive", nullptr, {thread, args[0], count, site(op)});
    return replace(op, nullptr), true;
  }
  auto reduction = StringSwitch<std::optional<BarrierReduction>>(name)
                       .Case("sync", BarrierReduction::None)
                       .Case("red.popc", BarrierReduction::Count)
                       .Case("red.and", BarrierReduction::And)
                       .Case("red.or", BarrierReduction::Or)
                       .Default(std::nullopt);
  if (!reduction)
    return false;
  bool reduces = *reduction != BarrierReduction::None;
  Value *result = call("emuBarrier", i32,
                       {thread, args[0], count, code(*reduction),
                        reduces ? toWord(args.back()) : number(0), site(op)});
  if (!reduces)
    result = nullptr;
  else if (op.getType()->isIntegerTy(1))
    result = b.CreateIsNotNull(result);
  return replace(op, result), true;
}

bool Interceptor::copyAsync(CallInst &op, StringRef name) {
  if (!name.consume_front("cp.async."))
    return false;
  SmallVector<Value *> args = argumentsOf(op);
  if (name == "commit.group") {
    call("emuCopyCommit", nullptr, {thread, site(op)});
    return replace(op, nullptr), true;
  }
  if (name == "wait.group" || name == "wait.all") {
    call("emuCopyWait", nullptr,
         {thread, name == "wait.all" ? number(-1) : args[0], site(op)});
    return replace(op, nullptr), true;
  }
  unsigned bytes = 0;
  bool known = name.consume_front("ca.") || name.consume_front("cg.");
  if (!known || !name.consume_front("shared.global.") ||
      name.consumeInteger(10, bytes) || (!name.empty() && name != ".s"))
    return false;
  int32_t given = numbers.lookup(&op);
  Value *wide = b.getInt64(bytes);
  describe(op, args[1], wide, places.meaningOf(given));
  describe(op, args[0], wide, places.copiedTo(given));
  if (given == 0) {
    // The number behind a copy's stands for its other side.
    given = place(op);
    places.texts.push_back(places.texts.back() + " (its global side)");
  }
  call("emuCopyAsync", nullptr,
       {thread, args[0], args[1], number(bytes),
        name.empty() ? number(bytes) : args[2], number(given)});
  return replace(op, nullptr), true;
}

//===----------------------------------------------------------------------===//
// Exchange between lanes
//===----------------------------------------------------------------------===//

static std::optional<int32_t> reductionOf(StringRef name) {
  int32_t flags = 0;
  flags |= name.consume_back(".NaN") ? reduceNan : 0;
  flags |= name.consume_back(".abs") ? reduceAbsolute : 0;
  auto kind = StringSwitch<std::optional<Reduction>>(name)
                  .Case("add", Reduction::Add)
                  .Case("and", Reduction::And)
                  .Case("max", Reduction::Max)
                  .Case("min", Reduction::Min)
                  .Case("or", Reduction::Or)
                  .Case("umax", Reduction::UnsignedMax)
                  .Case("umin", Reduction::UnsignedMin)
                  .Case("xor", Reduction::Xor)
                  .Case("fmin", Reduction::FloatMin)
                  .Case("fmax", Reduction::FloatMax)
                  .Default(std::nullopt);
  if (!kind)
    return std::nullopt;
  return static_cast<int32_t>(*kind) | flags;
}

bool Interceptor::exchange(CallInst &op, StringRef name) {
  SmallVector<Value *> args = argumentsOf(op);
  if (name == "elect.sync") {
    Value *packed = call("emuElect", i64, {thread, args[0], site(op)});
    return replace(op, pairResult(op.getType(), packed, i32)), true;
  }
  if (name.consume_front("shfl.sync.")) {
    auto kind = StringSwitch<std::optional<Shuffle>>(name.split('.').first)
                    .Case("bfly", Shuffle::Butterfly)
                    .Case("up", Shuffle::Up)
                    .Case("down", Shuffle::Down)
                    .Case("idx", Shuffle::Index)
                    .Default(std::nullopt);
    if (!kind)
      return false;
    Type *type = args[1]->getType();
    Value *packed = call("emuShuffle", i64,
                         {thread, code(*kind), args[0], toWord(args[1]),
                          args[2], args[3], site(op)});
    return replace(op, pairResult(op.getType(), packed, type)), true;
  }
  if (name.consume_front("vote.")) {
    auto kind = StringSwitch<std::optional<Vote>>(name)
                    .Case("any.sync", Vote::Any)
                    .Case("all.sync", Vote::All)
                    .Case("ballot.sync", Vote::Ballot)
                    .Case("uni.sync", Vote::Uniform)
                    .Default(std::nullopt);
    if (!kind)
      return false;
    Value *result =
        call("emuVote", i32,
             {thread, code(*kind), args[0], toWord(args[1]), site(op)});
    if (op.getType()->isIntegerTy(1))
      result = b.CreateIsNotNull(result);
    return replace(op, result), true;
  }
  if (name.consume_front("redux.sync.")) {
    std::optional<int32_t> kind = reductionOf(name);
    if (!kind)
      return false;
    Value *result =
        call("emuReduce", i32,
             {thread, number(*kind), args[1], toWord(args[0]), site(op)});
    return replace(op, b.CreateBitCast(result, op.getType())), true;
  }
  if (name.consume_front("match.")) {
    bool all = name.consume_front("all.");
    if ((!all && !name.consume_front("any.")) || !name.starts_with("sync."))
      return false;
    Value *packed = call(
        "emuMatch", i64,
        {thread, number(all), args[0], b.CreateZExt(args[1], i64), site(op)});
    return replace(op, pairResult(op.getType(), packed, i32)), true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

bool Interceptor::moveMatrix(CallInst &op, StringRef name) {
  bool loads = name.consume_front("ldmatrix.");
  if (!loads && !name.consume_front("stmatrix."))
    return false;
  // 8x8 matrices of 16-bit numbers, that many.
  if (!name.consume_front("sync.aligned.m8n8."))
    return false;
  std::optional<unsigned> count = consumeCount(name);
  bool transposed = name.consume_front(".trans");
  if (!count || name != ".b16.p3")
    return false;
  SmallVector<Value *> args = argumentsOf(op);
  Value *words = buffer(*count);
  if (!loads)
    storeWords(ArrayRef(args).drop_front(), words);
  describe(op, args[0], nullptr, places.meaningOf(numbers.lookup(&op)));
  call(loads ? "emuLoadMatrix" : "emuStoreMatrix", nullptr,
       {thread, args[0], number(*count), number(transposed), words, site(op)});
  return replace(op, loads ? loadResult(op.getType(), words) : nullptr), true;
}

bool Interceptor::multiply(CallInst &op, StringRef name) {
  if (!name.consume_front("mma.m16n8k"))
    return false;
  unsigned k = 0;
  if (name.consumeInteger(10, k) || !name.consume_front(".row.col."))
    return false;
  auto type = StringSwitch<std::optional<Number>>(name)
                  .Case("f32.f32", Number::F16)
                  .Case("bf16", Number::BF16)
                  .Case("tf32", Number::TF32)
                  .Default(std::nullopt);
  if (!type)
    return false;
  bool narrow = *type != Number::TF32;
  // Words of A and B, and four sums.
  if (narrow ? k != 8 && k != 16 : k != 4 && k != 8)
    return false;
  size_t left = narrow ? k / 4 : k / 2;
  SmallVector<Value *> args = argumentsOf(op);
  if (args.size() != left + left / 2 + 4)
    return false;
  Value *in = buffer(args.size()), *out = buffer(4);
  storeWords(args, in);
  call("emuMultiply", nullptr,
       {thread, number(k), code(*type), in, out, site(op)});
  return replace(op, loadResult(op.getType(), out)), true;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::optional<emulator::Function> approximation(StringRef name) {
  return StringSwitch<std::optional<emulator::Function>>(name)
      .Case("ex2.approx", emulator::Function::Exp2)
      .Case("lg2.approx", emulator::Function::Log2)
      .Case("rcp.approx", emulator::Function::Reciprocal)
      .Case("sqrt.approx", emulator::Function::Sqrt)
      .Case("rsqrt.approx", emulator::Function::ReciprocalSqrt)
      .Case("tanh.approx", emulator::Function::Tanh)
      .Case("sin.approx", emulator::Function::Sin)
      .Case("cos.approx", emulator::Function::Cos)
      .Default(std::nullopt);
}

/// ff2bf16x2.rn.relu.satfinite, prmt.f4e and the like.
bool Interceptor::convert(CallInst &op, StringRef name) {
  SmallVector<Value *> args = argumentsOf(op);
  if (name.consume_front("prmt")) {
    auto mode = StringSwitch<int64_t>(name)
                    .Case("", 0)
                    .Case(".f4e", 1)
                    .Case(".b4e", 2)
                    .Case(".rc8", 3)
                    .Case(".ecl", 4)
                    .Case(".ecr", 5)
                    .Case(".rc16", 6)
                    .Default(-1);
    if (mode < 0)
      return false;
    return replace(op,
                   call("emuPermute", i32,
                        {number(mode), args[0],
                         args.size() > 2 ? args[1] : number(0), args.back()})),
           true;
  }
  int64_t flags = name.consume_back(".satfinite") ? 2 : 0;
  flags |= name.consume_back(".relu") ? 1 : 0;
  std::optional<Rounding> rounding;
  if (name.consume_back(".rn"))
    rounding = Rounding::Nearest;
  else if (name.consume_back(".rz"))
    rounding = Rounding::Zero;
  else if (name.consume_back(".rna"))
    rounding = Rounding::NearestAway;
  auto type = StringSwitch<std::optional<Number>>(name)
                  .Cases({"ff2bf16x2", "f2bf16"}, Number::BF16)
                  .Case("ff2f16x2", Number::F16)
                  .Case("f2tf32", Number::TF32)
                  .Default(std::nullopt);
  if (!rounding || !type)
    return false;
  SmallVector<Value *> operands{code(*type), code(*rounding), number(flags)};
  append_range(operands, args);
  Value *word =
      call(args.size() == 2 ? "emuConvertPair" : "emuConvert", i32, operands);
  if (op.getType()->getPrimitiveSizeInBits() == 16)
    word = b.CreateTrunc(word, b.getInt16Ty());
  return replace(op, b.CreateBitCast(word, op.getType())), true;
}

Value *Interceptor::arithmetic(CallInst &op, StringRef name) {
  // div.full and div.full.ftz have no suffix.
  if (!name.consume_back(".f") && !name.starts_with("div.full"))
    return nullptr;
  bool nan = name.consume_back(".nan"), flush = name.consume_back(".ftz");
  size_t operands = name == "fma.rn"                        ? 3
                    : name == "rcp.rn" || name == "sqrt.rn" ? 1
                                                            : 2;
  if (op.arg_size() != operands ||
      !all_of(op.args(), [](Value *v) { return v->getType()->isFloatTy(); }))
    return nullptr;
  auto flushed = [&](Value *value) -> Value * {
    if (!flush)
      return value;
    return call("emuMath", b.getFloatTy(),
                {code(emulator::Function::Identity), number(1), value});
  };
  SmallVector<Value *> x;
  for (Value *argument : op.args())
    x.push_back(flushed(argument));
  auto intrinsic = [&](Intrinsic::ID id) -> Value * {
    return b.CreateIntrinsic(b.getFloatTy(), id, x);
  };
  using Make = function_ref<Value *()>;
  Value *result =
      StringSwitch<Make>(name)
          .Case("add.rn", [&] { return b.CreateFAdd(x[0], x[1]); })
          .Case("mul.rn", [&] { return b.CreateFMul(x[0], x[1]); })
          .Case("fma.rn", [&] { return intrinsic(Intrinsic::fma); })
          .Cases({"div.rn", "div.approx", "div.full"},
                 [&] { return b.CreateFDiv(x[0], x[1]); })
          .Case("rcp.rn",
                [&] {
                  return b.CreateFDiv(ConstantFP::get(b.getFloatTy(), 1), x[0]);
                })
          .Case("sqrt.rn", [&] { return intrinsic(Intrinsic::sqrt); })
          .Case("fmax",
                [&] {
                  return intrinsic(nan ? Intrinsic::maximum
                                       : Intrinsic::maxnum);
                })
          .Case("fmin",
                [&] {
                  return intrinsic(nan ? Intrinsic::minimum
                                       : Intrinsic::minnum);
                })
          .Default([]() -> Value * { return nullptr; })();
  return result ? flushed(result) : nullptr;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Error Interceptor::interceptNvvm(CallInst &op, StringRef name) {
  if (Value *value = specialRegister(name))
    return replace(op, value), Error::success();
  // f32 functions; the suffix of the type has two spellings.
  StringRef base = name;
  if (!base.consume_back(".f32"))
    base.consume_back(".f");
  bool flush = base.consume_back(".ftz");
  if (auto function = approximation(base);
      function && op.getType()->isFloatTy())
    return replace(op,
                   call("emuMath", b.getFloatTy(),
                        {code(*function), number(flush), op.getArgOperand(0)})),
           Error::success();
  if (Value *value = arithmetic(op, name))
    return replace(op, value), Error::success();
  if (synchronize(op, name) || copyAsync(op, name) || exchange(op, name) ||
      moveMatrix(op, name) || multiply(op, name) || convert(op, name))
    return Error::success();
  return notEmulated(
      op, ("calls llvm.nvvm." + name + ", which is not emulated").str());
}

Error Interceptor::interceptCall(CallInst &op) {
  if (auto *assembly = dyn_cast<InlineAsm>(op.getCalledOperand())) {
    // There is no intrinsic for it.
    if (assembly->getAsmString() != "bar.arrive $0, $1;")
      return notEmulated(op);
    call("emuBarrierArrive", nullptr,
         {thread, op.getArgOperand(0), op.getArgOperand(1), site(op)});
    return replace(op, nullptr), Error::success();
  }
  llvm::Function *callee = op.getCalledFunction();
  if (!callee->isIntrinsic())
    return Error::success();
  StringRef name = callee->getName();
  if (name.consume_front("llvm.nvvm."))
    return interceptNvvm(op, name);
  auto wide = [&](Value *length) { return b.CreateZExtOrTrunc(length, i64); };
  if (auto *transfer = dyn_cast<AnyMemTransferInst>(&op)) {
    Value *length = wide(transfer->getLength());
    accessBytes(op, transfer->getRawSource(), length, AccessKind::Load, 1);
    accessBytes(op, transfer->getRawDest(), length, AccessKind::Store, 1);
    return Error::success();
  }
  if (auto *set = dyn_cast<AnyMemSetInst>(&op)) {
    accessBytes(op, set->getRawDest(), wide(set->getLength()),
                AccessKind::Store, 1);
    return Error::success();
  }
  switch (op.getIntrinsicID()) {
  case Intrinsic::prefetch:
    op.eraseFromParent();
    return Error::success();
  case Intrinsic::assume:
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
    return Error::success();
  default:
    break;
  }
  // What the back end has an approximate instruction for, where the call allows
  // it.
  auto approximate = [&]() -> std::optional<emulator::Function> {
    switch (op.getIntrinsicID()) {
    case Intrinsic::exp2:
      return emulator::Function::Exp2;
    case Intrinsic::sin:
      return emulator::Function::Sin;
    case Intrinsic::cos:
      return emulator::Function::Cos;
    case Intrinsic::tanh:
      return emulator::Function::Tanh;
    default:
      return std::nullopt;
    }
  }();
  if (approximate && op.getType()->isFloatTy())
    return replace(op,
                   call("emuMath", b.getFloatTy(),
                        {code(*approximate), number(0), op.getArgOperand(0)})),
           Error::success();
  bool touches = any_of(op.args(), [](Value *argument) {
    return argument->getType()->isPointerTy();
  });
  if (touches && op.mayReadOrWriteMemory())
    return notEmulated(op, "accesses memory in a way that is not emulated");
  return Error::success();
}

} // namespace drawloom::emulator
