//===- ScalarOps.cpp - arithmetic on scalars and tensors ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/ScalarOps.h"
#include "lib/Interpreter/Machine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"

using namespace mlir;

namespace drawloom::interpreter {

static const ScalarTable &table() {
  static const ScalarTable table = [] {
    ScalarTable table;
    addFloatScalarOps(table);
    addIntegerScalarOps(table);
    addConversionScalarOps(table);
    return table;
  }();
  return table;
}

bool isScalarOp(Operation *op) {
  return table().contains(op->getName().getStringRef());
}

std::optional<ScalarOp> makeScalarOp(Operation *op) {
  auto it = table().find(op->getName().getStringRef());
  if (it == table().end())
    return std::nullopt;
  ScalarOp scalar = it->second;
  scalar.op = op;
  scalar.bitsIn = elementBits(op->getOperand(0).getType());
  scalar.bitsOut = elementBits(op->getResult(0).getType());
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    scalar.predicate = int64_t(compare.getPredicate());
  else if (auto compare = dyn_cast<arith::CmpIOp>(op))
    scalar.predicate = int64_t(compare.getPredicate());
  else if (auto compare = dyn_cast<index::CmpOp>(op))
    scalar.predicate = int64_t(compare.getPred());
  return scalar;
}

ScalarOp scalarOpNamed(StringRef name, Type type) {
  ScalarOp scalar = table().at(name);
  scalar.bitsIn = scalar.bitsOut = elementBits(type);
  return scalar;
}

//===----------------------------------------------------------------------===//
// Ops on whole tensors.
//===----------------------------------------------------------------------===//

namespace {
struct PreparedElementwise : Prepared {
  ScalarOp scalar;
};
} // namespace

/// arith.select chooses between memrefs, too.
static bool selectsMemory(Operation *op) {
  return isa<arith::SelectOp>(op) &&
         isa<MemRefType>(op->getResult(0).getType());
}

static FailureOr<std::shared_ptr<Prepared>> prepareElementwise(Operation *op,
                                                               Compiler &) {
  auto prepared = std::make_shared<PreparedElementwise>();
  prepared->scalar = *makeScalarOp(op);
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    prepared->scalar.in[i] = i;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    prepared->scalar.out[i] = op->getNumOperands() + i;
  return std::shared_ptr<Prepared>(std::move(prepared));
}

static LogicalResult runElementwise(Call &call) {
  if (selectsMemory(call.op())) {
    call.yield(call.args[call.args[0].asInt() ? 1 : 2]);
    return success();
  }
  const ScalarOp &scalar = call.prepared<PreparedElementwise>().scalar;
  unsigned inputs = call.args.size();
  // A scalar operand beside tensors (the condition of arith.select) counts for
  // every element; the others must agree.
  const HostTensor *widest = &call.args.front();
  for (const HostTensor &arg : call.args)
    if (arg.rank() > widest->rank())
      widest = &arg;
  for (auto [i, arg] : llvm::enumerate(call.args))
    if (arg.rank() != 0 && arg.shape() != widest->shape())
      return call.error() << "has operands of shapes "
                          << indexText(widest->shape()) << " and "
                          << indexText(arg.shape());

  Scalar registers[5];
  const void *data[3] = {};
  bool each[3] = {};
  for (unsigned i = 0; i < inputs; ++i) {
    HostTensor &arg = call.args[i];
    each[i] = arg.size() != 1 || arg.shape() == widest->shape();
    // Registers are unions of one size, so either kind is read as bits.
    data[i] = arg.isFloat() ? static_cast<const void *>(arg.f().data())
                            : arg.i().data();
  }
  int64_t elements = widest->size();
  void *outputs[2] = {};
  unsigned results = call.op()->getNumResults();
  SmallVector<HostTensor, 2> out;
  for (unsigned i = 0; i < results; ++i)
    out.emplace_back(isFloat(call.op()->getResult(i).getType()),
                     widest->shape());
  for (unsigned i = 0; i < results; ++i)
    outputs[i] = out[i].isFloat()
                     ? static_cast<void *>(out[i].mutableF().data())
                     : out[i].mutableI().data();
  for (int64_t element = 0; element < elements; ++element) {
    for (unsigned i = 0; i < inputs; ++i)
      std::memcpy(&registers[i],
                  static_cast<const char *>(data[i]) +
                      (each[i] ? element * sizeof(Scalar) : 0),
                  sizeof(Scalar));
    if (const char *problem = scalar.run(registers)) {
      InFlightDiagnostic error = call.error() << problem;
      if (widest->rank() != 0)
        error << " (element number " << element << ")";
      return error;
    }
    for (unsigned i = 0; i < results; ++i)
      std::memcpy(static_cast<char *>(outputs[i]) + element * sizeof(Scalar),
                  &registers[inputs + i], sizeof(Scalar));
  }
  for (HostTensor &value : out)
    call.yield(std::move(value));
  return success();
}

const Handler &elementwiseHandler() {
  static const Handler handler{runElementwise, prepareElementwise,
                               /*ownsRegions=*/false};
  return handler;
}

} // namespace drawloom::interpreter
