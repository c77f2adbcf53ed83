//===- RunPhases.h - from one phase to another ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_RUNPHASES_H
#define DRAWLOOM_LIB_COMPILER_RUNPHASES_H

#include "lib/Compiler/Compiler.h"
#include "mlir/IR/Diagnostics.h"

namespace drawloom {

/// Runs the phases after options.from up to options.to, including inserted
/// passes, and dumps the module after each phase if requested.
llvm::LogicalResult runPhases(mlir::ModuleOp module,
                              const CompileOptions &options,
                              const MachineFacts &machine);

/// Holds back the diagnostics of an attempt until it is known whether the
/// attempt counts.
class HeldDiagnostics {
public:
  explicit HeldDiagnostics(mlir::MLIRContext *context)
      : engine(context->getDiagEngine()),
        handler(engine.registerHandler([this](mlir::Diagnostic &diagnostic) {
          held.push_back(std::move(diagnostic));
        })) {}
  ~HeldDiagnostics() {
    engine.eraseHandler(handler);
    for (mlir::Diagnostic &diagnostic : held)
      engine.emit(std::move(diagnostic));
  }
  HeldDiagnostics(const HeldDiagnostics &) = delete;
  HeldDiagnostics &operator=(const HeldDiagnostics &) = delete;

  void forget() { held.clear(); }

private:
  mlir::DiagnosticEngine &engine;
  std::vector<mlir::Diagnostic> held;
  mlir::DiagnosticEngine::HandlerID handler;
};

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_RUNPHASES_H
