//===- LaunchPlan.cpp - reading launch plans ------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/LaunchPlan.h"
#include "drawloom/OpenExtent.h"
#include <algorithm>
#include <iterator>
#include <map>
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

std::optional<int64_t> evaluate(const ExtentExpression &expression,
                                const int64_t *extents) {
  if (expression.kind == ExtentExpression::Number)
    return expression.value;
  if (expression.kind == ExtentExpression::Extent)
    return extents[expression.value];
  std::optional<int64_t> x = evaluate(expression.operands[0], extents),
                         y = evaluate(expression.operands[1], extents);
  if (!x || !y)
    return std::nullopt;
  int64_t value = 0;
  bool fits = true;
  switch (expression.kind) {
  case ExtentExpression::Number:
  case ExtentExpression::Extent:
    break;
  case ExtentExpression::Add:
    fits = !__builtin_add_overflow(*x, *y, &value);
    break;
  case ExtentExpression::Sub:
    fits = !__builtin_sub_overflow(*x, *y, &value);
    break;
  case ExtentExpression::Mul:
    fits = !__builtin_mul_overflow(*x, *y, &value);
    break;
  case ExtentExpression::Div:
  case ExtentExpression::Rem:
    fits = *x >= 0 && *y > 0;
    if (fits)
      value = expression.kind == ExtentExpression::Div ? *x / *y : *x % *y;
    break;
  case ExtentExpression::Min:
    value = std::min(*x, *y);
    break;
  case ExtentExpression::Max:
    value = std::max(*x, *y);
    break;
  }
  return fits ? std::optional(value) : std::nullopt;
}

int64_t bytesOf(const ValueType &type, const int64_t *extents) {
  if (!type.isOpen())
    return type.bytes();
  if (!extents)
    return -1;
  int64_t bytes = elementBytes(type.element);
  for (int64_t extent : type.shape)
    bytes *= extent < 0 ? OpenExtent::ofShape(extent).in(extents) : extent;
  return bytes;
}

/// What a term multiplies.
static int64_t countOf(const MemoryTerm &term, const int64_t *extents) {
  return memoryBytes(0, {{1, term.extents}}, extents).value_or(0);
}

int64_t offsetOf(const LaunchEntry &entry, const LaunchOperand &operand,
                 const int64_t *extents) {
  const Signature &signature = entry.signature;
  const std::vector<MemoryTerm> &terms = signature.workspaceTerms;
  std::vector<MemoryTerm> before(terms.begin(), terms.begin() + operand.term);
  return memoryBytes(signature.workspaceBytes, before, extents).value_or(0) +
         countOf(terms[static_cast<size_t>(operand.term)], extents) *
             operand.value;
}

