//===- Inlining.h - functions with our ops may be inlined -------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_INTERFACES_INLINING_H
#define DRAWLOOM_DIALECTS_INTERFACES_INLINING_H

#include "mlir/Transforms/InliningUtils.h"

namespace drawloom {

/// Lets the inliner inline functions that contain ops of the dialect, which
/// have the same meaning anywhere. Without this interface, their calls are
/// kept.
struct InlineAnywhere : mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(mlir::Operation *, mlir::Region *, bool,
                       mlir::IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(mlir::Region *, mlir::Region *, bool,
                       mlir::IRMapping &) const final {
    return true;
  }
};

} // namespace drawloom

#endif // DRAWLOOM_DIALECTS_INTERFACES_INLINING_H
