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
#include <cstring>

namespace drawloom::runtime::cuda {

static void giveNames(const std::vector<ValueType> &from,
                      std::vector<ValueType> &to) {
  for (size_t i = 0; i < std::min(from.size(), to.size()); ++i)
    to[i].name = from[i].name;
}

PlanProgram::PlanProgram(LaunchPlan given,
                         const std::vector<Artifact::Entry> &entries)
    : plan(std::move(given)) {
  for (const LaunchEntry &entry : plan.entries) {
    Signature &signature = all.emplace_back(entry.signature);
    for (const Artifact::Entry &known : entries)
      if (known.signature.name == signature.name) {
        giveNames(known.signature.arguments, signature.arguments);
        giveNames(known.signature.results, signature.results);
      }
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

Result<std::unique_ptr<DeviceRecords>>
DeviceSession::records(const Signature &signature) {
  return Status::error("@" + signature.name +
                       " keeps values outside memory for some time, which "
                       "this target cannot: compile it without a store");
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

Result<int64_t> PlanProgram::amountOf(const LaunchEntry &entry,
                                      const LaunchStep &step,
                                      const int64_t *extents) const {
  const LaunchKernel *kernel =
      step.kernel.empty() ? nullptr : plan.find(step.kernel);
  const std::optional<ExtentExpression> &open =
      kernel ? kernel->openGrid : step.openBytes;
  if (!open)
    return kernel ? kernel->grid : step.bytes;
  std::string what = kernel ? "the blocks of kernel '" + kernel->name + "'"
                            : std::string("the bytes of a copy");
  std::optional<int64_t> amount = evaluate(*open, extents);
  if (!amount || *amount < 0)
    return Status::error("@" + entry.signature.name +
                         " is called with extents for which 64 bits do not "
                         "count " +
                         what);
  // Of any device.
  constexpr int64_t mostBlocks = (int64_t(1) << 31) - 1;
  if (kernel && *amount > mostBlocks)
    return Status::error("@" + entry.signature.name + " would launch " +
                         std::to_string(*amount) + " blocks of kernel '" +
                         kernel->name + "', where a grid has " +
                         std::to_string(mostBlocks) + " at most");
  if (!kernel)
    for (const LaunchOperand &operand : step.operands)
      if (bytesBehind(entry, operand, extents) < *amount)
        return Status::error("the plan of '" + entry.signature.name +
                             "' copies more than there is");
  return *amount;
}

Status PlanProgram::follow(DeviceSession &session, size_t index,
                           const void *const *arguments, void *const *results,
                           KernelProfile *profile,
                           const int64_t *extents) const {
  const LaunchEntry &entry = plan.entries[index];
  const Signature &signature = entry.signature;
  if (signature.isOpen() && !extents)
    return Status::error("@" + signature.name +
                         " has open extents, and none are given");
  std::optional<int64_t> bytes =
      memoryBytes(signature.workspaceBytes, signature.workspaceTerms, extents);
  if (!bytes)
    return Status::error("@" + signature.name +
                         " needs more workspace than 64 bits count");
  // Of all steps, before the first one runs.
  std::vector<int64_t> amounts;
  for (const LaunchStep &step : entry.steps) {
    Result<int64_t> amount = amountOf(entry, step, extents);
    if (!amount.ok())
      return amount.status();
    amounts.push_back(*amount);
  }
  Result<void *> workspace = session.allocate(*bytes);
  if (!workspace.ok())
    return workspace.status();
  auto once = [&] {
    return followOnce(session, entry, amounts, static_cast<char *>(*workspace),
                      arguments, results, profile, extents);
  };
  // Where values did not come back, the arguments are as they were.
  Status status = once();
  return status.isStorageError() ? once() : status;
}

Status PlanProgram::followOnce(DeviceSession &session, const LaunchEntry &entry,
                               const std::vector<int64_t> &amounts,
                               char *workspace, const void *const *arguments,
                               void *const *results, KernelProfile *profile,
                               const int64_t *extents) const {
  const Signature &signature = entry.signature;
  std::unique_ptr<DeviceRecords> records;
  if (signature.records > 0) {
    Result<std::unique_ptr<DeviceRecords>> made = session.records(signature);
    if (!made.ok())
      return made.status();
    records = std::move(*made);
  }
  auto memoryOf = [&](const LaunchOperand &operand) -> void * {
    auto at = static_cast<size_t>(operand.value);
    switch (operand.kind) {
    case LaunchOperand::Argument:
    case LaunchOperand::Scalar:
      return const_cast<void *>(arguments[at]);
    case LaunchOperand::Result:
      return results[at];
    case LaunchOperand::Workspace:
      return workspace + at;
    case LaunchOperand::Extent:
      return const_cast<int64_t *>(extents + at);
    case LaunchOperand::Number:
      return const_cast<int64_t *>(&operand.value);
    case LaunchOperand::OpenWorkspace:
      return workspace + offsetOf(entry, operand, extents);
    }
    return nullptr; // All kinds are listed.
  };
  using Clock = std::chrono::steady_clock;
  for (size_t i = 0; i < entry.steps.size(); ++i) {
    const LaunchStep &step = entry.steps[i];
    Clock::time_point start = Clock::now();
    auto finished = [&](const std::string &name, int64_t blocks) {
      if (profile)
        addTime(*profile, name, blocks,
                std::chrono::duration<double>(Clock::now() - start).count());
    };
    if (records)
      if (Status status = records->progress(); !status.ok())
        return status;
    if (step.transfer) {
      void *memory =
          step.transfer->hasMemory() ? memoryOf(step.operands[0]) : nullptr;
      if (Status status = records->transfer(*step.transfer, memory, step.bytes);
          !status.ok())
        return status;
      continue;
    }
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
                          ? session.store(to, from, amounts[i])
                          : session.copy(to, from, amounts[i]);
      if (!status.ok())
        return status;
      continue;
    }
    std::vector<DeviceSession::Argument> given;
    for (const LaunchOperand &operand : step.operands) {
      DeviceSession::Argument argument;
      if (operand.kind == LaunchOperand::Extent ||
          operand.kind == LaunchOperand::Number) {
        argument.number = memoryOf(operand);
        argument.element = ElementType::I64;
      } else if (operand.kind == LaunchOperand::Scalar) {
        argument.number = memoryOf(operand);
        argument.element =
            signature.arguments[static_cast<size_t>(operand.value)].element;
      } else {
        argument.memory = memoryOf(operand);
      }
      given.push_back(argument);
    }
    LaunchKernel kernel = *plan.find(step.kernel);
    kernel.grid = amounts[i];
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
                        KernelProfile *profile, const int64_t *extents) const {
  const Signature &signature = all[index];
  if (signature.isOpen() && !extents)
    return Status::error("@" + signature.name +
                         " has open extents, and none are given");
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
    int64_t bytes = bytesOf(signature.arguments[i], extents);
    Result<void *> memory = session.allocate(bytes);
    if (!memory.ok())
      return memory.status();
    if (Status status = session.upload(*memory, arguments[i], bytes);
        !status.ok())
      return status;
    inputs.push_back(*memory);
  }
  for (const ValueType &type : signature.results) {
    Result<void *> memory = session.allocate(bytesOf(type, extents));
    if (!memory.ok())
      return memory.status();
    outputs.push_back(*memory);
  }
  Status status =
      follow(session, index, inputs.data(), outputs.data(), profile, extents);
  if (!status.ok()) {
    // Nobody may take what is there for results.
    for (size_t i = 0; i < outputs.size(); ++i)
      if (int64_t bytes = bytesOf(signature.results[i], extents); bytes > 0)
        std::memset(results[i], 0xff, static_cast<size_t>(bytes));
    return status;
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (Status status = session.download(
            results[i], outputs[i], bytesOf(signature.results[i], extents));
        !status.ok())
      return status;
  return {};
}

} // namespace drawloom::runtime::cuda
