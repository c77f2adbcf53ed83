//===- Collectives.h - instructions of whole warps and blocks ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_COLLECTIVES_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_COLLECTIVES_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <array>

namespace drawloom::nvptx {

/// Counts the instructions that lanes or threads execute collectively. LLVM's
/// passes must not add any, and its code generator must print each.
struct Collectives {
  enum Kind { Barrier, WarpBarrier, Product, Load, Store, Exchange, Kinds };
  std::array<unsigned, Kinds> count{};

  static Collectives of(const llvm::Module &module);
  static Collectives ofPtx(llvm::StringRef ptx);

  /// Checks the result of the passes: collective instructions in dead code, or
  /// whose results are unused, may have been removed.
  llvm::Error checkNoneAdded(const llvm::Module &optimized) const;
  llvm::Error checkPtx(llvm::StringRef ptx) const;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_COLLECTIVES_H