int64_t bytesBehind(const LaunchEntry &entry, const LaunchOperand &operand,
                    const int64_t *extents) {
  const Signature &signature = entry.signature;
  auto at = static_cast<size_t>(operand.value);
  switch (operand.kind) {
  case LaunchOperand::Argument:
  case LaunchOperand::Scalar:
    return bytesOf(signature.arguments[at], extents);
  case LaunchOperand::Result:
    return bytesOf(signature.results[at], extents);
  case LaunchOperand::Workspace:
    return signature.workspaceBytes - operand.value;
  case LaunchOperand::Extent:
  case LaunchOperand::Number:
    return static_cast<int64_t>(sizeof(int64_t));
  case LaunchOperand::OpenWorkspace: {
    if (!extents)
      return -1;
    const MemoryTerm &term =
        signature.workspaceTerms[static_cast<size_t>(operand.term)];
    return countOf(term, extents) * (term.bytes - operand.value);
  }
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
  /// A number, or what extents say.
  bool read(const json &object, const char *key, int64_t &number,
            std::optional<ExtentExpression> &expression) {
    const json *value = member(object, key);
    if (!value || !value->is_array())
      return read(object, key, number);
    return readExpression(*value, expression.emplace(), 0) || complain(key);
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

  /// Of an entry with so many open extents.
  bool readType(const json &value, ValueType &type, int64_t open) {
    int64_t element = 0, bytes = 0;
    if (!read(value, "element", element) ||
        element > static_cast<int64_t>(ElementType::I1) ||
        !read(
            value, "shape", type.shape, [&](const json &one, int64_t &extent) {
              if (!readNumber(one, extent, std::numeric_limits<int64_t>::min()))
                return false;
              OpenExtent known = OpenExtent::ofShape(extent);
              return extent >= 0 || (known.number < open &&
                                     known.more <= OpenExtent::mostMore);
            }))
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
  bool readExpression(const json &value, ExtentExpression &into, int depth) {
    constexpr int mostDepth = 200;
    if (value.is_number_integer())
      return readNumber(value, into.value);
    if (depth > mostDepth || !value.is_array() || value.size() < 2 ||
        !value[0].is_string())
      return false;
    std::string name = value[0].get<std::string>();
    if (name == "extent") {
      into.kind = ExtentExpression::Extent;
      return value.size() == 2 && readNumber(value[1], into.value);
    }
    for (size_t i = 0; i < std::size(extentOperations); ++i) {
      if (name != extentOperations[i])
        continue;
      into.kind = static_cast<ExtentExpression::Kind>(
          i + static_cast<size_t>(ExtentExpression::Add));
      into.operands.resize(2);
      return value.size() == 3 &&
             readExpression(value[1], into.operands[0], depth + 1) &&
             readExpression(value[2], into.operands[1], depth + 1);
    }
    return false;
  }
  bool readTerm(const json &value, MemoryTerm &term) {
    return read(value, "bytes", term.bytes) &&
           read(value, "extents", term.extents,
                [&](const json &one, int64_t &number) {
                  return readNumber(one, number);
                });
  }
  bool readOperand(const json &value, LaunchOperand &operand) {
    if (!value.is_array() || value.size() < 2 || !value[0].is_string() ||
        !readNumber(value[1], operand.value))
      return complain("operands");
    std::string kind = value[0].get<std::string>();
    for (size_t i = 0; i < std::size(launchOperandKinds); ++i)
      if (kind == launchOperandKinds[i]) {
        operand.kind = static_cast<LaunchOperand::Kind>(i);
        if (operand.kind != LaunchOperand::OpenWorkspace)
          return value.size() == 2 || complain("operands");
        return (value.size() == 3 && readNumber(value[2], operand.term)) ||
               complain("operands");
      }
    return complain("operands");
  }
  bool readTransfer(const json &value, LaunchTransfer &transfer) {
    std::string kind;
    if (!read(value, "transfer", kind) ||
        !read(value, "record", transfer.record))
      return false;
    const auto *known = std::find(std::begin(launchTransferKinds),
                                  std::end(launchTransferKinds), kind);
    transfer.kind = static_cast<LaunchTransfer::Kind>(
        known - std::begin(launchTransferKinds));
    return known != std::end(launchTransferKinds) || complain("transfer");
  }
  bool readStep(const json &value, LaunchStep &step) {
    if (has(value, "transfer") &&
        (!readTransfer(value, step.transfer.emplace()) ||
         !read(value, "bytes", step.bytes)))
      return false;
    if (has(value, "kernel") && !read(value, "kernel", step.kernel))
      return false;
    if (has(value, "workspace_bytes") &&
        !read(value, "workspace_bytes", step.bytes))
      return false;
    if (has(value, "copy_bytes") &&
        !read(value, "copy_bytes", step.bytes, step.openBytes))
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
    Signature &signature = entry.signature;
    auto type = [&](const json &one, ValueType &into) {
      return readType(one, into, signature.openExtents);
    };
    // What is the same for all calls has none of these.
    if (has(value, "extents") &&
        (!read(value, "extents", signature.openExtents) ||
         !read(value, "workspace_terms", signature.workspaceTerms,
               [&](const json &one, MemoryTerm &term) {
                 return readTerm(one, term);
               })))
      return false;
    if (has(value, "records") &&
        (!read(value, "records", signature.records) ||
         !read(value, "record_bytes", signature.recordBytes)))
      return false;
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
           read(value, "grid", kernel.grid, kernel.openGrid) &&
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
  static bool readNumber(const json &value, int64_t &number,
                         int64_t least = 0) {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() &&
         value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)))
      return false;
    number = value.get<int64_t>();
    return number >= least;
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
  case LaunchOperand::Extent:
    return operand.value < signature.openExtents;
  case LaunchOperand::Number:
    return true;
  case LaunchOperand::OpenWorkspace: {
    auto term = static_cast<size_t>(operand.term);
    return term < signature.workspaceTerms.size() &&
           operand.value <= signature.workspaceTerms[term].bytes;
  }
  }
  return false; // All kinds are listed.
}

/// Whether all extents that it asks for are there.
static bool exists(const ExtentExpression &expression, int64_t open) {
  if (expression.kind == ExtentExpression::Extent)
    return expression.value < open;
  return std::all_of(
      expression.operands.begin(), expression.operands.end(),
      [&](const ExtentExpression &one) { return exists(one, open); });
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
        step.operands[i].kind == LaunchOperand::Extent ||
        step.operands[i].kind == LaunchOperand::Number ||
        bytesBehind(entry, step.operands[i]) < needed[i])
      return false;
  return true;
}

