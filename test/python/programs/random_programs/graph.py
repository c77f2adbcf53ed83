# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as data, and their MLIR text.

A Graph is a function or the body of one: inputs, steps and outputs, values being numbered in the order in which they appear.
What a step says and means is in its op's row of the table (`Op`).
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

FLOATS = ("f64", "f32", "bf16", "f16")
INTEGERS = ("i64", "i32", "i8", "i1")


class Extent(int):
    """An extent that the program leaves open, with its value in the call; it may be `more` than that of this name."""

    def __new__(cls, value, name, more=0):
        extent = super().__new__(cls, value)
        extent.name, extent.more = name, more
        return extent

    def __getnewargs__(self):
        return int(self), self.name, self.more


@dataclass(frozen=True, eq=False)
class Type:
    """A tensor, or, without a shape, a scalar."""

    shape: tuple | None
    element: str

    def __eq__(self, other):
        # An extent that is left open is not one that is known, although both are numbers here.
        return self.shape == other.shape and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    @property
    def is_float(self):
        return self.element in FLOATS

    @property
    def rank(self):
        return len(self.shape)

    @property
    def is_open(self):
        return self.shape is not None and any(isinstance(extent, Extent) for extent in self.shape)

    def __str__(self):
        if self.shape is None:
            return self.element
        return "tensor<" + "".join(f"{'?' if isinstance(e, Extent) else int(e)}x" for e in self.shape) + self.element + ">"

    def of(self, element):
        return replace(self, element=element)

    def count(self):
        product = 1
        for extent in self.shape or ():
            product *= int(extent)
        return product


@dataclass
class Op:
    """A row of the table.

    make(b)          adds a step to a Builder with operands of its choice, or raises Rejected
    text(p)          prints the step (`Said`)
    meaning(c, ...)  gives its results in torch, from its operands; `c` is the Context, which knows the step, and runs regions
    differentiable   whether programs that are differentiated may hold it
    gpu              whether docs/gpu.md promises it
    integer          whether it is one of those of integers
    weight           how often it is taken, beside the others of its file
    """

    name: str
    text: Callable
    meaning: Callable
    make: Callable | None = None
    differentiable: bool = True
    gpu: bool = True
    integer: bool = False
    weight: float = 1.0


OPS: dict[str, Op] = {}


def op(name, text, meaning, make=None, **more):
    assert name not in OPS, name
    OPS[name] = Op(name, text, meaning, make, **more)


@dataclass
class Step:
    """One op: `operands` and `results` are values of the graph. Regions take what they read as inputs, so that all of it is among
    the operands."""

    op: str
    operands: list[int]
    results: list[int]
    attributes: dict = field(default_factory=dict)
    regions: list[Graph] = field(default_factory=list)


@dataclass
class Graph:
    """Values are numbers, with their types in `types`."""

    types: dict[int, Type] = field(default_factory=dict)
    inputs: list[int] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def new(self, type):
        value = len(self.types)
        self.types[value] = type
        return value

    def input_types(self):
        return [self.types[i] for i in self.inputs]

    def output_types(self):
        return [self.types[i] for i in self.outputs]

    def ops(self):
        """The names of all ops, those of regions too."""
        for step in self.steps:
            yield step.op
            for region in step.regions:
                yield from region.ops()

    def all_types(self):
        yield from self.types.values()
        for step in self.steps:
            for region in step.regions:
                yield from region.all_types()

    def size(self):
        return sum(1 for _ in self.ops())

    def prune(self):
        """Drops the steps that no output needs."""
        needed, kept = set(self.outputs), []
        for step in reversed(self.steps):
            if needed & set(step.results):
                needed |= set(step.operands)
                kept.append(step)
        self.steps = kept[::-1]
        return needed


def number(x, element):
    """A constant of an element type as MLIR writes it."""
    if element == "i1":
        return "true" if x else "false"
    return f"{float(x):.17g}" + ("" if "." in f"{float(x):.17g}" or "e" in f"{float(x):.17g}" else ".0") \
        if element in FLOATS else str(int(x))


def dense(values, element):
    """Nested lists of numbers as MLIR writes them."""
    if isinstance(values, list):
        return "[" + ", ".join(dense(v, element) for v in values) + "]"
    return number(values, element)


