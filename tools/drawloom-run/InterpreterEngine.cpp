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
  InterpreterEngine(mlir::OwningOpRef<mlir::ModuleOp> module, StringRef name,
                    std::vector<Slot> slots, bool float64)
      : module(std::move(module)),
        function(this->module->lookupSymbol<mlir::func::FuncOp>(name)),
        slots(std::move(slots)), float64(float64) {}

  Error run(ArrayRef<Value> arguments, KernelProfile *) override {
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
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  std::vector<Slot> slots;
  bool float64;
  SmallVector<HostTensor> computed;
};
} // namespace

/// Requests for gradients mean nothing until they are expanded.
static bool hasGradientRequests(mlir::ModuleOp module) {
  return module
      .walk([](mlir::Operation *op) {
        return op->getName().getDialectNamespace() == "ad"
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

Expected<std::unique_ptr<Engine>> createInterpreter(mlir::ModuleOp module,
                                                    const EntryPoint &entry,
                                                    const Options &options) {
  Expected<std::vector<Slot>> slots = resultsOf(entry);
  if (!slots)
    return slots.takeError();
  if (options.compile.from > Phase::Blocks ||
      (options.target == Target::Interpreter && options.stopsAtPhase &&
       options.compile.to > Phase::Blocks))
    return createStringError("the interpreter runs programs up to phase '" +
                             commonPhaseText(Phase::Blocks).name + "'");
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> copy =
      isolate(module, entry, nullptr, options);
  if (!copy)
    return copy.takeError();
  CompileOptions compileOptions = options.compile;
  if (options.target != Target::Interpreter || !options.stopsAtPhase)
    compileOptions.to =
        hasGradientRequests(**copy) ? Phase::Differentiated : Phase::Input;
  if (compileOptions.to > compileOptions.from &&
      failed(compile(**copy, compileOptions)))
    return alreadyReported();
  return std::make_unique<InterpreterEngine>(
      std::move(*copy), entry.name, std::move(*slots), options.float64);
}

} // namespace drawloom::run