static bool canTransfer(const LaunchEntry &entry, const LaunchStep &step) {
  const LaunchTransfer &transfer = *step.transfer;
  if (!step.kernel.empty() || step.product ||
      transfer.record >= entry.signature.records ||
      step.operands.size() != (transfer.hasMemory() ? 1 : 0))
    return false;
  if (!transfer.hasMemory())
    return true;
  LaunchOperand::Kind kind = step.operands.front().kind;
  return (kind == LaunchOperand::Workspace || kind == LaunchOperand::Result ||
          (kind == LaunchOperand::Argument &&
           transfer.kind == LaunchTransfer::Store)) &&
         bytesBehind(entry, step.operands.front()) >= step.bytes;
}

static bool canRun(const LaunchPlan &plan, const LaunchEntry &entry,
                   const LaunchStep &step) {
  if (!std::all_of(
          step.operands.begin(), step.operands.end(),
          [&](const LaunchOperand &operand) { return exists(entry, operand); }))
    return false;
  if (step.transfer)
    return canTransfer(entry, step);
  if (step.product)
    return canMultiply(entry, step);
  int64_t open = entry.signature.openExtents;
  if (!step.kernel.empty()) {
    const LaunchKernel *kernel = plan.find(step.kernel);
    return kernel && (!kernel->openGrid || exists(*kernel->openGrid, open));
  }
  if (step.operands.size() != 2 ||
      step.operands[0].kind == LaunchOperand::Extent ||
      step.operands[0].kind == LaunchOperand::Number ||
      (step.operands[1].kind != LaunchOperand::Result &&
       step.operands[1].kind != LaunchOperand::Workspace &&
       step.operands[1].kind != LaunchOperand::OpenWorkspace))
    return false;
  // Each call compares bytes that grow.
  if (step.openBytes)
    return exists(*step.openBytes, open);
  return bytesBehind(entry, step.operands[0]) >= step.bytes &&
         bytesBehind(entry, step.operands[1]) >= step.bytes;
}

/// Whether each record is stored, fetched before each time that it is awaited,
/// and dropped, and has the same bytes throughout.
static bool areTransfersInOrder(const LaunchEntry &entry) {
  struct Record {
    enum { None, Stored, Fetched, Dropped } state = None;
    int64_t bytes = 0;
  };
  std::map<int64_t, Record> records;
  for (const LaunchStep &step : entry.steps) {
    if (!step.transfer)
      continue;
    Record &record = records[step.transfer->record];
    bool isThere = record.state == Record::Stored;
    switch (step.transfer->kind) {
    case LaunchTransfer::Store:
      if (record.state != Record::None)
        return false;
      record = {Record::Stored, step.bytes};
      break;
    case LaunchTransfer::Fetch:
      if (!isThere || record.bytes != step.bytes)
        return false;
      record.state = Record::Fetched;
      break;
    case LaunchTransfer::Await:
      if (record.state != Record::Fetched)
        return false;
      record.state = Record::Stored;
      break;
    case LaunchTransfer::Release:
      if (!isThere && record.state != Record::Fetched)
        return false;
      break;
    case LaunchTransfer::Load:
      if (!isThere)
        return false;
      break;
    case LaunchTransfer::Drop:
      if (!isThere)
        return false;
      record.state = Record::Dropped;
      break;
    }
  }
  return true;
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
    for (const MemoryTerm &term : entry.signature.workspaceTerms)
      for (int64_t number : term.extents)
        if (number >= entry.signature.openExtents)
          return Status::error("the plan of '" + entry.signature.name +
                               "' needs workspace for an extent that there "
                               "is not");
  for (const LaunchEntry &entry : plan.entries)
    if (!areTransfersInOrder(entry))
      return Status::error("the plan of '" + entry.signature.name +
                           "' has transfers that do not go together");
  for (const LaunchEntry &entry : plan.entries)
    for (const LaunchStep &step : entry.steps)
      if (!canRun(plan, entry, step))
        return Status::error("the plan of '" + entry.signature.name +
                             "' has a step that cannot be run");
  return plan;
}

} // namespace drawloom::runtime::cuda
