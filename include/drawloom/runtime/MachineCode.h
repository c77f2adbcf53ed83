//===- MachineCode.h - object files loaded into this process ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_MACHINECODE_H
#define DRAWLOOM_RUNTIME_MACHINECODE_H

#include "drawloom/runtime/Status.h"
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace drawloom::runtime {

/// Machine code loaded into this process.
///
/// Loads what Drawloom's code generator emits: relocatable ELF objects for
/// x86-64 of position-independent functions and constants. They need no linker:
/// nothing in them is shared with other objects, thread-local, initialized at
/// run time or unwound, and all that they refer to are functions of the C
/// library. Whatever else a file holds is refused by name.
class MachineCode {
public:
  ~MachineCode();
  MachineCode(const MachineCode &) = delete;
  MachineCode &operator=(const MachineCode &) = delete;

  /// Every offset and length in the file is checked before it is used. Refuses
  /// a file that refers to any symbol but those of cLibrarySymbols(), and names
  /// it.
  static Result<std::unique_ptr<MachineCode>> load(std::string_view object);

  /// A global symbol's address; null where there is none of that name.
  void *find(std::string_view symbol) const;
  /// Of memory, in whole pages.
  size_t bytes() const { return size; }

private:
  friend class ObjectLoader;
  MachineCode() = default;
  char *memory = nullptr;
  size_t size = 0;
  std::unordered_map<std::string, void *> symbols;
};

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_MACHINECODE_H
