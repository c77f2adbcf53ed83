// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_CHECK_CHECKDIALECT_TD
#define DRAWLOOM_DIALECTS_CHECK_CHECKDIALECT_TD

include "mlir/IR/OpBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let summary = "oracles for tests";
  let description = [{
    Ops that compare what a program computes with the expected result, and
    report differences. The reference interpreter executes them, so that a test
    of an op or of a pass is a single `.mlir` file that contains its own oracle.

    The dialect also has two attributes of function arguments, which control the
    generation of random arguments:

    - `check.range = array<f64: low, high>`: values are drawn from [low, high],
      uniformly; integers from low to high inclusive.
    - `check.shape = array<i64: ...>`: the extents, if the type has dynamic
      ones.
  }];
  let cppNamespace = "::drawloom::check";
  let hasRegionArgAttrVerify = 1;
}

// Base class for the ops of this dialect.
class Check_Op<string mnemonic, list<Trait> traits = []>
    : Op<Check_Dialect, mnemonic, traits>;

#endif // DRAWLOOM_DIALECTS_CHECK_CHECKDIALECT_TD
