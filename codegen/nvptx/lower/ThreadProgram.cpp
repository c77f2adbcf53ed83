//===- ThreadProgram.cpp - the program of one thread of a block -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/ThreadProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

/// Returns the source location of an op as a single place, as debug information
/// requires.
static Location placeOf(Operation *op) {
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
    return place;
  return UnknownLoc::get(op->getContext());
}

ThreadProgram::ThreadProgram(const NvptxLowerTilesOptions &options,
                             func::FuncOp kernel)
    : options(options), kernel(kernel),
      builder(placeOf(kernel), kernel.getContext()) {
  builder.setInsertionPoint(kernel);
}

void ThreadProgram::begin(Block *body) {
  builder.setInsertionPointToEnd(body);
  thread = NVVM::ThreadIdXOp::create(builder, builder.getI32Type());
  Operation *end = LLVM::ReturnOp::create(builder, ValueRange());
  // A mark: values of the prologue go in front of it, all else behind it.
  prologueEnd = constant(0, 32).getDefiningOp();
  prologueEnd->moveBefore(end);
  builder.setInsertionPointAfter(prologueEnd);
}

void ThreadProgram::end() { prologueEnd->erase(); }

void ThreadProgram::at(Operation *op) { builder.setLoc(placeOf(op)); }

LogicalResult ThreadProgram::countWithinLimit() {
  if (++ops <= options.maxOps)
    return success();
  return kernel.emitError("would have more than ")
         << options.maxOps
         << " operations: its tiles are too large for the registers of its "
            "threads; cut it into smaller tiles";
}

//===----------------------------------------------------------------------===//
// What became of values
//===----------------------------------------------------------------------===//

void ThreadProgram::appendFlat(Value value, SmallVectorImpl<Value> &flat) {
  if (isTile(value))
    llvm::append_range(flat, registers.lookup(value));
  else
    flat.push_back(scalars.lookup(value));
}

void ThreadProgram::appendFlatTypes(Value value, SmallVectorImpl<Type> &flat) {
  if (isTile(value))
    flat.append(tile::layoutOf(value.getType())->registerCount(),
                getElementTypeOrSelf(value));
  else
    flat.push_back(value.getType());
}

void ThreadProgram::takeFlat(Value value, ValueRange flat, size_t &next) {
  if (!isTile(value)) {
    scalars.map(value, flat[next++]);
    return;
  }
  int64_t count = tile::layoutOf(value.getType())->registerCount();
  registers[value] = Registers(flat.slice(next, count));
  next += count;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value ThreadProgram::constant(int64_t value, unsigned bits) {
  return arith::ConstantIntOp::create(builder, value, bits);
}

Value ThreadProgram::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

Value ThreadProgram::zeroOf(Type type) {
  return arith::ConstantOp::create(builder, builder.getZeroAttr(type));
}

Value ThreadProgram::toI64(Value value) {
  Type i64 = builder.getI64Type();
  if (value.getType() == i64)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, i64, value);
  return arith::ExtSIOp::create(builder, i64, value);
}

Value ThreadProgram::valueOfBits(const ThreadBits &bits) {
  if (auto found = bitValues.find(bits); found != bitValues.end())
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
      field =
          arith::ShRUIOp::create(builder, field, constant(bits[i].first, 32));
    field = arith::AndIOp::create(builder, field,
                                  constant((int64_t(1) << (end - i)) - 1, 32));
    if (bits[i].second != 1)
      field =
          arith::MulIOp::create(builder, field, constant(bits[i].second, 32));
    sum = sum ? arith::AddIOp::create(builder, sum, field).getResult() : field;
    i = end;
  }
  if (!sum)
    sum = constant(0, 32);
  bitValues[bits] = sum;
  return sum;
}

Value ThreadProgram::offsetOfBits(const ThreadBits &bits) {
  return arith::ExtUIOp::create(builder, builder.getI64Type(),
                                valueOfBits(bits));
}

ThreadBits ThreadProgram::bitsAlong(const Layout &layout, int64_t dim,
                                    int64_t scale) {
  ThreadBits bits;
  for (auto [i, digit] : llvm::enumerate(layout.lanes))
    if (digit.dim == dim && !digit.replicated())
      bits.push_back({i, digit.stride * scale});
  for (auto [i, digit] : llvm::enumerate(layout.warps))
    if (digit.dim == dim && !digit.replicated())
      bits.push_back({Layout::laneBits + i, digit.stride * scale});
  return bits;
}

Value ThreadProgram::threadCoordinate(const Layout &layout, int64_t dim) {
  return valueOfBits(bitsAlong(layout, dim));
}

} // namespace drawloom::nvptx
