# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block programs in bf16 or f16 with sums in f32, in the form that matrix instructions like: many segments at once, states in
short steps."""

from templates import f32, i32, over_sequences, rows_of


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


# ---------------------------------------------------------------------------
# Gated linear attention, states in steps of 16 tokens
# ---------------------------------------------------------------------------


def gla_steps(heads=2, tokens=200, sequences=3, width=64, chunk=64, step=16, element="bf16"):
    """Gated linear attention over packed sequences of any length.

    No exponents are subtracted: every decay between two tokens is a product of the gates between them, which are at
    most 1, so nothing overflows, and a gate of exp(-inf) = 0 forgets all.
    """
    half = lambda *shape: narrow(element, *shape)  # noqa: E731
    steps = chunk // step
    state, tile, wide = f32(width, width), half(chunk, width), f32(chunk, width)
    parts, square, scores = half(steps, step, width), f32(steps, step, step), half(chunk, step)
    strip, sums, row = half(step, width), f32(step, width), f32(width)
    levels = [8, 4, 2, 1]
    assert step == 16

    def scan(name, size, how):
        """Running products of gates within groups of `size` tokens."""
        group = f32(chunk // size, size, width)
        return f"""
  %{name}_groups = tensor.expand_shape %gamma [[0, 1], [2]] output_shape [{chunk // size}, {size}, {width}]
      : {wide} into {group}
  %{name}_empty = tensor.empty() : {group}
  %{name}_products = block.scan mul {how}%{name}_groups along 1 outs(%{name}_empty) : {group} -> {group}
  %{name} = tensor.collapse_shape %{name}_products [[0, 1], [2]] : {group} into {wide}"""

    def score(name, left, right):
        return f"""
  %{name}_l = tensor.expand_shape {left} [[0, 1], [2]] output_shape [{steps}, {step}, {width}] : {tile} into {parts}
  %{name}_r = tensor.expand_shape {right} [[0, 1], [2]] output_shape [{steps}, {step}, {width}] : {tile} into {parts}
  %{name} = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                                                 affine_map<(b, m, n, k) -> (b, n, k)>,
                                                 affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%{name}_l, %{name}_r : {parts}, {parts}) outs(%no_scores : {square}) -> {square}"""

    scans = scan("since", step, "") + scan("until", step, "exclusive reverse ")
    for b in levels[:-1]:
        scans += scan(f"since{b}", b, "") + scan(f"until{b}", b, "exclusive reverse ")
    inputs = ["qt", "kt", "gamma", "since", "until", *(f"{w}{b}" for b in levels[:-1] for w in ("since", "until"))]
    kinds = ", ".join([tile] * 2 + [wide] * (len(inputs) - 2))
    outputs = 2 + len(levels)
    block_arguments = ", ".join([f"%{n}_e: {element if i < 2 else 'f32'}" for i, n in enumerate(inputs)] +
                                [f"%o{i}: {element}" for i in range(outputs)])
    mixed = ""
    for b in levels:
        since, until = ("%gamma_e", None) if b == 1 else (f"%since{b}_e", f"%until{b}_e")
        mixed += f"""
    %q{b} = arith.mulf %q, {since} : f32
    %k{b} = {f"arith.mulf %k, {until} : f32" if until else "arith.mulf %k, %one : f32"}
    %level{b} = arith.constant {b} : index
    %bit{b} = arith.andi %r, %level{b} : index
    %late{b} = arith.cmpi ne, %bit{b}, %c0 : index
    %x{b}_wide = arith.select %late{b}, %q{b}, %k{b} : f32
    %x{b} = arith.truncf %x{b}_wide : f32 to {element}"""
    choose = ""
    before = "%zero"
    for b in reversed(levels):
        choose += f"""
    %level{b} = arith.constant {b} : index
    %apart{b} = arith.cmpi sge, %d, %level{b} : index
    %s{b} = arith.select %apart{b}, %p{b}_e, {before if b != 1 else "%p0_e"} : f32"""
        before = f"%s{b}"
    products = score("p0", "%qt", "%kt") + "".join(score(f"p{b}", f"%mixed#{2 + i}", f"%mixed#{2 + i}")
                                                   for i, b in enumerate(levels))
    return rows_of(f"""
// Gated linear attention, {heads} heads of width {width}, {tokens} tokens in {sequences} packed sequences:
// sequence i has the tokens starts[i] .. starts[i + 1] - 1, possibly none.
//   S_t = diag(exp g_t) S_(t-1) + k_t^T v_t,    o_t = q_t S_t / 8
// q, k, v, o in {element}, the rest in f32. The state goes on by {step} tokens at a time. With gamma = exp(g) <= 1, all
// decays are products of gammas between two tokens:
//   q^_i = q_i prod_(l <= i) gamma_l       what a query sees of the state before its step
//   k^_j = k_j prod_(l > j) gamma_l        what a key leaves in the state behind it
//   S <- diag(prod gamma_l) S + k^^T v
// Scores within a step come by halving: for b = 8, 4, 2, 1 tokens i > j whose numbers differ in bit b, and in no
// higher one, lie on both sides of the middle of 2 b tokens. X_b holds queries behind the middle, with the gates from
// there on, and keys in front of it, with the gates up to there; their scores are in X_b X_b^T.
#id = affine_map<(i) -> (i)>
#rc = affine_map<(r, c) -> (r, c)>
#r  = affine_map<(r, c) -> (r)>
#s  = affine_map<(b, r, c) -> (b, r, c)>

// One chunk of {steps} steps: outputs of its tokens and the state after it.
func.func private @chunk(%qt: {tile}, %kt: {tile}, %vt: {tile}, %gt: {wide}, %s: {state}) -> ({tile}, {state}) {{
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %scale = arith.constant 0.125 : f32
  %c0 = arith.constant 0 : index
  %step = arith.constant {step} : index
  %chunk = arith.constant {chunk} : index
  %wide_empty = tensor.empty() : {wide}
  %tile_empty = tensor.empty() : {tile}
  %gamma = linalg.exp ins(%gt : {wide}) outs(%wide_empty : {wide}) -> {wide}{scans}

  // How much a state decays in a step.
  %gamma_steps = tensor.expand_shape %gamma [[0, 1], [2]] output_shape [{steps}, {step}, {width}]
      : {wide} into {f32(steps, step, width)}
  %decay_empty = tensor.empty() : {f32(steps, width)}
  %no_decay = linalg.fill ins(%one : f32) outs(%decay_empty : {f32(steps, width)}) -> {f32(steps, width)}
  %decays = linalg.reduce ins(%gamma_steps : {f32(steps, step, width)}) outs(%no_decay : {f32(steps, width)}) dimensions = [1]
    (%gamma_e: f32, %so_far: f32) {{
      %product = arith.mulf %so_far, %gamma_e : f32
      linalg.yield %product : f32
    }}

  %mixed:{outputs} = linalg.generic {{indexing_maps = [{", ".join(["#rc"] * (len(inputs) + outputs))}],
                              iterator_types = ["parallel", "parallel"]}}
      ins({", ".join("%" + n for n in inputs)}
        : {kinds})
      outs({", ".join(["%tile_empty"] * outputs)} : {", ".join([tile] * outputs)}) {{
  ^bb0({block_arguments}):
    %r = linalg.index 0 : index
    %q = arith.extf %qt_e : {element} to f32
    %k = arith.extf %kt_e : {element} to f32
    %q_scaled = arith.mulf %q, %scale : f32
    %q_state = arith.mulf %q_scaled, %since_e : f32
    %q_hat = arith.truncf %q_state : f32 to {element}
    %k_state = arith.mulf %k, %until_e : f32
    %k_hat = arith.truncf %k_state : f32 to {element}{mixed}
    linalg.yield %q_hat, %k_hat, {", ".join(f"%x{b}" for b in levels)} : {", ".join([element] * outputs)}
  }} -> ({", ".join([tile] * outputs)})

  %scores_empty = tensor.empty() : {square}
  %no_scores = linalg.fill ins(%zero : f32) outs(%scores_empty : {square}) -> {square}{products}
  %seen_empty = tensor.empty() : {half(steps, step, step)}
  %seen = linalg.generic {{indexing_maps = [#s, #s, #s, #s, #s, #s], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%p0, {", ".join(f"%p{b}" for b in levels)} : {", ".join([square] * (1 + len(levels)))}) outs(%seen_empty : {half(steps, step, step)}) {{
  ^bb0(%p0_e: f32, {", ".join(f"%p{b}_e: f32" for b in levels)}, %old: {element}):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = arith.xori %i, %j : index{choose}
    %after = arith.cmpi sge, %i, %j : index
    %kept = arith.select %after, {before}, %zero : f32
    %scaled = arith.mulf %kept, %scale : f32
    %narrow = arith.truncf %scaled : f32 to {element}
    linalg.yield %narrow : {element}
  }} -> {half(steps, step, step)}
  %p = tensor.collapse_shape %seen [[0, 1], [2]] : {half(steps, step, step)} into {scores}

  %all:2 = scf.for %at = %c0 to %chunk step %step iter_args(%o = %tile_empty, %before = %s) -> ({tile}, {state}) {{
    %number = arith.divui %at, %step : index
    %qp = tensor.extract_slice %mixed#0[%at, 0] [{step}, {width}] [1, 1] : {tile} to {strip}
    %kp = tensor.extract_slice %mixed#1[%at, 0] [{step}, {width}] [1, 1] : {tile} to {strip}
    %vp = tensor.extract_slice %vt[%at, 0] [{step}, {width}] [1, 1] : {tile} to {strip}
    %pp = tensor.extract_slice %p[%at, 0] [{step}, {step}] [1, 1] : {scores} to {half(step, step)}
    %decay = tensor.extract_slice %decays[%number, 0] [1, {width}] [1, 1] : {f32(steps, width)} to {row}
    %state_empty = tensor.empty() : {half(width, width)}
    %narrow = linalg.generic {{indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}}
        ins(%before : {state}) outs(%state_empty : {half(width, width)}) {{
    ^bb0(%se: f32, %old: {element}):
      %n = arith.truncf %se : f32 to {element}
      linalg.yield %n : {element}
    }} -> {half(width, width)}
    %sums_empty = tensor.empty() : {sums}
    %nothing = linalg.fill ins(%zero : f32) outs(%sums_empty : {sums}) -> {sums}
    %by_state = linalg.matmul ins(%qp, %narrow : {strip}, {half(width, width)}) outs(%nothing : {sums}) -> {sums}
    %by_keys = linalg.matmul ins(%pp, %vp : {half(step, step)}, {strip}) outs(%by_state : {sums}) -> {sums}
    %strip_empty = tensor.empty() : {strip}
    %out = linalg.generic {{indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}}
        ins(%by_keys : {sums}) outs(%strip_empty : {strip}) {{
    ^bb0(%oe: f32, %old: {element}):
      %n = arith.truncf %oe : f32 to {element}
      linalg.yield %n : {element}
    }} -> {strip}
    %o_next = tensor.insert_slice %out into %o[%at, 0] [{step}, {width}] [1, 1] : {strip} into {tile}
    %decayed = linalg.generic {{indexing_maps = [#r, #rc], iterator_types = ["parallel", "parallel"]}}
        ins(%decay : {row}) outs(%before : {state}) {{
    ^bb0(%de: f32, %se: f32):
      %m = arith.mulf %de, %se : f32
      linalg.yield %m : f32
    }} -> {state}
    %after = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
                                            affine_map<(m, n, k) -> (k, n)>,
                                            affine_map<(m, n, k) -> (m, n)>]
        ins(%kp, %vp : {strip}, {strip}) outs(%decayed : {state}) -> {state}
    scf.yield %o_next, %after : {tile}, {state}
  }}
  return %all#0, %all#1 : {tile}, {state}
}}
""") + "\n" + over_sequences("gla_steps", heads, tokens, sequences, width, chunk, half, f32)
