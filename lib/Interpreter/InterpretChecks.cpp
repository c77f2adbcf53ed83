//===- InterpretChecks.cpp - run the check ops of a module ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Ad/Ad.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Interpreter/Passes.h"
#include "passes/Differentiate/Passes.h"

namespace drawloom {

#define GEN_PASS_DEF_INTERPRETCHECKS
#include "lib/Interpreter/Passes.h.inc"

namespace {
struct InterpretChecks : impl::InterpretChecksBase<InterpretChecks> {
  // check.gradient runs that pass.
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<ad::AdDialect>();
    createDifferentiatePass()->getDependentDialects(registry);
  }

  void runOnOperation() override {
    if (failed(Interpreter::runChecks(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace drawloom
