//===- LowerKernel.cpp - control flow and registers of a kernel -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/LowerKernel.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/launch/OpenKernels.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "dialects/Drawloom/Attributes.h"
#include "drawloom/OpenExtent.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "passes/Graph/OpenExtents.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value LowerKernel::constant(int64_t value, unsigned bits) {
  return arith::ConstantIntOp::create(builder, loc, value, bits);
}

Value LowerKernel::zeroOf(Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

int64_t LowerKernel::bytesOf(Type element) {
  if (element.isIndex())
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

Type LowerKernel::storageType(Type element) {
  if (element.isIndex())
    return builder.getI64Type();
  return element.isInteger(1) ? builder.getI8Type() : element;
}

Value LowerKernel::toI64(Value value) {
  Type i64 = builder.getI64Type();
  if (value.getType() == i64)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, i64, value);
  return arith::ExtSIOp::create(builder, loc, i64, value);
}

/// A power of two that divides the value.
int64_t LowerKernel::divisorOf(Value value) {
  constexpr int64_t most = int64_t(1) << 20;
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return *known == 0 ? most : std::min(*known & -*known, most);
  Operation *def = value.getDefiningOp();
  if (!def) {
    auto argument = cast<BlockArgument>(value);
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
        loop && loop.getInductionVar() == argument)
      return std::min(divisorOf(loop.getLowerBound()),
                      divisorOf(loop.getStep()));
    return 1;
  }
  if (isa<arith::MulIOp>(def))
    return std::min(
        divisorOf(def->getOperand(0)) * divisorOf(def->getOperand(1)), most);
  // What is left when a rest is taken away.
  if (auto sub = dyn_cast<arith::SubIOp>(def))
    if (auto rest = sub.getRhs().getDefiningOp<arith::RemUIOp>();
        rest && rest.getLhs() == sub.getLhs())
      return divisorOf(rest.getRhs());
  if (isa<arith::AddIOp, arith::SubIOp>(def))
    return std::min(divisorOf(def->getOperand(0)),
                    divisorOf(def->getOperand(1)));
  if (isa<arith::IndexCastOp>(def))
    return divisorOf(def->getOperand(0));
  return 1;
}

/// The sum over pairs (bit of the thread number, worth).
Value LowerKernel::valueOfBits(ArrayRef<std::pair<int64_t, int64_t>> bits) {
  SmallVector<std::pair<int64_t, int64_t>> key(bits);
  if (auto found = bitValues.find(key); found != bitValues.end())
    return found->second;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(prologueEnd);
  Value sum;
  for (size_t i = 0; i < bits.size();) {
    // Neighbouring bits that double are one field.
    size_t end = i + 1;
    while (end < bits.size() && bits[end].first == bits[end - 1].first + 1 &&
           bits[end].second == 2 * bits[end - 1].second)
      ++end;
    Value field = thread;
    if (bits[i].first > 0)
      field = arith::ShRUIOp::create(builder, loc, field,
                                     constant(bits[i].first, 32));
    field = arith::AndIOp::create(builder, loc, field,
                                  constant((int64_t(1) << (end - i)) - 1, 32));
    if (bits[i].second != 1)
      field = arith::MulIOp::create(builder, loc, field,
                                    constant(bits[i].second, 32));
    sum = sum ? arith::AddIOp::create(builder, loc, sum, field).getResult()
              : field;
    i = end;
  }
  if (!sum)
    sum = constant(0, 32);
  bitValues[key] = sum;
  return sum;
}

static void collectBits(const Layout &layout, int64_t dim,
                        SmallVector<std::pair<int64_t, int64_t>> &bits) {
  for (auto [i, digit] : llvm::enumerate(layout.lanes))
    if (digit.dim == dim && !digit.replicated())
      bits.push_back({i, digit.stride});
  for (auto [i, digit] : llvm::enumerate(layout.warps))
    if (digit.dim == dim && !digit.replicated())
      bits.push_back({Layout::laneBits + i, digit.stride});
}

Value LowerKernel::threadCoordinate(const Layout &layout, int64_t dim) {
  SmallVector<std::pair<int64_t, int64_t>> bits;
  collectBits(layout, dim, bits);
  return valueOfBits(bits);
}

