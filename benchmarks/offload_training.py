# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training that does not fit in memory: examples/lm's GLA under a limit of the kernel, as it is, with saved tensors on an SSD, and with
layers computed again.

    python benchmarks/offload_training.py --folder DIR [--limit 3GiB] [--memory 1GiB] [--steps N] [--json FILE]

Each run is a process of its own in a control group (version 1 or 2, for which it needs root), one after the other. "most memory" is the group's;
a run that the kernel kills is said to be. Losses are compared with those of the run without a limit, bit for bit.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GROUPS = pathlib.Path("/sys/fs/cgroup")


class Group:
    """A control group that limits memory."""

    def __init__(self, limit):
        first = (GROUPS / "cgroup.controllers").exists()
        self.most, name = ("memory.peak", "memory.max") if first else ("memory.max_usage_in_bytes", "memory.limit_in_bytes")
        self.path = (GROUPS if first else GROUPS / "memory") / f"drawloom-{os.getpid()}"
        self.path.mkdir()
        if limit:
            (self.path / name).write_text(str(limit))
            # No swap beside it, where there is any.
            for swap in ("memory.swap.max", "memory.memsw.limit_in_bytes"):
                if (self.path / swap).exists():
                    (self.path / swap).write_text("0" if first else str(limit))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.path.rmdir()

    def join(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def most_memory(self):
        return int((self.path / self.most).read_text())


def bytes_of(text):
    units = {"KiB": 10, "MiB": 20, "GiB": 30}
    return int(float(text[:-3]) * (1 << units[text[-3:]]))


def run(options, limit, more):
    """(what became of it, bytes, losses, seconds of a step, what offload says)"""
    with tempfile.TemporaryDirectory() as folder, Group(limit) as group:
        # A twentieth is held out, and read once at the end.
        text = pathlib.Path(folder) / "text.txt"
        text.write_text("".join(f"There are {i % 97} green bottles hanging on the wall. " for i in range(options.context * 42 // 50)))
        # The library's products depend on how many threads there are, which it may else change.
        done = subprocess.run(
            [sys.executable, ROOT / "examples" / "lm" / "lm.py", "--no-rivals", "--batch=1", "--sample=1", f"--text={text}", f"--context={options.context}",
             f"--width={options.width}", f"--layers={options.layers}", f"--steps={options.steps}", f"--threads={options.threads}",
             f"--output={folder}", *more], preexec_fn=group.join, capture_output=True, text=True, env={**os.environ, "MKL_DYNAMIC": "FALSE"})
        most = group.most_memory()
        if done.returncode == -signal.SIGKILL:
            return "killed by the kernel", most, None, None, ""
        if done.returncode:
            raise SystemExit(f"{more}: {done.stderr[-2000:]}")
        (one,) = json.loads((pathlib.Path(folder) / "summary.json").read_text())["models"].values()
        history = one["history"]
        seconds = [b["seconds"] - a["seconds"] for a, b in zip(history, history[1:])]
        report = done.stdout[done.stdout.find("passes "):].partition("\nwhere")[0] if "--offload" in more else ""
        picture = pathlib.Path(folder) / "offload.png"
        if options.picture and picture.exists():
            options.picture.write_bytes(picture.read_bytes())
        return "trained", most, [step["loss"] for step in history], statistics.median(seconds), report


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0] + ".")
    parser.add_argument("--folder", required=True, help="on an SSD, for saved tensors")
    parser.add_argument("--limit", default="3GiB", help="of a process (default: %(default)s)")
    parser.add_argument("--memory", default="1GiB", help="of this, for saved tensors (default: %(default)s)")
    parser.add_argument("--context", type=int, default=16384, help="bytes of text in a step (default: %(default)s)")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="of the runs, by their names")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    parser.add_argument("--picture", type=pathlib.Path, help="write the timeline of offload to this file")
    options = parser.parse_args()
    limit = bytes_of(options.limit)
    offload = ("--offload", options.folder, "--memory", options.memory)
    runs = {"no limit": (None, ()), "limit": (limit, ()), "limit, offload": (limit, offload), "limit, layers computed again": (limit, ("--recompute",)),
            "limit, both": (limit, (*offload, "--recompute"))}
    found = {}
    print(f"{'':30}{'':22}{'most memory':>12}{'a step':>10}  losses")
    for name, (most, more) in runs.items():
        if options.only and name not in options.only:
            continue
        state, peak, losses, seconds, report = run(options, most, more)
        found[name] = {"state": state, "most memory": peak, "losses": losses, "step, s": seconds, "report": report}
        first = found.get("no limit", {}).get("losses")
        same = "" if losses is None or first is None else "the same bits" if losses == first else "OTHERS"
        print(f"{name:30}{state:22}{peak / (1 << 30):>8.2f} GiB{f'{seconds:.2f} s' if seconds else '':>10}  {same}")
        if report:
            print("    " + report.replace("\n", "\n    "))
        sys.stdout.flush()
    if options.json:
        options.json.write_text(json.dumps({"settings": {name: str(value) for name, value in vars(options).items()}, "runs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
