// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_BLOCK_BLOCKOPS_TD
#define DRAWLOOM_DIALECTS_BLOCK_BLOCKOPS_TD

include "dialects/Block/BlockDialect.td"
include "dialects/Block/BlockEnums.td"
include "dialects/Interfaces/Interfaces.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Every op here writes to a destination tile, so that it bufferizes in place
// once it is decomposed.
class Block_TileOp<string mnemonic, string destination>
    : Block_Op<mnemonic, [
        Pure, AllTypesMatch<[destination, "result"]>, DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<DifferentiableOpInterface>,
        DeclareOpInterfaceMethods<InterpretableOpInterface>,
        DeclareOpInterfaceMethods<AggregatedOpInterface, ["decomposeOperation"]>]> {
  let hasVerifier = 1;
}

def Block_IndexTensor : 1DTensorOf<[I32, I64, Index]>;

def Block_GatherOp : Block_TileOp<"gather", "init"> {
  let summary = "rows of a table, by index";
  let description = [{
    With a table `source` of shape `[N, d1, ..., dk]` and `indices` of shape
    `[R]`, the result has shape `[R, d1, ..., dk]` and

    ```
    result[i, ...] = source[indices[i], ...]   if 0 <= indices[i] < N
    result[i, ...] = 0                         otherwise
    ```

    An index that is negative, or at least `N`, selects no row: the result's row
    is zero. This is how a tile is filled up to its static size at the end of a
    segment (a padded load). `init` only provides the shape; its elements are
    not read.

    The gradient of `source` is `block.scatter accumulate` of the cotangent's
    rows, which adds rows of equal index in order: without atomics, and always
    with the same bits.

    Constraints:

    1. `source` has a first dimension.
    2. `init` has as many rows as there are indices.
    3. `init` has the trailing dimensions and the element type of `source`.

    Example:

    ```mlir
    func.func @gather(%x: tensor<100x64xf32>, %rows: tensor<16xi32>) -> tensor<16x64xf32> {
      %init = tensor.empty() : tensor<16x64xf32>
      %tile = block.gather %x[%rows] outs(%init)
          : tensor<100x64xf32>[tensor<16xi32>] -> tensor<16x64xf32>
      return %tile : tensor<16x64xf32>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, Block_IndexTensor:$indices,
                       AnyRankedTensor:$init);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` `outs` `(` $init `)` attr-dict `:`
    type($source) `[` type($indices) `]` `->` type($init)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def Block_ScatterOp : Block_TileOp<"scatter", "dest"> {
  let summary = "stores or adds rows into a table, by index";
  let description = [{
    With `rows` of shape `[R, d1, ..., dk]`, `indices` of shape `[R]` and a table
    `dest` of shape `[N, d1, ..., dk]`, the result is `dest` except for

    ```
    result[indices[i], ...] = rows[i, ...]         where 0 <= indices[i] < N
    ```

    An index that is negative, or at least `N`, selects no row: that row is
    dropped (a masked store). An index that occurs twice is an error in the
    interpreter; elsewhere, any of its rows is stored: distinct indices allow a
    target to store rows in any order.

    With `accumulate`, rows are added one after another in the order of `i`, and
    an index may occur any number of times:

    ```
    for i = 0 .. R-1:  result[indices[i], ...] += rows[i, ...]
    ```

    Constraints:

    1. `dest` has a first dimension.
    2. `rows` has as many rows as there are indices.
    3. `rows` has the trailing dimensions and the element type of `dest`.
    4. `accumulate` needs float elements.

    Example:

    ```mlir
    func.func @scatter(%tile: tensor<16x64xf32>, %rows: tensor<16xi32>,
                       %y: tensor<100x64xf32>, %g: tensor<100x64xf32>)
        -> (tensor<100x64xf32>, tensor<100x64xf32>) {
      %stored = block.scatter %tile into %y[%rows]
          : tensor<16x64xf32> into tensor<100x64xf32>[tensor<16xi32>]
      %added = block.scatter accumulate %tile into %g[%rows]
          : tensor<16x64xf32> into tensor<100x64xf32>[tensor<16xi32>]
      return %stored, %added : tensor<100x64xf32>, tensor<100x64xf32>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$rows, Block_IndexTensor:$indices,
                       AnyRankedTensor:$dest, UnitAttr:$accumulate);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    (`accumulate` $accumulate^)? $rows `into` $dest `[` $indices `]` attr-dict `:`
    type($rows) `into` type($dest) `[` type($indices) `]`
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
  }];
}

def Block_ScanOp : Block_TileOp<"scan", "init"> {
  let summary = "running sum, product or maximum along a dimension";
  let description = [{
    With `op` one of sum, product and maximum, and `neutral` its neutral element
    (0, 1, or the least value of the type, which is -inf for floats), for every
    line of n elements along `dimension`:

    ```
    result[i] = input[0] op ... op input[i]                     (inclusive)
    result[i] = neutral op input[0] op ... op input[i - 1]      (exclusive)
    ```

    With `reverse`, the same from the other end: `input[n - 1]` first. The
    elements are combined in exactly this order, in the element type of `init`,
    which may be a wider float type than that of `input`. If that type has 16
    bits, the running value is kept in f32, and each element of the result is
    rounded once. A maximum propagates NaN. `init` only provides shape and type;
    its elements are not read.

    The gradient of a sum is the same scan in the other direction. Products and
    maxima have no gradient here; write them as an `scf.for` to differentiate
    them.

    Constraints:

    1. `dimension` is one of the input's.
    2. `input` and `init` have the same shape.
    3. The element type of `init` is that of `input`, or a wider float type.

    Example:

    ```mlir
    func.func @cumulative_gate(%g: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %init = tensor.empty() : tensor<64x64xf32>
      %sum = block.scan add %g along 0 outs(%init)
          : tensor<64x64xf32> -> tensor<64x64xf32>
      %before = block.scan add exclusive %g along 0 outs(%init)
          : tensor<64x64xf32> -> tensor<64x64xf32>
      %after = block.scan add exclusive reverse %g along 0 outs(%init)
          : tensor<64x64xf32> -> tensor<64x64xf32>
      %0 = arith.addf %before, %after : tensor<64x64xf32>
      %1 = arith.addf %sum, %0 : tensor<64x64xf32>
      return %1 : tensor<64x64xf32>
    }
    ```
  }];
  let arguments = (ins Block_ScanKind:$kind, UnitAttr:$exclusive, UnitAttr:$reverse,
                       RankedTensorOf<[AnyFloat, AnySignlessInteger, Index]>:$input,
                       I64Attr:$dimension,
                       RankedTensorOf<[AnyFloat, AnySignlessInteger, Index]>:$init);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $kind (`exclusive` $exclusive^)? (`reverse` $reverse^)? $input
    `along` $dimension `outs` `(` $init `)` attr-dict `:`
    type($input) `->` type($init)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def Block_SolveTriangularOp : Block_TileOp<"solve_triangular", "rhs"> {
  let summary = "solves a triangular system of equations";
  let description = [{
    Given a square matrix `matrix` of shape `[n, n]`, of which only the
    specified triangle is read (call it A; the other elements count as zero),
    and right-hand sides B in `rhs`, of shape `[n, m]`, the result is the X of
    shape `[n, m]` with

    ```
    A X = B,    or with `transpose`    A^T X = B.
    ```

    With `unit`, the diagonal of A counts as ones and is not read. Rows are
    solved one after another, and each sums its terms in the order in which they
    were solved:

    ```
    for i in order:  X[i] = (B[i] - sum over solved j of A[i, j] X[j]) / A[i, i]
    ```

    A zero on the diagonal gives infinities and NaN, as division by zero does.

    Gradients: dB solves the transposed system for the cotangent of X, and
    dA = -dB X^T (transposed: -X dB^T) on the triangle that is read.

    Constraints:

    1. `matrix` is square and of rank 2.
    2. `rhs` has rank 2 and as many rows as `matrix`.
    3. `matrix` and `rhs` have the same element type.

    Example:

    ```mlir
    func.func @delta_rule(%l: tensor<16x16xf32>, %v: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %n = block.solve_triangular lower unit %l outs(%v)
          : tensor<16x16xf32> -> tensor<16x64xf32>
      return %n : tensor<16x64xf32>
    }
    ```
  }];
  let arguments = (ins Block_Triangle:$triangle, UnitAttr:$transpose, UnitAttr:$unit,
                       RankedTensorOf<[AnyFloat]>:$matrix, RankedTensorOf<[AnyFloat]>:$rhs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $triangle (`transpose` $transpose^)? (`unit` $unit^)? $matrix
    `outs` `(` $rhs `)` attr-dict `:` type($matrix) `->` type($rhs)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getRhsMutable(); }
    /// Returns whether row 0 is solved first: lower, or upper transposed.
    bool solvesForward() {
      return (getTriangle() == Triangle::Lower) != getTranspose();
    }
  }];
}

#endif // DRAWLOOM_DIALECTS_BLOCK_BLOCKOPS_TD
