//===- LaunchPlan.cpp - reading launch plans ------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/LaunchPlan.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace drawloom::runtime::cuda {

const LaunchKernel *LaunchPlan::find(const std::string &name) const {
  for (const LaunchKernel &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

bool LaunchPlan::hasProducts() const {
  return std::any_of(
      entries.begin(), entries.end(), [](const LaunchEntry &entry) {
        return std::any_of(
            entry.steps.begin(), entry.steps.end(),
            [](const LaunchStep &step) { return step.product.has_value(); });
      });
}

int64_t bytesBehind(const LaunchEntry &entry, const LaunchOperand &operand) {
  const Signature &signature = entry.signature;
  auto at = static_cast<size_t>(operand.value);
  switch (operand.kind) {
  case LaunchOperand::Argument:
  case LaunchOperand::Scalar:
    return signature.arguments[at].bytes();
  case LaunchOperand::Result:
    return signature.results[at].bytes();
  case LaunchOperand::Workspace:
    return signature.workspaceBytes - operand.value;
  }
  return 0; // All kinds are listed.
}

namespace {
/// Each function is false where a value is missing or of the wrong kind.
class Reader {
public:
  std::string problem;

  bool read(const json &object, const char *key, std::string &text) {
    const json *value = member(object, key);
    if (!value || !value->is_string())
      return complain(key);
    text = value->get<std::string>();
    return true;
  }
  /// Not negative.
  bool read(const json &object, const char *key, int64_t &number) {
    const json *value = member(object, key);
    return (value && readNumber(*value, number)) || complain(key);
  }
  template <typename T, typename Fn>
  bool read(const json &object, const char *key, std::vector<T> &list,
            Fn readOne) {
    const json *values = member(object, key);
    if (!values || !values->is_array())
      return complain(key);
    return std::all_of(values->begin(), values->end(), [&](const json &value) {
      return readOne(value, list.emplace_back()) || complain(key);
    });
  }
  bool has(const json &object, const char *key) {
    return member(object, key) != nullptr;
  }

  bool readType(const json &value, ValueType &type) {
    int64_t element = 0, bytes = 0;
    if (!read(value, "element", element) ||
        element > static_cast<int64_t>(ElementType::I1) ||
        !read(value, "shape", type.shape, readNumber))
      return complain("element");
    type.element = static_cast<ElementType>(element);
    bytes = elementBytes(type.element);
    return std::none_of(type.shape.begin(), type.shape.end(),
                        [&](int64_t extent) {
                          return __builtin_mul_overflow(
                              bytes, std::max<int64_t>(extent, 1), &bytes);
                        }) ||
           complain("shape");
  }
  bool readProduct(const json &value, Product &product) {
    product.batch = 0; // As all that is absent.
    for (const ProductNumber &field : productNumbers)
      if (has(value, field.name) &&
          !read(value, field.name, product.*field.field))
        return false;
    for (const ProductFlag &field : productFlags)
      if (const json *flag = member(value, field.name)) {
        if (!flag->is_boolean())
          return complain(field.name);
        product.*field.field = flag->get<bool>();
      }
    for (const ProductType &field : productTypes) {
      std::string name;
      if (!read(value, field.name, name))
        return false;
      std::optional<Kind> kind = productKind(name);
      if (!kind)
        return complain(field.name);
      product.*field.field = *kind;
    }
    return checkProduct(product).empty() || complain("product");
  }
  bool readOperand(const json &value, LaunchOperand &operand) {
    if (!value.is_array() || value.size() != 2 || !value[0].is_string() ||
        !readNumber(value[1], operand.value))
      return complain("operands");
    std::string kind = value[0].get<std::string>();
    for (int i = 0; i < 4; ++i)
      if (kind == launchOperandKinds[i]) {
        operand.kind = static_cast<LaunchOperand::Kind>(i);
        return true;
      }
    return complain("operands");
  }
  bool readStep(const json &value, LaunchStep &step) {
    if (has(value, "kernel") && !read(value, "kernel", step.kernel))
      return false;
    for (const char *key : {"copy_bytes", "workspace_bytes"})
      if (has(value, key) && !read(value, key, step.bytes))
        return false;
    if (has(value, "product") &&
        !readProduct(*member(value, "product"), step.product.emplace()))
      return false;
    return read(value, "operands", step.operands,
                [&](const json &one, LaunchOperand &operand) {
                  return readOperand(one, operand);
                });
  }
  bool readEntry(const json &value, LaunchEntry &entry) {
    auto type = [&](const json &one, ValueType &into) {
      return readType(one, into);
    };
    Signature &signature = entry.signature;
    return read(value, "name", signature.name) &&
           read(value, "arguments", signature.arguments, type) &&
           read(value, "results", signature.results, type) &&
           read(value, "workspace_bytes", signature.workspaceBytes) &&
           read(value, "steps", entry.steps,
                [&](const json &one, LaunchStep &step) {
                  return readStep(one, step);
                });
  }
  bool readKernel(const json &value, LaunchKernel &kernel) {
    return read(value, "name", kernel.name) &&
           read(value, "grid", kernel.grid) &&
           read(value, "threads", kernel.threads) &&
           read(value, "shared_bytes", kernel.sharedBytes);
  }

private:
  bool complain(const char *key) {
    if (problem.empty())
      problem = key;
    return false;
  }
  static const json *member(const json &object, const char *key) {
    if (!object.is_object())
      return nullptr;
    auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }
  static bool readNumber(const json &value, int64_t &number) {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() &&
         value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)))
      return false;
    number = value.get<int64_t>();
    return number >= 0;
  }
};
} // namespace

