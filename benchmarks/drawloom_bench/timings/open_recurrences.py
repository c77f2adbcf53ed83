# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrences that are compiled once for any numbers of sequences and tokens, beside the same compiled for exactly those of each call.

A line for each recurrence and number of tokens: the time of the two, in turns, and how many times faster the open one is; at the end what
prompts of random lengths take, beside as many tokens in prompts of one length. One thread.
"""

import itertools
import random
import time

from drawloom_bench import options as common
from drawloom_bench.report import tables
from drawloom_bench.timings.open_programs import compare, show_mean

HEADS, BATCH = 4, 2
CHANNELS, WIDTH = 1024, 4
DECAYS = {"gla": ("HxK", ""), "scalar": ("H", ""), "gated delta": ("H", "beta")}


def program(kind, element, size, batch, tokens):
    """@forward and @gradient of a recurrence, with "?" for what calls choose."""
    def tensor(*shape, of=element):
        return f"tensor<{'x'.join(map(str, (*shape, of)))}>"

    row, state = tensor(batch, tokens, HEADS, size), tensor(batch, HEADS, size, size, of="f32")
    decay, more = DECAYS[kind]
    operands = {"q": row, "k": row, "v": row,
                "decay": tensor(batch, tokens, *((HEADS, size) if decay == "HxK" else (HEADS,)), of="f32")}
    if more:
        operands[more] = tensor(batch, tokens, HEADS, of="f32")
    parameters, types = ", ".join(f"%{name}: {type}" for name, type in operands.items()), ", ".join(operands.values())
    names, wrt = ", ".join(f"%{name}" for name in operands), list(range(len(operands)))
    clauses = "".join(f" {name}(%{name})" for name in list(operands)[3:])
    return f"""
func.func @forward({parameters}) -> ({row}, {state}) {{
  %o, %final = linrec.scan %q, %k, %v{clauses} {{decay_bound = -0.5 : f64}} : ({types}) -> ({row}, {state})
  return %o, %final : {row}, {state}
}}
func.func @gradient({parameters}, %do: {row}, %df: {state}) -> ({types}) {{
  %r:{len(wrt) + 2} = ad.vjp @forward({names}) cotangents(%do, %df) wrt {wrt} : ({types}) -> ({row}, {state}, {types})
  return {', '.join(f'%r#{i + 2}' for i in wrt)} : {types}
}}
"""


def convolution(element, batch, tokens):
    """The same of a short convolution with a bias and an initial state."""
    row, state = f"tensor<{batch}x{tokens}x{CHANNELS}x{element}>", f"tensor<{batch}x{WIDTH - 1}x{CHANNELS}x{element}>"
    weight, bias = f"tensor<{CHANNELS}x{WIDTH}x{element}>", f"tensor<{CHANNELS}x{element}>"
    parameters, types = f"%x: {row}, %w: {weight}, %b: {bias}, %s: {state}", f"{row}, {weight}, {bias}, {state}"
    return f"""
func.func @forward({parameters}) -> ({row}, {state}) {{
  %y, %final = linrec.short_conv silu %x, %w bias(%b) initial(%s) : ({types}) -> ({row}, {state})
  return %y, %final : {row}, {state}
}}
func.func @gradient({parameters}, %dy: {row}, %df: {state}) -> ({types}) {{
  %r:6 = ad.vjp @forward(%x, %w, %b, %s) cotangents(%dy, %df) wrt [0, 1, 2, 3] : ({types}) -> ({row}, {state}, {types})
  return %r#2, %r#3, %r#4, %r#5 : {types}
}}
"""


def fill(function, batch, tokens):
    import numpy

    rng = numpy.random.default_rng(0)
    arrays = []
    for i, (name, shape) in enumerate(function.arguments):
        shape = [(batch, tokens)[dim] if extent < 0 else extent for dim, extent in enumerate(shape)]
        x = rng.standard_normal(shape) * 0.3
        arrays.append((-numpy.minimum(abs(x), 0.5) if i == 3 else abs(x) if len(shape) == 3 else x / shape[-1] ** 0.5).astype(name))
    return arrays


def prompts(count):
    import drawloom

    function = drawloom.compile(program("gla", "f32", 64, "?", "?"), cache=False).forward
    function(*fill(function, 1, 1), threads=1)
    rng = random.Random(0)
    lengths = [rng.randint(1, 4096) for _ in range(count)]
    whole = fill(function, 1, 4096)
    for name, each in (("of 1 to 4096 tokens", lengths), ("of one length", [sum(lengths) // count] * count)) * 2:
        given = [[one[:, :length] for one in whole] for length in each]
        began = time.perf_counter()
        for arguments in given:
            function(*arguments, threads=1)
        print(f"{count} prompts {name}, {sum(each)} tokens: {time.perf_counter() - began:.3f} s", flush=True)


def arguments(parser):
    parser.add_argument("--tokens", type=common.numbers, default=[1, 33, 256, 2048], metavar="N,N", help="(default: 1,33,256,2048)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--prompts", type=int, default=300, help="how many prompts; 0: none")
    common.add_only(parser, "recurrences")


def compiled(kind, element, entry, batch, tokens):
    """A function that has run once, and the seconds until then."""
    import drawloom

    began = time.perf_counter()
    text = convolution(element, batch, tokens) if kind == "convolution" else program(kind, element, 64, batch, tokens)
    function = getattr(drawloom.compile(text, entry=entry, cache=False), entry)
    function(*fill(function, BATCH, 1 if tokens == "?" else tokens), threads=1)
    return function, time.perf_counter() - began


def main(options):
    import ml_dtypes  # noqa: F401, bfloat16 for NumPy

    ratios = []
    tables.show_head("recurrence", "tokens", "one for all, us", "for these, us", "speed", "compiled in, s", "for these")
    every = list(itertools.product((*DECAYS, "convolution"), ("f32", "bf16"), ("forward", "gradient")))
    for which in common.chosen(options, every, " ".join):
        any_tokens, ours_took = compiled(*which, "?", "?")
        for tokens in options.tokens:
            exact, took = compiled(*which, BATCH, tokens)
            ours, theirs = compare(any_tokens, exact, fill(any_tokens, BATCH, tokens), options.rounds)
            ratios.append(theirs / ours)
            tables.show([" ".join(which), tokens, f"{ours * 1e6:.1f}", f"{theirs * 1e6:.1f}", f"{theirs / ours:.3f}", f"{ours_took:.2f}", f"{took:.2f}"])
    show_mean(ratios)
    if options.prompts:
        prompts(options.prompts)
