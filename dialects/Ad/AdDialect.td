// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_AD_ADDIALECT_TD
#define DRAWLOOM_DIALECTS_AD_ADDIALECT_TD

include "mlir/IR/OpBase.td"

def Ad_Dialect : Dialect {
  let name = "ad";
  let summary = "differentiation requests on functions";
  let description = [{
    The ops of this dialect request derivatives of a function. They define no
    computation of their own: the pass `--differentiate` replaces each by plain
    graph-level code (`linalg`, `arith`, `math`, `tensor`, `scf`), so that later
    passes never see them.
  }];
  let cppNamespace = "::drawloom::ad";
}

// Base class for the ops of this dialect.
class Ad_Op<string mnemonic, list<Trait> traits = []>
    : Op<Ad_Dialect, mnemonic, traits>;

#endif // DRAWLOOM_DIALECTS_AD_ADDIALECT_TD
