# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drawloom and its rivals are timed in one process, on the same cores, and their results are compared first.

    drawloom-bench kan                          # all cases, one thread
    drawloom-bench kan --quick --case mlp       # cases whose names begin so, fewer runs
    drawloom-bench kan --threads 2 --json out.json

Contenders take turns, and medians count, so that a busy machine disturbs all alike. Rivals get a tuned allocator
(no memory goes back to the system between calls, huge pages), which is worth up to 3x to eager PyTorch;
--allocator=default shows what a user gets who does not know that. The roof is what multiply-adds from registers, or a
triad over large arrays, reach in the same run; a case's share is that of the roof that binds it.
"""

import os
import pathlib
import statistics
import sys
import tempfile
import warnings

import numpy as np

from drawloom_bench import options as common
from drawloom_bench import processes, timing
from drawloom_bench.report import tables


def norm_error(a, b):
    a, b = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
    return float(np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-30))


def to_numpy(values):
    return [v.detach().numpy() if hasattr(v, "detach") else v for v in values]


def check(case, contenders):
    """The largest difference between Drawloom's and a rival's results, relative in the norm."""
    ours = [np.array(v) for v in to_numpy(contenders["drawloom"]())]
    worst = 0.0
    for name, run in contenders.items():
        if name == "drawloom":
            continue
        theirs = to_numpy(run())
        if len(theirs) != len(ours):
            raise SystemExit(f"{case.name}: {name} gives {len(theirs)} results, Drawloom {len(ours)}")
        for i, (a, b) in enumerate(zip(ours, theirs)):
            error = norm_error(a, b)
            worst = max(worst, error)
            if not error < case.rtol:
                raise SystemExit(f"{case.name}: result {i} differs from that of {name} by {error:.2e} of its norm")
    return worst


def measure(case, options, roofs):
    contenders = case.make(options)
    error = check(case, contenders)
    for run in contenders.values():
        run()
    seconds, rounds = (6, 2) if options.quick else (30, 5)
    calls = {name: timing.calls_of(run, seconds / len(contenders) / rounds, 20) for name, run in contenders.items()}
    times = timing.in_turns(contenders, rounds, calls, apart=True)
    medians = {name: statistics.median(samples) * 1e3 for name, samples in times.items()}
    least = {name: min(samples) * 1e3 for name, samples in times.items()}
    ours = medians.pop("drawloom")
    floor = max(case.operations / roofs["gflops"] / 1e9, case.bytes / roofs["gbs"] / 1e9) * 1e3
    # Drawloom by another way in is shown, and is no rival.
    best = min((name for name in medians if not name.startswith("drawloom")), key=medians.get)
    return {"case": case.name, "goal": case.goal, "drawloom_ms": ours, "drawloom_least_ms": least["drawloom"],
            "best_rival": best, "best_rival_ms": medians[best], "ratio": medians[best] / ours,
            "roof_share": floor / ours, "gflops": case.operations / ours * 1e-6, "largest_difference": error,
            "rivals": {name: {"rival_ms": ms, "rival_least_ms": least[name], "ratio": ms / ours} for name, ms in medians.items()}}


def measure_roofs(options):
    """By drawloom-run, which has the loops for it."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write("func.func @f(%x: f32) -> f32 { return %x : f32 }")
        file.flush()
        out = processes.tool("drawloom-run", file.name, "--random", "--benchmark=1", f"--threads={options.threads}",
                             f"--isa={options.isa or 'native'}")
    words = dict(w.split("=") for w in out.splitlines()[-1].removeprefix("benchmark: ").split())
    return {"gflops": float(words["gflops_roof"]), "gbs": float(words["gbs_roof"])}


def show(row):
    rivals = "  ".join(f"{name} {r['rival_ms']:.2f}" for name, r in row["rivals"].items())
    print(f"{row['case']:<34} {row['drawloom_ms']:8.2f} ms {row['roof_share']:5.0%} of the roof  "
          f"{row['ratio']:5.2f} x {row['best_rival']}  (goal {row['goal']})   [{rivals}]", flush=True)


def arguments(parser):
    parser.add_argument("--case", action="append", default=[], metavar="NAME", help="only cases whose names begin so")
    parser.add_argument("--quick", action="store_true", help="fewer runs: for a first look, not for figures to quote")
    parser.add_argument("--threads", type=int, default=1, help="for all contenders (default: 1)")
    parser.add_argument("--isa", choices=["avx2"], help="an instruction set for all contenders (default: the machine's)")
    parser.add_argument("--allocator", choices=["tuned", "default"], default="tuned", help="malloc of the rivals")
    common.add_json(parser)


def main(options):
    wanted = {**(processes.TUNED if options.allocator == "tuned" else {}), **processes.threads(options.threads)}
    if options.isa == "avx2":
        wanted.update(DRAWLOOM_ISA="avx2", ATEN_CPU_CAPABILITY="avx2", MKL_ENABLE_INSTRUCTIONS="AVX2", ONEDNN_MAX_CPU_ISA="AVX2")
        wanted["XLA_FLAGS"] += " --xla_cpu_max_isa=AVX2"
    processes.restart_with(wanted)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])

    warnings.filterwarnings("ignore")
    import jax
    import torch
    import torch._inductor.config

    torch.set_num_threads(options.threads)
    if options.isa == "avx2":
        torch._inductor.config.cpp.simdlen = 256
    cases = [c for c in options.module.CASES if not options.case or any(c.name.startswith(n) for n in options.case)]
    if not cases:
        options.parser.error("no case has such a name")
    roofs = measure_roofs(options)
    isa = "avx512" if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text() else "avx2"
    about = {"suite": options.name, "isa": options.isa or isa, "threads": options.threads, "allocator": options.allocator,
             "torch": torch.__version__, "jax": jax.__version__, "roof_gflops": roofs["gflops"], "roof_gbs": roofs["gbs"]}
    print("  ".join(f"{k} {v}" for k, v in about.items()), flush=True)
    rows = []
    for case in cases:
        print(f"measuring {case.name} ...", file=sys.stderr, flush=True)
        torch.compiler.reset()
        rows.append({**measure(case, options, roofs), "isa": about["isa"]})
        show(rows[-1])
    print(f"{statistics.geometric_mean(row['ratio'] for row in rows):.2f} x the best rival, the geometric mean of {len(rows)} cases")
    tables.write_json(options.json, {"about": about, "rows": rows})
