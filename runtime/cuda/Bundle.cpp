//===- Bundle.cpp - reading bundles of kernels ----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/Cuda.h"
#include "drawloom/runtime/Files.h"
#include "drawloom/runtime/Sha256.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace drawloom::runtime::cuda {

// codegen/nvptx/emit/Bundle.h writes it.
static constexpr int64_t bundleVersion = 1;
static constexpr std::string_view magic = "drawloom-bundle ";

static std::string text(const json &object, const char *key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : std::string();
}

/// A number that is not negative; `missing` where there is none.
static int64_t number(const json &object, const char *key,
                      int64_t missing = -1) {
  auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer())
    return missing;
  return std::max<int64_t>(found->get<int64_t>(), -1);
}

static bool flag(const json &object, const char *key) {
  auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

static const json *array(const json &object, const char *key) {
  if (!object.is_object())
    return nullptr;
  auto found = object.find(key);
  return found != object.end() && found->is_array() ? &*found : nullptr;
}

static std::optional<Kind> parseKind(const std::string &name) {
  static constexpr std::pair<const char *, Kind> kinds[] = {
      {"ptr", Kind::Pointer}, {"i1", Kind::I1},     {"i8", Kind::I8},
      {"i16", Kind::I16},     {"i32", Kind::I32},   {"i64", Kind::I64},
      {"f16", Kind::F16},     {"bf16", Kind::BF16}, {"f32", Kind::F32},
      {"f64", Kind::F64}};
  for (auto [known, kind] : kinds)
    if (name == known)
      return kind;
  return std::nullopt;
}

static bool parseKernel(const json &object, KernelInfo &kernel) {
  const json *parameters = array(object, "parameters");
  kernel.name = object.is_object() ? text(object, "name") : "";
  if (!parameters || kernel.name.empty())
    return false;
  for (const json &value : *parameters) {
    std::optional<Kind> kind =
        value.is_object() ? parseKind(text(value, "kind")) : std::nullopt;
    if (!kind)
      return false;
    Parameter parameter;
    parameter.name = text(value, "name");
    parameter.kind = *kind;
    parameter.alignment = std::max<int64_t>(number(value, "align", 1), 1);
    parameter.nonnull = flag(value, "nonnull");
    kernel.parameters.push_back(std::move(parameter));
  }
  int64_t threads = number(object, "threads");
  kernel.threads = static_cast<unsigned>(threads);
  kernel.sharedBytes = number(object, "shared_bytes");
  kernel.registers = number(object, "registers");
  if (kernel.registers >= 0)
    kernel.spillBytes = number(object, "spill_store_bytes", 0) +
                        number(object, "spill_load_bytes", 0);
  kernel.cubin = text(object, "cubin");
  kernel.ptx = text(object, "ptx");
  return threads > 0 && threads <= 1024 && kernel.sharedBytes >= 0 &&
         kernel.sharedBytes <= INT32_MAX &&
         (!kernel.cubin.empty() || !kernel.ptx.empty());
}

static bool parseArchitecture(const json &object, ArchitectureInfo &info) {
  const json *kernels = array(object, "kernels");
  if (!kernels)
    return false;
  info.name = text(object, "name");
  int64_t capability = number(object, "capability");
  info.capability = static_cast<unsigned>(capability);
  info.specific = flag(object, "specific");
  auto plan = object.find("plan");
  if (plan != object.end() && !plan->is_null())
    info.plan = plan->dump(-1, ' ', false, json::error_handler_t::replace);
  for (const json &value : *kernels)
    if (!parseKernel(value, info.kernels.emplace_back()))
      return false;
  return !info.name.empty() && capability > 0;
}

/// A file of the bundle, not one beside it.
static bool isInside(const std::string &path) {
  if (path.empty() || path.front() == '/' ||
      path.find('\0') != std::string::npos)
    return false;
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string_view part = std::string_view(path).substr(at, end - at);
    if (part.empty() || part == "." || part == "..")
      return false;
    at = end + 1;
  }
  return true;
}

