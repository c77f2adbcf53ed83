//===- NvptxTranslations.h - kernel modules to GPU code -------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TOOLS_DRAWLOOM_TRANSLATE_NVPTXTRANSLATIONS_H
#define DRAWLOOM_TOOLS_DRAWLOOM_TRANSLATE_NVPTXTRANSLATIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>

namespace drawloom {

/// Brings a program to a kernel module for one architecture; reports its own
/// errors.
using LowerToKernels =
    std::function<mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>(
        mlir::ModuleOp program, llvm::StringRef arch)>;

/// Registers --mlir-to-ptx, --mlir-to-cubin, --mlir-to-bundle and
/// --mlir-to-schedules with their options; `lowerToLayouts` goes as far as the
/// phase `buffers`. To be called before the command line is read.
void registerNvptxTranslations(
    std::function<void(mlir::DialectRegistry &)> registerDialects,
    LowerToKernels lower, LowerToKernels lowerToLayouts);

/// What --arch says.
const std::string &architectureOption();

} // namespace drawloom

#endif // DRAWLOOM_TOOLS_DRAWLOOM_TRANSLATE_NVPTXTRANSLATIONS_H
