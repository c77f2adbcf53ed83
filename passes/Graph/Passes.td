// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_GRAPH_PASSES_TD
#define DRAWLOOM_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

// Alphabetical. Every option has a sentence and a default.

def PromoteAccumulators : Pass<"promote-accumulators", "::mlir::func::FuncOp"> {
  let summary = "Add up bf16 and f16 in f32";
  let description = [{
    A product of matrices, or another op that adds up, with a result of fewer
    than 32 bits computes its sums in f32 and rounds each once, when it is
    complete. Products are exact in f32. Other results of the op (elements, a
    maximum) stay as they are; so does a sum of which one of them has each step.

    Examples: test/passes/Graph/promote-accumulators-rounds-once.mlir,
    test/passes/Graph/promote-accumulators-sums-beside-other-results.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def BindExtents : Pass<"bind-extents", "::mlir::func::FuncOp"> {
  let summary = "Say of each open extent which argument has it";
  let description = [{
    Dimensions that the ops of a function show to be one and the same are one
    class. Where a class with a `?` has a dimension of an argument, its extent is
    a number of the call: the pass numbers these classes, notes the numbers on
    arguments and results (`drawloom.extents`), and lets every `tensor.dim` ask the
    first argument of the class. A class that also has a dimension of known extent
    gets no number.

    Example: test/passes/Graph/bind-extents-asks-an-argument.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def BoundCalls : Pass<"bound-calls"> {
  let summary = "Refuse programs that calls make too large";
  let description = [{
    Calls are inlined, and requests for derivatives copy what they differentiate.
    A function of a few lines that calls another one twice, and so on, doubles with
    every step. The pass counts the operations of each function with all that it
    calls, and refuses one of more than `max-operations`, and one that calls
    itself: these have no end.

    Example: test/passes/Graph/bound-calls-refuses-doubling.mlir
  }];
  let options = [
    Option<"maxOperations", "max-operations", "int64_t", /*default=*/"1000000",
           "Operations of a function with all calls expanded">
  ];
}

def DecomposeGraph : Pass<"decompose-graph"> {
  let summary = "Express domain ops by linalg, tensor, arith and math";
  let description = [{
    Replaces every op that implements linalg's `AggregatedOpInterface` by its
    decomposition, until none is left. Ops that can be tiled (they implement
    `TilingInterface`) stay: they join their neighbours' block program first and
    are decomposed inside the tile, by `decompose-blocks`. So are those that are in
    a block program already.

    Decompositions that suit many processors or few are told how many there are:
    `processors`, `block-bytes`, `product-rows`, `saved-bytes` and `lockstep`. What the module's attribute `drawloom.machine`
    says comes first (dialects/Interfaces/MachineFacts.h), but for memory of blocks, where the smaller counts.

    Example: test/dialects/Kan/activation-decomposes-on-tensors.mlir
  }];
  let options = [
    Option<"processors", "processors", "int64_t", /*default=*/"1",
           "Blocks of a program that run at once.">,
    Option<"blockBytes", "block-bytes", "int64_t", /*default=*/"0",
           "Memory of a block, in bytes; 0: no limit.">,
    Option<"productRows", "product-rows", "int64_t", /*default=*/"32",
           "Rows from which on products of matrices run at full speed">,
    Option<"savedBytes", "saved-bytes", "int64_t", /*default=*/"0",
           "What gradients may save of their way forward, in bytes; 0: as "
           "much as their inputs and outputs take">,
    Option<"lockstep", "lockstep", "bool", /*default=*/"false",
           "Lanes run in step, each with rows of its own">
  ];
}

def FoldZeroElementTensors : Pass<"fold-zero-element-tensors", "::mlir::func::FuncOp"> {
  let summary = "Drop work on tensors without elements";
  let description = [{
    A batch may have no rows. An op whose results hold no element is replaced by
    `tensor.empty`, a structured op without iterations by its outputs as they came
    in: sums over no rows are their initial value, gradients zero. A part
    without elements is left out of `tensor.concat`, and not inserted into anything.
    Later passes need not know about extents of zero. Where a call gave the extent,
    `drawloom.no_given_rows` on the function says that something was left out:
    `fuse-rows` then leaves alone what it would leave alone if it were open.

    Example: test/passes/Graph/fold-zero-element-tensors-sums-over-no-rows.mlir
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def FillOpenConstants : Pass<"fill-open-constants", "::mlir::func::FuncOp"> {
  let summary = "Write constants of unknown extents as fills";
  let description = [{
    A tensor of unknown extents compared with itself, or combined with itself by
    `arith.xori`, is the same number everywhere. Upstream folds both to
    `arith.constant`, which has no such types: they become `linalg.fill` in front of
    all folding.

    Example: test/passes/Graph/fill-open-constants.mlir
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def MakeTotal : Pass<"make-total"> {
  let summary = "Give ops a result for every operand";
  let description = [{
    Writes out what [numbers](../numerics.md#integers-and-indices) promises where
    upstream leaves an op undefined, so that no target has to know: integer division by
    zero and of the smallest integer by -1, shifts by the width of the type or more, floats that no
    integer holds, indices outside of a tensor (`tensor.extract`, `tensor.insert`),
    and slices that leave theirs. Nothing is added where constants, or the extents of
    loops, show that it cannot happen. For programs as users write them: what
    later passes make is right.

    Example: test/passes/Graph/make-total-clamps-indices.mlir
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def MergeElementwise : Pass<"merge-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Merge chains of elementwise ops into one linalg.generic each";
  let description = [{
    Turns elementwise ops on tensors into `linalg.generic` and merges a producer
    into its consumer when the consumer is its only user, reads it by a
    permutation (so that nothing is computed twice) and is not a contraction.
    Then an elementwise op joins a later op that loops alike, reads all that it
    reads and does not need its result (an activation and its derivative): data
    and common terms are then read and computed once.
    What `linalg.broadcast` copies along more dimensions is read where it is.
    Scalar constants move into bodies, unused operands and results go, an output
    that a body does not read becomes a `tensor.empty`.

    Example: test/passes/Graph/merge-elementwise-chains.mlir
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"forDerivatives", "for-derivatives", "bool", /*default=*/"false",
           "Tensors of one number stay operands: derivatives are taken of "
           "these, not of what a body reads otherwise.">
  ];
}

def RefineResults : Pass<"refine-results", "::mlir::func::FuncOp"> {
  let summary = "Return what is known about shapes";
  let description = [{
    A function that was written for unknown extents returns casts once its
    arguments have been specialised. Drops a cast to a less specific type in front
    of the return and gives the function the specific result type. For functions
    that nothing calls. A branch whose two sides yield casts from one specific type
    has results of that type; so have loops that start from one, and `scf.while`
    where its condition forwards one.

    Example: test/passes/Graph/refine-results-drops-casts.mlir
  }];
}

#endif // DRAWLOOM_PASSES_GRAPH_PASSES_TD
