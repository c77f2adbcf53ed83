# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block programs over segments, packed sequences and sparse matrices."""

from templates import f32, i32, over_sequences, rows_of

# ---------------------------------------------------------------------------
# (c) Gated linear attention, chunk loop
# ---------------------------------------------------------------------------


def gla(heads=2, tokens=200, sequences=3, width=64, chunk=64, part=16):
    """Gated linear attention over packed sequences of any length.

    Chunks of `chunk` tokens, in parts of `part`: gates are only ever compared
    with the gate at the border of a part, so that an exponent is positive only
    inside a part, where it is at most the sum of its `part` log-gates.
    """
    parts = chunk // part
    state, row, strip = f32(width, width), f32(width), f32(part, width)
    tile, square = f32(chunk, width), f32(part, part)
    out = [rows_of(f"""
// Gated linear attention, {heads} heads of width {width}, {tokens} tokens in {sequences} packed sequences:
// sequence i has the tokens starts[i] .. starts[i + 1] - 1, possibly none.
//   S_t = diag(exp g_t) S_(t-1) + k_t^T v_t,    o_t = q_t S_t / 8
// in chunks of {chunk} tokens. With G the sum of g within the chunk, up to and with a token:
//   o = (q exp(G)) S + mask((q exp(G)) (k exp(-G))^T) v
//   S = diag(exp G_last) S + (k exp(G_last - G))^T v
// exp(-G) overflows, so a chunk is cut into {parts} parts of {part} tokens: queries are scaled by
// the gate since the start of their part, keys by the gate up to the end of theirs, and
// the gate between the two is one row for each pair of parts.
#id = affine_map<(i) -> (i)>
#rc = affine_map<(r, c) -> (r, c)>
#r  = affine_map<(r, c) -> (r)>
#c  = affine_map<(r, c) -> (c)>

// One chunk: outputs of its tokens and the state after it.
func.func private @chunk(%qt: {tile}, %kt: {tile}, %vt: {tile}, %gt: {tile}, %s: {state})
    -> ({tile}, {state}) {{
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %c0 = arith.constant 0 : index
  %part = arith.constant {part} : index
  %part_last = arith.constant {part - 1} : index
  %chunk = arith.constant {chunk} : index
  %tile_empty = tensor.empty() : {tile}
  %gates = block.scan add %gt along 0 outs(%tile_empty) : {tile} -> {tile}
  %before = block.scan add exclusive %gt along 0 outs(%tile_empty) : {tile} -> {tile}
  %last = tensor.extract_slice %gates[{chunk - 1}, 0] [1, {width}] [1, 1] : {tile} to {row}

  // Part by part: queries since the start of their part, keys up to the end
  // of theirs and up to the end of the chunk.
  %scaled:3 = scf.for %p = %c0 to %chunk step %part
      iter_args(%q_out = %tile_empty, %k_out = %tile_empty, %k_last_out = %tile_empty) -> ({tile}, {tile}, {tile}) {{
    %p_end = arith.addi %p, %part_last : index
    %from = tensor.extract_slice %before[%p, 0] [1, {width}] [1, 1] : {tile} to {row}
    %to = tensor.extract_slice %gates[%p_end, 0] [1, {width}] [1, 1] : {tile} to {row}
    %gp = tensor.extract_slice %gates[%p, 0] [{part}, {width}] [1, 1] : {tile} to {strip}
    %qp = tensor.extract_slice %qt[%p, 0] [{part}, {width}] [1, 1] : {tile} to {strip}
    %kp = tensor.extract_slice %kt[%p, 0] [{part}, {width}] [1, 1] : {tile} to {strip}
    %q_slot = tensor.extract_slice %q_out[%p, 0] [{part}, {width}] [1, 1] : {tile} to {strip}
    %k_slot = tensor.extract_slice %k_out[%p, 0] [{part}, {width}] [1, 1] : {tile} to {strip}
    %k_last_slot = tensor.extract_slice %k_last_out[%p, 0] [{part}, {width}] [1, 1] : {tile} to {strip}
    %rest_empty = tensor.empty() : {row}
    %rest = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
        ins(%last, %to : {row}, {row}) outs(%rest_empty : {row}) {{
    ^bb0(%a: f32, %b: f32, %old: f32):
      %d = arith.subf %a, %b : f32
      %e = math.exp %d : f32
      linalg.yield %e : f32
    }} -> {row}
    %parts:3 = linalg.generic {{indexing_maps = [#rc, #rc, #rc, #c, #c, #c, #rc, #rc, #rc],
                                iterator_types = ["parallel", "parallel"]}}
        ins(%qp, %kp, %gp, %from, %to, %rest : {strip}, {strip}, {strip}, {row}, {row}, {row})
        outs(%q_slot, %k_slot, %k_last_slot : {strip}, {strip}, {strip}) {{
    ^bb0(%qe: f32, %ke: f32, %ge: f32, %fe: f32, %te: f32, %re: f32, %o0: f32, %o1: f32, %o2: f32):
      %since = arith.subf %ge, %fe : f32
      %since_exp = math.exp %since : f32
      %q_scale = arith.mulf %since_exp, %scale : f32
      %q_new = arith.mulf %qe, %q_scale : f32
      %until = arith.subf %te, %ge : f32
      %until_exp = math.exp %until : f32
      %k_new = arith.mulf %ke, %until_exp : f32
      %k_last = arith.mulf %k_new, %re : f32
      linalg.yield %q_new, %k_new, %k_last : f32, f32, f32
    }} -> ({strip}, {strip}, {strip})
    %q_in = tensor.insert_slice %parts#0 into %q_out[%p, 0] [{part}, {width}] [1, 1] : {strip} into {tile}
    %k_in = tensor.insert_slice %parts#1 into %k_out[%p, 0] [{part}, {width}] [1, 1] : {strip} into {tile}
    %k_last_in = tensor.insert_slice %parts#2 into %k_last_out[%p, 0] [{part}, {width}] [1, 1] : {strip} into {tile}
    scf.yield %q_in, %k_in, %k_last_in : {tile}, {tile}, {tile}
  }}
  %turned_empty = tensor.empty() : {f32(width, chunk)}
  %turned = linalg.transpose ins(%scaled#1 : {tile}) outs(%turned_empty : {f32(width, chunk)}) permutation = [1, 0]

  // Outputs: the state's share, then the parts up to and with the own one.
  %o_tile = scf.for %p = %c0 to %chunk step %part iter_args(%done = %tile_empty) -> ({tile}) {{
    %qp = tensor.extract_slice %scaled#0[%p, 0] [{part}, {width}] [1, 1] : {tile} to {strip}
    %from = tensor.extract_slice %before[%p, 0] [1, {width}] [1, 1] : {tile} to {row}
    %since_empty = tensor.empty() : {row}
    %since_start = linalg.exp ins(%from : {row}) outs(%since_empty : {row}) -> {row}
    %strip_empty = tensor.empty() : {strip}
    %q_state = linalg.generic {{indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}}
        ins(%qp, %since_start : {strip}, {row}) outs(%strip_empty : {strip}) {{
    ^bb0(%qe: f32, %se: f32, %old: f32):
      %m = arith.mulf %qe, %se : f32
      linalg.yield %m : f32
    }} -> {strip}
    %slot = tensor.extract_slice %done[%p, 0] [{part}, {width}] [1, 1] : {tile} to {strip}
    %start_sum = linalg.fill ins(%zero : f32) outs(%slot : {strip}) -> {strip}
    %by_state = linalg.matmul ins(%q_state, %s : {strip}, {state}) outs(%start_sum : {strip}) -> {strip}
    %p_next = arith.addi %p, %part : index
    %by_keys = scf.for %j = %c0 to %p_next step %part iter_args(%sum = %by_state) -> ({strip}) {{
      %j_end = arith.addi %j, %part_last : index
      %to = tensor.extract_slice %gates[%j_end, 0] [1, {width}] [1, 1] : {tile} to {row}
      %between_empty = tensor.empty() : {row}
      %between = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
          ins(%from, %to : {row}, {row}) outs(%between_empty : {row}) {{
      ^bb0(%a: f32, %b: f32, %old: f32):
        %d = arith.subf %a, %b : f32
        %e = math.exp %d : f32
        linalg.yield %e : f32
      }} -> {row}
      %q_gated = linalg.generic {{indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}}
          ins(%qp, %between : {strip}, {row}) outs(%strip_empty : {strip}) {{
      ^bb0(%qe: f32, %be: f32, %old: f32):
        %m = arith.mulf %qe, %be : f32
        linalg.yield %m : f32
      }} -> {strip}
      %kj = tensor.extract_slice %turned[0, %j] [{width}, {part}] [1, 1] : {f32(width, chunk)} to {f32(width, part)}
      %vj = tensor.extract_slice %vt[%j, 0] [{part}, {width}] [1, 1] : {tile} to {strip}
      %square_empty = tensor.empty() : {square}
      %square_zero = linalg.fill ins(%zero : f32) outs(%square_empty : {square}) -> {square}
      %scores = linalg.matmul ins(%q_gated, %kj : {strip}, {f32(width, part)}) outs(%square_zero : {square}) -> {square}
      %masked = linalg.generic {{indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}}
          ins(%scores : {square}) outs(%square_empty : {square}) {{
      ^bb0(%score: f32, %old: f32):
        %r = linalg.index 0 : index
        %c = linalg.index 1 : index
        %query = arith.addi %p, %r : index
        %key = arith.addi %j, %c : index
        %seen = arith.cmpi sge, %query, %key : index
        %kept = arith.select %seen, %score, %zero : f32
        linalg.yield %kept : f32
      }} -> {square}
      %more = linalg.matmul ins(%masked, %vj : {square}, {strip}) outs(%sum : {strip}) -> {strip}
      scf.yield %more : {strip}
    }}
    %written = tensor.insert_slice %by_keys into %done[%p, 0] [{part}, {width}] [1, 1] : {strip} into {tile}
    scf.yield %written : {tile}
  }}
  %decay_empty = tensor.empty() : {row}
  %decay = linalg.exp ins(%last : {row}) outs(%decay_empty : {row}) -> {row}
  %decayed = linalg.generic {{indexing_maps = [#r, #rc], iterator_types = ["parallel", "parallel"]}}
      ins(%decay : {row}) outs(%s : {state}) {{
  ^bb0(%de: f32, %se: f32):
    %m = arith.mulf %de, %se : f32
    linalg.yield %m : f32
  }} -> {state}
  %s_next = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
                                           affine_map<(m, n, k) -> (k, n)>,
                                           affine_map<(m, n, k) -> (m, n)>]
      ins(%scaled#2, %vt : {tile}, {tile}) outs(%decayed : {state}) -> {state}
  return %o_tile, %s_next : {tile}, {state}
}}
""")]
    out += ["\n", over_sequences("gla", heads, tokens, sequences, width, chunk, f32, f32)]
    return "".join(out)


