//===- MachineCode.cpp - object files loaded into this process ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/MachineCode.h"
#include "codegen/cpu/Emit.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/ObjectFile.h"
#include <cmath>
#include <cstring>

using namespace llvm;

// The compiler's own support library, on processors without F16C. Called by
// generated code only, so that the types do not matter here.
extern "C" {
void __extendhfsf2();
void __truncdfhf2();
void __truncsfhf2();
}

namespace drawloom::cpu {

namespace {

/// The C library's functions that generated code may call: LLVM makes calls of
/// the first group out of loops, MLIR of the rest out of f64 mathematics.
std::vector<std::pair<StringRef, void *>> allowedSymbols() {
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

/// Names what an object file wants and will not get.
Error checkSymbols(MemoryBufferRef object) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  auto allowed = allowedSymbols();
  std::string unknown;
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & object::SymbolRef::SF_Undefined))
      continue;
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (name->empty() || *name == "_GLOBAL_OFFSET_TABLE_" ||
        any_of(allowed, [&](auto &known) { return known.first == *name; }))
      continue;
    unknown += (unknown.empty() ? "" : ", ") + name->str();
  }
  if (unknown.empty())
    return Error::success();
  return createStringError("the generated code refers to " + unknown +
                           ", which no program may call");
}

} // namespace

MachineCode::MachineCode(std::unique_ptr<orc::LLJIT> jit)
    : jit(std::move(jit)) {}
MachineCode::~MachineCode() = default;

Expected<std::unique_ptr<MachineCode>> MachineCode::create(StringRef code) {
  std::unique_ptr<MemoryBuffer> object =
      MemoryBuffer::getMemBufferCopy(code, "drawloom");
  if (Error error = checkSymbols(object->getMemBufferRef()))
    return error;
  initializeTarget();
  Expected<std::unique_ptr<orc::LLJIT>> jit =
      orc::LLJITBuilder()
          // No static initializers, no symbols of this process.
          .setPlatformSetUp(orc::setUpInactivePlatform)
          .setLinkProcessSymbolsByDefault(false)
          .create();
  if (!jit)
    return jit.takeError();
  orc::SymbolMap symbols;
  for (auto [name, address] : allowedSymbols())
    symbols[(*jit)->mangleAndIntern(name)] = {
        orc::ExecutorAddr::fromPtr(address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  if (Error error = (*jit)->getMainJITDylib().define(
          orc::absoluteSymbols(std::move(symbols))))
    return error;
  if (Error error = (*jit)->addObjectFile(std::move(object)))
    return error;
  return std::unique_ptr<MachineCode>(new MachineCode(std::move(*jit)));
}

Expected<void *> MachineCode::lookup(StringRef name) const {
  Expected<orc::ExecutorAddr> address = jit->lookup(name);
  if (!address)
    return address.takeError();
  return address->toPtr<void *>();
}

} // namespace drawloom::cpu
