# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks every GPU kernel one place at a time and counts what the emulator reports.

    drawloom-bench gpu-mutations --write              all programs; renews the table of docs/gpu-emulator.md
    drawloom-bench gpu-mutations --quick --check      some changes of some programs, a few seconds
    drawloom-bench gpu-mutations --only CSR --verbose

A program is compiled and launched once, kernel after kernel. Then each change of a kernel is launched on the memory
that the good kernel found. What happens is one of:

    reported     the emulator says what is wrong
    wrong        it says nothing, but the kernel leaves other bytes than the good one
    no effect    neither, and a probe shows that no thread could have noticed: `EXPLANATIONS`
    unnoticed    neither, for a reason that nobody has shown

Kernels have many places of a kind: of each kind `--most` are drawn, the same ones each time.
"""

import collections
import concurrent.futures
import ctypes
import dataclasses
import json
import os
import pathlib
import random
import re
import tempfile

import numpy as np

from drawloom_bench import RESULTS as FOLDER
from drawloom_bench import ROOT, BenchError
from drawloom_bench import options as common
from drawloom_bench.processes import tool
from drawloom_bench.programs import gpu as gpu_programs
from drawloom_bench.report.tables import replaced
from on_gpus import mutations
from support.emulated_driver import LAUNCH_FAILED, CudaError, Driver, install

RESULTS = FOLDER / "gpu-mutations.json"
PAGE = ROOT / "docs" / "gpu-emulator.md"

# Rows that end within a block, so that masks matter, and few enough that a launch is short.
ROWS = {"rational forward": 21, "rational backward": 21, "AdamW": 2500, "GLA chunks": 90, "LoRA 768": 128}
# Of networks by entry: more than one block of them.
MLP_ROWS = {"forward": 300, "train": 160}
VERDICTS = ("reported", "wrong", "no effect", "unnoticed")
# Of the changes that have an effect, what the emulator must report.
LEAST = 0.95
QUICK = ("MLP 16 relu train bf16", "RGCN layer f32", "CSR product f32")


def rows_of(case):
    return MLP_ROWS[case.entry] if case.name.startswith("MLP") else ROWS.get(case.name, case.small)


@dataclasses.dataclass
class Kernel:
    """One launch of a kernel: its module of its own, and what memory held before."""

    name: str
    text: str
    grid: int
    threads: int
    shared: int
    # Numbers as ctypes values, memory as (buffer, first byte).
    operands: list
    before: list = None
    after: list = None


class Program:
    """A compiled case on the emulated driver: its buffers, and its kernels one after another."""

    def __init__(self, case, folder):
        self.folder = folder
        os.environ.update({"DRAWLOOM_EMULATED_MODULES": str(folder), "DRAWLOOM_EMULATOR_LOG": str(folder / "log"),
                           "DRAWLOOM_EMULATOR_MOST_ACCESSES": "200000", "DRAWLOOM_EMULATOR_THREADS": "1"})
        rows = rows_of(case)
        source = folder / "program.mlir"
        source.write_text(case.text(rows))
        text = tool("drawloom-run", source, f"--entry={case.entry}", "--random", "--target=emulator", "--compile-to=llvm")
        self.driver = Driver()
        arguments = [np.asarray(a) for a in case.arguments(np.random.default_rng(7), rows)]
        self._plan(case, text, arguments)
        for kernel in self.kernels:
            kernel.before = self._memory()
            report, kernel.after = self.run(kernel, kernel.text)
            if report is not None:
                raise BenchError(f"{case.key}: @{kernel.name} is wrong before any change: {report}")

    def _plan(self, case, text, arguments):
        head, *functions, _ = re.split(r"^(?=  llvm\.func |\}$)", text, flags=re.M)
        attributes = re.search(r'drawloom\.plan = "((?:[^"\\]|\\.)*)"', text)
        plan = json.loads(re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), attributes[1]))
        head = head.replace(attributes[0], "").replace("module attributes {}", "module")
        entry = next(one for one in plan["entries"] if one["name"] == case.entry)
        sizes = {("workspace", 0): entry["workspace_bytes"]}
        for i, array in enumerate(arguments):
            sizes["argument", i] = array.nbytes
        for i, result in enumerate(entry["results"]):
            sizes["result", i] = gpu_programs.plan_bytes(result)
        self.buffers = {key: (self.driver.alloc(max(size, 1)), max(size, 1)) for key, size in sizes.items()}
        for i, array in enumerate(arguments):
            self._upload("argument", i, array.tobytes())
        self.kernels = []
        by_name = {re.search(r"@(\w+)", function)[1]: function for function in functions}
        for step in entry["steps"]:
            if not step.get("kernel"):
                raise BenchError(f"{case.key}: its plan copies memory, which this script does not do")
            function = by_name[step["kernel"]]
            operands = []
            for kind, value in step["operands"]:
                if kind == "scalar":
                    operands.append(number(arguments[value]))
                elif kind == "workspace":
                    operands.append(("workspace", 0, value))
                else:
                    operands.append((kind, value, 0))
            shared, threads, grid = (int(re.search(pattern, function)[1]) for pattern in (
                r"drawloom\.shared_bytes = (\d+)", r"nvvm\.reqntid = array<i32: (\d+)>", r"drawloom\.grid = (\d+)"))
            if grid:
                self.kernels.append(Kernel(step["kernel"], head + function + "}\n", grid, threads, shared, operands))

    def _upload(self, kind, number, data):
        pointer, size = self.buffers[kind, number]
        self.driver.MemcpyHtoD_v2(pointer, data, len(data))

    def _memory(self):
        return {key: self.driver.download(pointer, np.empty(size, np.uint8)).tobytes()
                for key, (pointer, size) in self.buffers.items()}

    def run(self, kernel, text):
        """What the emulator reports of the text in the kernel's place, None where nothing; and all memory after it."""
        for key, data in kernel.before.items():
            self._upload(*key, data)
        log = self.folder / "log"
        log.write_text("")
        image = install(self.folder, text.encode(), text)
        try:
            module = self.driver.load(image)
            function = self.driver.function(module, kernel.name)
            if kernel.shared > 48 * 1024:
                self.driver.FuncSetAttribute(function, 8, kernel.shared)
            values = [ctypes.c_uint64(self.buffers[o[:2]][0] + o[2]) if isinstance(o, tuple) else o for o in kernel.operands]
            self.driver.launch(function, values, kernel.threads, (kernel.grid, 1, 1), kernel.shared)
            report = None
            try:
                self.driver.CtxSynchronize()
            except CudaError as error:
                if error.code != LAUNCH_FAILED:
                    raise
                report = log.read_text()
                self.driver.reset()
            after = self._memory()
            self.driver.ModuleUnload(module)
        except CudaError as error:
            raise BenchError(f"@{kernel.name}: {error}: {log.read_text()}") from None
        finally:
            for file in self.folder.glob("*.mlir"):
                if len(file.stem) == 64:
                    file.unlink()
        return report, after


