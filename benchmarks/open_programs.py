# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are compiled once for any number of rows, beside the same compiled for exactly those of each call.

    python benchmarks/open_programs.py [--only WORDS] [--rounds N] [--threads N]

A line for each program and number of rows: the time of the two, in turns, and how many times faster the open one is.
Needs a build.
"""

import argparse
import os
import pathlib
import re
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(pathlib.Path(os.environ.get("DRAWLOOM_BUILD_DIR", ROOT / "build")) / "python"), str(ROOT / "benchmarks")]

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
    from kan_programs import Mlp, only, rational

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="programs whose names have this word")
    parser.add_argument("--rows", default="1,16,100,1000,16384")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    import drawloom

    ratios = []
    print("| program | rows | one for all, us | for these rows, us | speed |\n| --- | --- | --- | --- | --- |", flush=True)
    for name, text, entry in programs():
        if options.only not in name:
            continue
        any_rows = getattr(drawloom.compile(opened(text), entry=entry, cache=False), entry)
        for rows in map(int, options.rows.split(",")):
            exact = getattr(drawloom.compile(text.replace(f"tensor<{ROWS}x", f"tensor<{rows}x"), entry=entry, cache=False), entry)
            arrays = arguments_of(any_rows, rows)
            ways = [lambda: any_rows(*arrays, threads=options.threads), lambda: exact(*arrays, threads=options.threads)]
            times = [[], []]
            for way in ways:
                way()
            began = time.perf_counter()
            ways[0]()
            calls = max(1, int(0.02 / (time.perf_counter() - began)))
            for _ in range(options.rounds):
                for way, into in zip(ways, times):
                    began = time.perf_counter()
                    for _ in range(calls):
                        way()
                    into.append((time.perf_counter() - began) / calls)
            ours, theirs = (statistics.median(one) for one in times)
            ratios.append(theirs / ours)
            print(f"| {name} | {rows} | {ours * 1e6:.1f} | {theirs * 1e6:.1f} | {theirs / ours:.3f} |", flush=True)
    print(f"geometric mean {statistics.geometric_mean(ratios):.3f}, least {min(ratios):.3f}")


if __name__ == "__main__":
    main()
