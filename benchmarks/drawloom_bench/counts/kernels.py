# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the machine code of every GPU kernel is made of, as a table that may only get better.

    drawloom-bench gpu-kernels --write [--only WORDS]    compiles, counts, renews the table
    drawloom-bench gpu-kernels --check [--quick]         fails on a cell that got worse

Needs ptxas and nvdisasm; no GPU. Registers, spills and instructions are read from cubins, bank conflicts and
sectors are counted by the emulator at a small size, times are arithmetic: docs/gpu-kernels.md says which. What Triton makes of
the same programs is compiled again only where their TTIR or Triton changed.
"""

import concurrent.futures
import functools
import json
import pathlib
import re
import tempfile
import time

import numpy as np

from drawloom_bench import RESULTS as FOLDER
from drawloom_bench import ROOT, BenchError, processes
from drawloom_bench import options as common
from drawloom_bench.counts import sass, trip_counts
from drawloom_bench.counts import triton as gpu_triton
from drawloom_bench.programs import gpu as gpu_programs
from drawloom_bench.report import kernels as gpu_page
from drawloom_bench.report import tables
from drawloom_bench.report.kernels import mean_width, over, ratio

RESULTS = FOLDER / "gpu-kernels.json"
ARCHITECTURES = ["sm_80", "sm_90a", "sm_100a"]
COMPILE_SECONDS = 300

# The device that times are estimated for, of each architecture.
DEVICES = {"sm_80": "A100", "sm_90a": "H200"}
WIDTHS = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16, "256": 32}


def tool(name, *arguments, **environment):
    return processes.tool(name, *arguments, seconds=COMPILE_SECONDS, **environment)


@functools.lru_cache(maxsize=None)
def machine(product):
    """What the compiler knows of a device: multiprocessors, clocks, bandwidths."""
    return next(one for one in json.loads(tool("drawloom-translate", "--print-machine")) if one["product"] == product)


def compile_bundle(case, rows, arch, folder):
    """Writes a bundle; the manifest of its one architecture, and the milliseconds of LLVM and ptxas by kernel."""
    program = folder / "program.mlir"
    program.write_text(case.text(rows))
    printed = tool("drawloom-translate", "--mlir-to-bundle", f"--arch={arch}", f"--bundle-dir={folder / 'bundle'}", program)
    times = {}
    for line in printed.splitlines()[1:]:
        words = line.split()
        if len(words) == 9:
            times[words[0]] = (float(words[7]), float(words[8]))
    return json.loads((folder / "bundle" / "bundle.json").read_text())["architectures"][0], times


def save_arguments(case, rows, folder):
    """The arguments as files, for --input."""
    options = []
    for i, array in enumerate(case.arguments(np.random.default_rng(7), rows)):
        np.save(folder / f"{i}.npy", array)
        options.append(f"--input={folder / f'{i}.npy'}")
    return options


def emulate(case, rows, folder, **environment):
    """By kernel: launches, blocks, and of its accesses of memory what the emulator counted with so many rows."""
    program, counts = folder / "small.mlir", folder / f"counts-{rows}"
    program.write_text(case.text(rows))
    tool("drawloom-run", program, f"--entry={case.entry}", "--target=emulator", "--threads=1",
         *save_arguments(case, rows, folder), DRAWLOOM_EMULATOR_COUNTS=str(counts), **environment)
    out = {}
    for line in counts.read_text().splitlines():
        launch = json.loads(line)
        kernel = out.setdefault(launch["kernel"], {"launches": 0, "blocks": 0, "moved": {}, "shared": [0, 0], "sectors": [0, 0],
                                                   "worst": []})
        kernel["launches"] += 1
        kernel["blocks"] += launch["blocks"]
        for site in launch["sites"]:
            key = trip_counts.site(site["where"], site["shared"])
            amount = site["accesses"] * (1 if key[0] == "matrix load" else site["bytes"])
            if site["where"].startswith("nvvm.stmatrix"):
                # A clock of the banks is a matrix, and that a word a lane.
                amount = 4 * site["ideal"]
            # A copy is in the counts with both of its sides.
            if key[0] != "copy" or site["shared"]:
                kernel["moved"][key] = kernel["moved"].get(key, 0) + amount
            total = kernel["shared" if site["shared"] else "sectors"]
            total[0] += site["actual"]
            total[1] += site["ideal"]
            if site["actual"] > site["ideal"]:
                kernel["worst"].append([site["actual"] - site["ideal"], round(site["actual"] / max(site["ideal"], 1), 2),
                                        "shared" if site["shared"] else "global", site["bytes"],
                                        re.sub(r"\S*/", "", site["where"])])
    for kernel in out.values():
        kernel["worst"] = sorted(kernel["worst"], reverse=True)[:1]
    return out


def summary(counted):
    """Bank cycles and sectors over all launches, actual and ideal, and the places that lose most."""
    out = {space: [sum(kernel[space][i] for kernel in counted.values()) for i in (0, 1)] for space in ("shared", "sectors")}
    worst = {(name, *place) for name, kernel in counted.items() for place in kernel["worst"]}
    out["worst"] = sorted(worst, key=lambda place: -place[1])[:3]
    return out


def amount(counts, *names):
    return sum(n for name, n in counts.items() if name.split(".")[0] in names)


def widths(counts, name):
    """How many accesses there are of each width in bytes, the widest first."""
    found = {WIDTHS[key.split(".")[1]]: n for key, n in counts.items() if key.split(".")[0] == name}
    return {str(width): found[width] for width in sorted(found, reverse=True)}


def count_kernel(info, folder, times):
    """What the machine code of one kernel is made of."""
    kernel, = sass.disassemble(folder / "bundle" / info["cubin"], lines=True)
    loop = kernel.loops[0].counts if kernel.loops else {}
    return {"threads": info["threads"], "shared": info["shared_bytes"] + info["static_shared_bytes"],
            "registers": info["registers"], "spills": info["spill_store_bytes"] + info["spill_load_bytes"],
            "stack": info["stack_bytes"], "cubin": (folder / "bundle" / info["cubin"]).stat().st_size,
            "milliseconds": [round(t) for t in times.get(info["name"], (0, 0))],
            "instructions": kernel.length, "loop": sum(loop.values()), "tensor": amount(kernel.counts, "tensor"),
            "local": amount(kernel.counts, "local"), "loads": widths(kernel.counts, "LDG"),
            "copies": widths(kernel.counts, "LDGSTS"), "stores": widths(kernel.counts, "STG"),
            "in_loop": loop, "code": kernel}


def sampled(case, folder, row):
    """By kernel what the emulator counts for all blocks of the program at full size, from some of them, or from one with fewer
    blocks of the same kind."""
    counted = emulate(case, case.counted, folder, DRAWLOOM_EMULATOR_BLOCKS=str(case.blocks))
    for name, kernel in counted.items():
        share = kernel["launches"] * row["grids"].get(name, 0) / kernel["blocks"]
        kernel["moved"] = {key: n * share for key, n in kernel["moved"].items()}
        for space in ("shared", "sectors"):
            kernel[space] = [n * share for n in kernel[space]]
    return {name: kernel for name, kernel in counted.items() if name in row["kernels"]}


def launched(row, counted):
    """Of each kernel that runs: name, launches, instructions by class that a warp executes on average."""
    for name, there in counted.items():
        kernel = row["kernels"][name]
        code, warps = kernel["code"], there["launches"] * row["grids"][name] * kernel["threads"] / 32
        turns = trip_counts.turns(code, WIDTHS, there["moved"], warps)
        run = {}
        for one, loop in zip(code.classes, code.innermost()):
            if one:
                run[one] = run.get(one, 0) + (1.0 if loop is None else turns[loop])
        yield name, there["launches"], run


def executed(row, counted):
    """Warp instructions of an entry, all and by the groups of gpu_triton."""
    total = dict.fromkeys(["all", *gpu_triton.GROUPS], 0.0)
    for name, launches, run in launched(row, counted):
        by_group = {}
        for key, n in run.items():
            by_group[key.split(".")[0]] = by_group.get(key.split(".")[0], 0) + n
        warps = launches * row["grids"][name] * row["kernels"][name]["threads"] / 32
        for key, n in gpu_triton.grouped(by_group).items():
            total[key] += n * warps
    return {key: round(n) for key, n in total.items()}


def estimate(case, arch, row, counted):
    """Microseconds of an entry on a device, by what would bind it, kernel after kernel; the bounds are added. The roof is
    what bytes, tensor cores or fused multiply-adds take at least."""
    if arch not in DEVICES or not counted:
        return None
    device = DEVICES[arch]
    it = machine(device)
    processors, clock, bandwidth = it["multiprocessors"], it["clock_hz"], it["memory_bytes_per_second"]
    total = {"issue": 0.0, "tensor": 0.0, "shared": 0.0, "bytes": 0.0, "sum": 0.0}
    for name, launches, run in launched(row, counted):
        there, grid = counted[name], row["grids"][name]
        used = min(processors, grid)
        per_clock = launches * grid * row["kernels"][name]["threads"] / 32 / used / clock * 1e6
        issue = sum(run.values()) * per_clock / it["issue_slots"]
        tensor = run.get("tensor", 0) * per_clock * it["tensor_clocks"]
        shared = there["shared"][0] / used / clock * 1e6
        moved = there["sectors"][1] * 32 / bandwidth * 1e6
        bound = max(issue, tensor, shared, min(moved, row["bytes"] / bandwidth * 1e6))
        for key, value in (("issue", issue), ("tensor", tensor), ("shared", shared), ("sum", bound)):
            total[key] += value
    total["bytes"] = row["bytes"] / bandwidth * 1e6
    total["sum"] = max(total["sum"], total["bytes"])
    products = row["tensor_ideal"] * it["tensor_clocks"] / processors / clock * 1e6
    fused = case.fused(case.rows) / (32 * it["issue_slots"]) / processors / clock * 1e6
    return {"device": device, "us": {key: round(value, 1) for key, value in total.items()},
            "roof": round(max(total["bytes"], products, fused), 1),
            "binds": max(("issue", "tensor", "shared", "bytes"), key=lambda key: total[key])}


def entry_bytes(plan, entry):
    """What the entry's arguments and results take: moved once at least."""
    found = next(one for one in plan["entries"] if one["name"] == entry)
    return sum(map(gpu_programs.plan_bytes, found["arguments"] + found["results"]))


