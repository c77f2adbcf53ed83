// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_BLOCK_PASSES_TD
#define DRAWLOOM_PASSES_BLOCK_PASSES_TD

include "mlir/Pass/PassBase.td"

// Alphabetical. Every option has a sentence and a default.

def AccumulateProducts : Pass<"accumulate-products", "::mlir::func::FuncOp"> {
  let summary = "Add up several matrix products in one accumulator";
  let description = [{
    A sum of two products, A B + C D, becomes one accumulation: C D starts from
    A B, so that the result of the first product is neither written nor read as
    a whole. The product with more terms comes first. Neither product may have
    other users, and one must start at zero.

    Example: test/passes/Block/accumulate-products-starts-one-from-the-other.mlir
  }];
}

def DecomposeBlocks : Pass<"decompose-blocks"> {
  let summary = "Lower the domain ops inside tiles to loops, slices and linalg";
  let description = [{
    The second half of `decompose-graph`: decomposes the ops that were kept
    whole so that they could be tiled with their neighbours (encodings, gathers,
    scans, triangular solves), where they now stand.

    Example: test/passes/Block/decompose-blocks-expands-tileable-ops.mlir
  }];
  let options = [
    Option<"keepTileOps", "keep-tile-ops", "bool", "false",
           "Keep gathers, scatters of distinct rows, scans and triangular "
           "solves.">];
}

