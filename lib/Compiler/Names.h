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
// Callers find arguments and results by these names, in signatures and in files
// of compiled programs. No pass reads the names, and compiled code does not
// contain them.
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

/// One name for each argument and each result; "" for those without a name.
struct ValueNames {
  std::vector<std::string> arguments, results;
};

ValueNames namesOf(mlir::FunctionOpInterface function);

/// The names of all functions with a body.
using FunctionNames = llvm::StringMap<ValueNames>;

/// Fails, with the location, if a name is not a string, contains characters
/// other than letters, digits, '_', '.' and '-', or is used for two arguments
/// or two results.
llvm::LogicalResult verifyNames(mlir::ModuleOp module);

/// Verifies the names and removes them from the functions.
mlir::FailureOr<FunctionNames> takeNames(mlir::ModuleOp module);

/// Adds the names to the signatures of a program.
void giveNames(const FunctionNames &names, Artifact &artifact);
void giveNames(const ValueNames &names, Signature &signature);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_NAMES_H
