//===- Machine.cpp - what executes a function -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Machine.h"
#include "dialects/Drawloom/Attributes.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Rgnn/Rgnn.h"
#include "lib/Interpreter/ScalarOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace drawloom::interpreter {

ArrayRef<Instruction> Body::executed() const {
  return ArrayRef<Instruction>(instructions).drop_back(terminated);
}

const Instruction &Body::terminator() const {
  assert(terminated && "the block has no terminator");
  return instructions.back();
}

Machine::Machine(const Interpreter::Limits &limits) : limits(limits) {
  if (limits.differences)
    addAdOps(registry);
  addAffineOps(registry);
  addConstantOps(registry);
  addBufferOps(registry);
  addCheckOps(registry);
  addForallOps(registry);
  addFuncOps(registry);
  addGradientCheck(registry);
  addLinalgOps(registry);
  addOffloadOps(registry);
  addRecurrenceOps(registry);
  addRgnnOps(registry);
  addScfOps(registry);
  addTensorOps(registry);
  addTensorShapeOps(registry);
  addTensorSliceOps(registry);
  addTileOps(registry);
  addVectorOps(registry);
  addVectorTransferOps(registry);
}

const Handler *Machine::find(Operation *op) const {
  auto it = registry.find(op->getName().getStringRef());
  if (it != registry.end())
    return &it->second;
  if (isScalarOp(op))
    return &elementwiseHandler();
  if (isa<linalg::LinalgOp>(op))
    return &linalgHandler();
  if (isa<InterpretableOpInterface>(op))
    return &interfaceHandler();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// From ops to instructions.
//===----------------------------------------------------------------------===//

unsigned Compiler::slot(Value value) {
  return slots.try_emplace(value, slots.size()).first->second;
}

FailureOr<Function> Compiler::compile(func::FuncOp function) {
  Function compiled;
  FailureOr<Body> body = compileBlock(function.getBody().front());
  if (failed(body))
    return failure();
  compiled.body = std::move(*body);
  compiled.slots = slots.size();
  return compiled;
}

FailureOr<Body> Compiler::compileBlock(Block &block) {
  Body body;
  for (BlockArgument argument : block.getArguments()) {
    if (!isSupported(argument.getType()))
      return emitError(argument.getLoc())
             << "the interpreter has no values of type " << argument.getType();
    body.arguments.push_back(slot(argument));
  }
  for (Operation &op : block) {
    FailureOr<Instruction> instruction = compileOp(&op);
    if (failed(instruction))
      return failure();
    body.instructions.push_back(std::move(*instruction));
    body.terminated = op.hasTrait<OpTrait::IsTerminator>();
  }
  if (failed(markLastUses(block, body)))
    return failure();
  return body;
}

FailureOr<Instruction> Compiler::compileOp(Operation *op) {
  Instruction instruction;
  instruction.op = op;
  for (Type type : llvm::concat<Type>(SmallVector<Type>(op->getOperandTypes()),
                                      SmallVector<Type>(op->getResultTypes())))
    if (!isSupported(type))
      return op->emitOpError("has a value of type ")
             << type << ", which the interpreter does not hold";
  for (Value operand : op->getOperands())
    instruction.operands.push_back({slot(operand), false});
  for (Value result : op->getResults())
    instruction.results.push_back(slot(result));

  bool ownsRegions = false;
  // Terminators are read by the op around them.
  if (!op->hasTrait<OpTrait::IsTerminator>()) {
    const Handler *handler = machine.find(op);
    if (!handler) {
      InFlightDiagnostic error =
          op->emitOpError("is not supported by the interpreter");
      if (op->getName().getDialectNamespace() == "ad")
        error << "; it asks for derivatives, which --differentiate writes out";
      else if (isa<linalg::AggregatedOpInterface>(op))
        error << "; it can be decomposed, but only ops that implement "
                 "InterpretableOpInterface are executed as they are";
      else
        error << ", which executes ops of the graph and block levels and those "
                 "that implement InterpretableOpInterface";
      return error;
    }
    instruction.run = handler->run;
    ownsRegions = handler->ownsRegions;
    if (handler->prepare) {
      auto prepared = handler->prepare(op, *this);
      if (failed(prepared))
        return failure();
      instruction.prepared = std::move(*prepared);
    }
  }
  if (ownsRegions)
    return instruction;
  for (Region &region : op->getRegions()) {
    if (region.empty()) {
      instruction.regions.emplace_back();
      continue;
    }
    if (!region.hasOneBlock())
      return op->emitOpError(
          "has a region of several blocks; the interpreter executes structured "
          "control flow only");
    FailureOr<Body> body = compileBlock(region.front());
    if (failed(body))
      return failure();
    instruction.regions.push_back(std::move(*body));
  }
  return instruction;
}

/// Finds where each value of the block has its last reader. A value read
/// inside a nested region may be read again by the next iteration, so it stays
/// until the op that holds the region is done.
LogicalResult Compiler::markLastUses(Block &block, Body &body) {
  DenseMap<Operation *, unsigned> position;
  for (auto [i, instruction] : llvm::enumerate(body.instructions))
    position[instruction.op] = i;
  auto mark = [&](Value value, unsigned definedAt) {
    unsigned last = definedAt;
    for (Operation *user : value.getUsers())
      last =
          std::max(last, position.lookup(block.findAncestorOpInBlock(*user)));
    unsigned valueSlot = slot(value);
    Instruction &reader = body.instructions[last];
    unsigned reads = 0;
    for (OpOperand &use : value.getUses())
      if (block.findAncestorOpInBlock(*use.getOwner()) == reader.op)
        reads += use.getOwner() == reader.op ? 1 : 2;
    if (reads != 1) {
      reader.releases.push_back(valueSlot);
      return;
    }
    for (Operand &operand : reader.operands)
      operand.last |= operand.slot == valueSlot;
  };
  if (body.instructions.empty())
    return success();
  for (BlockArgument argument : block.getArguments())
    mark(argument, 0);
  for (auto [i, instruction] : llvm::enumerate(body.instructions))
    for (Value result : instruction.op->getResults())
      mark(result, i);
  return success();
}

//===----------------------------------------------------------------------===//
// Execution.
//===----------------------------------------------------------------------===//

LogicalResult Machine::run(const Body &body,
                           MutableArrayRef<HostTensor> arguments,
                           Frame &frame) {
  assert(arguments.size() == body.arguments.size());
  for (auto [slot, argument] : llvm::zip_equal(body.arguments, arguments))
    frame[slot] = std::move(argument);
  SmallVector<HostTensor, 4> args, results;
  for (const Instruction &instruction : body.executed()) {
    args.clear();
    results.clear();
    for (Operand operand : instruction.operands) {
      if (operand.last)
        args.push_back(std::move(frame[operand.slot]));
      else
        args.push_back(frame[operand.slot]);
    }
    Call call{*this, instruction, frame, args, results};
    if (failed(instruction.run(call)))
      return failure();
    assert(results.size() == instruction.results.size());
    for (auto [slot, result] : llvm::zip_equal(instruction.results, results))
      frame[slot] = std::move(result);
    for (unsigned slot : instruction.releases)
      frame[slot] = HostTensor();
  }
  return success();
}

SmallVector<HostTensor> Machine::yielded(const Body &body, Frame &frame,
                                         unsigned from) {
  SmallVector<HostTensor> values;
  for (Operand operand :
       ArrayRef<Operand>(body.terminator().operands).drop_front(from)) {
    if (operand.last)
      values.push_back(std::move(frame[operand.slot]));
    else
      values.push_back(frame[operand.slot]);
  }
  return values;
}

FailureOr<SmallVector<HostTensor>>
Machine::call(Operation *caller, func::FuncOp function,
              MutableArrayRef<HostTensor> arguments) {
  if (function.isExternal())
    return caller->emitOpError("calls @")
           << function.getName() << ", which has no body";
  if (!function.getBody().hasOneBlock())
    return function.emitOpError(
        "has several blocks; the interpreter executes structured control flow "
        "only");
  if (depth >= limits.callDepth)
    return caller->emitOpError("calls @") << function.getName() << " more than "
                                          << limits.callDepth << " levels deep";
  if (arguments.size() != function.getNumArguments())
    return caller->emitOpError("passes ")
           << arguments.size() << " arguments to @" << function.getName()
           << ", which takes " << function.getNumArguments();
  auto grid = function->getAttrOfType<IntegerAttr>(gridAttr);
  if (!grid || function.getNumResults() != 0)
    return runOnce(function, arguments);
  // Blocks of a kernel may run in any order: in that of their numbers, say.
  Memory::Mark mark = memory.mark();
  KernelBlock outer = std::exchange(block, {});
  for (int64_t number = 0; number < grid.getInt(); ++number) {
    if (failed(countIteration(function)))
      return failure();
    block = {};
    block.number = number;
    if (failed(runOnce(function, arguments)))
      return failure();
    memory.forget(mark);
  }
  block = std::move(outer);
  return SmallVector<HostTensor>();
}

FailureOr<SmallVector<HostTensor>>
Machine::runOnce(func::FuncOp function, ArrayRef<HostTensor> given) {
  SmallVector<HostTensor> arguments(given);
  std::unique_ptr<Function> &compiled = functions[function];
  if (!compiled) {
    FailureOr<Function> result = Compiler(*this).compile(function);
    if (failed(result))
      return failure();
    compiled = std::make_unique<Function>(std::move(*result));
  }
  // The map may grow while the body runs.
  const Function *code = compiled.get();
  Frame frame(code->slots);
  ++depth;
  LogicalResult result = run(code->body, arguments, frame);
  --depth;
  if (failed(result))
    return failure();
  return yielded(code->body, frame);
}

LogicalResult Machine::countIteration(Operation *loop) {
  if (++iterations <= limits.iterations)
    return success();
  return loop->emitOpError("exceeds the interpreter's limit of ")
         << limits.iterations << " loop iterations";
}

FailureOr<HostTensor> Machine::allocate(Operation *op, Type type,
                                        ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (extent < 0)
      return op->emitOpError("gives dimension ")
             << dim << " the negative size " << extent;
    if (__builtin_mul_overflow(elements, extent, &elements) ||
        elements > limits.elements)
      return op->emitOpError("needs a value of shape ")
             << indexText(shape) << ", above the interpreter's limit of "
             << limits.elements << " elements";
  }
  return HostTensor(isFloat(type), shape);
}

