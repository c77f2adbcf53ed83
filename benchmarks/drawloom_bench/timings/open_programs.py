# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are compiled once for any number of rows, beside the same compiled for exactly those of each call.

A line for each program and number of rows: the time of the two, in turns, and how many times faster the open one is.
"""

import re
import statistics

from drawloom_bench import options as common
from drawloom_bench import timing
from drawloom_bench.programs.kan import Mlp, only, rational
from drawloom_bench.report import tables

ROWS = 7919
"""Stands for the rows in a program's text: a number that is no width."""


def opened(text, rows=ROWS):
    """The program with `?` in place of these extents, which are first dimensions. The first argument of each function that makes
    tensors of them has them."""
    text = text.replace(f"tensor<{rows}x", "tensor<?x")
    out = []
    for function in re.split(r"(?=^func\.func )", text, flags=re.M):
        if "tensor.empty() : tensor<?x" in function:
            name, of = re.search(r"\((%\w+): (tensor<\?x[^>]*>)", function).groups()
            function = function.replace("tensor.empty() : tensor<?x", "tensor.empty(%rows) : tensor<?x")
            head, brace, body = function.partition("{\n")
            function = f"{head}{brace}  %first = arith.constant 0 : index\n  %rows = tensor.dim {name}, %first : {of}\n{body}"
        out.append(function)
    return "".join(out)


def programs():
    """(name, text with ROWS rows, entry)"""
    yield "rational forward", only(rational(ROWS, 256), "forward"), "forward"
    yield "rational train", only(rational(ROWS, 256), "train"), "train"
    for widths, activation in (((64, 64, 64, 16), "relu"), ((32, 64, 64, 16), "rational"), ((128, 128, 128, 128), "relu"),
                               ((256, 256, 10), "relu")):
        text = Mlp(ROWS, widths, activation).text()
        name = f"{activation} {'-'.join(map(str, widths))}"
        yield f"{name} forward", only(text, "forward"), "forward"
        yield f"{name} train", only(text, "train"), "train"
        yield f"{name} step", only(text, "step"), "step"


def arguments_of(function, rows, seed=0):
    import numpy

    rng = numpy.random.default_rng(seed)
    arrays = []
    for name, shape in function.arguments:
        shape = [rows if extent < 0 else extent for extent in shape]
        if name.startswith("int"):
            arrays.append(numpy.ones(shape, name))
        else:
            arrays.append(numpy.abs(rng.standard_normal(shape) * 0.3).astype(name))
    return arrays


def compare(any_one, exact, arrays, rounds, threads=1):
    """Seconds of both, in turns; each has run once before."""
    ways = {"any": lambda: any_one(*arrays, threads=threads), "exact": lambda: exact(*arrays, threads=threads)}
    for way in ways.values():
        way()
    times = timing.in_turns(ways, rounds, timing.calls_of(ways["any"], 0.02))
    return [statistics.median(times[name]) for name in ways]


def show_mean(ratios):
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.3f}, least {min(ratios):.3f}")


def arguments(parser):
    parser.add_argument("--rows", type=common.numbers, default=[1, 16, 100, 1000, 16384], metavar="N,N", help="(default: 1,16,100,1000,16384)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    common.add_only(parser, "programs")


def main(options):
    import drawloom

    ratios = []
    tables.show_head("program", "rows", "one for all, us", "for these rows, us", "speed")
    for name, text, entry in common.chosen(options, list(programs()), lambda one: one[0]):
        any_rows = getattr(drawloom.compile(opened(text), entry=entry, cache=False), entry)
        for rows in options.rows:
            exact = getattr(drawloom.compile(text.replace(f"tensor<{ROWS}x", f"tensor<{rows}x"), entry=entry, cache=False), entry)
            ours, theirs = compare(any_rows, exact, arguments_of(any_rows, rows), options.rounds, options.threads)
            ratios.append(theirs / ours)
            tables.show([name, rows, f"{ours * 1e6:.1f}", f"{theirs * 1e6:.1f}", f"{theirs / ours:.3f}"])
    show_mean(ratios)
