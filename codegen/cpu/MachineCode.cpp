//===- MachineCode.cpp - object files loaded into this process ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/MachineCode.h"
#include "codegen/CLibrary.h"
#include "codegen/cpu/Emit.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/ObjectFile.h"

using namespace llvm;

namespace drawloom::cpu {

namespace {

/// Names what an object file wants and will not get.
Error checkSymbols(MemoryBufferRef object) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  auto allowed = cLibrarySymbols();
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
  for (auto [name, address] : cLibrarySymbols())
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
