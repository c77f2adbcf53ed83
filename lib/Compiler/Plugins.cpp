//===- Plugins.cpp - dialects and passes of others ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Plugins.h"
#include "codegen/CompileTarget.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Object/ELFObjectFile.h"
#include <dlfcn.h>

using namespace mlir;

namespace drawloom {

/// The libraries that an ELF file asks the loader for.
static llvm::Expected<std::vector<std::string>>
neededLibraries(const std::string &path) {
  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file)
    return file.takeError();
  auto *elf = dyn_cast<llvm::object::ELF64LEObjectFile>(file->getBinary());
  if (!elf)
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
  StringRef strings = file->getBinary()->getData();
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
static llvm::Error checkLibraries(const std::string &path) {
  llvm::Expected<std::vector<std::string>> needed = neededLibraries(path);
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

llvm::Error loadPlugin(const std::string &path, DialectRegistry &registry) {
  auto refuse = [&](const llvm::Twine &why) {
    return llvm::createStringError("the plugin '" + path +
                                   "' is not loaded: " + why);
  };
  if (llvm::Error error = checkLibraries(path))
    return refuse(llvm::toString(std::move(error)));
  // With all its symbols: one that is missing would end the process when it is
  // called first.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    StringRef why = dlerror();
    return refuse(why + (why.contains("undefined symbol")
                             ? "; build it with this Drawloom's headers"
                             : ""));
  }
  bool hasDialects = dlsym(library, "mlirGetDialectPluginInfo");
  bool hasPasses = dlsym(library, "mlirGetPassPluginInfo");
  if (!hasDialects && !hasPasses)
    return refuse("it has neither mlirGetDialectPluginInfo nor "
                  "mlirGetPassPluginInfo");
  if (hasDialects) {
    llvm::Expected<DialectPlugin> plugin = DialectPlugin::load(path);
    if (!plugin)
      return refuse(llvm::toString(plugin.takeError()));
    plugin->registerDialectRegistryCallbacks(registry);
  }
  if (hasPasses) {
    llvm::Expected<PassPlugin> plugin = PassPlugin::load(path);
    if (!plugin)
      return refuse(llvm::toString(plugin.takeError()));
    plugin->registerPassRegistryCallbacks();
  }
  return llvm::Error::success();
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

static LogicalResult run(const InsertedPasses &passes, ModuleOp module,
                         const std::function<void(PassManager &)> &configure) {
  auto refuse = [&](const llvm::Twine &why) {
    return emitError(UnknownLoc::get(module.getContext()))
           << "the passes '" << passes.pipeline << "' in front of phase "
           << passes.phase << " " << why;
  };
  PassManager pm(module.getContext());
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (failed(parsePassPipeline(passes.pipeline, pm, stream)))
    return refuse("are no pipeline: " + withSuggestion(problem));
  if (configure)
    configure(pm);
  // Ours need not be verified each; these are not ours.
  pm.enableVerifier(true);
  if (failed(pm.run(module)))
    return refuse("fail, or leave an invalid program");
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
