# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the benchmarks of offload share: sizes, figures with their spread, goals, files of figures."""

import argparse
import json
import os
import pathlib
import platform
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("DRAWLOOM_BUILD_DIR", ROOT / "build"))
MIB, GIB = 1 << 20, 1 << 30
START = time.monotonic()


def size(text):
    """Bytes of 2GiB or 512MiB, for options of a command."""
    for unit, factor in (("GiB", GIB), ("MiB", MIB), ("KiB", 1 << 10)):
        if text.endswith(unit):
            try:
                return round(float(text[:-3]) * factor)
            except ValueError:
                break
    raise argparse.ArgumentTypeError(f"'{text}' is no size; one is 2GiB or 512MiB")


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


def need_room(folder, needed, way_out):
    if not os.path.isdir(folder):
        sys.exit(f"there is no folder '{folder}'; name one on the disk to measure")
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if needed > free:
        sys.exit(f"{folder} has {free / GIB:.1f} GiB free, but {needed / GIB:.1f} are needed; {way_out}")


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


def write(path, options, **figures):
    """Figures, with the options they were made with and the machine, to the file that --json names."""
    if path is None:
        return
    plain = int, float, bool, list, type(None)
    settings = {name: value if isinstance(value, plain) else str(value) for name, value in vars(options).items()
                if name not in ("json", "folder", "build") and not str(value).startswith("/")}
    machine = {"processors": os.cpu_count(), "kernel": platform.release()}
    if getattr(options, "folder", None):
        machine["disk"] = file_system(options.folder)
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"settings": settings, "machine": machine, **figures}, indent=1) + "\n")
    progress(f"figures: {path}")