def affine_map(dims, results):
    return f"affine_map<({', '.join(f'd{i}' for i in range(dims))}) -> ({', '.join(f'd{i}' for i in results)})>"


class Printer:
    """Writes graphs as MLIR text."""

    def __init__(self):
        self.functions: list[str] = []
        self.calls = itertools.count()
        self._lines: list[str] = []
        self._depth, self._count = 1, 0
        self._extents: dict[str, str] = {}

    def line(self, text):
        self._lines.append("  " * self._depth + text)

    def new(self):
        self._count += 1
        return f"%v{self._count}"

    def value(self, text):
        """A line that gives one value; its name."""
        name = self.new()
        self.line(f"{name} = {text}")
        return name

    def constant(self, x, type):
        if type.shape is not None:
            if type.is_open:
                return self.fill(x, type)
            return self.value(f"arith.constant dense<{dense(x, type.element)}> : {type}")
        return self.value("arith.constant " + number(x, type.element) + ("" if type.element == "i1" else f" : {type}"))

    def index(self, x):
        """The name of an extent or another number of type index."""
        if isinstance(x, Extent):
            return self._extents[x.name]
        return self.value(f"arith.constant {int(x)} : index")

    def empty(self, type):
        extents = ", ".join(self.index(e) for e in type.shape if isinstance(e, Extent))
        return self.value(f"tensor.empty({extents}) : {type}")

    def fill(self, x, type):
        scalar, empty = self.constant(x, Type(None, type.element)), self.empty(type)
        return self.value(f"linalg.fill ins({scalar} : {type.element}) outs({empty} : {type}) -> {type}")

    @contextlib.contextmanager
    def indented(self):
        self._depth += 1
        yield
        self._depth -= 1

    def body(self, graph, inputs):
        """The steps of a graph whose inputs have these names; the names of its outputs."""
        names = dict(zip(graph.inputs, inputs))
        for step in graph.steps:
            results = [self.new() for _ in step.results]
            p = Said(self, step, results, [names[i] for i in step.operands], [graph.types[i] for i in step.results],
                     [graph.types[i] for i in step.operands])
            OPS[step.op].text(p)
            names.update(zip(step.results, results))
        return [names[i] for i in graph.outputs]

    def function(self, name, graph, private=False):
        """Adds a function; functions that it calls come first."""
        inner = Printer()
        inner.functions, inner.calls = self.functions, self.calls
        arguments = [f"%a{i}" for i in range(len(graph.inputs))]
        for argument, type in zip(arguments, graph.input_types()):
            for axis, extent in enumerate(type.shape or ()):
                if isinstance(extent, Extent) and extent.name not in inner._extents:
                    at = inner.value(f"arith.constant {axis} : index")
                    asked = inner.value(f"tensor.dim {argument}, {at} : {type}")
                    if extent.more:
                        asked = inner.value(f"arith.subi {asked}, {inner.index(extent.more)} : index")
                    inner._extents[extent.name] = asked
        results = inner.body(graph, arguments)
        types = ", ".join(map(str, graph.output_types()))
        inner.line(f"return {', '.join(results)} : {types}")
        signature = ", ".join(f"{a}: {t}" for a, t in zip(arguments, graph.input_types()))
        self.functions.append("\n".join([f"func.func {'private ' if private else ''}@{name}({signature}) -> ({types}) {{",
                                         *inner._lines, "}"]))

    def text(self):
        return "\n\n".join(self.functions) + "\n"


@dataclass
class Said:
    """A step that is being printed: what rows of the table write with."""

    printer: Printer
    step: Step
    results: list[str]
    operands: list[str]
    types: list[Type]
    operand_types: list[Type]

    def __getattr__(self, name):
        return getattr(self.printer, name)

    @property
    def type(self):
        return self.types[0]

    def say(self, text):
        """The line of an op: its results, and this."""
        self.line(f"{', '.join(self.results)} = {text}" if self.results else text)

    def ins(self, which=slice(None)):
        """`ins(%a, %b : type, type)`."""
        names, types = self.operands[which], self.operand_types[which]
        return f"ins({', '.join(names)} : {', '.join(map(str, types))})"
