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

static std::string argumentInWords(const EntryPoint &entry, size_t i) {
  std::string words = "argument " + utostr(i);
  bool isNamed =
      i < entry.names.arguments.size() && !entry.names.arguments[i].empty();
  return isNamed ? words + " (" + entry.names.arguments[i] + ")" : words;
}

static std::string wherefrom(const EntryPoint &entry, size_t i) {
  return argumentInWords(entry, i) + " of @" + entry.name;
}

/// The argument of that name, if there is one.
static std::optional<size_t> argumentNamed(ArrayRef<Slot> slots,
                                           StringRef name) {
  const auto *found = find_if(slots, [&](const Slot &slot) {
    return !name.empty() && slot.name == name;
  });
  if (found == slots.end())
    return std::nullopt;
  return found - slots.begin();
}

/// ": x, w", where the arguments have names.
static std::string namesInWords(ArrayRef<Slot> slots) {
  std::string text;
  for (const Slot &slot : slots)
    if (!slot.name.empty())
      text += (text.empty() ? ": " : ", ") + slot.name;
  return text;
}

/// What --shape says of each argument that it names, by name or number.
static Expected<std::map<size_t, std::vector<int64_t>>>
shapesGiven(const EntryPoint &entry, ArrayRef<Slot> slots,
            const Options &options) {
  std::map<size_t, std::vector<int64_t>> shapes;
  for (const auto &[key, shape] : options.shapes) {
    std::optional<size_t> index = argumentNamed(slots, key);
    size_t number;
    if (!index && !StringRef(key).getAsInteger(10, number))
      index = number;
    if (!index || *index >= slots.size())
      return createStringError("--shape names argument " + key + ", but @" +
                               entry.name + " takes " + Twine(slots.size()) +
                               namesInWords(slots));
    if (!shapes.insert({*index, shape}).second)
      return createStringError("--shape names " + wherefrom(entry, *index) +
                               " twice");
  }
  return shapes;
}

static Expected<std::vector<Value>> randomArguments(const EntryPoint &entry,
                                                    ArrayRef<Slot> slots,
                                                    const Options &options) {
  Expected<std::map<size_t, std::vector<int64_t>>> said =
      shapesGiven(entry, slots, options);
  if (!said)
    return said.takeError();
  std::vector<std::vector<int64_t>> shapes;
  int64_t total = 0;
  for (auto [i, slot] : enumerate(slots)) {
    std::vector<int64_t> shape = slot.shape;
    auto given = said->find(i);
    if (given != said->end()) {
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

namespace {
/// An array of a file, and where it is from.
struct GivenArray {
  numpy::NamedArray array;
  std::string from;
};
} // namespace

static Expected<std::vector<GivenArray>> readArrays(const Options &options) {
  std::vector<GivenArray> all;
  for (const std::string &file : options.inputs) {
    Expected<std::vector<numpy::NamedArray>> arrays = numpy::readFile(file);
    if (!arrays)
      return arrays.takeError();
    for (numpy::NamedArray &array : *arrays) {
      std::string from = "'" + file + "'";
      if (!array.first.empty())
        from += ", array '" + array.first + "'";
      all.push_back({std::move(array), std::move(from)});
    }
  }
  return all;
}

/// The argument that each array is: one of its name, and for the others what is
/// left, in the files' order. Where all arguments have names, an array with
/// another one is refused, unless it is one that NumPy makes up.
static Expected<std::vector<size_t>> placesOf(const EntryPoint &entry,
                                              ArrayRef<Slot> slots,
                                              ArrayRef<GivenArray> arrays) {
  bool allNamed =
      all_of(slots, [](const Slot &slot) { return !slot.name.empty(); });
  std::vector<size_t> places(arrays.size(), slots.size());
  std::vector<bool> taken(slots.size());
  for (auto [place, given] : zip_equal(places, arrays)) {
    StringRef name = given.array.first;
    if (std::optional<size_t> named = argumentNamed(slots, name)) {
      if (taken[*named])
        return createStringError(wherefrom(entry, *named) + " (" + given.from +
                                 ") is given twice");
      place = *named;
      taken[*named] = true;
    } else if (allNamed && !name.empty() && !name.starts_with("arr_")) {
      return createStringError("@" + entry.name + " has no argument '" + name +
                               "' (" + given.from + "); it takes " +
                               Twine(slots.size()) + namesInWords(slots));
    }
  }
  for (auto [place, given] : zip_equal(places, arrays)) {
    if (place < slots.size())
      continue;
    place = find(taken, false) - taken.begin();
    if (place == slots.size())
      return createStringError("@" + entry.name + " takes " +
                               Twine(slots.size()) +
                               " arguments, but the files hold more arrays");
    taken[place] = true;
  }
  return places;
}

static Expected<std::vector<Value>> argumentsFromFiles(const EntryPoint &entry,
                                                       ArrayRef<Slot> slots,
                                                       const Options &options) {
  Expected<std::vector<GivenArray>> arrays = readArrays(options);
  if (!arrays)
    return arrays.takeError();
  Expected<std::vector<size_t>> places = placesOf(entry, slots, *arrays);
  if (!places)
    return places.takeError();
  std::vector<Value> values(slots.size());
  std::vector<bool> isGiven(slots.size());
  for (auto [given, place] : zip_equal(*arrays, *places)) {
    Expected<Value> value =
        fromArray(given.array.second, slots[place], options.convert);
    if (!value)
      return createStringError(wherefrom(entry, place) + " (" + given.from +
                               "): " + toString(value.takeError()));
    values[place] = std::move(*value);
    isGiven[place] = true;
  }
  size_t missing = find(isGiven, false) - isGiven.begin();
  if (missing == slots.size())
    return values;
  size_t count = arrays->size();
  return createStringError(
      "@" + entry.name + " takes " + Twine(slots.size()) + " arguments, but " +
      Twine(count) + (count == 1 ? " was" : " were") +
      " given: " + argumentInWords(entry, missing) + " is " +
      typeText(slots[missing].element, slots[missing].shape) +
      ". --input=FILE.npy gives it, --random makes all up");
}

Expected<std::vector<Value>> makeArguments(const EntryPoint &entry,
                                           const Options &options) {
  Expected<std::vector<Slot>> slots = argumentsOf(entry);
  if (!slots)
    return slots.takeError();
  return options.random ? randomArguments(entry, *slots, options)
                        : argumentsFromFiles(entry, *slots, options);
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

Error writeResults(StringRef path, const EntryPoint &entry,
                   ArrayRef<Value> results) {
  std::vector<numpy::NamedArray> arrays;
  for (auto [i, value] : enumerate(results))
    arrays.emplace_back(resultName(entry, i), toArray(value));
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
