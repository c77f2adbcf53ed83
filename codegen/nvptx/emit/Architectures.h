//===- Architectures.h - NVIDIA's processors as a table ------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_ARCHITECTURES_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_ARCHITECTURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace drawloom::nvptx {

/// The features that code for one architecture may use. The PTX version follows
/// from the architecture alone, not from the assembler that is found: the same
/// module gives the same PTX everywhere.
struct Architecture {
  llvm::StringLiteral name; ///< As ptxas spells it: sm_90a.
  /// A product of this architecture, for messages.
  llvm::StringLiteral product;
  unsigned capability;     ///< 10 * major + minor: 90.
  bool specific;           ///< An `a` variant: runs on no other capability.
  unsigned ptxVersion;     ///< 10 * major + minor of the PTX emitted.
  int64_t sharedBytes;     ///< Max shared memory of a block (opt-in).
  unsigned registers;      ///< Max registers of a thread.
  unsigned blockRegisters; ///< Registers of a multiprocessor, 32 bits each.
};

/// Limits common to all architectures.
constexpr unsigned mostThreads = 1024;
/// Max bytes of a kernel's parameters that every driver accepts.
constexpr int64_t mostParameterBytes = 4096;

llvm::ArrayRef<Architecture> architectures();
/// Returns the names as a list for messages and help: "sm_80, sm_90a, sm_100a".
std::string architectureNames();
/// Finds an architecture; on failure, the error lists the known ones.
llvm::Expected<const Architecture *> findArchitecture(llvm::StringRef name);
/// Parses a comma-separated list of architectures, or "all"; returns each once,
/// in the table's order.
llvm::Expected<std::vector<const Architecture *>>
selectArchitectures(llvm::StringRef list);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_ARCHITECTURES_H
