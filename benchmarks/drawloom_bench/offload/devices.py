# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast offload stores and loads, with fio as the roof and rivals in the same run.

    drawloom-bench offload --folder /mnt/ssd                 # 2 GiB, seven rounds
    drawloom-bench offload --folder /mnt/ssd --size 8GiB --contenders store:io_uring,store:threads --kinds put,get
    drawloom-bench offload --folder /mnt/ssd --deepspeed /opt/deepspeed/bin/python --json table.json
    drawloom-bench offload --folder /mnt/ssd --rows 1000000  # random reads of 4 KiB instead

Each contender overwrites and reads space of its own that has been written before, past the page cache where it can. In a round all
take turns there and back (ABBA); medians of all turns count, with the least and the most. A store is of pieces of
64 MiB in transfers of 1 MiB, 16 of them under way; `put` copies and sums each transfer on its way, `get` sums it and
compares. Processor seconds are user's and system's of the process with all its threads; what the kernel writes back
for it later, out of the page cache, is not among them.

  io_uring, threads               the devices of offload alone
  store:io_uring, store:threads   the whole store on such a device: put and get only, of records of 64 MiB
                                  (nothing that it gets is in its memory when the turn begins)
  files                           a file for each tensor
  deepspeed, tensornvme, kvikio   rivals, each in the Python that its option names; they know no checksums, so that
                                  their get is their load. offload/rivals.py says how each is used
A rival that does not run here is left out, and why is said and recorded.

Needs Debian's fio, and room for each contender in the folder; all is deleted.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from drawloom_bench import BenchError, processes
from drawloom_bench import options as common
from drawloom_bench.offload.common import Goals, add_folder, fio, need_room, progress, spread, write
from drawloom_bench.options import GIB

RIVALS = ("deepspeed", "tensornvme", "kvikio")
KINDS = ("store", "load", "put", "get")


class Fio:
    """A file that is read and written by fio, as fast as this machine does it."""

    name, note, lacks = "fio", "io_uring", None

    def __init__(self, folder, size):
        self.file = os.path.join(folder, "fio")
        self.size = size
        self.run("store", 16, 0)

    def run(self, what, depth, count):
        random = what == "random"
        writes = what in ("store", "put")
        more = [f"--bs={'4k' if random else '1m'}", "--rw=" + ("randread" if random else "write" if writes else "read"), "--overwrite=1",
                "--randrepeat=0", "--norandommap=1"]
        if random:
            # What makes fio answer as many as it can.
            more += [f"--io_size={count * 4096}", "--registerfiles=1", "--fixedbufs=1", "--iodepth_batch_submit=16", "--iodepth_batch_complete_max=16"]
        job = fio(self.file, self.size, *more, depth=depth)
        direction = job["write" if writes else "read"]
        # In thousandths of a second.
        seconds = direction["io_bytes"] / direction["bw_bytes"]
        return seconds, (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1000


class Process:
    """drawloom-offload-bench or a rival, which waits for its turns. `note`: what it says of itself; `lacks`: why it cannot run, or None."""

    def __init__(self, name, command):
        self.name, self.note, self.lacks = name, "", None
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=processes.environment())
        state, _, text = self.process.stdout.readline().strip().partition(" ")
        if state == "ready":
            self.note = text
        else:
            self.lacks = text or "it ended before it began; it says why above"

    def run(self, what, depth, count):
        self.prepare(what)
        self.begin(what, depth, count)
        return self.end_of(what)

    def prepare(self, what):
        self.begin("prepare", what, 0)
        self.end_of(what)

    def begin(self, what, depth, count):
        if not self.lacks:
            self.process.stdin.write(f"{what} {depth} {count}\n")
            self.process.stdin.flush()

    def end_of(self, what):
        """Seconds, and those of processors."""
        answer = self.process.stdout.readline()
        if not answer:
            self.lacks = f"it failed at '{what}'"
            if self.name not in RIVALS:
                raise BenchError(f"{self.name} failed at '{what}'; it says why above")
            return None
        return tuple(map(float, answer.split()))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def knows(name, kind):
    """Whether a contender can do it."""
    return kind in ("put", "get") if name.startswith("store:") else True


