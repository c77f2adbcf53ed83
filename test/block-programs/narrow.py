# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block programs in bf16 or f16 with sums in f32, in the form that matrix instructions like: many segments at once, states in
short steps."""

from templates import f32, i32, rows_of


def narrow(element, *shape):
    """The tensor type of a shape in an element type."""
    return f32(*shape).replace("f32", element)


# ---------------------------------------------------------------------------
# RGCN layer, tiles of segments
# ---------------------------------------------------------------------------


def listed(name, count, tile):
    """@listed_<name>: of `tile` runs of a list, entry number `at` of each run, -1 past its end."""
    places, whole = i32(tile), i32(count)
    return rows_of(f"""
// Entry number %at of each run begin[i] .. end[i] - 1 of a list; -1 past a run's end.
func.func private @listed_{name}(%list: {whole}, %begin: {places}, %end: {places}, %at: index) -> {places} {{
  %none = arith.constant -1 : i32
  %start = arith.constant 0 : index
  %number = arith.index_cast %at : index to i32
  %empty = tensor.empty() : {places}
  %entry = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
      ins(%begin, %end : {places}, {places}) outs(%empty : {places}) {{
  ^bb0(%b: i32, %e: i32, %old: i32):
    %place = arith.addi %b, %number : i32
    %inside = arith.cmpi slt, %place, %e : i32
    %index = arith.index_cast %place : i32 to index
    %some = arith.select %inside, %index, %start : index
    %found = tensor.extract %list[%some] : {whole}
    %named = arith.select %inside, %found, %none : i32
    linalg.yield %named : i32
  }} -> {places}
  return %entry : {places}
}}

""")


def rgcn_segments(nodes=128, relations=3, segments=192, messages=90, edges=100, blocks=2, width=64, tile=64, element="bf16"):
    """One RGCN layer with mean neighbours, in tiles of `tile` segments of one relation.

    A segment is the edges of one relation into one node. Segments are sorted by relation, each relation is filled up
    with empty ones to whole tiles, and a block has tiles of one relation. Index arrays, all int32:

    * ``block_relation[blocks]``: the relation of a block's tiles;
    * ``block_tiles[blocks + 1]``: first tile of a block;
    * ``segment_begin[segments]``, ``segment_end[segments]``: its edges;
    * ``source[edges]``: source node of an edge;
    * ``node_first[nodes + 1]``: the first of a node's messages, of which it has one for each relation that enters it;
    * ``message[messages]``: the segment that a message is of.
    """
    assert nodes % tile == 0 and segments % tile == 0
    half = lambda *shape: narrow(element, *shape)  # noqa: E731
    x, w, w0, row = half(nodes, width), half(relations, width, width), half(width, width), half(width)
    table, run, rows, wide = half(segments, width), half("?", width), half(tile, width), f32(tile, width)
    places, scales, index = i32(tile), f32(tile), i32(segments)
    return rows_of(f"""
// RGCN layer, {nodes} nodes of width {width}, {relations} relations, {edges} edges in {segments} segments (edges of
// one relation into one node, and empty ones):
//   y_v = x_v W0 + b + sum over relations r of (mean over edges (u, r, v) of x_u) W_r
// in {element} with sums in {"f32"}. A tile is {tile} segments of one relation: their neighbours are added one of each segment
// at a time, up to the longest segment, and the means multiplied by W_r. A second kernel adds the messages of each node, which
// are segments' results, in order.
#id = affine_map<(i) -> (i)>
#rc = affine_map<(r, c) -> (r, c)>
#r  = affine_map<(r, c) -> (r)>
#c  = affine_map<(r, c) -> (c)>
#none = affine_map<(i) -> ()>

