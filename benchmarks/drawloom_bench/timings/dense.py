# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dense products that nothing fuses with: Drawloom's own code against the libraries of Debian and torch's MKL.

GFLOP/s of c = a b in f32, medians of interleaved runs in one process. A library that is not installed is left out:
libopenblas0-pthread, libdnnl2, libxsmm-dev.
"""

import ctypes
import os
import pathlib
import subprocess
import tempfile

from drawloom_bench import BenchError, processes, timing
from drawloom_bench.report import tables

SHAPES = [(64, 64, 64), (128, 128, 128), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048),
          (131072, 64, 64), (16384, 128, 128), (8192, 256, 256), (4096, 512, 512), (512, 512, 16384), (2048, 1024, 1000)]
POINTER = ctypes.POINTER(ctypes.c_float)


def libraries():
    """Name and a function (m, n, k, a, b, c) for each library that is there.

    libxsmm generates small products itself and hands large ones to a BLAS, here OpenBLAS."""
    found = {}
    try:
        openblas = ctypes.CDLL("libopenblas.so.0")
        openblas.openblas_set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        found["OpenBLAS"] = lambda m, n, k, a, b, c: openblas.cblas_sgemm(101, 111, 111, m, n, k, one, a, k, b, n, zero, c, n)
    except OSError:
        pass
    try:
        dnnl = ctypes.CDLL("libdnnl.so.2")
        number = ctypes.c_int64
        found["oneDNN"] = lambda m, n, k, a, b, c: dnnl.dnnl_sgemm(
            ctypes.c_char(b"N"), ctypes.c_char(b"N"), number(m), number(n), number(k), ctypes.c_float(1), a, number(k), b, number(n), ctypes.c_float(0), c, number(n))
    except OSError:
        pass
    archive = pathlib.Path("/usr/lib/libxsmm.a")
    if archive.exists():
        shared = pathlib.Path(tempfile.mkdtemp()) / "libxsmm.so"
        subprocess.run(["gcc", "-shared", "-o", shared, "-Wl,--whole-archive", archive,
                        "-Wl,--no-whole-archive", "-l:libopenblas.so.0", "-lpthread", "-ldl", "-lm"], check=True)
        xsmm = ctypes.CDLL(str(shared))

        def call(m, n, k, a, b, c):
            # Column major: the transposed product.
            pointers = [ctypes.byref(ctypes.c_int(x)) for x in (n, m, k)]
            ints = [ctypes.byref(ctypes.c_int(x)) for x in (n, k, n)]
            xsmm.libxsmm_sgemm(b"N", b"N", *pointers, ctypes.byref(ctypes.c_float(1)), b, ints[0], a, ints[1],
                               ctypes.byref(ctypes.c_float(0)), c, ints[2])

        found["libxsmm"] = call
    return found


def arguments(parser):
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--isa", help="for Drawloom only; the libraries choose for themselves")
    parser.add_argument("--rounds", type=int, default=9)


def main(options):
    processes.restart_with(processes.threads(options.threads))
    os.sched_setaffinity(0, range(options.threads))
    import numpy as np
    import torch

    from drawloom_bench import embedded

    torch.set_num_threads(options.threads)
    others = libraries()
    names = ["Drawloom", *others, "MKL (torch)"]
    tables.show_head("m × n × k", *names)
    for m, n, k in SHAPES:
        rng = np.random.default_rng(0)
        a = embedded.aligned(rng.standard_normal((m, k), np.float32))
        b = embedded.aligned(rng.standard_normal((k, n), np.float32))
        text = f"""func.func @product(%a: tensor<{m}x{k}xf32>, %b: tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{m}x{n}xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %c = linalg.matmul ins(%a, %b : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) outs(%start : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %c : tensor<{m}x{n}xf32>
}}"""
        own = embedded.Module(text, options.isa).product.bind([a, b], options.threads)
        c = embedded.aligned(np.zeros((m, n), np.float32))
        pointers = [x.ctypes.data_as(POINTER) for x in (a, b, c)]
        ta, tb, tc = (torch.from_numpy(x) for x in (a, b, c))
        runs = {"Drawloom": own}
        for name, function in others.items():
            runs[name] = lambda function=function: function(m, n, k, *pointers)
        runs["MKL (torch)"] = lambda: torch.mm(ta, tb, out=tc)
        expected = a.astype(np.float64) @ b
        bound = k * 2.0**-23 * np.abs(a).astype(np.float64) @ np.abs(b)
        for name, run in runs.items():
            c[...] = np.nan
            result = run()
            found = result[0] if name == "Drawloom" else c
            if not (np.abs(found - expected) <= bound).all():
                raise BenchError(f"{name} is wrong at {m} x {n} x {k}")
        times = timing.in_turns(runs, options.rounds, {name: timing.calls_of(run, 0.02) for name, run in runs.items()})
        tables.show([f"{m} × {n} × {k}", *(f"{2e-9 * m * n * k / np.median(times[name]):.0f}" for name in names)])
