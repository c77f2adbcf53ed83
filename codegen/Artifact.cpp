//===- Artifact.cpp - compiled programs as bytes --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact.h"
#include "codegen/ValueTypeJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace drawloom {

// The first line, of fixed length so that nothing in it has to be trusted:
// "drawloom-artifact <version> <description bytes> <code bytes> <SHA-256>".
static constexpr StringLiteral magic = "drawloom-artifact";
static constexpr int64_t version = 2;

static std::string digest(StringRef bytes) {
  return toHex(SHA256::hash(arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}

json::Value toJSON(const ValueType &type) {
  return json::Object{{"element", static_cast<int>(type.element)},
                      {"shape", json::Array(type.shape)}};
}

static json::Object describe(const Artifact::Variant &variant) {
  json::Array entries;
  for (const Artifact::Entry &entry : variant.entries)
    entries.push_back(
        json::Object{{"name", entry.signature.name},
                     {"arguments", json::Array(entry.signature.arguments)},
                     {"results", json::Array(entry.signature.results)},
                     {"workspace_bytes", entry.signature.workspaceBytes},
                     {"scratch_bytes", entry.scratchBytes}});
  return json::Object{{"isa", variant.isa},
                      {"fingerprint", variant.fingerprint},
                      {"entries", std::move(entries)},
                      {"kernels", json::Array(variant.kernels)}};
}

std::string writeArtifact(const Artifact &artifact) {
  json::Array variants, codeBytes;
  std::string code;
  for (const Artifact::Variant &variant : artifact.variants) {
    variants.push_back(describe(variant));
    codeBytes.push_back(static_cast<int64_t>(variant.code.size()));
    code += variant.code;
  }
  std::string payload;
  raw_string_ostream(payload)
      << json::Value(json::Object{{"target", artifact.target},
                                  {"variants", std::move(variants)},
                                  {"code_bytes", std::move(codeBytes)}});
  size_t description = payload.size();
  payload += code;

  std::string bytes;
  raw_string_ostream(bytes)
      << magic << ' ' << version << ' ' << description << ' ' << code.size()
      << ' ' << digest(payload) << '\n'
      << payload;
  return bytes;
}

bool fromJSON(const json::Value &value, ValueType &type, json::Path path) {
  json::ObjectMapper map(value, path);
  int64_t element = 0;
  if (!map || !map.map("element", element) || !map.map("shape", type.shape))
    return false;
  if (element < 0 || element > static_cast<int64_t>(ElementType::I1)) {
    path.field("element").report("no element type has this number");
    return false;
  }
  type.element = static_cast<ElementType>(element);
  int64_t bytes = elementBytes(type.element);
  for (int64_t extent : type.shape)
    if (extent < 0 || MulOverflow(bytes, extent, bytes)) {
      path.field("shape").report("no extents of memory");
      return false;
    }
  return true;
}

static bool fromJSON(const json::Value &value, Artifact::Entry &entry,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  Signature &signature = entry.signature;
  if (!map || !map.map("name", signature.name) ||
      !map.map("arguments", signature.arguments) ||
      !map.map("results", signature.results) ||
      !map.map("workspace_bytes", signature.workspaceBytes) ||
      !map.map("scratch_bytes", entry.scratchBytes))
    return false;
  if (signature.workspaceBytes < 0 || entry.scratchBytes < 0) {
    path.report("negative size");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, Artifact::Variant &variant,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("isa", variant.isa) &&
         map.map("fingerprint", variant.fingerprint) &&
         map.map("entries", variant.entries) &&
         map.map("kernels", variant.kernels);
}

namespace {
/// What the JSON holds: the variants without their code, and its lengths.
struct Description {
  Artifact artifact;
  std::vector<int64_t> codeBytes;
};

bool fromJSON(const json::Value &value, Description &description,
              json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("target", description.artifact.target) &&
         map.map("variants", description.artifact.variants) &&
         map.map("code_bytes", description.codeBytes);
}
} // namespace

/// Gives each variant its part of `code`.
static Error cutCode(Description &description, StringRef code) {
  std::vector<Artifact::Variant> &variants = description.artifact.variants;
  bool fits = variants.size() == description.codeBytes.size();
  if (fits)
    for (auto [variant, bytes] : zip_equal(variants, description.codeBytes)) {
      fits &= bytes >= 0 && static_cast<uint64_t>(bytes) <= code.size();
      if (!fits)
        break;
      variant.code = code.take_front(bytes).str();
      code = code.drop_front(bytes);
    }
  return fits && code.empty()
             ? Error::success()
             : createStringError("its description does not fit its code");
}

static Error checkVariants(const Artifact &artifact) {
  if (artifact.variants.empty())
    return createStringError("it holds code for no instruction set");
  auto same = [](const Artifact::Entry &a, const Artifact::Entry &b) {
    return a.signature.name == b.signature.name &&
           a.signature.arguments == b.signature.arguments &&
           a.signature.results == b.signature.results;
  };
  const Artifact::Variant &first = artifact.variants.front();
  StringSet<> sets;
  for (const Artifact::Variant &variant : artifact.variants) {
    if (!sets.insert(variant.isa).second)
      return createStringError("it holds instruction set '" + variant.isa +
                               "' twice");
    if (!llvm::equal(first.entries, variant.entries, same))
      return createStringError("its functions for '" + first.isa + "' and '" +
                               variant.isa + "' differ");
  }
  return Error::success();
}

Expected<Artifact> readArtifact(StringRef bytes) {
  auto [line, payload] = bytes.split('\n');
  SmallVector<StringRef> fields;
  line.split(fields, ' ');
  if (fields.empty() || fields[0] != magic)
    return createStringError("it is no artifact of Drawloom");
  int64_t found = 0;
  if (fields.size() < 2 || fields[1].getAsInteger(10, found) ||
      found != version)
    return createStringError("it is of version " +
                             (fields.size() < 2 ? "?" : fields[1]) +
                             ", this is version " + Twine(version));
  uint64_t description = 0, code = 0;
  if (fields.size() != 5 || fields[2].getAsInteger(10, description) ||
      fields[3].getAsInteger(10, code))
    return createStringError("its first line is damaged");
  if (description > payload.size() || code != payload.size() - description)
    return createStringError("it is cut off or too long");
  if (digest(payload) != fields[4])
    return createStringError("its checksum does not fit: it is damaged");
  Expected<Description> read =
      json::parse<Description>(payload.take_front(description));
  if (!read)
    return read.takeError();
  if (Error error = cutCode(*read, payload.drop_front(description)))
    return error;
  if (Error error = checkVariants(read->artifact))
    return error;
  return std::move(read->artifact);
}

} // namespace drawloom