# ---------------------------------------------------------------------------
# (d) RGCN layer, destination-compact
# ---------------------------------------------------------------------------


def rgcn(nodes=48, relations=3, segments=40, edges=100, width=64, tile_rows=16, tile_edges=8):
    """One RGCN layer: sums of neighbours by (relation, node), then the products.

    A segment is the edges of one relation into one node; nodes without edges of
    a relation have none. Index arrays, all int32, sorted by block of nodes, then
    relation, then node:

    * ``block_segments[blocks * relations + 1]``: first segment of (block, relation);
    * ``segment_row[segments]``: the node of a segment, counted from its block's first;
    * ``segment_edges[segments + 1]``: first edge of a segment;
    * ``source[edges + tile_edges]``: source node of an edge; the last
      ``tile_edges`` entries are padding, any value;
    * ``weight[edges + tile_edges]``: coefficient of an edge.
    """
    assert nodes % tile_rows == 0
    blocks, padded = nodes // tile_rows, edges + tile_edges
    x, w, w0 = f32(nodes, width), f32(relations, width, width), f32(width, width)
    tile, row, strip = f32(tile_rows, width), f32(width), f32(tile_edges, width)
    table, few = i32(blocks * relations + 1), f32(tile_edges)
    return rows_of(f"""
// RGCN layer, {nodes} nodes of width {width}, {relations} relations, {edges} edges in {segments} segments (edges of
// one relation into one node):
//   y_v = x_v W0 + b + sum over relations r of (sum over edges e = (u, r, v) of c_e x_u) W_r
// A block owns {tile_rows} nodes and writes them once: no scattering, no atomics. For each
// relation it sums the neighbours of its nodes into a tile, then multiplies by W_r.
#rc = affine_map<(r, c) -> (r, c)>
#c  = affine_map<(r, c) -> (c)>
#id = affine_map<(i) -> (i)>

func.func @rgcn(%x: {x}, %w: {w}, %w0: {w0}, %b: {row},
    %block_segments: {table}, %segment_row: {i32(segments)}, %segment_edges: {i32(segments + 1)},
    %source: {i32(padded)}, %weight: {f32(padded)}) -> {x} {{
  %zero = arith.constant 0.0 : f32
  %none = arith.constant -1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %relations = arith.constant {relations} : index
  %tile_edges = arith.constant {tile_edges} : index
  %empty = tensor.empty() : {x}
  %y = scf.forall (%block) in ({blocks}) shared_outs(%y_out = %empty) -> ({x}) {{
    %first_row = affine.apply affine_map<(i) -> (i * {tile_rows})>(%block)
    %own = tensor.extract_slice %x[%first_row, 0] [{tile_rows}, {width}] [1, 1] : {x} to {tile}
    %slot = tensor.extract_slice %y_out[%first_row, 0] [{tile_rows}, {width}] [1, 1] : {x} to {tile}
    %bias = linalg.broadcast ins(%b : {row}) outs(%slot : {tile}) dimensions = [0]
    %self = linalg.matmul ins(%own, %w0 : {tile}, {w0}) outs(%bias : {tile}) -> {tile}
    %sum = scf.for %r = %c0 to %relations step %c1 iter_args(%out = %self) -> ({tile}) {{
      %entry = affine.apply affine_map<(i, r) -> (i * {relations} + r)>(%block, %r)
      %next_entry = arith.addi %entry, %c1 : index
      %first32 = tensor.extract %block_segments[%entry] : {table}
      %last32 = tensor.extract %block_segments[%next_entry] : {table}
      %first = arith.index_cast %first32 : i32 to index
      %last = arith.index_cast %last32 : i32 to index
      %present = arith.cmpi slt, %first, %last : index
      // A relation without edges into this block costs nothing.
      %added = scf.if %present -> ({tile}) {{
        %a_empty = tensor.empty() : {tile}
        %a_zero = linalg.fill ins(%zero : f32) outs(%a_empty : {tile}) -> {tile}
        %a = scf.for %segment = %first to %last step %c1 iter_args(%a_part = %a_zero) -> ({tile}) {{
          %next_segment = arith.addi %segment, %c1 : index
          %row32 = tensor.extract %segment_row[%segment] : {i32(segments)}
          %begin32 = tensor.extract %segment_edges[%segment] : {i32(segments + 1)}
          %end32 = tensor.extract %segment_edges[%next_segment] : {i32(segments + 1)}
          %row = arith.index_cast %row32 : i32 to index
          %begin = arith.index_cast %begin32 : i32 to index
          %end = arith.index_cast %end32 : i32 to index
          %a_row = tensor.extract_slice %a_part[%row, 0] [1, {width}] [1, 1] : {tile} to {row}
          // {tile_edges} edges at a time; past the segment's end row -1, which is zeros.
          %neighbours = scf.for %e = %begin to %end step %tile_edges iter_args(%acc = %a_row) -> ({row}) {{
            %listed = tensor.extract_slice %source[%e] [{tile_edges}] [1] : {i32(padded)} to {i32(tile_edges)}
            %ce = tensor.extract_slice %weight[%e] [{tile_edges}] [1] : {f32(padded)} to {few}
            %rows_empty = tensor.empty() : {i32(tile_edges)}
            %rows = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
                ins(%listed : {i32(tile_edges)}) outs(%rows_empty : {i32(tile_edges)}) {{
            ^bb0(%node: i32, %old: i32):
              %i = linalg.index 0 : index
              %edge = arith.addi %e, %i : index
              %inside = arith.cmpi slt, %edge, %end : index
              %named = arith.select %inside, %node, %none : i32
              linalg.yield %named : i32
            }} -> {i32(tile_edges)}
            %x_empty = tensor.empty() : {strip}
            %xe = block.gather %x[%rows] outs(%x_empty) : {x}[{i32(tile_edges)}] -> {strip}
            %more = linalg.generic {{indexing_maps = [affine_map<(f, e) -> (e)>, affine_map<(f, e) -> (e, f)>,
                                                      affine_map<(f, e) -> (f)>],
                                     iterator_types = ["parallel", "reduction"]}}
                ins(%ce, %xe : {few}, {strip}) outs(%acc : {row}) {{
            ^bb0(%coefficient: f32, %neighbour: f32, %partial: f32):
              %m = arith.mulf %coefficient, %neighbour fastmath<contract> : f32
              %s = arith.addf %partial, %m fastmath<contract> : f32
              linalg.yield %s : f32
            }} -> {row}
            scf.yield %more : {row}
          }}
          %stored = tensor.insert_slice %neighbours into %a_part[%row, 0] [1, {width}] [1, 1] : {row} into {tile}
          scf.yield %stored : {tile}
        }}
        %wr = tensor.extract_slice %w[%r, 0, 0] [1, {width}, {width}] [1, 1, 1] : {w} to {w0}
        %product = linalg.matmul ins(%a, %wr : {tile}, {w0}) outs(%out : {tile}) -> {tile}
        scf.yield %product : {tile}
      }} else {{
        scf.yield %out : {tile}
      }}
      scf.yield %added : {tile}
    }}
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %sum into %y_out[%first_row, 0] [{tile_rows}, {width}] [1, 1] : {tile} into {x}
    }}
  }}
  return %y : {x}
}}
""")


