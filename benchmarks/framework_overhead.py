# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls cost when there is hardly anything to compute: ops beside native torch ops, modules, imports, first calls.

    benchmarks/framework_overhead.py          # needs a build; times are least of several rounds
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("DRAWLOOM_BUILD_DIR", ROOT / "build"))


def least(runs, calls, rounds=9):
    """Microseconds of a call of each, {name: run}: the least mean of several rounds, in which they take turns."""
    best = {}
    for _ in range(rounds):
        for name, run in runs.items():
            for _ in range(calls // 20 + 1):
                run()
            start = time.perf_counter()
            for _ in range(calls):
                run()
            best[name] = min(best.get(name, float("inf")), (time.perf_counter() - start) / calls)
    return {name: seconds * 1e6 for name, seconds in best.items()}


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


def processes():
    """Milliseconds in fresh processes."""
    def spend(code):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return (time.perf_counter() - start) * 1e3

    def median(code, rounds=7):
        return sorted(spend(code) for _ in range(rounds))[rounds // 2]

    python = median("pass")
    torch = median("import torch", 5)
    first = [float(subprocess.run([sys.executable, "-c", FIRST], check=True, capture_output=True, text=True).stdout) * 1e3
             for _ in range(6)]
    return {
        "import drawloom": median("import drawloom") - python,
        "import drawloom.torch beyond torch": median("import drawloom.torch", 5) - torch,
        "first call, nothing cached": first[0],
        "first call, cached on disk": sorted(first[1:])[2],
    }


def main():
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(BUILD / "python"), os.environ.get("PYTHONPATH")]))
    sys.path.insert(0, str(BUILD / "python"))
    with tempfile.TemporaryDirectory() as cache:
        os.environ["DRAWLOOM_CACHE"] = cache
        microseconds, milliseconds = calls(), processes()
    for name, value in microseconds.items():
        print(f"{name:<40} {value:8.2f} us")
    for name, value in milliseconds.items():
        print(f"{name:<40} {value:8.1f} ms")
    forward = microseconds["torch.ops.drawloom.rational"] / microseconds["torch.addcmul"]
    both = microseconds["rational, forward and backward"] / microseconds["two torch ops, forward and backward"]
    print(f"an op beside torch.addcmul: {forward:.2f} (goal 3); with autograd beside two torch ops: {both:.2f} (goal 2)")
    if len(sys.argv) > 1:
        pathlib.Path(sys.argv[1]).write_text(json.dumps({"us": microseconds, "ms": milliseconds}, indent=2) + "\n")


if __name__ == "__main__":
    main()