FailureOr<HostTensor> Machine::allocateUndefined(Operation *op, Type type,
                                                 ArrayRef<int64_t> shape) {
  FailureOr<HostTensor> value = allocate(op, type, shape);
  if (failed(value))
    return failure();
  return undefined(getElementTypeOrSelf(type), shape);
}

LogicalResult Machine::verifyInside(Operation *op, const View &view) const {
  if (memory.contains(view))
    return success();
  return op->emitOpError("accesses memory of shape ")
         << indexText(view.sizes) << " with strides " << indexText(view.strides)
         << " from element " << view.offset << " on, which leaves its buffer";
}

FailureOr<HostTensor> Machine::read(Operation *op, const View &view) {
  if (failed(verifyInside(op, view)))
    return failure();
  return memory.read(view);
}

LogicalResult Machine::write(Operation *op, const View &view,
                             const HostTensor &value) {
  if (failed(verifyInside(op, view)))
    return failure();
  if (value.shape() != ArrayRef<int64_t>(view.sizes))
    return op->emitOpError("writes a value of shape ")
           << indexText(value.shape()) << " to memory of shape "
           << indexText(view.sizes);
  memory.write(view, value);
  return success();
}

LogicalResult Machine::verifyFits(Operation *op, const HostTensor &value,
                                  Type type, StringRef what) {
  if (value.isFloat() != isFloat(type))
    return op->emitOpError()
           << what << " must be of type " << type << ", but its elements are "
           << (value.isFloat() ? "floats" : "integers");
  ArrayRef<int64_t> shape;
  // A graph is a list of integers.
  static constexpr int64_t anyLength = ShapedType::kDynamic;
  if (auto shaped = dyn_cast<ShapedType>(type))
    shape = shaped.getShape();
  else if (isa<rgnn::GraphType>(type))
    shape = anyLength;
  bool fits = int64_t(shape.size()) == value.rank();
  for (int64_t i = 0; fits && i < value.rank(); ++i)
    fits = ShapedType::isDynamic(shape[i]) || shape[i] == value.dim(i);
  if (fits)
    return success();
  return op->emitOpError() << what << " must be of type " << type
                           << ", but has shape " << indexText(value.shape());
}

SmallVector<int64_t, 4> Call::mixed(ArrayRef<int64_t> statics,
                                    unsigned dynamic) const {
  SmallVector<int64_t, 4> values(statics);
  for (int64_t &value : values)
    if (ShapedType::isDynamic(value))
      value = args[dynamic++].asInt();
  return values;
}

static LogicalResult runInterface(Call &call) {
  auto op = call.as<InterpretableOpInterface>();
  if (failed(op.interpret(call.args, call.results)))
    return failure();
  if (call.results.size() != call.op()->getNumResults())
    return call.error() << "was interpreted to " << call.results.size()
                        << " results instead of " << call.op()->getNumResults();
  for (auto [i, result] : llvm::enumerate(call.results))
    if (failed(Machine::verifyFits(call.op(), result,
                                   call.op()->getResult(i).getType(),
                                   ("interpreted result #" + Twine(i)).str())))
      return failure();
  return success();
}

const Handler &interfaceHandler() {
  static const Handler handler{runInterface, nullptr, /*ownsRegions=*/true};
  return handler;
}

} // namespace drawloom::interpreter
