# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times two builds of Drawloom against each other, on the cases of a suite of run.py.

    git worktree add ../before <commit>; (cd ../before && scripts/build.sh)
    benchmarks/before_after.py --before ../before/build                  # all suites against this build
    benchmarks/before_after.py --before ../before/build --suite kan --case mlp

Two processes, one for each build, take turns on one core, many short turns, and medians count; then two others. The cases
are those of this tree for both. More than 1.02 in the last column is what no change should cost.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from run import TUNED

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUITES = ("kan", "recurrence", "framework")


def work(suite):
    """Answers each line, a case or a number of runs, with a line: nothing, or their seconds."""
    import importlib
    import types
    import warnings

    warnings.filterwarnings("ignore")
    replies, sys.stdout = sys.stdout, sys.stderr
    sys.path.insert(0, str(pathlib.Path(os.environ["DRAWLOOM_BUILD_DIR"]) / "python"))
    import torch

    torch.set_num_threads(1)
    cases = {case.name: case for case in importlib.import_module(f"{suite}_suite").CASES}
    for line in sys.stdin:
        request, seconds = json.loads(line), []
        if isinstance(request, str):
            # The rivals in it are made when they are called first.
            run = cases[request].make(types.SimpleNamespace(threads=1, isa=None))["drawloom"]
            run()
        else:
            for _ in range(request):
                start = time.perf_counter()
                run()
                seconds.append(time.perf_counter() - start)
        print(json.dumps(seconds), file=replies, flush=True)


class Build:
    def __init__(self, folder, suite):
        environment = {**os.environ, **TUNED, "DRAWLOOM_BUILD_DIR": str(folder.resolve()), "DRAWLOOM_CACHE": "", "OMP_NUM_THREADS": "1",
                       "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}
        self.process = subprocess.Popen([sys.executable, __file__, "--work", suite], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)

    def ask(self, request):
        print(json.dumps(request), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"before_after.py: the process of {self.process.args[-1]} ended; its message is above")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=pathlib.Path, required=True, metavar="BUILD", help="a build folder")
    parser.add_argument("--after", type=pathlib.Path, default=ROOT / "build", metavar="BUILD", help="another (default: this tree's)")
    parser.add_argument("--suite", choices=SUITES, action="append", help="(default: all)")
    parser.add_argument("--case", default="", help="only cases whose names begin so")
    parser.add_argument("--seconds", type=float, default=8, help="for each case")
    parser.add_argument("--turns", type=int, default=16)
    parser.add_argument("--processes", type=int, default=5, help="how many of each build, one after another, for each case")
    parser.add_argument("--json", type=pathlib.Path, metavar="file", help="write the figures here too")
    options = parser.parse_args()
    for folder in (options.before, options.after):
        if not (folder / "python/drawloom").is_dir():
            parser.error(f"{folder} is no build folder: it has no python/drawloom")
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    sys.path.insert(0, str(options.after / "python"))
    rows = []
    for suite in options.suite or SUITES:
        import importlib

        for case in importlib.import_module(f"{suite}_suite").CASES:
            if not case.name.startswith(options.case):
                continue
            # Where a process's memory lies is worth more than most changes: others get other places.
            pairs = []
            for _ in range(options.processes):
                builds = [Build(folder, suite) for folder in (options.before, options.after)]
                pairs.append(compare(builds, case.name, options.seconds / options.processes, options.turns))
                for build in builds:
                    build.close()
            before, after = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
            rows.append({"suite": suite, "case": case.name, "before_ms": before * 1e3, "after_ms": after * 1e3, "ratio": after / before})
            print(f"{suite:<11} {case.name:<36} {before * 1e3:10.3f} ms {after * 1e3:10.3f} ms {after / before:7.3f}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    if not rows:
        parser.error("no case has such a name")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    else:
        main()