def number(array):
    return {"float32": ctypes.c_float, "int64": ctypes.c_int64, "int32": ctypes.c_int32}[array.dtype.name](array.item())


def finding(report):
    """What kind of finding the first line of a report is."""
    for name, words in (("race", "race on"), ("uninitialised", "which nothing has written"), ("under way", "is under way"),
                        ("deadlock", "deadlock"), ("endless", "run for ever"), ("misaligned", "not a multiple"),
                        ("out of bounds", r"bytes of global memory at|of shared memory, which has"),
                        ("other element", r"accesses (byte|element)")):
        if re.search(words, report):
            return name
    return "divergence or misuse"


def examine(key, most, seed):
    """Of one case: a row for each change, [kernel, kind, line, what, verdict, why]."""
    case = next(one for one in gpu_programs.cases() if one.key == key)
    rows, places = [], collections.Counter()
    with tempfile.TemporaryDirectory(prefix="drawloom-mutations-") as folder:
        program = Program(case, pathlib.Path(folder))
        for kernel in program.kernels:
            by_kind = collections.defaultdict(list)
            for mutation in mutations.mutations(kernel.text):
                by_kind[mutation.kind].append(mutation)
            for kind, found in by_kind.items():
                places[kind] += len(found)
                drawn = random.Random(f"{seed} {key} {kernel.name} {kind}").sample(found, min(most, len(found)))
                for mutation in sorted(drawn, key=lambda one: one.line):
                    report, after = program.run(kernel, mutation.text)
                    if report is not None:
                        verdict, why = "reported", finding(report)
                    elif after != kernel.after:
                        verdict, why = "wrong", ""
                    else:
                        verdict, why = explain(program, kernel, mutation)
                    rows.append([kernel.name, kind, mutation.line, mutation.what, verdict, why])
    return rows, places


def explain(program, kernel, mutation):
    """Why a change has no effect, where a probe shows it."""
    if mutation.kind in mutations.REMOVED or mutation.kind == "wait for one less":
        # The report knows of every pair of accesses that nothing orders, and of every copy under way.
        return "no effect", "orders no two accesses of this launch"
    for why, text in mutations.probes(kernel.text, mutation):
        report, after = program.run(kernel, text)
        if report is None and after == kernel.after:
            return "no effect", why
    return "unnoticed", ""


