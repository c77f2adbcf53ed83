# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.report: where the time of a function goes."""

from __future__ import annotations

import collections
import html
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from . import _drawloom
from ._errors import CallError, CallTypeError
from ._module import Array, Function, Module, Path, only

__all__ = ["Kernel", "Phase", "Remark", "Report", "Roofs", "report"]

_FORMATS = {".txt": 0, ".json": 1, ".html": 2}


@dataclass(frozen=True)
class Roofs:
    """What this machine reached in the same run, on as many threads."""

    flops_per_second: float
    """Single-precision multiply-adds from registers, two operations each."""
    bytes_per_second: float
    """A triad over arrays beyond the caches."""


@dataclass(frozen=True)
class Kernel:
    """A kernel's part of one call; what cannot be counted or is not known is None."""

    name: str
    source: str
    """Where it comes from, "name.mlir:3", or ""."""
    calls: float
    blocks: float
    milliseconds: float
    share: float
    """Of the time of the call, 0 to 1."""
    flops: Optional[float]
    """Floating-point operations of the code that runs: what is computed again or padded counts too."""
    bytes: Optional[float]
    """Of the buffers that it reads or writes, each once."""
    intensity: Optional[float]
    """Operations by bytes."""
    roof_milliseconds: Optional[float]
    """What the roofs leave it: its operations, or its bytes, at the machine's speed, whichever takes longer."""
    bound: Optional[str]
    """Which of the two: "operations" or "bytes"."""

    @property
    def flops_per_second(self) -> float | None:
        return self.flops / self.milliseconds * 1e3 if self.flops is not None and self.milliseconds else None

    @property
    def bytes_per_second(self) -> float | None:
        return self.bytes / self.milliseconds * 1e3 if self.bytes is not None and self.milliseconds else None

    @property
    def of_roof(self) -> float | None:
        """The part of the roof that it reaches: 1 where it could not be faster. More where buffers stay in a cache."""
        return self.roof_milliseconds / self.milliseconds if self.roof_milliseconds is not None and self.milliseconds else None


@dataclass(frozen=True)
class Phase:
    """A phase of the compiler; "machine code" is the last."""

    name: str
    milliseconds: float


@dataclass(frozen=True)
class Remark:
    """What the compiler said of the program."""

    kind: str
    """"passed", "missed", "failed", "warning" or "remark"."""
    category: str
    """The pass: "fuse-rows"."""
    name: str
    source: str
    message: str
    values: dict = field(default_factory=dict)
    """Figures that come with it, by name."""
    count: int = 1
    """How often it was said of the same place."""


class Report:
    """Where the time of a function goes; see drawloom.report. str() gives tables, a notebook shows the page. Times are in
    milliseconds; operations and bytes are numbers of them; all are of one call, the mean of the calls.

    function, target, isa, processor   what ran, and on what
    threads, calls                     of a call; whose mean the figures are
    milliseconds                       of a call
    outside_milliseconds               the part of it outside of all kernels
    bytes                              of the arguments and results
    roofs                              a Roofs, or None for a target that is not this processor
    kernels, phases, remarks           lists of Kernel, Phase, Remark
    """

    def __init__(self, made: _drawloom.Report) -> None:
        self._made = made
        known = json.loads(made.text(_FORMATS[".json"]))
        self.function, self.target, self.isa, self.processor = (known[key] for key in ("function", "target", "isa", "processor"))
        self.threads, self.calls, self.bytes = known["threads"], known["calls"], known["bytes"]
        self.milliseconds, self.outside_milliseconds = known["seconds"] * 1e3, known["outside_seconds"] * 1e3
        roofs = known["roofs"]
        self.roofs = roofs and Roofs(roofs["operations_per_second"], roofs["bytes_per_second"])
        self.kernels = [Kernel(one["name"], one["source"], one["calls"], one["blocks"], one["seconds"] * 1e3, one["share"],
                               one["operations"], one["bytes"], one["intensity"],
                               None if one["roof_seconds"] is None else one["roof_seconds"] * 1e3, one["bound"])
                        for one in known["kernels"]]
        self.phases = [Phase(one["name"], one["seconds"] * 1e3) for one in known["phases"]]
        self.remarks = [Remark(**one) for one in known["remarks"]]

    @property
    def compile_milliseconds(self) -> float:
        """Of all phases."""
        return sum(phase.milliseconds for phase in self.phases)

    def __str__(self) -> str:
        return self._made.text(_FORMATS[".txt"])

    def __repr__(self) -> str:
        return f"<drawloom report of @{self.function}: {self.milliseconds:.4g} ms, {len(self.kernels)} kernels>"

    def json(self) -> str:
        """The same for programs: text of a JSON object, in seconds, operations and bytes."""
        return self._made.text(_FORMATS[".json"])

    def html(self) -> str:
        """A page that needs no other file; the browser draws it by a script in it, from what json() gives."""
        return self._made.text(_FORMATS[".html"])

    def _repr_html_(self) -> str:
        # In a frame of its own: the page's style is not the notebook's, and its script reaches nothing of the notebook.
        return (f'<iframe srcdoc="{html.escape(self.html())}" sandbox="allow-scripts" '
                'style="width: 100%; height: 900px; border: 0" title="Drawloom report"></iframe>')

    def save(self, path: Path) -> None:
        """Writes the page, or by the path's ending .json or .txt. The file appears as a whole. Raises drawloom.FileError."""
        path = os.fspath(path)
        ending = os.path.splitext(path)[1]
        if ending not in _FORMATS:
            raise CallError(f"'{path}': a report is a page, .html, or a .json or .txt file")
        self._made.save(_FORMATS[ending], path)


