// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_DRAWLOOM_DRAWLOOMOPS_TD
#define DRAWLOOM_DIALECTS_DRAWLOOM_DRAWLOOMOPS_TD

include "mlir/IR/OpBase.td"

def Drawloom_Dialect : Dialect {
  let name = "drawloom";
  let summary = "attributes that keep the state of a program between passes";
  let description = [{
    Has no ops. Attributes.def lists the discardable attributes that passes put on
    ops of any dialect; the verifier refuses others, and those of another type.
  }];
  let cppNamespace = "::drawloom";
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // DRAWLOOM_DIALECTS_DRAWLOOM_DRAWLOOMOPS_TD
