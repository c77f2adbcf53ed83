# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose workspace is worth planning: the training step of a model of gated linear attention, and random ones."""

import random


def _kernel(maps, iterators, inputs, types, output, output_type, lines, result):
    """A linalg.generic on f32; `lines` compute `result` from a, b, ... and the output's c."""
    names = "ab"[:len(inputs)]
    block = ", ".join(f"%{name}: f32" for name in [*names, "c"])
    quoted = ", ".join(f'"{iterator}"' for iterator in iterators)
    body = "".join(f"\n    {line}" for line in lines)
    return (f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{quoted}]}} "
            f"ins({', '.join(inputs)} : {', '.join(types)}) outs({output} : {output_type}) {{\n  ^bb0({block}):{body}\n"
            f"    linalg.yield {result} : f32\n  }} -> {output_type}")


def attention_step(layers=2, tokens=1024, width=128, heads=2, hidden=512):
    """@step(x, target, weights...) -> (loss, gradients): `layers` times gated linear attention and a gated MLP, both behind a norm."""
    rows, pairs = ["parallel", "reduction"], ["parallel", "parallel"]
    x, w = f"tensor<{tokens}x{width}xf32>", f"tensor<{width}x{width}xf32>"
    up, down = f"tensor<{width}x{hidden}xf32>", f"tensor<{hidden}x{width}xf32>"
    wide, row = f"tensor<{tokens}x{hidden}xf32>", f"tensor<{tokens}xf32>"
    split = f"tensor<1x{tokens}x{heads}x{width // heads}xf32>"
    state = f"tensor<1x{heads}x{width // heads}x{width // heads}xf32>"
    squares = _kernel(["#id", "#row"], rows, ["%x"], [x], "%zero", row, ["%q = arith.mulf %a, %a : f32", "%r = arith.addf %q, %c : f32"], "%r")
    scaled = _kernel(["#id", "#row", "#id"], pairs, ["%x", "%s"], [x, row], "%e", x, [
        f"%n = arith.constant {1 / width:.9e} : f32", "%eps = arith.constant 1.0e-5 : f32", "%m = arith.mulf %b, %n : f32",
        "%p = arith.addf %m, %eps : f32", "%r = math.rsqrt %p : f32", "%z = arith.mulf %a, %r : f32"], "%z")
    gate = _kernel(["#id", "#id"], pairs, ["%g0"], [x], "%e", x, [
        "%one = arith.constant 1.0 : f32", "%k = arith.constant -0.0625 : f32", "%na = arith.negf %a : f32", "%ex = math.exp %na : f32",
        "%p = arith.addf %ex, %one : f32", "%l = math.log %p : f32", "%r = arith.mulf %l, %k : f32"], "%r")
    silu = _kernel(["#id", "#id"], pairs, ["%h"], [wide], "%e2", wide, [
        "%one = arith.constant 1.0 : f32", "%na = arith.negf %a : f32", "%ex = math.exp %na : f32", "%p = arith.addf %ex, %one : f32",
        "%l = arith.divf %a, %p : f32"], "%l")
    error = _kernel(["#id", "#id", "#none"], ["reduction", "reduction"], ["%y", "%t"], [x, x], "%zero", "tensor<f32>", [
        "%d = arith.subf %a, %b : f32", "%q = arith.mulf %d, %d : f32", "%r = arith.addf %q, %c : f32"], "%r")
    dense = "\n".join(f"  %{name}0 = func.call @dense(%n, %w{name}) : ({x}, {w}) -> {x}" for name in "qkvg")
    shown = "\n".join(f"  %{name} = tensor.expand_shape %{of} [[0, 1], [2, 3]] output_shape [1, {tokens}, {heads}, {width // heads}] : {x} into {split}"
                      for name, of in (("q", "q0"), ("k", "k0"), ("v", "v0"), ("g", "g1")))
    kinds = [w] * 5 + [up, down]
    weights = [(f"%w{layer}_{i}", kind) for layer in range(layers) for i, kind in enumerate(kinds)]
    signature = ", ".join(": ".join(pair) for pair in weights)
    names, types = (", ".join(part) for part in zip(*weights))
    calls = "\n".join(f"  %y{layer + 1} = func.call @layer(%y{layer}, {', '.join(name for name, _ in weights[7 * layer:7 * layer + 7])})"
                      f" : ({x}, {', '.join(kinds)}) -> {x}" for layer in range(layers))
    gradients = ", ".join(f"%g{i}" for i in range(len(weights)))
    return f"""#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#none = affine_map<(i, j) -> ()>
func.func private @norm(%x: {x}) -> {x} {{
  %zero = arith.constant dense<0.0> : {row}
  %s = {squares}
  %e = tensor.empty() : {x}
  %y = {scaled}
  return %y : {x}
}}
func.func private @dense(%x: {x}, %w: {w}) -> {x} {{
  %zero = arith.constant dense<0.0> : {x}
  %y = linalg.matmul ins(%x, %w : {x}, {w}) outs(%zero : {x}) -> {x}
  return %y : {x}
}}
func.func private @layer(%x: {x}, %wq: {w}, %wk: {w}, %wv: {w}, %wg: {w}, %wo: {w}, %w1: {up}, %w2: {down}) -> {x} {{
  %n = func.call @norm(%x) : ({x}) -> {x}
{dense}
  %e = tensor.empty() : {x}
  %g1 = {gate}
{shown}
  %o4, %final = linrec.scan %q, %k, %v decay(%g) : ({split}, {split}, {split}, {split}) -> ({split}, {state})
  %o2 = tensor.collapse_shape %o4 [[0, 1], [2, 3]] : {split} into {x}
  %on = func.call @norm(%o2) : ({x}) -> {x}
  %r = func.call @dense(%on, %wo) : ({x}, {w}) -> {x}
  %x1 = arith.addf %x, %r : {x}
  %n2 = func.call @norm(%x1) : ({x}) -> {x}
  %z1 = arith.constant dense<0.0> : {wide}
  %h = linalg.matmul ins(%n2, %w1 : {x}, {up}) outs(%z1 : {wide}) -> {wide}
  %e2 = tensor.empty() : {wide}
  %hs = {silu}
  %z2 = arith.constant dense<0.0> : {x}
  %d = linalg.matmul ins(%hs, %w2 : {wide}, {down}) outs(%z2 : {x}) -> {x}
  %x2 = arith.addf %x1, %d : {x}
  return %x2 : {x}
}}
func.func private @loss(%x: {x}, %t: {x}, {signature}) -> tensor<f32> {{
  %y0 = func.call @norm(%x) : ({x}) -> {x}
{calls}
  %y = func.call @norm(%y{layers}) : ({x}) -> {x}
  %zero = arith.constant dense<0.0> : tensor<f32>
  %l = {error}
  return %l : tensor<f32>
}}
func.func @step(%x: {x}, %t: {x}, {signature}) -> (tensor<f32>, {types}) {{
  %l, {gradients} = ad.value_and_grad @loss(%x, %t, {names}) wrt {list(range(2, 2 + len(weights)))} : ({x}, {x}, {types}) -> (tensor<f32>, {types})
  return %l, {gradients} : tensor<f32>, {types}
}}"""


