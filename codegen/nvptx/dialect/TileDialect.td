// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILEDIALECT_TD
#define DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILEDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let summary = "tiles distributed over the threads of a block";
  let cppNamespace = "::drawloom::tile";
  let useDefaultAttributePrinterParser = 1;
}

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

def Tile_LayoutAttr : AttrDef<Tile_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "which thread holds which element of a tile";
  let description = [{
    The encoding of a tile's tensor type. A coordinate of the tile is a number
    in mixed radix; each of its digits belongs to the register number, to the
    lane or to the warp. A digit `dim:stride` has two values and is worth
    `stride` elements along `dim`; `dim:stride*n` has `n` values (registers
    only). In lanes and warps, `?` is a bit without effect: such threads hold
    the same elements. The first digit of each list counts fastest.

    Digits may reach beyond the tile's shape: the elements there are padding,
    whose contents are unspecified.

    Example (the result of `mma.sync.m16n8k16` for four warps along the rows):

    ```
    #tile.layout<registers = [1:1, 0:8, 1:8*8], lanes = [1:2, 1:4, 0:1, 0:2, 0:4],
                 warps = [0:16, 0:32]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$registerDigits,
                        ArrayRefParameter<"int64_t">:$laneDigits,
                        ArrayRefParameter<"int64_t">:$warpDigits);
  let extraClassDeclaration = [{
    static LayoutAttr get(::mlir::MLIRContext *context, const Layout &layout);
    Layout getLayout() const;
  }];
  let hasCustomAssemblyFormat = 1;
}

#endif // DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILEDIALECT_TD
