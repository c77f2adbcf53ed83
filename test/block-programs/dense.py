# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block programs over dense rows: group rational, MLP, LoRA."""

from templates import f32, rows_of, sum_over_first

# ---------------------------------------------------------------------------
# (a) Group-rational backward
# ---------------------------------------------------------------------------


def group_rational_backward(rows=32, groups=2, width=24, block_rows=16, tile_rows=1):
    """y = P(x) / Q(x), P = a0 + a1 x + ... + a5 x^5, Q = 1 + |b1 x + ... + b4 x^4|.

    Coefficients are shared by a group of `width` features. Features come as
    `width / 8` times 8 lanes, so that the sums over a block keep 8 lanes and
    nothing is added across a vector before the second stage. A block goes through
    its rows in small tiles, so that memory is read in its own order.
    """
    lanes, steps, blocks = 8, width // 8, rows // block_rows
    assert width % lanes == 0 and rows % block_rows == 0 and block_rows % tile_rows == 0
    whole, block, tile = (f32(r, groups, steps, lanes) for r in (rows, block_rows, tile_rows))
    group, part, parts = f32(groups), f32(groups, lanes), f32(blocks, groups, lanes)
    a_names = [f"a{k}" for k in range(6)]
    b_names = [f"b{k}" for k in range(1, 5)]
    names = a_names + b_names
    out = [rows_of(f"""
// Group-rational backward: dx and the sums of ten coefficient gradients.
//   y = P / Q,  P = a0 + a1 x + ... + a5 x^5,  A = b1 x + ... + b4 x^4,  Q = 1 + |A|
//   dx  = dy/Q (P' - y sign(A) A'),  da_k = sum dy/Q x^k,  db_k = -sum dy/Q y sign(A) x^k
// {rows} rows, {groups} groups of {width} features, {width} = {steps} steps of {lanes} lanes.
#element = affine_map<(r, g, s, l) -> (r, g, s, l)>
#group   = affine_map<(r, g, s, l) -> (g)>
#lane    = affine_map<(r, g, s, l) -> (g, l)>

func.func @group_rational_backward(
    %x: {whole}, %dy: {whole}, %a: {f32(6, groups)}, %b: {f32(4, groups)})
    -> ({whole}, {f32(6, groups)}, {f32(4, groups)}) {{
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %tile_rows = arith.constant {tile_rows} : index
  %block_rows = arith.constant {block_rows} : index
""")]
    for k, name in enumerate(a_names):
        out.append(f"  %{name} = tensor.extract_slice %a[{k}, 0] [1, {groups}] [1, 1] : {f32(6, groups)} to {group}\n")
    for k, name in enumerate(b_names):
        out.append(f"  %{name} = tensor.extract_slice %b[{k}, 0] [1, {groups}] [1, 1] : {f32(4, groups)} to {group}\n")
    out.append(f"  %dx_empty = tensor.empty() : {whole}\n  %parts_empty = tensor.empty() : {parts}\n")
    out.append(rows_of(f"""

  // First stage: each block of rows writes its rows of dx and one partial sum
  // per coefficient, group and lane.
  %blocks:11 = scf.forall (%block) in ({blocks}) shared_outs(
      %dx_out = %dx_empty,
      {", ".join(f"%{n}_out = %parts_empty" for n in names[:5])},
      {", ".join(f"%{n}_out = %parts_empty" for n in names[5:])})
      -> ({whole}, {", ".join([parts] * 5)},
          {", ".join([parts] * 5)}) {{
    %first = affine.apply affine_map<(i) -> (i * {block_rows})>(%block)
    %dx_block = tensor.extract_slice %dx_out[%first, 0, 0, 0] [{block_rows}, {groups}, {steps}, {lanes}] [1, 1, 1, 1] : {whole} to {block}
"""))
    for n in names:
        out.append(rows_of(f"""
    %{n}_slot = tensor.extract_slice %{n}_out[%block, 0, 0] [1, {groups}, {lanes}] [1, 1, 1] : {parts} to {part}
    %{n}_zero = linalg.fill ins(%zero : f32) outs(%{n}_slot : {part}) -> {part}
"""))
    out.append(rows_of(f"""

    // Tile by tile ({tile_rows} row{'' if tile_rows == 1 else 's'} each); the sums are carried.
    %tiles:11 = scf.for %at = %c0 to %block_rows step %tile_rows
        iter_args(%dx = %dx_block, {", ".join(f"%{n}_sum = %{n}_zero" for n in names)})
        -> ({block}, {", ".join([part] * 10)}) {{
    %row = arith.addi %first, %at : index
    %xt = tensor.extract_slice %x[%row, 0, 0, 0] [{tile_rows}, {groups}, {steps}, {lanes}] [1, 1, 1, 1] : {whole} to {tile}
    %dyt = tensor.extract_slice %dy[%row, 0, 0, 0] [{tile_rows}, {groups}, {steps}, {lanes}] [1, 1, 1, 1] : {whole} to {tile}
    %dxt = tensor.extract_slice %dx[%at, 0, 0, 0] [{tile_rows}, {groups}, {steps}, {lanes}] [1, 1, 1, 1] : {block} to {tile}
    %sums:11 = linalg.generic {{
        indexing_maps = [#element, #element, {", ".join(["#group"] * 10)},
                         #element, {", ".join(["#lane"] * 10)}],
        iterator_types = ["reduction", "parallel", "reduction", "parallel"]}}
        ins(%xt, %dyt, {", ".join("%" + n for n in names)} : {tile}, {tile}, {", ".join([group] * 10)})
        outs(%dxt, {", ".join(f"%{n}_sum" for n in names)} : {tile}, {", ".join([part] * 10)}) {{
    ^bb0(%xe: f32, %dye: f32, {", ".join(f"%{n}e: f32" for n in names)},
         %old: f32, {", ".join(f"%{n}s: f32" for n in names)}):
      // P and P' by one Horner scheme, A and A' by another.
      %p0 = math.fma %a5e, %xe, %a4e : f32
      %q1 = math.fma %a5e, %xe, %p0 : f32
      %p1 = math.fma %p0, %xe, %a3e : f32
      %q2 = math.fma %q1, %xe, %p1 : f32
      %p2 = math.fma %p1, %xe, %a2e : f32
      %q3 = math.fma %q2, %xe, %p2 : f32
      %p3 = math.fma %p2, %xe, %a1e : f32
      %dp = math.fma %q3, %xe, %p3 : f32
      %p = math.fma %p3, %xe, %a0e : f32
      %r0 = math.fma %b4e, %xe, %b3e : f32
      %s1 = math.fma %b4e, %xe, %r0 : f32
      %r1 = math.fma %r0, %xe, %b2e : f32
      %s2 = math.fma %s1, %xe, %r1 : f32
      %r2 = math.fma %r1, %xe, %b1e : f32
      %da = math.fma %s2, %xe, %r2 : f32
      %am = arith.mulf %r2, %xe : f32
      %abs = math.absf %am : f32
      %q = arith.addf %abs, %one : f32
      %inverse = arith.divf %one, %q : f32
      %g = arith.mulf %dye, %inverse : f32
      // y sign(A), the sign being that of A's sign bit.
      %signed = math.copysign %inverse, %am : f32
      %ys = arith.mulf %p, %signed : f32
      %minus = arith.negf %ys : f32
      %slope = math.fma %minus, %da, %dp : f32
      %dxe = arith.mulf %g, %slope : f32
      %h = arith.mulf %g, %ys : f32
      %x2 = arith.mulf %xe, %xe : f32
      %x3 = arith.mulf %x2, %xe : f32
      %x4 = arith.mulf %x2, %x2 : f32
      %x5 = arith.mulf %x4, %xe : f32
      %a0n = arith.addf %a0s, %g : f32
"""))
    powers = ["", "%xe", "%x2", "%x3", "%x4", "%x5"]
    for k in range(1, 6):
        out.append(f"      %a{k}m = arith.mulf %g, {powers[k]} fastmath<contract> : f32\n"
                   f"      %a{k}n = arith.addf %a{k}m, %a{k}s fastmath<contract> : f32\n")
    for k in range(1, 5):
        out.append(f"      %b{k}m = arith.mulf %h, {powers[k]} fastmath<contract> : f32\n"
                   f"      %b{k}n = arith.subf %b{k}s, %b{k}m fastmath<contract> : f32\n")
    out.append(rows_of(f"""
      linalg.yield %dxe, {", ".join(f"%{n}n" for n in names)} : {", ".join(["f32"] * 11)}
    }} -> ({tile}, {", ".join([part] * 10)})
    %dx_next = tensor.insert_slice %sums#0 into %dx[%at, 0, 0, 0] [{tile_rows}, {groups}, {steps}, {lanes}] [1, 1, 1, 1] : {tile} into {block}
    scf.yield %dx_next, {", ".join(f"%sums#{i}" for i in range(1, 11))} : {block}, {", ".join([part] * 10)}
    }}
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %tiles#0 into %dx_out[%first, 0, 0, 0] [{block_rows}, {groups}, {steps}, {lanes}] [1, 1, 1, 1] : {block} into {whole}
"""))
    for i, n in enumerate(names):
        out.append(f"      tensor.parallel_insert_slice %tiles#{i + 1} into %{n}_out[%block, 0, 0] [1, {groups}, {lanes}] [1, 1, 1] : {part} into {parts}\n")
    out.append("    }\n  }\n\n  // Second stage: blocks and lanes are added in order.\n")
    for i, n in enumerate(names):
        out.append(rows_of(f"""
  %{n}_none = tensor.empty() : {group}
  %{n}_start = linalg.fill ins(%zero : f32) outs(%{n}_none : {group}) -> {group}
  %d{n} = linalg.generic {{
      indexing_maps = [affine_map<(g, k, l) -> (k, g, l)>, affine_map<(g, k, l) -> (g)>],
      iterator_types = ["parallel", "reduction", "reduction"]}}
      ins(%blocks#{i + 1} : {parts}) outs(%{n}_start : {group}) {{
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  }} -> {group}
"""))
    for letter, keys, count in (("a", a_names, 6), ("b", b_names, 4)):
        last = f"%d{letter}_empty"
        out.append(f"  {last} = tensor.empty() : {f32(count, groups)}\n")
        for k, n in enumerate(keys):
            out.append(f"  %d{letter}_{k} = tensor.insert_slice %d{n} into {last}[{k}, 0] [1, {groups}] [1, 1] : {group} into {f32(count, groups)}\n")
            last = f"%d{letter}_{k}"
    out.append(f"  return %blocks#0, %da_5, %db_3 : {whole}, {f32(6, groups)}, {f32(4, groups)}\n}}\n")
    text = "".join(out)
    # The body of the loop over tiles, one step to the right.
    head, body = text.split("    %row = arith.addi", 1)
    body, rest = body.split("    }\n    scf.forall.in_parallel", 1)
    body = ("    %row = arith.addi" + body).replace("\n    ", "\n      ")
    return f"{head}  {body}    }}\n    scf.forall.in_parallel{rest}"


