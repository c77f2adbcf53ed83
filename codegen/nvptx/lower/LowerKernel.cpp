//===- LowerKernel.cpp - control flow and order of a kernel ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/LowerKernel.h"
#include "codegen/nvptx/launch/OpenKernels.h"
#include "codegen/nvptx/layouts/Dots.h"
#include "codegen/nvptx/lower/LowerDots.h"
#include "codegen/nvptx/lower/LowerSolve.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace drawloom::nvptx {

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

LLVM::LLVMFuncOp LowerKernel::makeFunction() {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes())
    types.push_back(isa<MemRefType>(type) ? pointer : storageType(type));
  // Triton's launcher gives two more: global scratch, and a profiler's.
  types.append(2, pointer);
  auto function = LLVM::LLVMFuncOp::create(
      builder, kernel.getName(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  types));
  int64_t warps = warpsOf(kernel);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function->setAttr(
      NVVM::NVVMDialect::getReqntidAttrName(),
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(32 * warps)}));
  for (StringRef name :
       {StringRef(gridAttr), StringRef(sharedBytesAttr), StringRef(warpsAttr)})
    function->setAttr(name, kernel->getAttr(name));
  if (Attribute open = kernel->getAttr(openGridAttr))
    function->setAttr(openGridAttr, open);
  return function;
}

int64_t LowerKernel::inputCount() {
  return kernel->getAttrOfType<IntegerAttr>(inputsAttr).getInt();
}

LogicalResult LowerKernel::takeArguments(LLVM::LLVMFuncOp function,
                                         Block *body) {
  builder.setInsertionPointToEnd(body);
  for (BlockArgument argument : kernel.getArguments()) {
    unsigned number = argument.getArgNumber();
    Value given = body->getArgument(number);
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      if (argument.getType().isIndex())
        given =
            arith::IndexCastOp::create(builder, builder.getIndexType(), given);
      else if (argument.getType().isInteger(1))
        given = arith::TruncIOp::create(builder, builder.getI1Type(), given);
      program.scalars.map(argument, given);
      continue;
    }
    if (failed(views.addArgument(argument, given, body->getArguments())))
      return failure();
    function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(16));
    if (number < inputCount())
      function.setArgAttr(number, LLVM::LLVMDialect::getReadonlyAttrName(),
                          builder.getUnitAttr());
    // Callers refuse buffers that overlap.
    if (type.hasStaticShape())
      function.setArgAttr(number, bytesAttr,
                          builder.getI64IntegerAttr(nvptx::bytesOf(type)));
  }
  return success();
}

/// Returns whether nothing is read through the pointer.
static bool isOnlyStoredTo(Value pointer) {
  return llvm::all_of(pointer.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto store = dyn_cast<LLVM::StoreOp>(user))
      return store.getAddr() == use.get() && store.getValue() != use.get();
    return isa<LLVM::GEPOp, LLVM::SelectOp>(user) &&
           isOnlyStoredTo(user->getResult(0));
  });
}

/// Adds `noalias` to what nobody writes, and to what nobody reads. For LLVM, no
/// barrier changes what such a pointer leads to: loads would be taken across
/// barriers behind which other threads have written.
static void addNoAlias(LLVM::LLVMFuncOp function, ArrayRef<Type> arguments,
                       unsigned inputs) {
  for (auto [number, type] : llvm::enumerate(arguments))
    if (isa<MemRefType>(type) &&
        (number < inputs || isOnlyStoredTo(function.getArgument(number))))
      function.setArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName(),
                          UnitAttr::get(function.getContext()));
}

