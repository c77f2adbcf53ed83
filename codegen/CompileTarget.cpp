//===- CompileTarget.cpp - what the compiler asks of a target -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CompileTarget.h"
#include "drawloom/runtime/StoreShare.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>

using namespace llvm;

namespace drawloom {

CompileTarget::~CompileTarget() = default;

std::optional<Phase> CompileTarget::parsePhase(StringRef name) const {
  for (Phase phase : allPhases())
    if (phaseName(phase) == name)
      return phase;
  return std::nullopt;
}

std::optional<DenseProducts> parseDenseProducts(StringRef name) {
  return StringSwitch<std::optional<DenseProducts>>(name)
      .Case("auto", DenseProducts::Auto)
      .Case("assume", DenseProducts::Assume)
      .Case("library", DenseProducts::Library)
      .Case("own", DenseProducts::Own)
      .Default(std::nullopt);
}

int64_t MemoryBudget::staging() const {
  return stores ? runtime::storeShare(bytes) : 0;
}

Error parseMemoryRates(StringRef text, MemoryRates &rates) {
  SmallVector<StringRef> parts;
  if (!text.empty())
    text.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, number] = part.split('=');
    double *into = StringSwitch<double *>(name)
                       .Case("operations", &rates.operations)
                       .Case("memory", &rates.memory)
                       .Case("copy", &rates.copy)
                       .Case("write", &rates.write)
                       .Case("read", &rates.read)
                       .Default(nullptr);
    double value = 0;
    if (!into || number.getAsDouble(value) || !(value > 0) || value > 1e30)
      return createStringError(
          "'" + part +
          "' is none of operations=, memory=, copy=, write= and read= with a "
          "number a second above 0");
    *into = value;
  }
  return Error::success();
}

MemoryRates CompileTarget::ratesOf(const MemoryBudget &memory) const {
  MemoryRates rates = memoryRates();
  for (double MemoryRates::*one :
       {&MemoryRates::operations, &MemoryRates::memory, &MemoryRates::write,
        &MemoryRates::read, &MemoryRates::copy})
    if (memory.rates.*one > 0)
      rates.*one = memory.rates.*one;
  return rates;
}

/// What was asked for; 0 where that is the target's own number.
static Expected<int64_t> processorsFor(const CodegenOptions &options) {
  // More than any machine has.
  constexpr int64_t mostProcessors = 1 << 20;
  if (options.processors > mostProcessors)
    return createStringError("a schedule for " + Twine(options.processors) +
                             " processors is asked for; " +
                             Twine(mostProcessors) + " is the most");
  if (options.processors)
    return options.processors;
  const char *said = std::getenv("DRAWLOOM_PROCESSORS");
  if (!said || !*said)
    return 0;
  int64_t number = 0;
  if (StringRef(said).getAsInteger(10, number) || number < 1 ||
      number > mostProcessors)
    return createStringError("DRAWLOOM_PROCESSORS is '" + StringRef(said) +
                             "'; it is a number of processors, from 1 to " +
                             Twine(mostProcessors));
  return number;
}

static std::string quoted(ArrayRef<std::string> names) {
  return "'" + join(names, "', '") + "'";
}

Expected<std::vector<std::string>>
CompileTarget::selectSets(StringRef isa) const {
  std::vector<std::string> known = instructionSets();
  SmallVector<StringRef> wanted;
  isa.split(wanted, ',');
  for (StringRef name : wanted)
    if (name != "all" && !is_contained(known, name)) {
      erase_if(known, [&](StringRef set) { return isForTests(set); });
      return createStringError("unknown instruction set '" + name +
                               "'; known are " + quoted(known) + ", and 'all'");
    }
  bool all = is_contained(wanted, "all");
  erase_if(known, [&](StringRef name) {
    return !is_contained(wanted, name) &&
           !(all && name != "native" && !isForTests(name));
  });
  return known;
}

Expected<std::string>
CompileTarget::fingerprint(const CodegenOptions &options) const {
  Expected<std::vector<std::string>> sets = selectSets(options.isa);
  if (!sets)
    return sets.takeError();
  std::string text;
  for (StringRef set : *sets)
    text += fingerprintOf(set) + "\n";
  Expected<int64_t> processors = processorsFor(options);
  if (!processors)
    return processors.takeError();
  if (*processors)
    text += "processors " + std::to_string(*processors) + "\n";
  if (const MemoryBudget &memory = options.memory; memory.bytes > 0) {
    MemoryRates rates = ratesOf(memory);
    text += formatv("memory {0} {1} {2} {3} {4} {5} {6}\n", memory.bytes,
                    memory.stores, rates.operations, rates.memory, rates.write,
                    rates.read, rates.copy)
                .str();
  }
  return text + choicesOf(options);
}

Expected<MachineFacts>
CompileTarget::machine(const CodegenOptions &options) const {
  Expected<std::vector<std::string>> sets = selectSets(options.isa);
  if (!sets)
    return sets.takeError();
  Expected<int64_t> processors = processorsFor(options);
  if (!processors)
    return processors.takeError();
  // The phases that ask run once for all sets: the first one speaks for them.
  MachineFacts facts = machineOf(sets->front());
  if (*processors)
    facts.processors = *processors;
  return facts;
}

Error CompileTarget::checkRunsHere(const CodegenOptions &options) const {
  Expected<std::vector<std::string>> sets = selectSets(options.isa);
  if (!sets)
    return sets.takeError();
  std::string why;
  for (StringRef set : *sets) {
    std::optional<std::string> lacks = lacksFor(set);
    if (!lacks)
      return Error::success();
    // Of what this machine has, it lacks all.
    if (set == "native")
      return createStringError("this machine cannot run target '" + name() +
                               "': " + *lacks);
    why += (why.empty() ? "'" : ", '") + set.str() + "': " + *lacks;
  }
  if (std::optional<std::string> lacks = lacksFor("native"))
    return createStringError("this machine cannot run target '" + name() +
                             "': " + *lacks);
  return createStringError("this machine cannot run instruction set " + why +
                           "; use 'native'");
}

Expected<std::unique_ptr<Program>> CompileTarget::load(const Artifact &artifact,
                                                       StringRef isa) const {
  std::vector<std::string> targets = artifact.targets();
  if (!is_contained(targets, name()))
    return createStringError("the program is for target " + quoted(targets) +
                             ", not '" + name() + "'");
  std::vector<std::string> known = instructionSets();
  for (const Artifact::Variant &variant : artifact.variants)
    if (variant.target == name() && !is_contained(known, variant.isa))
      return createStringError("the program holds code for instruction set '" +
                               variant.isa + "', which target '" + name() +
                               "' does not know");
  std::string why;
  for (StringRef set : known) {
    auto variant = find_if(artifact.variants, [&](const auto &candidate) {
      return candidate.target == name() && candidate.isa == set &&
             (isa.empty() || isa == set);
    });
    if (variant == artifact.variants.end())
      continue;
    std::optional<std::string> lacks = lacksFor(set);
    if (!lacks && variant->fingerprint != fingerprintOf(set))
      lacks = "it is the code of another machine";
    if (!lacks)
      return loadVariant(*variant);
    why += (why.empty() ? "'" : ", '") + set.str() + "': " + *lacks;
  }
  if (why.empty())
    return createStringError("the program holds no code for instruction set '" +
                             isa + "'");
  return createStringError("this machine runs none of the instruction sets "
                           "that the program holds code for: " +
                           why);
}

} // namespace drawloom
