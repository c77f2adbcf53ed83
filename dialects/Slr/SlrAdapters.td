// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_SLR_SLRADAPTERS_TD
#define DRAWLOOM_DIALECTS_SLR_SLRADAPTERS_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Slr/SlrDialect.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def Slr_AdapterLinearOp : Slr_Op<"adapter_linear", [
    Pure, RowwiseOpInterface, AggregatedOpInterface,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<InterpretableOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
        "getIterationDomain", "getLoopIteratorTypes", "getResultTilePosition",
        "getTiledImplementation", "generateResultTileValue",
        "getIterationDomainTileFromResultTile"]>]> {
  let summary = "multiplies each row by the matrix of its adapter";
  let description = [{
    y[t] = scales[l] x[t] matrices[l] with l = which[t]; without `scales`, the
    factor is 1; with `transpose`, the matrices are transposed. A row with l =
    -1 gives zeros. f16 and bf16 accumulate in f32.

    Rows may be in any order. Sixteen neighbouring rows of one adapter are
    multiplied together, so rows of the same adapter should be adjacent; a row's
    result does not depend on its neighbours.

    dx is computed by the same op with the opposite `transpose`, and the
    gradient of the matrices by `slr.adapter_outer`. Scales have no gradient.

    The interpreter checks that adapters are from -1 to L - 1. Compiled code trusts
    them.

    Constraints:
    1. x is [T, K], `matrices` [L, K, N] (with `transpose` [L, N, K]), `which` [T],
       `scales` [L], the result [T, N]. All but T is known and at least 1. Floats are
       of one type; scales may be f32.

    Example:
    ```mlir
    %y = slr.adapter_linear %x, %a by %which scales %s transpose
        : tensor<?x64xf32>, tensor<8x4x64xf32>, tensor<?xi32>, tensor<8xf32> -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Drawloom_FloatTensor:$x, Drawloom_FloatTensor:$matrices,
                       1DTensorOf<[I32]>:$which, Optional<Drawloom_FloatTensor>:$scales, UnitAttr:$transpose);
  let results = (outs Drawloom_FloatTensor:$y);
  let assemblyFormat = [{
    $x `,` $matrices `by` $which (`scales` $scales^)? (`transpose` $transpose^)? attr-dict `:`
    type($x) `,` type($matrices) `,` type($which) (`,` type($scales)^)? `->` type($y)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isRowOperand(unsigned operandNumber) { return operandNumber == 0 || operandNumber == 2; }
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
  }];
}

def Slr_AdapterOuterOp : Slr_Op<"adapter_outer", [
    Pure, AggregatedOpInterface,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  let summary = "sums the outer products of rows by adapter";
  let description = [{
    matrices[l] = scales[l] (1 without `scales`) times the sum of x[t]^T g[t]
    over the rows t with which[t] = l, added in order. f16 and bf16 accumulate
    in f32. An adapter without rows gets zeros.

    Constraints:
    1. As `slr.adapter_linear`: x is [T, K], g [T, N], the result [L, K, N].

    Example:
    ```mlir
    %da = slr.adapter_outer %ds, %x by %which scales %s
        : tensor<?x4xf32>, tensor<?x64xf32>, tensor<?xi32>, tensor<8xf32> -> tensor<8x4x64xf32>
    ```
  }];
  let arguments = (ins Drawloom_FloatTensor:$x, Drawloom_FloatTensor:$g,
                       1DTensorOf<[I32]>:$which, Optional<Drawloom_FloatTensor>:$scales);
  let results = (outs Drawloom_FloatTensor:$matrices);
  let assemblyFormat = [{
    $x `,` $g `by` $which (`scales` $scales^)? attr-dict `:`
    type($x) `,` type($g) `,` type($which) (`,` type($scales)^)? `->` type($matrices)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
  }];
}

#endif // DRAWLOOM_DIALECTS_SLR_SLRADAPTERS_TD
