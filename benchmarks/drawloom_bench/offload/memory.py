# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of a training step whose saved tensors go to an SSD: what the C library keeps of what is freed.

A step of examples/lm's GLA, each way in a process of its own, three times; figures are the last one's. "in use": the most that was
allocated, as glibc counts; "resident": the most main memory that the process had, both without what there was before the first step.
--preload: other allocators to measure, such as libjemalloc.so.2.
"""

import argparse
import contextlib
import ctypes
import pathlib
import resource
import sys
import time

from drawloom_bench import ROOT, memory, processes
from drawloom_bench.offload.common import add_folder
from drawloom_bench.report import tables

# The way: (its arguments, its environment).
WAYS = {"no offload": ([], {}),
        "offload, trim=False": (["--way=untrimmed"], {}),
        "offload": (["--way=trimmed"], {}),
        "offload, glibc.malloc.hugetlb=1": (["--way=trimmed"], {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"})}


class Info(ctypes.Structure):
    """glibc's struct mallinfo2."""

    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def in_use():
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Info
    info = library.mallinfo2()
    return info.uordblks + info.hblkhd


def measure(options):
    import torch
    from torch.nn import functional as F
    sys.path.insert(0, str(ROOT / "examples" / "lm"))
    import model as models

    import drawloom.torch as dt
    torch.set_num_threads(1)
    model = models.make("gla", dt.linrec, width=options.width, layers=options.layers, heads=4, seed=0)
    tokens = torch.randint(256, (1, options.tokens + 1), generator=torch.Generator().manual_seed(0))
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    spill = dt.offload(options.folder, options.memory, trim=options.way == "trimmed") if options.way else contextlib.nullcontext()
    base, most = (in_use(), memory.resident("RssAnon")), 0

    def note(*_):
        nonlocal most
        most = max(most, in_use())

    for module in model.modules():
        module.register_forward_hook(note)
        module.register_full_backward_hook(note)
    for _ in range(3):
        most, faults, start = 0, resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.perf_counter()
        memory.set_mark()
        with spill:
            loss = F.cross_entropy(model(tokens[:, :-1])[0][0], tokens[0, 1:])
        loss.backward()
        seconds = time.perf_counter() - start
        figures = most - base[0], memory.resident("VmHWM") - memory.resident("RssFile") - base[1], seconds, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    used, resident, seconds, faults = figures
    print(f"{loss.item():.6f};{f'{used / 2**20:.0f} MiB' if used else ''};{resident / 2**20:.0f} MiB;{seconds:.1f} s;{faults / 1e3:.0f} k")


def arguments(parser):
    add_folder(parser, required=False, default=".")
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--memory", default="256MiB")
    parser.add_argument("--preload", nargs="*", default=[], metavar="LIBRARY")
    parser.add_argument("--way", choices=["", "untrimmed", "trimmed"], default="", help=argparse.SUPPRESS)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)


def main(options):
    if options.here:
        return measure(options)
    ways = {**WAYS, **{f"offload, {pathlib.Path(one).name}": (["--way=untrimmed"], {"LD_PRELOAD": one}) for one in options.preload}}
    tables.show_head("way", "loss", "in use", "resident", "a step", "page faults")
    same = [f"--{name}={getattr(options, name)}" for name in ("folder", "tokens", "width", "layers", "memory")]
    for way, (more, environment) in ways.items():
        tables.show([way, *processes.run_again("offload-memory", *same, "--here", *more, **environment).strip().split(";")])
