//===- InstructionSet.cpp - instruction sets of x86 as data ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/InstructionSet.h"
#include "drawloom/runtime/CpuFeatures.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace drawloom::cpu {

static const StringRef avx2Features[] = {"avx2", "fma", "bmi2", "f16c"};
static const StringRef avx512Features[] = {"avx2",     "fma",      "bmi2",
                                           "f16c",     "avx512f",  "avx512bw",
                                           "avx512cd", "avx512dq", "avx512vl"};
static const StringRef avx512bf16Features[] = {
    "avx2",     "fma",      "bmi2",     "f16c",     "avx512f",
    "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512bf16"};
static const StringRef amxFeatures[] = {
    "avx2",     "fma",      "bmi2",     "f16c",     "avx512f", "avx512bw",
    "avx512cd", "avx512dq", "avx512vl", "amx-tile", "amx-bf16"};

// The rule for a dot tile of R x C elements with vectors of V elements:
// R*C/V accumulators + C/V columns + 1 broadcast fit the registers, and R*C/V
// is more than latency times pipes of the multiply-adder (8 on all since 2013):
// with just as many, no cycle that was lost is ever made up for.
// Tiles of AMX have 16 rows of 64 bytes, and there are 8: four sums, two of
// each operand.
static const InstructionSet sets[] = {
    {"baseline", "x86-64", "", 16, 16, 4, 8, 4, 16, {}},
    {"amx-replaced",
     "x86-64",
     "",
     16,
     16,
     4,
     8,
     4,
     16,
     {},
     PairUnit::ReplacedTiles,
     32,
     32,
     16},
    {"avx2", "x86-64-v3", "", 32, 16, 6, 16, 1, 32, avx2Features},
    {"avx512", "x86-64-v4", "", 64, 32, 8, 32, 4, 32, avx512Features},
    {"avx512bf16", "x86-64-v4", "+avx512bf16", 64, 32, 8, 32, 4, 32,
     avx512bf16Features, PairUnit::Vectors, 8, 32, 4},
    {"amx", "x86-64-v4", "+amx-tile,+amx-bf16", 64, 32, 8, 32, 4, 32,
     amxFeatures, PairUnit::Tiles, 32, 32, 16},
};

ArrayRef<InstructionSet> instructionSets() { return sets; }

Error checkHostRuns(const InstructionSet &set) {
  // As the runtime will judge it.
  for (StringRef feature : set.features)
    if (std::string why = runtime::lacks(feature); !why.empty())
      return createStringError(why);
  return Error::success();
}

static const InstructionSet &nativeSet() {
  for (const InstructionSet &set : reverse(sets)) {
    if (isForTests(set))
      continue;
    Error error = checkHostRuns(set);
    bool runs = !error;
    consumeError(std::move(error));
    if (runs)
      return set;
  }
  return sets[0];
}

Expected<const InstructionSet *> findInstructionSet(StringRef name) {
  if (name == "native")
    return &nativeSet();
  for (const InstructionSet &set : sets)
    if (set.name == name)
      return &set;
  std::string known;
  for (const InstructionSet &set : sets)
    if (!isForTests(set))
      known += ", '" + set.name.str() + "'";
  return createStringError("unknown instruction set '" + name +
                           "'; known are 'native'" + known);
}

Expected<TargetDescription> describeTarget(StringRef name) {
  Expected<const InstructionSet *> set = findInstructionSet(name);
  if (!set)
    return set.takeError();
  if (name != "native")
    return TargetDescription{(*set)->processor.str(), (*set)->extras.str()};
  // Features apart: a virtual machine may hide some of its model's.
  std::string features;
  StringMap<bool> host = sys::getHostCPUFeatures();
  SmallVector<StringRef> names;
  for (const auto &entry : host)
    names.push_back(entry.getKey());
  llvm::sort(names);
  for (StringRef feature : names)
    features += (features.empty() ? "" : ",") +
                std::string(host.lookup(feature) ? "+" : "-") + feature.str();
  return TargetDescription{sys::getHostCPUName().str(), features};
}

} // namespace drawloom::cpu
