//===- Schedule.cpp - how a block program is cut --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/schedule/Schedule.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
namespace json = llvm::json;

namespace drawloom::nvptx {

static constexpr llvm::StringLiteral kernelsKey = "kernels";

/// "; did you mean 'warps'?" where one of the names is near.
static std::string nearest(StringRef given, ArrayRef<StringRef> names) {
  StringRef best;
  unsigned least = std::max<size_t>(2, given.size() / 2);
  for (StringRef name : names)
    if (unsigned distance = given.edit_distance(name); distance <= least) {
      best = name;
      least = distance - (distance > 0);
    }
  return best.empty() ? "" : ("; did you mean '" + best + "'?").str();
}

/// Puts a number in its place, or says why it cannot be there.
static llvm::Error set(Schedule &schedule, StringRef key, int64_t value) {
  auto outside = [&](const Twine &range) {
    return llvm::createStringError("a schedule's " + key + " cannot be " +
                                   Twine(value) + ": " + range);
  };
  if (key == "rows") {
    if (value < 1)
      return outside("a tile has one row at least");
    schedule.rows = value;
  } else if (key == "warps") {
    if (value < 1 || value > 32 || !llvm::isPowerOf2_64(value))
      return outside("a block has 1, 2, 4, 8, 16 or 32");
    schedule.warps = value;
  } else if (key == "staging") {
    if (value < 0 || value > 232448)
      return outside("a block has 0 to 232448 bytes of shared memory");
    schedule.staging = value;
  } else {
    return llvm::createStringError("a schedule has no '" + key +
                                   "', but rows, warps and staging" +
                                   nearest(key, {"rows", "warps", "staging"}));
  }
  return llvm::Error::success();
}

llvm::Expected<Schedule> readSchedule(DictionaryAttr attribute) {
  Schedule schedule;
  if (!attribute)
    return schedule;
  for (NamedAttribute entry : attribute) {
    if (entry.getName() == kernelsKey)
      continue;
    auto value = dyn_cast<IntegerAttr>(entry.getValue());
    if (!value)
      return llvm::createStringError("a schedule's " +
                                     entry.getName().strref() + " is a number");
    if (llvm::Error error = set(schedule, entry.getName(), value.getInt()))
      return error;
  }
  return schedule;
}

DictionaryAttr toAttribute(const Schedule &schedule, MLIRContext *context) {
  Builder builder(context);
  SmallVector<NamedAttribute> entries;
  auto add = [&](StringRef name, int64_t value) {
    entries.push_back(
        builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
  };
  if (schedule.rows)
    add("rows", schedule.rows);
  if (schedule.staging)
    add("staging", *schedule.staging);
  if (schedule.warps)
    add("warps", schedule.warps);
  return builder.getDictionaryAttr(entries);
}

Schedule merge(const Schedule &over, const Schedule &under) {
  Schedule result = under;
  if (over.rows)
    result.rows = over.rows;
  if (over.warps)
    result.warps = over.warps;
  if (over.staging)
    result.staging = over.staging;
  return result;
}

llvm::Error applySchedules(ModuleOp module, StringRef text, StringRef file) {
  auto wrong = [&](const Twine &what) {
    return llvm::createStringError("the schedules of '" + file + "': " + what);
  };
  llvm::Expected<json::Value> parsed = json::parse(text);
  if (!parsed)
    return wrong("no JSON: " + llvm::toString(parsed.takeError()));
  const json::Object *all = parsed->getAsObject();
  if (!all)
    return wrong("expected an object by functions and kernels");
  SmallVector<StringRef> names;
  for (auto function : module.getOps<func::FuncOp>())
    names.push_back(function.getName());

  std::map<std::string, Schedule> functions;
  std::map<std::string, std::map<std::string, Schedule>> kernels;
  for (const auto &[key, value] : *all) {
    StringRef name = key;
    const json::Object *entries = value.getAsObject();
    if (!entries)
      return wrong("what it says of '" + name + "' is no object");
    Schedule schedule;
    for (const auto &[inner, number] : *entries) {
      // What is printed beside a schedule.
      if (StringRef(inner) == "predicted" || StringRef(inner) == "alternatives")
        continue;
      std::optional<int64_t> given = number.getAsInteger();
      if (!given)
        return wrong("'" + StringRef(inner) + "' of '" + name +
                     "' is no number");
      if (llvm::Error error = set(schedule, inner, *given))
        return wrong("'" + name + "': " + llvm::toString(std::move(error)));
    }
    if (llvm::is_contained(names, name)) {
      functions[name.str()] = schedule;
      continue;
    }
    auto [owner, number] = name.rsplit('_');
    if (!llvm::is_contained(names, owner) ||
        !llvm::all_of(number, llvm::isDigit) || number.empty())
      return wrong("there is no function '" + name + "'" +
                   nearest(name, names));
    if (schedule.rows)
      return wrong("rows are those of all tiles of a function: say them of '" +
                   owner + "', not of its kernel '" + name + "'");
    kernels[owner.str()][name.str()] = schedule;
  }
  for (auto function : module.getOps<func::FuncOp>()) {
    std::string name = function.getName().str();
    if (!functions.count(name) && !kernels.count(name))
      continue;
    Builder builder(module.getContext());
    NamedAttrList list(toAttribute(functions[name], module.getContext()));
    SmallVector<NamedAttribute> inner;
    for (auto &[kernel, schedule] : kernels[name])
      inner.push_back(builder.getNamedAttr(
          kernel, toAttribute(schedule, module.getContext())));
    if (!inner.empty())
      list.append(kernelsKey, builder.getDictionaryAttr(inner));
    function->setAttr(scheduleAttr, list.getDictionary(module.getContext()));
  }
  return llvm::Error::success();
}

llvm::Error applyScheduleFile(ModuleOp module, StringRef path) {
  if (path.empty())
    return llvm::Error::success();
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return llvm::createStringError(
        "the schedules of '" + path +
        "' cannot be read: " + file.getError().message());
  return applySchedules(module, (*file)->getBuffer(), path);
}

static json::Value toJson(Attribute attribute) {
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getInt();
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue();
  json::Object object;
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute))
    for (NamedAttribute entry : dictionary)
      object[entry.getName().strref()] = toJson(entry.getValue());
  return object;
}

json::Value schedulesToJson(ModuleOp module) {
  json::Object kernels;
  for (auto kernel : module.getOps<func::FuncOp>()) {
    auto schedule = kernel->getAttrOfType<DictionaryAttr>(scheduleAttr);
    auto considered = kernel->getAttrOfType<ArrayAttr>(consideredAttr);
    if (!kernel->hasAttr(kernelAttr) || !schedule)
      continue;
    json::Value entry = toJson(schedule);
    json::Object &object = *entry.getAsObject();
    json::Array others;
    ArrayRef<Attribute> candidates;
    if (considered)
      candidates = considered.getValue();
    if (!candidates.empty())
      object["predicted"] = toJson(candidates.front());
    for (Attribute candidate : candidates.drop_front(!candidates.empty()))
      others.push_back(toJson(candidate));
    // They are chosen for a function's tiles, not for a kernel.
    if (json::Value *rows = object.get("rows")) {
      if (json::Value *predicted = object.get("predicted"))
        (*predicted->getAsObject())["rows"] = *rows;
      object.erase("rows");
    }
    object["alternatives"] = std::move(others);
    kernels[kernel.getName()] = std::move(entry);
  }
  return kernels;
}

} // namespace drawloom::nvptx
