//===- CpuFeatures.cpp - what this processor can do -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/CpuFeatures.h"
#include <cstdint>
#include <cstdio>
#include <vector>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace drawloom::runtime {

namespace {
enum Register { Eax, Ebx, Ecx, Edx };

struct Words {
  unsigned registers[4] = {};
};

/// One leaf of CPUID; zeros where the processor has none of that number.
Words leaf(unsigned number, unsigned part = 0) {
  Words words;
#if defined(__x86_64__)
  unsigned (&r)[4] = words.registers;
  if (!__get_cpuid_count(number, part, &r[Eax], &r[Ebx], &r[Ecx], &r[Edx]))
    return {};
#endif
  return words;
}

/// The registers that the system saves when it switches tasks (XCR0).
uint64_t savedRegisters() {
#if defined(__x86_64__)
  constexpr unsigned osxsave = 1u << 27;
  if (!(leaf(1).registers[Ecx] & osxsave))
    return 0;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
#else
  return 0;
#endif
}

constexpr uint64_t vectors = 0x6;      // xmm and ymm
constexpr uint64_t wideVectors = 0xe6; // and opmasks and zmm
constexpr uint64_t tiles = 0x60000;    // configuration and data

struct Feature {
  std::string_view name;
  unsigned leaf, part;
  Register where;
  unsigned bit;
  uint64_t saved;
};
constexpr Feature features[] = {
    {"f16c", 1, 0, Ecx, 29, vectors},
    {"fma", 1, 0, Ecx, 12, vectors},
    {"avx2", 7, 0, Ebx, 5, vectors},
    {"bmi2", 7, 0, Ebx, 8, 0},
    {"avx512f", 7, 0, Ebx, 16, wideVectors},
    {"avx512dq", 7, 0, Ebx, 17, wideVectors},
    {"avx512cd", 7, 0, Ebx, 28, wideVectors},
    {"avx512bw", 7, 0, Ebx, 30, wideVectors},
    {"avx512vl", 7, 0, Ebx, 31, wideVectors},
    {"avx512bf16", 7, 1, Eax, 5, wideVectors},
    {"amx-bf16", 7, 0, Edx, 22, tiles},
    {"amx-tile", 7, 0, Edx, 24, tiles},
};
} // namespace

/// Tiles' registers are large: Linux saves them only for processes that ask.
static bool mayUseTiles() {
#if defined(__linux__) && defined(__x86_64__)
  // ARCH_REQ_XCOMP_PERM and XFEATURE_XTILEDATA of the kernel's interface.
  static const bool granted = syscall(SYS_arch_prctl, 0x1023, 18) == 0;
  return granted;
#else
  return false;
#endif
}

std::string lacks(std::string_view name) {
  for (const Feature &feature : features) {
    if (feature.name != name)
      continue;
    if (!(leaf(feature.leaf, feature.part).registers[feature.where] >>
              feature.bit &
          1))
      return "its processor lacks " + std::string(name);
    if ((savedRegisters() & feature.saved) != feature.saved ||
        (feature.saved == tiles && !mayUseTiles()))
      return "the system does not let this process use the registers of " +
             std::string(name);
    return "";
  }
  return "'" + std::string(name) +
         "' is a feature that this library does not "
         "know";
}

std::string processorWords() {
  // Leaf 1 tells in ebx on which core the question ran.
  Words basic = leaf(1), more = leaf(7), most = leaf(7, 1),
        extended = leaf(0x80000001);
  uint64_t saved = savedRegisters();
  const unsigned words[] = {basic.registers[Ecx],
                            basic.registers[Edx],
                            more.registers[Ebx],
                            more.registers[Ecx],
                            more.registers[Edx],
                            most.registers[Eax],
                            most.registers[Edx],
                            extended.registers[Ecx],
                            extended.registers[Edx],
                            static_cast<unsigned>(saved),
                            static_cast<unsigned>(saved >> 32)};
  std::string text;
  for (unsigned word : words) {
    char digits[16];
    std::snprintf(digits, sizeof(digits), "%08x", word);
    text += digits;
  }
  return text;
}

bool includesWords(std::string_view have, std::string_view wanted) {
  auto value = [](char digit) {
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                          : -1;
  };
  if (have.size() != wanted.size())
    return false;
  for (size_t i = 0; i < have.size(); ++i) {
    int has = value(have[i]), wants = value(wanted[i]);
    if (has < 0 || wants < 0 || (has & wants) != wants)
      return false;
  }
  return true;
}

bool hasProcessorWords(std::string_view words) {
  return includesWords(processorWords(), words);
}

} // namespace drawloom::runtime
