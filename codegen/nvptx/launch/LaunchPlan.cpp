//===- LaunchPlan.cpp - what an entry launches, on which memory -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/launch/LaunchPlan.h"
#include "codegen/ValueTypeJson.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/launch/OpenKernels.h"
#include "drawloom/OpenExtent.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
namespace json = llvm::json;

namespace drawloom::nvptx {

json::Value toJson(const LaunchPlan &plan) {
  json::Array kernels, entries;
  for (const LaunchKernel &kernel : plan.kernels)
    kernels.push_back(
        json::Object{{"name", kernel.name},
                     {"grid", kernel.openGrid ? toJson(*kernel.openGrid)
                                              : json::Value(kernel.grid)},
                     {"threads", kernel.threads},
                     {"shared_bytes", kernel.sharedBytes}});
  for (const LaunchEntry &entry : plan.entries) {
    json::Array steps;
    for (const LaunchStep &step : entry.steps) {
      json::Array operands;
      for (const LaunchOperand &operand : step.operands) {
        json::Array list{runtime::cuda::launchOperandKinds[operand.kind],
                         operand.value};
        if (operand.kind == LaunchOperand::OpenWorkspace)
          list.push_back(operand.term);
        operands.push_back(std::move(list));
      }
      json::Object object{{"operands", std::move(operands)}};
      if (step.transfer) {
        object["transfer"] =
            runtime::cuda::launchTransferKinds[step.transfer->kind];
        object["record"] = step.transfer->record;
        object["bytes"] = step.bytes;
      } else if (step.product) {
        object["product"] = toJSON(*step.product);
        object["workspace_bytes"] = step.bytes;
      } else if (step.kernel.empty()) {
        object["copy_bytes"] =
            step.openBytes ? toJson(*step.openBytes) : json::Value(step.bytes);
      } else {
        object["kernel"] = step.kernel;
      }
      steps.push_back(std::move(object));
    }
    json::Object object{{"name", entry.signature.name},
                        {"arguments", json::Array(entry.signature.arguments)},
                        {"results", json::Array(entry.signature.results)},
                        {"workspace_bytes", entry.signature.workspaceBytes},
                        {"steps", std::move(steps)}};
    if (entry.signature.isOpen()) {
      json::Array terms;
      for (const MemoryTerm &term : entry.signature.workspaceTerms)
        terms.push_back(json::Object{{"bytes", term.bytes},
                                     {"extents", json::Array(term.extents)}});
      object["extents"] = entry.signature.openExtents;
      object["workspace_terms"] = std::move(terms);
    }
    if (entry.signature.records > 0) {
      object["records"] = entry.signature.records;
      object["record_bytes"] = entry.signature.recordBytes;
    }
    entries.push_back(std::move(object));
  }
  return json::Object{{"kernels", std::move(kernels)},
                      {"entries", std::move(entries)}};
}

/// Gives an entry, and the kernels that it launches, the extents that all calls
/// have.
static llvm::Error bindEntry(LaunchPlan &plan, LaunchEntry &entry,
                             ArrayRef<int64_t> extents) {
  Signature open = entry.signature;
  auto refuse = [&] {
    return llvm::createStringError(
        "@" + open.name +
        " is compiled for extents whose memory or blocks 64 bits do not count");
  };
  auto close = [&](std::vector<ValueType> &types) {
    for (ValueType &type : types)
      for (int64_t &extent : type.shape)
        if (extent < 0)
          extent = OpenExtent::ofShape(extent).in(extents.data());
  };
  auto number = [&](std::optional<ExtentExpression> &expression,
                    int64_t &value) {
    if (!expression)
      return true;
    std::optional<int64_t> known =
        runtime::cuda::evaluate(*expression, extents.data());
    expression.reset();
    value = known.value_or(-1);
    return value >= 0;
  };
  std::optional<int64_t> bytes = runtime::memoryBytes(
      open.workspaceBytes, open.workspaceTerms, extents.data());
  if (!bytes)
    return refuse();
  for (LaunchStep &step : entry.steps) {
    for (LaunchOperand &operand : step.operands) {
      if (operand.kind == LaunchOperand::Extent)
        operand = {LaunchOperand::Number, extents[operand.value]};
      else if (operand.kind == LaunchOperand::OpenWorkspace)
        operand = {LaunchOperand::Workspace,
                   runtime::cuda::offsetOf(entry, operand, extents.data())};
    }
    if (!number(step.openBytes, step.bytes))
      return refuse();
    for (LaunchKernel &kernel : plan.kernels)
      if (kernel.name == step.kernel && !number(kernel.openGrid, kernel.grid))
        return refuse();
  }
  close(entry.signature.arguments);
  close(entry.signature.results);
  entry.signature.workspaceBytes = *bytes;
  entry.signature.workspaceTerms.clear();
  entry.signature.openExtents = 0;
  return llvm::Error::success();
}

llvm::Expected<LaunchPlan> planOf(ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(planAttr);
  if (!text)
    return llvm::createStringError(
        "the module has no '" + planAttr +
        "': it does not come from a program of Drawloom's");
  llvm::Expected<json::Value> value = json::parse(text.getValue());
  if (!value)
    return value.takeError();
  json::Object &object = *value->getAsObject();
  json::Array kernels;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (!function->hasAttr("nvvm.kernel") && !function->hasAttr(kernelAttr))
      continue;
    auto number = [&](StringRef name, int64_t otherwise) {
      auto attribute = function->getAttrOfType<IntegerAttr>(name);
      return attribute ? attribute.getInt() : otherwise;
    };
    json::Value grid = number(gridAttr, 1);
    if (auto open = function->getAttrOfType<StringAttr>(openGridAttr)) {
      llvm::Expected<json::Value> expression = json::parse(open.getValue());
      if (!expression)
        return expression.takeError();
      grid = std::move(*expression);
    }
    kernels.push_back(
        json::Object{{"name", function.getName().str()},
                     {"grid", std::move(grid)},
                     {"threads", 32 * number(warpsAttr, 1)},
                     {"shared_bytes", number(sharedBytesAttr, 0)}});
  }
  object["kernels"] = std::move(kernels);
  std::string whole;
  llvm::raw_string_ostream(whole) << *value;
  runtime::Result<LaunchPlan> plan = runtime::cuda::parsePlan(whole);
  if (!plan.ok())
    return llvm::createStringError(plan.message());
  if (auto bound = module->getAttrOfType<DictionaryAttr>(boundExtentsAttr))
    for (LaunchEntry &entry : plan->entries)
      if (auto extents = bound.getAs<DenseI64ArrayAttr>(entry.signature.name);
          extents && extents.size() == entry.signature.openExtents)
        if (llvm::Error error = bindEntry(*plan, entry, extents))
          return std::move(error);
  return std::move(*plan);
}

} // namespace drawloom::nvptx
