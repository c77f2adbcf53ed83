# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training that does not fit in memory: examples/lm's GLA under a limit of the kernel, with saved tensors on an SSD, in other ways to do
without memory, and with layers computed again.

    drawloom-bench offload-training --folder DIR [--limit 3GiB] [--memory 1GiB] [--steps N] [--json FILE]
    drawloom-bench offload-training --folder DIR --context 65536 --limit 10GiB --steps 2 --only "limit, offload" "limit, both"

Each run is a process of its own in a control group (version 1 or 2, for which it needs root), one after the other. "most memory" is the
group's; a run that the kernel kills is said to be, and so is one that is stopped after --patience. Losses are compared with those of the
run without a limit, bit for bit.

  no limit                      what a step takes where memory is enough
  limit                         the same under the limit
  limit, offload                saved tensors beyond --memory on the SSD
  limit, layers computed again  torch.utils.checkpoint around each layer
  limit, both
  limit, swap                   with a file of the folder as swap space (swapon; left out, and said so, where that is refused)
  limit, files                  a file for each saved tensor, as torch's tutorial on hooks has it (hooks.py)
  limit, mapped                 a file for each saved tensor that is mapped into memory
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile

from drawloom_bench import ROOT, BenchError, processes
from drawloom_bench import options as common
from drawloom_bench.offload.common import Goals, add_folder, need_room, progress, write
from drawloom_bench.options import GIB

GROUPS = pathlib.Path("/sys/fs/cgroup")


