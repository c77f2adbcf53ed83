// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_BLOCK_PASSES_TD
#define DRAWLOOM_PASSES_BLOCK_PASSES_TD

include "mlir/Pass/PassBase.td"

// Alphabetical. Every option has a sentence and a default.

def AccumulateProducts : Pass<"accumulate-products", "::mlir::func::FuncOp"> {
  let summary = "Add up products of matrices in one sum";
  let description = [{
    A sum of two products, A B + C D, is one sum that goes on: C D starts from A B.
    So the result of the first is neither written nor read as a whole. The product
    with more terms comes first. Nobody else may read either of them, and one must
    start at zero.

    Example: test/passes/Block/accumulate-products-starts-one-from-the-other.mlir
  }];
}

def DecomposeBlocks : Pass<"decompose-blocks"> {
  let summary = "Express the domain ops inside tiles by loops, slices and linalg";
  let description = [{
    The second half of `decompose-graph`: ops that were kept whole so that they
    could be tiled with their neighbours (encodings, gathers, scans, triangular
    solves) are decomposed where they stand now.

    Example: test/passes/Block/decompose-blocks-expands-tileable-ops.mlir
  }];
  let options = [
    Option<"keepTileOps", "keep-tile-ops", "bool", "false",
           "Leave gathers, scatters of different rows, scans and triangular "
           "solves as they are.">];
}

