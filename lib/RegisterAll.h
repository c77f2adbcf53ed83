//===- RegisterAll.h - every dialect and pass, for the tools ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_REGISTERALL_H
#define DRAWLOOM_LIB_REGISTERALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace drawloom {

/// Registers Drawloom's dialects, the upstream dialects that its programs use,
/// and the external models (differentiation, tiling, bufferization) of both.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers the passes of MLIR and of Drawloom's compiler, for pipelines that
/// are given as text.
void registerCompilerPasses();

/// The same with the interpreter's, for tools.
void registerAllPasses();

} // namespace drawloom

#endif // DRAWLOOM_LIB_REGISTERALL_H