Location LowerKernel::placeOf(Location loc) {
  if (auto place = loc->findInstanceOf<FileLineColLoc>())
    return place;
  return UnknownLoc::get(loc.getContext());
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void LowerKernel::appendFlat(Value value, SmallVectorImpl<Value> &flat) {
  if (isTile(value))
    llvm::append_range(flat, registers.lookup(value));
  else
    flat.push_back(scalars.lookup(value));
}

void LowerKernel::appendFlatTypes(Value value, SmallVectorImpl<Type> &flat) {
  if (isTile(value))
    flat.append(tile::layoutOf(value.getType())->registerCount(),
                getElementTypeOrSelf(value));
  else
    flat.push_back(value.getType());
}

void LowerKernel::takeFlat(Value value, ValueRange flat, size_t &next) {
  if (!isTile(value)) {
    scalars.map(value, flat[next++]);
    return;
  }
  int64_t count = tile::layoutOf(value.getType())->registerCount();
  registers[value] = Registers(flat.slice(next, count));
  next += count;
}

LogicalResult LowerKernel::lowerBlock(Block &block) {
  Operation *op = &block.front();
  while (!op->hasTrait<OpTrait::IsTerminator>()) {
    FailureOr<Operation *> behind = lowerRun(op);
    if (failed(behind))
      return failure();
    if (*behind) {
      op = *behind;
      continue;
    }
    if (failed(lower(op)))
      return failure();
    op = op->getNextNode();
  }
  return success();
}

/// The number in 32 bits that an index is known to be; null where it may be
/// more.
Value LowerKernel::inI32(Value index) {
  if (std::optional<int64_t> known = getConstantIntValue(index))
    return llvm::isInt<32>(*known) ? constant(*known, 32) : Value();
  auto cast = index.getDefiningOp<arith::IndexCastOp>();
  if (!cast || !cast.getIn().getType().isInteger(32))
    return {};
  return cast.getIn();
}

LogicalResult LowerKernel::lowerFor(scf::ForOp op) {
  SmallVector<Value> inits;
  for (Value init : op.getInitArgs())
    appendFlat(init, inits);
  Value from = scalars.lookup(op.getLowerBound());
  Value to = scalars.lookup(op.getUpperBound());
  Value step = scalars.lookup(op.getStep());
  // Counted in 32 bits between numbers that were read as such: GPUs have no
  // instructions for more. A step of 1 ends at the upper bound and overflows
  // nothing.
  bool isRead = !getConstantIntValue(from) || !getConstantIntValue(to);
  if (isRead && getConstantIntValue(step) == 1)
    if (Value low = inI32(from), high = inI32(to); low && high) {
      from = low;
      to = high;
      step = constant(1, 32);
    }
  auto loop = scf::ForOp::create(builder, loc, from, to, step, inits);
  Value counter = loop.getInductionVar();
  if (!counter.getType().isIndex()) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    counter = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                         counter);
  }
  scalars.map(op.getInductionVar(), counter);
  size_t next = 0;
  for (BlockArgument argument : op.getRegionIterArgs())
    takeFlat(argument, loop.getRegionIterArgs(), next);
  {
    OpBuilder::InsertionGuard guard(builder);
    if (inits.empty())
      loop.getBody()->getTerminator()->erase();
    builder.setInsertionPointToEnd(loop.getBody());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
    SmallVector<Value> yields;
    for (Value value : op.getYieldedValues())
      appendFlat(value, yields);
    scf::YieldOp::create(builder, loc, yields);
  }
  next = 0;
  for (Value result : op.getResults())
    takeFlat(result, loop.getResults(), next);
  return success();
}

LogicalResult LowerKernel::lowerIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Value result : op.getResults())
    appendFlatTypes(result, types);
  auto branch =
      scf::IfOp::create(builder, loc, types, scalars.lookup(op.getCondition()),
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
      appendFlat(value, yields);
    scf::YieldOp::create(builder, loc, yields);
    return success();
  };
  if (failed(lowerBranch(*op.thenBlock(), *branch.thenBlock())))
    return failure();
  if (!op.getElseRegion().empty() &&
      failed(lowerBranch(*op.elseBlock(), *branch.elseBlock())))
    return failure();
  size_t next = 0;
  for (Value result : op.getResults())
    takeFlat(result, branch.getResults(), next);
  return success();
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

