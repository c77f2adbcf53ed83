// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_CODEGEN_NVPTX_PASSES_TD
#define DRAWLOOM_CODEGEN_NVPTX_PASSES_TD

include "mlir/Pass/PassBase.td"

// Alphabetical. Every option has a sentence and a default.

def NvptxAllocateShared : Pass<"nvptx-allocate-shared", "::mlir::func::FuncOp"> {
  let summary =
      "Allocate the buffers of a kernel in its arena of shared memory";
  let description = [{
    Buffers that are in use at the same time get disjoint bytes. A buffer that
    is made outside a loop and used in the loop is in use throughout the loop;
    the target of an asynchronous copy is in use until the copy has arrived,
    whether or not it is read. Then inserts a barrier wherever, since the last
    barrier, one thread may load what another has stored, or store what another
    may still load, including across loop iterations. If a kernel needs more
    than `limit` bytes, the error lists the buffers in use where the need is
    largest.

    Example: test/codegen/nvptx/shared/allocate-shared-reuses-bytes.mlir
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "232448",
           "Max bytes of shared memory per block">];
  let dependentDialects = ["::drawloom::tile::TileDialect"];
}

def NvptxAssignLayouts : Pass<"nvptx-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Give every tile of a kernel a layout";
  let description = [{
    Tiles that meet in elementwise arithmetic or are carried from one iteration
    to the next share a layout. The layout is determined by, in order of
    priority: a dot's accumulators, the result of a reduction, the source of a
    broadcast; otherwise neighbouring threads hold neighbouring elements, for
    whole sectors of global memory. A tile that is needed in another layout gets
    a `tile.convert`. Slices and reshapes that cannot be expressed by renaming
    digits go through shared memory. The kernel's `drawloom.warps` is the number
    of warps that share a tile; it defaults to four.

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
    Tensors of the function, including its results, become memory; the
    `scf.forall` becomes the grid. Inside, a tensor is a tile in registers,
    unless it is part of an argument or result, or is read or written part by
    part: such tensors are memory, written in place. Ops of `linalg` become
    arithmetic on whole tiles, `tile.broadcast`, `tile.reduce` and `tile.dot`.

    Grids of more than `max-grid` blocks become loops over blocks. If the number
    of blocks depends on open extents, `drawloom.open_grid` holds the
    expression.

    Example: test/codegen/nvptx/tiles/block-to-tile-stores-in-place.mlir
  }];
  let options = [
    Option<"maxGrid", "max-grid", "int64_t", "1056",
           "Max number of blocks launched; with more, each launched block "
           "runs several">,
    Option<"keepWhile", "keep-while", "bool", "false",
           "Keep loops that end by a condition, which have no layouts">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxChooseProducts : Pass<"nvptx-choose-products", "::mlir::ModuleOp"> {
  let summary = "Offload unfused dense products to a library";
  let description = [{
    Run it in front of `fuse-rows`. A plain product of floats that fusion along
    rows would not fuse with other ops becomes a call of a function that
    contains the product, its initial accumulator, and the bias, ReLU and
    rounding that follow it. The function's `drawloom.product` describes the
    call of the library. Estimates of both alternatives (ProductCost.h) decide
    which products are offloaded; the remarks
    (`--remarks-filter=nvptx-choose-products`) report them.

    Example: test/codegen/nvptx/products/choose-products-takes-what-stands-around.mlir
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"sm_90a\"",
           "Architecture whose rates the estimates use">,
    Option<"all", "all", "bool", "false",
           "Offload every product that the library can compute, whatever the "
           "estimates, including products that would be fused">,
    Option<"rows", "rows", "std::string", "\"\"",
           "Options of fuse-rows, which determine what would be fused">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NvptxDeferReductions : Pass<"nvptx-defer-reductions", "::mlir::func::FuncOp"> {
  let summary =
      "Combine sums across threads once, after the loop that carries them";
  let description = [{
    If a loop adds a `tile.reduce` to a value that it carries, each thread
    carries its partial sums instead, and one reduction after the loop combines
    them. If the partial sums would take more than 96 registers, each thread
    carries the elements that it owns, and only the reduction stays in the loop.

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
    A `tile.convert` between layouts that differ between threads becomes a store
    to a buffer and a load; one that only renames registers stays. A
    `tile.reduce` across warps gets a scratch buffer.

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
    A buffer that each iteration fills with the same elements, from memory that
    the kernel only reads, is filled once in front of the loop; the ops that
    compute the elements are hoisted with it. Innermost loops are processed
    first. All hoisted buffers together take at most `limit` bytes.

    Example: test/codegen/nvptx/shared/hoist-staging-stages-invariant-operands-once.mlir
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "98304",
           "Max bytes of shared memory for tiles that are staged once">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxLoopOverBatches : Pass<"nvptx-loop-over-batches", "::mlir::func::FuncOp"> {
  let summary = "Multiply the matrices of a batch one by one";
  let description = [{
    A contraction with one batch dimension, common to both operands and the
    result, and with more than `registers` terms, becomes a loop over that
    dimension, or a single product if the batch has one matrix, unless the
    tensor cores multiply the whole batch at once.

    Example: test/codegen/nvptx/tiles/loop-over-batches.mlir
  }];
  let options = [Option<"registers", "registers", "int64_t", "16384",
                        "Max terms that a block holds in registers">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NvptxLowerMath : Pass<"nvptx-lower-math", "::mlir::ModuleOp"> {
  let summary = "Lower elementary functions to what a GPU computes them by";
  let description = [{
    Functions that would otherwise become calls of a library, or whose accuracy
    would be unspecified, become arithmetic and instructions. In f32,
    exponentials and quotients use the hardware's ex2 and rcp, and other
    functions the same polynomials as on the CPU; bf16 and f16 are computed in
    f32. The flag `afn` permits the plain instruction; with `reassoc` as well,
    exponentials of differences share a product. A function that has no code on
    a GPU is an error.

    Example: test/codegen/nvptx/lower/lower-math-of-scalars.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect"];
}

def NvptxLowerTiles : Pass<"nvptx-lower-tiles", "::mlir::ModuleOp"> {
  let summary = "Lower kernels over tiles to the program of one thread";
  let description = [{
    Each register of a tile becomes a value, and each kernel a function of
    `llvm` with Triton's signature: its buffers, then two pointers to scratch
    memory. Control flow stays in `scf`, arithmetic in `arith` and `math`. The
    pipeline `nvptx-lower` lowers these as well.

    Ops on tiles of one layout are lowered together, a few registers at a time.
    Where that would be very many instructions, they become a loop over
    registers; remarks say where, and why not elsewhere.

    With `describe-accesses`, each access has an attribute `drawloom.element`
    that states which element of which buffer it accesses according to the
    layouts. The emulator compares addresses with it.

    Example: test/codegen/nvptx/lower/lower-tiles-register-by-register.mlir
  }];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", "60000",
           "Max operations of a kernel; a larger kernel is refused">,
    Option<"describeAccesses", "describe-accesses", "bool", "false",
           "Annotate each access with the element that it accesses">,
    Option<"splitWords", "split-words", "bool", "true",
           "Convert a word of bf16 to two f32 at once, instead of converting "
           "each number separately, which sm_100 can fold into additions">,
    Option<"storeMatrices", "store-matrices", "bool", "false",
           "Store matrix fragments with stmatrix, which requires sm_90">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxOutlineKernels : Pass<"nvptx-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Outline each block program and the ops between them";
  let description = [{
    Each outermost `scf.forall` becomes a function, and so does each run of
    other ops between two of them; constants, slices and reshapes are duplicated
    where they are used. The original function calls these functions and keeps
    its meaning. Calls of functions with `drawloom.product` are kept: a library
    computes them. Open extents become arguments of functions, and of the
    kernels that need them (OpenKernels.h).

    Example: test/codegen/nvptx/launch/outline-kernels-between-blocks.mlir
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NvptxPadBuffers : Pass<"nvptx-pad-buffers", "::mlir::func::FuncOp"> {
  let summary = "Pad rows of buffers against bank conflicts";
  let description = [{
    The row stride of each buffer is chosen, within the `limit`, so that all ops
    that access the buffer take the fewest clocks of the banks of shared memory.
    If the stride of another buffer works equally well, it is used, so that
    threads compute one address for both buffers.

    Example: test/codegen/nvptx/shared/pipeline-copies-spreads-over-banks.mlir
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "232448",
           "Max bytes of shared memory per block">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxPipelineCopies : Pass<"nvptx-pipeline-copies", "::mlir::func::FuncOp"> {
  let summary =
      "Copy tiles to shared memory asynchronously, an iteration ahead";
  let description = [{
    A tile that is loaded from memory which the kernel only reads, and that is
    only stored to shared memory, is copied there by `tile.copy_async` without
    passing through registers. If each iteration of a loop fills a buffer in
    this way, the buffer becomes a ring of two slots: the next iteration's copy
    runs during the current iteration. All buffers, including rings, stay within
    `limit` bytes.

    Example: test/codegen/nvptx/shared/pipeline-copies-an-iteration-ahead.mlir
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "232448",
           "Max bytes of shared memory per block">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxPlanLaunches : Pass<"nvptx-plan-launches", "::mlir::ModuleOp"> {
  let summary = "Record the launches of each function, and the memory they use";
  let description = [{
    Runs after `nvptx-outline-kernels`. Each function that calls kernels becomes
    an entry of the module's attribute `drawloom.plan`, with its signature, its
    launches and the bytes of workspace that a call needs. Tensors between
    kernels are in the workspace; tensors that are not in use at the same time
    may share its bytes. Tensors with open extents are in workspace that grows
    with these extents. Calls of functions with `drawloom.product` become
    library steps; the functions are removed.

    Example: test/codegen/nvptx/launch/plan-launches-shares-workspace.mlir
  }];
  let options = [
    Option<"productWorkspace", "product-workspace", "int64_t", "4 << 20",
           "Bytes of workspace given to a library product">];
}

def NvptxPromoteScratch : Pass<"nvptx-promote-scratch", "::mlir::func::FuncOp"> {
  let summary = "Keep arrays of tiles in global memory";
  let description = [{
    Applies to a tensor of three or more dimensions that a block program fills
    slice by slice in one loop and reads slice by slice in another, and that is
    larger than `limit`. It becomes part of an additional result of the program,
    which nobody reads; the loops and branches that make it carry it. Runs
    before `nvptx-outline-kernels`.

    Example: test/codegen/nvptx/launch/promote-scratch-of-tiles.mlir
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let options = [Option<"limit", "limit", "int64_t", "16384",
                        "Max bytes of a tensor that stays in its block">];
}

def NvptxReduceByMma : Pass<"nvptx-reduce-by-mma", "::mlir::func::FuncOp"> {
  let summary = "Sum the rows of a product's operand by a product with ones";
  let description = [{
    If a loop carries the sum of the rows of a 16-bit tile that is also the
    right operand of a product, the sum becomes a product of ones with this
    tile, carried as 16 equal rows: the operand's fragments are in registers
    already.

    Example: test/codegen/nvptx/layouts/reduce-by-mma-adds-rows-of-operands.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxRelayoutReductions : Pass<"nvptx-relayout-reductions", "::mlir::func::FuncOp"> {
  let summary = "Give arithmetic that ends in many column sums its own layout";
  let description = [{
    Applies to elementwise arithmetic between two products that ends in sums
    over rows, if the sums would take more than 64 registers in the products'
    layout. The arithmetic is enclosed by `tile.convert` ops, so that the sums
    get a layout with few columns per thread.

    Example: test/codegen/nvptx/layouts/relayout-reductions-gives-sums-columns.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxRematerialize : Pass<"nvptx-rematerialize", "::mlir::func::FuncOp"> {
  let summary =
      "Rematerialize elementwise values instead of keeping them across "
      "products";
  let description = [{
    If the tiles that are live at a loop's product take more than three fifths
    of the registers, results of elementwise arithmetic are recomputed in front
    of their users behind another product.

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
    Runs `nvptx-apply-schedule` on the kernel for several candidate schedules,
    and keeps the best result. The candidates are: 4 and 8 warps, unless `warps`
    or the kernel's `drawloom.schedule` fixes the number; less staging if
    registers or shared memory do not suffice; and products tiled along K if
    shared memory still does not suffice. Estimate.h rates the results.
    `drawloom.considered` and the remarks (`--remarks-filter=schedule`) list the
    candidates.

    Run `nvptx-apply-schedule` to see the result of a single schedule, or any of
    its passes alone to see that pass's effect.

    Example: test/codegen/nvptx/schedule/schedules-are-data.mlir
  }];
  let options = [
    Option<"warps", "warps", "int64_t", "0",
           "Warps per block; 0: chosen by estimates">,
    Option<"limit", "limit", "int64_t", "232448",
           "Max bytes of shared memory per block">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxSimplifyTiles : Pass<"nvptx-simplify-tiles", "::mlir::func::FuncOp"> {
  let summary = "Replace sequences of operations by single instructions";
  let description = [{
    `x > 0 ? x : 0` becomes a maximum; if x was rounded before, the maximum is
    taken in the narrow type, where the rounding instruction includes it for
    free. Single rows of a tile that was stored to read them become
    `tile.slice`. None of these changes a result. A tensor core product that is
    added to a value accumulates onto that value, which changes the order of
    summation.

    Example: test/codegen/nvptx/tiles/simplify-tiles-takes-rows.mlir
  }];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect"];
}

def NvptxSpillToShared : Pass<"nvptx-spill-to-shared", "::mlir::func::FuncOp"> {
  let summary = "Spill tiles to shared memory where registers do not suffice";
  let description = [{
    If more tiles are live at a product than the registers of a thread hold, the
    tiles that are needed last are stored in shared memory and reloaded. Tiles
    that are copied to shared memory anyway are spilled first; accumulators that
    a loop carries are spilled last: each thread then adds to its own elements
    in place. The kernel's `drawloom.lacking_registers` is the number of
    registers that a thread still lacks.

    Example: test/codegen/nvptx/shared/spill-to-shared-lets-sums-wait.mlir
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "232448",
           "Max bytes of shared memory per block">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NvptxStageOperands : Pass<"nvptx-stage-operands", "::mlir::func::FuncOp"> {
  let summary = "Stage operands of products where the instructions read them";
  let description = [{
    Both operands of a `tile.dot` are stored to shared memory, padded with zeros
    to whole instructions, except a left operand of `mma.sync` that is in the
    right registers already, and an operand that already lies in shared memory
    in whole vectors. A tile that several products read is stored once.

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
    staged in shared memory if the copies of a thread would take more than 24
    registers. A vector that all its users widen is widened before it is staged.

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
    A product whose operands take more than `max-bytes` of shared memory becomes
    a loop along its contraction dimension over parts of 16 KiB, followed by a
    product for the remainder. An operand that is computed by more than
    elementwise arithmetic on inputs is stored once and read in parts.

    Example: test/codegen/nvptx/layouts/tile-k-streams-long-products.mlir
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "49152",
           "Max bytes of a product's operands that are not tiled">,
    Option<"onlyInputs", "only-inputs", "bool", "false",
           "Tile only in kernels where every product reads inputs, once">];
  let dependentDialects = ["::drawloom::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // DRAWLOOM_CODEGEN_NVPTX_PASSES_TD
