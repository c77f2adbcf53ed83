# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops that frameworks see, as programs. What is here knows neither torch nor JAX, and both are built on it.

A family of ops is a file of this folder that registers a Family: the types of its results and MLIR text of its forward
pass. All derivatives, of any order, follow from that text: a Spec names an op with its attributes and the derivatives that
are taken of it, and `function` compiles the spec for given types.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

from .. import _library
from .._errors import CallError, CallTypeError, CompileError
from .._module import named_text, type_text


@dataclass(frozen=True)
class Array:
    """The type of an argument or result: the element type's name ("float32") and the shape, where `open_extent` stands for what each call
    chooses."""

    dtype: str
    shape: tuple

    @property
    def text(self):
        return type_text(self.dtype, self.shape)


# What is larger than another one by one: boundaries, of what lies between them.
ONE_MORE = 1 << 32


def open_extent(number, more=0):
    """In shapes: the open extent of this number, of which a program has some, or what is larger by `more`. It is negative."""
    return -1 - number - more * ONE_MORE


def between(extent):
    """How many lie between so many boundaries."""
    return extent - 1 if extent >= 0 else extent + ONE_MORE


@dataclass(frozen=True)
class Family:
    """check(attributes, arguments): raises CallError where the types of the arguments do not fit, and says what would.
    results(attributes, arguments) -> [Array]: the types of the results; extents may be symbols.
    body(attributes, arguments, results, names) -> (lines, values): MLIR text of the forward pass on arguments called `names`.
    Where extents are open, `extent_lines` are in front of it.
    opened(attributes, arguments): the types of the arguments with open extents where one program takes any; None where each combination
    has a program.
    rowwise: the first argument and the results have rows, all dimensions but the last, which do not mix.
    pointwise: besides, nothing is summed over the channels, as products do: it is worth nothing without what is around it.
    axes(attributes, arguments) -> (of arguments, of results): a name or None for each of their dimensions. Dimensions of one name
    are of one extent, and what is at one index of them does not mix with the rest: so devices may have a part each.
    once: it is differentiated once, in reverse mode.
    saving(attributes): where its forward pass keeps values for derivatives, (attributes of the op whose last results they are, those of
    the op whose last arguments they are, how many, how many of these are the op's own results); otherwise None."""

    name: str
    check: Callable
    results: Callable
    body: Callable
    opened: Callable
    rowwise: bool
    axes: Callable
    once: bool
    saving: Callable
    pointwise: bool


families: dict[str, Family] = {}


def _rows_as_axes(attributes, arguments):
    axes = (*(f"row{d}" for d in range(len(arguments[0].shape) - 1)), None)
    return [axes, *((None,) * len(one.shape) for one in arguments[1:])], [axes]


def _open_rows(attributes, arguments):
    return [replace(arguments[0], shape=(open_extent(0), *arguments[0].shape[1:])), *arguments[1:]]


def extent_lines(names, arguments):
    """Lines that make %extent0, %extent1, ..., the open extents by their numbers, of what the arguments have."""
    having = {}
    for name, one in zip(names, arguments):
        for dim, extent in enumerate(one.shape):
            if extent < 0:
                more, number = divmod(-1 - extent, ONE_MORE)
                # One that has it as it is, if there is one.
                if number not in having or having[number][0] > more:
                    having[number] = more, name, dim, one.text
    lines = []
    for number, (more, name, dim, text) in sorted(having.items()):
        asked = f"%entries{number}" if more else f"%extent{number}"
        lines += [f"  %dim{number} = arith.constant {dim} : index", f"  {asked} = tensor.dim {name}, %dim{number} : {text}"]
        if more:
            lines += [f"  %more{number} = arith.constant {more} : index", f"  %extent{number} = arith.subi {asked}, %more{number} : index"]
    return lines


def sizes(array):
    """What an op that makes an array takes for the extents that its type leaves open."""
    return ", ".join(f"%extent{-1 - extent}" for extent in array.shape if extent < 0)


def register(name, check, results, body, opened=_open_rows, rowwise=True, axes=_rows_as_axes, once=False,
             saving=lambda attributes: None, pointwise=False):
    families[name] = Family(name, check, results, body, opened, rowwise, axes, once, saving, pointwise)


def check(spec, arguments):
    """Raises CallError where these types do not fit the spec's op (derivatives aside)."""
    if spec.family not in families:
        raise CallError(f"there is no op '{spec.family}'; there are {', '.join(families)}")
    x = arguments[0]
    if x.dtype not in ("float32", "bfloat16", "float16", "float64"):
        raise CallTypeError(f"{spec.family}: x is {x.dtype}; it is float32, float64, bfloat16 or float16")
    families[spec.family].check(dict(spec.attributes), arguments)


