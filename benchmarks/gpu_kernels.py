# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the machine code of every GPU kernel is made of, as a table that may only get better.

    python benchmarks/gpu_kernels.py --write [--only WORDS]    compiles, counts, renews the table
    python benchmarks/gpu_kernels.py --check [--quick]         fails on a cell that got worse

Needs a build, ptxas and nvdisasm; no GPU. Registers, spills and instructions are read from cubins, bank conflicts and
sectors are counted by the emulator at a small size, times are arithmetic: docs/gpu-kernels.md says which.
"""

import argparse
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import gpu_programs  # noqa: E402
import sass  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("DRAWLOOM_BUILD_DIR", ROOT / "build"))
RESULTS = ROOT / "benchmarks" / "results" / "gpu-kernels.json"
PAGE = ROOT / "docs" / "gpu-kernels.md"
BEGIN, END = "<!-- table: written by benchmarks/gpu_kernels.py -->\n", "<!-- end of the table -->\n"
ARCHITECTURES = ["sm_80", "sm_90a", "sm_100a"]
COMPILE_SECONDS = 300

# The device that times are estimated for, of each architecture.
DEVICES = {"sm_80": "A100", "sm_90a": "H200"}
WIDTHS = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16, "256": 32}


def tool(name, *arguments, **environment):
    """A tool's standard output; RuntimeError with the first line of what it said where it fails."""
    try:
        done = subprocess.run([BUILD / "bin" / name, *map(str, arguments)], capture_output=True, text=True,
                              timeout=COMPILE_SECONDS, env={**os.environ, **environment})
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{name} did not end in {COMPILE_SECONDS} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["no message"]
        raise RuntimeError(re.sub(r"^\S*?: ", "", lines[0]).replace("\0", "?")[:200])
    return done.stdout


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


def emulate(case, folder):
    """By kernel: launches, blocks, and per warp instruction of memory what the emulator counted at the small size."""
    program, counts = folder / "small.mlir", folder / "counts"
    program.write_text(case.text(case.small))
    tool("drawloom-run", program, f"--entry={case.entry}", "--target=emulator", "--threads=1", "--cache=",
         *save_arguments(case, case.small, folder), DRAWLOOM_EMULATOR_COUNTS=str(counts))
    out = {}
    for line in counts.read_text().splitlines():
        launch = json.loads(line)
        kernel = out.setdefault(launch["kernel"], {"launches": 0, "blocks": 0, "accesses": 0, "shared": [0, 0], "sectors": [0, 0],
                                                   "worst": []})
        kernel["launches"] += 1
        kernel["blocks"] += launch["blocks"]
        for site in launch["sites"]:
            kernel["accesses"] += site["accesses"]
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
    kernel, = sass.disassemble(folder / "bundle" / info["cubin"])
    loop = kernel.loops[0].counts if kernel.loops else {}
    return {"threads": info["threads"], "shared": info["shared_bytes"] + info["static_shared_bytes"],
            "registers": info["registers"], "spills": info["spill_store_bytes"] + info["spill_load_bytes"],
            "stack": info["stack_bytes"], "cubin": (folder / "bundle" / info["cubin"]).stat().st_size,
            "milliseconds": [round(t) for t in times.get(info["name"], (0, 0))],
            "instructions": kernel.length, "loop": sum(loop.values()), "tensor": amount(kernel.counts, "tensor"),
            "local": amount(kernel.counts, "local"), "loads": widths(kernel.counts, "LDG"),
            "copies": widths(kernel.counts, "LDGSTS"), "stores": widths(kernel.counts, "STG"),
            "all": kernel.counts, "in_loop": loop}


def memory_instructions(counts):
    return amount(counts, "LDG", "STG", "LDS", "STS", "LDGSTS", "LDSM", "STSM")


def rounds(kernel, counted, threads):
    """How often a warp runs the largest loop: as often as makes its accesses those that the emulator counted."""
    inside, everything = memory_instructions(kernel["in_loop"]), memory_instructions(kernel["all"])
    if not inside or not counted:
        return 1.0 if kernel["loop"] else 0.0
    a_warp = counted["accesses"] / (counted["blocks"] * threads / 32)
    return max((a_warp - (everything - inside)) / inside, 1.0)


