// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_RGNN_RGNNOPS_TD
#define DRAWLOOM_DIALECTS_RGNN_RGNNOPS_TD

include "dialects/Interfaces/FloatTypes.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Rgnn/RgnnDialect.td"
include "dialects/Rgnn/RgnnEnums.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rgnn_Index : RankedTensorOf<[I32, I64]>;

def Rgnn_GraphOp : Rgnn_Op<"graph", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<InterpretableOpInterface>]> {
  let summary = "a graph with typed edges, from its sorted index arrays";
  let description = [{
    A graph has E edges e = (u -> v, r): a source u of N_s, a target v of N_d
    and a relation r of R = `relations`. Sources and targets may or may not be
    the same nodes. A *pair* is a node together with a relation that some of its
    edges have: (v, r) for incoming edges, (u, r) for outgoing ones.

    `incoming` holds the edges in the order of (v, r, u), `outgoing` in that of
    (u, r, v), both in the same arrays. The *near* node is v for incoming and u
    for outgoing edges; the *far* node is the other one. Pairs are numbered by
    (near node, relation), and edges by their position in `incoming`.

    | array | shape | |
    |---|---|---|
    | `node_pairs` | N + 1 | the pairs of near node n are those from `node_pairs[n]` up to `node_pairs[n + 1]` |
    | `pair_relation` | U | the relation of a pair |
    | `pair_edges` | U + 1 | the edges of pair p are those from `pair_edges[p]` up to `pair_edges[p + 1]` |
    | `far` | E | the far node |
    | `far_pair` | E | the pair that the far node has with the edge's relation, numbered in the other direction |
    | `block_tiles` | B + 1 | with `rows_per_block` near nodes to a block, the tiles of block b are those from `block_tiles[b]` up to `block_tiles[b + 1]` |
    | `tile_relation` | T | the one relation of all pairs of a tile |
    | `tile_pair` | T x S | the pairs of a tile; -1 where it has fewer than S |
    | `tile_node` | T x S | their near nodes |
    | `edge` | E | (`outgoing` only, the last one) the number of the edge |

    The `block_` and `tile_` arrays only determine the order in which matrices
    are applied; they do not affect the meaning. `drawloom.torch.Graph` and
    `drawloomGraphBuild` make all arrays from lists of edges. Without
    `outgoing`, nothing can be propagated from targets back to sources, so that
    there is no gradient with respect to source data.

    The interpreter checks that the arrays describe a single graph. Compiled
    code trusts them.

    Extents may be open: one program then serves all graphs with this number of
    relations. If the numbers of edges and pairs are unknown, `edges_per_pair`
    gives the expected number of edges per pair, for targets and for sources. It
    determines the cheapest form, and with it how sums round (`rgnn-associate`).

    Constraints:

    1. `incoming` has 9 arrays; `outgoing` has 10, or none.
    2. The arrays have the ranks and, where known, the extents above.
    3. `relations`, `rows_per_block` and S are at least 1; S is known.
    4. `edges_per_pair` has two numbers of at least 1, where it is there.
  }];
  let arguments = (ins Variadic<Rgnn_Index>:$incoming, Variadic<Rgnn_Index>:$outgoing,
                       I64Attr:$relations, I64Attr:$rows_per_block,
                       OptionalAttr<DenseI64ArrayAttr>:$edges_per_pair);
  let results = (outs Rgnn_Graph:$graph);
  let assemblyFormat = [{
    `incoming` `(` $incoming `:` type($incoming) `)`
    (`outgoing` `(` $outgoing^ `:` type($outgoing) `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Rgnn_TraverseOp : Rgnn_Op<"traverse", [
    Pure, IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<AggregatedOpInterface, ["decomposeOperation"]>]> {
  let summary = "computes a value for each edge and combines values that meet";
  let description = [{
    The region is executed once for each element i of the space `over`: for each
    edge, or for each pair of a target (`dst_rel`) or of a source (`src_rel`).
    Its arguments are the rows that i refers to, one of each input, and it
    yields one row for each result:

    | space | one row for each | edge e = (u -> v, r) meets |
    |---|---|---|
    | `src`, `dst` | node | that of u, of v |
    | `src_rel`, `dst_rel` | pair | that of (u, r), of (v, r) |
    | `edge` | edge | its own |
    | `rel` | relation | that of r |
    | `all` | (the tensor is one row) | the tensor |

    Rows that contribute to the same row of a result are combined:

    * `sum`: added, in the order of the edges; 0 if there is none;
    * `max`: the maximum, elementwise; 0 if there is none. Equal maxima share
      the gradient equally. NaN is propagated;
    * `bound`: the maximum, which differentiation treats as a constant. That is
      correct if it cancels, like the value subtracted from the scores of a
      softmax; nothing checks that;
    * `none`: there is exactly one row: the result has the space `over`.

    f16 and bf16 accumulate in f32.

    A softmax over incoming edges consists of two ops, and a quotient for each
    node:

    ```mlir
    func.func @attention(%z: tensor<9x16xf32>, %score: tensor<20xf32>, %node_pairs: tensor<8xi32>, %pair_relation: tensor<12xi32>,
        %pair_edges: tensor<13xi32>, %far: tensor<20xi32>, %far_pair: tensor<20xi32>, %block_tiles: tensor<2xi32>,
        %tile_relation: tensor<2xi32>, %tile_pair: tensor<2x8xi32>, %tile_node: tensor<2x8xi32>)
        -> (tensor<7x16xf32>, tensor<7xf32>) {
      %g = rgnn.graph incoming(%node_pairs, %pair_relation, %pair_edges, %far, %far_pair, %block_tiles, %tile_relation, %tile_pair, %tile_node
          : tensor<8xi32>, tensor<12xi32>, tensor<13xi32>, tensor<20xi32>, tensor<20xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x8xi32>, tensor<2x8xi32>)
          {relations = 2, rows_per_block = 512}
      %top = rgnn.traverse %g over edge (%score at edge : tensor<20xf32>) -> (tensor<7xf32> at dst by bound) {
      ^bb0(%s: f32):
        rgnn.yield %s : f32
      }
      %sum, %weight = rgnn.traverse %g over edge (%z at src : tensor<9x16xf32>, %score at edge : tensor<20xf32>, %top at dst : tensor<7xf32>)
          -> (tensor<7x16xf32> at dst by sum, tensor<7xf32> at dst by sum) {
      ^bb0(%row: tensor<16xf32>, %s: f32, %m: f32):
        %below = arith.subf %s, %m : f32
        %w = math.exp %below : f32
        %all = tensor.splat %w : tensor<16xf32>
        %part = arith.mulf %all, %row : tensor<16xf32>
        rgnn.yield %part, %w : tensor<16xf32>, f32
      }
      return %sum, %weight : tensor<7x16xf32>, tensor<7xf32>
    }
    ```

    The gradient is an op of the same kind: the reverse of the region, with
    results in the spaces of the inputs. Regions do not contain matrix products:
    `rgnn.linear` and `rgnn.outer` multiply whole tiles of rows.

    Constraints:

    1. `over` is `edge`, `src_rel` or `dst_rel`.
    2. What is over `src_rel` (`dst_rel`) has inputs and results at `src_rel` and
       `src` (`dst_rel` and `dst`), `rel` and `all`.
    3. The region's arguments are the rows of the inputs, what it yields rows of
       the results: the type of a row is the tensor's without the first
       dimension (all of it, `at all`), and its element type where nothing is
       left.
    4. Rows have known extents. Results are floats.
    5. Rows of relations are as many as the graph has relations.
    6. `none` combines where the result is at `over`, and only there; what is at
       `rel` or `all` is a `sum`.
    7. Results at `src` or `src_rel`, and what is over `src_rel`, need `outgoing`.
  }];
  let arguments = (ins Rgnn_Graph:$graph, Variadic<AnyRankedTensor>:$inputs, Rgnn_Space:$over,
                       DenseI32ArrayAttr:$at, DenseI32ArrayAttr:$to, DenseI32ArrayAttr:$by);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    Space inputSpace(unsigned i) { return Space(getAt()[i]); }
    Space resultSpace(unsigned i) { return Space(getTo()[i]); }
    Combiner combiner(unsigned i) { return Combiner(getBy()[i]); }
  }];
}

def Rgnn_YieldOp : Rgnn_Op<"yield", [Pure, Terminator, ParentOneOf<["TraverseOp", "SweepOp"]>]> {
  let summary =
      "the contribution of an edge to each result, or the results of a sweep";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Rgnn_LinearOp : Rgnn_Op<"linear", [
    Pure, DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<InterpretableOpInterface>,
    DeclareOpInterfaceMethods<AggregatedOpInterface, ["decomposeOperation"]>]> {
  let summary = "multiplies the row of each pair by the matrix of its relation";
  let description = [{
    For each pair p = (n, r) of a source (`at src`, `src_rel`) or a target (`at
    dst`, `dst_rel`),

    y[p] = x[n] w[r] (at nodes) or y[p] = x[p] w[r] (at pairs),

    with `transpose` y[p] = x[.] w[r]^T. A node without edges of a relation has
    no row for it: nothing is computed that no edge reads. With a dimension for
    heads, head h of a row is multiplied by head h of the matrix. f16 and bf16
    accumulate in f32.

    x is [N, (H,) D], w is [R, (H,) D, O] (with `transpose` [R, (H,) O, D]), y is
    [U, (H,) O].

    dx = the sum over the pairs of a node of linear(dy, w^T), dw = rgnn.outer.

    Constraints:

    1. The space is `src`, `src_rel`, `dst` or `dst_rel`, and `outgoing` is there
       where it is one of the first two.
    2. x, w and y have the shapes above, known but for rows, and one element
       type; R is the graph's number of relations.

    Example:
    ```
    %z = rgnn.linear %g, %x at src, %w : tensor<100x64xf32>, tensor<8x64x32xf32> -> tensor<310x32xf32>
    ```
  }];
  let arguments = (ins Rgnn_Graph:$graph, Drawloom_FloatTensor:$x, Rgnn_Space:$at,
                       Drawloom_FloatTensor:$w, UnitAttr:$transpose);
  let results = (outs Drawloom_FloatTensor:$y);
  let assemblyFormat = [{
    $graph `,` $x `at` $at `,` $w (`transpose` $transpose^)? attr-dict `:`
    type($x) `,` type($w) `->` type($y)
  }];
  let hasVerifier = 1;
}

def Rgnn_OuterOp : Rgnn_Op<"outer", [
    Pure, DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<InterpretableOpInterface>,
    DeclareOpInterfaceMethods<AggregatedOpInterface, ["decomposeOperation"]>]> {
  let summary = "sums the outer products of rows by relation";
  let description = [{
    w[r] = sum over the pairs p = (n, r) of a^T b, where a and b are each the
    row of p (at `src_rel`, `dst_rel`) or of n (at `src`, `dst`). With a
    dimension for heads, heads are processed separately. This is how
    `rgnn.linear` accumulates the gradient of its matrices; pairs are added in a
    fixed order, first within blocks.

    a is [., (H,) D], b is [., (H,) O], w is [R, (H,) D, O].

    Constraints:

    1. a and b are both of sources or both of targets, and `outgoing` is there
       where it is sources.
    2. The shapes are as above, known but for rows; a and b have one element
       type, w has it or a wider one; R is the graph's number of relations.

    Example:
    ```
    %dw = rgnn.outer %g, %x at src, %dz at src_rel : tensor<100x64xf32>, tensor<310x32xf32> -> tensor<8x64x32xf32>
    ```
  }];
  let arguments = (ins Rgnn_Graph:$graph, Drawloom_FloatTensor:$a, Rgnn_Space:$a_at,
                       Drawloom_FloatTensor:$b, Rgnn_Space:$b_at);
  let results = (outs Drawloom_FloatTensor:$w);
  let assemblyFormat = [{
    $graph `,` $a `at` $a_at `,` $b `at` $b_at attr-dict `:`
    type($a) `,` type($b) `->` type($w)
  }];
  let hasVerifier = 1;
}

def Rgnn_SweepOp : Rgnn_Op<"sweep", [
    Pure, SingleBlock, NoRegionArguments,
    DeclareOpInterfaceMethods<AggregatedOpInterface, ["decomposeOperation"]>]> {
  let summary = "ops on pairs that are computed tile by tile, in one pass";
  let description = [{
    Has the meaning of the ops of its region; its results are what the region
    yields. The ops are computed tile by tile: rows of pairs that only other ops
    of the region read are stored only in a tile. Created by `rgnn-form-sweeps`.

    Constraints:

    1. The ops are `rgnn.linear`, `rgnn.outer` and `rgnn.traverse` on one graph
       and in one direction, and one of them is a product.
    2. A traverse gives sums of edges to pairs, or something to each pair, or is
       over pairs and gives sums to nodes. What it gives to nodes is yielded.
    3. What is yielded is made by the ops.
    4. What one op reads of another is rows of pairs, read as those of its own.

    Example:
    ```
    %y = rgnn.sweep {
      %p = rgnn.linear %g, %x at src, %w : tensor<100x64xf32>, tensor<8x64x32xf32> -> tensor<310x32xf32>
      %s = rgnn.traverse %g over src_rel (%p at src_rel : tensor<310x32xf32>) -> (tensor<100x32xf32> at src by sum) {
      ^bb0(%row: tensor<32xf32>):
        rgnn.yield %row : tensor<32xf32>
      }
      rgnn.yield %s : tensor<100x32xf32>
    } : tensor<100x32xf32>
    ```
  }];
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict (`:` type($results)^)?";
  let hasRegionVerifier = 1;
}

#endif // DRAWLOOM_DIALECTS_RGNN_RGNNOPS_TD