@dataclass(frozen=True)
class Derivative:
    """A vector-Jacobian product: gradients of the arguments `wrt`, given cotangents of the results `given`; those of all
    other results are zero. Its arguments are those of what it is the derivative of, then the cotangents."""

    wrt: tuple
    given: tuple

    @property
    def numbers(self):
        return [self.wrt, self.given]

    def types(self, given, gives):
        """(arguments, results) for those of what it is the derivative of."""
        return given + [gives[j] for j in self.given], [given[i] for i in self.wrt]


@dataclass(frozen=True)
class Tangents:
    """A Jacobian-vector product: how all results change when the arguments `wrt` move. Its arguments are those of what it is
    the derivative of, then the tangents of `wrt`."""

    wrt: tuple

    @property
    def numbers(self):
        return [self.wrt]

    @property
    def given(self):
        """What has as many entries as it has arguments more."""
        return self.wrt

    def types(self, given, gives):
        return given + [given[i] for i in self.wrt], gives


@dataclass(frozen=True)
class Along:
    """The results, and how they change along `count` directions of the first argument: then for each direction the first
    derivatives of all results, and the second ones. Its arguments are those of what it is the derivative of, then the
    directions, one for each row."""

    count: int

    @property
    def numbers(self):
        return [[], [], [self.count]]

    @property
    def given(self):
        return (0,) * self.count

    def types(self, given, gives):
        return given + [given[0]] * self.count, gives * (1 + 2 * self.count)


@dataclass(frozen=True)
class Spec:
    """An op with its attributes, pairs of a name and a value, and the derivatives taken of it, one of the other."""

    family: str
    attributes: tuple = ()
    derivatives: tuple = ()

    def vjp(self, wrt, given):
        return replace(self, derivatives=self.derivatives + (Derivative(tuple(wrt), tuple(given)),))

    def jvp(self, wrt):
        return replace(self, derivatives=self.derivatives + (Tangents(tuple(wrt)),))

    def along(self, count):
        return replace(self, derivatives=self.derivatives + (Along(count),))

    def __str__(self):
        """Text that `parse` reads; the same for equal specs. Programs that a framework exports carry it."""
        return json.dumps([self.family, dict(self.attributes), [one.numbers for one in self.derivatives]])

    @staticmethod
    def parse(text):
        try:
            family, attributes, derivatives = json.loads(text)
            return Spec(family, tuple(attributes.items()),
                        tuple(_derivative(*map(tuple, numbers)) for numbers in derivatives))
        except (ValueError, AttributeError, TypeError):
            raise CallError(f"'{text}' does not name a Drawloom op and its derivatives") from None

    def results(self, arguments):
        """The types of its results for arguments of these types."""
        return self._types(arguments)[-1][1]

    def _types(self, arguments):
        """(arguments, results) of the op and of each derivative; `arguments` are those of the last."""
        count = len(arguments) - sum(len(derivative.given) for derivative in self.derivatives)
        given = list(arguments[:count])
        levels = [(given, families[self.family].results(dict(self.attributes), given))]
        for derivative in self.derivatives:
            levels.append(derivative.types(*levels[-1]))
        return levels

    def opened(self, arguments):
        """These types of arguments with open extents for what one program takes any of; None where there is no such program."""
        family = families[self.family]
        count = len(arguments) - sum(len(derivative.given) for derivative in self.derivatives)
        types = family.opened(dict(self.attributes), list(arguments[:count]))
        if types is None:
            return None
        gives = family.results(dict(self.attributes), types)
        for derivative in self.derivatives:
            types, gives = derivative.types(types, gives)
        return tuple(types)

    def rows_of(self, arguments):
        """`rows` for arguments of these types, those of rows in any number of dimensions."""
        family = families[self.family]
        count = len(arguments) - sum(len(derivative.given) for derivative in self.derivatives)
        given = list(arguments[:count])
        if family.rowwise:
            # How many rows there are does not matter here.
            given[0] = replace(given[0], shape=(1, given[0].shape[-1]))
        return self.rows(len(arguments), len(family.results(dict(self.attributes), given)))

    def axes_of(self, arguments):
        """(of arguments, of results): names of the dimensions that may be split, as Family.axes says, for arguments of these types.
        A result of a derivative that lacks a name is a sum over that of all parts."""
        count = len(arguments) - sum(len(derivative.given) for derivative in self.derivatives)
        given, gives = families[self.family].axes(dict(self.attributes), list(arguments[:count]))
        for derivative in self.derivatives:
            given, gives = derivative.types(given, gives)
        return given, gives

    def saving(self):
        """(the op with what it keeps for derivatives behind its results, the op that takes this behind its arguments, how many values, how
        many of these are last among its own results); None where it keeps nothing."""
        found = None if self.derivatives else families[self.family].saving(dict(self.attributes))
        return found and (replace(self, attributes=found[0]), replace(self, attributes=found[1]), *found[2:])

    def before(self):
        """What its last derivative is taken of."""
        return replace(self, derivatives=self.derivatives[:-1])

    def rows(self, count, results):
        """Which of `count` arguments and of the results have one row for each row of x; `results`: how many the op has.

        The first argument of an op and its results have rows, and the rows do not mix. So do tangents and cotangents of
        these. Whatever else a derivative gives is a sum over rows: the function that is differentiated is one, always.
        """
        rowwise = families[self.family].rowwise
        given = [rowwise and i == 0 for i in range(count - sum(len(derivative.given) for derivative in self.derivatives))]
        gives = [rowwise] * results
        for derivative in self.derivatives:
            given, gives = derivative.types(given, gives)
        return given, gives