Status Bundle::parse(const std::string &manifest) {
  json root = json::parse(manifest, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded())
    return Status::error("its manifest is cut off or damaged");
  int64_t version = root.is_object() ? number(root, "drawloom_bundle") : -1;
  if (version < 0)
    return Status::error("its manifest is not Drawloom's");
  if (version != bundleVersion)
    return Status::error("it is of version " + std::to_string(version) +
                         ", this runtime reads version " +
                         std::to_string(bundleVersion) +
                         "; compile it anew with this Drawloom");
  const json *described = array(root, "files");
  const json *architectures = array(root, "architectures");
  if (!described || !architectures)
    return Status::error("its manifest lists no files or architectures");
  size_t offset = 0;
  for (const json &value : *described) {
    File file;
    if (value.is_object()) {
      file.path = text(value, "path");
      file.digest = text(value, "sha256");
    }
    int64_t bytes = value.is_object() ? number(value, "bytes") : -1;
    if (!isInside(file.path) || file.digest.empty() || bytes < 0)
      return Status::error("the list of files in its manifest is damaged");
    file.bytes = static_cast<size_t>(bytes);
    file.offset = offset;
    if (__builtin_add_overflow(offset, file.bytes, &offset))
      return Status::error("the list of files in its manifest is damaged");
    files.push_back(std::move(file));
  }
  for (const json &value : *architectures)
    if (!parseArchitecture(value, list.emplace_back()))
      return Status::error("the kernels in its manifest are damaged");
  if (list.empty())
    return Status::error("it holds no kernels");
  return {};
}

Result<std::string> Bundle::read(const std::string &path) const {
  for (const File &file : files) {
    if (file.path != path)
      continue;
    std::string contents;
    if (folder.empty()) {
      contents =
          packed.substr(std::min(file.offset, packed.size()), file.bytes);
    } else {
      Result<std::string> read = readFile(folder + "/" + path);
      if (!read.ok())
        return read.status();
      contents = std::move(*read);
    }
    if (contents.size() != file.bytes)
      return Status::error("'" + path + "' has " +
                           std::to_string(contents.size()) +
                           " bytes, not the " + std::to_string(file.bytes) +
                           " that the manifest names: it is cut off or was "
                           "changed");
    if (sha256(contents) != file.digest)
      return Status::error("the checksum of '" + path +
                           "' does not fit: it was changed");
    return contents;
  }
  return Status::error("the manifest does not list '" + path + "'");
}

/// Whatever the libraries throw becomes a value here: memory that is not there,
/// above all.
template <typename T, typename F>
static Result<T> guarded(const std::string &what, F body) {
  auto failed = [&](const std::string &why) {
    return Status::error(what + " cannot be used: " + why);
  };
  try {
    Result<T> result = body();
    return result.ok() ? result : failed(result.message());
  } catch (const std::exception &exception) {
    return failed(exception.what());
  }
}

Result<std::shared_ptr<Bundle>> Bundle::fromFolder(const std::string &folder) {
  using Pointer = std::shared_ptr<Bundle>;
  return guarded<Pointer>(
      "the bundle '" + folder + "'", [&]() -> Result<Pointer> {
        Result<std::string> manifest = readFile(folder + "/bundle.json");
        if (!manifest.ok())
          return manifest.status();
        auto bundle = std::make_shared<Bundle>();
        bundle->folder = folder.empty() ? "." : folder;
        if (Status status = bundle->parse(*manifest); !status.ok())
          return status;
        return bundle;
      });
}

/// A number in decimal digits, with the character behind it.
static bool consume(std::string_view &rest, char end, uint64_t &value) {
  size_t digits = 0;
  value = 0;
  while (digits < rest.size() && digits < 19 && rest[digits] >= '0' &&
         rest[digits] <= '9')
    value = value * 10 + uint64_t(rest[digits++] - '0');
  if (digits == 0 || digits >= rest.size() || rest[digits] != end)
    return false;
  rest.remove_prefix(digits + 1);
  return true;
}

Result<std::shared_ptr<Bundle>> Bundle::fromMemory(const void *data,
                                                   size_t size) {
  using Pointer = std::shared_ptr<Bundle>;
  return guarded<Pointer>("the bundle in memory", [&]() -> Result<Pointer> {
    std::string_view rest(static_cast<const char *>(data), size);
    if (rest.substr(0, magic.size()) != magic)
      return Status::error("it is no bundle of Drawloom");
    rest.remove_prefix(magic.size());
    uint64_t version = 0, manifest = 0, bytes = 0;
    if (!consume(rest, ' ', version) || version != uint64_t(bundleVersion))
      return Status::error("it is of version " + std::to_string(version) +
                           ", this runtime reads version " +
                           std::to_string(bundleVersion));
    if (!consume(rest, ' ', manifest) || !consume(rest, ' ', bytes) ||
        rest.size() < 65 || rest[64] != '\n')
      return Status::error("its first line is damaged");
    std::string_view digest = rest.substr(0, 64);
    rest.remove_prefix(65);
    if (manifest > rest.size() || bytes != rest.size() - manifest)
      return Status::error("it is cut off or too long");
    if (sha256(rest) != digest)
      return Status::error("its checksum does not fit: it is damaged");
    auto bundle = std::make_shared<Bundle>();
    bundle->packed = rest.substr(manifest);
    if (Status status = bundle->parse(std::string(rest.substr(0, manifest)));
        !status.ok())
      return status;
    return bundle;
  });
}

} // namespace drawloom::runtime::cuda