# ---------------------------------------------------------------------------
# (e) Sparse products
# ---------------------------------------------------------------------------


def block_sparse(block_rows=4, block_columns=5, stored=9, size=32, width=64):
    """Block-sparse (BSR) matrix times dense matrix."""
    values, x = f32(stored, size, size), f32(block_columns * size, width)
    y, square, tile = f32(block_rows * size, width), f32(size, size), f32(size, width)
    return rows_of(f"""
// Block-sparse product Y = A X: A has {block_rows} x {block_columns} blocks of {size} x {size}, {stored} of them stored (BSR).
// Row i of blocks has the blocks starts[i] .. starts[i + 1] - 1, possibly none.

func.func @block_sparse(%values: {values}, %starts: {i32(block_rows + 1)}, %columns: {i32(stored)},
                        %x: {x}) -> {y} {{
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : {y}
  %y = scf.forall (%i) in ({block_rows}) shared_outs(%y_out = %empty) -> ({y}) {{
    %row = affine.apply affine_map<(i) -> (i * {size})>(%i)
    %i_next = arith.addi %i, %c1 : index
    %begin32 = tensor.extract %starts[%i] : {i32(block_rows + 1)}
    %end32 = tensor.extract %starts[%i_next] : {i32(block_rows + 1)}
    %begin = arith.index_cast %begin32 : i32 to index
    %end = arith.index_cast %end32 : i32 to index
    %slot = tensor.extract_slice %y_out[%row, 0] [{size}, {width}] [1, 1] : {y} to {tile}
    %none = linalg.fill ins(%zero : f32) outs(%slot : {tile}) -> {tile}
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%part = %none) -> ({tile}) {{
      %column32 = tensor.extract %columns[%p] : {i32(stored)}
      %column = arith.index_cast %column32 : i32 to index
      %x_row = affine.apply affine_map<(i) -> (i * {size})>(%column)
      %a = tensor.extract_slice %values[%p, 0, 0] [1, {size}, {size}] [1, 1, 1] : {values} to {square}
      %xt = tensor.extract_slice %x[%x_row, 0] [{size}, {width}] [1, 1] : {x} to {tile}
      %more = linalg.matmul ins(%a, %xt : {square}, {tile}) outs(%part : {tile}) -> {tile}
      scf.yield %more : {tile}
    }}
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %sum into %y_out[%row, 0] [{size}, {width}] [1, 1] : {tile} into {y}
    }}
  }}
  return %y : {y}
}}
""")


