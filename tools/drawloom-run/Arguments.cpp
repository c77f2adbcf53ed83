//===- Arguments.cpp - the arguments of a run -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/drawloom-run/Arguments.h"
#include "drawloom/runtime/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace drawloom::run {

Expected<std::vector<EntryPoint>> chooseEntries(std::vector<EntryPoint> entries,
                                                const Options &options) {
  auto list = [](ArrayRef<EntryPoint> entries) {
    return join(
        map_range(entries,
                  [](const EntryPoint &entry) { return "@" + entry.name; }),
        ", ");
  };
  auto filter = [&](auto predicate) {
    std::vector<EntryPoint> chosen;
    copy_if(entries, std::back_inserter(chosen), predicate);
    return chosen;
  };
  if (entries.empty())
    return createStringError("the program has no function with a body");
  if (!options.entry.empty()) {
    std::vector<EntryPoint> named = filter(
        [&](const EntryPoint &entry) { return entry.name == options.entry; });
    if (!named.empty())
      return named;
    StringRef nearest = entries.front().name;
    for (const EntryPoint &entry : entries)
      if (StringRef(entry.name).edit_distance(options.entry) <
          nearest.edit_distance(options.entry))
        nearest = entry.name;
    return createStringError("there is no function @" + options.entry +
                             "; did you mean @" + nearest +
                             "? The program has " + list(entries));
  }
  std::vector<EntryPoint> open =
      filter([](const EntryPoint &entry) { return entry.isPublic; });
  if (open.size() == 1)
    return open;
  std::vector<EntryPoint> withoutArguments =
      filter([](const EntryPoint &entry) {
        return entry.isPublic && entry.arguments.empty();
      });
  if (withoutArguments.empty())
    return createStringError("which function? --entry=NAME chooses one of " +
                             list(open.empty() ? entries : open));
  return withoutArguments;
}

static std::string wherefrom(const EntryPoint &entry, size_t i) {
  return ("argument " + Twine(i) + " of @" + entry.name).str();
}

static Expected<std::vector<Value>> randomArguments(const EntryPoint &entry,
                                                    ArrayRef<Slot> slots,
                                                    const Options &options) {
  for (const auto &given : options.shapes)
    if (given.first >= slots.size())
      return createStringError("--shape names argument " + Twine(given.first) +
                               ", but @" + entry.name + " takes " +
                               Twine(slots.size()));
  std::vector<std::vector<int64_t>> shapes;
  int64_t total = 0;
  for (auto [i, slot] : enumerate(slots)) {
    std::vector<int64_t> shape = slot.shape;
    auto given = options.shapes.find(i);
    if (given != options.shapes.end()) {
      bool fits = given->second.size() == shape.size();
      for (size_t d = 0; fits && d < shape.size(); ++d)
        fits = shape[d] < 0 || shape[d] == given->second[d];
      if (!fits)
        return createStringError(
            wherefrom(entry, i) + " is " + typeText(slot.element, slot.shape) +
            ", but --shape says " + numpy::shapeText(given->second));
      shape = given->second;
    } else if (slot.hasUnknownExtents()) {
      return createStringError(
          wherefrom(entry, i) + " is " + typeText(slot.element, slot.shape) +
          ": give its extents with --shape=" + Twine(i) + ":...");
    }
    Expected<int64_t> bytes = bytesNeeded(slot.element, shape);
    if (!bytes)
      return createStringError(wherefrom(entry, i) + ": " +
                               toString(bytes.takeError()));
    if (AddOverflow(total, *bytes, total))
      total = INT64_MAX;
    if (Error error = checkMemory(total, wherefrom(entry, i) + ", " +
                                             typeText(slot.element, shape) +
                                             ", with those before it"))
      return error;
    shapes.push_back(std::move(shape));
  }
  std::vector<Value> values;
  for (auto [i, slot, shape] : enumerate(slots, shapes))
    values.push_back(randomValue(slot.element, shape, options.seed, i,
                                 options.randomLow, options.randomHigh));
  return values;
}

static Expected<std::vector<Value>> argumentsFromFiles(const EntryPoint &entry,
                                                       ArrayRef<Slot> slots,
                                                       const Options &options) {
  std::vector<Value> values;
  for (const std::string &file : options.inputs) {
    Expected<std::vector<numpy::NamedArray>> arrays = numpy::readFile(file);
    if (!arrays)
      return arrays.takeError();
    for (const numpy::NamedArray &array : *arrays) {
      size_t i = values.size();
      if (i == slots.size())
        return createStringError("@" + entry.name + " takes " +
                                 Twine(slots.size()) +
                                 " arguments, but the files hold more arrays");
      Expected<Value> value =
          fromArray(array.second, slots[i], options.convert);
      if (!value)
        return createStringError(
            wherefrom(entry, i) + " ('" + file +
            (array.first.empty() ? "" : "', array '" + array.first) +
            "'): " + toString(value.takeError()));
      values.push_back(std::move(*value));
    }
  }
  return values;
}

Expected<std::vector<Value>> makeArguments(const EntryPoint &entry,
                                           const Options &options) {
  Expected<std::vector<Slot>> slots = argumentsOf(entry);
  if (!slots)
    return slots.takeError();
  if (options.random)
    return randomArguments(entry, *slots, options);
  Expected<std::vector<Value>> values =
      argumentsFromFiles(entry, *slots, options);
  if (values && values->size() < slots->size()) {
    const Slot &first = (*slots)[values->size()];
    return createStringError(
        "@" + entry.name + " takes " + Twine(slots->size()) +
        " arguments, but " + Twine(values->size()) +
        (values->size() == 1 ? " was" : " were") + " given: argument " +
        Twine(values->size()) + " is " + typeText(first.element, first.shape) +
        ". --input=FILE.npy gives it, --random makes all up");
  }
  return values;
}

static bool isFile(StringRef path) {
  return path.ends_with(".npy") || path.ends_with(".npz");
}

Error checkFile(StringRef path) {
  if (sys::fs::is_directory(path))
    return createStringError("cannot write '" + path + "': it is a folder");
  runtime::Result<runtime::Destination> destination =
      runtime::destinationOf(path.str());
  if (!destination.ok())
    return createStringError(destination.message());
  // Beside a device nothing may be written, nor is it asked what it takes.
  if (destination->isSpecial)
    return Error::success();
  numpy::TemporaryFile file;
  if (std::error_code code = file.create(destination->path))
    return createStringError("cannot write '" + path + "': " + code.message());
  return Error::success();
}

Error checkOutput(StringRef path) {
  if (isFile(path))
    return checkFile(path);
  if (std::error_code code = sys::fs::create_directories(path))
    return createStringError("cannot make folder '" + path +
                             "': " + code.message());
  SmallString<128> probe(path);
  sys::path::append(probe, "results");
  numpy::TemporaryFile file;
  if (std::error_code code = file.create(probe))
    return createStringError("cannot write '" + path + "': " + code.message());
  return Error::success();
}

Error writeResults(StringRef path, ArrayRef<Value> results) {
  std::vector<numpy::NamedArray> arrays;
  for (auto [i, value] : enumerate(results))
    arrays.emplace_back("result" + utostr(i), toArray(value));
  if (isFile(path))
    return numpy::writeFile(path, arrays);
  for (const numpy::NamedArray &array : arrays) {
    SmallString<128> file(path);
    sys::path::append(file, array.first + ".npy");
    if (Error error = numpy::writeFile(file, array))
      return error;
  }
  return Error::success();
}

} // namespace drawloom::run