void LowerKernel::lowerSplat(tile::SplatOp op, Range range) {
  registers[op.getResult()].append(range.end - range.begin,
                                   scalars.lookup(op.getValue()));
}

void LowerKernel::lowerIota(tile::IotaOp op, Range range) {
  Layout layout = *tile::layoutOf(op.getResult().getType());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t dim = op.getDimension();
  Type index = builder.getIndexType();
  Value own = threadCoordinate(layout, dim), start;
  if (rolled.dim == dim)
    start = arith::IndexCastOp::create(builder, loc, index, rolled.offset);
  Registers &result = registers[op.getResult()];
  for (int64_t i = range.begin; i < range.end; ++i) {
    int64_t offset = layout.registerOffset(i, type.getRank())[dim];
    // In 32 bits, in which coordinates are then compared as well.
    Value at = own;
    if (offset != 0)
      at = arith::AddIOp::create(builder, loc, own, constant(offset, 32));
    at = arith::IndexCastUIOp::create(builder, loc, index, at);
    if (start)
      at = arith::AddIOp::create(builder, loc, at, start);
    if (!type.getElementType().isIndex())
      at = arith::IndexCastOp::create(builder, loc, type.getElementType(), at);
    result.push_back(at);
  }
}

void LowerKernel::lowerBroadcast(tile::BroadcastOp op, Range range) {
  Layout from = *tile::layoutOf(op.getSource().getType());
  Layout to = *tile::layoutOf(op.getResult().getType());
  int64_t rank = cast<RankedTensorType>(op.getResult().getType()).getRank();
  const Registers source = registers.lookup(op.getSource());
  Registers &result = registers[op.getResult()];
  for (int64_t i = range.begin; i < range.end; ++i) {
    SmallVector<int64_t> at = to.registerOffset(i, rank);
    SmallVector<int64_t> there;
    for (int64_t dim : op.getDims())
      there.push_back(at[dim]);
    result.push_back(source[*from.registerAt(there)]);
  }
}

void LowerKernel::lowerConvert(tile::ConvertOp op) {
  Layout from = *tile::layoutOf(op.getSource().getType());
  Layout to = *tile::layoutOf(op.getResult().getType());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  const Registers source = registers.lookup(op.getSource());
  Registers result;
  for (int64_t i = 0; i < to.registerCount(); ++i) {
    std::optional<int64_t> at =
        from.registerAt(to.registerOffset(i, type.getRank()));
    // Padding that only the new layout has.
    result.push_back(at ? source[*at] : zeroOf(type.getElementType()));
  }
  registers[op.getResult()] = std::move(result);
}

void LowerKernel::lowerReshape(tile::ReshapeOp op) {
  // The digits of both name the same registers, threads and order; only a digit
  // that became several may count in another order of registers.
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getResult().getType());
  Layout before = *tile::layoutOf(from), after = *tile::layoutOf(to);
  auto linear = [](ArrayRef<int64_t> at, ArrayRef<int64_t> shape) {
    int64_t index = 0;
    for (auto [coordinate, extent] : llvm::zip(at, shape))
      index = index * extent + coordinate;
    return index;
  };
  DenseMap<int64_t, int64_t> places;
  for (int64_t i = 0; i < before.registerCount(); ++i)
    places[linear(before.registerOffset(i, from.getRank()), from.getShape())] =
        i;
  const Registers source = registers.lookup(op.getSource());
  Registers result;
  for (int64_t i = 0; i < after.registerCount(); ++i)
    result.push_back(source[places.lookup(
        linear(after.registerOffset(i, to.getRank()), to.getShape()))]);
  registers[op.getResult()] = std::move(result);
}

