// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_SLR_SLRSPARSE_TD
#define DRAWLOOM_DIALECTS_SLR_SLRSPARSE_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Slr/SlrDialect.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def Slr_Indices : 1DTensorOf<[I32]>;

// The positions of a sparse matrix's blocks: five arrays.
class Slr_Places {
  dag arrays = (ins Slr_Indices:$row_starts, Slr_Indices:$columns, Slr_Indices:$column_starts,
                    Slr_Indices:$rows, Slr_Indices:$order);
  string format = [{
    `at` `(` $row_starts `,` $columns `,` $column_starts `,` $rows `,` $order `)`
  }];
  string types = [{
    `(` type($row_starts) `,` type($columns) `,` type($column_starts) `,` type($rows) `,` type($order) `)`
  }];
}
def Slr_PlacesOf : Slr_Places;

def Slr_SparseLinearOp : Slr_Op<"sparse_linear", [
    Pure, RowwiseOpInterface, AggregatedOpInterface,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<InterpretableOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
        "getIterationDomain", "getLoopIteratorTypes", "getResultTilePosition",
        "getTiledImplementation", "generateResultTileValue",
        "getIterationDomainTileFromResultTile"]>]> {
  let summary = "multiplies rows by a sparse matrix";
  let description = [{
    W consists of R x C blocks of p x q (1 x 1 in CSR, else BSR), of which E are
    stored: the blocks of row r are from `row_starts[r]` up to `row_starts[r +
    1]`; block e is in column `columns[e]` and has the elements `values[e, .,
    .]`. The same blocks ordered by columns: the blocks of column c are from
    `column_starts[c]` up to `column_starts[c + 1]`; the f-th of all is in row
    `rows[f]`, and is block `order[f]` of `values`.

    y = x W, for rows x of R p elements; with `transpose`, y = x W^T, for rows
    of C q elements. Blocks are added in the order of the arrays. f16 and bf16
    accumulate in f32.

    dx is the same product with the opposite `transpose`; dvalues is
    `slr.sampled_product`.

    The interpreter checks that the arrays describe a single matrix. Compiled
    code trusts them.

    Constraints:
    1. x is [T, R p] (with `transpose` [T, C q]), `values` [E, p, q], the result
       [T, C q] ([T, R p]), of one element type; `row_starts` has R + 1 elements,
       `column_starts` C + 1, the other arrays E. All but T is known; R, C, p and q
       are at least 1.

    Example:
    ```mlir
    %y = slr.sparse_linear %x, %v at (%rs, %c, %cs, %r, %o)
        : tensor<?x6xf32>, tensor<5x2x1xf32>, (tensor<4xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = !con((ins Drawloom_FloatTensor:$x, Drawloom_FloatTensor:$values),
                       Slr_PlacesOf.arrays, (ins UnitAttr:$transpose));
  let results = (outs Drawloom_FloatTensor:$y);
  let assemblyFormat = !strconcat(
      "$x `,` $values ", Slr_PlacesOf.format, "(`transpose` $transpose^)? attr-dict `:` type($x) `,` type($values) `,`",
      Slr_PlacesOf.types, "`->` type($y)");
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isRowOperand(unsigned operandNumber) { return operandNumber == 0; }
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
  }];
}

def Slr_SampledProductOp : Slr_Op<"sampled_product", [
    Pure, AggregatedOpInterface,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  let summary = "computes selected blocks of a matrix product";
  let description = [{
    Computes the blocks of x^T g that a sparse matrix stores: for block e of row
    r and column c, values[e, i, j] = sum over t of x[t, r p + i] g[t, c q + j],
    with rows t added in order. The arrays are those of `slr.sparse_linear`. f16
    and bf16 accumulate in f32.

    Constraints:
    1. As `slr.sparse_linear`: x is [T, R p], g [T, C q], the result [E, p, q].

    Example:
    ```mlir
    %v = slr.sampled_product %x, %g at (%rs, %c, %cs, %r, %o)
        : tensor<?x6xf32>, tensor<?x4xf32>, (tensor<4xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>) -> tensor<5x2x1xf32>
    ```
  }];
  let arguments = !con((ins Drawloom_FloatTensor:$x, Drawloom_FloatTensor:$g), Slr_PlacesOf.arrays);
  let results = (outs Drawloom_FloatTensor:$values);
  let assemblyFormat = !strconcat(
      "$x `,` $g ", Slr_PlacesOf.format, "attr-dict `:` type($x) `,` type($g) `,`", Slr_PlacesOf.types, "`->` type($values)");
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
  }];
}

#endif // DRAWLOOM_DIALECTS_SLR_SLRSPARSE_TD
