# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What of a pass is written: the order of saves, learnt from passes before.

Saves are a stack: what was saved last is used first. So of a pass whose saves exceed the memory, the last ones that fit are kept, and
those before them are written. This writes the fewest bytes, and those with the longest time to return. In the first pass nobody knows
where the end is: the oldest that is kept goes when room is needed, which writes the same, but late.
"""

from __future__ import annotations

import math
from typing import Any

HISTORY = 16


class Entry:
    """One storage that a pass saved."""

    __slots__ = ("alive", "held", "last", "rank", "signature", "size", "used")

    def __init__(self, signature: Any, size: int, at: int) -> None:
        self.signature, self.size = signature, size
        self.last = at                       # the number of the save that was the last one of it
        self.alive = True                    # at the end of the pass
        self.held = False                    # by others, when it was used: to write it freed nothing
        self.used: int | None = None         # the number of its first use
        self.rank = 0.0                      # sorts the entries of a pass by the use to come


class Pass:
    """Saves with no use among them: a forward pass, as a rule."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.saves = self.uses = 0
        self.number = 0                      # of the passes in their order
        self.guess: Pass | None = None       # a pass before that began as this one did

    def starts_as(self, other: Pass) -> bool:
        """Whether `other`'s saves so far are the first of this pass."""
        return len(self.entries) >= len(other.entries) and all(
            mine.signature == its.signature for mine, its in zip(self.entries, other.entries))

    def has(self, at: int, signature: Any) -> bool:
        return at < len(self.entries) and self.entries[at].signature == signature

    def rank(self) -> None:
        """As the guess was used, else the last save first."""
        guess = self.guess
        if guess is not None and len(guess.entries) == len(self.entries) and any(entry.used is not None for entry in guess.entries):
            for mine, its in zip(self.entries, guess.entries):
                mine.rank = math.inf if its.used is None else its.used
        else:
            for entry in self.entries:
                entry.rank = -entry.last

    def goes(self, memory: int) -> list[bool]:
        """By entry, whether it is written where `memory` bytes may be kept."""
        goes, kept = [False] * len(self.entries), 0
        for i in sorted(range(len(self.entries)), key=lambda i: -self.entries[i].last):
            entry = self.entries[i]
            if entry.alive and not entry.held:
                kept += entry.size
                goes[i] = kept > memory
        return goes


class Order:
    """The passes of a client."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._past: list[Pass] = []          # the latest first
        self._now: Pass | None = None
        self._goes: list[bool] = []
        self._passes = 0

    def save(self, signature: Any, size: int) -> tuple[Pass, Entry, bool | None, bool]:
        """Of a storage that is saved for the first time: its pass and entry; whether it is to be written at once, None where that is not
        known; whether others are known to hold it."""
        known = self._now
        if known is None:
            known = self._now = Pass()
            self._passes += 1
            known.number = self._passes
            self._follow(self._after())
        entry = Entry(signature, size, known.saves)
        known.saves += 1
        known.entries.append(entry)
        at = len(known.entries) - 1
        if at == 0 and known.guess is None or known.guess is not None and not known.guess.has(at, signature):
            self._follow(next((one for one in self._past if one.starts_as(known)), None))
        if known.guess is None:
            return known, entry, None, False
        # Until it is used.
        entry.held = known.guess.entries[at].held
        return known, entry, self._goes[at], entry.held

    def again(self, known: Pass, entry: Entry) -> None:
        """A save of a storage that the pass has saved before."""
        if known is self._now:
            entry.last = known.saves
            known.saves += 1

    def use(self, known: Pass, entry: Entry) -> None:
        """The first use of a storage. It ends the pass that is under way."""
        self.end()
        entry.used = known.uses
        known.uses += 1

    def gone(self, known: Pass, entry: Entry) -> None:
        """Nobody can use a storage any more."""
        if known is self._now:
            entry.alive = False

    def end(self) -> None:
        """The end of the pass under way."""
        if self._now is not None:
            self._now.rank()
            self._now.guess = None           # else every pass would keep those before it
            self._past.insert(0, self._now)
            del self._past[HISTORY:]
            self._now = None

    def _follow(self, guess: Pass | None) -> None:
        assert self._now is not None
        self._now.guess = guess
        self._goes = [] if guess is None else guess.goes(self._memory)

    def _after(self) -> Pass | None:
        """The pass that followed the last one like the latest: where two kinds of pass alternate, the other kind."""
        if self._past:
            latest = self._past[0]
            for newer, older in zip(self._past, self._past[1:]):
                if len(older.entries) == len(latest.entries) and older.starts_as(latest):
                    return newer
        return None