LogicalResult LowerKernel::run() {
  LLVM::LLVMFuncOp function = makeFunction();
  Block *body = function.addEntryBlock(builder);
  if (failed(takeArguments(function, body)))
    return failure();
  program.begin(body);
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  program.end();
  addNoAlias(function, kernel.getArgumentTypes(), inputCount());
  kernel.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult LowerKernel::lowerBlock(Block &block) {
  const DenseSet<Value> inputs = inputsOf(kernel);
  Operation *op = &block.front();
  while (!op->hasTrait<OpTrait::IsTerminator>()) {
    std::optional<Run> run = findRun(op, inputs);
    if (!run) {
      if (failed(lower(op)))
        return failure();
      op = op->getNextNode();
      continue;
    }
    for (Operation *other : run->others)
      if (failed(lower(other)))
        return failure();
    if (failed(runs.lower(*run)))
      return failure();
    op = run->next;
  }
  return success();
}

Value LowerKernel::inI32(Value index) {
  if (std::optional<int64_t> known = getConstantIntValue(index))
    return llvm::isInt<32>(*known) ? program.constant(*known, 32) : Value();
  auto cast = index.getDefiningOp<arith::IndexCastOp>();
  if (!cast || !cast.getIn().getType().isInteger(32))
    return {};
  return cast.getIn();
}

LogicalResult LowerKernel::lowerFor(scf::ForOp op) {
  SmallVector<Value> inits;
  for (Value init : op.getInitArgs())
    program.appendFlat(init, inits);
  Value from = program.scalars.lookup(op.getLowerBound());
  Value to = program.scalars.lookup(op.getUpperBound());
  Value step = program.scalars.lookup(op.getStep());
  // Counted in 32 bits between numbers that were read as such: GPUs have no
  // instructions for more. A step of 1 ends at the upper bound and overflows
  // nothing.
  bool isRead = !getConstantIntValue(from) || !getConstantIntValue(to);
  if (isRead && getConstantIntValue(step) == 1)
    if (Value low = inI32(from), high = inI32(to); low && high) {
      from = low;
      to = high;
      step = program.constant(1, 32);
    }
  auto loop = scf::ForOp::create(builder, from, to, step, inits);
  Value counter = loop.getInductionVar();
  if (!counter.getType().isIndex()) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    counter =
        arith::IndexCastOp::create(builder, builder.getIndexType(), counter);
  }
  program.scalars.map(op.getInductionVar(), counter);
  size_t next = 0;
  for (BlockArgument argument : op.getRegionIterArgs())
    program.takeFlat(argument, loop.getRegionIterArgs(), next);
  {
    OpBuilder::InsertionGuard guard(builder);
    if (inits.empty())
      loop.getBody()->getTerminator()->erase();
    builder.setInsertionPointToEnd(loop.getBody());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
    SmallVector<Value> yields;
    for (Value value : op.getYieldedValues())
      program.appendFlat(value, yields);
    scf::YieldOp::create(builder, yields);
  }
  next = 0;
  for (Value result : op.getResults())
    program.takeFlat(result, loop.getResults(), next);
  return success();
}

LogicalResult LowerKernel::lowerIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Value result : op.getResults())
    program.appendFlatTypes(result, types);
  auto branch = scf::IfOp::create(builder, types,
                                  program.scalars.lookup(op.getCondition()),
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/!op.getElseRegion().empty());
  auto lowerBranch = [&](Block &from, Block &to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(builder);
    if (!to.empty())
      to.getTerminator()->erase();
    builder.setInsertionPointToEnd(&to);
    if (failed(lowerBlock(from)))
      return failure();
    SmallVector<Value> yields;
    for (Value value : from.getTerminator()->getOperands())
      program.appendFlat(value, yields);
    scf::YieldOp::create(builder, yields);
    return success();
  };
  if (failed(lowerBranch(*op.thenBlock(), *branch.thenBlock())))
    return failure();
  if (!op.getElseRegion().empty() &&
      failed(lowerBranch(*op.elseBlock(), *branch.elseBlock())))
    return failure();
  size_t next = 0;
  for (Value result : op.getResults())
    program.takeFlat(result, branch.getResults(), next);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void LowerKernel::lowerBlockId(tile::BlockIdOp op) {
  Value id = NVVM::BlockIdXOp::create(builder, builder.getI32Type());
  program.scalars.map(op.getResult(), arith::IndexCastUIOp::create(
                                          builder, builder.getIndexType(), id));
}