KINDS = ("tanh", "product", "product", "product", "add", "mul", "insert", "view", "loop", "branch")
# What kernels for GPUs compute fast enough on an emulator.
KINDS_OF_GPUS = ("tanh", "add", "mul", "insert", "rows", "columns", "rows", "columns")


def random_program(seed, ops=16, rows=256, kinds=KINDS):
    """@f(x, y, w) -> (result, result): values that are read again in the reverse order, products with w on both sides, or sums of rows
    and columns, so that rows do not all fuse, updates in place, views, branches and loops."""
    choose = random.Random(seed)
    columns = rows
    t = f"tensor<{rows}x{columns}xf32>"
    part = f"tensor<{rows // 2}x{columns}xf32>"
    flat = f"tensor<{rows * columns}xf32>"
    values, lines = ["%x", "%y"], [f"  %e = tensor.empty() : {t}", "  %zero = arith.constant 0.0 : f32", "  %c0 = arith.constant 0 : index",
                                   "  %c1 = arith.constant 1 : index", "  %c3 = arith.constant 3 : index"]

    def some():
        # Mostly a late one, now and then one from long ago.
        return values[-1 - min(int(choose.expovariate(0.15)), len(values) - 1)]

    for i in range(2 * ops):
        # What is made in the first half is read again in the second, the last value first.
        new, a, b = f"%v{i}", some() if i < ops else values[-1], some() if i < ops else values[2 * ops + 1 - i]
        kind = choose.choice(kinds)
        if kind == "tanh":
            lines.append(f"  {new} = math.tanh {a} : {t}")
        elif kind == "product":
            lines += [f"  {new}z = linalg.fill ins(%zero : f32) outs(%e : {t}) -> {t}",
                      f"  {new}p = linalg.matmul ins({', '.join(choose.sample([a, '%w'], 2))} : {t}, {t}) outs({new}z : {t}) -> {t}", f"  {new} = math.tanh {new}p : {t}"]
        elif kind in ("add", "mul"):
            lines.append(f"  {new} = arith.{kind}f {a}, {b} : {t}")
        elif kind == "insert":
            lines += [f"  {new}s = tensor.extract_slice {a}[0, 0] [{rows // 2}, {columns}] [1, 1] : {t} to {part}",
                      f"  {new} = tensor.insert_slice {new}s into {b}[{rows // 2}, 0] [{rows // 2}, {columns}] [1, 1] : {part} into {t}"]
        elif kind in ("rows", "columns"):
            dim, kept = ("i", rows) if kind == "rows" else ("j", columns)
            line, kinds_of_loops = f"tensor<{kept}xf32>", ["parallel", "reduction"] if kind == "rows" else ["reduction", "parallel"]
            maps = ["affine_map<(i, j) -> (i, j)>", f"affine_map<(i, j) -> ({dim})>"]
            lines += [f"  {new}e = tensor.empty() : {line}", f"  {new}z = linalg.fill ins(%zero : f32) outs({new}e : {line}) -> {line}",
                      f"  {new}s = " + _kernel(maps, kinds_of_loops, [a], [t], f"{new}z", line, ["%r = arith.addf %a, %c : f32"], "%r"),
                      f"  {new}p = " + _kernel([*maps, maps[0]], ["parallel", "parallel"], [a, f"{new}s"], [t, line], "%e", t, [
                          f"%n = arith.constant {1 / kept:.9e} : f32", "%m = arith.mulf %b, %n : f32", "%r = arith.subf %a, %m : f32"], "%r"),
                      f"  {new} = math.tanh {new}p : {t}"]
        elif kind == "view":
            lines += [f"  {new}f = tensor.collapse_shape {a} [[0, 1]] : {t} into {flat}", f"  {new}s = math.sin {new}f : {flat}",
                      f"  {new} = tensor.expand_shape {new}s [[0, 1]] output_shape [{rows}, {columns}] : {flat} into {t}"]
        elif kind == "loop":
            lines += [f"  {new} = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = {a}) -> ({t}) {{", f"    %n = arith.mulf %s, {b} : {t}",
                      f"    scf.yield %n : {t}", "  }"]
        else:
            lines += [f"  {new}n = tensor.extract {a}[%c0, %c1] : {t}", f"  {new}c = arith.cmpf ogt, {new}n, %zero : f32",
                      f"  {new} = scf.if {new}c -> ({t}) {{", f"    %n = arith.addf {a}, {b} : {t}", f"    scf.yield %n : {t}", "  } else {",
                      f"    scf.yield {b} : {t}", "  }"]
        values.append(new)
    body = "\n".join(lines)
    early = choose.choice(values[2:])
    return f"func.func @f(%x: {t}, %y: {t}, %w: {t}) -> ({t}, {t}) {{\n{body}\n  return {values[-1]}, {early} : {t}, {t}\n}}"
