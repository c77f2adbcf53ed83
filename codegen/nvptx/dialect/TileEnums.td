// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILEENUMS_TD
#define DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILEENUMS_TD

include "mlir/IR/EnumAttr.td"

// Minima and maxima of floats propagate NaN, maxnum and minnum drop it;
// integers are signed.
def Tile_Combiner : I32EnumAttr<"Combiner", "how two elements become one", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">,
    I32EnumAttrCase<"MaxNum", 6, "maxnum">, I32EnumAttrCase<"MinNum", 7, "minnum">]> {
  let cppNamespace = "::drawloom::tile";
}

#endif // DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILEENUMS_TD
