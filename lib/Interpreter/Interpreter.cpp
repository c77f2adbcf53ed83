//===- Interpreter.cpp - the float64 reference ----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Interpreter.h"
#include "lib/Interpreter/Machine.h"

using namespace mlir;

namespace drawloom {

FailureOr<SmallVector<HostTensor>>
Interpreter::callInPlace(func::FuncOp function,
                         MutableArrayRef<HostTensor> arguments,
                         const Limits &limits) {
  if (arguments.size() != function.getNumArguments())
    return function.emitOpError("takes ")
           << function.getNumArguments() << " arguments, not "
           << arguments.size();
  interpreter::Machine machine(limits);
  SmallVector<HostTensor> passed;
  SmallVector<interpreter::View> views;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Type type = function.getArgumentTypes()[i];
    if (!interpreter::isSupported(type))
      return function.emitOpError("takes an argument of type ")
             << type << ", which the interpreter does not hold";
    if (failed(interpreter::Machine::verifyFits(
            function, argument, type, ("argument #" + Twine(i)).str())))
      return failure();
    if (!isa<MemRefType>(type)) {
      passed.push_back(argument);
      continue;
    }
    interpreter::View view =
        machine.memory.add(argument, getElementTypeOrSelf(type));
    views.push_back(view);
    passed.push_back(view.value());
  }
  FailureOr<SmallVector<HostTensor>> results =
      machine.call(function, function, passed);
  if (failed(results))
    return failure();
  unsigned next = 0;
  for (auto [argument, type] :
       llvm::zip_equal(arguments, function.getArgumentTypes()))
    if (isa<MemRefType>(type))
      argument = machine.memory.read(views[next++]);
  for (auto [result, type] :
       llvm::zip_equal(*results, function.getResultTypes()))
    if (isa<MemRefType>(type))
      result = machine.memory.read(interpreter::View::of(result));
  return results;
}

FailureOr<SmallVector<HostTensor>>
Interpreter::call(func::FuncOp function, ArrayRef<HostTensor> arguments,
                  const Limits &limits) {
  SmallVector<HostTensor> copies(arguments);
  return callInPlace(function, copies, limits);
}

LogicalResult Interpreter::runChecks(Operation *module) {
  bool any = false;
  LogicalResult result = success();
  for (auto function : module->getRegion(0).getOps<func::FuncOp>()) {
    if (function.isExternal() || function.getNumArguments() != 0)
      continue;
    any = true;
    if (failed(call(function, {})))
      result = failure();
  }
  if (!any)
    return module->emitError(
        "there is no function without arguments to interpret");
  return result;
}

} // namespace drawloom
