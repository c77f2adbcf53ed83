# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pieces that the templates of block programs share."""


def f32(*shape):
    """The tensor type of a shape."""
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + "f32>"


def i32(*shape):
    return f32(*shape).replace("f32", "i32")


def rows_of(text):
    """Drops the line break that opens a triple-quoted template."""
    return text.lstrip("\n")


def sum_over_first(name, result, source, shape, init):
    """The second stage of a reduction: adds the blocks' partials in order."""
    dims = [f"d{i}" for i in range(len(shape))]
    every, kept = ", ".join(dims), ", ".join(dims[1:])
    loops = ", ".join(['"reduction"'] + ['"parallel"'] * (len(shape) - 1))
    kind, out = f32(*shape), f32(*shape[1:])
    return rows_of(f"""
  %{name}_empty = tensor.empty() : {out}
  %{name}_zero = linalg.fill ins({init} : f32) outs(%{name}_empty : {out}) -> {out}
  {result} = linalg.generic {{
      indexing_maps = [affine_map<({every}) -> ({every})>, affine_map<({every}) -> ({kept})>],
      iterator_types = [{loops}]}}
      ins({source} : {kind}) outs(%{name}_zero : {out}) {{
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  }} -> {out}
""")


def over_sequences(name, heads, tokens, sequences, width, chunk, values, gates):
    """@name, gated linear attention over packed sequences: for each sequence and head a loop over chunks that carries the state.
    @chunk computes one of them; `values` and `gates` give the tensor type of a shape."""
    whole, run, tile = values(heads, tokens, width), values("?", width), values(chunk, width)
    all_gates, gate_run, gate_tile = gates(heads, tokens, width), gates("?", width), gates(chunk, width)
    state, states, starts = f32(width, width), f32(sequences, heads, width, width), i32(sequences + 1)
    return rows_of(f"""
func.func @{name}(%q: {whole}, %k: {whole}, %v: {whole}, %g: {all_gates},
                     %starts: {starts}, %state: {states}) -> ({whole}, {states}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant -1 : index
  %chunk = arith.constant {chunk} : index
  %o_empty = tensor.empty() : {whole}
  %state_empty = tensor.empty() : {states}
  %all:2 = scf.forall (%sequence, %head) in ({sequences}, {heads})
      shared_outs(%o_out = %o_empty, %state_out = %state_empty) -> ({whole}, {states}) {{
    %next_sequence = arith.addi %sequence, %c1 : index
    %start32 = tensor.extract %starts[%sequence] : {starts}
    %end32 = tensor.extract %starts[%next_sequence] : {starts}
    %start = arith.index_cast %start32 : i32 to index
    %end = arith.index_cast %end32 : i32 to index
    %length = arith.subi %end, %start : index
    %qs = tensor.extract_slice %q[%head, %start, 0] [1, %length, {width}] [1, 1, 1] : {whole} to {run}
    %ks = tensor.extract_slice %k[%head, %start, 0] [1, %length, {width}] [1, 1, 1] : {whole} to {run}
    %vs = tensor.extract_slice %v[%head, %start, 0] [1, %length, {width}] [1, 1, 1] : {whole} to {run}
    %gs = tensor.extract_slice %g[%head, %start, 0] [1, %length, {width}] [1, 1, 1] : {all_gates} to {gate_run}
    %os = tensor.extract_slice %o_out[%head, %start, 0] [1, %length, {width}] [1, 1, 1] : {whole} to {run}
    %s_in = tensor.extract_slice %state[%sequence, %head, 0, 0] [1, 1, {width}, {width}] [1, 1, 1, 1] : {states} to {state}
    %s_slot = tensor.extract_slice %state_out[%sequence, %head, 0, 0] [1, 1, {width}, {width}] [1, 1, 1, 1] : {states} to {state}
    %s_first = linalg.copy ins(%s_in : {state}) outs(%s_slot : {state}) -> {state}

    // Chunk by chunk; the state is a tile carried through the loop.
    %rest = affine.apply affine_map<()[n] -> (n floordiv {chunk} * {chunk})>()[%length]
    %full:2 = scf.for %at = %c0 to %rest step %chunk iter_args(%o = %os, %s = %s_first) -> ({run}, {state}) {{
      %qt = tensor.extract_slice %qs[%at, 0] [{chunk}, {width}] [1, 1] : {run} to {tile}
      %kt = tensor.extract_slice %ks[%at, 0] [{chunk}, {width}] [1, 1] : {run} to {tile}
      %vt = tensor.extract_slice %vs[%at, 0] [{chunk}, {width}] [1, 1] : {run} to {tile}
      %gt = tensor.extract_slice %gs[%at, 0] [{chunk}, {width}] [1, 1] : {gate_run} to {gate_tile}
      %o_tile, %s_next = func.call @chunk(%qt, %kt, %vt, %gt, %s) : ({tile}, {tile}, {tile}, {gate_tile}, {state}) -> ({tile}, {state})
      %o_next = tensor.insert_slice %o_tile into %o[%at, 0] [{chunk}, {width}] [1, 1] : {tile} into {run}
      scf.yield %o_next, %s_next : {run}, {state}
    }}
    // The last tokens, if any: a chunk that is filled up with absent rows, whose gates exp(0) = 1 change nothing.
    %chunks:2 = scf.for %at = %rest to %length step %chunk iter_args(%o = %full#0, %s = %full#1) -> ({run}, {state}) {{
      // The chunk's tokens; past the end of the sequence -1, which names no row.
      %rows_empty = tensor.empty() : tensor<{chunk}xindex>
      %rows = linalg.generic {{indexing_maps = [#id], iterator_types = ["parallel"]}}
          outs(%rows_empty : tensor<{chunk}xindex>) {{
      ^bb0(%old: index):
        %i = linalg.index 0 : index
        %token = arith.addi %at, %i : index
        %inside = arith.cmpi slt, %token, %length : index
        %named = arith.select %inside, %token, %none : index
        linalg.yield %named : index
      }} -> tensor<{chunk}xindex>
      %tile_empty = tensor.empty() : {tile}
      %gate_empty = tensor.empty() : {gate_tile}
      %qt = block.gather %qs[%rows] outs(%tile_empty) : {run}[tensor<{chunk}xindex>] -> {tile}
      %kt = block.gather %ks[%rows] outs(%tile_empty) : {run}[tensor<{chunk}xindex>] -> {tile}
      %vt = block.gather %vs[%rows] outs(%tile_empty) : {run}[tensor<{chunk}xindex>] -> {tile}
      %gt = block.gather %gs[%rows] outs(%gate_empty) : {gate_run}[tensor<{chunk}xindex>] -> {gate_tile}
      %o_tile, %s_next = func.call @chunk(%qt, %kt, %vt, %gt, %s) : ({tile}, {tile}, {tile}, {gate_tile}, {state}) -> ({tile}, {state})
      %o_next = block.scatter %o_tile into %o[%rows] : {tile} into {run}[tensor<{chunk}xindex>]
      scf.yield %o_next, %s_next : {run}, {state}
    }}
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %chunks#0 into %o_out[%head, %start, 0] [1, %length, {width}] [1, 1, 1] : {run} into {whole}
      tensor.parallel_insert_slice %chunks#1 into %state_out[%sequence, %head, 0, 0] [1, 1, {width}, {width}] [1, 1, 1, 1] : {state} into {states}
    }}
  }}
  return %all#0, %all#1 : {whole}, {states}
}}
""")
