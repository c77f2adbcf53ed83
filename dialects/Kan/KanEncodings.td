// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_KAN_KANENCODINGS_TD
#define DRAWLOOM_DIALECTS_KAN_KANENCODINGS_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Kan/KanDialect.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def Kan_FrequencyEncodeOp : Kan_Op<"frequency_encode", [
    Pure, AggregatedOpInterface, DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  let summary = "sines and cosines of coordinates at octaves of frequencies";
  let description = [{
    For x[N, d] and K = `octaves`, with 0 <= i < d and 0 <= k < K:

    y[r, 2 (i K + k)] = sin(2^k pi x[r, i]) and
    y[r, 2 (i K + k) + 1] = cos(2^k pi x[r, i]).

    2^k x is exact, and so is the argument reduction: high octaves lose no
    accuracy. f16 and bf16 are computed in f32.

    1. x has two dimensions, and the last one is static.
    2. 1 <= `octaves` <= 64.
    3. y has shape N x 2 d K and the element type of x.

    Example:
    ```mlir
    %y = kan.frequency_encode %x {octaves = 10} : tensor<?x2xf32> -> tensor<?x40xf32>
    ```
  }];
  let arguments = (ins Drawloom_FloatTensor:$x, I64Attr:$octaves);
  let results = (outs Drawloom_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
  }];
}

//===----------------------------------------------------------------------===//
// Multiresolution grid encoding
//===----------------------------------------------------------------------===//

// Base class of the encoding and its two gradients, which share attributes and
// verification.
class Kan_GridOp<string mnemonic, list<Trait> traits = []>
    : Kan_Op<mnemonic, traits # [Pure, AggregatedOpInterface,
                                 DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  dag geometry = (ins I64Attr:$base_resolution, OptionalAttr<I64Attr>:$finest_resolution,
                      OptionalAttr<F64Attr>:$growth);
  string declaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
    GridShape gridShape();
  }];
  let hasVerifier = 1;
}

// Ops that map rows to rows can join a block program along rows.
class Kan_RowwiseGridOp<string mnemonic, list<Trait> traits = []>
    : Kan_GridOp<mnemonic, traits # [
        RowwiseOpInterface, 
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<TilingInterface, [
            "getIterationDomain", "getLoopIteratorTypes", "getResultTilePosition",
            "getTiledImplementation", "generateResultTileValue",
            "getIterationDomainTileFromResultTile"]>]> {
  let hasCanonicalizer = 1;
  let extraClassDeclaration = declaration # [{
    bool isRowOperand(unsigned operandNumber);
  }];
}

def Kan_GridEncodeOp : Kan_RowwiseGridOp<"grid_encode", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "multiresolution grid encoding of coordinates, dense or hashed";
  let description = [{
    Encodes coordinates x[N, d] in [0, 1] by `tables`[L, T, F] of learnable
    features, one table of T entries for each of L levels. For level l:

    1. scale_l = base_resolution growth^l - 1 (taken to be an integer where it
       is within 1e-6 of one), resolution_l = ceil(scale_l) + 1, where growth is
       given, or such that base_resolution growth^(L-1) = finest_resolution;
    2. position p = x scale_l + 1/2, cell c = floor(p), fraction f = p - c;
    3. the 2^d corners v = c + {0, 1}^d have weight
       prod_k (f_k where v_k > c_k, else 1 - f_k);
    4. their entries are sum_k v_k (resolution_l + 1)^k where
       (resolution_l + 1)^d <= T (a dense level), else
       (v_0 xor 2654435761 v_1 xor 805459861 v_2) mod 2^32 mod T (a hashed one);
    5. y[r, l F + j] = sum over corners of weight * tables[l, entry, j].

    Coordinates outside [0, 1] are clamped (and have gradient zero); NaN gives
    NaN features. f16 and bf16 are computed in f32.

    Gradients: `kan.grid_encode_vjp_tables`, which adds rows in order without
    atomics, and `kan.grid_encode_vjp_coordinates`. Source: Müller et al.,
    Instant Neural Graphics Primitives, SIGGRAPH 2022, section 3.

    1. x has shape N x 2 or N x 3, tables L x T x F static and not empty, y
       N x L F with the tables' element type.
    2. x and the tables are both f64, or neither is.
    3. base_resolution >= 1; exactly one of finest_resolution >= base_resolution
       and growth >= 1 is given.
    4. No level's resolution exceeds 2^24.

    Example:
    ```mlir
    %y = kan.grid_encode %x, %tables {base_resolution = 16, finest_resolution = 512}
        : tensor<?x2xf32>, tensor<12x32768x2xf32> -> tensor<?x24xf32>
    ```
  }];
  let arguments = !con((ins Drawloom_FloatTensor:$x, Drawloom_FloatTensor:$tables), geometry);
  let results = (outs Drawloom_FloatTensor:$y);
  let assemblyFormat = [{
    $x `,` $tables attr-dict `:` type($x) `,` type($tables) `->` type($y)
  }];
}

def Kan_GridEncodeVjpCoordinatesOp
    : Kan_RowwiseGridOp<"grid_encode_vjp_coordinates", [AllTypesMatch<["x", "dx"]>]> {
  let summary = "gradient of kan.grid_encode with respect to its coordinates";
  let description = [{
    With y = kan.grid_encode(x, tables) and g the gradient of a scalar with
    respect to y: dx[r, k] = sum_j g[r, j] dy[r, j] / dx[r, k]. The gradient is
    zero outside [0, 1]. At a cell's border, it is the derivative to the right.

    1. As `kan.grid_encode`; g has the type of its result.

    Example:
    ```mlir
    %dx = kan.grid_encode_vjp_coordinates %g, %x, %tables {base_resolution = 16, growth = 1.5}
        : tensor<?x24xf32>, tensor<?x2xf32>, tensor<12x32768x2xf32>
    ```
  }];
  let arguments = !con((ins Drawloom_FloatTensor:$g, Drawloom_FloatTensor:$x,
                            Drawloom_FloatTensor:$tables), geometry);
  let results = (outs Drawloom_FloatTensor:$dx);
  let assemblyFormat = [{
    $g `,` $x `,` $tables attr-dict `:` type($g) `,` type($x) `,` type($tables)
  }];
}

def Kan_GridEncodeVjpTablesOp : Kan_GridOp<"grid_encode_vjp_tables", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "gradient of kan.grid_encode with respect to its tables";
  let description = [{
    With y = kan.grid_encode(x, tables) and g the gradient of a scalar with
    respect to y: dtables[l, e, j] = sum over the rows r and corners whose entry
    is e of weight * g[r, l F + j].

    Levels are independent of each other; within one level, rows are added in
    order. So the result has the same bits for any number of threads. f16 and
    bf16 accumulate in f32.

    1. As `kan.grid_encode`; g has the type of its result.

    Example:
    ```mlir
    %dt = kan.grid_encode_vjp_tables %g, %x {base_resolution = 16, finest_resolution = 512}
        : tensor<?x24xf32>, tensor<?x2xf32> -> tensor<12x32768x2xf32>
    ```
  }];
  let arguments = !con((ins Drawloom_FloatTensor:$g, Drawloom_FloatTensor:$x), geometry);
  let results = (outs Drawloom_FloatTensor:$dtables);
  let assemblyFormat = [{
    $g `,` $x attr-dict `:` type($g) `,` type($x) `->` type($dtables)
  }];
  let extraClassDeclaration = declaration;
}

#endif // DRAWLOOM_DIALECTS_KAN_KANENCODINGS_TD