def measure(case, architectures, with_emulator=True):
    """The rows of a case by architecture. A row that has an `error` has nothing else."""
    with tempfile.TemporaryDirectory(prefix="drawloom-kernels-") as name:
        folder = pathlib.Path(name)
        counted, failed = {}, None
        if with_emulator:
            try:
                counted = emulate(case, case.small, folder)
            except BenchError as error:
                failed = str(error)
        out, full = {}, None
        for arch in architectures:
            place = folder / arch
            place.mkdir()
            try:
                manifest, times = compile_bundle(case, case.rows, arch, place)
            except BenchError as error:
                out[arch] = {"error": str(error)}
                continue
            plan = manifest["plan"]
            row = {"kernels": {info["name"]: count_kernel(info, place, times) for info in manifest["kernels"]},
                   "grids": {kernel["name"]: kernel["grid"] for kernel in plan["kernels"]},
                   "bytes": entry_bytes(plan, case.entry), "tensor_ideal": case.products(case.rows) // (16 * 8 * 16)}
            row["main"] = max(row["kernels"], key=lambda kernel: row["kernels"][kernel]["instructions"])
            if with_emulator:
                row.update(summary(counted))
                row["emulator_error"] = failed
                # All architectures have the same blocks and accesses.
                if full is None and counted:
                    try:
                        full = sampled(case, folder, row)
                    except BenchError as error:
                        full, failed = {}, str(error)
                        row["emulator_error"] = failed
                row["run"] = executed(row, full) if full else None
                row["estimate"] = estimate(case, arch, row, full)
            main_kernel = row["kernels"][row["main"]]
            row["mix"] = main_kernel["in_loop"] or main_kernel["code"].counts
            for kernel in row["kernels"].values():
                del kernel["code"], kernel["in_loop"]
            out[arch] = row
        withdraw(out)
        return out


def withdraw(rows):
    """Takes back counts that come out below what memory or arithmetic takes at least: loops whose turns were not found. Nothing
    is said then rather than something wrong. The architectures of a program have the same loops."""
    estimates = [row["estimate"] for row in rows.values() if row.get("estimate")]
    if any(one["us"]["sum"] < 0.98 * one["roof"] for one in estimates if "roof" in one):
        for row in rows.values():
            if "error" not in row:
                row["run"] = row["estimate"] = None


def withdraw_rival(case, rows):
    """The same of Triton's counts: exact f32 products take a fused multiply-add of a warp for 32 of theirs, and on sm_100a one
    instruction for two of these."""
    known = {arch: rows[arch] for arch in ARCHITECTURES if rows.get(arch, {}).get("run")}
    if any(row["run"]["all"] < case.fused(case.rows) / (64 if arch == "sm_100a" else 32) for arch, row in known.items()):
        for row in known.values():
            row["run"] = None


def compare(key, arch, old, new, say):
    """Says which cells of a row got worse."""
    def worse(what, before, now):
        say(f"{key}, {arch}, {what}: {before} before, {now} now")

    if "error" in new:
        if "error" not in old:
            worse("compiling", "worked", new["error"])
        return
    if "error" in old:
        return

    for cell in ("spills", "local", "tensor"):
        # The first tensor instructions are no loss.
        if over(new, cell) > over(old, cell) and (cell != "tensor" or over(old, cell)):
            worse({"spills": "bytes of spills", "local": "accesses of local memory", "tensor": "tensor instructions"}[cell],
                  over(old, cell), over(new, cell))
    if new["tensor_ideal"] and over(old, "tensor") and not over(new, "tensor"):
        worse("tensor instructions", over(old, "tensor"), "none")
    # ptxas gives what it likes below half of the registers.
    before, now = over(old, "registers", max), over(new, "registers", max)
    if now > max(before + 8, 128):
        worse("registers", before, now)
    before, now = over(old, "shared", max), over(new, "shared", max)
    if now > max(before * 1.1, 49152):
        worse("bytes of shared memory", before, now)
    for cell in ("loads", "copies", "stores"):
        before, now = (mean_width(row, cell) for row in (old, new))
        if before and now and now < 0.9 * before:
            worse(f"mean bytes of global {cell}", before, now)
    before, now = over(old, "instructions"), over(new, "instructions")
    if now > 1.25 * before + 100:
        worse("instructions", before, now)
    for space in ("shared", "sectors"):
        ratios = [ratio(row, space) for row in (old, new)]
        if all(ratios) and ratios[1] > 1.05 * ratios[0]:
            worse({"shared": "bank cycles over ideal", "sectors": "sectors over ideal"}[space], *ratios)
    before, now = (row["run"]["all"] if row.get("run") else 0 for row in (old, new))
    if before and now > 1.1 * before:
        worse("executed instructions", before, now)


def compare_rival(key, old, new, say):
    """Programs that were exported and compiled by Triton have to stay so. What Triton makes of them is not ours."""
    for arch, row in new.items():
        if arch in ARCHITECTURES and "error" in row and "error" not in old.get(arch, {"error": ""}):
            say(f"{key}, {arch}, through Triton: worked before, {row['error']} now")


def write_results(results):
    RESULTS.write_text(tables.compact(results))


def read_results(path):
    stored = json.loads(path.read_text()) if path.exists() else {}
    return {"rows": {}, "cases": {}, "triton": {}, **stored}


def write_pages(results):
    for path, text in gpu_page.pages(results, ARCHITECTURES).items():
        path.write_text(text)


def rival(case, stored, quick):
    """Triton's side of a case, and whether what is stored is of other kernels, which is not compiled again for a quick
    look or where there is no Triton."""
    if quick or not gpu_triton.version():
        return None, not gpu_triton.is_current(case, stored)
    return gpu_triton.measure(case, ARCHITECTURES, stored), False


def judge(options, chosen, problems, notes=()):
    """Says what got worse; the exit status."""
    for kind, found in (("note", notes), ("worse", problems)):
        for one in found:
            print(f"{kind}: {one}")
    if options.check:
        print(f"{len(chosen)} programs, {len(problems)} cells got worse")
    return 1 if problems else 0


def stale(pages):
    """Says which pages are not what results say."""
    return [f"'{path.relative_to(ROOT)}' is not what the results say; renew it with --page"
            for path, text in pages.items() if not path.exists() or path.read_text() != text]


def add_arguments(parser, results):
    """What this table and that of recurrences have alike."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    what.add_argument("--page", action="store_true", help="only write the tables into the pages again")
    parser.add_argument("--quick", action="store_true", help="some cases, one architecture")
    parser.add_argument("--against", type=pathlib.Path, default=results, metavar="FILE", help="the results to compare with")
    common.add_only(parser, "cases")


def arguments(parser):
    add_arguments(parser, RESULTS)
    parser.add_argument("--keep-triton", action="store_true", help="leave Triton's side as it is stored, current or not")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=COMPILE_SECONDS, help="the longest that a program may take to compile")


def main(options):
    globals()["COMPILE_SECONDS"] = options.seconds
    stored = read_results(options.against)
    if options.page:
        write_results(stored)
        return write_pages(stored)
    if options.check and not stored["cases"]:
        raise BenchError(f"'{options.against}' has no results to compare with; write them with --write")
    every = gpu_programs.cases()
    chosen = common.chosen(options, [case for case in every if case.quick or not options.quick])
    began, problems, notes = time.monotonic(), [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        architectures = ["sm_90a"] if options.quick else ARCHITECTURES
        futures = [(case, pool.submit(measure, case, architectures, not options.quick),
                    pool.submit(rival, case, stored["triton"].get(case.key, {}), options.quick or options.keep_triton))
                   for case in chosen]
        for number, (case, ours, theirs) in enumerate(futures, 1):
            rows, (triton, old) = ours.result(), theirs.result()
            key = case.key
            if options.write:
                stored["cases"].setdefault(key, {}).update(rows)
                stored["rows"][key] = case.rows
                if triton:
                    stored["triton"][key] = triton
                withdraw_rival(case, stored["triton"].get(key, {}))
                order = [case.key for case in every]
                for part in stored:
                    stored[part] = {k: stored[part][k] for k in order if k in stored[part]}
                write_results(stored)
                words = [f"{arch} {row.get('error', 'done')}" for arch, row in rows.items()]
                words += [f"Triton {arch}: {triton[arch]['error']}" for arch in ARCHITECTURES if triton and "error" in triton[arch]]
                words += ["Triton's side is of before a change"] * old
                print(f"{number} of {len(chosen)}, {time.monotonic() - began:.0f} s  {key}: " + ", ".join(words), flush=True)
                continue
            for arch, row in rows.items():
                before = stored["cases"].get(key, {}).get(arch)
                if before is None:
                    problems.append(f"{key}, {arch}: not in the results; add it with --write")
                else:
                    compare(key, arch, before, row, problems.append)
            if triton:
                compare_rival(key, stored["triton"].get(key, {}), triton, problems.append)
            elif old:
                notes.append(f"{key}: what Triton compiled was exported before a change; --write compiles it again")
    if options.write:
        write_pages(stored)
    elif options.against == RESULTS:
        problems += stale(gpu_page.pages(stored, ARCHITECTURES))
    return judge(options, chosen, problems, notes)
