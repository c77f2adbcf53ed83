# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a step waits for where a disk is fast enough, nearly, or not; and what two processes get of one disk.

    drawloom-bench offload-store stall --folder /mnt/ssd [--json FILE]
    drawloom-bench offload-store processes --folder /mnt/ssd [--json FILE]

stall       A step puts tensors of 16 MiB, and gets them back in the reverse order. Beside each it computes: one thread spins, for so long
            that the tensors need 50, 80, 95 and 120 % of what the disk can do in the time. What it can do is measured right before each
            step, writing and reading apart, by a step that computes nothing. "stall" is what the store counts: the time that puts and gets
            waited, over the time that the step took without it. Copies and checksums are no stall; they are a part of what is computed.
            "disk": the rate after the step over that before; a step over which it changed by much says little.
processes   Two stores of two processes put and get at once, and one alone, by turns (ABBA): the bytes of both over the time until
            the slower one is through, over the rate of the one.
            Then a third is opened that asks for more than the disk has left: it has to be refused, and to say so.
"""

import os
import statistics
import subprocess
import tempfile
import time

from drawloom_bench import BenchError
from drawloom_bench import options as common
from drawloom_bench import processes as programs
from drawloom_bench.offload.common import Goals, add_folder, need_room, progress, spin, spread, write
from drawloom_bench.offload.devices import Process
from drawloom_bench.options import GIB, MIB

SHARES = {0.50: 1.0, 0.80: 1.0, 0.95: 3.0, 1.20: 22.0}  # of the disk: the most stall, in hundredths
TENSOR = 16 * MIB


class Step:
    """Tensors that go out and come back."""

    def __init__(self, folder, options):
        import numpy

        from drawloom import _drawloom
        self.count = options.size // TENSOR
        self.store = _drawloom.Store.open([folder], options.size + 4 * TENSOR, options.memory, 0, None, None)
        self.tensors = numpy.random.default_rng(0).integers(256, size=(4, TENSOR), dtype=numpy.uint8)

    def run(self, forward=0.0, backward=0.0, waits=False):
        """Computes so many seconds beside each tensor. Of the forward and of the backward half: (seconds, those of stall, bytes to or from
        the disk). waits: all is written before anything is read, and the wait for that is stall, too."""
        halves, records, start, before = [], [], time.perf_counter(), self.store.statistics()

        def end(kind, wait=0.0):
            nonlocal start, before
            now, after = time.perf_counter(), self.store.statistics()
            wait += sum(after[name] - before[name] for name in ("put_stall", "get_stall"))
            halves.append((now - start, wait, after[kind] - before[kind]))
            start, before = now, after

        for i in range(self.count):
            spin(forward)
            records.append(self.store.put(self.tensors[i % len(self.tensors)].ctypes.data, TENSOR, "tensor", self.count - i))
        last = time.perf_counter()
        if waits:
            self.store.finish()
        end("written", time.perf_counter() - last)
        self.store.expect(records[::-1])
        while records:
            lent = self.store.borrow(records[-1], TENSOR)
            spin(backward)
            del lent
            self.store.drop(records.pop())
        end("read")
        return halves

    def link(self):
        """Of writing and of reading: (seconds that the disk needs for a tensor, seconds of copies and checksums)."""
        return [(seconds * TENSOR / max(moved, 1), (seconds - waited) / self.count)
                for seconds, waited, moved in self.run(waits=True)]


def share_of(seconds, waited, *_):
    """Stall in hundredths of the time without it."""
    return 100 * waited / (seconds - waited)


def stall(options):
    need_room(options.folder, options.size, "give a smaller --size")
    shares, found = {float(share) / 100 for share in options.shares.split(",")}, {}
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="drawloom-offload-") as folder:
        step = Step(folder, options)
        step.run(waits=True)
        after = step.link()
        for turn in range(options.rounds):
            for share in sorted(shares):
                before = after
                to, back = (TENSOR / GIB / link for link, _ in before)
                progress(f"round {turn + 1} of {options.rounds}: {100 * share:.0f} % of {to:.2f} GiB/s to the disk, {back:.2f} from it")
                halves = step.run(*(max(link / share - copy, 0.0) for link, copy in before))
                after = step.link()
                found.setdefault(share, []).append({
                    "stall": share_of(*map(sum, zip(*halves))), "put": share_of(*halves[0]), "get": share_of(*halves[1]),
                    "seconds": sum(seconds for seconds, *_ in halves), "link, s": [[link for link, _ in one] for one in (before, after)],
                    "disk": [now[0] / then[0] for now, then in zip(before, after)]})
        step.store.close()
    goals = Goals()
    for share, turns in found.items():
        both = [one["stall"] for one in turns]
        print(f"{100 * share:3.0f} % of the disk: stall {spread(both, 2)} %, of puts {spread([one['put'] for one in turns], 2)} %, "
              f"of gets {spread([one['get'] for one in turns], 2)} %, disk {spread([rate for one in turns for rate in one['disk']], 2)}")
        if share in SHARES:
            goals.add(f"stall at {100 * share:.0f} % of the disk", statistics.median(both), most=SHARES[share], unit=" %")
    goals.show()
    write(options, shares={f"{share:.2f}": turns for share, turns in found.items()}, goals=goals.found)


def processes(options):
    program = programs.built("drawloom-offload-bench")
    need_room(options.folder, 2 * options.size + GIB, "give a smaller --size")
    found = {kind: {"one": [], "two": []} for kind in ("put", "get")}
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="drawloom-offload-") as folder:
        two = []
        for i in range(2):
            progress(f"process {i + 1} prepares")
            two.append(Process(f"process {i + 1}", [program, "store:io_uring", folder, str(options.size)]))
            if two[-1].lacks:
                raise BenchError(two[-1].lacks)
        for turn in range(options.rounds):
            for kind in found:
                progress(f"round {turn + 1} of {options.rounds}: {kind}")
                for who in (two[:1], two, two, two[1:]):
                    for one in who:
                        one.prepare(kind)
                    for one in who:
                        one.begin(kind, 16, 0)
                    # Until the slower one is through.
                    seconds = max(one.end_of(kind)[0] for one in who)
                    found[kind]["one" if len(who) == 1 else "two"].append(len(who) * options.size / GIB / seconds)
        status = os.statvfs(folder)
        more = status.f_bavail * status.f_frsize + GIB
        start = time.perf_counter()
        third = subprocess.run([program, "store:io_uring", folder, str(more)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               check=False)
        third_seconds = time.perf_counter() - start
        for one in two:
            one.end()
    goals = Goals()
    for kind, rates in found.items():
        print(f"{kind}: one process {spread(rates['one'])} GiB/s, two together {spread(rates['two'])} GiB/s")
        one, two = (statistics.median(rates[who]) for who in ("one", "two"))
        goals.add(f"{kind}: two processes of one", 100 * two / one, least=95, unit=" %")
    message = third.stderr.strip()
    print(f"a third, of {more / GIB:.1f} GiB, {'was refused' if third.returncode else 'WAS OPENED'} after {third_seconds:.2f} s: {message}")
    goals.add("a third that does not fit is refused", int(third.returncode == 1 and "free" in message), least=1)
    goals.show()
    third = {"message": message.replace(folder, "FOLDER"), "seconds": third_seconds}
    write(options, rates=found, third=third, goals=goals.found)


def arguments(parser):
    parser.add_argument("what", choices=("stall", "processes"))
    add_folder(parser)
    parser.add_argument("--size", type=common.size, default=2 * GIB, help="of all tensors of a step, or of each process (2GiB)")
    parser.add_argument("--memory", type=common.size, default=64 * MIB, help="of the store of stall (64MiB): what it holds needs no disk")
    parser.add_argument("--shares", default="50,80,95,120", help="of the disk, in hundredths (%(default)s)")
    parser.add_argument("--rounds", type=int, default=4)
    common.add_json(parser)


def main(options):
    {"stall": stall, "processes": processes}[options.what](options)
