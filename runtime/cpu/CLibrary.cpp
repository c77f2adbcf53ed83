//===- CLibrary.cpp - what generated code may call ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/CLibrary.h"
#include <cmath>
#include <cstring>

// The compiler's own support library, on processors without F16C. Called by
// generated code only, so that the types do not matter here.
extern "C" {
void __extendhfsf2();
void __truncdfhf2();
void __truncsfhf2();
}

namespace drawloom::runtime {

std::vector<std::pair<std::string_view, void *>> cLibrarySymbols() {
#define DRAWLOOM_UNARY(name)                                                   \
  {#name,                                                                      \
   reinterpret_cast<void *>(static_cast<double (*)(double)>(std::name))},      \
      {#name "f",                                                              \
       reinterpret_cast<void *>(static_cast<float (*)(float)>(std::name))}
#define DRAWLOOM_BINARY(name)                                                  \
  {#name, reinterpret_cast<void *>(                                            \
              static_cast<double (*)(double, double)>(std::name))},            \
  {                                                                            \
    #name "f", reinterpret_cast<void *>(                                       \
                   static_cast<float (*)(float, float)>(std::name))            \
  }
  return {
      {"__extendhfsf2", reinterpret_cast<void *>(__extendhfsf2)},
      {"__truncdfhf2", reinterpret_cast<void *>(__truncdfhf2)},
      {"__truncsfhf2", reinterpret_cast<void *>(__truncsfhf2)},
      {"memcpy", reinterpret_cast<void *>(std::memcpy)},
      {"memmove", reinterpret_cast<void *>(std::memmove)},
      {"memset", reinterpret_cast<void *>(std::memset)},
      DRAWLOOM_UNARY(acos),
      DRAWLOOM_UNARY(acosh),
      DRAWLOOM_UNARY(asin),
      DRAWLOOM_UNARY(asinh),
      DRAWLOOM_UNARY(atan),
      DRAWLOOM_UNARY(atanh),
      DRAWLOOM_UNARY(cbrt),
      DRAWLOOM_UNARY(ceil),
      DRAWLOOM_UNARY(cos),
      DRAWLOOM_UNARY(cosh),
      DRAWLOOM_UNARY(erf),
      DRAWLOOM_UNARY(erfc),
      DRAWLOOM_UNARY(exp),
      DRAWLOOM_UNARY(exp2),
      DRAWLOOM_UNARY(expm1),
      DRAWLOOM_UNARY(floor),
      DRAWLOOM_UNARY(log),
      DRAWLOOM_UNARY(log10),
      DRAWLOOM_UNARY(log1p),
      DRAWLOOM_UNARY(log2),
      DRAWLOOM_UNARY(round),
      DRAWLOOM_UNARY(rint),
      DRAWLOOM_UNARY(sin),
      DRAWLOOM_UNARY(sinh),
      DRAWLOOM_UNARY(sqrt),
      DRAWLOOM_UNARY(tan),
      DRAWLOOM_UNARY(tanh),
      DRAWLOOM_UNARY(trunc),
      DRAWLOOM_BINARY(atan2),
      DRAWLOOM_BINARY(fmod),
      DRAWLOOM_BINARY(pow),
      {"fma", reinterpret_cast<void *>(
                  static_cast<double (*)(double, double, double)>(std::fma))},
      {"fmaf", reinterpret_cast<void *>(
                   static_cast<float (*)(float, float, float)>(std::fma))},
      {"roundeven", reinterpret_cast<void *>(::roundeven)},
      {"roundevenf", reinterpret_cast<void *>(::roundevenf)},
  };
#undef DRAWLOOM_UNARY
#undef DRAWLOOM_BINARY
}

} // namespace drawloom::runtime
