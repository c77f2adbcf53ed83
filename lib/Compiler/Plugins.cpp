//===- Plugins.cpp - dialects and passes of others ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Plugins.h"
#include "codegen/CompileTarget.h"
#include "lib/Compiler/Cache.h"
#include "lib/Compiler/OpenLibrary.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <dlfcn.h>
#include <mutex>

using namespace mlir;

namespace drawloom {

/// The libraries that an ELF file asks the loader for.
static llvm::Expected<std::vector<std::string>>
neededLibraries(llvm::MemoryBufferRef contents) {
  auto file = llvm::object::ObjectFile::createObjectFile(contents);
  if (!file)
    return file.takeError();
  auto *elf = dyn_cast<llvm::object::ELF64LEObjectFile>(file->get());
  if (!elf || elf->getELFFile().getHeader().e_machine != llvm::ELF::EM_X86_64)
    return llvm::createStringError("it is no library of this machine");
  auto entries = elf->getELFFile().dynamicEntries();
  if (!entries)
    return entries.takeError();
  const uint8_t *names = nullptr;
  std::vector<uint64_t> offsets;
  for (const auto &entry : *entries) {
    if (entry.getTag() == llvm::ELF::DT_NEEDED)
      offsets.push_back(entry.getVal());
    if (entry.getTag() == llvm::ELF::DT_STRTAB) {
      auto start = elf->getELFFile().toMappedAddr(entry.getPtr());
      if (!start)
        return start.takeError();
      names = *start;
    }
  }
  std::vector<std::string> list;
  StringRef strings = contents.getBuffer();
  strings = names ? strings.drop_front(names - strings.bytes_begin()) : "";
  for (uint64_t offset : offsets) {
    if (offset >= strings.size())
      return llvm::createStringError("it is damaged: it needs a library whose "
                                     "name is not in it");
    list.push_back(strings.substr(offset).split('\0').first.str());
  }
  return list;
}

/// Refuses what would bring a second MLIR into the process.
static llvm::Error checkLibraries(llvm::MemoryBufferRef contents) {
  llvm::Expected<std::vector<std::string>> needed = neededLibraries(contents);
  if (!needed)
    return needed.takeError();
  const std::string version = std::to_string(LLVM_VERSION_MAJOR) + "." +
                              std::to_string(LLVM_VERSION_MINOR);
  for (StringRef library : *needed)
    for (StringRef ours : {"libMLIR.so.", "libLLVM.so."})
      if (library.starts_with(ours) && library != ours.str() + version)
        return llvm::createStringError("it needs " + library +
                                       ", and this is " + ours + version +
                                       ": build it with LLVM " + version);
  return llvm::Error::success();
}

namespace {
struct KnownPlugin : Plugin {
  /// That it gives itself.
  std::string name;
  void (*addDialects)(DialectRegistry *) = nullptr;
};

/// MLIR knows passes for a whole process, and so do we plugins. Who holds the
/// lock may register passes or look for them.
struct Plugins {
  std::mutex mutex;
  std::vector<KnownPlugin> known;
};
} // namespace

static Plugins &plugins() {
  static Plugins plugins;
  return plugins;
}

/// Asks the plugin by one of MLIR's two functions, if it has it; both give the
/// same fields.
template <typename Info>
static llvm::Expected<std::optional<Info>> ask(void *library,
                                               const char *function) {
  void *symbol = dlsym(library, function);
  if (!symbol)
    return std::nullopt;
  Info info = reinterpret_cast<Info (*)()>(symbol)();
  if (info.apiVersion != MLIR_PLUGIN_API_VERSION)
    return llvm::createStringError(
        function + llvm::Twine(" has version ") + llvm::Twine(info.apiVersion) +
        ", and this MLIR has " + llvm::Twine(MLIR_PLUGIN_API_VERSION));
  return info;
}

/// Registers the passes of a library that is open.
static llvm::Error take(void *library, KnownPlugin plugin) {
  constexpr const char *dialectInfo = "mlirGetDialectPluginInfo";
  constexpr const char *passInfo = "mlirGetPassPluginInfo";
  auto dialects = ask<DialectPluginLibraryInfo>(library, dialectInfo);
  if (!dialects)
    return dialects.takeError();
  auto passes = ask<PassPluginLibraryInfo>(library, passInfo);
  if (!passes)
    return passes.takeError();
  if (!*dialects && !*passes)
    return llvm::createStringError(llvm::Twine("it has neither ") +
                                   dialectInfo + " nor " + passInfo);
  plugin.name = *dialects ? (*dialects)->pluginName : (*passes)->pluginName;
  for (const KnownPlugin &other : plugins().known)
    if (other.name == plugin.name)
      return llvm::createStringError("this process has another plugin '" +
                                     other.name + "', from '" + other.path +
                                     "', and keeps it until it ends");
  if (*dialects)
    plugin.addDialects = (*dialects)->registerDialectRegistryCallbacks;
  if (*passes)
    (*passes)->registerPassRegistryCallbacks();
  plugins().known.push_back(std::move(plugin));
  return llvm::Error::success();
}

llvm::Error loadPlugin(const std::string &path) {
  auto refuse = [&](const llvm::Twine &why) {
    return llvm::createStringError("the plugin '" + path +
                                   "' is not loaded: " + why);
  };
  // Pipes and devices may never end.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return refuse("it is no regular file");
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return refuse(file.getError().message());
  KnownPlugin plugin;
  plugin.digest = cacheKey({(*file)->getBuffer()});
  SmallString<128> absolute(path);
  if (std::error_code error = llvm::sys::fs::make_absolute(absolute))
    return refuse(error.message());
  plugin.path = absolute.str().str();

  std::lock_guard<std::mutex> lock(plugins().mutex);
  if (llvm::any_of(plugins().known, [&](const KnownPlugin &other) {
        return other.digest == plugin.digest;
      }))
    return llvm::Error::success();
  if (llvm::Error error = checkLibraries(**file))
    return refuse(llvm::toString(std::move(error)));
  llvm::Expected<void *> library = openLibrary(plugin.path);
  if (!library) {
    std::string why = llvm::toString(library.takeError());
    return refuse(why + (StringRef(why).contains("undefined symbol")
                             ? "; build it with this Drawloom's headers"
                             : ""));
  }
  if (llvm::Error error = take(*library, std::move(plugin)))
    return refuse(llvm::toString(std::move(error)));
  return llvm::Error::success();
}

void registerPasses(llvm::function_ref<void()> callback) {
  std::lock_guard<std::mutex> lock(plugins().mutex);
  callback();
}

std::vector<Plugin> addPlugins(DialectRegistry &registry) {
  std::lock_guard<std::mutex> lock(plugins().mutex);
  std::vector<Plugin> list;
  for (const KnownPlugin &plugin : plugins().known) {
    if (plugin.addDialects)
      plugin.addDialects(&registry);
    list.push_back(plugin);
  }
  return list;
}

llvm::Expected<InsertedPasses>
InsertedPasses::parse(StringRef text, const CompileTarget &target) {
  auto [phase, pipeline] = text.split(':');
  std::optional<Phase> found = target.parsePhase(phase);
  if (!found || *found == Phase::Input || pipeline.empty()) {
    std::string known;
    for (Phase one : allPhases())
      if (one != Phase::Input)
        known += (known.empty() ? "" : ", ") + target.phaseName(one).str();
    return llvm::createStringError(
        "'" + text + "' names no passes in front of a phase: a phase (" +
        known + ") and a pipeline, as in 'structured:canonicalize,cse'");
  }
  // MLIR's parser calls itself for each level.
  constexpr int64_t maxLevels = 100;
  int64_t levels = 0;
  for (char c : pipeline) {
    levels += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (levels > maxLevels)
      return llvm::createStringError("the passes before phase " + phase +
                                     " are nested more than " +
                                     llvm::Twine(maxLevels) + " levels deep");
  }
  return InsertedPasses{*found, phase.str(), pipeline.str()};
}

/// A pass or pipeline whose name differs from this one by one letter that is
/// another, is missing, or is too many, or by two in the wrong order; empty
/// where there is none. The registry can be asked for names, not for its list.
static std::string nearestPass(StringRef name) {
  auto isKnown = [](StringRef candidate) {
    return PassInfo::lookup(candidate) || PassPipelineInfo::lookup(candidate);
  };
  constexpr StringRef letters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  for (size_t at = 0; at <= name.size(); ++at) {
    std::string before = name.take_front(at).str();
    StringRef after = name.drop_front(at);
    if (std::string shorter = before + after.drop_front(!after.empty()).str();
        isKnown(shorter))
      return shorter;
    if (after.size() > 1)
      if (std::string swapped =
              before + after[1] + after[0] + after.drop_front(2).str();
          isKnown(swapped))
        return swapped;
    for (char letter : letters)
      for (StringRef rest : {after, after.drop_front(!after.empty())})
        if (std::string other = before + letter + rest.str(); isKnown(other))
          return other;
  }
  return "";
}

/// MLIR's message with "; did you mean 'cse'?" for an unknown pass that it
/// quotes.
static std::string withSuggestion(StringRef problem) {
  StringRef unknown = "' does not refer to a registered pass or pass pipeline";
  auto [front, back] = problem.rtrim().split(unknown);
  if (front.size() == problem.rtrim().size())
    return front.str();
  std::string nearest = nearestPass(front.rsplit('\'').second);
  if (!nearest.empty())
    nearest = "; did you mean '" + nearest + "'?";
  return (front + unknown + nearest + back).str();
}

/// The passes, at the beginning of a message about them.
static std::string described(const InsertedPasses &passes) {
  return "the passes '" + passes.pipeline + "' before phase " + passes.phase;
}

llvm::Error InsertedPasses::addTo(OpPassManager &passes) const {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  std::lock_guard<std::mutex> lock(plugins().mutex);
  if (failed(parsePassPipeline(pipeline, passes, stream)))
    return llvm::createStringError(
        described(*this) +
        " are not a valid pipeline: " + withSuggestion(problem));
  return llvm::Error::success();
}

static LogicalResult run(const InsertedPasses &passes, ModuleOp module,
                         const std::function<void(PassManager &)> &configure) {
  auto location = UnknownLoc::get(module.getContext());
  PassManager pm(module.getContext());
  if (llvm::Error error = passes.addTo(pm))
    return emitError(location) << llvm::toString(std::move(error));
  if (configure)
    configure(pm);
  // Ours need not be verified each; these are not ours.
  pm.enableVerifier(true);
  if (failed(pm.run(module)))
    return emitError(location)
           << described(passes) << " fail, or leave an invalid program";
  return success();
}

LogicalResult runInserted(ArrayRef<InsertedPasses> all, Phase into,
                          ModuleOp module,
                          const std::function<void(PassManager &)> &configure) {
  for (const InsertedPasses &passes : all)
    if (passes.into == into && failed(run(passes, module, configure)))
      return failure();
  return success();
}

} // namespace drawloom
