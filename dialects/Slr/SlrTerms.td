// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new term is a def here, its type (`inferTerm`) and the methods of
// TermOpInterface in SlrLeaves.cpp or SlrCombinators.cpp.

#ifndef DRAWLOOM_DIALECTS_SLR_SLRTERMS_TD
#define DRAWLOOM_DIALECTS_SLR_SLRTERMS_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Slr/SlrDialect.td"
include "dialects/Slr/SlrEnums.td"
include "dialects/Slr/SlrInterfaces.td"
include "dialects/Slr/SlrSparse.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Slr_Codes : RankedTensorOf<[I8]>;

class Slr_TermOp<string mnemonic, list<string> methods = [], list<Trait> traits = []>
    : Slr_Op<mnemonic, traits # [
        Pure, ParentOneOf<["LinearOp", "MaterializeOp"]>,
        InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<Slr_TermOpInterface, methods>]> {
  let results = (outs Slr_Term:$term);
}

//===----------------------------------------------------------------------===//
// Leaves.
//===----------------------------------------------------------------------===//

def Slr_DenseOp : Slr_TermOp<"dense", ["materialize"]> {
  let summary = "a dense matrix";
  let description = [{
    W[i, j] = matrix[i, j].

    Constraints:
    1. `matrix` has two known extents.

    Example: `%0 = slr.dense %w : tensor<64x48xf32>`
  }];
  let arguments = (ins Drawloom_FloatTensor:$matrix);
  let assemblyFormat = "$matrix attr-dict `:` type($matrix)";
}

