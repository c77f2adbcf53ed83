//===- LaunchPlan.cpp - what an entry launches, on which memory -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/LaunchPlan.h"
#include "codegen/ValueTypeJson.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
namespace json = llvm::json;

namespace drawloom::nvptx {

const LaunchKernel *LaunchPlan::find(StringRef name) const {
  for (const LaunchKernel &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

bool LaunchPlan::hasProducts() const {
  return llvm::any_of(entries, [](const LaunchEntry &entry) {
    return llvm::any_of(entry.steps, [](const LaunchStep &step) {
      return step.product.has_value();
    });
  });
}

static constexpr StringLiteral kindNames[] = {"argument", "result", "workspace",
                                              "scalar"};
json::Value toJson(const LaunchPlan &plan) {
  json::Array kernels, entries;
  for (const LaunchKernel &kernel : plan.kernels)
    kernels.push_back(json::Object{{"name", kernel.name},
                                   {"grid", kernel.grid},
                                   {"threads", kernel.threads},
                                   {"shared_bytes", kernel.sharedBytes}});
  for (const LaunchEntry &entry : plan.entries) {
    json::Array steps;
    for (const LaunchStep &step : entry.steps) {
      json::Array operands;
      for (const LaunchOperand &operand : step.operands)
        operands.push_back(
            json::Array{kindNames[operand.kind].str(), operand.value});
      json::Object object{{"operands", std::move(operands)}};
      if (step.product) {
        object["product"] = toJSON(*step.product);
        object["workspace_bytes"] = step.bytes;
      } else if (step.kernel.empty()) {
        object["copy_bytes"] = step.bytes;
      } else {
        object["kernel"] = step.kernel;
      }
      steps.push_back(std::move(object));
    }
    entries.push_back(
        json::Object{{"name", entry.signature.name},
                     {"arguments", json::Array(entry.signature.arguments)},
                     {"results", json::Array(entry.signature.results)},
                     {"workspace_bytes", entry.signature.workspaceBytes},
                     {"steps", std::move(steps)}});
  }
  return json::Object{{"kernels", std::move(kernels)},
                      {"entries", std::move(entries)}};
}

static bool fromJSON(const json::Value &value, LaunchOperand &operand,
                     json::Path path) {
  const json::Array *pair = value.getAsArray();
  if (!pair || pair->size() != 2)
    return path.report("expected a kind and a number"), false;
  std::optional<StringRef> kind = (*pair)[0].getAsString();
  std::optional<int64_t> number = (*pair)[1].getAsInteger();
  const auto *known = kind ? llvm::find(kindNames, *kind) : nullptr;
  if (!kind || known == std::end(kindNames) || !number || *number < 0)
    return path.report("expected a kind and a number"), false;
  operand.kind =
      static_cast<LaunchOperand::Kind>(known - std::begin(kindNames));
  operand.value = *number;
  return true;
}

static bool fromJSON(const json::Value &value, LaunchStep &step,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.mapOptional("kernel", step.kernel) &&
         map.mapOptional("copy_bytes", step.bytes) &&
         map.mapOptional("workspace_bytes", step.bytes) &&
         map.mapOptional("product", step.product) &&
         map.map("operands", step.operands);
}

static bool fromJSON(const json::Value &value, LaunchEntry &entry,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", entry.signature.name) &&
         map.map("arguments", entry.signature.arguments) &&
         map.map("results", entry.signature.results) &&
         map.map("workspace_bytes", entry.signature.workspaceBytes) &&
         map.map("steps", entry.steps);
}

static bool fromJSON(const json::Value &value, LaunchKernel &kernel,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", kernel.name) && map.map("grid", kernel.grid) &&
         map.map("threads", kernel.threads) &&
         map.map("shared_bytes", kernel.sharedBytes);
}

static bool canRun(const LaunchPlan &plan, const LaunchStep &step) {
  if (const std::optional<Product> &product = step.product)
    return step.kernel.empty() &&
           step.operands.size() == 4u + product->addend + product->bias &&
           llvm::none_of(step.operands, [](const LaunchOperand &operand) {
             return operand.kind == LaunchOperand::Scalar;
           });
  return step.kernel.empty() ? step.operands.size() == 2
                             : plan.find(step.kernel) != nullptr;
}

llvm::Expected<LaunchPlan> planFromJson(const json::Value &value) {
  LaunchPlan plan;
  json::Path::Root root("plan");
  json::ObjectMapper map(value, root);
  if (!map || !map.map("kernels", plan.kernels) ||
      !map.map("entries", plan.entries))
    return root.getError();
  for (const LaunchEntry &entry : plan.entries)
    for (const LaunchStep &step : entry.steps)
      if (!canRun(plan, step))
        return llvm::createStringError("the plan of '" + entry.signature.name +
                                       "' has a step that cannot be run");
  return plan;
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
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr("nvvm.kernel"))
      continue;
    auto number = [&](StringRef name, int64_t otherwise) {
      auto attribute = function->getAttrOfType<IntegerAttr>(name);
      return attribute ? attribute.getInt() : otherwise;
    };
    kernels.push_back(
        json::Object{{"name", function.getName().str()},
                     {"grid", number(gridAttr, 1)},
                     {"threads", 32 * number(warpsAttr, 1)},
                     {"shared_bytes", number(sharedBytesAttr, 0)}});
  }
  object["kernels"] = std::move(kernels);
  return planFromJson(*value);
}

} // namespace drawloom::nvptx
