//===- Canonicalize.h - upstream's canonicalization -------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Canonicalization without the pattern that makes the addend of a product its
// accumulator. If both addends are products, that pattern picks either one,
// depending on how tiles come about, and tiles of one program would round
// differently.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_CANONICALIZE_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_CANONICALIZE_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace drawloom::cpu {

/// Adds the canonicalization patterns of all loaded dialects and their ops.
void addCanonicalizationPatterns(mlir::RewritePatternSet &patterns);

/// Creates the pass, additionally without the patterns of the given names.
std::unique_ptr<mlir::Pass>
createCanonicalizer(std::vector<std::string> without = {});

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_CANONICALIZE_H
