# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls cost when there is hardly anything to compute: ops beside native torch ops, modules, imports, first calls.

Times are the least of several rounds, in which all take turns.
"""

import os
import statistics
import subprocess
import sys
import tempfile

from drawloom_bench import options as common
from drawloom_bench import processes, timing
from drawloom_bench.report import tables


def least(runs, calls, rounds=9):
    """Microseconds of a call of each."""
    return {name: 1e3 * ms for name, ms in timing.least(runs, rounds, calls).items()}


def calls():
    import torch

    import drawloom
    import drawloom.torch

    torch.set_num_threads(1)
    x, a, b = torch.randn(1, 8), torch.randn(1, 6), torch.randn(1, 4)
    leaf, one = x.clone().requires_grad_(), torch.ones(1, 8)
    op = torch.ops.drawloom.rational
    module = drawloom.compile("func.func @f(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {\n  %y = kan.silu %x : tensor<1x8xf32>\n"
                              "  return %y : tensor<1x8xf32>\n}", threads=1)
    array = x.numpy()
    return {
        **least({
            "torch.addcmul": lambda: torch.addcmul(x, x, x),
            "torch.ops.aten.addcmul": lambda: torch.ops.aten.addcmul(x, x, x),
            "torch.ops.drawloom.rational": lambda: op(x, a, b),
            "module.f, NumPy": lambda: module.f(array),
            "module.f, torch": lambda: module.f(x),
        }, 20000),
        **least({
            "rational, forward and backward": lambda: op(leaf, a, b).backward(one),
            "two torch ops, forward and backward": lambda: (torch.addcmul(leaf, x, x) * x).backward(one),
        }, 3000),
    }


FIRST = """
import time
import drawloom.torch, torch
x, a, b = torch.randn(64, 8), torch.randn(1, 6), torch.randn(8, 4)
start = time.perf_counter()
drawloom.torch.rational(x, a, b)
print(time.perf_counter() - start)
"""


def in_processes():
    """Milliseconds in fresh processes."""
    def python(code):
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=processes.environment()).stdout

    def median(code, rounds=7):
        return 1e3 * statistics.median(timing.once(lambda: python(code)) for _ in range(rounds))

    nothing = median("pass")
    torch = median("import torch", 5)
    first = [1e3 * float(python(FIRST)) for _ in range(6)]
    return {
        "import drawloom": median("import drawloom") - nothing,
        "import drawloom.torch beyond torch": median("import drawloom.torch", 5) - torch,
        "first call, nothing cached": first[0],
        "first call, cached on disk": sorted(first[1:])[2],
    }


def arguments(parser):
    common.add_json(parser)


def main(options):
    with tempfile.TemporaryDirectory() as cache:
        os.environ["DRAWLOOM_CACHE"] = cache
        microseconds, milliseconds = calls(), in_processes()
    for name, value in microseconds.items():
        print(f"{name:<40} {value:8.2f} us")
    for name, value in milliseconds.items():
        print(f"{name:<40} {value:8.1f} ms")
    forward = microseconds["torch.ops.drawloom.rational"] / microseconds["torch.addcmul"]
    both = microseconds["rational, forward and backward"] / microseconds["two torch ops, forward and backward"]
    print(f"an op beside torch.addcmul: {forward:.2f} (goal 3); with autograd beside two torch ops: {both:.2f} (goal 2)")
    tables.write_json(options.json, {"us": microseconds, "ms": milliseconds})
