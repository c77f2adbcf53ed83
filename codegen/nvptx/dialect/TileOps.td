// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILEOPS_TD
#define DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILEOPS_TD

include "codegen/nvptx/dialect/TileDialect.td"
include "codegen/nvptx/dialect/TileEnums.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Tile : StaticShapeTensorOf<[AnyFloat, AnySignlessInteger, Index]>;
def Tile_IndexTile : 1DTensorOf<[I32, I64, Index]>;

def Tile_AllocOp : Tile_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a buffer in shared memory";
  let description = [{
    Part of the block's only arena of shared memory. `nvptx-allocate-shared`
    sets `offset`, in bytes: buffers that are not in use at the same time may
    share bytes. Rows may have a larger stride than their length, so that
    neighbouring rows are in different banks.

    ```mlir
    func.func @f() {
      %buffer = tile.alloc : memref<64x64xbf16, strided<[72, 1]>, 3>
      return
    }
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs AnyMemRef:$buffer);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for all threads of the block";
  let description = [{
    Stores that a thread makes before the barrier are visible to loads of other
    threads after it.

    ```mlir
    func.func @f() {
      tile.barrier
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_BlockIdOp : Tile_Op<"block_id", [Pure]> {
  let summary = "the number of this block";
  let description = [{
    Blocks are numbered along one dimension.

    ```mlir
    func.func @f() -> index {
      %block = tile.block_id
      return %block : index
    }
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "a tile along more dimensions, or in another order of them";
  let description = [{
    With `source` of shape `[n0, ..., nk]`, dimension `i` of it is dimension
    `dims[i]` of the result: `result[c] = source[c[dims[0]], ..., c[dims[k]]]`.

    Constraints:

    1. `dims` are different dimensions of the result, one for each of the
       source, of the same extents.
    2. Element types are the same.

    ```mlir
    func.func @f(%bias: tensor<64xf32>) -> tensor<16x64xf32> {
      %rows = tile.broadcast %bias along [1] : tensor<64xf32> -> tensor<16x64xf32>
      return %rows : tensor<16x64xf32>
    }
    ```
  }];
  let arguments = (ins Tile_Tile:$source, DenseI64ArrayAttr:$dims);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat =
      "$source `along` $dims attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_CommitCopiesOp : Tile_Op<"commit_copies"> {
  let summary = "groups the copies that a thread has started";
  let description = [{
    The group consists of the copies since the last group, possibly none:
    `tile.wait_copies` counts groups.

    ```mlir
    func.func @f() {
      tile.commit_copies
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_ConvertOp : Tile_Op<"convert", [Pure]> {
  let summary = "a tile in another layout";
  let description = [{
    If both layouts have each element in the same threads, registers are
    renamed; otherwise the tile goes through shared memory.

    Constraint: shapes and element types are the same.
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_CopyAsyncOp : Tile_Op<"copy_async"> {
  let summary = "starts a copy from global to shared memory";
  let description = [{
    Equivalent to a `tile.load` of the type `tile` followed by a `tile.store`,
    except for the time at which the elements are in shared memory: for the
    thread that copied them, after `tile.wait_copies` has waited for the copy's
    group; for other threads, after the next barrier. If an extent of `source`
    is known only at run time, zeros are stored beyond it.

    ```mlir
    func.func @f(%x: memref<64x64xbf16>, %buffer: memref<64x64xbf16, strided<[72, 1]>, 3>) {
      tile.copy_async %x, %buffer by tensor<64x64xbf16> : memref<64x64xbf16>, memref<64x64xbf16, strided<[72, 1]>, 3>
      tile.commit_copies
      tile.wait_copies 0
      return
    }
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
                       Arg<AnyMemRef, "", [MemWrite]>:$dest, TypeAttr:$tile);
  let assemblyFormat =
      "$source `,` $dest `by` $tile attr-dict `:` type($source) `,` type($dest)";
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [
    AllTypesMatch<["accumulator", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "matrix product of tiles, added to a third";
  let description = [{
    `result = accumulator + a b` with `a` of shape `[M, K]`, `b` of shape `[K,
    N]`, `accumulator` of shape `[M, N]`. Products are exact or rounded once,
    and are accumulated in the accumulator's type. With `transpose_a`, `a` has
    the shape `[K, M]`; with `transpose_b`, `b` has `[N, K]`.

    An operand is a tile in registers, or a buffer of shared memory from which
    the instructions read directly.

    With `neighbours`, each thread holds this many neighbouring columns of the
    result (`accumulatorLayout`). If `b` is a buffer, its columns then lie in
    the order in which the instructions read them (`accumulatorPosition`).

    With `batch`, the op computes this many stacked products: the rows of `a`,
    of the result and of `b` are divided into that many equal parts, and each
    part of `a` is multiplied by its own part of `b`. Tensor cores compute the
    products, so each part must consist of whole instructions.

    With `tf32`, f32 operands are first rounded to 10 fraction bits, ties away
    from zero, so that tensor cores can multiply them.

    Constraints:

    1. Shapes agree.
    2. `a` and `b` have the same element type, f32 with `tf32`.
    3. `neighbours` is 4 or 8.
    4. With `batch`, which is a power of two, `a` is not transposed, and M is `batch`
       times a multiple of 16 that is a power of two.

    ```mlir
    func.func @f(%a: tensor<64x32xbf16>, %b: tensor<32x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %d = tile.dot %a, %b, %c : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
      return %d : tensor<64x64xf32>
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Tile, AnyMemRef]>:$a,
                       AnyTypeOf<[Tile_Tile, AnyMemRef]>:$b,
                       Tile_Tile:$accumulator, UnitAttr:$transposeA,
                       UnitAttr:$transposeB,
                       OptionalAttr<I64Attr>:$neighbours, UnitAttr:$tf32,
                       OptionalAttr<I64Attr>:$batch);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $a (`transpose_a` $transposeA^)? `,` $b (`transpose_b` $transposeB^)? `,`
    $accumulator attr-dict `:` type($a) `,` type($b) `,` type($accumulator)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getM() { return shapeOf(getAccumulator())[0]; }
    int64_t getN() { return shapeOf(getAccumulator())[1]; }
    int64_t getK() { return shapeOf(getA())[getTransposeA() ? 0 : 1]; }
    int64_t columnsInThread() { return getNeighbours().value_or(2); }
    int64_t batches() { return getBatch().value_or(1); }
    static ::llvm::ArrayRef<int64_t> shapeOf(::mlir::Value value) {
      return ::llvm::cast<::mlir::ShapedType>(value.getType()).getShape();
    }
  }];
}

def Tile_GatherOp : Tile_Op<"gather"> {
  let summary = "rows of memory, by index";
  let description = [{
    `result[i, ...] = source[indices[i], ...]`, zeros where the index is
    negative.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
                       Tile_IndexTile:$indices);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:` type($source) `[` type($indices) `]`
    `->` type($result)
  }];
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "each element's coordinate along a dimension";
  let description = [{
    ```mlir
    func.func @f() -> tensor<16x64xindex> {
      %columns = tile.iota along 1 : tensor<16x64xindex>
      return %columns : tensor<16x64xindex>
    }
    ```
  }];
  let arguments = (ins I64Attr:$dimension);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "`along` $dimension attr-dict `:` type($result)";
}

def Tile_LoadOp : Tile_Op<"load"> {
  let summary = "a tile from memory";
  let description = [{
    The elements of `source`; if an extent of `source` is known only at run
    time, elements beyond it are zero.

    ```mlir
    func.func @f(%x: memref<?x64xf32>) -> tensor<16x64xf32> {
      %tile = tile.load %x : memref<?x64xf32> -> tensor<16x64xf32>
      return %tile : tensor<16x64xf32>
    }
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_LookupOp : Tile_Op<"lookup"> {
  let summary = "elements of memory, each at its own coordinates";
  let description = [{
    `result[c] = source[indices0[c], indices1[c], ...]`.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
                       Variadic<Tile_Tile>:$indices);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:` type($source) `[` type($indices) `]`
    `->` type($result)
  }];
}

def Tile_ReduceOp : Tile_Op<"reduce", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "combines the elements along dimensions";
  let description = [{
    Combines the registers of a thread first, in order, then lanes by butterfly
    shuffles, then warps in order, through `scratch` if several warps share a
    result: the order is fixed for a given layout. The result lacks the
    dimensions `dims`.

    With `within_thread`, combines registers only: along the dimensions `dims`,
    the result has one element for each lane and warp that holds a partial
    result.

    Constraints:

    1. `dims` are dimensions of the source. Without `within_thread` the result has
       the source's extents along the others.
    2. If the source has a layout, the result has what is left of it
       (`Layout::project`, `Layout::sharesAlong`).

    ```mlir
    func.func @f(%x: tensor<16x64xf32>) -> tensor<64xf32> {
      %sum = tile.reduce add %x along [0] : tensor<16x64xf32> -> tensor<64xf32>
      return %sum : tensor<64xf32>
    }
    ```
  }];
  let arguments = (ins Tile_Combiner:$kind, UnitAttr:$withinThread,
                       Tile_Tile:$source, DenseI64ArrayAttr:$dims,
                       Optional<AnyMemRef>:$scratch);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind (`within_thread` $withinThread^)? $source `along` $dims (`through` $scratch^ `:` type($scratch))?
    attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the elements of a tile in row-major order, in another shape";
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [Pure]> {
  let summary = "running combination along a dimension";
  let description = [{
    Like `block.scan`. The dimension is divided into equal runs of neighbours,
    each in the registers of one thread, with the runs in lanes of a warp
    (`Layout::runsAlong`). The elements of a run are combined in order, and each
    is then combined with the total of the preceding runs. These totals are
    computed over pairs of runs, pairs of pairs, and so on. With a single run,
    the order is exactly that of the elements.
  }];
  let arguments = (ins Tile_Combiner:$kind, UnitAttr:$exclusive,
                       UnitAttr:$reverse, Tile_Tile:$source, I64Attr:$dimension);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind (`exclusive` $exclusive^)? (`reverse` $reverse^)? $source
    `along` $dimension attr-dict `:` type($source) `->` type($result)
  }];
}

def Tile_ScatterOp : Tile_Op<"scatter"> {
  let summary = "stores rows into memory, by index";
  let description = [{
    `dest[indices[i], ...] = rows[i, ...]` where the index is not negative;
    indices must be distinct.
  }];
  let arguments = (ins Tile_Tile:$rows, Arg<AnyMemRef, "", [MemWrite]>:$dest,
                       Tile_IndexTile:$indices);
  let assemblyFormat = [{
    $rows `,` $dest `[` $indices `]` attr-dict `:` type($rows) `,` type($dest)
    `[` type($indices) `]`
  }];
}

def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "the elements at one coordinate of a dimension";
  let description = [{
    `result[c] = source[c, with index along dimension]`. Lanes that do not hold
    these elements get them from lanes that do; warps cannot exchange them.

    Constraints:

    1. `index` is inside of the source's extent along `dimension`.
    2. The result has the source's extents along the other dimensions, and its
       element type.
    3. If the source has a layout, warps do not hold different parts of `dimension`,
       and the result has what is left of the layout (`Layout::project`).

    ```mlir
    func.func @f(%x: tensor<32x64xf32>) -> tensor<64xf32> {
      %last = tile.slice %x at 31 along 0 : tensor<32x64xf32> -> tensor<64xf32>
      return %last : tensor<64xf32>
    }
    ```
  }];
  let arguments = (ins Tile_Tile:$source, I64Attr:$index, I64Attr:$dimension);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `at` $index `along` $dimension attr-dict `:` type($source) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

def Tile_SolveOp : Tile_Op<"solve", [AllTypesMatch<["rhs", "result"]>]> {
  let summary = "solves a triangular system";
  let description = [{
    Like `block.solve_triangular`. The rows of a column are in the registers of
    one thread, or alternate between several lanes; the matrix is in shared
    memory. `reverse` starts with the last row; `transpose` reads the matrix's
    columns as rows.
  }];
  let arguments = (ins UnitAttr:$reverse, UnitAttr:$transpose, UnitAttr:$unit,
                       Arg<AnyMemRef, "", [MemRead]>:$matrix, Tile_Tile:$rhs);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    (`reverse` $reverse^)? (`transpose` $transpose^)? (`unit` $unit^)? $matrix `,`
    $rhs attr-dict `:` type($matrix) `,` type($rhs)
  }];
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a tile filled with one number";
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
}

def Tile_StoreOp : Tile_Op<"store"> {
  let summary = "a tile to memory";
  let description = [{
    If an extent of `dest` is known only at run time, elements beyond it are
    dropped. If several threads hold the same elements, only one stores them.
  }];
  let arguments = (ins Tile_Tile:$source, Arg<AnyMemRef, "", [MemWrite]>:$dest);
  let assemblyFormat = "$source `,` $dest attr-dict `:` type($source) `,` type($dest)";
  let hasVerifier = 1;
}

def Tile_WaitCopiesOp : Tile_Op<"wait_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for copies to shared memory";
  let description = [{
    Waits until at most the last `underWay` groups that this thread has
    committed are in flight; the copies of all earlier groups have then arrived.

    ```mlir
    func.func @f() {
      tile.wait_copies 1
      return
    }
    ```
  }];
  let arguments = (ins I64Attr:$underWay);
  let assemblyFormat = "$underWay attr-dict";
}

#endif // DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILEOPS_TD
