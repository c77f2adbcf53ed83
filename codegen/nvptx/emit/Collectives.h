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

/// Instructions that lanes or threads carry out together. LLVM's passes may not
/// add one, and its code generator must print each.
struct Collectives {
  enum Kind { Barrier, WarpBarrier, Product, Load, Store, Exchange, Kinds };
  std::array<unsigned, Kinds> count{};

  static Collectives of(const llvm::Module &module);
  static Collectives ofPtx(llvm::StringRef ptx);

  /// What passes made of these: those in code that never runs, and those whose
  /// results nobody uses, may be gone.
  llvm::Error checkNoneAdded(const llvm::Module &optimized) const;
  llvm::Error checkPtx(llvm::StringRef ptx) const;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_COLLECTIVES_H
