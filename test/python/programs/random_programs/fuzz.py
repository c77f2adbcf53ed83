# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many random programs, in processes of their own: scripts/fuzz.sh programs.

A worker takes requests from its standard input, one JSON object a line, and answers each with one. One that crashes or does not
answer in time is replaced, and the program that it had is a finding.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import pickle
import select
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
WORKER = ["-m", "programs.random_programs.fuzz", "--worker"]
"""What a worker's interpreter is told to run."""


# The worker


def answer(request):
    from . import check

    found = pickle.loads(pathlib.Path(request["file"]).read_bytes()) if "file" in request else generated(request)
    return dataclasses.asdict(check.check(found, request["target"], request["isa"]))


def generated(request):
    from . import program

    return program.generate(request["seed"], request["element"], request["target"] != "cpu", request["family"])


def work():
    """The loop of a worker. What libraries print goes to the error stream."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import torch

    torch.set_num_threads(1)
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:
            import traceback

            reply = {"kind": "failed", "detail": f"{error}\n{traceback.format_exc(limit=-6)}", "values": 0, "gradients": 0, "second": 0}
        print(json.dumps(reply), file=out, flush=True)


# The other side


class Worker:
    """A process that answers requests."""

    def __init__(self, limit):
        self.limit = limit
        self.process = None
        self.request = None

    def start(self):
        self.text = ""
        self.process = subprocess.Popen([sys.executable, *WORKER], cwd=HERE.parents[1], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        os.set_blocking(self.process.stderr.fileno(), False)

    def ask(self, request):
        if self.process is None:
            self.start()
        self.request, self.began, self.used_before, self.text = request, time.monotonic(), self.used(), ""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def used(self):
        """Processor seconds of the process and of what it started."""
        try:
            fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def overdue(self):
        """A busy machine makes no program late: processor time counts, and ten times as much by the clock."""
        return self.used() - self.used_before > self.limit or time.monotonic() - self.began > 10 * self.limit

    def said(self):
        """The end of what the process wrote to its error stream."""
        try:
            while more := os.read(self.process.stderr.fileno(), 1 << 16):
                self.text = (self.text + more.decode(errors="replace"))[-3000:]
        except BlockingIOError:
            pass
        return self.text

    def stop(self):
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
            self.process = None

    def reply(self):
        """The answer if it is there, the verdict on a process that has ended or takes too long, or None."""
        self.said()
        if select.select([self.process.stdout], [], [], 0)[0]:
            line = self.process.stdout.readline()
            if line:
                return json.loads(line)
            code = self.process.wait()
            said = self.said()
            self.stop()
            why = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            return {"kind": "crashed", "detail": f"{why}\n{said}", "values": 0, "gradients": 0, "second": 0}
        if self.overdue():
            self.stop()
            return {"kind": "timed out", "detail": f"no end in {self.limit} s", "values": 0, "gradients": 0, "second": 0}
        return None

    def wait(self, request):
        self.ask(request)
        while (reply := self.reply()) is None:
            select.select([self.process.stdout], [], [], 1.0)
        return reply


def cause(reply):
    """What tells one failure from another: its kind, and what it says without numbers and names."""
    import re

    text = reply["detail"].strip().splitlines()
    chosen = next((t for t in text if "error" in t or "ssertion" in t), text[0] if text else "")
    return reply["kind"], re.sub(r"[0-9][0-9.e+-]*|%\w+|'[^']*tensor<[^']*'|/\S+", "#", chosen)[:160]


def shrunk(request, reply, limit, seconds):
    """The smallest program that fails in the same way."""
    from . import shrink

    worker = Worker(limit)
    until = time.monotonic() + seconds
    path = pathlib.Path(f"/tmp/drawloom-shrink-{os.getpid()}.pickle")

    def fails(candidate):
        if time.monotonic() > until:
            return False
        path.write_bytes(pickle.dumps(candidate))
        again = worker.wait({**request, "file": str(path)})
        return again["kind"] == reply["kind"] and (again["kind"] in ("wrong", "timed out") or cause(again) == cause(reply))

    try:
        return shrink.shrink(generated(request), fails)
    finally:
        worker.stop()
        path.unlink(missing_ok=True)


def command(options, seed):
    """What runs one program again."""
    more = "".join(f" --{name}={getattr(options, name)}" for name in ("isa", "element") if getattr(options, name))
    return f"scripts/fuzz.sh programs --family={options.family} --target={options.target}{more} --seed={seed} --count=1"


def write_finding(folder, request, reply, options, known):
    """Keeps a failing program as it is and shrunk; one shrunk program for each cause."""
    name = f"{request['family']}-{request['seed']}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.txt").write_text(f"{reply['kind']}: {reply['detail']}\n\n{command(options, request['seed'])}\n")
    try:
        found = generated(request)
        (folder / f"{name}.mlir").write_text(found.text())
        if cause(reply) not in known and reply["kind"] != "failed" and options.shrink:
            small = shrunk(request, reply, options.limit, options.shrink)
            (folder / f"{name}-shrunk.mlir").write_text(small.text())
            (folder / f"{name}-shrunk.pickle").write_bytes(pickle.dumps(small))
    except Exception as error:
        with open(folder / f"{name}.txt", "a") as file:
            file.write(f"\nnot shrunk: {error!r}\n")
    known.add(cause(reply))


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/fuzz.sh programs", description="Runs random programs.")
    parser.add_argument("--family", choices=("graphs", "recurrences"), default="graphs")
    parser.add_argument("--seconds", type=float, help="stop after so many seconds")
    parser.add_argument("--count", type=int, help="how many programs (default: 1000, or any number with --seconds)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=lambda text: [int(x) for x in text.split(",")], metavar="SEED,...",
                        help="these seeds, instead of a first one and a count")
    parser.add_argument("--target", choices=("cpu", "emulator"), default="cpu")
    parser.add_argument("--isa", help="the instruction set, for the CPU (default: this machine's)")
    parser.add_argument("--element", choices=("f64", "f32", "bf16", "f16"), help="the element type (default: any)")
    parser.add_argument("--limit", type=float, default=60, help="processor seconds that a program may take (10 times as many by the clock)")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--shrink", type=float, default=120, metavar="SECONDS", help="time to shrink one of each kind of failure; 0: do not")
    parser.add_argument("--findings", type=pathlib.Path, default=HERE.parents[3] / "build-fuzz" / "findings")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def run(options, report=print):
    """Runs programs; gives the counts and the failing ones: [(seed, reply)]."""
    count = options.count if options.count is not None else (1 << 62 if options.seconds else 1000)
    seeds = iter(options.seeds or range(options.seed, options.seed + count))
    began = time.monotonic()
    workers = [Worker(options.limit) for _ in range(options.jobs)]
    counts, failures, busy, known, last = collections.Counter(), [], {}, set(), began
    finding = []

    def next_seed():
        if options.seconds and time.monotonic() - began > options.seconds:
            return None
        return next(seeds, None)

    def give(worker):
        seed = next_seed()
        if seed is not None:
            worker.ask({"seed": seed, "family": options.family, "target": options.target, "isa": options.isa, "element": options.element})
            busy[worker] = seed

    try:
        for worker in workers:
            give(worker)
        while busy:
            select.select([w.process.stdout for w in busy], [], [], 1.0)
            for worker in list(busy):
                reply = worker.reply()
                if reply is None:
                    continue
                seed = busy.pop(worker)
                counts["programs"] += 1
                counts[reply["kind"]] += 1
                for what in ("values", "gradients", "second"):
                    counts[what] += reply[what] if reply["kind"] == "right" else 0
                if reply["kind"] != "right":
                    failures.append((seed, reply))
                    finding.append((worker.request, reply))
                    report(f"seed {seed}: {reply['kind']}: {reply['detail'][:400]}")
                give(worker)
            while finding and options.findings:
                write_finding(options.findings, *finding.pop(0), options, known)
            if time.monotonic() - last > 10:
                last = time.monotonic()
                report(f"{counts['programs']} programs, {len(failures)} failed, {last - began:.0f} s")
    finally:
        for worker in workers:
            worker.stop()
    return counts, failures


def main(arguments):
    options = parse(arguments)
    if options.worker:
        return work()
    began = time.monotonic()
    counts, failures = run(options, lambda text: print(text, flush=True))
    took = time.monotonic() - began
    print(f"\n{counts['programs']} programs in {took:.0f} s: {counts['right']} right ({counts['values']} values, {counts['gradients']} "
          f"gradients, {counts['second']} second derivatives), {counts['refused']} refused, {counts['wrong']} wrong, {counts['crashed']} "
          f"crashed, {counts['timed out']} timed out, {counts['oracles']} where the oracles differ, {counts['failed']} failed to run")
    if failures:
        print(f"Findings: {options.findings}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