def arguments(parser):
    parser.add_argument("--write", action="store_true", help="renew the results and the table")
    parser.add_argument("--check", action="store_true", help="fail on a change that nobody noticed")
    parser.add_argument("--quick", action="store_true", help="some programs, few changes of each kind")
    common.add_only(parser, "programs")
    parser.add_argument("--most", type=int, help="changes of a kind in a kernel (default: 5; 1 with --quick)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="print each change that is not reported")


def main(options):
    keys = [case.key for case in common.chosen(options, [one for one in gpu_programs.cases() if not options.quick or one.key in QUICK])]
    most = options.most or (1 if options.quick else 5)
    stored = {} if options.quick else load()
    done = {}
    with concurrent.futures.ProcessPoolExecutor(options.jobs, max_tasks_per_child=1) as pool:
        futures = {pool.submit(examine, key, most, options.seed): key for key in keys}
        for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
            key = futures[future]
            rows, places = future.result()
            done[key] = summary(rows, places)
            verdicts = collections.Counter(row[4] for row in rows)
            print(f"[{number}/{len(keys)}] {key}: {len(rows)} changes, "
                  + ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common()), flush=True)
            for row in rows:
                if row[4] == "unnoticed" or (options.verbose and row[4] != "reported"):
                    print(f"    {row[4]}: @{row[0]}, line {row[2]}, {row[1]}: {row[3]}" + (f" ({row[5]})" if row[5] else ""), flush=True)
            if options.write:
                stored[key] = done[key]
                write({one.key: stored[one.key] for one in gpu_programs.cases() if one.key in stored})
    print(table(done))
    if options.check:
        return 1 if check(done) else 0


def summary(rows, places):
    """What is kept of a program: by kind the places, the verdicts and who reported; and what was not reported."""
    out = {"kinds": {}, "survivors": [{"kernel": row[0], "line": row[2], "kind": row[1], "change": row[3], "verdict": row[4],
                                       "why": row[5]} for row in rows if row[4] != "reported"]}
    for kind in sorted({row[1] for row in rows}, key=mutations.ORDER.index):
        mine = [row for row in rows if row[1] == kind]
        out["kinds"][kind] = {"places": places[kind], "tried": len(mine),
                              **{verdict: sum(row[4] == verdict for row in mine) for verdict in VERDICTS},
                              "by": dict(collections.Counter(row[5] for row in mine if row[4] == "reported"))}
    return out


def check(done):
    """Says what is below what is asked for; the number of such things."""
    problems = [f"{key}: unnoticed: @{one['kernel']}, line {one['line']}: {one['change']}"
                for key, program in done.items() for one in program["survivors"] if one["verdict"] == "unnoticed"]
    for name, kinds in (("barriers, waits, fences and masks", [*mutations.REMOVED, "wait for one less", "mask"]),
                        ("all changes", mutations.ORDER)):
        count = total(done, kinds)
        effective = count["tried"] - count["no effect"]
        if count["reported"] < LEAST * effective:
            problems.append(f"of {name}, {count['reported']} of {effective} that have an effect are reported, less than {LEAST:.0%}")
    for problem in problems:
        print(f"worse: {problem}")
    return len(problems)


def total(done, kinds):
    count = collections.Counter()
    for program in done.values():
        for kind in kinds:
            numbers = program["kinds"].get(kind, {})
            count += collections.Counter({name: n for name, n in numbers.items() if name != "by"})
            count += collections.Counter({("by", name): n for name, n in numbers.get("by", {}).items()})
    return count


def load():
    return json.loads(RESULTS.read_text())["programs"] if RESULTS.exists() else {}


def write(done):
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(program, separators=(',', ':'))}" for key, program in done.items())
    RESULTS.write_text('{"programs": {\n' + lines + "\n}}\n")
    PAGE.write_text(replaced(PAGE.read_text(), "table", table(done), "gpu-mutations"))


def table(done):
    lines = ["| change | places | tried | no effect | reported | wrong result only | unnoticed | reported as |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]

    def line(name, kinds):
        count = total(done, kinds)
        if not count["tried"]:
            return
        effective = count["tried"] - count["no effect"]
        by = collections.Counter({key[1]: n for key, n in count.items() if isinstance(key, tuple)})
        share = f" ({100 * count['reported'] / effective:.1f} %)" if effective else ""
        lines.append(f"| {name} | {count['places']} | {count['tried']} | {count['no effect']} | {count['reported']}{share} | "
                     f"{count['wrong']} | {count['unnoticed']} | {', '.join(f'{k} {n}' for k, n in by.most_common())} |")

    for kind in mutations.ORDER:
        line(kind, [kind])
    line("**all**", mutations.ORDER)
    kernels = f"{len(done)} of {len(gpu_programs.cases())} programs"
    return "\n".join(lines) + f"\n\n{kernels}; \"tried\" are drawn from \"places\".\n"
