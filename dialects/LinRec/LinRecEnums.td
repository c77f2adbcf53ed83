// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_LINREC_LINRECENUMS_TD
#define DRAWLOOM_DIALECTS_LINREC_LINRECENUMS_TD

include "mlir/IR/EnumAttr.td"

def LinRec_GateKind : I32EnumAttr<"GateKind", "how a gate makes a log-decay", [
  I32EnumAttrCase<"LogSigmoid", 0, "log_sigmoid">,
  I32EnumAttrCase<"Softplus", 1, "softplus">,
  I32EnumAttrCase<"Bounded", 2, "bounded">,
  I32EnumAttrCase<"Floored", 3, "floored">
]> {
  let cppNamespace = "::drawloom::linrec";
}

def LinRec_ConvActivation : I32EnumAttr<"ConvActivation", "what a short convolution's sums go through", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Silu", 1, "silu">
]> {
  let cppNamespace = "::drawloom::linrec";
}

#endif // DRAWLOOM_DIALECTS_LINREC_LINRECENUMS_TD