void LowerKernel::lowerElementwise(Operation *op, Range range) {
  if (auto add = dyn_cast<arith::AddFOp>(op))
    if (auto reduce = add.getRhs().getDefiningOp<tile::ReduceOp>();
        reduce && carriedSum(reduce)) {
      // It was added there.
      const Registers sums = registers.lookup(reduce.getResult());
      registers[op->getResult(0)].append(sums.begin() + range.begin,
                                         sums.begin() + range.end);
      return;
    }
  if (lowerRounding(op, range) || lowerExtension(op, range) ||
      lowerMask(op, range))
    return;
  // Registers that hold the same need one computation.
  std::map<SmallVector<void *>, Operation *> done;
  SmallVector<Registers> results(op->getNumResults());
  for (int64_t i = range.begin; i < range.end; ++i) {
    OperationState state(loc, op->getName());
    SmallVector<void *> key;
    for (Value operand : op->getOperands()) {
      Value value = isTile(operand) ? registers.find(operand)->second[i]
                                    : scalars.lookup(operand);
      state.addOperands(value);
      key.push_back(value.getAsOpaquePointer());
    }
    Operation *&made = done[key];
    if (!made) {
      for (Type type : op->getResultTypes())
        state.addTypes(getElementTypeOrSelf(type));
      state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
      state.propertiesAttr = op->getPropertiesAsAttribute();
      made = builder.create(state);
      ++ops;
    }
    for (auto [list, value] : llvm::zip(results, made->getResults()))
      list.push_back(value);
  }
  for (auto [result, list] : llvm::zip(op->getResults(), results))
    llvm::append_range(registers[result], list);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

void LowerKernel::addOffset(Memory &memory, OpFoldResult count,
                            int64_t stride) {
  std::optional<int64_t> known = getConstantIntValue(count);
  if (known && *known * stride == 0)
    return;
  Value more;
  int64_t bytes = stride * bytesOf(memory.element);
  if (known) {
    memory.fixed += *known * bytes;
    more = constant(*known * stride, 64);
    memory.alignment = std::gcd(memory.alignment, *known * bytes);
  } else {
    more = cast<Value>(count);
    memory.step = std::gcd(memory.step, divisorOf(more) * bytes);
    memory.alignment = std::gcd(memory.alignment, divisorOf(more) * bytes);
    more = toI64(scalars.lookup(more));
    if (stride != 1)
      more = arith::MulIOp::create(builder, loc, more, constant(stride, 64));
  }
  memory.offset =
      memory.offset
          ? arith::AddIOp::create(builder, loc, memory.offset, more).getResult()
          : more;
}

/// MLIR's own answer for memory without elements is that nothing is known.
static SmallVector<int64_t> stridesOf(MemRefType type) {
  if (!type.getLayout().isIdentity())
    return llvm::to_vector(type.getStridesAndOffset().first);
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t dim = type.getRank() - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * type.getDimSize(dim);
  return strides;
}

LowerKernel::Memory LowerKernel::shared(tile::AllocOp op) {
  MemRefType type = op.getBuffer().getType();
  Memory memory;
  memory.root = LLVM::AddressOfOp::create(
      builder, loc, LLVM::LLVMPointerType::get(op->getContext(), 3),
      "global_smem");
  memory.root = addBytes(memory.root, *op.getOffset());
  memory.space = 3;
  memory.element = type.getElementType();
  memory.alignment = 128;
  memory.start = *op.getOffset();
  memory.strides = stridesOf(type);
  memory.sizes = getAsIndexOpFoldResult(op->getContext(), type.getShape());
  memory.bytes = nvptx::bytesOf(type);
  return memory;
}

FailureOr<LowerKernel::Memory> LowerKernel::part(Memory memory,
                                                 memref::SubViewOp op) {
  // By extents: the op's own answer looks at strides, which single elements
  // lack, and finds none for some views.
  auto dropped =
      *computeRankReductionMask(op.getStaticSizes(), op.getType().getShape());
  SmallVector<int64_t> strides;
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, offset] : llvm::enumerate(op.getMixedOffsets())) {
    std::optional<int64_t> by = getConstantIntValue(op.getMixedStrides()[dim]);
    if (!by)
      return op->emitError("steps along memory by a number that is not "
                           "known, which has no form on a GPU yet");
    addOffset(memory, offset, memory.strides[dim]);
    if (dropped.contains(dim))
      continue;
    strides.push_back(memory.strides[dim] * *by);
    OpFoldResult size = op.getMixedSizes()[dim];
    if (auto dynamic = dyn_cast<Value>(size))
      size = toI64(scalars.lookup(dynamic));
    sizes.push_back(size);
  }
  memory.strides = strides;
  memory.sizes = sizes;
  return memory;
}

