# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear recurrences as GPU kernels, beside those of flash-linear-attention for the same target: machine code, counted.

    drawloom-bench gpu-recurrences --write [--only WORDS] [--keep-fla]    compiles, counts, renews the table; minutes
    drawloom-bench gpu-recurrences --check [--quick]                      fails on a cell that got worse

Needs ptxas and nvdisasm; no GPU. Our side is counted as gpu-kernels counts, theirs as gpu-triton does
(gpu-fla); docs/gpu-recurrences.md says what each figure is. Their kernels are compiled again only where their code, Triton or
the way of counting changed.
"""

import functools
import json
import pathlib
import tempfile
import time

import numpy as np

from drawloom_bench import RESULTS as FOLDER
from drawloom_bench import BenchError, processes
from drawloom_bench import options as common
from drawloom_bench.counts import fla as fla_kernels
from drawloom_bench.counts import kernels as gpu_kernels
from drawloom_bench.counts import sass
from drawloom_bench.counts import triton as gpu_triton
from drawloom_bench.programs import gpu as gpu_programs
from drawloom_bench.programs.gpu_recurrences import KINDS, Cell
from drawloom_bench.report import recurrences as page
from drawloom_bench.report import tables

RESULTS = FOLDER / "gpu-recurrences.json"
ARCHITECTURES = list(fla_kernels.DEVICES)
EXTENTS = [(64, 64), (64, 128), (128, 128)]
ELEMENTS = ["bf16", "tf32", "f32"]


@functools.lru_cache(maxsize=None)
def decomposed(cell, rows):
    """The program after its ops are decomposed, which is the first thing the compiler does: places of accesses are lines of it."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(cell.said(rows))
        file.flush()
        memory = gpu_kernels.machine(gpu_kernels.DEVICES["sm_90a"])["block_shared_bytes"]
        return processes.tool("drawloom-opt", "--differentiate", f"--decompose-graph=block-bytes={memory}", file.name)


def cells():
    return [Cell(kind, keys, values, element, entry, decomposed) for kind in KINDS for element in ELEMENTS for keys, values in EXTENTS
            for entry in ("forward", "train")]


def check_decomposed(cell):
    """What is counted is of the decomposed text; it has to be what the program itself becomes. (Not so on sm_80 where K = V = 128: the
    compiler cuts the values of those gradients.)"""
    with tempfile.TemporaryDirectory(prefix="drawloom-recurrences-") as name:
        made = []
        for number, text in enumerate((cell.said, cell.case.text)):
            folder = pathlib.Path(name) / str(number)
            folder.mkdir()
            plain = gpu_programs.Case(cell.case.name, cell.numbers, cell.entry, text, cell.arguments, cell.rows, 64, middle=cell.middle)
            manifest, _ = gpu_kernels.compile_bundle(plain, cell.rows, "sm_90a", folder)
            made.append([sass.disassemble(folder / "bundle" / kernel["cubin"])[0].counts for kernel in manifest["kernels"]])
    if made[0] != made[1]:
        raise BenchError(f"{cell.case.key}: the decomposed program becomes other code than the program")


def estimate_fla(kernels, arch):
    """Microseconds of launches one after another: what the instructions take to be issued, or the bytes of their tensors to be moved
    once, as if no cache kept any of them between kernels."""
    it = gpu_kernels.machine(gpu_kernels.DEVICES[arch])
    total = {"issue": 0.0, "bytes": 0.0, "sum": 0.0}
    for kernel in kernels:
        programs = int(np.prod(kernel["grid"], dtype=np.int64))
        issue = kernel["run"]["all"] / it["issue_slots"] / min(it["multiprocessors"], programs) / it["clock_hz"] * 1e6
        moved = kernel["bytes"] / it["memory_bytes_per_second"] * 1e6
        for key, value in (("issue", issue), ("bytes", moved), ("sum", max(issue, moved))):
            total[key] += value
    return {key: round(value, 1) for key, value in total.items()}


