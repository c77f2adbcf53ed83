#!/usr/bin/env python3
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how fast the devices of offload store and load, with fio as the roof in the same run.

    benchmarks/offload.py --folder /mnt/ssd                 # 2 GiB, seven rounds
    benchmarks/offload.py --folder /mnt/ssd --size 8GiB --devices io_uring
    benchmarks/offload.py --folder /mnt/ssd --rows 1000000  # random reads of 4 KiB instead

Each contender overwrites and reads space of its own that has been written before, past the page cache. In a round all
take turns there and back (ABBA); medians of all turns count, with the least and the most. A store is of pieces of
64 MiB in transfers of 1 MiB, 16 of them under way; `put` copies and sums each transfer on its way, `get` sums it and
compares. Processor seconds are user's and system's, the kernel's threads included.

Needs drawloom-offload-bench of a build, Debian's fio, and room for each contender in the folder; all is deleted.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GIB = 1 << 30


class Fio:
    """A file that is read and written by fio, as fast as this machine does it."""

    name = "fio"

    def __init__(self, folder, size):
        self.file = os.path.join(folder, "fio")
        self.size = size
        self.run("store", 16, 0)

    def run(self, what, depth, count):
        random = what == "random"
        command = ["fio", "--name=turn", f"--filename={self.file}", f"--size={self.size}", "--ioengine=io_uring",
                   "--direct=1", f"--iodepth={depth}", f"--bs={'4k' if random else '1m'}", "--output-format=json",
                   "--rw=" + ("randread" if random else "write" if what in ("store", "put") else "read"),
                   "--overwrite=1", "--randrepeat=0", "--norandommap=1"]
        if random:
            # What makes fio answer as many as it can.
            command += [f"--io_size={count * 4096}", "--registerfiles=1", "--fixedbufs=1",
                        "--iodepth_batch_submit=16", "--iodepth_batch_complete_max=16"]
        job = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["jobs"][0]
        direction = job["write" if what in ("store", "put") else "read"]
        # In thousandths of a second.
        seconds = direction["io_bytes"] / direction["bw_bytes"]
        return seconds, (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1000


class Device:
    """drawloom-offload-bench, which waits for its turns."""

    def __init__(self, program, name, folder, size):
        self.name = name
        self.process = subprocess.Popen([program, name, folder, str(size)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit(f"offload.py: drawloom-offload-bench {name} did not begin; it says why above")

    def run(self, what, depth, count):
        self.process.stdin.write(f"{what} {depth} {count}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"offload.py: {self.name} failed at '{what}'; it says why above")
        return tuple(map(float, answer.split()))


def parse_size(text):
    for unit, factor in (("GiB", GIB), ("MiB", 1 << 20)):
        if text.endswith(unit):
            return int(text[:-3]) * factor
    raise argparse.ArgumentTypeError(f"'{text}' is no size; one is 2GiB or 512MiB")


def spread(values):
    return f"{statistics.median(values):7.3f} [{min(values):.3f} - {max(values):.3f}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, help="a folder on the disk to measure; there is no default")
    parser.add_argument("--size", type=parse_size, default=2 * GIB, help="of each contender's file (2GiB)")
    parser.add_argument("--devices", default="io_uring,threads")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--depth", type=int, help="transfers under way; 16, of rows 128")
    parser.add_argument("--rows", type=int, default=0, help="read so many rows of 4 KiB instead")
    parser.add_argument("--build", default=os.environ.get("DRAWLOOM_BUILD_DIR", ROOT / "build"), type=pathlib.Path)
    options = parser.parse_args()
    program = options.build / "bin" / "drawloom-offload-bench"
    if not program.exists():
        sys.exit(f"offload.py: there is no {program}; build it by scripts/build.sh drawloom-offload-bench")
    if not shutil.which("fio"):
        sys.exit("offload.py: fio is not installed; apt-get install fio brings it")
    names = options.devices.split(",")
    needed = options.size * (len(names) + 1)
    free = shutil.disk_usage(options.folder).free
    if needed > free:
        sys.exit(f"offload.py: {options.folder} has {free / GIB:.1f} GiB free, but {needed / GIB:.1f} are needed; "
                 "give a smaller --size, or fewer --devices")

    depth = options.depth or (128 if options.rows else 16)
    kinds = ["random"] if options.rows else ["store", "load", "put", "get"]
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="drawloom-offload-") as folder:
        contenders = [Fio(folder, options.size)]
        contenders += [Device(program, name, folder, options.size) for name in names]
        results = {(what, one.name): [] for what in kinds for one in contenders}
        for _ in range(options.rounds):
            for what in kinds:
                for one in contenders + contenders[::-1]:
                    results[what, one.name].append(one.run(what, depth, options.rows))
        for what in kinds:
            roof = statistics.median(seconds for seconds, _ in results[what, "fio"])
            for one in contenders:
                turns = results[what, one.name]
                share = roof / statistics.median(seconds for seconds, _ in turns)
                if options.rows:
                    rates = spread([options.rows / seconds / 1000 for seconds, _ in turns]) + " kIOPS"
                    cost = spread([cpu * 1e6 / options.rows for _, cpu in turns]) + " us of processors each"
                else:
                    rates = spread([options.size / GIB / seconds for seconds, _ in turns]) + " GiB/s"
                    cost = spread([cpu * GIB / options.size for _, cpu in turns]) + " s of processors a GiB"
                print(f"{what:6} {one.name:8} {rates}, {100 * share:5.1f} % of fio, {cost}")
        for one in contenders[1:]:
            one.process.stdin.close()
            one.process.wait()


if __name__ == "__main__":
    main()
