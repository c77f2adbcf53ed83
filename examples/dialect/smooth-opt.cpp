//===- smooth-opt.cpp - a tool with two dialects and two sets of passes ---===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Smooth.h"
#include "dialects/Kan/Kan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Graph/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, drawloom::kan::KanDialect,
                  smooth::SmoothDialect>();
  drawloom::registerGraphPasses();
  mlir::registerTransformsPasses();
  smooth::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "kan and smooth", registry));
}