LowerKernel::Memory LowerKernel::collapsed(Memory memory,
                                           memref::CollapseShapeOp op) {
  SmallVector<int64_t> strides;
  SmallVector<OpFoldResult> sizes;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    // Of dimensions of extent 1 the stride says nothing.
    int64_t stride = 1;
    int64_t product = 1;
    Value dynamic;
    for (int64_t dim : llvm::reverse(group)) {
      std::optional<int64_t> size = getConstantIntValue(memory.sizes[dim]);
      if (product == 1 && !dynamic)
        stride = memory.strides[dim];
      if (!size)
        dynamic = cast<Value>(memory.sizes[dim]);
      else
        product *= *size;
    }
    OpFoldResult size = builder.getIndexAttr(product);
    if (dynamic)
      size = arith::MulIOp::create(builder, loc, dynamic, constant(product, 64))
                 .getResult();
    strides.push_back(stride);
    sizes.push_back(size);
  }
  memory.strides = strides;
  memory.sizes = sizes;
  return memory;
}

LowerKernel::Memory LowerKernel::expanded(Memory memory,
                                          memref::ExpandShapeOp op) {
  auto type = cast<MemRefType>(op.getType());
  SmallVector<int64_t> strides(type.getRank());
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(op->getContext(), type.getShape());
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    int64_t stride = memory.strides[dim];
    if (group.size() == 1)
      sizes[group.front()] = memory.sizes[dim];
    for (int64_t inner : llvm::reverse(group)) {
      strides[inner] = stride;
      if (!type.isDynamicDim(inner))
        stride *= type.getDimSize(inner);
    }
  }
  memory.strides = strides;
  memory.sizes = sizes;
  return memory;
}

LogicalResult LowerKernel::lowerView(Operation *op) {
  Value result = op->getResult(0);
  FailureOr<Memory> memory = failure();
  if (auto alloc = dyn_cast<tile::AllocOp>(op)) {
    memory = shared(alloc);
  } else {
    Memory source = memoryOf(op->getOperand(0));
    auto type = cast<MemRefType>(result.getType());
    if (auto view = dyn_cast<memref::SubViewOp>(op)) {
      memory = part(source, view);
    } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
      memory = collapsed(source, collapse);
    } else if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
      memory = expanded(source, expand);
    } else if (isa<memref::ReinterpretCastOp>(op)) {
      source.strides = stridesOf(type);
      source.sizes = getAsIndexOpFoldResult(op->getContext(), type.getShape());
      memory = source;
    } else if (isa<memref::CastOp>(op)) {
      memory = source;
    } else {
      return op->emitOpError("has no form on a GPU yet");
    }
  }
  if (failed(memory))
    return failure();
  memories[result.getAsOpaquePointer()] = *memory;
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult LowerKernel::refuseSize() {
  return kernel.emitError("would have more than ")
         << maxOps
         << " operations: its tiles are too large for the registers of its "
            "threads; cut it into smaller tiles";
}

void LowerKernel::lowerNumber(memref::LoadOp op) {
  const Memory &memory = memoryOf(op.getMemRef());
  Value at = memory.offset;
  for (auto [index, stride] : llvm::zip(op.getIndices(), memory.strides)) {
    Value more = toI64(scalars.lookup(index));
    more = arith::MulIOp::create(builder, loc, more, constant(stride, 64));
    at = at ? arith::AddIOp::create(builder, loc, at, more).getResult() : more;
  }
  Value address = addElements(memory.root, at, memory.element);
  Value vector =
      loadVector(address, memory.element, 1, {}, {}, describeAny(memory));
  SmallVector<Value> values;
  unpack(vector, memory.element, 1, values);
  scalars.map(op.getResult(), values[0]);
}