static bool exists(const LaunchEntry &entry, const LaunchOperand &operand) {
  const Signature &signature = entry.signature;
  auto at = static_cast<size_t>(operand.value);
  switch (operand.kind) {
  case LaunchOperand::Argument:
  case LaunchOperand::Scalar:
    return at < signature.arguments.size();
  case LaunchOperand::Result:
    return at < signature.results.size();
  case LaunchOperand::Workspace:
    return operand.value <= signature.workspaceBytes;
  }
  return false; // All kinds are listed.
}

/// Bytes that a product touches from an operand's address on; the largest
/// number where there are more than that.
static int64_t bytesOf(const Product &p, int64_t rows, int64_t columns,
                       int64_t stride, int64_t batch, Kind kind) {
  int64_t elements = 0, more = 0, bytes = 0;
  if (rows == 0 || columns == 0 || p.batch == 0)
    return 0;
  bool large =
      __builtin_mul_overflow(rows - 1, stride, &elements) ||
      __builtin_add_overflow(elements, columns, &elements) ||
      __builtin_mul_overflow(p.batch - 1, batch, &more) ||
      __builtin_add_overflow(elements, more, &elements) ||
      __builtin_mul_overflow(elements, kind == Kind::F32 ? 4 : 2, &bytes);
  return large ? INT64_MAX : bytes;
}

static bool canMultiply(const LaunchEntry &entry, const LaunchStep &step) {
  const Product &p = *step.product;
  if (!step.kernel.empty() || step.operands.size() != 4u + p.addend + p.bias)
    return false;
  std::vector<int64_t> needed{
      bytesOf(p, p.transposeLeft ? p.k : p.m, p.transposeLeft ? p.m : p.k,
              p.leftStride, p.leftBatch, p.operands),
      bytesOf(p, p.transposeRight ? p.n : p.k, p.transposeRight ? p.k : p.n,
              p.rightStride, p.rightBatch, p.operands)};
  if (p.addend)
    needed.push_back(
        bytesOf(p, p.m, p.n, p.addendStride, p.addendBatch, p.result));
  if (p.bias)
    needed.push_back(bytesOf(p, 1, p.n, p.n, 0, p.result));
  needed.push_back(
      bytesOf(p, p.m, p.n, p.resultStride, p.resultBatch, p.result));
  needed.push_back(step.bytes);
  for (size_t i = 0; i < needed.size(); ++i)
    if (step.operands[i].kind == LaunchOperand::Scalar ||
        bytesBehind(entry, step.operands[i]) < needed[i])
      return false;
  return true;
}

static bool canRun(const LaunchPlan &plan, const LaunchEntry &entry,
                   const LaunchStep &step) {
  if (!std::all_of(
          step.operands.begin(), step.operands.end(),
          [&](const LaunchOperand &operand) { return exists(entry, operand); }))
    return false;
  if (step.product)
    return canMultiply(entry, step);
  if (!step.kernel.empty())
    return plan.find(step.kernel) != nullptr;
  return step.operands.size() == 2 &&
         (step.operands[1].kind == LaunchOperand::Result ||
          step.operands[1].kind == LaunchOperand::Workspace) &&
         bytesBehind(entry, step.operands[0]) >= step.bytes &&
         bytesBehind(entry, step.operands[1]) >= step.bytes;
}

Result<LaunchPlan> parsePlan(const std::string &text) {
  json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  LaunchPlan plan;
  Reader reader;
  if (root.is_discarded() ||
      !reader.read(root, "kernels", plan.kernels,
                   [&](const json &one, LaunchKernel &kernel) {
                     return reader.readKernel(one, kernel);
                   }) ||
      !reader.read(root, "entries", plan.entries,
                   [&](const json &one, LaunchEntry &entry) {
                     return reader.readEntry(one, entry);
                   }))
    return Status::error("its launch plan is damaged" +
                         (reader.problem.empty()
                              ? std::string(": it is no JSON")
                              : ": '" + reader.problem + "'"));
  for (const LaunchEntry &entry : plan.entries)
    for (const LaunchStep &step : entry.steps)
      if (!canRun(plan, entry, step))
        return Status::error("the plan of '" + entry.signature.name +
                             "' has a step that cannot be run");
  return plan;
}

} // namespace drawloom::runtime::cuda