# ---------------------------------------------------------------------------
# (b) MLP chain, forward and backward
# ---------------------------------------------------------------------------

WIDTHS = (32, 64, 64, 64, 64, 16)


def mlp_layer(i, widths, tile_rows, relu, hidden, result):
    """One layer on a tile: matmul, bias, ReLU (NaN passes through)."""
    out = f32(tile_rows, widths[i + 1])
    body = "        linalg.yield %sum : f32\n" if not relu else rows_of("""
        %positive = arith.cmpf ugt, %sum, %zero : f32
        %relu = arith.select %positive, %sum, %zero : f32
        linalg.yield %relu : f32
""")
    return rows_of(f"""
      %e{i} = tensor.empty() : {out}
      %z{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {out}) -> {out}
      %m{i} = linalg.matmul ins({hidden}, %w{i} : {f32(tile_rows, widths[i])}, {f32(widths[i], widths[i + 1])}) outs(%z{i} : {out}) -> {out}
      {result} = linalg.generic {{indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}}
          ins(%m{i}, %b{i} : {out}, {f32(widths[i + 1])}) outs(%e{i} : {out}) {{
      ^bb0(%dot: f32, %bias: f32, %old: f32):
        %sum = arith.addf %dot, %bias : f32
{body}      }} -> {out}
""")


