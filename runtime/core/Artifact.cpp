//===- Artifact.cpp - compiled programs as bytes --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/Artifact.h"
#include "drawloom/OpenExtent.h"
#include "drawloom/runtime/Sha256.h"
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace drawloom {

int64_t elementBytes(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::BF16:
  case ElementType::F16:
    return 2;
  case ElementType::I8:
  case ElementType::I1:
    return 1;
  }
  return 0; // All types are listed.
}

bool ValueType::isOpen() const {
  return std::any_of(shape.begin(), shape.end(),
                     [](int64_t extent) { return extent < 0; });
}

int64_t ValueType::elements() const {
  if (isOpen())
    return -1;
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string valueInWords(const std::string &kind, size_t index,
                         const std::vector<ValueType> &types) {
  std::string words = kind + " " + std::to_string(index);
  bool isNamed = index < types.size() && !types[index].name.empty();
  return isNamed ? words + " (" + types[index].name + ")" : words;
}

std::vector<std::string> Artifact::targets() const {
  std::vector<std::string> list;
  for (const Variant &variant : variants)
    if (std::find(list.begin(), list.end(), variant.target) == list.end())
      list.push_back(variant.target);
  return list;
}

namespace runtime {

// The oldest that is read, which names one target for all variants.
static constexpr int64_t oldestVersion = 3;
// The first whose extents may be open.
static constexpr int64_t openVersion = 5;
// The first whose memory may grow with several of them.
static constexpr int64_t termsVersion = 6;
// The first that may keep values in a store.
static constexpr int64_t recordsVersion = 8;

// The first line, of fixed form so that nothing in it has to be trusted:
// "drawloom-artifact <version> <description bytes> <code bytes> <SHA-256>".
static constexpr std::string_view magic = "drawloom-artifact";

// In the order of ElementType.
static constexpr const char *elementNames[] = {"f64", "f32", "bf16", "f16",
                                               "i64", "i32", "i8",   "i1"};

static json describe(const std::vector<ValueType> &types) {
  json list = json::array();
  for (const ValueType &type : types) {
    json &one = list.emplace_back(
        json{{"element", elementNames[static_cast<int>(type.element)]},
             {"shape", type.shape}});
    // Older libraries of this version read files without looking for it.
    if (!type.name.empty())
      one["name"] = type.name;
  }
  return list;
}

static json describe(const std::vector<MemoryTerm> &terms) {
  json list = json::array();
  for (const MemoryTerm &term : terms)
    list.push_back({{"bytes", term.bytes}, {"extents", term.extents}});
  return list;
}

static json describe(const Artifact::Variant &variant) {
  json entries = json::array();
  for (const Artifact::Entry &entry : variant.entries)
    entries.push_back(
        {{"name", entry.signature.name},
         {"arguments", describe(entry.signature.arguments)},
         {"results", describe(entry.signature.results)},
         {"workspace_bytes", entry.signature.workspaceBytes},
         {"extents", entry.signature.openExtents},
         {"workspace_terms", describe(entry.signature.workspaceTerms)},
         {"scratch_bytes", entry.scratchBytes},
         {"scratch_terms", describe(entry.scratchTerms)},
         {"records", entry.signature.records},
         {"record_bytes", entry.signature.recordBytes}});
  return {{"target", variant.target},           {"isa", variant.isa},
          {"fingerprint", variant.fingerprint}, {"features", variant.features},
          {"processor", variant.processor},     {"entries", std::move(entries)},
          {"kernels", variant.kernels}};
}

std::string writeArtifact(const Artifact &artifact) {
  json variants = json::array(), codeBytes = json::array();
  std::string code;
  for (const Artifact::Variant &variant : artifact.variants) {
    variants.push_back(describe(variant));
    codeBytes.push_back(variant.code.size());
    code += variant.code;
  }
  // What is no UTF-8 in a name is replaced: nothing here may throw.
  std::string payload =
      json{{"version", artifactVersion},
           {"variants", std::move(variants)},
           {"code_bytes", std::move(codeBytes)}}
          .dump(-1, ' ', false, json::error_handler_t::replace);
  size_t description = payload.size();
  payload += code;
  return std::string(magic) + ' ' + std::to_string(artifactVersion) + ' ' +
         std::to_string(description) + ' ' + std::to_string(code.size()) + ' ' +
         sha256(payload) + '\n' + payload;
}

namespace {
/// Reads the description; the first thing that is not as it should be is
/// remembered, and all that follows is skipped.
class Reader {
public:
  std::string problem;

  const json *member(const json &object, const char *key) {
    auto found = object.find(key);
    if (!object.is_object() || found == object.end()) {
      complain(key, "is missing");
      return nullptr;
    }
    return &*found;
  }
  void read(const json &object, const char *key, std::string &text) {
    const json *value = member(object, key);
    if (value && value->is_string())
      text = value->get<std::string>();
    else
      complain(key, "is no text");
  }
  void read(const json &object, const char *key, int64_t &bytes) {
    const json *value = member(object, key);
    if (!value || !readNumber(*value, bytes))
      complain(key, "is no size");
  }
  template <typename T, typename Fn>
  void read(const json &object, const char *key, std::vector<T> &list,
            Fn readOne) {
    const json *values = member(object, key);
    if (!values || !values->is_array())
      return complain(key, "is no list");
    for (const json &value : *values) {
      if (!problem.empty())
        return;
      readOne(value, list.emplace_back());
    }
  }
  void read(const json &object, const char *key,
            std::vector<std::string> &list) {
    read(object, key, list, [&](const json &value, std::string &text) {
      if (value.is_string())
        text = value.get<std::string>();
      else
        complain(key, "has what is no text");
    });
  }
  void read(const json &object, const char *key, std::vector<int64_t> &list,
            int64_t least = 0) {
    read(object, key, list, [&](const json &value, int64_t &number) {
      if (!readNumber(value, number, least))
        complain(key, "has what is no size");
    });
  }

  /// Of a function with so many open extents.
  void readType(const json &value, ValueType &type, int64_t open) {
    std::string element;
    read(value, "element", element);
    read(value, "shape", type.shape, std::numeric_limits<int64_t>::min());
    if (value.is_object() && value.contains("name"))
      read(value, "name", type.name);
    for (int64_t extent : type.shape)
      if (extent < 0 &&
          (OpenExtent::ofShape(extent).number >= open ||
           OpenExtent::ofShape(extent).more > OpenExtent::mostMore))
        return complain("shape", "has an extent that its function has not");
    int64_t bytes = 0;
    for (size_t i = 0; i < std::size(elementNames); ++i)
      if (element == elementNames[i]) {
        type.element = static_cast<ElementType>(i);
        bytes = elementBytes(type.element);
      }
    if (bytes == 0)
      complain("element", "is none that this version knows");
    // Also where one extent is 0: nothing may overflow on the way there.
    for (int64_t extent : type.shape)
      if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes))
        return complain("shape", "has extents that no memory has");
  }
  void readTerms(const json &value, const char *key, int64_t open,
                 std::vector<MemoryTerm> &terms) {
    read(value, key, terms, [&](const json &one, MemoryTerm &term) {
      read(one, "bytes", term.bytes);
      read(one, "extents", term.extents);
      for (int64_t number : term.extents)
        if (number >= open)
          complain(key, "has an extent that its function does not have");
    });
  }
  /// How many extents are open, and what the workspace needs for them.
  void readExtents(const json &value, int64_t version, Signature &signature) {
    if (version >= termsVersion) {
      read(value, "extents", signature.openExtents);
      readTerms(value, "workspace_terms", signature.openExtents,
                signature.workspaceTerms);
    } else if (version >= openVersion) {
      std::vector<int64_t> bytes;
      read(value, "extent_bytes", bytes);
      for (int64_t one : bytes)
        signature.workspaceTerms.push_back({one, {signature.openExtents++}});
    }
  }
  void readEntry(const json &value, int64_t version, Artifact::Entry &entry) {
    Signature &signature = entry.signature;
    readExtents(value, version, signature);
    auto type = [&](const json &one, ValueType &into) {
      readType(one, into, signature.openExtents);
    };
    read(value, "name", signature.name);
    read(value, "arguments", signature.arguments, type);
    read(value, "results", signature.results, type);
    read(value, "workspace_bytes", signature.workspaceBytes);
    read(value, "scratch_bytes", entry.scratchBytes);
    if (version >= termsVersion)
      readTerms(value, "scratch_terms", signature.openExtents,
                entry.scratchTerms);
    if (version >= recordsVersion) {
      read(value, "records", signature.records);
      read(value, "record_bytes", signature.recordBytes);
    }
    size_t dimensions = 0;
    for (const ValueType &argument : signature.arguments)
      dimensions += argument.shape.size();
    if (static_cast<size_t>(signature.openExtents) > dimensions)
      complain("extents", "are more than its arguments have");
  }
  void readVariant(const json &value, int64_t version,
                   Artifact::Variant &variant) {
    if (version > oldestVersion)
      read(value, "target", variant.target);
    read(value, "isa", variant.isa);
    read(value, "fingerprint", variant.fingerprint);
    read(value, "features", variant.features);
    read(value, "processor", variant.processor);
    read(value, "entries", variant.entries,
         [&](const json &one, Artifact::Entry &entry) {
           readEntry(one, version, entry);
         });
    read(value, "kernels", variant.kernels);
  }

private:
  void complain(const char *key, const char *what) {
    if (problem.empty())
      problem =
          std::string("its description is damaged: '") + key + "' " + what;
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

/// Refuses a name that two values have.
static Status checkNames(const std::string &function, const char *kind,
                         const std::vector<ValueType> &types) {
  for (size_t i = 0; i < types.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!types[i].name.empty() && types[i].name == types[j].name)
        return Status::error("two " + std::string(kind) + "s of @" + function +
                             " are named '" + types[i].name + "'");
  return {};
}

static Status checkVariants(const Artifact &artifact) {
  if (artifact.variants.empty())
    return Status::error("it holds code for no instruction set");
  auto same = [](const Artifact::Entry &a, const Artifact::Entry &b) {
    return a.signature.name == b.signature.name &&
           a.signature.arguments == b.signature.arguments &&
           a.signature.results == b.signature.results &&
           a.signature.openExtents == b.signature.openExtents;
  };
  const Artifact::Variant &first = artifact.variants.front();
  for (size_t i = 0; i < first.entries.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (first.entries[i].signature.name == first.entries[j].signature.name)
        return Status::error("it holds function @" +
                             first.entries[i].signature.name + " twice");
  for (const Artifact::Variant &variant : artifact.variants)
    for (const Artifact::Entry &entry : variant.entries) {
      const Signature &signature = entry.signature;
      for (auto [types, kind] : {std::pair(&signature.arguments, "argument"),
                                 std::pair(&signature.results, "result")})
        if (Status status = checkNames(signature.name, kind, *types);
            !status.ok())
          return status;
    }
  for (size_t i = 0; i < artifact.variants.size(); ++i) {
    const Artifact::Variant &variant = artifact.variants[i];
    for (size_t j = 0; j < i; ++j)
      if (artifact.variants[j].isa == variant.isa &&
          artifact.variants[j].target == variant.target)
        return Status::error("it holds instruction set '" + variant.isa +
                             "' twice");
    if (!std::equal(first.entries.begin(), first.entries.end(),
                    variant.entries.begin(), variant.entries.end(), same))
      return Status::error("its functions for '" + first.isa + "' and '" +
                           variant.isa + "' differ");
  }
  return {};
}

/// Decimal digits, no sign.
static std::optional<uint64_t> parseCount(std::string_view text) {
  if (text.empty() || text.size() > 18)
    return std::nullopt;
  uint64_t value = 0;
  for (char digit : text) {
    if (digit < '0' || digit > '9')
      return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(digit - '0');
  }
  return value;
}

Result<Artifact> readArtifact(std::string_view bytes) {
  size_t end = std::min(bytes.find('\n'), bytes.size());
  std::string_view line = bytes.substr(0, end);
  std::string_view payload = bytes.substr(std::min(end + 1, bytes.size()));
  std::vector<std::string_view> fields;
  for (size_t at = 0; at <= line.size();) {
    size_t space = std::min(line.find(' ', at), line.size());
    fields.push_back(line.substr(at, space - at));
    at = space + 1;
  }
  if (fields[0] != magic)
    return Status::error("it is no artifact of Drawloom");
  std::optional<uint64_t> version =
      fields.size() < 2 ? std::nullopt : parseCount(fields[1]);
  if (!version || *version < static_cast<uint64_t>(oldestVersion) ||
      *version > static_cast<uint64_t>(artifactVersion))
    return Status::error(
        "it is of version " +
        (fields.size() < 2 ? "?" : std::string(fields[1].substr(0, 20))) +
        ", this is version " + std::to_string(artifactVersion));
  std::optional<uint64_t> description, code;
  if (fields.size() == 5) {
    description = parseCount(fields[2]);
    code = parseCount(fields[3]);
  }
  if (!description || !code)
    return Status::error("its first line is damaged");
  if (*description > payload.size() || *code != payload.size() - *description)
    return Status::error("it is cut off or too long");
  if (sha256(payload) != fields[4])
    return Status::error("its checksum does not fit: it is damaged");

  json root = json::parse(payload.substr(0, *description), nullptr,
                          /*allow_exceptions=*/false);
  if (root.is_discarded())
    return Status::error("its description is damaged: it is no JSON");
  // From then on the version is under the checksum, too.
  auto said = root.find("version");
  if ((*version >= static_cast<uint64_t>(openVersion)) !=
          (root.is_object() && said != root.end()) ||
      (said != root.end() && *said != *version))
    return Status::error("its first line is damaged");
  Artifact artifact;
  std::vector<int64_t> codeBytes;
  Reader reader;
  std::string target;
  if (*version == static_cast<uint64_t>(oldestVersion))
    reader.read(root, "target", target);
  reader.read(root, "variants", artifact.variants,
              [&](const json &value, Artifact::Variant &variant) {
                variant.target = target;
                reader.readVariant(value, static_cast<int64_t>(*version),
                                   variant);
              });
  reader.read(root, "code_bytes", codeBytes);
  if (!reader.problem.empty())
    return Status::error(reader.problem);

  std::string_view rest = payload.substr(*description);
  bool fits = artifact.variants.size() == codeBytes.size();
  for (size_t i = 0; fits && i < codeBytes.size(); ++i) {
    auto size = static_cast<uint64_t>(codeBytes[i]);
    fits = size <= rest.size();
    if (fits) {
      artifact.variants[i].code = std::string(rest.substr(0, size));
      rest.remove_prefix(size);
    }
  }
  if (!fits || !rest.empty())
    return Status::error("its description does not fit its code");
  Status status = checkVariants(artifact);
  if (!status.ok())
    return status;
  return artifact;
}

std::optional<int64_t> memoryBytes(int64_t bytes,
                                   const std::vector<MemoryTerm> &terms,
                                   const int64_t *extents) {
  for (const MemoryTerm &term : terms) {
    // Also where one is 0: the others' order must not matter.
    int64_t count = 1, most = 1, part = 0;
    for (int64_t number : term.extents) {
      int64_t extent = extents[number];
      if (__builtin_mul_overflow(most, std::max<int64_t>(extent, 1), &most))
        return std::nullopt;
      count *= extent;
    }
    if (__builtin_add_overflow(count, MemoryTerm::unit - 1, &count) ||
        __builtin_mul_overflow(count / MemoryTerm::unit * MemoryTerm::unit,
                               term.bytes, &part) ||
        __builtin_add_overflow(bytes, part, &bytes))
      return std::nullopt;
  }
  return bytes;
}

namespace {
/// Gives open extents the numbers that the arguments of a call have.
class Binder {
public:
  explicit Binder(const Signature &signature)
      : signature(signature),
        extents(static_cast<size_t>(signature.openExtents), -1),
        sources(extents.size()) {}

  Status take(size_t argument, const std::vector<int64_t> &shape) {
    const std::vector<int64_t> &wanted = signature.arguments[argument].shape;
    std::string name = wordsOf(argument) + " of @" + signature.name;
    if (shape.size() != wanted.size())
      return Status::error(name + " has rank " + std::to_string(wanted.size()) +
                           ", but is given with rank " +
                           std::to_string(shape.size()));
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      std::string place = name + " is given with extent " +
                          std::to_string(shape[dim]) + " in dimension " +
                          std::to_string(dim);
      if (shape[dim] < 0)
        return Status::error(place + ": an extent is 0 or more");
      if (wanted[dim] >= 0) {
        if (shape[dim] != wanted[dim])
          return Status::error(place + ", where it has " +
                               std::to_string(wanted[dim]));
        continue;
      }
      OpenExtent open = OpenExtent::ofShape(wanted[dim]);
      auto number = static_cast<size_t>(open.number);
      auto plus = [](int64_t more) {
        return (more < 0 ? " minus " : " plus ") +
               std::to_string(std::abs(more));
      };
      if (shape[dim] < open.more)
        return Status::error(place + ", where it has at least " +
                             std::to_string(open.more));
      if (extents[number] < 0) {
        extents[number] = shape[dim] - open.more;
        sources[number] = {"dimension " + std::to_string(dim) + " of " +
                               wordsOf(argument),
                           open.more};
      } else if (open.in(extents.data()) != shape[dim]) {
        const auto &[source, more] = sources[number];
        return Status::error(place + ", which has to be that of " + source +
                             (open.more == more ? "" : plus(open.more - more)) +
                             ", " + std::to_string(open.in(extents.data())));
      }
    }
    return {};
  }

  /// The type with its extents; an error where 64 bits do not count its bytes.
  Status close(ValueType &type, const std::string &name) const {
    int64_t bytes = elementBytes(type.element);
    bool fits = true;
    for (int64_t &extent : type.shape) {
      if (extent < 0)
        extent = OpenExtent::ofShape(extent).in(extents.data());
      if (extent < 0)
        return Status::error(name + " has an extent that no argument has");
      fits &=
          !__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes);
    }
    return fits ? Status()
                : Status::error(name + " has more bytes than 64 bits count");
  }

  Result<BoundSignature> finish() {
    BoundSignature bound{signature, extents};
    Signature &closed = bound.signature;
    auto closeAll = [&](std::vector<ValueType> &types, const char *kind) {
      for (size_t i = 0; i < types.size(); ++i) {
        Status status = close(types[i], valueInWords(kind, i, types) + " of @" +
                                            signature.name);
        if (!status.ok())
          return status;
      }
      return Status();
    };
    for (auto [types, kind] : {std::pair(&closed.arguments, "argument"),
                               std::pair(&closed.results, "result")})
      if (Status status = closeAll(*types, kind); !status.ok())
        return status;
    for (int64_t extent : extents)
      if (extent < 0)
        return Status::error("@" + signature.name +
                             " has an extent that no argument has");
    std::optional<int64_t> bytes = memoryBytes(
        signature.workspaceBytes, signature.workspaceTerms, extents.data());
    if (!bytes)
      return Status::error("@" + signature.name +
                           " needs more workspace than 64 bits count");
    closed.workspaceBytes = *bytes;
    closed.openExtents = 0;
    closed.workspaceTerms.clear();
    return bound;
  }

private:
  std::string wordsOf(size_t argument) const {
    return valueInWords("argument", argument, signature.arguments);
  }

  const Signature &signature;
  std::vector<int64_t> extents;
  /// Which argument an extent was first seen on, and what that has more.
  std::vector<std::pair<std::string, int64_t>> sources;
};
} // namespace

Result<BoundSignature>
bind(const Signature &signature,
     const std::vector<std::vector<int64_t>> &argumentShapes) {
  if (argumentShapes.size() != signature.arguments.size())
    return Status::error(
        "@" + signature.name + " has " +
        std::to_string(signature.arguments.size()) + " arguments, but " +
        std::to_string(argumentShapes.size()) + " shapes are given");
  Binder binder(signature);
  for (size_t i = 0; i < argumentShapes.size(); ++i)
    if (Status status = binder.take(i, argumentShapes[i]); !status.ok())
      return status;
  return binder.finish();
}

Result<TargetDevice> TargetDevice::parse(const std::string &text) {
  size_t colon = text.find(':');
  TargetDevice target{text.substr(0, colon)};
  if (colon == std::string::npos)
    return target;
  std::string number = text.substr(colon + 1);
  bool isNumber = !number.empty() && number.size() <= 4 &&
                  number.find_first_not_of("0123456789") == std::string::npos;
  if (target.name != "cuda" || !isNumber)
    return Status::error("'" + text +
                         "' is no target: a device is named as in 'cuda:1'");
  target.device = std::stoi(number);
  return target;
}

Result<TargetDevice> chooseTarget(const Artifact &artifact,
                                  const std::string &asked) {
  std::vector<std::string> targets = artifact.targets();
  Result<TargetDevice> wanted =
      TargetDevice::parse(asked.empty() ? "cpu" : asked);
  if (!wanted.ok())
    return wanted;
  std::string known;
  for (const std::string &target : targets) {
    if (target == wanted->name)
      return wanted;
    known += (known.empty() ? "'" : ", '") + target + "'";
  }
  if (asked.empty() && !targets.empty())
    return TargetDevice{targets.front()};
  return Status::error("the program holds no code for target '" + asked +
                       "'; it has code for " + known);
}

} // namespace runtime
} // namespace drawloom
