// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_RGNN_RGNNENUMS_TD
#define DRAWLOOM_DIALECTS_RGNN_RGNNENUMS_TD

include "mlir/IR/EnumAttr.td"

def Rgnn_Space : I32EnumAttr<"Space", "what a tensor of rows has one row for", [
  I32EnumAttrCase<"Src", 0, "src">,
  I32EnumAttrCase<"Dst", 1, "dst">,
  I32EnumAttrCase<"SrcRel", 2, "src_rel">,
  I32EnumAttrCase<"DstRel", 3, "dst_rel">,
  I32EnumAttrCase<"Edge", 4, "edge">,
  I32EnumAttrCase<"Rel", 5, "rel">,
  I32EnumAttrCase<"All", 6, "all">
]> {
  let cppNamespace = "::drawloom::rgnn";
}

def Rgnn_Combiner : I32EnumAttr<"Combiner", "how rows that meet become one", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Sum", 1, "sum">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Bound", 3, "bound">
]> {
  let cppNamespace = "::drawloom::rgnn";
}

#endif // DRAWLOOM_DIALECTS_RGNN_RGNNENUMS_TD