def _derivative(wrt, given=None, along=None):
    """The opposite of `numbers`."""
    return Along(*along) if along else Tangents(wrt) if given is None else Derivative(wrt, given)


def text(spec, arguments, named=()):
    """The spec as MLIR text, of which @main is the only public function. `named` is what callers may name its first arguments by."""
    family = families[spec.family]
    levels = spec._types(arguments)
    lines = []
    for level, (given, gives) in enumerate(levels):
        last = level == len(levels) - 1
        # Values of the body have numbers in their names, and what asks for derivatives is %r.
        names = [f"%{called}" if called.isalpha() and called != "r" else f"%x{i}" for i, (called, _) in enumerate(itertools.zip_longest(named, given, fillvalue=""))]
        if level == 0:
            body, values = family.body(dict(spec.attributes), given, gives, names)
        else:
            derivative = spec.derivatives[level - 1]
            build = {Tangents: _tangents, Along: _along, Derivative: _cotangents}[type(derivative)]
            before, body, values = build(derivative, f"level{level - 1}", *levels[level - 1], names)
            lines += before
        lines += _function("main" if last else f"level{level}", given, gives, names, body, values, private=not last,
                           named=named if last else ())
    return "\n".join(lines)


def _types_text(types):
    return ", ".join(one.text for one in types)


