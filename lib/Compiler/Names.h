//===- Names.h - what callers name arguments and results by -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program may name the arguments and results of its public functions:
//
//   func.func @predict(%x: tensor<?x8xf32> {drawloom.name = "features"})
//       -> (tensor<?x2xf32> {drawloom.name = "logits"})
//
// Callers find them by these names, in signatures and in files of compiled
// programs. No pass reads them, and compiled code has none.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_NAMES_H
#define DRAWLOOM_LIB_COMPILER_NAMES_H

#include "dialects/Drawloom/Attributes.h"
#include "drawloom/runtime/Artifact.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

namespace drawloom {

/// One for each argument and each result; "" where there is none.
struct ValueNames {
  std::vector<std::string> arguments, results;
};

ValueNames namesOf(mlir::FunctionOpInterface function);

/// Those of all functions with a body.
using FunctionNames = llvm::StringMap<ValueNames>;

/// Fails, with the place, where a name is no text, has other characters than
/// letters, digits, '_', '.' and '-', or belongs to two arguments or two
/// results.
llvm::LogicalResult verifyNames(mlir::ModuleOp module);

/// Verifies the names and takes them off the functions.
mlir::FailureOr<FunctionNames> takeNames(mlir::ModuleOp module);

/// Names what the signatures of a program have.
void giveNames(const FunctionNames &names, Artifact &artifact);
void giveNames(const ValueNames &names, Signature &signature);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_NAMES_H