def mlp_arguments(widths):
    return ", ".join(f"%w{i}: {f32(widths[i], widths[i + 1])}, %b{i}: {f32(widths[i + 1])}"
                     for i in range(len(widths) - 1))


def mlp_forward(rows=128, widths=WIDTHS, tile_rows=64):
    """A narrow MLP with ReLU between its layers, one block program."""
    assert rows % tile_rows == 0
    depth, wx, wy = len(widths) - 1, widths[0], widths[-1]
    whole_x, whole_y = f32(rows, wx), f32(rows, wy)
    out = [rows_of(f"""
// MLP {" -> ".join(map(str, widths))}, ReLU between the layers: {rows} rows, {tile_rows} a block.
// No activation of more than {tile_rows} rows exists.
#rc = affine_map<(r, c) -> (r, c)>
#c  = affine_map<(r, c) -> (c)>

func.func @mlp_forward(%x: {whole_x}, {mlp_arguments(widths)}) -> {whole_y} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {whole_y}
  %y = scf.forall (%block) in ({rows // tile_rows}) shared_outs(%y_out = %empty) -> ({whole_y}) {{
      %row = affine.apply affine_map<(i) -> (i * {tile_rows})>(%block)
      %h0 = tensor.extract_slice %x[%row, 0] [{tile_rows}, {wx}] [1, 1] : {whole_x} to {f32(tile_rows, wx)}
""")]
    for i in range(depth):
        out.append(mlp_layer(i, widths, tile_rows, i < depth - 1, f"%h{i}", f"%h{i + 1}"))
    out.append(rows_of(f"""
      scf.forall.in_parallel {{
        tensor.parallel_insert_slice %h{depth} into %y_out[%row, 0] [{tile_rows}, {wy}] [1, 1] : {f32(tile_rows, wy)} into {whole_y}
      }}
  }}
  return %y : {whole_y}
}}
"""))
    return "".join(out)


