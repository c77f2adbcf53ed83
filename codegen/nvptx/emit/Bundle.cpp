//===- Bundle.cpp - compiled kernels as a folder or as bytes --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/Bundle.h"
#include "codegen/nvptx/emit/TritonMetadata.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace drawloom::nvptx {

static constexpr StringLiteral magic = "drawloom-bundle";
static constexpr StringLiteral versionKey = "drawloom_bundle";

static std::string digest(StringRef bytes) {
  return toHex(SHA256::hash(arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}

static std::string print(const json::Value &value) {
  std::string text;
  raw_string_ostream(text) << formatv("{0:1}", value);
  return text;
}

static json::Array describe(ArrayRef<KernelParameter> parameters) {
  json::Array list;
  for (const KernelParameter &parameter : parameters) {
    json::Object object{{"name", parameter.name}, {"kind", parameter.kind}};
    if (parameter.alignment != 1)
      object["align"] = parameter.alignment;
    if (parameter.nonnull)
      object["nonnull"] = true;
    if (parameter.bytes != 0)
      object["bytes"] = parameter.bytes;
    if (parameter.written)
      object["written"] = true;
    list.push_back(std::move(object));
  }
  return list;
}

static json::Object describe(const CompiledKernel &kernel) {
  const KernelInfo &info = kernel.info;
  json::Object object{{"name", info.name},
                      {"parameters", describe(info.parameters)},
                      {"threads", info.threads},
                      {"shared_bytes", info.sharedBytes},
                      {"static_shared_bytes", info.staticSharedBytes}};
  if (kernel.usage) {
    object["registers"] = kernel.usage->registers;
    object["stack_bytes"] = kernel.usage->stackBytes;
    object["spill_store_bytes"] = kernel.usage->spillStoreBytes;
    object["spill_load_bytes"] = kernel.usage->spillLoadBytes;
    object["barriers"] = kernel.usage->barriers;
  }
  return object;
}

static json::Object addArchitecture(const CompiledKernels &compiled,
                                    const BundleOptions &options,
                                    Bundle &bundle) {
  const Architecture &architecture = *compiled.architecture;
  json::Array kernels;
  for (const CompiledKernel &kernel : compiled.kernels) {
    std::string stem = (architecture.name + "/" + kernel.info.name).str();
    json::Object object = describe(kernel);
    std::vector<std::string> names;
    auto add = [&](StringRef extension, const std::string &contents) {
      std::string path = (stem + "." + extension).str();
      names.push_back((kernel.info.name + "." + extension).str());
      object[extension] = path;
      bundle.files[path] = contents;
    };
    if (options.forTriton)
      add("llir", kernel.llvmIr);
    add("ptx", kernel.ptx);
    if (!kernel.cubin.empty())
      add("cubin", kernel.cubin);
    if (options.forTriton) {
      add("json",
          print(tritonMetadata(kernel, architecture, digest(kernel.ptx))));
      bundle.files[(architecture.name + "/__grp__" + kernel.info.name + ".json")
                       .str()] = print(tritonGroup(names));
    }
    if (options.modules)
      for (const std::string *image : {&kernel.cubin, &kernel.ptx})
        if (!image->empty())
          bundle.files[(architecture.name + "/" + digest(*image) + ".mlir")
                           .str()] = kernel.module;
    kernels.push_back(std::move(object));
  }
  return json::Object{{"name", architecture.name},
                      {"capability", architecture.capability},
                      {"specific", architecture.specific},
                      {"ptx_version", architecture.ptxVersion},
                      {"assembler", compiled.assembler},
                      {"kernels", std::move(kernels)},
                      {"plan", compiled.plan}};
}

Bundle makeBundle(ArrayRef<CompiledKernels> compiled,
                  const BundleOptions &options) {
  Bundle bundle;
  json::Array list;
  std::vector<const CompiledKernels *> sorted;
  for (const CompiledKernels &one : compiled)
    sorted.push_back(&one);
  sort(sorted, [](const CompiledKernels *a, const CompiledKernels *b) {
    return a->architecture->capability < b->architecture->capability;
  });
  for (const CompiledKernels *one : sorted)
    list.push_back(addArchitecture(*one, options, bundle));
  json::Array files;
  for (const auto &[path, contents] : bundle.files)
    files.push_back(json::Object{{"path", path},
                                 {"bytes", int64_t(contents.size())},
                                 {"sha256", digest(contents)}});
  bundle.manifest = json::Object{{versionKey, bundleVersion},
                                 {"architectures", std::move(list)},
                                 {"files", std::move(files)}};
  return bundle;
}

/// A path of a bundle stays inside it.
static bool isInside(StringRef path) {
  SmallVector<StringRef> parts;
  path.split(parts, '/');
  return !path.empty() && !path.contains('\0') &&
         none_of(parts, [](StringRef part) {
           return part.empty() || part == "." || part == "..";
         });
}

/// The manifest with every claim checked but those about contents.
static Expected<json::Value> parseManifest(StringRef text) {
  Expected<json::Value> manifest = json::parse(text);
  if (!manifest)
    return createStringError("the manifest is cut off or damaged: " +
                             toString(manifest.takeError()));
  const json::Object *object = manifest->getAsObject();
  std::optional<int64_t> version =
      object ? object->getInteger(versionKey) : std::nullopt;
  if (!version)
    return createStringError("the manifest is not Drawloom's");
  if (*version != bundleVersion)
    return createStringError(
        formatv("it is a bundle of version {0}, this reads version {1}; make "
                "it anew",
                *version, bundleVersion));
  const json::Array *files = object->getArray("files");
  if (!files || !object->getArray("architectures"))
    return createStringError("the manifest lists no files or architectures");
  for (const json::Value &value : *files) {
    const json::Object *file = value.getAsObject();
    std::optional<StringRef> path =
        file ? file->getString("path") : std::nullopt;
    if (!path || !isInside(*path) || !file->getString("sha256") ||
        file->getInteger("bytes").value_or(-1) < 0)
      return createStringError("the manifest's list of files is damaged");
  }
  return manifest;
}

/// Reads each listed file through `contents` and checks it.
static Expected<Bundle>
readFiles(json::Value manifest,
          function_ref<Expected<std::string>(StringRef path, int64_t bytes)>
              contents) {
  Bundle bundle;
  for (const json::Value &value : *manifest.getAsObject()->getArray("files")) {
    const json::Object &file = *value.getAsObject();
    StringRef path = *file.getString("path");
    int64_t bytes = *file.getInteger("bytes");
    Expected<std::string> read = contents(path, bytes);
    if (!read)
      return read.takeError();
    if (static_cast<int64_t>(read->size()) != bytes)
      return createStringError(
          formatv("'{0}' has {1} bytes, not the {2} that the manifest names: "
                  "it is cut off or was changed",
                  path, read->size(), bytes));
    if (digest(*read) != *file.getString("sha256"))
      return createStringError("the checksum of '" + path +
                               "' does not fit: it was changed");
    bundle.files[path.str()] = std::move(*read);
  }
  bundle.manifest = std::move(manifest);
  return bundle;
}

std::string packBundle(const Bundle &bundle) {
  std::string payload = print(bundle.manifest);
  size_t manifest = payload.size();
  for (const json::Value &value :
       *bundle.manifest.getAsObject()->getArray("files"))
    payload += bundle.files.at(value.getAsObject()->getString("path")->str());
  std::string bytes;
  raw_string_ostream(bytes)
      << magic << ' ' << bundleVersion << ' ' << manifest << ' '
      << payload.size() - manifest << ' ' << digest(payload) << '\n'
      << payload;
  return bytes;
}

Expected<Bundle> unpackBundle(StringRef bytes) {
  auto failed = [](const Twine &why) {
    return createStringError("the bundle in memory cannot be used: " + why);
  };
  auto [line, payload] = bytes.split('\n');
  SmallVector<StringRef> fields;
  line.split(fields, ' ');
  if (fields.front() != magic)
    return failed("it is no bundle of Drawloom");
  int64_t version = 0;
  uint64_t manifest = 0, files = 0;
  if (fields.size() < 2 || fields[1].getAsInteger(10, version) ||
      version != bundleVersion)
    return failed("it is of version " +
                  (fields.size() < 2 ? StringRef("?") : fields[1]) +
                  ", this reads version " + Twine(bundleVersion));
  if (fields.size() != 5 || fields[2].getAsInteger(10, manifest) ||
      fields[3].getAsInteger(10, files))
    return failed("its first line is damaged");
  if (manifest > payload.size() || files != payload.size() - manifest)
    return failed("it is cut off or too long");
  if (digest(payload) != fields[4])
    return failed("its checksum does not fit: it is damaged");
  Expected<json::Value> read = parseManifest(payload.take_front(manifest));
  if (!read)
    return failed(toString(read.takeError()));
  StringRef rest = payload.drop_front(manifest);
  Expected<Bundle> bundle = readFiles(
      std::move(*read), [&](StringRef, int64_t size) -> Expected<std::string> {
        std::string part = rest.take_front(size).str();
        rest = rest.drop_front(part.size());
        return part;
      });
  if (!bundle)
    return failed(toString(bundle.takeError()));
  if (!rest.empty())
    return failed("its manifest does not fit its files");
  return bundle;
}

Expected<const json::Object *> findArchitecture(const Bundle &bundle,
                                                StringRef name) {
  std::string known;
  for (const json::Value &value :
       *bundle.manifest.getAsObject()->getArray("architectures")) {
    const json::Object *architecture = value.getAsObject();
    std::optional<StringRef> found =
        architecture ? architecture->getString("name") : std::nullopt;
    if (found == name)
      return architecture;
    if (found)
      known += (known.empty() ? "" : ", ") + found->str();
  }
  return createStringError("the bundle has no code for '" + name +
                           "'; it has code for " + known);
}

// What the two readers share, for BundleFolder.cpp.
Expected<Bundle> readBundleFrom(
    StringRef manifest,
    function_ref<Expected<std::string>(StringRef, int64_t)> contents) {
  Expected<json::Value> parsed = parseManifest(manifest);
  if (!parsed)
    return parsed.takeError();
  return readFiles(std::move(*parsed), contents);
}

std::string printManifest(const Bundle &bundle) {
  return print(bundle.manifest);
}

} // namespace drawloom::nvptx
