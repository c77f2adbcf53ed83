//===- PlanProgram.cpp - follows a launch plan on some device -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/PlanProgram.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>

using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace drawloom::nvptx {

DeviceSession::~DeviceSession() = default;

PlanProgram::PlanProgram(LaunchPlan given) : plan(std::move(given)) {
  for (const LaunchEntry &entry : plan.entries)
    all.push_back(entry.signature);
}

Error DeviceSession::multiply(const Product &product,
                              const runtime::cuda::ProductOperands &) {
  return llvm::createStringError(
      "the program leaves a product of " + describe(product) +
      " to a library, which this target does not have: compile with "
      "--dense-products=own");
}

static void addTime(KernelProfile &profile, StringRef name, int64_t blocks,
                    double seconds) {
  auto known = llvm::find_if(
      profile.kernels, [&](const auto &other) { return other.name == name; });
  if (known == profile.kernels.end())
    known = profile.kernels.insert(known,
                                   KernelProfile::Kernel{name.str(), 0, 0, 0});
  ++known->calls;
  known->blocks += blocks;
  known->seconds += seconds;
}

/// The operands of a product by name.
static runtime::cuda::ProductOperands
operandsOf(const LaunchStep &step,
           llvm::function_ref<void *(const LaunchOperand &)> memoryOf) {
  runtime::cuda::ProductOperands operands;
  size_t next = 0;
  auto take = [&] { return memoryOf(step.operands[next++]); };
  operands.left = take();
  operands.right = take();
  if (step.product->addend)
    operands.addend = take();
  if (step.product->bias)
    operands.bias = take();
  operands.result = take();
  operands.workspace = take();
  operands.workspaceBytes = static_cast<size_t>(step.bytes);
  return operands;
}

Error PlanProgram::run(StringRef name, ArrayRef<const void *> arguments,
                       ArrayRef<void *> results, unsigned threads,
                       KernelProfile *profile) const {
  auto entry = llvm::find_if(plan.entries, [&](const LaunchEntry &candidate) {
    return candidate.signature.name == name;
  });
  if (entry == plan.entries.end())
    return llvm::createStringError("there is no entry '" + name + "'");
  const Signature &signature = entry->signature;
  if (arguments.size() != signature.arguments.size() ||
      results.size() != signature.results.size())
    return llvm::createStringError(
        "'" + name + "' takes " + llvm::Twine(signature.arguments.size()) +
        " arguments and gives " + llvm::Twine(signature.results.size()) +
        " results");
  Expected<std::unique_ptr<DeviceSession>> session = open(threads);
  if (!session)
    return session.takeError();
  std::vector<void *> inputs, outputs;
  for (auto [type, data] : llvm::zip(signature.arguments, arguments)) {
    Expected<void *> memory = (*session)->allocate(type.bytes());
    if (!memory)
      return memory.takeError();
    if (Error error = (*session)->upload(*memory, data, type.bytes()))
      return error;
    inputs.push_back(*memory);
  }
  for (const ValueType &type : signature.results) {
    Expected<void *> memory = (*session)->allocate(type.bytes());
    if (!memory)
      return memory.takeError();
    outputs.push_back(*memory);
  }
  Expected<void *> workspace = (*session)->allocate(signature.workspaceBytes);
  if (!workspace)
    return workspace.takeError();
  auto memoryOf = [&](const LaunchOperand &operand) -> void * {
    switch (operand.kind) {
    case LaunchOperand::Argument:
    case LaunchOperand::Scalar:
      return inputs[operand.value];
    case LaunchOperand::Result:
      return outputs[operand.value];
    case LaunchOperand::Workspace:
      return static_cast<char *>(*workspace) + operand.value;
    }
    llvm_unreachable("all kinds are listed");
  };
  using Clock = std::chrono::steady_clock;
  for (const LaunchStep &step : entry->steps) {
    Clock::time_point start = Clock::now();
    auto finished = [&](StringRef name, int64_t blocks) {
      if (profile)
        addTime(*profile, name, blocks,
                std::chrono::duration<double>(Clock::now() - start).count());
    };
    if (step.product) {
      if (Error error =
              (*session)->multiply(*step.product, operandsOf(step, memoryOf)))
        return error;
      finished("product " + describe(*step.product), 1);
      continue;
    }
    if (step.kernel.empty()) {
      if (Error error =
              (*session)->copy(memoryOf(step.operands[1]),
                               memoryOf(step.operands[0]), step.bytes))
        return error;
      continue;
    }
    std::vector<DeviceSession::Argument> given;
    for (const LaunchOperand &operand : step.operands) {
      DeviceSession::Argument argument;
      if (operand.kind == LaunchOperand::Scalar) {
        argument.number = arguments[operand.value];
        argument.element = signature.arguments[operand.value].element;
      } else {
        argument.memory = memoryOf(operand);
      }
      given.push_back(argument);
    }
    const LaunchKernel &kernel = *plan.find(step.kernel);
    // No device launches nothing.
    if (kernel.grid == 0)
      continue;
    if (Error error = (*session)->launch(kernel, given))
      return error;
    finished(kernel.name, kernel.grid);
  }
  for (auto [type, from, to] : llvm::zip(signature.results, outputs, results))
    if (Error error = (*session)->download(to, from, type.bytes()))
      return error;
  return Error::success();
}

} // namespace drawloom::nvptx