def ElideOptionalTruncations : Pass<"elide-optional-truncations", "::mlir::func::FuncOp"> {
  let summary = "Leave out optional roundings of tiles";
  let description = [{
    An `arith.truncf` with the flag `contract` at the end of a `linalg.generic`
    is optional: its result may as well keep its digits. If all users of the
    result compute in the wider type anyway (matrix products with sums of that
    type, ops that begin with `arith.extf`), the rounding is removed. For
    targets without instructions for products of the narrow type.

    Example: test/passes/Block/elide-optional-truncations-leaves-out-roundings.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseIntoBlocks : Pass<"fuse-into-blocks", "::mlir::func::FuncOp"> {
  let summary =
      "Fuse producers into the block programs that read them, and consumers "
      "into those that feed them";
  let description = [{
    If all users of the result of an elementwise op, a gather, or a reduction
    over dimensions that are read whole are slices and gathers within block
    programs, the block programs compute their parts of the result themselves,
    from parts of the op's operands, and the tensor disappears. Chains of such
    ops are fused together, also through expanded dimensions. Rows that a gather
    leaves out stay zero. Ops with `BlockFusionOpInterface` are fused in their
    structured form, and decomposed where they are not fused.

    An op is computed once for each read. The additional operations must be
    fewer than `operations-per-byte` for each byte that is no longer written and
    read. A division or a root counts 8, an elementary function 24, other
    arithmetic 1; operands of up to `tile-bytes` are free to read. Remarks
    (`--remarks-filter=fuse-into-blocks`) give both numbers.

    Ops behind a block program join it if they read one of its results only at
    the place where they write, and make one tensor of the result's type, which
    then replaces the result.

    Examples: test/passes/Block/fuse-into-blocks-computes-a-part-where-it-is-read.mlir,
    fuse-into-blocks-computes-before-it-writes.mlir and
    fuse-into-blocks-gathers-where-it-is-read.mlir
  }];
  let options = [
    Option<"operationsPerByte", "operations-per-byte", "double", "4.0",
           "Operations that take as long as reading or writing one byte of "
           "memory.">,
    Option<"tileBytes", "tile-bytes", "int64_t", "65536",
           "Max bytes of a tensor part that is computed in place.">,
  ];
  let dependentDialects = ["::drawloom::block::BlockDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseRows : Pass<"fuse-rows", "::mlir::func::FuncOp"> {
  let summary = "Fuse all ops that share the row dimension into block programs";
  let description = [{
    Finds the dimension that a function's work is parallel over (the batch) and
    turns all ops that carry it into one block program for each phase: an
    `scf.forall` over blocks of rows, whose tiles run through encoder, layers,
    activations, loss and their backward passes without leaving the cache. A
    reduction over rows becomes a partial result of each block, and a second
    stage combines the partial results in a fixed order, so that bits do not
    depend on the number of threads. An op that needs a finished reduction, or
    all rows of a value at once, starts a new phase.

    The schedule (rows of a tile, tiles of a block, number of blocks) depends on
    shapes alone. Remarks (`--remarks-filter=fuse-rows`) say what was fused and
    why an op was not. The extent of the rows may be open, that is, chosen by a
    call; all other extents of fused ops must be known. If calls choose several
    extents, each of them is used as the rows in turn.

    Example: test/passes/Block/fuse-rows-chains-layers.mlir
  }];
  let options = [
    Option<"cacheBytes", "cache-bytes", "int64_t", "448 * 1024",
           "Max bytes of one block's working set.">,
    Option<"columnBytes", "column-bytes", "int64_t", "2 * 1024 * 1024",
           "Min bytes of a matrix that is read by columns if the number of "
           "rows is open; needs wide-products.">,
    Option<"minRows", "min-rows", "int64_t", "16",
           "Min rows of a tile, a power of two; tiles with matrix products "
           "have at least 16 rows in any case.">,
    Option<"maxBlocks", "max-blocks", "int64_t", "64",
           "Max number of blocks that carry partial sums.">,
    Option<"maxPlainRows", "max-plain-rows", "int64_t", "0",
           "Max rows of a tile without products, a power of two, as long as "
           "there are at least max-blocks such tiles.">,
    Option<"maxRows", "max-rows", "int64_t", "64",
           "Max rows of a tile, a power of two.">,
    Option<"notesRows", "note-rows", "bool", "false",
           "Note the rows of a tile on each block program.">,
    Option<"operationsPerSumByte", "operations-per-sum-byte", "int64_t", "230",
           "Min operations of a block for each byte of its partial sums; 0: "
           "use as many blocks as allowed.">,
    Option<"packUniform", "pack-uniform", "bool", "true",
           "Copy matrices that products read across the contraction "
           "dimension.">,
    Option<"productBytes", "product-bytes", "int64_t", "0",
           "Max bytes of the working set of a block with products; 0: "
           "cache-bytes.">,
    Option<"restInBlocks", "rest-in-blocks", "bool", "false",
           "Make each of the small tiles that cover the remainder of an open "
           "number of rows a block of its own, instead of one block for all "
           "of them">,
    Option<"sumBytes", "sum-bytes", "int64_t", "0",
           "Max bytes of the sums over rows that one block carries; 0: no "
           "limit.">,
    Option<"sumPartBytes", "sum-part-bytes", "int64_t", "0",
           "Max bytes of an accumulator that is the only result of a block; "
           "larger accumulators are split across blocks; 0: never split.">,
    Option<"summedProductBytes", "summed-product-bytes", "int64_t", "0",
           "Max bytes of the working set of a block with products and sums "
           "over rows; 0: cache-bytes.">,
    Option<"sweptBytes", "swept-bytes", "int64_t", "0",
           "Bytes of row-invariant operands and accumulators assumed to stay "
           "in cache across tiles.">,
    Option<"tileRows", "tile-rows", "int64_t", "0",
           "Rows of a tile; 0: the largest number that fits.">,
    Option<"wideProducts", "wide-products", "bool", "false",
           "Fuse a product of which only few rows fit with the ops that read "
           "or make its rows, if the values that stay within the block fit.">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def JoinRows : Pass<"join-rows", "::mlir::func::FuncOp"> {
  let summary =
      "Collapse sequences and tokens into one row dimension if calls choose "
      "both";
  let description = [{
    `fuse-rows` supports one dimension of rows. If a program leaves two adjacent
    dimensions open, as in `tensor<?x?x4xf32>`, ops that have both work on
    `tensor<?x4xf32>` instead, with as many rows as the product of the two,
    between reshapes that move no data. The rewrite applies to all of these ops
    or to none: each must have both dimensions in this order, as loops of one
    kind, and must not use `linalg.index`. Values that have only one of the two
    dimensions keep it.

    If the two extents are known, but are those of one call, the rewrite applies
    as well, so that sums are split as in a program for any extents.

    Example: test/passes/Block/join-rows.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def RestrictLoops : Pass<"restrict-loops", "::mlir::func::FuncOp"> {
  let summary = "Leave out terms of sums that an index comparison makes zero";
  let description = [{
    Applies to a structured op that adds up terms over a loop k where each term
    is 0 unless k - start is one of a few constants, and `start` is an input
    that does not depend on k: the body compares the two and selects 0. The loop
    then runs over these constants only. The loops that `start` depends on
    become sequential loops, the innermost in groups of eight; the other loops
    become small structured ops on slices at start + constant. The op that makes
    `start` must clamp it so that the slices stay within the loop. A product
    with 0 counts as 0, whatever the other factor is.

    The gradients of such an op have the same form. Products with functions of
    which few are nonzero (`kan.edge_layer`) therefore cost only as much as
    these few.

    Example: test/passes/Block/restrict-loops-visits-a-window.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TileToForall : Pass<"tile-to-forall", "::mlir::func::FuncOp"> {
  let summary = "Cut large parallel ops outside block programs into blocks";
  let description = [{
    Ops that fusion along rows leaves outside block programs (such as an
    optimizer's update of a large table) would run on one thread. Each linalg op
    of at least `min-iterations` iterations becomes an `scf.forall` over equal
    pieces of its outermost parallel dimension. The number of pieces divides the
    extent and is at most `max-blocks`.

    Example: test/passes/Block/tile-to-forall-cuts-a-large-update.mlir
  }];
  let options = [
    Option<"maxBlocks", "max-blocks", "int64_t", "64", "Max number of pieces.">,
    Option<"minIterations", "min-iterations", "int64_t", "65536",
           "Min iterations of an op that is cut; smaller ops stay whole.">,
    Option<"pieceIterations", "piece-iterations", "int64_t", "0",
           "Max iterations of a piece; 0: no limit.">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // DRAWLOOM_PASSES_BLOCK_PASSES_TD
