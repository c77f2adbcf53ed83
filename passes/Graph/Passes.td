// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_GRAPH_PASSES_TD
#define DRAWLOOM_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

// Alphabetical. Every option has a sentence and a default.

def BindExtents : Pass<"bind-extents", "::mlir::func::FuncOp"> {
  let summary = "Bind each open extent to the argument that has it";
  let description = [{
    Dimensions that a function's ops prove to be equal form a class. If a class
    with a `?` includes a dimension of an argument, its extent is chosen by the
    call: the pass numbers these classes, notes the numbers on arguments and
    results (`drawloom.extents`), and makes every `tensor.dim` query the first
    argument of the class. A class that also includes a dimension of known
    extent gets no number.

    Example: test/passes/Graph/bind-extents-asks-an-argument.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def BoundCalls : Pass<"bound-calls"> {
  let summary =
      "Refuse programs that would be too large once calls are expanded";
  let description = [{
    Calls are inlined, and requests for derivatives copy the code that they
    differentiate. A function of a few lines that calls another function twice,
    which calls a third one twice, and so on, doubles with every step. The pass
    counts the operations of each function including all that it calls. It
    refuses a function of more than `max-operations`, and a recursive function,
    whose expansion would not end.

    Example: test/passes/Graph/bound-calls-refuses-doubling.mlir
  }];
  let options = [
    Option<"maxOperations", "max-operations", "int64_t", /*default=*/"1000000",
           "Max operations of a function with all calls expanded">
  ];
}

def DecomposeGraph : Pass<"decompose-graph"> {
  let summary = "Decompose domain ops into linalg, tensor, arith and math";
  let description = [{
    Replaces every op that implements linalg's `AggregatedOpInterface` by its
    decomposition, until none is left. Ops that can be tiled (`TilingInterface`)
    stay: they first join their neighbours' block program and are then
    decomposed inside the tile, by `decompose-blocks`. Ops that are already in a
    block program stay as well.

    Some decompositions depend on the machine, which `processors`,
    `block-bytes`, `product-rows`, `saved-bytes` and `lockstep` describe. The
    module's attribute `drawloom.machine` takes precedence
    (dialects/Interfaces/MachineFacts.h), except for the memory of blocks, of
    which the smaller value counts.

    Example: test/dialects/Kan/activation-decomposes-on-tensors.mlir
  }];
  let options = [
    Option<"processors", "processors", "int64_t", /*default=*/"1",
           "Number of blocks of a program that run at once.">,
    Option<"blockBytes", "block-bytes", "int64_t", /*default=*/"0",
           "Memory of a block, in bytes; 0: no limit.">,
    Option<"productRows", "product-rows", "int64_t", /*default=*/"32",
           "Min rows with which matrix products run at full speed">,
    Option<"savedBytes", "saved-bytes", "int64_t", /*default=*/"0",
           "Max bytes of forward values that gradients may save; 0: as many "
           "as the gradients' inputs and outputs take">,
    Option<"lockstep", "lockstep", "bool", /*default=*/"false",
           "Whether lanes run in lockstep, each on its own rows">
  ];
}

def FillOpenConstants : Pass<"fill-open-constants", "::mlir::func::FuncOp"> {
  let summary = "Write constants of unknown extents as fills";
  let description = [{
    A tensor of unknown extents compared with itself, or combined with itself by
    `arith.xori`, is a splat. Upstream folds both to `arith.constant`, which
    does not support such types; this pass replaces them by `linalg.fill` before
    any folding.

    Example: test/passes/Graph/fill-open-constants.mlir
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FoldZeroElementTensors : Pass<"fold-zero-element-tensors", "::mlir::func::FuncOp"> {
  let summary = "Drop work on tensors without elements";
  let description = [{
    A batch may have no rows. An op whose results have no elements is replaced
    by `tensor.empty`, and a structured op without iterations by its initial
    outputs: sums over no rows are their initial values, gradients zero. A part
    without elements is left out of `tensor.concat`, and is not inserted into
    anything. Later passes need not handle extents of zero. If a call gave the
    extent, `drawloom.no_given_rows` on the function says that ops were left
    out: `fuse-rows` then leaves alone the ops that it would leave alone if the
    extent were open.

    Example: test/passes/Graph/fold-zero-element-tensors-sums-over-no-rows.mlir
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def MakeTotal : Pass<"make-total"> {
  let summary = "Give ops a result for every operand";
  let description = [{
    Implements the guarantees of [numbers](../numerics.md#integers-and-indices)
    for cases that upstream leaves undefined, so that no target has to: integer
    division by zero and of the smallest integer by -1, shifts by the type's
    width or more, conversions of floats beyond the integer range, indices out
    of bounds (`tensor.extract`, `tensor.insert`), and slices out of bounds.
    Nothing is added if constants or loop bounds show that such a case cannot
    occur. For programs as users write them: the output of later passes is
    correct by construction.

    Example: test/passes/Graph/make-total-clamps-indices.mlir
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def MergeElementwise : Pass<"merge-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Merge chains of elementwise ops into one linalg.generic each";
  let description = [{
    Turns elementwise ops on tensors into `linalg.generic`. Merges a producer
    into its consumer if the consumer is its only user, reads it by a
    permutation (so that nothing is computed twice) and is not a contraction.
    Then merges an elementwise op into a later one that has the same loops,
    reads all of its operands and does not need its result (an activation and
    its derivative): common operands and terms are then read and computed once.
    Users of a `linalg.broadcast` read its operand directly. Scalar constants
    move into bodies, unused operands and results are removed, and an output
    that the body does not read becomes a `tensor.empty`.

    Example: test/passes/Graph/merge-elementwise-chains.mlir
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"forDerivatives", "for-derivatives", "bool", /*default=*/"false",
           "Keep tensors of one element as operands, since derivatives are "
           "taken with respect to operands only.">
  ];
}

def PromoteAccumulators : Pass<"promote-accumulators", "::mlir::func::FuncOp"> {
  let summary = "Accumulate bf16 and f16 in f32";
  let description = [{
    A matrix product, or another reduction by addition, whose result has fewer
    than 32 bits accumulates in f32 and rounds each sum once, when it is
    complete. Products are exact in f32. Other results of the op (elements, a
    maximum) are unchanged; so is a sum whose intermediate values are used by
    another result.

    Examples: test/passes/Graph/promote-accumulators-rounds-once.mlir,
    test/passes/Graph/promote-accumulators-sums-beside-other-results.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def RefineResults : Pass<"refine-results", "::mlir::func::FuncOp"> {
  let summary = "Return the most specific shapes known";
  let description = [{
    After its arguments have been specialized, a function that was written for
    unknown extents returns casts. The pass drops a cast to a less specific type
    before the return and gives the function the specific result type. For
    functions that nothing calls. A branch whose two sides yield casts from one
    specific type gets results of that type; so do loops that start from such a
    cast, and an `scf.while` whose condition forwards one.

    Example: test/passes/Graph/refine-results-drops-casts.mlir
  }];
}

#endif // DRAWLOOM_PASSES_GRAPH_PASSES_TD
