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

    Example: test/codegen/nvptx/shared/allocate-shared-reuses-bytes.mlir
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
    memory. Where a tile is needed in another layout there is a `tile.convert`.
    Slices and reshapes that no renaming of digits expresses go through shared
    memory. The kernel's `drawloom.warps` says how many warps share a tile; four
    where it is absent.

    Example: test/codegen/nvptx/layouts/assign-layouts-chains-dots.mlir
  }];
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

    Example: test/codegen/nvptx/totile/block-to-tile-stores-in-place.mlir
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

    Example: test/codegen/nvptx/products/choose-products-takes-what-stands-around.mlir
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"sm_90a\"",
           "The architecture whose rates count">,
    Option<"all", "all", "bool", "false",
           "Leave all to it that it can compute, whatever the estimates, also "
           "what would be fused">,
    Option<"rows", "rows", "std::string", "\"\"",
           "Options of fuse-rows, which decide what would be fused">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NvptxDeferReductions : Pass<"nvptx-defer-reductions", "::mlir::func::FuncOp"> {
  let summary = "Combine sums across threads behind the loop that carries them";
  let description = [{
    A loop that adds a `tile.reduce` to what it carries, carries each thread's
    own share instead, and one reduction behind the loop combines them. Where all
    shares together would take more than 96 registers, each thread carries the
    elements that it owns, and only the reduction stays in the loop.

    Example: test/codegen/nvptx/layouts/defer-reductions-adds-to-what-the-loop-starts-with.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxExpandConversions : Pass<"nvptx-expand-conversions", "::mlir::func::FuncOp"> {
  let summary = "Move tiles between threads through shared memory";
  let description = [{
    A `tile.convert` between layouts of different threads becomes a store into a
    buffer and a load; one that only renames registers stays. A `tile.reduce`
    across warps gets a scratch buffer.

    Example: test/codegen/nvptx/layouts/relayout-reductions-gives-sums-columns.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxHoistStaging : Pass<"nvptx-hoist-staging", "::mlir::func::FuncOp"> {
  let summary = "Stage loop-invariant tiles once, in front of the loop";
  let description = [{
    A buffer that each iteration fills with the same elements of memory which the
    kernel only reads is filled in front of the loop, together with what computes
    them. Innermost loops come first. All buffers that move take `limit` bytes at
    most.

    Example: test/codegen/nvptx/shared/hoist-staging-stages-invariant-operands-once.mlir
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "98304",
           "Bytes of shared memory for what is staged once">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxLoopOverBatches : Pass<"nvptx-loop-over-batches", "::mlir::func::FuncOp"> {
  let summary = "Multiply the matrices of a batch one by one";
  let description = [{
    A contraction with one dimension that both operands and the result have, and
    of more than `registers` terms, becomes a loop over that dimension, or the
    one product that it is, unless instructions multiply all of it.

    Example: test/codegen/nvptx/totile/loop-over-batches.mlir
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

    Example: test/codegen/nvptx/lower/lower-multiplies-by-mma.mlir
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

    Example: test/codegen/nvptx/launch/outline-kernels-between-blocks.mlir
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NvptxPadBuffers : Pass<"nvptx-pad-buffers", "::mlir::func::FuncOp"> {
  let summary = "Pad rows of buffers against bank conflicts";
  let description = [{
    The rows of each buffer are put so far apart that all ops which access it
    take the fewest clocks of the banks of shared memory, as far as the `limit`
    allows. Buffers that work equally well with the row length of another one get
    that, so that threads compute one address for both.

    Example: test/codegen/nvptx/shared/pipeline-copies-spreads-over-banks.mlir
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "232448",
           "Bytes of shared memory that a block may use">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxPipelineCopies : Pass<"nvptx-pipeline-copies", "::mlir::func::FuncOp"> {
  let summary = "Copy tiles to shared memory asynchronously, an iteration ahead";
  let description = [{
    A tile that is loaded from memory which the kernel only reads, and that is
    only stored into shared memory, is copied there by `tile.copy_async` without
    passing through registers. Where each iteration of a loop fills a buffer so,
    the buffer becomes a ring of two slots: the next iteration's copy runs while
    this one computes. Rings stay within `limit` bytes together with all other
    buffers.

    Example: test/codegen/nvptx/shared/pipeline-copies-an-iteration-ahead.mlir
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "232448",
           "Bytes of shared memory that a block may use">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
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

    Example: test/codegen/nvptx/launch/plan-launches-shares-workspace.mlir
  }];
  let options = [
    Option<"productWorkspace", "product-workspace", "int64_t", "4 << 20",
           "Bytes of workspace that a library's product is given">];
}

def NvptxPromoteScratch : Pass<"nvptx-promote-scratch", "::mlir::func::FuncOp"> {
  let summary = "Keep arrays of tiles in global memory";
  let description = [{
    A tensor of three or more dimensions that a block program fills slice by
    slice in one loop, reads slice by slice in another, and that is larger than
    `limit`, becomes a part of one more result of the program, which nobody
    reads. Loops and branches that it is made in carry it. Runs before `nvptx-outline-kernels`.

    Example: test/codegen/nvptx/launch/promote-scratch-of-tiles.mlir
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let options = [Option<"limit", "limit", "int64_t", "16384",
                        "Bytes that a block may keep for itself">];
}

def NvptxReduceByMma : Pass<"nvptx-reduce-by-mma", "::mlir::func::FuncOp"> {
  let summary = "Add up rows that a product multiplies by a product with ones";
  let description = [{
    Where a loop carries the sum of the rows of a 16-bit tile that is also the
    right operand of a product, the sum becomes a product of ones with this tile,
    carried as 16 equal rows: the operand's fragments are in registers already.

    Example: test/codegen/nvptx/layouts/reduce-by-mma-adds-rows-of-operands.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxRelayoutReductions : Pass<"nvptx-relayout-reductions", "::mlir::func::FuncOp"> {
  let summary = "Give arithmetic that ends in many column sums a layout of its own";
  let description = [{
    Between two products, elementwise arithmetic that ends in sums over rows for
    which the products' layout would take more than 64 registers is enclosed by
    `tile.convert`. Their results get a layout of few columns a thread.

    Example: test/codegen/nvptx/layouts/relayout-reductions-gives-sums-columns.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxRematerialize : Pass<"nvptx-rematerialize", "::mlir::func::FuncOp"> {
  let summary = "Compute elementwise values again rather than keep them across products";
  let description = [{
    Where more tiles are alive at a loop's product than three fifths of the
    registers hold, values that elementwise arithmetic makes are computed again
    in front of those who read them behind another product.

    Example: test/codegen/nvptx/layouts/rematerialize-makes-values-again.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxSearchSchedules : Pass<"nvptx-search-schedules", "::mlir::func::FuncOp"> {
  let summary = "Choose the schedule of a kernel, and apply it";
  let description = [{
    Runs `nvptx-apply-schedule` on the kernel for several schedules, and keeps
    the best result: 4 and 8 warps, unless `warps` or the kernel's
    `drawloom.schedule` says how many; less staging where registers or shared
    memory do not suffice; products cut along K where shared memory still does
    not. Estimate.h rates the results. `drawloom.considered` and the remarks
    (`--remarks-filter=schedule`) list them.

    Run `nvptx-apply-schedule` to see what one schedule makes, and any of its
    passes alone to see what that does.

    Example: test/codegen/nvptx/cost/schedules-are-data.mlir
  }];
  let options = [
    Option<"warps", "warps", "int64_t", "0",
           "Warps of each block; 0: chosen by estimates">,
    Option<"limit", "limit", "int64_t", "232448",
           "Bytes of shared memory that a block may use">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxSimplifyTiles : Pass<"nvptx-simplify-tiles", "::mlir::func::FuncOp"> {
  let summary = "Use instructions for what takes several operations otherwise";
  let description = [{
    `x > 0 ? x : 0` is a maximum; of a number that was rounded before, it is
    taken in the narrow type, where the rounding's instruction has it for
    nothing. Single rows of a tile that was stored for them are `tile.slice`.
    None of these changes a result. A product by tensor cores that is added to
    something starts from that, which changes the order of its sum.

    Example: test/codegen/nvptx/totile/simplify-tiles-takes-rows.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect"];
}

def NvptxSpillToShared : Pass<"nvptx-spill-to-shared", "::mlir::func::FuncOp"> {
  let summary = "Keep tiles in shared memory where registers do not suffice";
  let description = [{
    Where more tiles are alive at a product than the registers of a thread hold,
    those that are needed latest are stored in shared memory and loaded again.
    Tiles that are copied to shared memory anyway come first; accumulators that a
    loop carries come last: each thread adds to its own elements in place.
    `drawloom.lacking_registers` on the kernel says how many registers a thread
    still lacks.

    Example: test/codegen/nvptx/shared/spill-to-shared-lets-sums-wait.mlir
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "232448",
           "Bytes of shared memory that a block may use">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxStageOperands : Pass<"nvptx-stage-operands", "::mlir::func::FuncOp"> {
  let summary = "Put operands of products where the instructions read them";
  let description = [{
    Both operands of a `tile.dot` are stored into shared memory, padded with zeros
    to whole instructions, except a left operand of `mma.sync` that is in the
    right registers and an operand that already lies in shared memory in whole
    vectors. A tile that several products read is stored once.

    Example: test/codegen/nvptx/shared/stage-operands-reads-operands-in-place.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxStageVectors : Pass<"nvptx-stage-vectors", "::mlir::func::FuncOp"> {
  let summary = "Stage loop-invariant vectors in shared memory";
  let description = [{
    Loop-invariant vectors that are replicated across the threads of a warp are
    staged in shared memory where the copies of a thread would take more than 24
    registers. They are widened first if all who read them do that.

    Example: test/codegen/nvptx/shared/stage-vectors-of-loops.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxTileK : Pass<"nvptx-tile-k", "::mlir::func::FuncOp"> {
  let summary = "Tile the contraction dimension of products";
  let description = [{
    A product whose operands take more than `max-bytes` of shared memory becomes a
    loop along its contraction dimension over parts of 16 KiB, with one product
    for the remainder behind it. An operand that is made by more than elementwise
    arithmetic on inputs is stored once and read in parts.

    Example: test/codegen/nvptx/layouts/tile-k-streams-long-products.mlir
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "49152",
           "Bytes of a product's operands that stay whole">,
    Option<"onlyInputs", "only-inputs", "bool", "false",
           "Only in kernels where every product reads inputs, once">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // DRAWLOOM_CODEGEN_NVPTX_PASSES_TD