def mlp_backward(rows=256, widths=WIDTHS, tile_rows=64, block_rows=128):
    """Gradients of the MLP, the forward pass computed again in each tile."""
    assert rows % block_rows == 0 and block_rows % tile_rows == 0
    depth, blocks = len(widths) - 1, rows // block_rows
    layers = range(depth)
    weights = [f32(widths[i], widths[i + 1]) for i in layers]
    biases = [f32(widths[i + 1]) for i in layers]
    weight_parts = [f32(blocks, widths[i], widths[i + 1]) for i in layers]
    bias_parts = [f32(blocks, widths[i + 1]) for i in layers]
    whole_x, whole_y = f32(rows, widths[0]), f32(rows, widths[-1])
    block_x = f32(block_rows, widths[0])
    results = [whole_x] + [t for i in layers for t in (weights[i], biases[i])]
    shared = [("dx", whole_x)] + [s for i in layers for s in ((f"pw{i}", weight_parts[i]), (f"pb{i}", bias_parts[i]))]
    count = len(shared)
    out = [rows_of(f"""
// Backward of the MLP {" -> ".join(map(str, widths))}: {rows} rows, {block_rows} a block, {tile_rows} a tile.
// A tile computes its activations again instead of reading them; a block carries
// the weight gradients of its tiles and writes one partial; the second stage
// adds the partials in the order of the blocks.
#rc = affine_map<(r, c) -> (r, c)>
#c  = affine_map<(r, c) -> (c)>
#dw_in  = affine_map<(m, n, k) -> (k, m)>
#dw_dz  = affine_map<(m, n, k) -> (k, n)>
#dw_out = affine_map<(m, n, k) -> (m, n)>

func.func @mlp_backward(%x: {whole_x}, %dy: {whole_y}, {mlp_arguments(widths)})
    -> ({", ".join(results)}) {{
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %tile_rows = arith.constant {tile_rows} : index
  %block_rows = arith.constant {block_rows} : index
""")]
    for i in layers:
        turned = f32(widths[i + 1], widths[i])
        out.append(f"  %t{i}_empty = tensor.empty() : {turned}\n"
                   f"  %t{i} = linalg.transpose ins(%w{i} : {weights[i]}) outs(%t{i}_empty : {turned}) permutation = [1, 0]\n")
    for name, kind in shared:
        out.append(f"  %{name}_empty = tensor.empty() : {kind}\n")
    out.append(rows_of(f"""
  %parts:{count} = scf.forall (%block) in ({blocks}) shared_outs({", ".join(f"%{n}_out = %{n}_empty" for n, _ in shared)})
      -> ({", ".join(t for _, t in shared)}) {{
    %first = affine.apply affine_map<(i) -> (i * {block_rows})>(%block)
    %dx_block = tensor.extract_slice %dx_out[%first, 0] [{block_rows}, {widths[0]}] [1, 1] : {whole_x} to {block_x}
"""))
    for i in layers:
        out.append(rows_of(f"""
    %pw{i}_slot = tensor.extract_slice %pw{i}_out[%block, 0, 0] [1, {widths[i]}, {widths[i + 1]}] [1, 1, 1] : {weight_parts[i]} to {weights[i]}
    %pw{i}_zero = linalg.fill ins(%zero : f32) outs(%pw{i}_slot : {weights[i]}) -> {weights[i]}
    %pb{i}_slot = tensor.extract_slice %pb{i}_out[%block, 0] [1, {widths[i + 1]}] [1, 1] : {bias_parts[i]} to {biases[i]}
    %pb{i}_zero = linalg.fill ins(%zero : f32) outs(%pb{i}_slot : {biases[i]}) -> {biases[i]}
"""))
    carried = [("dx", "%dx_block", block_x)] + [
        c for i in layers for c in ((f"pw{i}", f"%pw{i}_zero", weights[i]), (f"pb{i}", f"%pb{i}_zero", biases[i]))]
    out.append(rows_of(f"""
    %tiles:{count} = scf.for %at = %c0 to %block_rows step %tile_rows
        iter_args({", ".join(f"%{n} = {v}" for n, v, _ in carried)})
        -> ({", ".join(t for _, _, t in carried)}) {{
      %row = arith.addi %first, %at : index
      %h0 = tensor.extract_slice %x[%row, 0] [{tile_rows}, {widths[0]}] [1, 1] : {whole_x} to {f32(tile_rows, widths[0])}
      %dz{depth - 1} = tensor.extract_slice %dy[%row, 0] [{tile_rows}, {widths[-1]}] [1, 1] : {whole_y} to {f32(tile_rows, widths[-1])}
"""))
    for i in range(depth - 1):
        out.append(mlp_layer(i, widths, tile_rows, True, f"%h{i}", f"%h{i + 1}"))
    for i in reversed(layers):
        dz, dh = f32(tile_rows, widths[i + 1]), f32(tile_rows, widths[i])
        out.append(rows_of(f"""
      %nw{i} = linalg.matmul indexing_maps = [#dw_in, #dw_dz, #dw_out]
          ins(%h{i}, %dz{i} : {dh}, {dz}) outs(%pw{i} : {weights[i]}) -> {weights[i]}
      %nb{i} = linalg.generic {{indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]}}
          ins(%dz{i} : {dz}) outs(%pb{i} : {biases[i]}) {{
      ^bb0(%part: f32, %sum: f32):
        %next = arith.addf %sum, %part : f32
        linalg.yield %next : f32
      }} -> {biases[i]}
"""))
        if i == 0:
            out.append(rows_of(f"""
      %dx_slot = tensor.extract_slice %dx[%at, 0] [{tile_rows}, {widths[0]}] [1, 1] : {block_x} to {dh}
      %dx_zero = linalg.fill ins(%zero : f32) outs(%dx_slot : {dh}) -> {dh}
      %dx_tile = linalg.matmul ins(%dz0, %t0 : {dz}, {f32(widths[1], widths[0])}) outs(%dx_zero : {dh}) -> {dh}
      %dx_next = tensor.insert_slice %dx_tile into %dx[%at, 0] [{tile_rows}, {widths[0]}] [1, 1] : {dh} into {block_x}
"""))
            continue
        out.append(rows_of(f"""
      %de{i} = tensor.empty() : {dh}
      %dq{i} = linalg.fill ins(%zero : f32) outs(%de{i} : {dh}) -> {dh}
      %dh{i} = linalg.matmul ins(%dz{i}, %t{i} : {dz}, {f32(widths[i + 1], widths[i])}) outs(%dq{i} : {dh}) -> {dh}
      %dz{i - 1} = linalg.generic {{indexing_maps = [#rc, #rc, #rc], iterator_types = ["parallel", "parallel"]}}
          ins(%dh{i}, %h{i} : {dh}, {dh}) outs(%de{i} : {dh}) {{
      ^bb0(%gradient: f32, %activation: f32, %old: f32):
        %positive = arith.cmpf ugt, %activation, %zero : f32
        %passed = arith.select %positive, %gradient, %zero : f32
        linalg.yield %passed : f32
      }} -> {dh}
"""))
    out.append(rows_of(f"""
      scf.yield %dx_next, {", ".join(f"%nw{i}, %nb{i}" for i in layers)} : {", ".join(t for _, _, t in carried)}
    }}
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %tiles#0 into %dx_out[%first, 0] [{block_rows}, {widths[0]}] [1, 1] : {block_x} into {whole_x}
"""))
    for i in layers:
        out.append(rows_of(f"""
      tensor.parallel_insert_slice %tiles#{1 + 2 * i} into %pw{i}_out[%block, 0, 0] [1, {widths[i]}, {widths[i + 1]}] [1, 1, 1] : {weights[i]} into {weight_parts[i]}
      tensor.parallel_insert_slice %tiles#{2 + 2 * i} into %pb{i}_out[%block, 0] [1, {widths[i + 1]}] [1, 1] : {biases[i]} into {bias_parts[i]}
"""))
    out.append("    }\n  }\n\n")
    for i in layers:
        out.append(sum_over_first(f"dw{i}", f"%dw{i}", f"%parts#{1 + 2 * i}", (blocks, widths[i], widths[i + 1]), "%zero"))
        out.append(sum_over_first(f"db{i}", f"%db{i}", f"%parts#{2 + 2 * i}", (blocks, widths[i + 1]), "%zero"))
    out.append(f"  return %parts#0, {', '.join(f'%dw{i}, %db{i}' for i in layers)} : {', '.join(results)}\n}}\n")
    return "".join(out)


