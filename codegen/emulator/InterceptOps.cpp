//===- InterceptOps.cpp - one call for each op of the nvvm dialect --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/emulator/Intercept.h"
#include "runtime/emulator/Symbols.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace drawloom::emulator {

void Interceptor::replace(Operation *op, Value value) {
  if (value)
    op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

Value Interceptor::wordAddress(Location loc, Value buffer, int64_t index) {
  if (index == 0)
    return buffer;
  return LLVM::GEPOp::create(b, loc, ptr, i32, buffer,
                             ArrayRef<LLVM::GEPArg>{int32_t(index)});
}

void Interceptor::storeWords(Location loc, ValueRange values, Value buffer,
                             int64_t index) {
  for (Value value : values)
    LLVM::StoreOp::create(b, loc, value, wordAddress(loc, buffer, index++), 4);
}

Value Interceptor::loadResult(Location loc, Type type, Value buffer) {
  auto structure = dyn_cast<LLVM::LLVMStructType>(type);
  if (!structure)
    return LLVM::LoadOp::create(b, loc, type, buffer, 4);
  Value result = LLVM::PoisonOp::create(b, loc, type);
  for (auto [i, part] : llvm::enumerate(structure.getBody())) {
    Value value =
        LLVM::LoadOp::create(b, loc, part, wordAddress(loc, buffer, i), 4);
    result = LLVM::InsertValueOp::create(b, loc, result, value,
                                         ArrayRef<int64_t>{int64_t(i)});
  }
  return result;
}

/// A value of 32 bits below and a predicate in bit 32: the value, or both as a
/// struct.
Value Interceptor::pairResult(Location loc, Type type, Value packed,
                              Type valueType) {
  Value value = LLVM::TruncOp::create(b, loc, i32, packed);
  if (valueType != i32)
    value = LLVM::BitcastOp::create(b, loc, valueType, value);
  if (!isa<LLVM::LLVMStructType>(type))
    return value;
  Value shift = LLVM::ConstantOp::create(b, loc, i64, 32);
  Value flag = LLVM::TruncOp::create(
      b, loc, b.getI1Type(), LLVM::LShrOp::create(b, loc, packed, shift));
  Value result = LLVM::PoisonOp::create(b, loc, type);
  result =
      LLVM::InsertValueOp::create(b, loc, result, value, ArrayRef<int64_t>{0});
  return LLVM::InsertValueOp::create(b, loc, result, flag,
                                     ArrayRef<int64_t>{1});
}

static std::optional<SpecialRegister> specialRegister(StringRef name) {
  if (!name.consume_front("nvvm.read.ptx.sreg."))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<SpecialRegister>>(name)
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
}

/// Blocks have one dimension.
static std::optional<int64_t> constantRegister(StringRef name) {
  if (!name.consume_front("nvvm.read.ptx.sreg."))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<int64_t>>(name)
      .Cases({"tid.y", "tid.z"}, 0)
      .Cases({"ntid.y", "ntid.z"}, 1)
      .Case("warpsize", 32)
      .Default(std::nullopt);
}

static LogicalResult notEmulated(Operation *op, StringRef what = "") {
  InFlightDiagnostic diagnostic = op->emitOpError("is not emulated");
  if (!what.empty())
    diagnostic << " " << what;
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Barriers, fences, copies
//===----------------------------------------------------------------------===//

LogicalResult Interceptor::interceptSynchronization(Operation *op) {
  Location loc = op->getLoc();
  auto barrier = [&](Value id, Value count, int64_t reduction,
                     Value predicate) {
    Value zero = constant(loc, 0);
    return call(loc, "emuBarrier", i32,
                {thread, id ? id : zero, count ? count : zero,
                 constant(loc, reduction), predicate ? predicate : zero,
                 site(op)});
  };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<NVVM::Barrier0Op>([&](auto) {
        barrier({}, {}, -1, {});
        return replace(op, {}), success();
      })
      .Case<NVVM::BarrierOp>([&](NVVM::BarrierOp barrierOp) {
        int64_t reduction = -1;
        if (barrierOp.getReductionOp())
          reduction = static_cast<int64_t>(*barrierOp.getReductionOp());
        Value result =
            barrier(barrierOp.getBarrierId(), barrierOp.getNumberOfThreads(),
                    reduction, barrierOp.getReductionPredicate());
        return replace(op, op->getNumResults() ? result : Value()), success();
      })
      .Case<NVVM::BarrierArriveOp>([&](NVVM::BarrierArriveOp arrive) {
        Value id = arrive.getBarrierId();
        call(loc, "emuBarrierArrive", {},
             {thread, id ? id : constant(loc, 0), arrive.getNumberOfThreads(),
              site(op)});
        return replace(op, {}), success();
      })
      .Case<NVVM::SyncWarpOp>([&](NVVM::SyncWarpOp sync) {
        call(loc, "emuWarpBarrier", {}, {thread, sync.getMask(), site(op)});
        return replace(op, {}), success();
      })
      .Case<NVVM::MembarOp>([&](NVVM::MembarOp membar) {
        bool block = membar.getScope() == NVVM::MemScopeKind::CTA;
        call(loc, "emuFence", {},
             {thread,
              constant(loc, static_cast<int64_t>(block ? Scope::Block
                                                       : Scope::Device)),
              site(op)});
        return replace(op, {}), success();
      })
      .Case<NVVM::CpAsyncOp>([&](NVVM::CpAsyncOp copy) {
        Value size = constant(loc, copy.getSize());
        Value bytes = LLVM::ConstantOp::create(
            b, loc, b.getI64Type(), b.getI64IntegerAttr(copy.getSize()));
        if (failed(describe(op, copy.getSrc(), bytes)) ||
            failed(describe(op, copy.getDst(), bytes, nvptx::copiedToAttr)))
          return failure();
        Value first = site(op);
        site(op, " (its global side)");
        call(loc, "emuCopyAsync", {},
             {thread, copy.getDst(), copy.getSrc(), size,
              copy.getCpSize() ? copy.getCpSize() : size, first});
        return replace(op, {}), success();
      })
      .Case<NVVM::CpAsyncCommitGroupOp>([&](auto) {
        call(loc, "emuCopyCommit", {}, {thread, site(op)});
        return replace(op, {}), success();
      })
      .Case<NVVM::CpAsyncWaitGroupOp>([&](NVVM::CpAsyncWaitGroupOp wait) {
        call(loc, "emuCopyWait", {},
             {thread, constant(loc, wait.getN()), site(op)});
        return replace(op, {}), success();
      })
      .Default([&](Operation *) { return notEmulated(op); });
}

//===----------------------------------------------------------------------===//
// Exchange between lanes
//===----------------------------------------------------------------------===//

LogicalResult Interceptor::interceptExchange(Operation *op) {
  Location loc = op->getLoc();
  auto toWord = [&](Value value) -> Value {
    if (value.getType() == i32)
      return value;
    if (value.getType().isInteger(1))
      return LLVM::ZExtOp::create(b, loc, i32, value);
    return LLVM::BitcastOp::create(b, loc, i32, value);
  };
  auto toFlag = [&](Value value) -> Value {
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, value,
                                constant(loc, 0));
  };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<NVVM::ShflOp>([&](NVVM::ShflOp shuffle) {
        Value packed = call(
            loc, "emuShuffle", i64,
            {thread, constant(loc, static_cast<int64_t>(shuffle.getKind())),
             shuffle.getThreadMask(), toWord(shuffle.getVal()),
             shuffle.getOffset(), shuffle.getMaskAndClamp(), site(op)});
        return replace(op, pairResult(loc, op->getResult(0).getType(), packed,
                                      shuffle.getVal().getType())),
               success();
      })
      .Case<NVVM::VoteSyncOp>([&](NVVM::VoteSyncOp vote) {
        Value result =
            call(loc, "emuVote", i32,
                 {thread, constant(loc, static_cast<int64_t>(vote.getKind())),
                  vote.getMask(), toWord(vote.getPred()), site(op)});
        if (op->getResult(0).getType().isInteger(1))
          result = toFlag(result);
        return replace(op, result), success();
      })
      .Case<NVVM::ReduxOp>([&](NVVM::ReduxOp redux) {
        // Both enumerations have the same order; MLIR's begins with 1.
        int64_t kind = static_cast<int64_t>(redux.getKind()) - 1;
        kind |= redux.getAbs() ? reduceAbsolute : 0;
        kind |= redux.getNan() ? reduceNan : 0;
        Value result =
            call(loc, "emuReduce", i32,
                 {thread, constant(loc, kind), redux.getMaskAndClamp(),
                  toWord(redux.getVal()), site(op)});
        if (redux.getVal().getType() != i32)
          result =
              LLVM::BitcastOp::create(b, loc, redux.getVal().getType(), result);
        return replace(op, result), success();
      })
      .Case<NVVM::MatchSyncOp>([&](NVVM::MatchSyncOp match) {
        Value value = match.getVal();
        if (value.getType() != i64)
          value = LLVM::ZExtOp::create(b, loc, i64, value);
        Value packed =
            call(loc, "emuMatch", i64,
                 {thread, constant(loc, static_cast<int64_t>(match.getKind())),
                  match.getThreadMask(), value, site(op)});
        return replace(op, pairResult(loc, op->getResult(0).getType(), packed,
                                      i32)),
               success();
      })
      .Case<NVVM::ElectSyncOp>([&](NVVM::ElectSyncOp elect) {
        Value mask = elect.getMembermask();
        Value packed =
            call(loc, "emuElect", i64,
                 {thread, mask ? mask : constant(loc, -1), site(op)});
        Value shift = LLVM::ConstantOp::create(b, loc, i64, 32);
        Value flag = LLVM::TruncOp::create(
            b, loc, b.getI1Type(), LLVM::LShrOp::create(b, loc, packed, shift));
        return replace(op, flag), success();
      })
      .Default([&](Operation *) { return notEmulated(op); });
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

LogicalResult Interceptor::interceptMatrix(Operation *op) {
  Location loc = op->getLoc();
  auto isPlain = [](auto matrix) {
    return matrix.getShape().getM() == 8 && matrix.getShape().getN() == 8 &&
           matrix.getEltType() == NVVM::LdStMatrixEltType::B16;
  };
  auto columns = [](NVVM::MMALayout layout) {
    return layout == NVVM::MMALayout::col ? 1 : 0;
  };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<NVVM::LdMatrixOp>([&](NVVM::LdMatrixOp load) -> LogicalResult {
        if (!isPlain(load))
          return notEmulated(op, "but for 8x8 matrices of 16-bit numbers");
        Value words = buffer(loc, load.getNum());
        if (failed(describe(op, load.getPtr(), {})))
          return failure();
        call(loc, "emuLoadMatrix", {},
             {thread, load.getPtr(), constant(loc, load.getNum()),
              constant(loc, columns(load.getLayout())), words, site(op)});
        return replace(op, loadResult(loc, op->getResult(0).getType(), words)),
               success();
      })
      .Case<NVVM::StMatrixOp>([&](NVVM::StMatrixOp store) -> LogicalResult {
        if (!isPlain(store))
          return notEmulated(op, "but for 8x8 matrices of 16-bit numbers");
        auto count = static_cast<int64_t>(store.getSources().size());
        Value words = buffer(loc, count);
        storeWords(loc, store.getSources(), words, 0);
        if (failed(describe(op, store.getPtr(), {})))
          return failure();
        call(loc, "emuStoreMatrix", {},
             {thread, store.getPtr(), constant(loc, count),
              constant(loc, columns(store.getLayout())), words, site(op)});
        return replace(op, {}), success();
      })
      .Case<NVVM::MmaOp>([&](NVVM::MmaOp mma) -> LogicalResult {
        constexpr StringRef known =
            "but for m16n8k8 and m16n8k16 of f16 and bf16, m16n8k4 and m16n8k8 "
            "of tf32, with sums in f32";
        std::optional<NVVM::MMATypes> a = mma.getMultiplicandAPtxType();
        std::optional<NVVM::MMATypes> other = mma.getMultiplicandBPtxType();
        if (!a && !mma.getOperandA().empty())
          a = NVVM::MmaOp::inferOperandMMAType(
              mma.getOperandA().front().getType(), /*isAccumulator=*/false);
        if (!a || (other && *other != *a) ||
            mma.accumPtxType() != NVVM::MMATypes::f32 ||
            mma.resultPtxType() != NVVM::MMATypes::f32 ||
            mma.getShape().getM() != 16 || mma.getShape().getN() != 8 ||
            mma.getLayoutA() != NVVM::MMALayout::row ||
            mma.getLayoutB() != NVVM::MMALayout::col)
          return notEmulated(op, known);
        int64_t k = mma.getShape().getK();
        bool narrow = *a == NVVM::MMATypes::f16 || *a == NVVM::MMATypes::bf16;
        if (!(narrow && (k == 8 || k == 16)) &&
            !(*a == NVVM::MMATypes::tf32 && (k == 4 || k == 8)))
          return notEmulated(op, known);
        Number number = *a == NVVM::MMATypes::f16    ? Number::F16
                        : *a == NVVM::MMATypes::bf16 ? Number::BF16
                                                     : Number::TF32;
        auto sizeA = static_cast<int64_t>(mma.getOperandA().size());
        auto sizeB = static_cast<int64_t>(mma.getOperandB().size());
        if (sizeA != (narrow ? k / 4 : k / 2) || sizeB * 2 != sizeA ||
            mma.getOperandC().size() != 4)
          return notEmulated(op, known);
        Value in = buffer(loc, sizeA + sizeB + 4), out = buffer(loc, 4);
        storeWords(loc, mma.getOperandA(), in, 0);
        storeWords(loc, mma.getOperandB(), in, sizeA);
        storeWords(loc, mma.getOperandC(), in, sizeA + sizeB);
        call(loc, "emuMultiply", {},
             {thread, constant(loc, k),
              constant(loc, static_cast<int64_t>(number)), in, out, site(op)});
        return replace(op, loadResult(loc, op->getResult(0).getType(), out)),
               success();
      })
      .Default([&](Operation *) { return notEmulated(op); });
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::optional<Rounding> roundingOf(NVVM::FPRoundingMode mode) {
  switch (mode) {
  case NVVM::FPRoundingMode::RN:
    return Rounding::Nearest;
  case NVVM::FPRoundingMode::RZ:
    return Rounding::Zero;
  case NVVM::FPRoundingMode::RNA:
    return Rounding::NearestAway;
  default:
    return std::nullopt;
  }
}

LogicalResult Interceptor::interceptConversion(Operation *op) {
  Location loc = op->getLoc();
  auto pair = [&](auto convert, Number number) -> LogicalResult {
    std::optional<Rounding> rounding = roundingOf(convert.getRnd());
    if (!rounding || convert.getRandomBits())
      return notEmulated(op, "with this rounding");
    int64_t flags =
        (convert.getRelu() ? 1 : 0) |
        (convert.getSat() == NVVM::SaturationMode::SATFINITE ? 2 : 0);
    Value packed =
        call(loc, "emuConvertPair", i32,
             {constant(loc, static_cast<int64_t>(number)),
              constant(loc, static_cast<int64_t>(*rounding)),
              constant(loc, flags), convert.getSrcHi(), convert.getSrcLo()});
    return replace(op, LLVM::BitcastOp::create(
                           b, loc, op->getResult(0).getType(), packed)),
           success();
  };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<NVVM::ConvertF32x2ToBF16x2Op>(
          [&](auto convert) { return pair(convert, Number::BF16); })
      .Case<NVVM::ConvertF32x2ToF16x2Op>(
          [&](auto convert) { return pair(convert, Number::F16); })
      .Case<NVVM::ConvertFloatToTF32Op>(
          [&](NVVM::ConvertFloatToTF32Op convert) -> LogicalResult {
            std::optional<Rounding> rounding = roundingOf(convert.getRnd());
            if (!rounding)
              return notEmulated(op, "with this rounding");
            int64_t flags =
                (convert.getRelu() ? 1 : 0) |
                (convert.getSat() == NVVM::SaturationMode::SATFINITE ? 2 : 0);
            Value result =
                call(loc, "emuConvert", i32,
                     {constant(loc, static_cast<int64_t>(Number::TF32)),
                      constant(loc, static_cast<int64_t>(*rounding)),
                      constant(loc, flags), convert.getSrc()});
            return replace(op, result), success();
          })
      .Case<NVVM::RcpApproxFtzF32Op>([&](NVVM::RcpApproxFtzF32Op rcp) {
        Value result =
            call(loc, "emuMath", b.getF32Type(),
                 {constant(loc, static_cast<int64_t>(Function::Reciprocal)),
                  constant(loc, 1), rcp.getArg()});
        return replace(op, result), success();
      })
      .Case<NVVM::PermuteOp>([&](NVVM::PermuteOp permute) {
        Value high = permute.getHi();
        Value result =
            call(loc, "emuPermute", i32,
                 {constant(loc, static_cast<int64_t>(permute.getMode())),
                  permute.getLo(), high ? high : constant(loc, 0),
                  permute.getSelector()});
        return replace(op, result), success();
      })
      .Default([&](Operation *) { return notEmulated(op); });
}

LogicalResult Interceptor::interceptNvvm(Operation *op) {
  b.setInsertionPoint(op);
  StringRef name = op->getName().getStringRef();
  if (std::optional<int64_t> value = constantRegister(name))
    return replace(op, constant(op->getLoc(), *value)), success();
  if (std::optional<SpecialRegister> which = specialRegister(name)) {
    Value value =
        call(op->getLoc(), "emuRegister", i32,
             {thread, constant(op->getLoc(), static_cast<int64_t>(*which))});
    return replace(op, value), success();
  }
  if (isa<NVVM::LdMatrixOp, NVVM::StMatrixOp, NVVM::MmaOp>(op))
    return interceptMatrix(op);
  if (isa<NVVM::ShflOp, NVVM::VoteSyncOp, NVVM::ReduxOp, NVVM::MatchSyncOp,
          NVVM::ElectSyncOp>(op))
    return interceptExchange(op);
  if (isa<NVVM::ConvertF32x2ToBF16x2Op, NVVM::ConvertF32x2ToF16x2Op,
          NVVM::ConvertFloatToTF32Op, NVVM::RcpApproxFtzF32Op, NVVM::PermuteOp>(
          op))
    return interceptConversion(op);
  return interceptSynchronization(op);
}

//===----------------------------------------------------------------------===//
// Calls of intrinsics
//===----------------------------------------------------------------------===//

static std::optional<Function> approximation(StringRef name) {
  return llvm::StringSwitch<std::optional<Function>>(name)
      .Case("ex2.approx", Function::Exp2)
      .Case("lg2.approx", Function::Log2)
      .Case("rcp.approx", Function::Reciprocal)
      .Case("sqrt.approx", Function::Sqrt)
      .Case("rsqrt.approx", Function::ReciprocalSqrt)
      .Case("tanh.approx", Function::Tanh)
      .Case("sin.approx", Function::Sin)
      .Case("cos.approx", Function::Cos)
      .Default(std::nullopt);
}

Value Interceptor::arithmetic(LLVM::CallIntrinsicOp op, StringRef name) {
  // div.full and div.full.ftz have no suffix.
  if (!name.consume_back(".f") && !name.starts_with("div.full"))
    return {};
  bool nan = name.consume_back(".nan"), flush = name.consume_back(".ftz");
  size_t operands = name == "fma.rn"                        ? 3
                    : name == "rcp.rn" || name == "sqrt.rn" ? 1
                                                            : 2;
  Location loc = op.getLoc();
  Type f32 = b.getF32Type();
  auto flushed = [&](Value value) -> Value {
    if (!flush)
      return value;
    return call(loc, "emuMath", f32,
                {constant(loc, static_cast<int64_t>(Function::Identity)),
                 constant(loc, 1), value});
  };
  if (op.getArgs().size() != operands ||
      !llvm::all_of(op.getArgs(), [](Value v) { return v.getType().isF32(); }))
    return {};
  SmallVector<Value> x;
  for (Value argument : op.getArgs())
    x.push_back(flushed(argument));
  auto one = [&] {
    return LLVM::ConstantOp::create(b, loc, f32, b.getF32FloatAttr(1));
  };
  using Make = llvm::function_ref<Value()>;
  Value result =
      llvm::StringSwitch<Make>(name)
          .Case("add.rn",
                [&]() -> Value {
                  return LLVM::FAddOp::create(b, loc, x[0], x[1]);
                })
          .Case("mul.rn",
                [&]() -> Value {
                  return LLVM::FMulOp::create(b, loc, x[0], x[1]);
                })
          .Case("fma.rn",
                [&]() -> Value {
                  return LLVM::FMAOp::create(b, loc, x[0], x[1], x[2]);
                })
          .Cases({"div.rn", "div.approx", "div.full"},
                 [&]() -> Value {
                   return LLVM::FDivOp::create(b, loc, x[0], x[1]);
                 })
          .Case("rcp.rn",
                [&]() -> Value {
                  return LLVM::FDivOp::create(b, loc, one(), x[0]);
                })
          .Case("sqrt.rn",
                [&]() -> Value { return LLVM::SqrtOp::create(b, loc, x[0]); })
          .Case("fmax",
                [&]() -> Value {
                  if (nan)
                    return LLVM::MaximumOp::create(b, loc, x[0], x[1]);
                  return LLVM::MaxNumOp::create(b, loc, x[0], x[1]);
                })
          .Case("fmin",
                [&]() -> Value {
                  if (nan)
                    return LLVM::MinimumOp::create(b, loc, x[0], x[1]);
                  return LLVM::MinNumOp::create(b, loc, x[0], x[1]);
                })
          .Default([]() { return Value(); })();
  return result ? flushed(result) : Value();
}

LogicalResult Interceptor::interceptIntrinsic(LLVM::CallIntrinsicOp op) {
  StringRef name = op.getIntrin();
  if (!name.consume_front("llvm.nvvm."))
    return success();
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  auto lacks = [&]() -> LogicalResult {
    return op.emitOpError("calls ")
           << op.getIntrin() << ", which is not emulated";
  };
  OperandRange args = op.getArgs();

  // f32 functions; the suffix of the type has two spellings.
  StringRef base = name;
  if (!base.consume_back(".f32"))
    base.consume_back(".f");
  bool flush = base.consume_back(".ftz");
  if (std::optional<Function> function = approximation(base)) {
    if (args.size() != 1 || !args[0].getType().isF32())
      return lacks();
    Value result = call(loc, "emuMath", b.getF32Type(),
                        {constant(loc, static_cast<int64_t>(*function)),
                         constant(loc, flush), args[0]});
    return replace(op, result), success();
  }

  // Conversions: ff2bf16x2.rn.relu.satfinite and the like.
  StringRef rest = name;
  auto flagsOf = [](StringRef &text) {
    int64_t flags = text.consume_back(".satfinite") ? 2 : 0;
    flags |= text.consume_back(".relu") ? 1 : 0;
    return flags;
  };
  int64_t flags = flagsOf(rest);
  std::optional<Rounding> rounding;
  if (rest.consume_back(".rn"))
    rounding = Rounding::Nearest;
  else if (rest.consume_back(".rz"))
    rounding = Rounding::Zero;
  else if (rest.consume_back(".rna"))
    rounding = Rounding::NearestAway;
  if (rounding) {
    Value mode = constant(loc, static_cast<int64_t>(*rounding));
    auto number = [&](Number n) {
      return constant(loc, static_cast<int64_t>(n));
    };
    Type type = op->getNumResults() ? op->getResult(0).getType() : Type();
    if (rest == "ff2bf16x2" || rest == "ff2f16x2") {
      Value packed =
          call(loc, "emuConvertPair", i32,
               {number(rest == "ff2bf16x2" ? Number::BF16 : Number::F16), mode,
                constant(loc, flags), args[0], args[1]});
      return replace(op, LLVM::BitcastOp::create(b, loc, type, packed)),
             success();
    }
    if (rest == "f2tf32")
      return replace(op, call(loc, "emuConvert", i32,
                              {number(Number::TF32), mode, constant(loc, flags),
                               args[0]})),
             success();
    if (rest == "f2bf16") {
      Value wide =
          call(loc, "emuConvert", i32,
               {number(Number::BF16), mode, constant(loc, flags), args[0]});
      Value half = LLVM::TruncOp::create(b, loc, b.getI16Type(), wide);
      if (type != b.getI16Type())
        half = LLVM::BitcastOp::create(b, loc, type, half);
      return replace(op, half), success();
    }
  }

  if (name == "prmt")
    return replace(op, call(loc, "emuPermute", i32,
                            {constant(loc, 0), args[0], args[1], args[2]})),
           success();
  if (name == "cp.async.wait.all") {
    call(loc, "emuCopyWait", {}, {thread, constant(loc, -1), site(op)});
    return replace(op, {}), success();
  }
  if (name == "barrier.cta.sync.aligned.all" ||
      name == "barrier.cta.sync.aligned.count") {
    Value zero = constant(loc, 0);
    call(loc, "emuBarrier", i32,
         {thread, args[0], args.size() > 1 ? args[1] : zero, constant(loc, -1),
          zero, site(op)});
    return replace(op, {}), success();
  }
  if (name == "bar.warp.sync") {
    call(loc, "emuWarpBarrier", {}, {thread, args[0], site(op)});
    return replace(op, {}), success();
  }
  if (Value result = arithmetic(op, name))
    return replace(op, result), success();
  return lacks();
}

} // namespace drawloom::emulator