void LowerKernel::lowerDot(tile::DotOp op) {
  auto multiply = op.getTf32()          ? multiplyByTf32
                  : usesTensorCores(op) ? multiplyByMma
                                        : multiplyByFma;
  Registers result = multiply(program, views, op);
  program.registers[op.getResult()] = std::move(result);
}

LogicalResult LowerKernel::lowerOther(Operation *op) {
  bool tiles = llvm::any_of(op->getResults(), ThreadProgram::isTile) ||
               llvm::any_of(op->getOperands(), ThreadProgram::isTile);
  if (!tiles && op->getNumRegions() == 0) {
    builder.clone(*op, program.scalars)->setLoc(builder.getLoc());
    return success();
  }
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() > 0) {
    runs.lowerPart(op, ThreadProgram::all(op->getResult(0)));
    return success();
  }
  return op->emitOpError("has no form on a GPU yet");
}

LogicalResult LowerKernel::lower(Operation *op) {
  program.at(op);
  if (failed(program.countWithinLimit()))
    return failure();
  if (op->getNumResults() == 1 && isa<MemRefType>(op->getResult(0).getType()))
    return views.lower(op);
  auto all = [](Value tile) { return ThreadProgram::all(tile); };
  // Cases without a result cannot fail.
  LogicalResult result = success();
  llvm::TypeSwitch<Operation *>(op)
      .Case<scf::ForOp>([&](auto op) { result = lowerFor(op); })
      .Case<scf::IfOp>([&](auto op) { result = lowerIf(op); })
      .Case<tile::SplatOp, tile::IotaOp, tile::BroadcastOp, tile::LoadOp>(
          [&](auto op) { runs.lowerPart(op, all(op.getResult())); })
      .Case<tile::StoreOp>(
          [&](auto op) { runs.lowerPart(op, all(op.getSource())); })
      .Case<tile::ReduceOp>([&](auto op) {
        runs.lowerPart(op, all(op.getSource()));
        reductions.reduceAcrossLanes(op);
      })
      .Case<tile::ScanOp>([&](auto op) { reductions.lowerScan(op); })
      .Case<tile::ConvertOp>([&](auto op) { registers.lowerConvert(op); })
      .Case<tile::ReshapeOp>([&](auto op) { registers.lowerReshape(op); })
      .Case<tile::SliceOp>([&](auto op) { registers.lowerSlice(op); })
      .Case<tile::GatherOp>([&](auto op) { memory.lowerGather(op); })
      .Case<tile::ScatterOp>([&](auto op) { memory.lowerScatter(op); })
      .Case<tile::LookupOp>([&](auto op) { memory.lowerLookup(op); })
      .Case<tile::CopyAsyncOp>([&](auto op) { memory.lowerCopy(op); })
      .Case<memref::LoadOp>([&](auto op) { memory.lowerNumber(op); })
      .Case<memref::DimOp>([&](auto op) { result = views.lowerExtent(op); })
      .Case<tile::DotOp>([&](auto op) { lowerDot(op); })
      .Case<tile::SolveOp>([&](auto op) {
        Registers solution = solveTriangular(program, views, op);
        program.registers[op.getResult()] = std::move(solution);
      })
      .Case<tile::BarrierOp>([&](auto) { NVVM::Barrier0Op::create(builder); })
      .Case<tile::CommitCopiesOp>(
          [&](auto) { NVVM::CpAsyncCommitGroupOp::create(builder); })
      .Case<tile::WaitCopiesOp>([&](auto op) {
        NVVM::CpAsyncWaitGroupOp::create(builder, op.getUnderWay());
      })
      .Case<tile::BlockIdOp>([&](auto op) { lowerBlockId(op); })
      .Default([&](Operation *op) { result = lowerOther(op); });
  return result;
}

} // namespace drawloom::nvptx