LogicalResult LowerKernel::lowerExtent(memref::DimOp op) {
  std::optional<int64_t> dim = op.getConstantIndex();
  if (!dim)
    return op->emitError("asks for an extent that is not known by number");
  OpFoldResult size = memoryOf(op.getSource()).sizes[*dim];
  Value value =
      isa<Value>(size)
          ? arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                       cast<Value>(size))
                .getResult()
          : arith::ConstantIndexOp::create(builder, loc,
                                           *getConstantIntValue(size))
                .getResult();
  scalars.map(op.getResult(), value);
  return success();
}

LogicalResult LowerKernel::lower(Operation *op) {
  loc = placeOf(op->getLoc());
  if (++ops > maxOps)
    return refuseSize();
  if (op->getNumResults() == 1 && isa<MemRefType>(op->getResult(0).getType()))
    return lowerView(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::ForOp>([&](auto op) { return lowerFor(op); })
      .Case<scf::IfOp>([&](auto op) { return lowerIf(op); })
      .Case<tile::SplatOp, tile::IotaOp, tile::BroadcastOp, tile::LoadOp>(
          [&](auto op) {
            lowerPart(op, all(op.getResult()));
            return success();
          })
      .Case<tile::StoreOp>([&](auto op) {
        lowerPart(op, all(op.getSource()));
        return success();
      })
      .Case<tile::ReduceOp>([&](auto op) {
        lowerPart(op, all(op.getSource()));
        reduceAcrossLanes(op);
        return success();
      })
      .Case<tile::ConvertOp>(
          [&](auto op) { return lowerConvert(op), success(); })
      .Case<tile::ReshapeOp>(
          [&](auto op) { return lowerReshape(op), success(); })
      .Case<tile::SliceOp>([&](auto op) { return lowerSlice(op), success(); })
      .Case<tile::GatherOp>([&](auto op) { return lowerGather(op); })
      .Case<tile::ScatterOp>([&](auto op) { return lowerScatter(op); })
      .Case<tile::LookupOp>([&](auto op) { return lowerLookup(op); })
      .Case<tile::ScanOp>([&](auto op) { return lowerScan(op); })
      .Case<tile::SolveOp>([&](auto op) { return lowerSolve(op); })
      .Case<tile::DotOp>([&](auto op) { return lowerDot(op); })
      .Case<tile::BarrierOp>([&](auto) {
        NVVM::Barrier0Op::create(builder, loc);
        return success();
      })
      .Case<tile::CopyAsyncOp>(
          [&](auto op) { return lowerCopy(op), success(); })
      .Case<tile::CommitCopiesOp>([&](auto) {
        NVVM::CpAsyncCommitGroupOp::create(builder, loc);
        return success();
      })
      .Case<tile::WaitCopiesOp>([&](auto op) {
        NVVM::CpAsyncWaitGroupOp::create(builder, loc, op.getUnderWay());
        return success();
      })
      .Case<tile::BlockIdOp>([&](auto op) {
        Value id = NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
        scalars.map(op.getResult(),
                    arith::IndexCastUIOp::create(builder, loc,
                                                 builder.getIndexType(), id));
        return success();
      })
      .Case<memref::LoadOp>([&](auto op) { return lowerNumber(op), success(); })
      .Case<memref::DimOp>([&](auto op) { return lowerExtent(op); })
      .Default([&](Operation *op) -> LogicalResult {
        bool tiles = llvm::any_of(op->getResults(), isTile) ||
                     llvm::any_of(op->getOperands(), isTile);
        if (!tiles && op->getNumRegions() == 0) {
          builder.clone(*op, scalars)->setLoc(loc);
          return success();
        }
        if (OpTrait::hasElementwiseMappableTraits(op) &&
            op->getNumResults() > 0) {
          lowerPart(op, all(op->getResult(0)));
          return success();
        }
        return op->emitOpError("has no form on a GPU yet");
      });
}

/// Whether nothing is read through the pointer.
static bool isOnlyStoredTo(Value pointer) {
  return llvm::all_of(pointer.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto store = dyn_cast<LLVM::StoreOp>(user))
      return store.getAddr() == use.get() && store.getValue() != use.get();
    return isa<LLVM::GEPOp, LLVM::SelectOp>(user) &&
           isOnlyStoredTo(user->getResult(0));
  });
}

