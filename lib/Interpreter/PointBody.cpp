//===- PointBody.cpp - bodies that compute one point ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/PointBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::interpreter {

FailureOr<PointBody> PointBody::prepare(Block &block, Compiler &compiler) {
  PointBody body;
  for (BlockArgument argument : block.getArguments()) {
    body.used.push_back(!argument.use_empty());
    body.argumentIsFloat.push_back(isFloat(argument.getType()));
  }
  for (Value value : block.getTerminator()->getOperands())
    body.yieldIsFloat.push_back(isFloat(value.getType()));
  if (body.prepareScalar(block, compiler))
    return body;

  FailureOr<Body> compiled = compiler.compileBlock(block);
  if (failed(compiled))
    return failure();
  body.block = std::make_shared<Body>(std::move(*compiled));
  // Registers then only carry arguments in and results out.
  unsigned arguments = body.used.size(), yields = body.yieldIsFloat.size();
  body.argumentRegisters = llvm::to_vector(llvm::seq(0u, arguments));
  body.yieldRegisters =
      llvm::to_vector(llvm::seq(arguments, arguments + yields));
  body.registerCount = arguments + yields;
  return body;
}

/// The register of a value; values from around the op become captures. Nothing
/// for a value that no register holds.
std::optional<unsigned> PointBody::reg(Value value, Compiler &compiler) {
  auto it = valueRegisters.find(value);
  if (it != valueRegisters.end())
    return it->second;
  if (isa<ShapedType>(value.getType()) || value.getParentBlock() == source)
    return std::nullopt;
  unsigned number = valueRegisters[value] = registerCount++;
  captures.push_back({number, compiler.slot(value)});
  return number;
}

bool PointBody::prepareScalarOp(Operation &op, Compiler &compiler) {
  for (Type type : op.getResultTypes())
    if (isa<ShapedType>(type) || !isSupported(type))
      return false;
  auto define = [&](Value value) {
    return valueRegisters[value] = registerCount++;
  };
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    std::optional<HostTensor> value = attributeValue(constant.getValue());
    if (!value)
      return false;
    Scalar scalar;
    if (value->isFloat())
      scalar.f = value->asFloat();
    else
      scalar.i = value->asInt();
    constants.push_back({define(constant), scalar});
    return true;
  }
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    indices.push_back({define(index), unsigned(index.getDim())});
    return true;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (extract.getTensor().getParentBlock() == source)
      return false;
    ScalarOp read;
    read.op = &op;
    for (Value index : extract.getIndices()) {
      std::optional<unsigned> number = reg(index, compiler);
      if (!number)
        return false;
      read.index.push_back(*number);
    }
    read.function = [](const ScalarOp &op, Scalar *r) -> const char * {
      // As runExtract.
      bool isEmpty = op.tensor->size() == 0;
      int64_t at = 0;
      if (!isEmpty)
        for (auto [number, extent] :
             llvm::zip_equal(op.index, op.tensor->shape()))
          at = at * extent + std::clamp<int64_t>(r[number].i, 0, extent - 1);
      if (op.tensor->isFloat())
        r[op.out[0]].f = isEmpty ? 0.0 : op.tensor->f()[at];
      else
        r[op.out[0]].i = isEmpty ? 0 : op.tensor->i()[at];
      return nullptr;
    };
    read.out[0] = define(extract);
    tensors.push_back(
        {unsigned(ops.size()), compiler.slot(extract.getTensor())});
    ops.push_back(read);
    return true;
  }
  std::optional<ScalarOp> scalar;
  if (isScalarOp(&op))
    scalar = makeScalarOp(&op);
  if (!scalar)
    return false;
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    std::optional<unsigned> number = reg(operand, compiler);
    if (!number)
      return false;
    scalar->in[i] = *number;
  }
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    scalar->out[i] = define(result);
  ops.push_back(*scalar);
  return true;
}

bool PointBody::prepareScalar(Block &block, Compiler &compiler) {
  source = &block;
  for (BlockArgument argument : block.getArguments())
    argumentRegisters.push_back(valueRegisters[argument] = registerCount++);
  bool plain = llvm::all_of(block.without_terminator(), [&](Operation &op) {
    return prepareScalarOp(op, compiler);
  });
  for (Value value : block.getTerminator()->getOperands()) {
    std::optional<unsigned> number;
    if (plain)
      number = reg(value, compiler);
    plain &= number.has_value();
    yieldRegisters.push_back(number.value_or(0));
  }
  valueRegisters.clear();
  if (plain)
    return true;
  ops.clear();
  constants.clear();
  captures.clear();
  indices.clear();
  tensors.clear();
  return false;
}

std::optional<std::array<unsigned, 3>> PointBody::multiplyAdd() const {
  if (block || ops.size() != 2 || used.size() != 3 ||
      yieldRegisters.size() != 1 ||
      !llvm::all_of(argumentIsFloat, [](bool f) { return f; }))
    return std::nullopt;
  const ScalarOp &product = ops[0], &sum = ops[1];
  if (!isa<arith::MulFOp>(product.op) || !isa<arith::AddFOp>(sum.op) ||
      yieldRegisters[0] != sum.out[0])
    return std::nullopt;
  // Registers 0 to 2 are the arguments.
  unsigned a = product.in[0], b = product.in[1];
  unsigned c = sum.in[0] == product.out[0] ? sum.in[1] : sum.in[0];
  bool sums = sum.in[0] == product.out[0] || sum.in[1] == product.out[0];
  if (!sums || a > 1 || b > 1 || a == b || c != 2)
    return std::nullopt;
  return std::array<unsigned, 3>{a, b, c};
}

PointBody::Evaluator::Evaluator(PointBody &body, Machine &machine, Frame &frame)
    : body(body), machine(machine), frame(frame),
      registers(body.registerCount) {
  for (auto [number, value] : body.constants)
    registers[number] = value;
  for (auto [number, slot] : body.captures) {
    if (frame[slot].isFloat())
      registers[number].f = frame[slot].asFloat();
    else
      registers[number].i = frame[slot].asInt();
  }
  for (auto [op, slot] : body.tensors)
    body.ops[op].tensor = &frame[slot];
}

LogicalResult PointBody::Evaluator::evaluateBlock(ArrayRef<int64_t> point) {
  SmallVector<HostTensor, 4> arguments;
  for (unsigned i = 0; i < body.numArguments(); ++i)
    arguments.push_back(body.argumentIsFloat[i]
                            ? HostTensor::scalar(argument(i).f)
                            : HostTensor::scalar(argument(i).i));
  ArrayRef<int64_t> enclosing = machine.point;
  machine.point = point;
  LogicalResult result = machine.run(*body.block, arguments, frame);
  machine.point = enclosing;
  if (failed(result))
    return failure();
  for (auto [i, value] : llvm::enumerate(machine.yielded(*body.block, frame))) {
    Scalar &out = registers[body.yieldRegisters[i]];
    if (value.isFloat())
      out.f = value.asFloat();
    else
      out.i = value.asInt();
  }
  return success();
}

LogicalResult PointBody::Evaluator::report(const ScalarOp &op,
                                           const char *problem,
                                           ArrayRef<int64_t> point) const {
  InFlightDiagnostic error = op.op->emitOpError() << problem;
  error << " at point " << indexText(point);
  return error;
}

} // namespace drawloom::interpreter
