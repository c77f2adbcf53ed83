# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A gated delta rule with what a layer has around it, in one program: short convolutions of queries, keys and values, L2 norms of
queries and keys, its gate, the sigmoid of beta, and behind it a root mean square norm and an output gate. Most of it is computed within the recurrence's blocks
(`fuse-into-blocks`); the results are those of the layer written token by token in torch, whose autograd gives the gradients."""

import dataclasses
import functools
import re
import subprocess

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from recurrences import references as reference
from recurrences.test_linear_recurrences import COMPILED, INTERPRETED, mlir_type, ratio
from support.runner import BUILD, run, tool

EPS = 1e-6


@dataclasses.dataclass(frozen=True)
class Shape:
    B: int = 2
    T: int = 64
    H: int = 2
    K: int = 8
    V: int = 16
    query_heads: int = 2
    starts: tuple = ()
    width: int = 0  # of the short convolutions, if there are any

    @property
    def names(self):
        return (*CONVOLVED[:3 * bool(self.width)], *NAMES)

    @property
    def extents(self):
        """The shapes of the operands, in order."""
        rows, keys, values = (self.B, self.T), (self.query_heads, self.K), (self.H, self.V)
        weights = [(*keys, self.width), (*keys, self.width), (*values, self.width)] if self.width else []
        return [*weights, (*rows, *keys), (*rows, *keys), (*rows, *values), (*rows, self.H), (self.H,), (self.H,), (*rows, self.H),
                (*rows, *values), (self.V,)]


# Heads share queries and keys and the last chunk is not full; sequences are packed and one of them is empty. Rows of eight convolved
# numbers may all be near 0, where the norm's gradient has few digits left in f32, torch's as well.
SHAPES = {"full chunks": Shape(), "shared": Shape(T=40, query_heads=1), "packed": Shape(B=1, T=80, starts=(0, 13, 13, 80)),
          "convolved": Shape(K=16, width=4),
          "convolved, packed": Shape(B=1, T=80, starts=(0, 13, 13, 15, 80), K=16, query_heads=1, width=3)}
CONVOLVED = ("weight_q", "weight_k", "weight_v")
NAMES = ("q", "k", "v", "x", "a_log", "bias", "b", "z", "w")
# The weights of the norm, the last operand, have no gradient here: all sums of the layer's gradient would be one op, which the CPU has
# no code for.


def program(shape, element):
    """@forward and @backward, the gradients of all operands but the weights."""
    rows = (shape.B, shape.T)
    types = {name: mlir_type(extents, element) for name, extents in zip(shape.names, shape.extents)}
    packed = {"starts": f"tensor<{len(shape.starts)}xi32>"} if shape.starts else {}
    sequences = len(shape.starts) - 1 if shape.starts else shape.B
    final = mlir_type((sequences, shape.H, shape.K, shape.V), element)
    of_keys, of_heads = mlir_type((*rows, shape.query_heads), element), types["x"]
    all4, row4, last4 = (f"affine_map<(b, t, h, d) -> ({dims})>" for dims in ("b, t, h, d", "b, t, h", "d"))
    all3 = "affine_map<(b, t, h) -> (b, t, h)>"

    def generic(name, maps, inputs, result, start, body, reduces=False):
        """%name of one result; `body` makes %r of %e0, %e1, ... and %out."""
        loops = 4 if all4 in maps else 3
        iterators = ", ".join(["\"parallel\""] * (loops - reduces) + ["\"reduction\""] * reduces)
        arguments = ", ".join([f"%e{i}: {element}" for i in range(len(inputs))] + [f"%out: {element}"])
        return f"""
  %{name} = linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = [{iterators}]}}
      ins({", ".join(f"%{one}" for one, _ in inputs)} : {", ".join(kind for _, kind in inputs)}) outs(%{start} : {result}) {{
  ^bb0({arguments}):
    {body}
    linalg.yield %r : {element}
  }} -> {result}"""

    def sums(name, of, kind, result):
        return f"""
  %{name}_rows = tensor.empty() : {result}
  %{name}_zeros = linalg.fill ins(%zero : {element}) outs(%{name}_rows : {result}) -> {result}""" + generic(
            f"{name}_sums", [all4, row4], [(of, kind)], result, f"{name}_zeros",
            f"%square = arith.mulf %e0, %e0 : {element}\n    %r = arith.addf %out, %square : {element}", reduces=True)

    def root(name, kind, factor):
        return generic(f"{name}_root", [all3, all3], [(f"{name}_sums", kind)], kind, f"{name}_rows",
                       f"%mean = arith.mulf %e0, %{factor} : {element}\n    %some = arith.addf %mean, %eps : {element}\n"
                       f"    %r = math.rsqrt %some : {element}")

    def sigmoid(of):
        return (f"%minus = arith.negf {of} : {element}\n    %exp = math.exp %minus : {element}\n"
                f"    %more = arith.addf %exp, %one : {element}\n    %share = arith.divf %one, %more : {element}\n    ")

    text, of = "", {"q": "q", "k": "k", "v": "v"}
    for one in "qkv" if shape.width else "":
        last = mlir_type((sequences, shape.width - 1, *shape.extents[3 + "qkv".index(one)][2:]), element)
        given = [types[one], types[f"weight_{one}"], *packed.values()]
        text += (f"\n  %{one}_conv, %{one}_last = linrec.short_conv silu %{one}, %weight_{one}{' starts(%starts)' if packed else ''}"
                 f" : ({', '.join(given)}) -> ({types[one]}, {last})")
        of[one] = f"{one}_conv"
    for one in "qk":
        text += sums(one, of[one], types["q"], of_keys) + root(one, of_keys, "one") + f"\n  %{one}_empty = tensor.empty() : {types['q']}"
        text += generic(f"{one}_unit", [all4, row4, all4], [(of[one], types["q"]), (f"{one}_root", of_keys)], types["q"], f"{one}_empty",
                        f"%r = arith.mulf %e0, %e1 : {element}")
    text += f"""
  %g = linrec.gate softplus %x scale(%a_log) bias(%bias) : ({types["x"]}, {types["a_log"]}, {types["bias"]}) -> {types["x"]}
  %beta_empty = tensor.empty() : {types["b"]}"""
    text += generic("beta", [all3, all3], [("b", types["b"])], types["b"], "beta_empty",
                    sigmoid("%e0") + f"%r = arith.mulf %share, %one : {element}")
    given = [types["q"], types["q"], types["v"], types["x"], types["b"], *packed.values()]
    text += f"""
  %o, %final = linrec.scan %q_unit, %k_unit, %{of["v"]} decay(%g) beta(%beta){" starts(%starts)" if packed else ""}
      : ({", ".join(given)}) -> ({types["v"]}, {final})"""
    text += sums("o", "o", types["v"], of_heads) + root("o", of_heads, "share_of_values")
    text += f"\n  %y_empty = tensor.empty() : {types['v']}" + generic(
        "y", [all4, row4, last4, all4, all4], [("o", types["v"]), ("o_root", of_heads), ("w", types["w"]), ("z", types["z"])], types["v"],
        "y_empty", sigmoid("%e3") + f"%silu = arith.mulf %e3, %share : {element}\n    %n = arith.mulf %e0, %e1 : {element}\n"
        f"    %m = arith.mulf %n, %e2 : {element}\n    %r = arith.mulf %m, %silu : {element}")
    operands = {**types, **packed}
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in operands.items())
    differentiated = shape.names[:-1]
    gradients, count = ", ".join(types[name] for name in differentiated), len(differentiated)
    return f"""
