//===- OldGlibc.cpp - what glibc 2.34 has not -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's archives were made on a machine with glibc 2.36. Two functions that
// they call came, or changed, after 2.34, which RHEL 9 and Ubuntu 22.04 can
// load. The library with LLVM inside has them itself.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" {

/// LLVM takes seeds and names of temporary files from it.
__attribute__((visibility("hidden"))) uint32_t arc4random() {
  uint32_t value = 0;
  if (getrandom(&value, sizeof(value), 0) != sizeof(value))
    abort(); // Never for so few bytes, by getrandom(2).
  return value;
}

/// 2.35 has a version that leaves errno alone; this is the one before.
double drawloomOldHypot(double x, double y);
__asm__(".symver drawloomOldHypot, hypot@GLIBC_2.2.5");

/// By -Wl,--wrap=hypot: calls of hypot come here.
__attribute__((visibility("hidden"))) double __wrap_hypot(double x, double y) {
  return drawloomOldHypot(x, y);
}
}