def csr(rows=64, columns=48, stored=200, width=64, tile_rows=16):
    """Sparse (CSR) matrix times dense matrix."""
    assert rows % tile_rows == 0
    x, y, tile, row = f32(columns, width), f32(rows, width), f32(tile_rows, width), f32(width)
    return rows_of(f"""
// Sparse product Y = A X: A is {rows} x {columns} with {stored} stored elements (CSR), X has {width} columns.
// A row's sum is a tile of {width} that stays in registers while its elements go by.

func.func @csr(%values: {f32(stored)}, %starts: {i32(rows + 1)}, %columns: {i32(stored)},
               %x: {x}) -> {y} {{
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_rows = arith.constant {tile_rows} : index
  %empty = tensor.empty() : {y}
  %y = scf.forall (%block) in ({rows // tile_rows}) shared_outs(%y_out = %empty) -> ({y}) {{
    %first = affine.apply affine_map<(i) -> (i * {tile_rows})>(%block)
    %slot = tensor.extract_slice %y_out[%first, 0] [{tile_rows}, {width}] [1, 1] : {y} to {tile}
    %tile = scf.for %i = %c0 to %tile_rows step %c1 iter_args(%done = %slot) -> ({tile}) {{
      %r = arith.addi %first, %i : index
      %r_next = arith.addi %r, %c1 : index
      %begin32 = tensor.extract %starts[%r] : {i32(rows + 1)}
      %end32 = tensor.extract %starts[%r_next] : {i32(rows + 1)}
      %begin = arith.index_cast %begin32 : i32 to index
      %end = arith.index_cast %end32 : i32 to index
      %row = tensor.extract_slice %done[%i, 0] [1, {width}] [1, 1] : {tile} to {row}
      %none = linalg.fill ins(%zero : f32) outs(%row : {row}) -> {row}
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%part = %none) -> ({row}) {{
        %column32 = tensor.extract %columns[%p] : {i32(stored)}
        %column = arith.index_cast %column32 : i32 to index
        %value = tensor.extract %values[%p] : {f32(stored)}
        %xr = tensor.extract_slice %x[%column, 0] [1, {width}] [1, 1] : {x} to {row}
        %more = linalg.generic {{indexing_maps = [affine_map<(f) -> ()>, affine_map<(f) -> (f)>, affine_map<(f) -> (f)>],
                                 iterator_types = ["parallel"]}}
            ins(%value, %xr : f32, {row}) outs(%part : {row}) {{
        ^bb0(%a: f32, %b: f32, %s: f32):
          %m = arith.mulf %a, %b fastmath<contract> : f32
          %n = arith.addf %s, %m fastmath<contract> : f32
          linalg.yield %n : f32
        }} -> {row}
        scf.yield %more : {row}
      }}
      %stored = tensor.insert_slice %sum into %done[%i, 0] [1, {width}] [1, 1] : {row} into {tile}
      scf.yield %stored : {tile}
    }}
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %tile into %y_out[%first, 0] [{tile_rows}, {width}] [1, 1] : {tile} into {y}
    }}
  }}
  return %y : {y}
}}
""")