def TileToForall : Pass<"tile-to-forall", "::mlir::func::FuncOp"> {
  let summary = "Cut large parallel ops outside block programs into blocks";
  let description = [{
    What fusion along rows leaves (an optimizer's update of a large table, say)
    would run on one thread. Each linalg op of at least `min-iterations`
    iterations becomes an `scf.forall` over equal pieces of its outermost parallel
    dimension: as many as divide the extent, at most `max-blocks`.

    Example: test/passes/Block/tile-to-forall-cuts-a-large-update.mlir
  }];
  let options = [
    Option<"maxBlocks", "max-blocks", "int64_t", "64", "Upper bound on pieces.">,
    Option<"minIterations", "min-iterations", "int64_t", "65536",
           "Ops with fewer iterations stay whole.">,
    Option<"pieceIterations", "piece-iterations", "int64_t", "0",
           "Iterations that a piece should have at most; 0: any number.">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseIntoBlocks : Pass<"fuse-into-blocks", "::mlir::func::FuncOp"> {
  let summary = "Compute within block programs what they read, and what reads them";
  let description = [{
    Where all that reads the result of an elementwise op, of a reduction over
    dimensions that are read whole, or of a gather are slices and gathers within
    block programs, these compute their parts, from parts of its operands, and the
    tensor goes. Chains of such ops go together, also through dimensions that are
    expanded. Rows that a gather leaves out stay zeros. Ops with
    `BlockFusionOpInterface` are taken by their structured form, and decomposed where
    they are not.

    An op is computed once for each read: the operations that this takes beyond
    the first time must be fewer than `operations-per-byte` for each byte that
    is not written and read any more. A division or a root counts 8, an
    elementary function 24, other arithmetic 1; operands of up to `tile-bytes`
    cost nothing to read. Remarks (`--remarks-filter=fuse-into-blocks`) give both
    numbers.

    Behind a block program, ops that read one of its results only from the same
    place as they write join it if they make one tensor of the result's type,
    which then takes its place.

    Examples: test/passes/Block/fuse-into-blocks-computes-a-part-where-it-is-read.mlir,
    fuse-into-blocks-computes-before-it-writes.mlir and
    fuse-into-blocks-gathers-where-it-is-read.mlir
  }];
  let options = [
    Option<"operationsPerByte", "operations-per-byte", "double", "4.0",
           "Operations that take as long as a byte from memory.">,
    Option<"tileBytes", "tile-bytes", "int64_t", "65536",
           "Largest part of a tensor that is computed in place.">,
  ];
  let dependentDialects = ["::drawloom::block::BlockDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseRows : Pass<"fuse-rows", "::mlir::func::FuncOp"> {
  let summary = "Fuse everything that shares the row dimension into block programs";
  let description = [{
    Finds the dimension that a function's work is parallel over (the batch) and
    turns all ops that carry it into one block program for each phase: an
    `scf.forall` over blocks of rows, whose tiles run through encoder, layers,
    activations, loss and their backward without leaving the cache. What reduces
    over rows becomes a partial result of each block, and an ordered second stage
    adds these up, so that bits do not depend on the number of threads. An op that
    needs a finished sum, or a row value as a whole, starts a new phase.

    The cut (rows of a tile, tiles of a block, blocks) follows from shapes alone.
    Remarks (`--remarks-filter=fuse-rows`) say what was fused and why something
    was not. An extent that a call chooses may be that of the rows; all others of
    what is fused must be known. Where calls choose several, the same is done for one
    after the other.

    Example: test/passes/Block/fuse-rows-chains-layers.mlir
  }];
  let options = [
    Option<"cacheBytes", "cache-bytes", "int64_t", "448 * 1024",
           "Budget of one block's working set.">,
    Option<"columnBytes", "column-bytes", "int64_t", "2 * 1024 * 1024",
           "Matrices of so many bytes are read by columns where rows are open, "
           "with wide-products.">,
    Option<"minRows", "min-rows", "int64_t", "16",
           "Fewest rows of a tile that are chosen: a power of two; "
           "products of matrices get 16 all the same.">,
    Option<"maxBlocks", "max-blocks", "int64_t", "64",
           "Upper bound on blocks that carry partial sums.">,
    Option<"maxPlainRows", "max-plain-rows", "int64_t", "0",
           "Most rows of a tile on which nothing is multiplied, where there are "
           "max-blocks of them: a power of two.">,
    Option<"maxRows", "max-rows", "int64_t", "64",
           "Most rows of a tile that are chosen: a power of two.">,
    Option<"notesRows", "note-rows", "bool", "false",
           "Note the rows of a tile on each block program.">,
    Option<"operationsPerSumByte", "operations-per-sum-byte", "int64_t", "230",
           "Operations that a block should do for each byte of partial sums; 0: "
           "as many blocks as there may be.">,
    Option<"packUniform", "pack-uniform", "bool", "true",
           "Copy matrices that products read across their inner dimension.">,
    Option<"productBytes", "product-bytes", "int64_t", "0",
           "Budget of a block with products; 0: that of the others.">,
    Option<"restInBlocks", "rest-in-blocks", "bool", "false",
           "Whether each of the few rows' tiles that open rows leave over is a "
           "block of its own, instead of all of them one">,
    Option<"sumBytes", "sum-bytes", "int64_t", "0",
           "Bytes of the sums over rows that one block may carry; 0: any.">,
    Option<"sumPartBytes", "sum-part-bytes", "int64_t", "0",
           "The same of a sum that blocks carry alone: where it has more, each "
           "carries a part; 0: all of it.">,
    Option<"summedProductBytes", "summed-product-bytes", "int64_t", "0",
           "Budget of a block with products that carries sums as well; 0: that "
           "of the others.">,
    Option<"sweptBytes", "swept-bytes", "int64_t", "0",
           "Bytes that may be read again for every tile at no cost.">,
    Option<"tileRows", "tile-rows", "int64_t", "0",
           "Rows of a tile; 0 chooses the most that fit.">,
    Option<"wideProducts", "wide-products", "bool", "false",
           "Give a product of which few rows fit blocks with what else reads or "
           "makes its rows, where all that stays within these fits.">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def JoinRows : Pass<"join-rows", "::mlir::func::FuncOp"> {
  let summary = "Count sequences and tokens as rows, where calls choose both";
  let description = [{
    `fuse-rows` knows one dimension of rows. Where a program leaves two open that
    lie side by side, `tensor<?x?x4xf32>`, ops that have both work on
    `tensor<?x4xf32>` instead, of as many rows as the two have together, between
    reshapes that move nothing. All of them do or none does: ops must have both in
    this order, as loops of one kind, and not ask where they are. What has one
    of them alone keeps it.

    Where the extents are those of one call, the same is done, so that sums are cut
    as in a program for any.

    Example: test/passes/Block/join-rows.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ElideOptionalTruncations : Pass<"elide-optional-truncations", "::mlir::func::FuncOp"> {
  let summary = "Leave out roundings of tiles where these are optional";
  let description = [{
    An `arith.truncf` with the flag `contract` at the end of a `linalg.generic` says
    that its result may as well keep its digits. Where all that read the result
    compute in the wider type anyway (products of matrices with sums of that type,
    ops that begin with `arith.extf`), it does. Targets without instructions for
    products of the narrow type run this.

    Example: test/passes/Block/elide-optional-truncations-leaves-out-roundings.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def RestrictLoops : Pass<"restrict-loops", "::mlir::func::FuncOp"> {
  let summary = "Leave out the terms of sums that are zero by their index";
  let description = [{
    A structured op adds up terms over a loop k, and each term is 0 unless k - start
    is one of a few constants, where `start` is an input that does not depend on k:
    the body compares the two and selects 0. Such a loop runs over these constants.
    The loops that `start` depends on become loops in order, the innermost in groups
    of eight; the others are small structured ops on slices at start + constant.
    That is done where the op that makes `start` clamps it to what fits into the
    loop. A product with 0 counts as 0, whatever the other factor is.

    The gradients of such an op have the same form, so that products with functions
    of which few differ from 0 (`kan.edge_layer`) cost as much as those few.

    Example: test/passes/Block/restrict-loops-visits-a-window.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // DRAWLOOM_PASSES_BLOCK_PASSES_TD
