# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the benchmarks of offload share: options, figures with their spread, goals, files of figures, the disk's rate by fio."""

import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import time

from drawloom_bench import BenchError
from drawloom_bench.options import GIB
from drawloom_bench.report import tables

START = time.monotonic()


def spread(values, digits=3):
    """The median, and between which values all lie."""
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f} - {max(values):.{digits}f}]"


def progress(text):
    """What goes on, to standard error: with the seconds since the start."""
    print(f"{time.monotonic() - START:6.0f} s  {text}", file=sys.stderr, flush=True)


def spin(seconds):
    """Computes, as far as a core and its clock can tell."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def add_folder(parser, **more):
    parser.add_argument("--folder", **{"required": True, "help": "a folder on the disk to measure; what is written there is deleted", **more})


def need_room(folder, needed, way_out="free some, or name another folder"):
    if not os.path.isdir(folder):
        raise BenchError(f"there is no folder '{folder}'; name one on the disk to measure")
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if needed > free:
        raise BenchError(f"{folder} has {free / GIB:.1f} GiB free, but {needed / GIB:.1f} are needed; {way_out}")


def fio(file, size, *options, depth=16):
    """What Debian's fio says of a job on a file."""
    if not shutil.which("fio"):
        raise BenchError("fio is not installed; apt-get install fio brings it")
    command = ["fio", "--name=turn", f"--filename={file}", f"--size={size}", "--ioengine=io_uring", "--direct=1", f"--iodepth={depth}",
               "--output-format=json", *options]
    (job,) = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["jobs"]
    return job


def file_system(folder):
    """Of a folder: "ext4 on /dev/vda"."""
    path, best = os.path.realpath(folder), ("", "unknown")
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        device, place, kind = line.split()[:3]
        if (path == place or path.startswith(place.rstrip("/") + "/")) and len(place) >= len(best[0]):
            best = place, f"{kind} on {device}"
    return best[1]


class Goals:
    """Figures beside what they have to be."""

    def __init__(self):
        self.found = []

    def add(self, what, figure, least=None, most=None, unit=""):
        met = (least is None or figure >= least) and (most is None or figure <= most)
        self.found.append({"what": what, "figure": figure, "least": least, "most": most, "unit": unit, "met": met})

    def show(self):
        for one in self.found:
            bound = f">= {one['least']:g}" if one["least"] is not None else f"<= {one['most']:g}"
            print(f"{'met   ' if one['met'] else 'MISSED'}  {one['what']}: {one['figure']:.4g}{one['unit']} (goal: {bound}{one['unit']})")


def write(options, **figures):
    """Figures, with the options they were made with and the machine, to the file that --json names."""
    plain = int, float, bool, list, type(None)
    settings = {name: value if isinstance(value, plain) else str(value) for name, value in vars(options).items()
                if name not in ("json", "folder", "build", "parser", "name", "module", "rest") and not str(value).startswith("/")}
    machine = {"processors": os.cpu_count(), "kernel": platform.release()}
    if getattr(options, "folder", None):
        machine["disk"] = file_system(options.folder)
    tables.write_json(options.json, {"settings": settings, "machine": machine, **figures})