func.func @forward({arguments}) -> {types["v"]} {{
  %zero = arith.constant 0.0 : {element}
  %one = arith.constant 1.0 : {element}
  %eps = arith.constant {EPS:.1e} : {element}
  %share_of_values = arith.constant {1 / shape.V} : {element}{text}
  return %y : {types["v"]}
}}
func.func @backward({arguments}, %d: {types["v"]}) -> ({gradients}) {{
  %r:{count + 1} = ad.vjp @forward({", ".join(f"%{name}" for name in operands)}) cotangents(%d) wrt {list(range(count))}
      : ({", ".join(operands.values())}) -> ({types["v"]}, {gradients})
  return {", ".join(f"%r#{i + 1}" for i in range(count))} : {gradients}
}}
"""


def alone(text, function):
    """A module of which only this function is compiled."""
    if function == "forward":
        return text.split("func.func @backward")[0]
    return text.replace("func.func @forward", "func.func private @forward")


def convolution(shape, x, weight):
    """With torch's conv1d, a sequence at a time."""
    bounds, parts = shape.starts or (0, shape.T), []
    for first, end in zip(bounds, bounds[1:]):
        if end > first:
            rows = F.pad(x[:, first:end].flatten(2).mT, (shape.width - 1, 0))
            parts.append(F.conv1d(rows, weight.flatten(0, 1).unsqueeze(1), groups=rows.shape[1]).mT.unflatten(2, x.shape[2:]))
    return F.silu(torch.cat(parts, 1))


