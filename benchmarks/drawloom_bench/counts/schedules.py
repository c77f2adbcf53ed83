# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the cost model of schedules predicts beside what ptxas makes of it, and how long compiling takes.

A line for each kernel and each schedule; a star marks the one that is chosen. Rows of 0 are those that are chosen. Needs
ptxas; no GPU. Kernels below 100 instructions of PTX are left out.
"""

import itertools
import json
import pathlib
import tempfile

from drawloom_bench import BenchError
from drawloom_bench import options as common
from drawloom_bench.counts import kernels as gpu_kernels
from drawloom_bench.programs import gpu as gpu_programs
from drawloom_bench.report import tables


def measure(case, arch, rows, warps):
    """By kernel: what was predicted, and registers, bytes of spills, milliseconds of LLVM and of ptxas."""
    with tempfile.TemporaryDirectory(prefix="drawloom-schedules-") as name:
        folder = pathlib.Path(name)
        program = folder / "program.mlir"
        program.write_text(case.text(case.rows))
        said = {key: value for key, value in (("rows", rows), ("warps", warps)) if value}
        (folder / "schedule.json").write_text(json.dumps({case.entry: said}))
        options = [f"--arch={arch}", f"--schedule={folder / 'schedule.json'}", program]
        predicted = json.loads(gpu_kernels.tool("drawloom-translate", "--mlir-to-schedules", *options))
        printed = gpu_kernels.tool("drawloom-translate", "--mlir-to-bundle", f"--bundle-dir={folder / 'bundle'}", *options)
        out = {}
        for line in printed.splitlines()[1:]:
            words = line.split()
            out[words[0]] = (predicted.get(words[0], {}), *(float(word) for word in words[4:6]), float(words[7]), float(words[8]))
        return out


def arguments(parser):
    common.add_only(parser, "cases")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--rows", type=common.numbers, default=[0], metavar="N,N", help="rows of tiles to try; 0: what is chosen")
    parser.add_argument("--warps", type=common.numbers, default=[0, 4, 8], metavar="N,N", help="warps of blocks to try (default: 0,4,8)")
    parser.add_argument("--least", type=float, default=20, help="leave out kernels that LLVM compiles in fewer milliseconds")


def main(options):
    tables.show_head("program", "kernel", "rows", "warps", "registers: predicted", "ptxas", "spilled: predicted B", "ptxas B", "shared B",
                     "blocks at once", "clocks", "bound", "LLVM ms", "ptxas ms")
    for case, rows, warps in itertools.product(common.chosen(options, gpu_programs.cases()), options.rows, options.warps):
        try:
            kernels = measure(case, options.arch, rows, warps)
        except BenchError as error:
            tables.show([case.key, "-", rows, warps, f"fails: {error}"])
            continue
        for name, (said, registers, spills, llvm, ptxas) in kernels.items():
            it = said.get("predicted", {})
            if llvm >= options.least and it:
                tables.show([case.key, name, it.get("rows", "-"), f"{it['warps']}{'' if warps else '*'}", it["registers"], f"{registers:.0f}",
                             4 * it["spilled"], f"{spills:.0f}", it["shared_bytes"], it["blocks_at_once"], it["clocks"], it["bound"],
                             f"{llvm:.0f}", f"{ptxas:.0f}"])
