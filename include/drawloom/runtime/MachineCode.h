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
/// Loads the output of Drawloom's code generator: relocatable x86-64 ELF
/// objects of position-independent functions and constants. They need no
/// linker: nothing in them is shared with other objects, thread-local,
/// initialized at run time or unwound, and they refer only to functions of the
/// C library. Anything else in a file is refused by name.
class MachineCode {
public:
  ~MachineCode();
  MachineCode(const MachineCode &) = delete;
  MachineCode &operator=(const MachineCode &) = delete;

  /// Loads an object file. Every offset and length in the file is checked
  /// before it is used. A file that refers to any symbol other than those of
  /// cLibrarySymbols() is refused, and the error names the symbol.
  static Result<std::unique_ptr<MachineCode>> load(std::string_view object);

  /// Returns a global symbol's address; null if there is no such symbol.
  void *find(std::string_view symbol) const;
  /// Bytes of memory, in whole pages.
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