def estimate(case, arch, row, counted):
    """Microseconds of an entry on a device, by what would bind it, kernel after kernel; the bounds are added."""
    if arch not in DEVICES or not counted:
        return None
    device = DEVICES[arch]
    it = machine(device)
    processors, clock, bandwidth = it["multiprocessors"], it["clock_hz"], it["memory_bytes_per_second"]
    total = {"issue": 0.0, "tensor": 0.0, "shared": 0.0, "bytes": 0.0, "sum": 0.0}
    executed = 0.0
    for name, kernel in row["kernels"].items():
        if name not in counted:
            continue
        there, warps = counted[name], kernel["threads"] / 32
        grid = row["grids"][name]
        # The small program may cut its rows into other blocks. What has no more blocks works on parameters.
        blocks = there["blocks"] / there["launches"]
        scale = case.rows / case.small if grid > blocks else 1.0
        turns = rounds(kernel, there, kernel["threads"]) * scale * blocks / grid
        turns = max(turns, 1.0) if kernel["loop"] else 0.0
        outside = {key: n - kernel["in_loop"].get(key, 0) for key, n in kernel["all"].items()}
        run = {key: outside[key] + turns * kernel["in_loop"].get(key, 0) for key in outside}
        used = min(processors, grid)
        launches = there["launches"]
        per_clock = launches * grid * warps / used / clock * 1e6
        issue = sum(run.values()) * per_clock / it["issue_slots"]
        tensor = run.get("tensor", 0) * per_clock * it["tensor_clocks"]
        shared = there["shared"][0] * scale / used / clock * 1e6
        moved = there["sectors"][1] * 32 * scale / bandwidth * 1e6
        bound = max(issue, tensor, shared, min(moved, row["bytes"] / bandwidth * 1e6))
        for key, value in (("issue", issue), ("tensor", tensor), ("shared", shared), ("sum", bound)):
            total[key] += value
        executed += run.get("tensor", 0) * launches * grid * warps
    total["bytes"] = row["bytes"] / bandwidth * 1e6
    total["sum"] = max(total["sum"], total["bytes"])
    return {"device": device, "us": {key: round(value, 1) for key, value in total.items()},
            "binds": max(("issue", "tensor", "shared", "bytes"), key=lambda key: total[key]), "tensor_executed": round(executed)}


def entry_bytes(plan, entry):
    """What the entry's arguments and results take: moved once at least."""
    found = next(one for one in plan["entries"] if one["name"] == entry)
    return sum(gpu_programs.BYTES.get(t["element"], 8) * int(np.prod(t["shape"], dtype=np.int64))
               for t in found["arguments"] + found["results"])


def measure(case, architectures, with_emulator=True):
    """The rows of a case by architecture. A row that has an `error` has nothing else."""
    with tempfile.TemporaryDirectory(prefix="drawloom-kernels-") as name:
        folder = pathlib.Path(name)
        counted, failed = {}, None
        if with_emulator:
            try:
                counted = emulate(case, folder)
            except RuntimeError as error:
                failed = str(error)
        out = {}
        for arch in architectures:
            place = folder / arch
            place.mkdir()
            try:
                manifest, times = compile_bundle(case, case.rows, arch, place)
            except RuntimeError as error:
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
                row["estimate"] = estimate(case, arch, row, counted)
            main_kernel = row["kernels"][row["main"]]
            row["mix"] = main_kernel["in_loop"] or main_kernel["all"]
            for kernel in row["kernels"].values():
                del kernel["all"], kernel["in_loop"]
            out[arch] = row
        return out


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

    def over(row, cell, combine=sum):
        return combine(kernel[cell] for kernel in row["kernels"].values())

    for cell in ("spills", "local", "tensor"):
        if over(new, cell) > over(old, cell):
            worse({"spills": "bytes of spills", "local": "accesses of local memory", "tensor": "tensor instructions"}[cell],
                  over(old, cell), over(new, cell))
    if new["tensor_ideal"] and not over(new, "tensor"):
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


def mean_width(row, cell):
    found = [(int(width), n) for kernel in row["kernels"].values() for width, n in kernel[cell].items()]
    return round(sum(w * n for w, n in found) / sum(n for _, n in found), 2) if found else 0


def ratio(row, space):
    """Actual over ideal, 0 where nothing was counted."""
    actual, ideal = row.get(space, (0, 0))
    return round(actual / ideal, 3) if ideal else 0


def counts_text(found):
    return " ".join(f"{n}x{width}" for width, n in found.items()) or "-"