def _check_counts(calls, threads):
    if not isinstance(calls, int) or calls < 1:
        raise CallError(f"calls is {calls!r}; it is a number of calls from 1")
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise CallError(f"threads is {threads!r}; it is a number of threads from 1")


def _of_torch(function, arguments, shapes, calls, threads):
    import torch

    from . import _library, ops
    from .torch import _record

    title = type(function).__name__ if isinstance(function, torch.nn.Module) else getattr(function, "__name__", "call")
    if shapes is not None:
        raise CallError(f"shapes are given; {title} is called with tensors")
    parts, names = [], collections.Counter()
    for program in _record.programs(function, arguments):
        # Kernels are called by the names of their functions: rational_vjp, and for other shapes rational_vjp_2.
        name = ops.name(program.spec).replace(".", "_")
        names[name] += 1
        name += f"_{names[name]}" if names[name] > 1 else ""
        source = ops.text(program.spec, list(program.types)).replace("func.func @main(", f"func.func @{name}(")
        compiler = _library.compiler()
        sources = [(ops.name(program.spec) + ".mlir", source.encode())]
        parts.append((compiler.report(sources, [], compiler.parse(sources).functions[0], program.tensors, calls,
                                      threads or torch.get_num_threads()), program.calls))
    if not parts:
        raise CallError(f"{title} calls no function of drawloom.torch")
    return Report(_drawloom.join_reports(parts, title))


def report(function: Function | Module | Callable[..., Any], *arguments: Array, shapes: Sequence[Sequence[int]] | None = None,
           calls: int = 20, threads: int | None = None) -> Report:
    """Measures a function of a module, kernel by kernel, beside what this machine reaches.

    function   a function of a module, one that drawloom.grad gave, or a module with one function or an entry; or a PyTorch
               module or function that calls those of drawloom.torch
    arguments  what it is called with; without any random values: floats in [-1, 1), integers 0 and 1
    shapes     without arguments, the shape of each, where the function leaves extents open
    calls      whose mean is taken
    threads    of a call; by default the module's, or PyTorch's

    Gives a Report. The function is compiled once more, without the cache, so that the time of each phase is known and the
    compiler's remarks are heard; what else runs on the machine meanwhile disturbs the figures.

    A model of PyTorch is called once and, where gradients are recorded, its backward pass, whose results are dropped. The
    report is of all programs of Drawloom that these call, one after the other; what PyTorch computes itself is not in it.
    """
    _check_counts(calls, threads)
    if isinstance(function, Module):
        if function.entry is None and len(function.functions) != 1:
            raise CallError(f"the program has several functions, {function._names()}: name one, as in report(module.NAME)")
        function = getattr(function, function.entry or function.functions[0])
    if not isinstance(function, Function) and callable(function) and "drawloom.torch" in sys.modules:
        return _of_torch(function, arguments, shapes, calls, threads)
    if not isinstance(function, Function):
        raise CallTypeError(f"a report is of a function of a drawloom module, but a {type(function).__name__} is given")
    program = function._program
    if program.sources is None or program.compiler is None:
        raise CallError("the module was loaded from a file, which holds machine code and no program to compile and measure")
    if arguments and shapes is not None:
        raise CallError("arguments are given, and shapes for random ones: one of them is enough")
    if arguments:
        shapes = [function._shape(i, argument) for i, argument in enumerate(arguments)]
    elif shapes is None:
        if function._open:
            raise CallError(f"@{function.name} leaves extents open: give it arguments, or their shapes")
        shapes = [shape for _, shape in function.arguments]
    shapes = [tuple(int(extent) for extent in shape) for shape in shapes]
    if not arguments:
        function._check(shapes)
    # Checks the arguments' types, and finds errors of the program in the way that a call would.
    compiled = function.specialize(*shapes)
    with program.storing(compiled):
        return Report(program.compiler.report(
            only(program.sources, program.open, function.name),
            [(function.name, [list(shape) for shape in shapes])] if function._open else [], compiled, arguments or None, calls,
            threads or program.most_threads))
