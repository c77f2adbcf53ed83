// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_CODEGEN_NVPTX_PASSES_TD
#define DRAWLOOM_CODEGEN_NVPTX_PASSES_TD

include "mlir/Pass/PassBase.td"

// Alphabetical. Every option has a sentence and a default.

def NvptxAllocateShared : Pass<"nvptx-allocate-shared", "::mlir::func::FuncOp"> {
  let summary = "Place the buffers of a kernel in its arena of shared memory";
  let description = [{
    Buffers that are in use at the same time get different bytes; a buffer that
    is made outside a loop and used in it is in use through all of it, and one
    that is copied to until the copy has arrived, whether it is read or not. Then puts
    a barrier wherever one thread may load what another has stored, or store what
    another may still load, since the last barrier: also from one iteration of a
    loop to the next. A kernel that needs more than `limit` bytes is an error
    that lists the buffers in use where the need is largest.

    Example: test/codegen/nvptx/allocate-shared-reuses-bytes.mlir
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "232448",
           "Most bytes of shared memory that a block may use">];
  let dependentDialects = ["::drawloom::tile::TileDialect"];
}

def NvptxAssignLayouts : Pass<"nvptx-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Give every tile of a kernel a layout";
  let description = [{
    Tiles that meet in elementwise arithmetic or are carried from one iteration
    to the next share a layout. What fixes it, first to last: a dot's
    accumulators, what a reduction leaves, what is broadcast, and else
    neighbouring threads hold neighbouring elements, for whole sectors of global
    memory. Where a tile is needed in another layout there is a `tile.convert`, which
    goes through shared memory unless it only renames registers. Operands of
    dots are put into shared memory, but for the left one of `mma` that
    is in the right registers already.

    So that registers suffice: what elementwise arithmetic makes is made again
    rather than kept over products, tiles that wait longest do so in shared
    memory, sums of the rows that a product reads are products with ones, and
    arithmetic that ends in many sums gets a layout of few columns a thread.

    Example: test/codegen/nvptx/assign-layouts-chains-dots.mlir
  }];
  let options = [
    Option<"warps", "warps", "int64_t", "0",
           "Warps of a block; 0: 4, or 8 where loops carry many sums">,
    Option<"limit", "limit", "int64_t", "232448",
           "Bytes of shared memory that a block may have">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxBlockToTile : Pass<"nvptx-block-to-tile", "::mlir::func::FuncOp"> {
  let summary = "Turn a block program into a kernel over tiles";
  let description = [{
    Tensors of the function become memory, its results too; the `scf.forall`
    becomes the grid. Inside, a tensor is a tile in registers, unless it is a
    part of an argument or result, or is read or written part by part: those
    are memory, written in place. Ops of `linalg` become arithmetic on whole
    tiles, `tile.broadcast`, `tile.reduce` and `tile.dot`.

    Grids of more than `max-grid` blocks become loops over blocks. Where open
    extents say how many there are, `drawloom.open_grid` has the expression.

    Example: test/codegen/nvptx/block-to-tile-stores-in-place.mlir
  }];
  let options = [
    Option<"maxGrid", "max-grid", "int64_t", "1056",
           "Most blocks that are launched; each then runs several">,
    Option<"keepWhile", "keep-while", "bool", "false",
           "Keep loops that end by a condition, which have no layouts">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxChooseProducts : Pass<"nvptx-choose-products", "::mlir::ModuleOp"> {
  let summary = "Leave dense products that nothing fuses with to a library";
  let description = [{
    In front of `fuse-rows`: a plain product of floats that fusion along rows
    would not fuse with other ops becomes a call of a function that holds it,
    with the sum that it starts from, the bias, the ReLU and the rounding behind
    it. The function's `drawloom.product` says how a library is asked for it.
    Which products is decided by estimates (ProductCost.h); the remarks
    (`--remarks-filter=nvptx-choose-products`) give both.

    Example: test/codegen/nvptx/choose-products-takes-what-stands-around.mlir
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"sm_90a\"",
           "The architecture whose rates count">,
    Option<"all", "all", "bool", "false",
           "Leave all to it that it can compute, whatever the estimates, also "
           "what would be fused">,
    Option<"cacheBytes", "cache-bytes", "int64_t", "48 * 1024",
           "Of fuse-rows.">,
    Option<"leastRows", "least-rows", "int64_t", "1", "Of fuse-rows.">,
    Option<"maxBlocks", "max-blocks", "int64_t", "264", "Of fuse-rows.">,
    Option<"mostRows", "most-rows", "int64_t", "128", "Of fuse-rows.">,
    Option<"productBytes", "product-bytes", "int64_t", "0", "Of fuse-rows.">,
    Option<"sumBytes", "sum-bytes", "int64_t", "0", "Of fuse-rows.">,
    Option<"summedProductBytes", "summed-product-bytes", "int64_t", "0",
           "Of fuse-rows.">,
    Option<"sweptBytes", "swept-bytes", "int64_t", "1 << 20",
           "Of fuse-rows.">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NvptxLoopOverBatches : Pass<"nvptx-loop-over-batches", "::mlir::func::FuncOp"> {
  let summary = "Multiply the matrices of a batch one by one";
  let description = [{
    A contraction with one dimension that both operands and the result have, and
    of more than `registers` terms, becomes a loop over that dimension, or the
    one product that it is, unless instructions multiply all of it.

    Example: test/codegen/nvptx/loop-over-batches.mlir
  }];
  let options = [Option<"registers", "registers", "int64_t", "16384",
                        "Terms that a block holds in registers at most">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NvptxLower : Pass<"nvptx-lower", "::mlir::ModuleOp"> {
  let summary = "Turn kernels over tiles into llvm and nvvm";
  let description = [{
    Each register of a tile becomes a value. Kernels get Triton's signature:
    their buffers, then two pointers to scratch memory.

    With `describe-accesses`, each access carries in `drawloom.element` which
    element of which buffer the layouts say that it is of. The emulator compares
    the address with it.

    Example: test/codegen/nvptx/lower-multiplies-by-mma.mlir
  }];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", "60000",
           "Most operations of a kernel: beyond, it is refused">,
    Option<"describeAccesses", "describe-accesses", "bool", "false",
           "Say of each access which element it is of">,
    Option<"splitWords", "split-words", "bool", "true",
           "Make two f32 of a word of bf16 at once, instead of two numbers that "
           "instructions of sm_100 add as they are">,
    Option<"storeMatrices", "store-matrices", "bool", "false",
           "Store fragments of matrices by stmatrix, which sm_90 has">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def NvptxOutlineKernels : Pass<"nvptx-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Make a function of each block program and of what is between";
  let description = [{
    Each outermost `scf.forall` becomes a function, and so does each run of other
    ops between two of them; constants, slices and reshapes are repeated where
    they are used. What was there calls these functions, and still means the
    same. Calls of functions with `drawloom.product` stay: a library computes
    them. Open extents become arguments of functions and of the kernels that ask
    for them (OpenKernels.h).

    Example: test/codegen/nvptx/outline-kernels-between-blocks.mlir
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NvptxPlanLaunches : Pass<"nvptx-plan-launches", "::mlir::ModuleOp"> {
  let summary = "Write down what a function launches, on which memory";
  let description = [{
    Behind `nvptx-outline-kernels`: each function that calls kernels becomes an
    entry of the module's attribute `drawloom.plan`, with its signature, the
    bytes of workspace that a call needs and its launches. Tensors between
    kernels live in the workspace, by when they are in use; those with open
    extents in workspace that grows with these. Calls of functions
    with `drawloom.product` become steps for a library; these functions go.

    Example: test/codegen/nvptx/plan-launches-shares-workspace.mlir
  }];
  let options = [
    Option<"productWorkspace", "product-workspace", "int64_t", "4 << 20",
           "Bytes of workspace that a library's product is given">];
}

def NvptxSpillArrays : Pass<"nvptx-spill-arrays", "::mlir::func::FuncOp"> {
  let summary = "Keep arrays of tiles in global memory";
  let description = [{
    A tensor of three or more dimensions that a block program fills slice by
    slice in one loop, reads slice by slice in another, and that is larger than
    `limit`, becomes a part of one more result of the program, which nobody
    reads. Loops and branches that it is made in carry it. Runs before `nvptx-outline-kernels`.

    Example: test/codegen/nvptx/spill-arrays-of-tiles.mlir
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let options = [Option<"limit", "limit", "int64_t", "16384",
                        "Bytes that a block may keep for itself">];
}

def NvptxSimplifyTiles : Pass<"nvptx-simplify-tiles", "::mlir::func::FuncOp"> {
  let summary = "Use instructions for what takes several operations otherwise";
  let description = [{
    `x > 0 ? x : 0` is a maximum; of a number that was rounded before, it is
    taken in the narrow type, where the rounding's instruction has it for
    nothing. Single rows of a tile that was stored for them are `tile.slice`.
    None of these changes a result. A product by tensor cores that is added to
    something starts from that, which changes the order of its sum.

    Example: test/codegen/nvptx/simplify-tiles-takes-rows.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // DRAWLOOM_CODEGEN_NVPTX_PASSES_TD
