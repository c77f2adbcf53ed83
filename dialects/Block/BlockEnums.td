// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_BLOCK_BLOCKENUMS_TD
#define DRAWLOOM_DIALECTS_BLOCK_BLOCKENUMS_TD

include "mlir/IR/EnumAttr.td"

def Block_ScanKind : I32EnumAttr<"ScanKind", "how a scan combines elements", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"Mul", 1, "mul">,
  I32EnumAttrCase<"Max", 2, "max">
]> {
  let cppNamespace = "::drawloom::block";
}

def Block_Triangle : I32EnumAttr<"Triangle", "the triangle of a matrix that is read", [
  I32EnumAttrCase<"Lower", 0, "lower">,
  I32EnumAttrCase<"Upper", 1, "upper">
]> {
  let cppNamespace = "::drawloom::block";
}

#endif // DRAWLOOM_DIALECTS_BLOCK_BLOCKENUMS_TD
