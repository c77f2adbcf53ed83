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
        operands.push_back(json::Array{
            runtime::cuda::launchOperandKinds[operand.kind], operand.value});
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
  std::string whole;
  llvm::raw_string_ostream(whole) << *value;
  runtime::Result<LaunchPlan> plan = runtime::cuda::parsePlan(whole);
  if (!plan.ok())
    return llvm::createStringError(plan.message());
  return std::move(*plan);
}

} // namespace drawloom::nvptx