/// For LLVM, no barrier changes what a `noalias` pointer leads to: loads would
/// be taken across barriers behind which other threads have written. So it is
/// for what nobody writes, and for what nobody reads.
static void addNoAlias(LLVM::LLVMFuncOp function, ArrayRef<Type> arguments,
                       unsigned inputs) {
  for (auto [number, type] : llvm::enumerate(arguments))
    if (isa<MemRefType>(type) &&
        (number < inputs || isOnlyStoredTo(function.getArgument(number))))
      function.setArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName(),
                          UnitAttr::get(function.getContext()));
}

LogicalResult LowerKernel::run() {
  loc = placeOf(kernel.getLoc());
  builder.setInsertionPoint(kernel);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes()) {
    if (isa<MemRefType>(type))
      types.push_back(pointer);
    else
      types.push_back(type.isIndex() ? builder.getI64Type()
                                     : storageType(type));
  }
  // Triton's launcher gives two more: global scratch, and a profiler's.
  types.append(2, pointer);
  function = LLVM::LLVMFuncOp::create(
      builder, loc, kernel.getName(),
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
  Block *body = function.addEntryBlock(builder);
  int64_t inputs = kernel->getAttrOfType<IntegerAttr>(inputsAttr).getInt();
  for (BlockArgument argument : kernel.getArguments()) {
    unsigned number = argument.getArgNumber();
    Value given = body->getArgument(number);
    auto type = dyn_cast<MemRefType>(argument.getType());
    builder.setInsertionPointToEnd(body);
    if (!type) {
      if (argument.getType().isIndex())
        given = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                           given);
      else if (argument.getType().isInteger(1))
        given =
            arith::TruncIOp::create(builder, loc, builder.getI1Type(), given);
      scalars.map(argument, given);
      continue;
    }
    function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(16));
    if (number < inputs)
      function.setArgAttr(number, LLVM::LLVMDialect::getReadonlyAttrName(),
                          builder.getUnitAttr());
    Memory memory;
    memory.root = given;
    memory.strides = stridesOf(type);
    memory.element = type.getElementType();
    auto numbers =
        kernel.getArgAttrOfType<DenseI64ArrayAttr>(number, extentsAttr);
    for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(extent)) {
        memory.sizes.push_back(builder.getIndexAttr(extent));
        continue;
      }
      BlockArgument open =
          numbers ? extentArgument(kernel, numbers[dim]) : BlockArgument();
      if (!open || dim > 0)
        return kernel.emitError("is not told the extents of ") << type;
      Value size = body->getArgument(open.getArgNumber());
      if (int64_t more = OpenExtent::ofCode(numbers[dim]).more)
        size = LLVM::AddOp::create(builder, loc, size, constant(more, 64));
      memory.sizes.push_back(size);
    }
    // Of what has open extents, nobody knows where it ends.
    memory.bytes = type.hasStaticShape()
                       ? nvptx::bytesOf(type)
                       : std::numeric_limits<int64_t>::max() / 4;
    // Callers refuse buffers that overlap.
    if (type.hasStaticShape())
      function.setArgAttr(number, bytesAttr,
                          builder.getI64IntegerAttr(memory.bytes));
    memories[argument.getAsOpaquePointer()] = memory;
  }
  builder.setInsertionPointToEnd(body);
  thread = NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  prologueEnd = LLVM::ReturnOp::create(builder, loc, ValueRange());
  // Values of the prologue go in front of this op, all else behind it.
  Operation *mark = constant(0, 32).getDefiningOp();
  mark->moveBefore(prologueEnd);
  prologueEnd = mark;
  builder.setInsertionPointAfter(mark);
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  mark->erase();
  addNoAlias(function, kernel.getArgumentTypes(), inputs);
  kernel.erase();
  return success();
}

} // namespace drawloom::nvptx
