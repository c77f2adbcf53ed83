// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_LINREC_LINRECENUMS_TD
#define DRAWLOOM_DIALECTS_LINREC_LINRECENUMS_TD

include "mlir/IR/EnumAttr.td"

def LinRec_Side : I32EnumAttr<"Side", "the side of the state that a vector of decays acts on", [
  I32EnumAttrCase<"Key", 0, "key">,
  I32EnumAttrCase<"Value", 1, "value">
]> {
  let cppNamespace = "::drawloom::linrec";
}

#endif // DRAWLOOM_DIALECTS_LINREC_LINRECENUMS_TD
