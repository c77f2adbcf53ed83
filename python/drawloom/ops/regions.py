# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compiling a model as it is written needs in any framework: why something stays with the framework, when a program is worth its call, and
what became of a model in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._errors import CallError, CallTypeError

# Wider layers are bound by their products, which a library does as well.
WIDEST = 512

# Below this many multiplications a call costs more than is gained.
FEWEST = 200_000

# Numbers that are made on the way are constants, which stand in the program's text: of how many at most.
LARGEST_MADE = 4096

# Multiplications of an element of a product from which on reading it again is faster than making it again.
KEPT_FROM = 32


class Unsupported(Exception):
    """Why something stays with the framework, and the op that it is about, if it is about one."""

    op: str | None = None

    def __str__(self) -> str:
        return f"{self.op}: {self.reason}" if self.op and not self.reason.startswith(self.op) else self.reason

    @property
    def reason(self) -> str:
        return self.args[0]


@dataclass
class Part:
    """Calls that stay together: their names, who computes them, and why."""

    calls: list[str]
    by: str
    why: str
    rows: str = ""

    def __str__(self) -> str:
        shown = self.calls if len(self.calls) <= 6 else [*self.calls[:3], f"... {len(self.calls) - 5} more ...", *self.calls[-2:]]
        return f"{self.by}: {', '.join(shown)}{f' of {self.rows} rows' if self.rows else ''}: {self.why}"


def in_words(parts: Sequence[Part], more: str = "") -> str:
    """The parts of a model, a line for each."""
    mine = sum(part.by == "drawloom" for part in parts)
    return "\n".join([f"{mine} of {len(parts)} parts compiled by Drawloom{more}", *(f"  {part}" for part in parts)])


def worth(products: Sequence[tuple[int, int]], rows: int, fewest: int = FEWEST) -> tuple[bool, str]:
    """Whether a program with these products of rows is faster than a compiler's kernels around a library's products, and why.

    Where matrices are narrow, what a product reads and writes of memory takes as long as it computes: a program keeps that in the cache.
    Of one product there is nothing between two to keep.
    """
    if len(products) < 2:
        return False, "there is one product, and a library's is as fast" if products else "there is no product in it"
    widest = max(max(one) for one in products)
    if widest > WIDEST:
        return False, f"a product has {widest} channels; above {WIDEST} the products take all the time"
    work = rows * sum(a * b for a, b in products)
    if work < fewest:
        return False, f"it has {work} multiplications; below {fewest} a call costs more than is gained"
    return True, f"{len(products)} matrix products of at most {widest} channels; intermediate results stay in the cache"


def check_function(function: Any, rows: Any) -> None:
    """Whether an op can be made of these."""
    if not callable(function):
        raise CallTypeError(f"op makes ops of functions, not of a {type(function).__name__}")
    if not isinstance(rows, int) or rows < 1:
        raise CallError(f"rows is {rows!r}; it is how many arguments have rows, from 1")


def key_of(name: str, options: dict[str, Any], arrays: type | tuple[type, ...], word: str) -> tuple[Any, ...]:
    """What tells the arguments by name of one call of an op from those of another one."""
    for option, value in options.items():
        if isinstance(value, arrays):
            raise CallTypeError(f"{name}: {option} is {'an' if word == 'array' else 'a'} {word}, given by name; {word}s come first")
        try:
            hash(value)
        except TypeError:
            raise CallTypeError(f"{name}: {option} is a {type(value).__name__}, which may change; give a number, a text or a tuple of these") from None
    # 1, 1.0 and True are equal, and so are 0.0 and -0.0.
    return tuple((option, type(value), value, repr(value)) for option, value in sorted(options.items(), key=lambda one: one[0]))
