# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two builds of Drawloom are timed against each other, on the cases of suites.

    git worktree add ../before <commit>; (cd ../before && scripts/build.sh)
    drawloom-bench before-after --before ../before/build                  # all suites against this build
    drawloom-bench before-after --before ../before/build --suite kan --case mlp
    drawloom-bench before-after --open                                    # of this build, programs for any extents against known ones

Two processes, one for each build, take turns on one core, many short turns, and medians count; then two others. The cases
are those of this tree for both. More than 1.02 in the last column is what no change should cost.
"""

import argparse
import dataclasses
import importlib
import os
import pathlib
import re
import statistics
import time
import types
import warnings

from drawloom_bench import BUILD, BenchError, embedded, processes
from drawloom_bench import options as common
from drawloom_bench.report import tables
from drawloom_bench.timings import open_programs

SUITES = ("kan", "recurrence", "framework")


class OpenModule:
    """As embedded.Module: what it holds takes any number of rows, those in the text being a stand-in."""

    def __init__(self, text, isa=None):
        import drawloom

        rows = max(int(n) for n in re.findall(r"tensor<(\d+)x", text))
        self.module = drawloom.compile(open_programs.opened(text, rows), isa=isa, cache=False)

    def __getattr__(self, name):
        return types.SimpleNamespace(bind=lambda arguments, threads=1: self.bind(name, arguments, threads))

    def bind(self, name, arguments, threads):
        import numpy

        function = getattr(self.module, name)
        arrays = [embedded.aligned(numpy.ascontiguousarray(a, kind).reshape(numpy.shape(a))) for a, (kind, _) in zip(arguments, function.arguments)]
        results = function(*arrays, threads=threads)
        if not function._any:
            raise BenchError(f"@{name} cannot stay open, so there is nothing to compare")
        several = isinstance(results, tuple)
        results = [embedded.aligned(one) for one in (results if several else (results,))]
        out = tuple(results) if several else results[0]

        def run():
            function(*arrays, threads=threads, out=out)
            return results

        return run


def leave_open(opened):
    """Makes the cases of this process use programs for any extents, or for just theirs."""
    from drawloom import ops

    if opened:
        embedded.Module = OpenModule
    else:
        for name, family in ops.families.items():
            ops.families[name] = dataclasses.replace(family, opened=lambda *_: None)


def cases_of(suite):
    return importlib.import_module(f"drawloom_bench.suites.{suite}").CASES


def work(suite):
    """Answers each request, a case or a number of runs, with their seconds."""
    import torch

    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    if "DRAWLOOM_BENCHMARK_EXTENTS" in os.environ:
        leave_open(os.environ["DRAWLOOM_BENCHMARK_EXTENTS"] == "open")
    clock = time.process_time if "DRAWLOOM_BENCHMARK_CPU_TIME" in os.environ else time.perf_counter
    cases, run = {case.name: case for case in cases_of(suite)}, None

    def reply(request):
        nonlocal run
        seconds = []
        if isinstance(request, str):
            # The rivals in it are made when they are called first.
            run = cases[request].make(types.SimpleNamespace(threads=1, isa=None))["drawloom"]
            run()
        else:
            for _ in range(request):
                start = clock()
                run()
                seconds.append(clock() - start)
        return seconds

    processes.answer(reply)


def start(folder, suite, **extents):
    return processes.Worker("before-after", "--work", suite, DRAWLOOM_BUILD_DIR=str(folder.resolve()), DRAWLOOM_CACHE="",
                            **processes.TUNED, **processes.threads(1), **extents)


def compare(builds, case, seconds, turns):
    for build in builds:
        build.ask(case)
    once = max(statistics.median(builds[0].ask(3)), 1e-6)
    count = max(1, int(seconds / 2 / turns / once))
    samples = [[], []]
    for turn in range(turns):
        for i in (0, 1) if turn % 2 else (1, 0):
            samples[i].extend(builds[i].ask(count))
    return [statistics.median(s) for s in samples]


def arguments(parser):
    parser.add_argument("--before", type=pathlib.Path, metavar="BUILD", help="a build folder")
    parser.add_argument("--after", type=pathlib.Path, default=BUILD, metavar="BUILD", help="another (default: this tree's)")
    parser.add_argument("--open", action="store_true", help="programs for known extents are before, those for any are after")
    parser.add_argument("--suite", choices=SUITES, action="append", help="(default: all)")
    parser.add_argument("--case", default="", metavar="NAME", help="only cases whose names begin so")
    parser.add_argument("--seconds", type=float, default=8, help="for each case")
    parser.add_argument("--turns", type=int, default=16)
    parser.add_argument("--processes", type=int, default=5, help="how many of each build, one after another, for each case")
    parser.add_argument("--cpu-time", action="store_true", help="the processes' time instead of the clock's, where other work runs beside")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    common.add_json(parser)


def main(options):
    if options.work:
        return work(options.work)
    if options.open == (options.before is not None):
        options.parser.error("say either --before=BUILD or --open")
    for folder in filter(None, (options.before, options.after)):
        if not (folder / "python/drawloom").is_dir():
            options.parser.error(f"{folder} is no build folder: it has no python/drawloom")
    if options.cpu_time:
        os.environ["DRAWLOOM_BENCHMARK_CPU_TIME"] = "1"
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    rows = []
    for suite in options.suite or SUITES:
        for case in cases_of(suite):
            if not case.name.startswith(options.case):
                continue
            # Where a process's memory lies is worth more than most changes: others get other places.
            pairs = []
            for _ in range(options.processes):
                builds = ([start(options.after, suite, DRAWLOOM_BENCHMARK_EXTENTS=extents) for extents in ("exact", "open")] if options.open
                          else [start(folder, suite) for folder in (options.before, options.after)])
                pairs.append(compare(builds, case.name, options.seconds / options.processes, options.turns))
                for build in builds:
                    build.close()
            before, after = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
            rows.append({"suite": suite, "case": case.name, "before_ms": before * 1e3, "after_ms": after * 1e3, "ratio": after / before})
            print(f"{suite:<11} {case.name:<36} {before * 1e3:10.3f} ms {after * 1e3:10.3f} ms {after / before:7.3f}", flush=True)
    if not rows:
        options.parser.error("no case has such a name")
    ratios = [row["ratio"] for row in rows]
    print(f"geometric mean {statistics.geometric_mean(ratios):.3f}, most {max(ratios):.3f}")
    tables.write_json(options.json, rows)