def table(results):
    """One row a case and architecture; the columns of machine code are those of its longest kernel."""
    lines = ["| program | arch | kernels | regs | spill B | local | shared B | instr all / loop | tensor in code; run / ideal | loads | copies | "
             "stores | bank cycles / ideal | sectors / ideal | compile ms | estimate us: issue, tensor, shared, bytes -> sum |",
             "|" + " --- |" * 16]
    for key, rows in results["cases"].items():
        for arch, row in rows.items():
            if "error" in row:
                lines.append(f"| {key} | {arch} | fails: {row['error'].replace('|', '/')} |" + " |" * 13)
                continue
            main, all_kernels = row["kernels"][row["main"]], row["kernels"].values()
            given = row.get("estimate")
            run = f"{given['tensor_executed'] / row['tensor_ideal']:.2f}" if given and row["tensor_ideal"] else "-"
            times = "-"
            if given:
                us = given["us"]
                times = (f"{given['device']}: {us['issue']}, {us['tensor']}, {us['shared']}, {us['bytes']} -> {us['sum']} "
                         f"({given['binds']})")
            lines.append("| " + " | ".join(map(str, [
                key, arch, len(row["kernels"]), max(k["registers"] for k in all_kernels), sum(k["spills"] for k in all_kernels),
                sum(k["local"] for k in all_kernels), main["shared"], f"{main['instructions']} / {main['loop'] or '-'}",
                f"{main['tensor']}; {run}", counts_text(main["loads"]), counts_text(main["copies"]), counts_text(main["stores"]),
                ratio(row, "shared") or "-", ratio(row, "sectors") or "-",
                sum(sum(k["milliseconds"]) for k in all_kernels), times])) + " |")
    return "\n".join(lines) + "\n"


def write_results(results):
    """One line a case and architecture, so that a change of one shows as one."""
    lines = []
    for key, rows in results["cases"].items():
        inside = ",\n".join(f"  {json.dumps(arch)}: {json.dumps(row, separators=(',', ':'))}" for arch, row in rows.items())
        lines.append(f" {json.dumps(key)}: {{\n{inside}\n }}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text('{"cases": {\n' + ",\n".join(lines) + "\n}}\n")


def write_page(results):
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    PAGE.write_text(head + BEGIN + "\n" + table(results) + "\n" + END + rest.split(END)[1])


def selected(options):
    chosen = [case for case in gpu_programs.cases() if (not options.quick or case.quick)
              and (not options.only or any(word in case.key for word in options.only.split(",")))]
    if not chosen:
        sys.exit(f"gpu_kernels.py: no case has '{options.only}' in its name")
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    what.add_argument("--page", action="store_true", help="only write the table into the page again")
    parser.add_argument("--quick", action="store_true", help="some cases, one architecture each")
    parser.add_argument("--only", help="cases with one of these words in their names, with commas between them")
    parser.add_argument("--against", type=pathlib.Path, default=RESULTS, help="the results to compare with")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=COMPILE_SECONDS, help="the longest that a program may take to compile")
    options = parser.parse_args()
    globals()["COMPILE_SECONDS"] = options.seconds
    stored = json.loads(options.against.read_text()) if options.against.exists() else {"cases": {}}
    if options.page:
        write_results(stored)
        return write_page(stored)
    if options.check and not stored["cases"]:
        sys.exit(f"gpu_kernels.py: '{options.against}' has no results to compare with; write them with --write")
    chosen = selected(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        architectures = ["sm_90a"] if options.quick else ARCHITECTURES
        futures = {case.key: pool.submit(measure, case, architectures, not options.quick) for case in chosen}
        problems = []
        for key, future in futures.items():
            rows = future.result()
            if options.write:
                stored["cases"].setdefault(key, {}).update(rows)
                order = [case.key for case in gpu_programs.cases()]
                stored["cases"] = {k: stored["cases"][k] for k in order if k in stored["cases"]}
                write_results(stored)
                print(f"{key}: " + ", ".join(f"{arch} {row.get('error', 'done')}" for arch, row in rows.items()), flush=True)
                continue
            for arch, row in rows.items():
                old = stored["cases"].get(key, {}).get(arch)
                if old is None:
                    problems.append(f"{key}, {arch}: not in the results; add it with --write")
                else:
                    compare(key, arch, old, row, problems.append)
    if options.write:
        write_page(stored)
    for problem in problems:
        print(f"worse: {problem}")
    if options.check:
        print(f"{len(chosen)} programs, {len(problems)} cells got worse")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, sass.SassError, OSError) as error:
        sys.exit(f"gpu_kernels.py: {error}")
