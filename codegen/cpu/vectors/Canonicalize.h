//===- Canonicalize.h - upstream's canonicalization -------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without the pattern that makes what is added to a product its accumulator. Of
// two products it takes either, as the tiles happen to come to be, and tiles of
// one program would round differently.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_CANONICALIZE_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_CANONICALIZE_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace drawloom::cpu {

/// The patterns of all loaded dialects and their ops.
void addCanonicalizationPatterns(mlir::RewritePatternSet &patterns);

/// The pass, without the patterns of these names either.
std::unique_ptr<mlir::Pass>
createCanonicalizer(std::vector<std::string> without = {});

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_CANONICALIZE_H