def compare(options, rate, cpu):
    """Goals of the figures that there are. rate, cpu: the medians by (kind, name)."""
    goals = Goals()
    rivals = [name for name in RIVALS if any(who == name for _, who in rate)]
    for kind in ("put", "get"):
        for name, least in (("store:io_uring", 95), ("store:threads", 92)):
            ours = rate.get((kind, name))
            if ours is None:
                continue
            goals.add(f"{kind}, {name}: of fio", 100 * ours / rate[kind, "fio"], least=least, unit=" %")
            if name == "store:threads":
                continue
            goals.add(f"{kind}, {name}: seconds of processors a GiB", cpu[kind, name], most=0.30 if kind == "put" else 0.15)
            if (kind, "files") in rate:
                goals.add(f"{kind}, {name}: x a file for each tensor", ours / rate[kind, "files"], least=1.3)
    for kind, name in (("store", "io_uring"), ("load", "io_uring"), ("put", "store:io_uring"), ("get", "store:io_uring")):
        if rivals and (kind, name) in rate and (kind, rivals[0]) in rate:
            best = max(rivals, key=lambda rival: rate[kind, rival])
            goals.add(f"{kind}, {name}: x {best}, the best rival", rate[kind, name] / rate[kind, best], least=1.0)
            goals.add(f"{kind}, {name}: x the processor seconds of {best}", cpu[kind, name] / cpu[kind, best], most=0.7)
    return goals


def arguments(parser):
    add_folder(parser)
    parser.add_argument("--size", type=common.size, default=2 * GIB, help="of each contender's file (2GiB)")
    parser.add_argument("--contenders", default="io_uring,threads,store:io_uring,store:threads,files",
                        help="beside fio and those that options name (%(default)s)")
    for name in RIVALS:
        parser.add_argument(f"--{name}", metavar="PYTHON", help=f"a Python that has {name}, which takes its turns, too")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of turns (%(default)s)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--depth", type=int, help="transfers under way of fio and of devices; 16, of rows 128")
    parser.add_argument("--rows", type=int, default=0, help="read so many rows of 4 KiB instead, by devices alone")
    common.add_json(parser)


def main(options):
    program = processes.built("drawloom-offload-bench")
    names = [name for name in options.contenders.split(",") if name in ("io_uring", "threads") or not options.rows]
    pythons = {"files": sys.executable, **{name: python for name in RIVALS if (python := getattr(options, name)) and not options.rows}}
    names += [name for name in pythons if name not in names and name != "files"]
    need_room(options.folder, options.size * (len(names) + 1) + GIB, "give a smaller --size, or fewer --contenders")

    depth = options.depth or (128 if options.rows else 16)
    kinds = ["random"] if options.rows else options.kinds.split(",")
    left_out = {}
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="drawloom-offload-") as folder:
        contenders = [Fio(folder, options.size)]
        for name in names:
            progress(f"{name} prepares")
            place = pathlib.Path(folder) / name.replace(":", "-")
            place.mkdir()
            one = Process(name, processes.command(name, place, options.size, python=pythons[name], module="drawloom_bench.offload.rivals")
                          if name in pythons else [program, name, place, str(options.size)])
            if one.lacks is None:
                contenders.append(one)
            elif name in RIVALS:
                left_out[name] = one.lacks
                print(f"{name} is left out: {one.lacks}")
            else:
                raise BenchError(f"{name} did not begin: {one.lacks}")
        results = {(what, one.name): [] for what in kinds for one in contenders if knows(one.name, what)}
        for turn in range(options.rounds):
            for what in kinds:
                progress(f"round {turn + 1} of {options.rounds}: {what}")
                for one in contenders + contenders[::-1]:
                    if (what, one.name) in results and (figures := one.run(what, depth, options.rows)):
                        results[what, one.name].append(figures)
                for one in [one for one in contenders if one.lacks]:
                    contenders.remove(one)
                    left_out[one.name] = one.lacks
                    print(f"{one.name} is left out: {one.lacks}")
                    results = {key: turns for key, turns in results.items() if key[1] != one.name}
        for one in contenders[1:]:
            one.end()

    rate, cpu, rows = {}, {}, []
    for (what, name), turns in results.items():
        amount = options.rows / 1000 if options.rows else options.size / GIB
        rates, costs = [amount / seconds for seconds, _ in turns], [used / amount * (1000 if options.rows else 1) for _, used in turns]
        rate[what, name], cpu[what, name] = statistics.median(rates), statistics.median(costs)
        rows.append({"kind": what, "contender": name, "kIOPS" if options.rows else "GiB/s": rates,
                     "us of processors each" if options.rows else "s of processors a GiB": costs})
    for (what, name), row in zip(results, rows):
        (unit, rates), (cost, costs) = list(row.items())[2:]
        share = 100 * rate[what, name] / rate[what, "fio"]
        print(f"{what:6} {name:14} {spread(rates)} {unit}, {share:5.1f} % of fio, {spread(costs)} {cost}")
    notes = {one.name: one.note for one in contenders if one.note}
    goals = compare(options, rate, cpu)
    goals.show()
    write(options, notes=notes, left_out=left_out, rows=rows, goals=goals.found)
