//===- PlanProgram.cpp - follows a launch plan on some device -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/PlanProgram.h"
#include <algorithm>
#include <chrono>

namespace drawloom::runtime::cuda {

PlanProgram::PlanProgram(LaunchPlan given) : plan(std::move(given)) {
  for (const LaunchEntry &entry : plan.entries) {
    all.push_back(entry.signature);
    std::vector<bool> &flags = numbers.emplace_back();
    flags.resize(entry.signature.arguments.size());
    for (const LaunchStep &step : entry.steps)
      for (const LaunchOperand &operand : step.operands)
        if (operand.kind == LaunchOperand::Scalar)
          flags[static_cast<size_t>(operand.value)] = true;
  }
}

Status DeviceSession::multiply(const Product &product,
                               const ProductOperands &) {
  return Status::error(
      "the program leaves a product of " + productText(product) +
      " to a library, which this target does not have: compile with "
      "--dense-products=own");
}

static void addTime(KernelProfile &profile, const std::string &name,
                    int64_t blocks, double seconds) {
  auto known =
      std::find_if(profile.kernels.begin(), profile.kernels.end(),
                   [&](const auto &kernel) { return kernel.name == name; });
  if (known == profile.kernels.end())
    known = profile.kernels.insert(known, KernelProfile::Kernel{name, 0, 0, 0});
  ++known->calls;
  known->blocks += blocks;
  known->seconds += seconds;
}

/// The operands of a product by name.
template <typename MemoryOf>
static ProductOperands operandsOf(const LaunchStep &step, MemoryOf memoryOf) {
  ProductOperands operands;
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

bool PlanProgram::isNumber(size_t entry, size_t argument) const {
  return numbers[entry][argument];
}

Status PlanProgram::follow(DeviceSession &session, size_t index,
                           const void *const *arguments, void *const *results,
                           KernelProfile *profile) const {
  const LaunchEntry &entry = plan.entries[index];
  const Signature &signature = entry.signature;
  Result<void *> workspace = session.allocate(signature.workspaceBytes);
  if (!workspace.ok())
    return workspace.status();
  auto memoryOf = [&](const LaunchOperand &operand) -> void * {
    auto at = static_cast<size_t>(operand.value);
    switch (operand.kind) {
    case LaunchOperand::Argument:
    case LaunchOperand::Scalar:
      return const_cast<void *>(arguments[at]);
    case LaunchOperand::Result:
      return results[at];
    case LaunchOperand::Workspace:
      return static_cast<char *>(*workspace) + at;
    }
    return nullptr; // All kinds are listed.
  };
  using Clock = std::chrono::steady_clock;
  for (const LaunchStep &step : entry.steps) {
    Clock::time_point start = Clock::now();
    auto finished = [&](const std::string &name, int64_t blocks) {
      if (profile)
        addTime(*profile, name, blocks,
                std::chrono::duration<double>(Clock::now() - start).count());
    };
    if (step.product) {
      if (Status status =
              session.multiply(*step.product, operandsOf(step, memoryOf));
          !status.ok())
        return status;
      finished("product " + productText(*step.product), 1);
      continue;
    }
    if (step.kernel.empty()) {
      void *from = memoryOf(step.operands[0]), *to = memoryOf(step.operands[1]);
      // A number that is returned as it is comes from the host.
      Status status = step.operands[0].kind == LaunchOperand::Scalar
                          ? session.store(to, from, step.bytes)
                          : session.copy(to, from, step.bytes);
      if (!status.ok())
        return status;
      continue;
    }
    std::vector<DeviceSession::Argument> given;
    for (const LaunchOperand &operand : step.operands) {
      DeviceSession::Argument argument;
      if (operand.kind == LaunchOperand::Scalar) {
        argument.number = memoryOf(operand);
        argument.element =
            signature.arguments[static_cast<size_t>(operand.value)].element;
      } else {
        argument.memory = memoryOf(operand);
      }
      given.push_back(argument);
    }
    const LaunchKernel &kernel = *plan.find(step.kernel);
    // No device launches nothing.
    if (kernel.grid == 0)
      continue;
    if (Status status = session.launch(kernel, given); !status.ok())
      return status;
    finished(kernel.name, kernel.grid);
  }
  return {};
}

Status PlanProgram::run(size_t index, const void *const *arguments,
                        void *const *results, unsigned threads,
                        KernelProfile *profile,
                        const int64_t * /*extents*/) const {
  const Signature &signature = all[index];
  Result<std::unique_ptr<DeviceSession>> opened = open(threads);
  if (!opened.ok())
    return opened.status();
  DeviceSession &session = **opened;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    if (isNumber(index, i)) {
      inputs.push_back(arguments[i]);
      continue;
    }
    int64_t bytes = signature.arguments[i].bytes();
    Result<void *> memory = session.allocate(bytes);
    if (!memory.ok())
      return memory.status();
    if (Status status = session.upload(*memory, arguments[i], bytes);
        !status.ok())
      return status;
    inputs.push_back(*memory);
  }
  for (const ValueType &type : signature.results) {
    Result<void *> memory = session.allocate(type.bytes());
    if (!memory.ok())
      return memory.status();
    outputs.push_back(*memory);
  }
  if (Status status =
          follow(session, index, inputs.data(), outputs.data(), profile);
      !status.ok())
    return status;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (Status status = session.download(results[i], outputs[i],
                                         signature.results[i].bytes());
        !status.ok())
      return status;
  return {};
}

} // namespace drawloom::runtime::cuda