def Slr_DiagonalOp : Slr_TermOp<"diagonal"> {
  let summary = "a diagonal matrix";
  let description = [{
    W[i, i] = values[i], and 0 elsewhere.

    Constraints:
    1. `values` has one known extent.

    Example: `%0 = slr.diagonal %z : tensor<16xf32>`
  }];
  let arguments = (ins Drawloom_FloatTensor:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Slr_IdentityOp : Slr_TermOp<"identity"> {
  let summary = "the identity matrix";
  let description = [{
    W[i, i] = 1, and 0 elsewhere.

    Constraints:
    1. `extent` is at least 1.

    Example: `%0 = slr.identity 64`
  }];
  let arguments = (ins I64Attr:$extent);
  let assemblyFormat = "$extent attr-dict";
}

def Slr_BlockDiagonalOp : Slr_TermOp<"block_diagonal"> {
  let summary = "a block diagonal matrix";
  let description = [{
    For G blocks of k x n: W[g k + i, g n + j] = blocks[g, i, j], and 0
    elsewhere.

    Constraints:
    1. `blocks` has three known extents.

    Example: `%0 = slr.block_diagonal %w : tensor<8x16x16xf32>`
  }];
  let arguments = (ins Drawloom_FloatTensor:$blocks);
  let assemblyFormat = "$blocks attr-dict `:` type($blocks)";
}

def Slr_PermuteOp : Slr_TermOp<"permute"> {
  let summary = "a permutation that reorders dimensions";
  let description = [{
    A row is reshaped to `shape`, its dimensions are permuted by `permutation`
    (dimension d of the result is dimension permutation[d]), and it is flattened
    again. `[k, q] by [1, 0]` is the permutation between the factors of a
    Monarch matrix.

    Constraints:
    1. `permutation` has each number below the rank of `shape` once.
    2. The extents of `shape` are at least 1.

    Example: `%0 = slr.permute [8, 16] by [1, 0]`
  }];
  let arguments = (ins DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$shape `by` $permutation attr-dict";
}

def Slr_FoldOp : Slr_TermOp<"fold"> {
  let summary = "adds up the parts of a row";
  let description = [{
    The `extent` elements of a row consist of `count` consecutive parts, which
    are added: W[p m + j, j] = 1 with m = extent / count, and 0 elsewhere.

    Constraints:
    1. `extent` and `count` are at least 1, and `count` divides `extent`.

    Example: `%0 = slr.fold 64 into 4 parts`
  }];
  let arguments = (ins I64Attr:$extent, I64Attr:$count);
  let assemblyFormat = "$extent `into` $count `parts` attr-dict";
}

def Slr_SelectOp : Slr_TermOp<"select"> {
  let summary = "selects a part of a row";
  let description = [{
    Selects `size` elements, starting at `offset`: W[offset + j, j] = 1, and 0
    elsewhere. Its transpose writes a part of a row of zeros. A trainable panel
    of a matrix is the `slr.product` of a `slr.select` and a `slr.dense`.

    Constraints:
    1. `offset` is at least 0, `size` at least 1, and the part lies within
       `extent`.

    Example: `%0 = slr.select 16 from 8 of 64`
  }];
  let arguments = (ins I64Attr:$size, I64Attr:$offset, I64Attr:$extent);
  let assemblyFormat = "$size `from` $offset `of` $extent attr-dict";
}

def Slr_QuantizedOp : Slr_TermOp<"quantized", ["materialize"]> {
  let summary = "a matrix quantized to codes of a few bits";
  let description = [{
    W[i, j] = value(code[i, j]) scales[i, g] + offsets[i, g], where j is in
    group g = floor(j G / N) of a row's G groups; without `offsets`, they are 0.
    The bytes of a row hold N codes: 8 / b codes of b bits each.

    | format | b | value |
    |---|---|---|
    | `nf4` | 4 | the 16 quantiles of the normal distribution (arXiv 2305.14314) |
    | `fp4` | 4 | sign, then 0, 1/192, 2/3, 1, 1/3, 1/2, 1/6, 1/4 |
    | `uint1`, `uint2`, `uint4`, `uint8` | 1, 2, 4, 8 | the code |
    | `int2`, `int4`, `int8` | 2, 4, 8 | the code in two's complement |
    | `f8e4m3fn`, `f8e5m2` | 8 | the float of these bits |

    A ternary matrix is `uint2` with offsets of minus the scales; codes of 3
    bits are the sum of `uint2` and of `uint1` with four times the scales. Zero
    points z are offsets of -z scales.

    | packing | code c of a byte (from the lowest bits on) is element |
    |---|---|
    | `low_first` | (byte) (8 / b) + c |
    | `high_first` | (byte) (8 / b) + 8 / b - 1 - c |
    | `parts` | of a group of m: c m b / 8 + (byte of the group) |

    bitsandbytes packs `high_first`, GGUF packs `parts`. Codes are multiplied in
    f32 (f64 if rows are f64) and rounded to the type of the rows.

    Constraints:
    1. `codes` is [K, bytes] and `scales` [K, G], `offsets` as `scales`; all extents
       are known and at least 1.
    2. G divides the bytes of a row.

    Example: `%0 = slr.quantized nf4 %c scales %s packing high_first : tensor<48x32xi8>, tensor<48x1xf32>`
  }];
  let arguments = (ins Slr_Format:$format, Slr_Codes:$codes, Drawloom_FloatTensor:$scales,
                       Optional<Drawloom_FloatTensor>:$offsets,
                       DefaultValuedAttr<Slr_Packing, "::drawloom::slr::Packing::LowFirst">:$packing);
  let assemblyFormat = [{
    $format $codes `scales` $scales (`offsets` $offsets^)? (`packing` $packing^)? attr-dict `:`
    type($codes) `,` type($scales) (`,` type($offsets)^)?
  }];
}

def Slr_NOfMOp : Slr_TermOp<"n_of_m", ["materialize"]> {
  let summary = "a matrix with n nonzeros in each group of m neighbours";
  let description = [{
    W[i, g m + places[i, g, p]] = values[i, g, p], and 0 elsewhere, for groups
    of m neighbours with n values each. Values at the same place are added.

    Constraints:
    1. `values` is [K, G, n] and `places` has its shape; all extents are known and at
       least 1.
    2. n is at most m, and m at most 128.
    3. A place that is not from 0 to m - 1 has no effect: its value is left out.

    Example: `%0 = slr.n_of_m %v at %p of 4 : tensor<64x12x2xf32>, tensor<64x12x2xi8>`
  }];
  let arguments = (ins Drawloom_FloatTensor:$values, Slr_Codes:$places, I64Attr:$m);
  let assemblyFormat = "$values `at` $places `of` $m attr-dict `:` type($values) `,` type($places)";
}

def Slr_SparseOp : Slr_TermOp<"sparse"> {
  let summary = "a sparse matrix";
  let description = [{
    W is zero except for E blocks of p x q (or single elements, if `values` has
    one dimension). The arrays are those of `slr.sparse_linear`, which applies
    the term: no matrix is materialized, and only the blocks have a gradient.

    Constraints:
    1. `values` is [E, p, q] or [E]; `row_starts` has R + 1 elements,
       `column_starts` C + 1, the other arrays E. R, C, p and q are at least 1.

    Example: `%0 = slr.sparse %v at (%rs, %c, %cs, %r, %o) : tensor<5xf32>, (tensor<7xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>)`
  }];
  let arguments = !con((ins Drawloom_FloatTensor:$values), Slr_PlacesOf.arrays);
  let assemblyFormat = !strconcat("$values ", Slr_PlacesOf.format, "attr-dict `:` type($values) `,`", Slr_PlacesOf.types);
}

//===----------------------------------------------------------------------===//
// Combinators.
//===----------------------------------------------------------------------===//

def Slr_SumOp : Slr_TermOp<"sum", ["materialize"]> {
  let summary = "a sum of terms";
  let description = [{
    W = the sum of the terms.

    Constraints:
    1. There is a term, and all have the same extents.

    Example: `%2 = slr.sum %0, %1 : !slr.term<64x48>, !slr.term<64x48>`
  }];
  let arguments = (ins Variadic<Slr_Term>:$terms);
  let assemblyFormat = "$terms attr-dict `:` type($terms)";
}

def Slr_ProductOp : Slr_TermOp<"product", ["materialize"]> {
  let summary = "a product of terms";
  let description = [{
    W = the product of the terms, in order: for a low-rank matrix two dense
    terms, with a diagonal or dense term between them if there is a middle
    factor.

    Constraints:
    1. There is a term, and each has as many inputs as the one before it has
       outputs.

    Example: `%2 = slr.product %0, %1 : !slr.term<64x4>, !slr.term<4x48>`
  }];
  let arguments = (ins Variadic<Slr_Term>:$terms);
  let assemblyFormat = "$terms attr-dict `:` type($terms)";
}

def Slr_ScaleOp : Slr_TermOp<"scale", ["materialize"]> {
  let summary = "a term times a number";
  let description = [{
    W = factor times the term. If the term is a product, the narrowest
    intermediate row is multiplied.

    Example: `%1 = slr.scale %0 by 2.0 : !slr.term<64x48>`
  }];
  let arguments = (ins Slr_Term:$scaled, F64Attr:$factor);
  let assemblyFormat = "$scaled `by` $factor attr-dict `:` type($scaled)";
}

def Slr_TransposeOp : Slr_TermOp<"transpose", ["materialize"]> {
  let summary = "a term transposed";
  let description = [{
    W[i, j] = term[j, i].

    Example: `%1 = slr.transpose %0 : !slr.term<64x48>`
  }];
  let arguments = (ins Slr_Term:$of);
  let assemblyFormat = "$of attr-dict `:` type($of)";
}

def Slr_ConcatOp : Slr_TermOp<"concat", ["materialize"]> {
  let summary = "terms concatenated side by side";
  let description = [{
    W = [term_0, term_1, ...]: the outputs of each term follow those of the
    previous one.

    Constraints:
    1. There is a term, and all have as many inputs.

    Example: `%2 = slr.concat %0, %1 : !slr.term<64x16>, !slr.term<64x32>`
  }];
  let arguments = (ins Variadic<Slr_Term>:$terms);
  let assemblyFormat = "$terms attr-dict `:` type($terms)";
}

def Slr_KroneckerOp : Slr_TermOp<"kronecker"> {
  let summary = "the Kronecker product of two terms";
  let description = [{
    For C (K1 x N1) and D (K2 x N2): W[a K2 + b, c N2 + d] = C[a, c] D[b, d]. A
    row is treated as [K1, K2]; the factors are applied in the order that takes
    fewer operations.

    Example: `%2 = slr.kronecker %0, %1 : !slr.term<8x4>, !slr.term<16x16>`
  }];
  let arguments = (ins Slr_Term:$left, Slr_Term:$right);
  let assemblyFormat = "$left `,` $right attr-dict `:` type($left) `,` type($right)";
}

def Slr_HadamardOp : Slr_TermOp<"hadamard", ["materialize"]> {
  let summary = "the elementwise product of two terms";
  let description = [{
    W[i, j] = left[i, j] right[i, j]. Both terms are materialized.

    Constraints:
    1. Both have the same extents.

    Example: `%2 = slr.hadamard %0, %1 : !slr.term<64x48>, !slr.term<64x48>`
  }];
  let arguments = (ins Slr_Term:$left, Slr_Term:$right);
  let assemblyFormat = "$left `,` $right attr-dict `:` type($left) `,` type($right)";
}

def Slr_NormalizeColumnsOp : Slr_TermOp<"normalize_columns", ["materialize"]> {
  let summary = "a term with its columns scaled to given lengths";
  let description = [{
    W[i, j] = term[i, j] lengths[j] / |term[., j]|, where |.| is the Euclidean
    length. A column of zeros has no direction: its result is NaN.

    Constraints:
    1. `lengths` has one known extent, the outputs of the term.

    Example: `%1 = slr.normalize_columns %0 to %m : !slr.term<64x48>, tensor<48xf32>`
  }];
  let arguments = (ins Slr_Term:$of, Drawloom_FloatTensor:$lengths);
  let assemblyFormat = "$of `to` $lengths attr-dict `:` type($of) `,` type($lengths)";
}

#endif // DRAWLOOM_DIALECTS_SLR_SLRTERMS_TD