# ---------------------------------------------------------------------------
# (e) LoRA product
# ---------------------------------------------------------------------------


def lora(rows=128, width_in=96, width_out=128, rank=16, tile_rows=64, tile_columns=64, tile_depth=32):
    """y = x W + scale (x A) B with B and A thin: one pass over x.

    `tile_depth` features of x at a time meet their rows of W and of A.
    """
    assert rows % tile_rows == 0 and width_out % tile_columns == 0 and width_in % tile_depth == 0
    x, w, y = f32(rows, width_in), f32(width_in, width_out), f32(rows, width_out)
    a, b = f32(width_in, rank), f32(rank, width_out)
    strip, tile, low = f32(tile_rows, width_out), f32(tile_rows, tile_columns), f32(tile_rows, rank)
    xt, at = f32(tile_rows, tile_depth), f32(tile_depth, rank)
    wt, bt = f32(tile_depth, tile_columns), f32(rank, tile_columns)
    return rows_of(f"""
// LoRA product y = x W + (x A)(2 B): {rows} x {width_in} by {width_in} x {width_out}, rank {rank}.
// A block computes its rows of x A once and adds the low-rank part into the same
// accumulators as the dense part.
#rc = affine_map<(r, c) -> (r, c)>

func.func @lora(%x: {x}, %w: {w}, %a: {a}, %b: {b}) -> {y} {{
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 2.0 : f32
  %c0 = arith.constant 0 : index
  %tile_depth = arith.constant {tile_depth} : index
  %width_in = arith.constant {width_in} : index
  %tile_columns = arith.constant {tile_columns} : index
  %width_out = arith.constant {width_out} : index
  %empty = tensor.empty() : {y}
  %y = scf.forall (%block) in ({rows // tile_rows}) shared_outs(%y_out = %empty) -> ({y}) {{
    %row = affine.apply affine_map<(i) -> (i * {tile_rows})>(%block)
    %low_empty = tensor.empty() : {low}
    %low_zero = linalg.fill ins(%zero : f32) outs(%low_empty : {low}) -> {low}
    %low = scf.for %k = %c0 to %width_in step %tile_depth iter_args(%sum = %low_zero) -> ({low}) {{
      %xt = tensor.extract_slice %x[%row, %k] [{tile_rows}, {tile_depth}] [1, 1] : {x} to {xt}
      %at = tensor.extract_slice %a[%k, 0] [{tile_depth}, {rank}] [1, 1] : {a} to {at}
      %next = linalg.matmul ins(%xt, %at : {xt}, {at}) outs(%sum : {low}) -> {low}
      scf.yield %next : {low}
    }}
    %scaled = linalg.generic {{indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]}}
        ins(%low : {low}) outs(%low_empty : {low}) {{
    ^bb0(%e: f32, %old: f32):
      %s = arith.mulf %e, %scale : f32
      linalg.yield %s : f32
    }} -> {low}
    %strip = tensor.extract_slice %y_out[%row, 0] [{tile_rows}, {width_out}] [1, 1] : {y} to {strip}
    %columns = scf.for %column = %c0 to %width_out step %tile_columns iter_args(%written = %strip) -> ({strip}) {{
      %slot = tensor.extract_slice %written[0, %column] [{tile_rows}, {tile_columns}] [1, 1] : {strip} to {tile}
      %start = linalg.fill ins(%zero : f32) outs(%slot : {tile}) -> {tile}
      %bt = tensor.extract_slice %b[0, %column] [{rank}, {tile_columns}] [1, 1] : {b} to {bt}
      %lowered = linalg.matmul ins(%scaled, %bt : {low}, {bt}) outs(%start : {tile}) -> {tile}
      %dense = scf.for %k = %c0 to %width_in step %tile_depth iter_args(%sum = %lowered) -> ({tile}) {{
        %xt = tensor.extract_slice %x[%row, %k] [{tile_rows}, {tile_depth}] [1, 1] : {x} to {xt}
        %wt = tensor.extract_slice %w[%k, %column] [{tile_depth}, {tile_columns}] [1, 1] : {w} to {wt}
        %next = linalg.matmul ins(%xt, %wt : {xt}, {wt}) outs(%sum : {tile}) -> {tile}
        scf.yield %next : {tile}
      }}
      %filled = tensor.insert_slice %dense into %written[0, %column] [{tile_rows}, {tile_columns}] [1, 1] : {tile} into {strip}
      scf.yield %filled : {strip}
    }}
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %columns into %y_out[%row, 0] [{tile_rows}, {width_out}] [1, 1] : {strip} into {y}
    }}
  }}
  return %y : {y}
}}
""")
