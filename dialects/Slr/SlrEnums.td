// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_SLR_SLRENUMS_TD
#define DRAWLOOM_DIALECTS_SLR_SLRENUMS_TD

include "mlir/IR/EnumAttr.td"

def Slr_Format : I32EnumAttr<"Format", "what a code stands for", [
  I32EnumAttrCase<"NF4", 0, "nf4">,
  I32EnumAttrCase<"FP4", 1, "fp4">,
  I32EnumAttrCase<"UInt1", 2, "uint1">,
  I32EnumAttrCase<"UInt2", 3, "uint2">,
  I32EnumAttrCase<"UInt4", 4, "uint4">,
  I32EnumAttrCase<"UInt8", 5, "uint8">,
  I32EnumAttrCase<"Int2", 6, "int2">,
  I32EnumAttrCase<"Int4", 7, "int4">,
  I32EnumAttrCase<"Int8", 8, "int8">,
  I32EnumAttrCase<"F8E4M3FN", 9, "f8e4m3fn">,
  I32EnumAttrCase<"F8E5M2", 10, "f8e5m2">
]> {
  let cppNamespace = "::drawloom::slr";
}

def Slr_Packing : I32EnumAttr<"Packing", "where in a byte a code is", [
  I32EnumAttrCase<"LowFirst", 0, "low_first">,
  I32EnumAttrCase<"HighFirst", 1, "high_first">,
  I32EnumAttrCase<"Parts", 2, "parts">
]> {
  let cppNamespace = "::drawloom::slr";
}

#endif // DRAWLOOM_DIALECTS_SLR_SLRENUMS_TD
