// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_CHECK_CHECKDIALECT_TD
#define DRAWLOOM_DIALECTS_CHECK_CHECKDIALECT_TD

include "mlir/IR/OpBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let summary = "oracles for tests";
  let cppNamespace = "::drawloom::check";
}

// Base class for the ops of this dialect.
class Check_Op<string mnemonic, list<Trait> traits = []>
    : Op<Check_Dialect, mnemonic, traits>;

#endif // DRAWLOOM_DIALECTS_CHECK_CHECKDIALECT_TD
