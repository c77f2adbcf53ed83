# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What moved: a table, a trace, a picture."""

from __future__ import annotations

import dataclasses
import json
import os

from .._errors import CallError

# (what, start, end, bytes) in nanoseconds of one clock. "pass": within the context; "copy": a record is given to the store; "wait": one is
# asked for; "memory": what is held, at `start`; of the store itself "write" and "read".
Event = tuple[str, int, int, int]

LANES = {"pass": ("context", (110, 110, 118)), "copy": ("copies", (190, 150, 20)), "write": ("writes", (206, 92, 48)),
         "read": ("reads", (33, 90, 170)), "wait": ("waits", (180, 40, 60))}


def amount(size: float) -> str:
    """Three digits and a unit."""
    unit = 0
    while size >= 1023.5 and unit < 5:
        size, unit = size / 1024, unit + 1
    number = f"{size:.0f}" if size >= 99.5 else f"{size:.3g}"
    return f"{number} {'B KiB MiB GiB TiB PiB'.split()[unit]}"


@dataclasses.dataclass(frozen=True)
class Report:
    """Figures of an `offload` since it was made; str() is a table of them. Sizes are in bytes."""

    passes: int                             # times that the context was entered
    memory: int                             # the budget
    saves: int                              # tensors that autograd saved, without those that were left
    saved: int                              # in the storages of these, each counted once
    moved: int                              # given to the store
    kept: int                               # in main memory now, loaded ones included
    peak: int                               # the most that was kept
    written: int                            # to the folders
    read: int                               # from the folders
    steps: int                              # of optimizers whose states are on the folders
    step_seconds: float                     # that these took
    step_stall: float                       # and that they were within calls of the store
    stall: float                            # seconds within calls of the store
    seconds: float                          # since the beginning
    endurance: int | None                   # bytes that the SSDs are rated to take
    left: dict[str, tuple[int, int]]        # why tensors stayed where they are: how many, and their bytes

    @property
    def wear(self) -> float | None:
        """The part of the endurance that was used."""
        return self.written / self.endurance if self.endurance else None

    def __str__(self) -> str:
        a_pass = f", {amount(self.written / self.passes)} a pass" if self.passes else ""
        rows = [("passes", f"{self.passes}"),
                ("saved", f"{amount(self.saved)} in {self.saves} tensors"),
                ("moved", f"{amount(self.moved)}, {100 * self.moved / max(self.saved, 1):.0f} % of what was saved")]
        rows = (rows if self.passes or not self.steps else []) + [
                ("kept", f"{amount(self.kept)} now, {amount(self.peak)} at most, of a memory of {amount(self.memory)}"),
                ("written", f"{amount(self.written)}{a_pass}"),
                ("read", amount(self.read)),
                ("stall", f"{self.stall:.3f} s, {100 * self.stall / max(self.seconds, 1e-9):.1f} % of the time")]
        if self.steps:
            rows.append(("steps", f"{self.steps} of optimizers, {self.step_seconds / self.steps:.3g} s each, "
                                  f"{100 * self.step_stall / max(self.step_seconds, 1e-9):.0f} % of it stall"))
        if self.endurance and self.wear is not None:
            rate = self.written / max(self.seconds, 1e-9) * 86400
            days = f"; at this rate it lasts {(self.endurance - self.written) / rate:,.0f} days" if rate else ""
            rows.append(("wear", f"{100 * self.wear:.4f} % of {amount(self.endurance)}{days}"))
        rows += [("left", f"{count} tensors, {amount(size)}: {reason}") for reason, (count, size) in self.left.items()]
        return "\n".join(f"{name:8}  {text}" for name, text in rows)


def chrome_trace(path: str | os.PathLike[str], events: list[Event], transfers: list[Event]) -> None:
    lanes, found = list(LANES), []
    for what, start, end, size in sorted(events + transfers, key=lambda event: event[1]):
        common = {"pid": os.getpid(), "tid": lanes.index(what) if what in LANES else 0, "ts": start / 1e3}
        if what == "memory":
            found.append({"name": "kept", "ph": "C", "args": {"bytes": size}, **common})
        else:
            found.append({"name": LANES[what][0], "ph": "X", "dur": (end - start) / 1e3, "args": {"bytes": size}, **common})
    names = [{"name": "thread_name", "ph": "M", "pid": os.getpid(), "tid": i, "args": {"name": LANES[lane][0]}} for i, lane in enumerate(lanes)]
    with open(path, "w") as file:
        json.dump({"traceEvents": names + found}, file)


def draw(path: str | os.PathLike[str], events: list[Event], transfers: list[Event], memory: int) -> None:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise ImportError("offload: a picture needs pillow: pip install pillow") from error
    passes = [event for event in events if event[0] == "pass"]
    if not passes:
        raise CallError("offload: there is no pass to draw yet; enter the context first")
    first = passes[-1][1]
    shown = [event for event in events + transfers if event[1] >= first]
    last = max(max(event[1], event[2]) for event in shown)
    left, right, ink = 110, 1090, (32, 32, 40)
    canvas = Image.new("RGB", (1120, 560), "white")
    pen, font = ImageDraw.Draw(canvas), ImageFont.load_default(14)

    def across(time: int) -> float:
        return left + (time - first) / max(last - first, 1) * (right - left)

    pen.text((left, 14), f"the latest pass and what follows, {(last - first) * 1e-9:.3g} s", ink, font)
    for i, (lane, (name, colour)) in enumerate(LANES.items()):
        top = 48 + 44 * i
        pen.text((left - 12, top + 15), name, ink, font, anchor="rm")
        pen.line((left, top + 30, right, top + 30), (222, 222, 228))
        for _, start, end, _ in (event for event in shown if event[0] == lane):
            pen.rectangle((across(start), top, max(across(end), across(start) + 1), top + 30), colour)
    held = sorted((event[1], event[3]) for event in shown if event[0] == "memory")
    bottom, most = 500, max([memory] + [size for _, size in held]) or 1

    def up(size: int) -> float:
        return bottom - size / most * 200

    pen.text((left - 12, bottom - 100), "kept", ink, font, anchor="rm")
    pen.line((left, up(memory), right, up(memory)), (206, 92, 48))
    pen.text((right, up(memory) - 4), f"memory: {amount(memory)}", (206, 92, 48), font, anchor="rb")
    steps = [point for (time, size), (until, _) in zip(held, [*held[1:], (last, 0)])
             for point in ((across(time), up(size)), (across(until), up(size)))]
    if steps:
        pen.line(steps, (33, 90, 170), 2)
    pen.line((left, bottom, right, bottom), ink)
    for i in range(5):
        time = (last - first) * i // 4
        pen.text((across(first + time), bottom + 8), f"{time * 1e-9:.3g} s", ink, font, anchor="mt")
    canvas.save(path)