def rival(cell, stored, recorders, compiler, best):
    """Their rows of a cell by architecture, with estimates. Numbers of warps that were best for the first are tried first for others."""
    shape = [cell.batch, cell.tokens, cell.heads, cell.keys, cell.values]
    rows = fla_kernels.measure(cell.kind, cell.numbers, shape, recorders, compiler, stored, best.setdefault(cell.kind, {}))
    for arch, row in rows.items():
        if "error" not in row:
            row["estimate"] = {"forward": estimate_fla(row["forward"], arch),
                               "train": estimate_fla(row["forward"] + row["backward"], arch)}
    return rows


def read_results(path):
    stored = json.loads(path.read_text()) if path.exists() else {}
    return {"cases": {}, "fla": {}, **stored, "shape": {name: getattr(cells()[0], name) for name in ("batch", "tokens", "heads")}}


def write_results(results):
    order, parts = cells(), {"shape": results["shape"]}
    keys = {"cases": [cell.case.key for cell in order], "fla": list(dict.fromkeys(cell.rival_key for cell in order))}
    for part, wanted in keys.items():
        rows = {key: {arch: results[part][key][arch] for arch in ARCHITECTURES if arch in results[part][key]} for key in wanted if key in results[part]}
        parts[part] = {key: row for key, row in rows.items() if row}
    RESULTS.write_text(tables.compact(parts))


def write(chosen, stored, keep_fla):
    began, rivals, best = time.monotonic(), set(), {}
    if not keep_fla:
        fla_kernels.check_installed()
        with tempfile.TemporaryDirectory(prefix="drawloom-fla-") as name, gpu_triton.Compiler(pathlib.Path(name)) as compiler, \
                fla_kernels.Recorders(ARCHITECTURES) as recorders:
            for cell in chosen:
                if cell.rival_key in rivals:
                    continue
                rivals.add(cell.rival_key)
                rows = rival(cell, stored["fla"].get(cell.rival_key), recorders, compiler, best)
                stored["fla"][cell.rival_key] = rows
                write_results(stored)
                words = [f"{arch} {row.get('error', 'done')}" for arch, row in rows.items()]
                print(f"{time.monotonic() - began:.0f} s  flash-linear-attention, {cell.rival_key}: " + ", ".join(words), flush=True)
    check_decomposed(chosen[0])
    for number, cell in enumerate(chosen, 1):
        rows = gpu_kernels.measure(cell.case, ARCHITECTURES)
        stored["cases"].setdefault(cell.case.key, {}).update(rows)
        write_results(stored)
        words = [f"{arch} {row.get('error') or row.get('emulator_error') or 'done'}" for arch, row in rows.items()]
        print(f"{number} of {len(chosen)}, {time.monotonic() - began:.0f} s  {cell.case.key}: " + ", ".join(words), flush=True)
    page.write(stored, cells(), ARCHITECTURES)


def check(options, chosen, stored):
    problems = []
    for cell in chosen:
        key = cell.case.key
        for arch, row in gpu_kernels.measure(cell.case, ["sm_90a"] if options.quick else ARCHITECTURES).items():
            before = stored["cases"].get(key, {}).get(arch)
            if before is None:
                problems.append(f"{key}, {arch}: not in the results; add it with --write")
            else:
                gpu_kernels.compare(key, arch, before, row, problems.append)
                if before.get("run") and "error" not in row and not row["run"]:
                    problems.append(f"{key}, {arch}: executed instructions are not counted now: "
                                    f"{row['emulator_error'] or 'turns of loops not found'}")
    problems += gpu_kernels.stale(page.pages(stored, cells(), ARCHITECTURES))
    return gpu_kernels.judge(options, chosen, problems)


def arguments(parser):
    gpu_kernels.add_arguments(parser, RESULTS)
    parser.add_argument("--keep-fla", action="store_true", help="leave flash-linear-attention's side as it is stored, current or not")


def main(options):
    stored = read_results(options.against)
    if options.page:
        write_results(stored)
        return page.write(stored, cells(), ARCHITECTURES)
    chosen = common.chosen(options, [cell for cell in cells() if cell.case.quick or not options.quick], lambda cell: cell.case.key)
    if options.write:
        return write(chosen, stored, options.keep_fla)
    if not stored["cases"]:
        raise BenchError(f"'{options.against}' has no results to compare with; write them with --write")
    return check(options, chosen, stored)
