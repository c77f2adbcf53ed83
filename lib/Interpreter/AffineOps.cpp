//===- AffineOps.cpp - index arithmetic -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "lib/Interpreter/Access.h"
#include "lib/Interpreter/Machine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace drawloom::interpreter {

/// The values of the op's map at its operands.
static FailureOr<SmallVector<int64_t>> evaluateMap(Call &call, AffineMap map) {
  SmallVector<int64_t, 4> operands;
  for (const HostTensor &arg : call.args)
    operands.push_back(arg.asInt());
  SmallVector<int64_t> values;
  for (AffineExpr expr : map.getResults()) {
    std::optional<int64_t> value =
        evaluateAffine(expr, ArrayRef(operands).take_front(map.getNumDims()),
                       ArrayRef(operands).drop_front(map.getNumDims()));
    if (!value) {
      call.error() << "divides by a number that is not positive";
      return failure();
    }
    values.push_back(*value);
  }
  return values;
}

static LogicalResult runApply(Call &call) {
  auto values = evaluateMap(call, call.as<affine::AffineApplyOp>().getMap());
  if (failed(values))
    return failure();
  call.yield(HostTensor::scalar(values->front()));
  return success();
}

static LogicalResult runMin(Call &call) {
  auto values = evaluateMap(call, call.as<affine::AffineMinOp>().getMap());
  if (failed(values))
    return failure();
  call.yield(HostTensor::scalar(*llvm::min_element(*values)));
  return success();
}

static LogicalResult runMax(Call &call) {
  auto values = evaluateMap(call, call.as<affine::AffineMaxOp>().getMap());
  if (failed(values))
    return failure();
  call.yield(HostTensor::scalar(*llvm::max_element(*values)));
  return success();
}

static LogicalResult runLinearize(Call &call) {
  auto op = call.as<affine::AffineLinearizeIndexOp>();
  unsigned digits = op.getMultiIndex().size();
  auto basis = call.mixed(op.getStaticBasis(), digits);
  // The outermost bound may be left out; it does not matter to the value.
  int64_t value = 0;
  for (unsigned i = 0; i < digits; ++i) {
    unsigned bound = i + basis.size() - digits;
    int64_t extent = i == 0 && basis.size() < digits ? 1 : basis[bound];
    value = int64_t(uint64_t(value) * uint64_t(extent) +
                    uint64_t(call.args[i].asInt()));
  }
  call.yield(HostTensor::scalar(value));
  return success();
}

static LogicalResult runDelinearize(Call &call) {
  auto op = call.as<affine::AffineDelinearizeIndexOp>();
  auto basis = call.mixed(op.getStaticBasis(), 1);
  unsigned digits = op->getNumResults();
  SmallVector<int64_t, 4> values(digits, 0);
  int64_t rest = call.args[0].asInt();
  for (unsigned i = digits; i-- > 1;) {
    int64_t extent = basis[i + basis.size() - digits];
    if (extent <= 0)
      return call.error() << "has the basis element " << extent;
    values[i] = llvm::mod(rest, extent);
    rest = llvm::divideFloorSigned(rest, extent);
  }
  if (digits)
    values[0] = rest;
  for (int64_t value : values)
    call.yield(HostTensor::scalar(value));
  return success();
}

void addAffineOps(Registry &registry) {
  registry["affine.apply"] = {runApply};
  registry["affine.min"] = {runMin};
  registry["affine.max"] = {runMax};
  registry["affine.linearize_index"] = {runLinearize};
  registry["affine.delinearize_index"] = {runDelinearize};
}

} // namespace drawloom::interpreter
