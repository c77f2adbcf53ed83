//===- InterpreterEngine.cpp - run in the float64 reference ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Interpreter.h"
#include "tools/drawloom-run/Engine.h"

using namespace llvm;

namespace drawloom::run {

namespace {
class InterpreterEngine final : public Engine {
public:
  InterpreterEngine(mlir::func::FuncOp function, std::vector<Slot> slots,
                    bool float64)
      : function(function), slots(std::move(slots)), float64(float64) {}

  Error run(ArrayRef<Value> arguments) override {
    SmallVector<HostTensor> tensors;
    for (const Value &argument : arguments)
      tensors.push_back(toHostTensor(argument));
    mlir::FailureOr<SmallVector<HostTensor>> outcome =
        Interpreter::call(function, tensors);
    if (failed(outcome))
      return alreadyReported();
    computed = std::move(*outcome);
    return Error::success();
  }

  std::vector<Value> results() const override {
    std::vector<Value> values;
    for (auto [tensor, slot] : zip_equal(computed, slots))
      values.push_back(fromHostTensor(tensor, float64 && tensor.isFloat()
                                                  ? ElementType::F64
                                                  : slot.element));
    return values;
  }

private:
  mlir::func::FuncOp function;
  std::vector<Slot> slots;
  bool float64;
  SmallVector<HostTensor> computed;
};
} // namespace

Expected<std::unique_ptr<Engine>> createInterpreter(mlir::ModuleOp module,
                                                    StringRef entry,
                                                    const Options &options) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>(entry);
  Expected<std::vector<Slot>> slots = resultsOf(function);
  if (!slots)
    return slots.takeError();
  return std::make_unique<InterpreterEngine>(function, std::move(*slots),
                                             options.float64);
}

} // namespace drawloom::run