def parameter_names(function, count):
    """Of a Python function's first arguments those names that arguments of programs can have, else "". One that takes any number has none."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[:count]
    except (TypeError, ValueError):  # Of functions in C.
        parameters = []
    names = [one.name if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.name.isascii() else "" for one in parameters]
    return names + [""] * (count - len(names))


def _function(name, given, gives, names, body, values, private, named=()):
    between = ",\n" + " " * len(f"func.func @{name}(") if any(named) else ", "
    parameters = between.join(f"{n}: {one.text}{named_text(called)}"
                              for n, one, called in itertools.zip_longest(names, given, named, fillvalue=""))
    return [f"func.func {'private ' if private else ''}@{name}({parameters}) -> ({_types_text(gives)}) {{",
            *extent_lines(names, given), *body, f"  return {', '.join(values)} : {_types_text(gives)}\n}}"]


def _vjp(result, function, given, gives, names, cotangents, wrt):
    """One request; its values behind those of the function itself are the gradients."""
    all_results = gives + [given[i] for i in wrt]
    line = (f"  {result}:{len(all_results)} = ad.vjp @{function}({', '.join(names)}) cotangents({', '.join(cotangents)}) "
            f"wrt {list(wrt)}\n    : ({_types_text(given)}) -> ({_types_text(all_results)})")
    return line, [f"{result}#{len(gives) + i}" for i in range(len(wrt))]


def _zeros(gives):
    def line(j, one):
        if min(one.shape, default=0) >= 0:
            return f"  %zero{j} = arith.constant dense<0.0> : {one.text}"
        element = Array(one.dtype, ()).text[len("tensor<"):-1]
        return f"  %none{j} = arith.constant 0.0 : {element}\n  %zero{j} = tensor.splat %none{j}[{sizes(one)}] : {one.text}"

    return [f"%zero{j}" for j in range(len(gives))], [line(j, one) for j, one in enumerate(gives)]


def _cotangents(derivative, inner, given, gives, names):
    zeros, lines = _zeros(gives)
    more = dict(zip(derivative.given, names[len(given):]))
    cotangents = [more.get(j, zeros[j]) for j in range(len(gives))]
    line, values = _vjp("%r", inner, given, gives, names[:len(given)], cotangents, derivative.wrt)
    return [], [line_ for j, line_ in enumerate(lines) if j not in more] + [line], values


def _tangents(derivative, inner, given, gives, names):
    # A vector-Jacobian product is linear in its cotangents: its own, with respect to them, is the product with tangents.
    # They may be anything, and the compiler finds that nothing depends on them.
    zeros, lines = _zeros(gives)
    pullback, arguments = f"{inner}_pullback", given + gives
    gradients = [given[i] for i in derivative.wrt]
    own = [f"%x{i}" for i in range(len(arguments))]
    line, values = _vjp("%r", inner, given, gives, own[:len(given)], own[len(given):], derivative.wrt)
    before = _function(pullback, arguments, gradients, own, [line], values, private=True)
    line, values = _vjp("%r", pullback, arguments, gradients, names[:len(given)] + zeros, names[len(given):],
                        range(len(given), len(arguments)))
    return before, [*lines, line], values


def _along(derivative, inner, given, gives, names):
    x, count = given[0], len(given)
    once, twice = f"{inner}_along", f"{inner}_along_twice"
    before, own = [], [f"%x{i}" for i in range(count + 2)]
    for name, of, arguments in ((once, inner, given), (twice, once, given + [x])):
        more, body, values = _tangents(Tangents((0,)), of, arguments, gives, own[:len(arguments) + 1])
        before += more + _function(name, arguments + [x], gives, own[:len(arguments) + 1], body, values, private=True)
    lines, values = [], []

    def call(tag, function, arguments, types):
        lines.append(f"  %{tag}:{len(gives)} = call @{function}({', '.join(arguments)}) : ({_types_text(types)}) -> ({_types_text(gives)})")
        values.extend(f"%{tag}#{j}" for j in range(len(gives)))

    call("y", inner, names[:count], given)
    for d, direction in enumerate(names[count:]):
        call(f"first{d}", once, [*names[:count], direction], given + [x])
        call(f"second{d}", twice, [*names[:count], direction, direction], given + [x, x])
    return before, lines, values


def name(spec):
    """"mlp", "mlp.vjp": the op, and the derivatives taken of it."""
    kinds = {Derivative: "vjp", Tangents: "jvp", Along: "along"}
    return ".".join([spec.family, *(kinds[type(one)] for one in spec.derivatives)])


@functools.lru_cache(maxsize=4096)
def function(spec, arguments, target="cpu", isa=None):
    """The extension module's function for a spec and a tuple of argument types; compiled the first time, unless the cache on
    disk has it. Where one program takes any extents (rows, sequences and tokens), that one serves all."""
    opened = spec.opened(arguments) if target.partition(":")[0] in ("cpu", "cuda") else None
    of_any = _build_open(spec, opened, target, isa) if opened else None
    return of_any.bind([one.shape for one in arguments]) if of_any else _build(spec, arguments, target, isa)


# So many programs of one op that differ in their extents alone are what a loop makes that never ends making them.
_MANY_PROGRAMS = 32
_programs: dict[tuple, int] = {}


def _count(spec, arguments):
    """Warns once where an op is compiled for ever new shapes."""
    kind = spec, tuple((one.dtype, len(one.shape)) for one in arguments)
    _programs[kind] = count = _programs.get(kind, 0) + 1
    if count == _MANY_PROGRAMS:
        shapes = ", ".join(str([extent if extent >= 0 else "any" for extent in one.shape]).replace("'", "") for one in arguments[:3])
        warnings.warn(f"drawloom: {name(spec)} has been compiled for {count} combinations of shapes, the last with {shapes}: each takes a "
                      "fraction of a second or more, and memory that stays. Pad what varies to a few sizes, but for those that one program takes any "
                      "of, as rows mostly are: docs/shapes.md", RuntimeWarning, stacklevel=2)


@functools.lru_cache(maxsize=1024)
def _build_open(spec, arguments, target, isa):
    try:
        return _build(spec, arguments, target, isa)
    except CompileError:
        # If something else is wrong, the program for these rows says so.
        return None


def function_of_any(spec, arguments, target="cpu", isa=None):
    """The function for any extents where these types are open; those of a call are given to its `bind`."""
    return _build_open(spec, arguments, target, isa) or _build(spec, arguments, target, isa)


def _build(spec, arguments, target, isa):
    """For arguments of these types; where these leave extents open, for any."""
    source = text(spec, list(arguments))
    _count(spec, arguments)
    return _library.build(_library.compiler(target, isa), [(name(spec) + ".mlir", source.encode())], []).functions[0]


# Each registers its families.
from . import adapters, cells, encodings, kan, message_passing, mlp, rational, recurrences, rows, short_convolution, structured  # noqa: E402, F401