def layer(shape, *operands):
    *weights, q, k, v, x, a_log, bias, b, z, w = operands
    if weights:
        q, k, v = (convolution(shape, one, weight) for one, weight in zip((q, k, v), weights))

    def unit(one):
        one = one * torch.rsqrt(one.square().sum(-1, keepdim=True) + EPS)
        return one.repeat_interleave(shape.H // one.shape[2], 2)

    inputs = unit(q), unit(k), v, torch.exp(-a_log.exp() * F.softplus(x + bias)), torch.sigmoid(b)
    bounds = shape.starts or (0, shape.T)
    state = torch.zeros(shape.B, shape.H, shape.K, shape.V, dtype=torch.float64)
    parts = [reference.gated_delta_rule(*(one[:, first:end] for one in inputs), state, shape.K**-0.5)[0]
             for first, end in zip(bounds, bounds[1:]) if end > first]
    o = torch.cat(parts, 1)
    return o * torch.rsqrt(o.square().mean(-1, keepdim=True) + EPS) * w * F.silu(z)


@functools.lru_cache(maxsize=None)
def expected(name):
    """Inputs, the cotangent, outputs and gradients of a shape, in float64."""
    shape, rng = SHAPES[name], np.random.default_rng(0)
    inputs = [torch.from_numpy(rng.standard_normal(one)).requires_grad_() for one in shape.extents]
    d = torch.from_numpy(rng.standard_normal((shape.B, shape.T, shape.H, shape.V)))
    y = layer(shape, *inputs)
    y.backward(d)
    return [one.detach() for one in inputs], d, y.detach(), [one.grad for one in inputs[:-1]]


@pytest.mark.parametrize("target", ["interpreter", "cpu", "emulator"])
@pytest.mark.parametrize("name", SHAPES)
def test_outputs_and_gradients_are_the_layers(name, target):
    shape = SHAPES[name]
    inputs, d, y, gradients = expected(name)
    element, kind = ("f64", np.float64) if target == "interpreter" else ("f32", np.float32)
    text = program(shape, element)
    arguments = [one.numpy().astype(kind) for one in inputs]
    if shape.starts:
        arguments.append(np.array(shape.starts, np.int32))
    found = run(alone(text, "forward"), "forward", arguments, target=target)
    found += run(alone(text, "backward"), "backward", [*arguments, d.numpy().astype(kind)], target=target)
    tolerance = INTERPRETED if target == "interpreter" else COMPILED
    for what, result, right in zip(("y", *shape.names[:-1]), found, [y, *gradients], strict=True):
        assert ratio(torch.from_numpy(np.asarray(result)), right) <= tolerance, what


def workspace(text, function):
    """Bytes that a call of a compiled function needs beside its arguments and results."""
    kernels = tool("drawloom-run", "-", "--compile-to=kernels", text=alone(text, function))
    return int(re.search(rf"@{function}\(.*?workspace_bytes = (\d+)", kernels, re.DOTALL)[1])


@pytest.mark.parametrize("width", [0, 4])
def test_the_forward_pass_has_no_whole_tensor_in_memory(width):
    """But for queries and keys behind a convolution: their norms read them once more, and computing them twice would take longer."""
    shape = Shape(T=4096, width=width)
    convolved = 2 * 4 * shape.B * shape.T * shape.H * shape.K if width else 0
    # The rates of the heads' gates and the columns of weights, and no row of a token.
    assert workspace(program(shape, "f32"), "forward") < convolved + shape.T


def remarks(text, function):
    """What is said of `fuse-into-blocks` on the lines with short convolutions."""
    program_text = alone(text, function)
    done = subprocess.run([BUILD / "bin" / "drawloom-run", "-", "--compile-to=blocks", "--remarks-filter=fuse-into-blocks"],
                          input=program_text, capture_output=True, text=True, check=True)
    lines = program_text.splitlines()
    return [found[0] for found in re.finditer(r"^<stdin>:(\d+):.*remark: .*$", done.stderr, re.MULTILINE)
            if "linrec.short_conv" in lines[int(found[1]) - 1]]


def test_what_many_blocks_read_is_convolved_once():
    """Heads that share queries and keys: four would compute a convolution's exponentials four times."""
    apart, shared = (remarks(program(Shape(H=4, query_heads=heads, width=4), "f32"), "forward") for heads in (4, 1))
    assert apart and not any("NotFused" in one for one in apart)
    assert sum("computing it again would take longer than reading it" in one for one in shared) == 2
