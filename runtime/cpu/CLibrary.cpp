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
#include <strings.h>

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
  // A superset of what LLVM's x86 backend and its simplification of calls make
  // of the ops that programs have: test/python/programs/
  // test_every_op_and_type.py sweeps these.
  return {
      {"__extendhfsf2", reinterpret_cast<void *>(__extendhfsf2)},
      {"__truncdfhf2", reinterpret_cast<void *>(__truncdfhf2)},
      {"__truncsfhf2", reinterpret_cast<void *>(__truncsfhf2)},
      {"bcmp", reinterpret_cast<void *>(::bcmp)},
      {"memcmp", reinterpret_cast<void *>(std::memcmp)},
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
      {"exp10", reinterpret_cast<void *>(::exp10)},
      {"exp10f", reinterpret_cast<void *>(::exp10f)},
      DRAWLOOM_UNARY(expm1),
      DRAWLOOM_UNARY(floor),
      DRAWLOOM_UNARY(log),
      DRAWLOOM_UNARY(log10),
      DRAWLOOM_UNARY(log1p),
      DRAWLOOM_UNARY(log2),
      DRAWLOOM_UNARY(nearbyint),
      DRAWLOOM_UNARY(round),
      DRAWLOOM_UNARY(rint),
      DRAWLOOM_UNARY(sin),
      DRAWLOOM_UNARY(sinh),
      DRAWLOOM_UNARY(sqrt),
      DRAWLOOM_UNARY(tan),
      DRAWLOOM_UNARY(tanh),
      DRAWLOOM_UNARY(trunc),
      DRAWLOOM_BINARY(atan2),
      DRAWLOOM_BINARY(fmax),
      DRAWLOOM_BINARY(fmin),
      DRAWLOOM_BINARY(fmod),
      DRAWLOOM_BINARY(pow),
      {"fma", reinterpret_cast<void *>(
                  static_cast<double (*)(double, double, double)>(std::fma))},
      {"fmaf", reinterpret_cast<void *>(
                   static_cast<float (*)(float, float, float)>(std::fma))},
      {"ldexp", reinterpret_cast<void *>(
                    static_cast<double (*)(double, int)>(std::ldexp))},
      {"ldexpf", reinterpret_cast<void *>(
                     static_cast<float (*)(float, int)>(std::ldexp))},
      // Of one value, a sine and a cosine become one call.
      {"sincos", reinterpret_cast<void *>(::sincos)},
      {"sincosf", reinterpret_cast<void *>(::sincosf)},
      {"roundeven", reinterpret_cast<void *>(::roundeven)},
      {"roundevenf", reinterpret_cast<void *>(::roundevenf)},
  };
#undef DRAWLOOM_UNARY
#undef DRAWLOOM_BINARY
}

} // namespace drawloom::runtime
