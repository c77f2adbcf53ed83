# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AdamW with its states on an SSD beside AdamW in memory, beside DeepSpeed's, and beside what the disk can do.

Each way is a process of its own that takes a first step and then some more, and in each round each has its turn. "beyond" is the most main
memory that a process had, without parameters, gradients and what was there before. "fio": 24 bytes of each parameter (m and v are read, 8
bytes, written, 8, and read back, 8) at the rate of fio, which reads two bytes for each that it writes, and has its turn, too. Needs Debian's
fio; --deepspeed: a Python that has deepspeed, with libaio's headers and library where its compiler finds them.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile

from drawloom_bench import memory, processes, timing
from drawloom_bench import options as common
from drawloom_bench.offload.common import add_folder, fio
from drawloom_bench.report import tables

WAYS = "torch", "torch, fused", "drawloom", "drawloom, offload", "deepspeed, nvme"
LENGTH, FIO_SECONDS = 1 << 20, 4


def made(options):
    import torch
    torch.set_num_threads(options.threads)
    generator = torch.Generator().manual_seed(0)
    return [torch.nn.Parameter(torch.randn(LENGTH, generator=generator)) for _ in range(options.parameters // LENGTH)]


def steps(options, step, base):
    """Figures of steps behind the first."""
    seconds = [timing.once(step) for _ in range(options.steps + 1)]
    return {"seconds": seconds[1:], "beyond": memory.resident("VmHWM") - base}


def ours(options):
    """The ways without DeepSpeed."""
    import torch

    import drawloom.torch as dt
    parameters = made(options)
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    spill = None
    if options.here == "drawloom, offload":
        spill = dt.offload(options.folder, options.memory, capacity=20 * options.parameters, trim=False)
    optimizer = (torch.optim.AdamW(parameters, fused="fused" in options.here) if options.here.startswith("torch")
                 else dt.optim.AdamW(parameters, offload=spill))
    base = memory.resident("VmRSS")
    found = steps(options, optimizer.step, base)
    if spill is not None:
        spill._store.finish()
        report = spill.report()
        # The first step reads nothing but what it reads back.
        count = report.steps * options.parameters
        found |= {"written": report.written / count, "read": report.read / count, "stall": report.step_stall / report.step_seconds}
    return found


def deepspeed(options):
    """ZeRO's third stage on one process, with the pipelined swapper."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(20000 + os.getpid() % 20000), RANK="0", WORLD_SIZE="1", LOCAL_RANK="0",
                      DS_ACCELERATOR="cpu")
    import deepspeed
    import torch

    class Sum(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = torch.nn.ParameterList(made(options))

        def forward(self, x):
            return sum((weight * x).sum() for weight in self.weights)

    model = Sum()
    base = memory.resident("VmRSS")
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config={
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-3}},
        "zero_optimization": {"stage": 3, "sub_group_size": 4 * LENGTH, "offload_optimizer": {
            "device": "nvme", "nvme_path": options.folder, "pin_memory": False, "buffer_count": 16, "pipeline_read": True, "pipeline_write": True}},
        "aio": {"block_size": 1 << 20, "queue_depth": 16, "thread_count": 1, "single_submit": False, "overlap_events": True}})
    seconds = []
    for _ in range(options.steps + 1):
        engine.backward(engine(torch.ones(1)))
        seconds.append(timing.once(engine.step))
    return {"seconds": seconds[1:], "beyond": memory.resident("VmHWM") - base - 4 * options.parameters}


def disk(folder, size):
    """Bytes a second, both ways together."""
    job = fio(os.path.join(folder, "disk"), size, "--rw=rw", "--rwmixread=67", "--bs=1M", "--time_based", f"--runtime={FIO_SECONDS}")
    return job["read"]["bw_bytes"] + job["write"]["bw_bytes"]


def turn(options, way, folder):
    same = [f"--{name}={getattr(options, name)}" for name in ("parameters", "memory", "steps", "threads")]
    printed = processes.run_again("offload-optimizer", f"--folder={folder}", *same, f"--here={way}",
                                  python=options.deepspeed if way.startswith("deepspeed") else sys.executable)
    return json.loads(printed.splitlines()[-1])


def table(options, found, rates):
    def seconds(all_of_them):
        return f"{statistics.median(all_of_them):.3f} s ({min(all_of_them):.3f} to {max(all_of_them):.3f})"

    print(f"\n{options.parameters / 1e6:.0f} million parameters, {options.threads} threads, memory {options.memory}\n")
    tables.show_head("", "a step", "beyond", "written, read of a parameter", "stall")
    for way, turns in found.items():
        moved = ([f"{turns[-1]['written']:.1f} B, {turns[-1]['read']:.1f} B", f"{100 * statistics.median(one['stall'] for one in turns):.0f} %"]
                 if "stall" in turns[0] else ["", ""])
        beyond = max(one["beyond"] for one in turns) / 2 ** 20
        tables.show([way, seconds([second for one in turns for second in one["seconds"]]), f"{beyond:.0f} MiB", *moved])
    tables.show([f"fio, {statistics.median(rates) / 1e9:.2f} GB/s", seconds([24 * options.parameters / rate for rate in rates]), "", "8 B, 16 B", ""])


def arguments(parser):
    add_folder(parser)
    parser.add_argument("--parameters", type=int, default=64 << 20, help="float32, a multiple of 2^20 (default: %(default)s)")
    parser.add_argument("--memory", default="256MiB", help="that offload has (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=5, help="of a turn, behind the first (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="(default: %(default)s)")
    parser.add_argument("--deepspeed", metavar="PYTHON", help="a Python with deepspeed, which is measured, too")
    parser.add_argument("--here", choices=WAYS, help=argparse.SUPPRESS)
    common.add_json(parser)


def main(options):
    if options.here:
        print(json.dumps((deepspeed if options.here.startswith("deepspeed") else ours)(options)))
        return
    ways = [way for way in WAYS if options.deepspeed or not way.startswith("deepspeed")]
    found, rates = {way: [] for way in ways}, []
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="drawloom-optimizer-") as folder:
        for _ in range(options.rounds):
            rates.append(disk(folder, 8 * options.parameters))
            for way in ways:
                found[way].append(turn(options, way, folder))
    table(options, found, rates)
    settings = {"parameters": options.parameters, "memory": options.memory, "threads": options.threads, "steps": options.steps}
    tables.write_json(options.json, {"settings": settings, "ways": found, "fio, bytes a second": rates})
