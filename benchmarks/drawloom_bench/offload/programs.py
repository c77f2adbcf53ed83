# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled training step that keeps to a part of its memory beside the same step with all of it, timed.

    drawloom-bench offload-programs --spill /mnt/ssd
    drawloom-bench offload-programs --spill /mnt/ssd --memory 0.4 --tokens 4096 --width 512 --json table.json

The step is that of a model of gated linear attention (test/python/memory/memory_programs.py). Memory is the workspace and the
store's memory together, as a part of the workspace that the step has without a limit. Both steps run by turns, ABBA; a
ratio is the median over all pairs. Plans go by the rates that drawloom-run --calibrate measures first.
"""

import json
import pathlib
import statistics
import tempfile
import time

import numpy as np

from drawloom_bench import options as common
from drawloom_bench import processes
from drawloom_bench.report import tables


def seconds(call, arguments):
    start = time.perf_counter()
    results = call(*arguments)
    return time.perf_counter() - start, results


def compare(free, less, arguments, pairs):
    """The ratios of all pairs, and whether the results had the same bits every time."""
    _, wanted = seconds(free, arguments)
    _, first = seconds(less, arguments)
    same, ratios, free_times = all(map(np.array_equal, wanted, first)), [], []
    for pair in range(pairs):
        order = (free, less) if pair % 2 == 0 else (less, free)
        times = {}
        for one in order:
            times[one], results = seconds(one, arguments)
            same &= one is free or all(map(np.array_equal, wanted, results))
        ratios.append(times[less] / times[free])
        free_times.append(times[free])
    return ratios, statistics.median(free_times), same


def arguments(parser):
    parser.add_argument("--spill", required=True, metavar="FOLDER", help="folder of a local disk")
    parser.add_argument("--memory", type=float, nargs="+", default=[0.7, 0.5, 0.4], metavar="PART", help="parts of the workspace (default: 0.7 0.5 0.4)")
    for name, default, what in (("layers", 8, "of the model"), ("tokens", 4096, "of the sequence"), ("width", 512, "of the model"),
                                ("pairs", 7, "of runs")):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=f"{what} (default: {default})")
    parser.add_argument("--again", action="store_true", help="also compute values again only, without a store, where that fits")
    common.add_json(parser)


def main(options):
    import drawloom
    from memory import memory_programs

    rates = processes.tool("drawloom-run", "--calibrate", f"--spill={options.spill}").strip().removeprefix("--memory-rates=")
    print(f"rates: {rates}")
    text = memory_programs.attention_step(options.layers, options.tokens, options.width, max(1, options.width // 64), 4 * options.width)
    free = drawloom.compile(text, entry="step")
    rng = np.random.default_rng(0)
    arguments = [(rng.normal(size=shape) * 0.1).astype(np.float32) for _, shape in free.step.arguments]
    workspace = free.step.specialize().workspace
    rows = []
    for part in options.memory:
        for spill in (options.spill, None) if options.again else (options.spill,):
            memory = int(part * workspace)
            with tempfile.TemporaryDirectory() as folder:
                plan_file = pathlib.Path(folder) / "plan.json"
                try:
                    less = drawloom.compile(text, entry="step", memory=memory, spill=spill, memory_rates=rates, plan=plan_file)
                except drawloom.CompileError as error:
                    print(f"{part:.2f} {'store' if spill else 'again'}: {error.message}")
                    continue
                plan = json.loads(plan_file.read_text())
            ratios, time_free, same = compare(free, less, arguments, options.pairs)
            compiled = less.step.specialize()
            rows.append({"memory": part, "store": spill is not None, "workspace": compiled.workspace, "stored": compiled.stored,
                         "planned": plan["seconds"] / plan["seconds_before"], "ratio": statistics.median(ratios), "least": min(ratios),
                         "most": max(ratios), "free_seconds": time_free, "same": same})
            row = rows[-1]
            print(f"{part:.2f} {'store' if spill else 'again'}: workspace {row['workspace'] / 2**20:.0f} of {workspace / 2**20:.0f} MiB, stored "
                  f"{row['stored'] / 2**20:.0f} MiB, time {row['ratio']:.3f} x ({row['least']:.3f} to {row['most']:.3f}; planned "
                  f"{row['planned']:.3f}) of {time_free:.3f} s, {'same bits' if same else 'OTHER BITS'}", flush=True)
    said = {name: getattr(options, name) for name in ("spill", "memory", "layers", "tokens", "width", "pairs", "again")}
    tables.write_json(options.json, {"options": said, "rates": rates, "workspace": workspace, "rows": rows})
    return 0 if all(row["same"] for row in rows) else 1