class Group:
    """A control group that limits memory."""

    def __init__(self, limit, swaps):
        first = (GROUPS / "cgroup.controllers").exists()
        self.most, name = ("memory.peak", "memory.max") if first else ("memory.max_usage_in_bytes", "memory.limit_in_bytes")
        self.path = (GROUPS if first else GROUPS / "memory") / f"drawloom-{os.getpid()}"
        self.path.mkdir()
        if limit:
            (self.path / name).write_text(str(limit))
            # No swap beside it, where there is any.
            for swap in ("memory.swap.max", "memory.memsw.limit_in_bytes"):
                if (self.path / swap).exists() and not swaps:
                    (self.path / swap).write_text("0" if first else str(limit))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.path.rmdir()

    def join(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def most_memory(self):
        return int((self.path / self.most).read_text())


class Refused(Exception):
    """What a run needs is not to be had here."""


@contextlib.contextmanager
def swap_file(folder, bytes_of_it):
    file = os.path.join(folder, f"drawloom-swap-{os.getpid()}")
    try:
        number = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.posix_fallocate(number, 0, bytes_of_it)
        os.close(number)
        for command in (["mkswap", file], ["swapon", file]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Refused(done.stderr.strip().replace(file, "FILE"))
        try:
            yield
        finally:
            subprocess.run(["swapoff", file], check=True)
    finally:
        os.unlink(file)


def run(options, limit, more, hooks=None, swaps=False):
    """{"state": what became of it, "most memory": bytes, "losses", "step, s", "report": what offload says}"""
    swap = swap_file(options.folder, options.swap) if swaps else contextlib.nullcontext()
    # A process that is killed leaves what it has in the disk's folder.
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(dir=options.folder, prefix="drawloom-offload-") as disk, \
            swap, Group(limit, swaps) as group:
        # A twentieth is held out, and read once at the end.
        text = pathlib.Path(folder) / "text.txt"
        text.write_text("".join(f"There are {i % 97} green bottles hanging on the wall. " for i in range(options.context * 42 // 50)))
        program = [sys.executable, ROOT / "examples" / "lm" / "lm.py"]
        if hooks:
            program = processes.command("offload-hooks", "lm", f"--folder={disk}", f"--hooks={hooks}", "--")
        # The library's products depend on how many threads there are, which it may else change.
        process = subprocess.Popen(
            [*program, "--no-rivals", "--batch=1", "--sample=1", f"--text={text}", f"--context={options.context}",
             f"--width={options.width}", f"--layers={options.layers}", f"--steps={options.steps}", f"--threads={options.threads}",
             f"--output={folder}", *more], preexec_fn=group.join, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=processes.environment(MKL_DYNAMIC="FALSE"))
        found = {"state": "trained", "most memory": 0, "losses": None, "step, s": None, "report": ""}
        try:
            output, errors = process.communicate(timeout=options.patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return {**found, "state": f"stopped at {options.patience} s", "most memory": group.most_memory()}
        found["most memory"] = group.most_memory()
        if process.returncode == -signal.SIGKILL:
            return {**found, "state": "killed by the kernel"}
        if process.returncode:
            raise BenchError(f"a run failed: {errors[-2000:]}")
        (one,) = json.loads((pathlib.Path(folder) / "summary.json").read_text())["models"].values()
        history = one["history"]
        seconds = [b["seconds"] - a["seconds"] for a, b in zip(history, history[1:])]
        report = output[output.find("passes "):].partition("\nwhere")[0] if "--offload" in more else ""
        picture = pathlib.Path(folder) / "offload.png"
        if options.picture and picture.exists():
            options.picture.write_bytes(picture.read_bytes())
        return {**found, "losses": [step["loss"] for step in history], "report": report,
                "step, s": statistics.median(seconds) if seconds else None, "steps, s": seconds}


def compare(found, goals):
    ours, free = found.get("limit, offload", {}), found.get("no limit", {})
    if ours.get("losses") is None:
        return
    if free.get("losses") is not None:
        goals.add("offload: losses that are not those without a limit", sum(map(float.__ne__, ours["losses"], free["losses"])), most=0)
        goals.add("offload: most memory of that without a limit", 100 * ours["most memory"] / free["most memory"], most=40, unit=" %")
        goals.add("offload: time of a step, x that without a limit", ours["step, s"] / free["step, s"], most=1.08)
    stall = re.search(r"stall .*, ([\d.]+) %", ours["report"])
    if stall:
        goals.add("offload: stall, copies and checksums among it, of the time", float(stall[1]), most=1, unit=" %")
    again = found.get("limit, layers computed again", {}).get("step, s")
    if again:
        goals.add("layers computed again: time of a step, x offload's", again / ours["step, s"], least=1.15)


def arguments(parser):
    add_folder(parser)
    parser.add_argument("--limit", type=common.size, default=3 * GIB, help="of a process (3GiB)")
    parser.add_argument("--memory", default="1GiB", help="of this, for saved tensors (%(default)s)")
    parser.add_argument("--context", type=int, default=16384, help="bytes of text in a step (%(default)s)")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="of the runs, by their names")
    parser.add_argument("--swap", type=common.size, default=12 * GIB, help="of the file that is swap space (12GiB)")
    parser.add_argument("--patience", type=int, default=600, help="seconds of a run (%(default)s)")
    common.add_json(parser)
    parser.add_argument("--picture", type=pathlib.Path, help="write the timeline of offload to this file")


def main(options):
    offload = ("--offload", options.folder, "--memory", options.memory)
    runs = {"no limit": (None, ()), "limit": (options.limit, ()), "limit, offload": (options.limit, offload),
            "limit, layers computed again": (options.limit, ("--recompute",)), "limit, both": (options.limit, (*offload, "--recompute")),
            "limit, swap": (options.limit, (), None, True),
            "limit, files": (options.limit, (), "files"), "limit, mapped": (options.limit, (), "mapped")}
    for name in options.only or ():
        if name not in runs:
            options.parser.error(f"--only: there is no run '{name}'; there are {', '.join(repr(one) for one in runs)}")
    need_room(options.folder, options.swap)
    found = {}
    print(f"{'':30}{'':22}{'most memory':>12}{'a step':>10}  losses")
    for name, what in runs.items():
        if options.only and name not in options.only:
            continue
        progress(name)
        try:
            one = found[name] = run(options, *what)
        except Refused as refused:
            found[name] = {"state": f"refused: {refused}"}
            print(f"{name:30}refused: {refused}")
            continue
        first = found.get("no limit", {}).get("losses")
        same = "" if one["losses"] is None or first is None else "the same bits" if one["losses"] == first else "OTHERS"
        seconds = f"{one['step, s']:.2f} s" if one["step, s"] else ""
        print(f"{name:30}{one['state']:22}{one['most memory'] / GIB:>8.2f} GiB{seconds:>10}  {same}")
        if one["report"]:
            print("    " + one["report"].replace("\n", "\n    "))
        sys.stdout.flush()
    goals = Goals()
    compare(found, goals)
    goals.show()
    write(options, runs=found, goals=goals.found)
