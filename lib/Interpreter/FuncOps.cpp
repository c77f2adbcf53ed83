//===- FuncOps.cpp - calls ------------------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Machine.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace drawloom::interpreter {

namespace {
struct PreparedCall : Prepared {
  func::FuncOp callee;
};
} // namespace

static FailureOr<std::shared_ptr<Prepared>> prepareCall(Operation *operation,
                                                        Compiler &) {
  auto call = cast<func::CallOp>(operation);
  auto prepared = std::make_shared<PreparedCall>();
  prepared->callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      operation, call.getCalleeAttr());
  if (!prepared->callee)
    return operation->emitOpError("calls @")
           << call.getCallee() << ", which is not a function";
  return std::shared_ptr<Prepared>(std::move(prepared));
}

static LogicalResult runCall(Call &call) {
  FailureOr<SmallVector<HostTensor>> results = call.machine.call(
      call.op(), call.prepared<PreparedCall>().callee, call.args);
  if (failed(results))
    return failure();
  for (HostTensor &result : *results)
    call.yield(std::move(result));
  return success();
}

void addFuncOps(Registry &registry) {
  registry["func.call"] = {runCall, prepareCall};
}

} // namespace drawloom::interpreter