// How many rows the longest of some runs has.
func.func private @longest(%begin: {places}, %end: {places}) -> index {{
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<i32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<i32>) -> tensor<i32>
  %most = linalg.generic {{indexing_maps = [#id, #id, #none], iterator_types = ["reduction"]}}
      ins(%begin, %end : {places}, {places}) outs(%start : tensor<i32>) {{
  ^bb0(%b: i32, %e: i32, %so_far: i32):
    %length = arith.subi %e, %b : i32
    %longer = arith.maxsi %so_far, %length : i32
    linalg.yield %longer : i32
  }} -> tensor<i32>
  %number = tensor.extract %most[] : tensor<i32>
  %index = arith.index_cast %number : i32 to index
  return %index : index
}}

{listed("edges", edges, tile)}{listed("messages", messages, tile)}func.func @rgcn_segments(%x: {x}, %w: {w}, %w0: {w0}, %b: {row},
    %block_relation: {i32(blocks)}, %block_tiles: {i32(blocks + 1)},
    %segment_begin: {index}, %segment_end: {index}, %source: {i32(edges)},
    %node_first: {i32(nodes + 1)}, %message: {i32(messages)}) -> {x} {{
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile = arith.constant {tile} : index
  %no_results = tensor.empty() : {table}
  %results = scf.forall (%block) in ({blocks}) shared_outs(%out = %no_results) -> ({table}) {{
    %next_block = arith.addi %block, %c1 : index
    %relation32 = tensor.extract %block_relation[%block] : {i32(blocks)}
    %first32 = tensor.extract %block_tiles[%block] : {i32(blocks + 1)}
    %last32 = tensor.extract %block_tiles[%next_block] : {i32(blocks + 1)}
    %relation = arith.index_cast %relation32 : i32 to index
    %first = arith.index_cast %first32 : i32 to index
    %last = arith.index_cast %last32 : i32 to index
    %wr = tensor.extract_slice %w[%relation, 0, 0] [1, {width}, {width}] [1, 1, 1] : {w} to {w0}
    %first_row = affine.apply affine_map<(i) -> (i * {tile})>(%first)
    %count = affine.apply affine_map<(i, j) -> (j * {tile} - i * {tile})>(%first, %last)
    %run = tensor.extract_slice %out[%first_row, 0] [%count, {width}] [1, 1] : {table} to {run}
    %all = scf.for %row = %c0 to %count step %tile iter_args(%to = %run) -> ({run}) {{
      %at = arith.addi %first_row, %row : index
      %begin = tensor.extract_slice %segment_begin[%at] [{tile}] [1] : {index} to {places}
      %end = tensor.extract_slice %segment_end[%at] [{tile}] [1] : {index} to {places}
      %longest = func.call @longest(%begin, %end) : ({places}, {places}) -> index
      %wide_empty = tensor.empty() : {wide}
      %nothing = linalg.fill ins(%zero : f32) outs(%wide_empty : {wide}) -> {wide}
      %sum = scf.for %e = %c0 to %longest step %c1 iter_args(%so_far = %nothing) -> ({wide}) {{
        %node = func.call @listed_edges(%source, %begin, %end, %e) : ({i32(edges)}, {places}, {places}, index) -> {places}
        %rows_empty = tensor.empty() : {rows}
        %xe = block.gather %x[%node] outs(%rows_empty) : {x}[{places}] -> {rows}
        %more = linalg.generic {{indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}}
            ins(%xe : {rows}) outs(%so_far : {wide}) {{
        ^bb0(%neighbour: {element}, %part: f32):
          %n = arith.extf %neighbour : {element} to f32
          %s = arith.addf %part, %n : f32
          linalg.yield %s : f32
        }} -> {wide}
        scf.yield %more : {wide}
      }}
      %scale_empty = tensor.empty() : {scales}
      %scale = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
          ins(%begin, %end : {places}, {places}) outs(%scale_empty : {scales}) {{
      ^bb0(%from: i32, %to_edge: i32, %old: f32):
        %length = arith.subi %to_edge, %from : i32
        %some = arith.maxsi %length, %one : i32
        %divisor = arith.sitofp %some : i32 to f32
        %unit = arith.constant 1.0 : f32
        %share = arith.divf %unit, %divisor : f32
        linalg.yield %share : f32
      }} -> {scales}
      %mean_empty = tensor.empty() : {rows}
      %mean = linalg.generic {{indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]}}
          ins(%sum, %scale : {wide}, {scales}) outs(%mean_empty : {rows}) {{
      ^bb0(%s: f32, %share: f32, %old: {element}):
        %m = arith.mulf %s, %share : f32
        %narrow = arith.truncf %m : f32 to {element}
        linalg.yield %narrow : {element}
      }} -> {rows}
      %product = linalg.matmul ins(%mean, %wr : {rows}, {w0}) outs(%nothing : {wide}) -> {wide}
      %result = linalg.generic {{indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}}
          ins(%product : {wide}) outs(%mean_empty : {rows}) {{
      ^bb0(%p: f32, %old: {element}):
        %narrow = arith.truncf %p : f32 to {element}
        linalg.yield %narrow : {element}
      }} -> {rows}
      %stored = tensor.insert_slice %result into %to[%row, 0] [{tile}, {width}] [1, 1] : {rows} into {run}
      scf.yield %stored : {run}
    }}
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %all into %out[%first_row, 0] [%count, {width}] [1, 1] : {run} into {table}
    }}
  }}
  %empty = tensor.empty() : {x}
  %y = scf.forall (%block) in ({nodes // tile}) shared_outs(%y_out = %empty) -> ({x}) {{
    %at = affine.apply affine_map<(i) -> (i * {tile})>(%block)
    %at_next = arith.addi %at, %c1 : index
    %own = tensor.extract_slice %x[%at, 0] [{tile}, {width}] [1, 1] : {x} to {rows}
    %begin = tensor.extract_slice %node_first[%at] [{tile}] [1] : {i32(nodes + 1)} to {places}
    %end = tensor.extract_slice %node_first[%at_next] [{tile}] [1] : {i32(nodes + 1)} to {places}
    %longest = func.call @longest(%begin, %end) : ({places}, {places}) -> index
    %wide_empty = tensor.empty() : {wide}
    %bias = linalg.generic {{indexing_maps = [#c, #rc], iterator_types = ["parallel", "parallel"]}}
        ins(%b : {row}) outs(%wide_empty : {wide}) {{
    ^bb0(%be: {element}, %old: f32):
      %wide = arith.extf %be : {element} to f32
      linalg.yield %wide : f32
    }} -> {wide}
    %self = linalg.matmul ins(%own, %w0 : {rows}, {w0}) outs(%bias : {wide}) -> {wide}
    %sum = scf.for %m = %c0 to %longest step %c1 iter_args(%so_far = %self) -> ({wide}) {{
      %line = func.call @listed_messages(%message, %begin, %end, %m) : ({i32(messages)}, {places}, {places}, index) -> {places}
      %rows_empty = tensor.empty() : {rows}
      %xm = block.gather %results[%line] outs(%rows_empty) : {table}[{places}] -> {rows}
      %more = linalg.generic {{indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}}
          ins(%xm : {rows}) outs(%so_far : {wide}) {{
      ^bb0(%neighbour: {element}, %part: f32):
        %n = arith.extf %neighbour : {element} to f32
        %s = arith.addf %part, %n : f32
        linalg.yield %s : f32
      }} -> {wide}
      scf.yield %more : {wide}
    }}
    %y_empty = tensor.empty() : {rows}
    %y_rows = linalg.generic {{indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}}
        ins(%sum : {wide}) outs(%y_empty : {rows}) {{
    ^bb0(%s: f32, %old: {element}):
      %narrow = arith.truncf %s : f32 to {element}
      linalg.yield %narrow : {element}
    }} -> {rows}
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %y_rows into %y_out[%at, 0] [{tile}, {width}] [1, 1] : {rows} into {x}
    }}
  }}
  return %y : {x}
}}
""")
