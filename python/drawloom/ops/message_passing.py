# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs, as programs of rgnn ops: what a Python function says of one edge, and of all nodes, is traced.

A Program has inputs and lines of MLIR text. Where extents of the graph have to be said, the text has places for them, which a call fills
(`_fill`): @src@ in types, @(src)@ and @[src]@ for what an op is told because its type does not say it, @=src@ for an extent as such.
"""

from __future__ import annotations

import functools
import json
import numbers
import re

from collections.abc import Callable, Mapping
from typing import Any

from .._errors import CallError, CallTypeError
from . import Array, Spec, between, open_extent, register

# What a tensor has one row for. `all`: the tensor is one row.
SPACES = ("src", "dst", "src_rel", "dst_rel", "edge", "rel")
INCOMING = ("node_pairs", "pair_relation", "pair_edges", "far", "far_pair", "block_tiles", "tile_relation", "tile_pair", "tile_node")
# The operands of rgnn.graph.
ARRAYS = tuple(f"in_{name}" for name in INCOMING) + tuple(f"out_{name}" for name in (*INCOMING, "edge"))

_ELEMENTS = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int32": "i32", "int64": "i64", "bool": "i1"}
_PAIRS = {"src": "src_rel", "dst": "dst_rel", "src_rel": "src_rel", "dst_rel": "dst_rel"}


class Program:
    """What is traced. `apply` gives its text for a call."""

    def __init__(self, relations, rows_per_block, edges_per_pair=(1, 1)):
        self.relations, self.rows_per_block, self.edges_per_pair = relations, rows_per_block, edges_per_pair
        self.inputs, self.results, self.kept = [], [], []
        self.lines, self.count = [], 0
        # Of the function of an edge that is traced now: None outside.
        self.inside = None

    def input(self, dtype, shape):
        """A tensor that a call gives; its first extent may be a space."""
        if dtype not in _ELEMENTS:
            raise CallTypeError(f"message passing takes no {dtype}; tensors are {', '.join(_ELEMENTS)}")
        self.inputs.append((dtype, tuple(shape)))
        return Value(self, f"@x{len(self.inputs) - 1}@", dtype, tuple(shape))

    def result(self, value):
        self.results.append(value)

    def keep(self, value):
        """The same value, which derivatives take from the forward pass instead of computing it again. It costs memory until then."""
        number = len(self.kept)
        self.kept.append(value)
        self.emit(f"@keep{number}@")
        return Value(self, f"@kept{number}@", value.dtype, value.shape)

    def saved(self, value, known):
        """The same value, whose numbers are those of `known`; derivatives are those of `value`."""
        return self.value(f"ad.saved {value.name} as {known.name} : {value.type}", value.dtype, value.shape)

    def fresh(self):
        self.count += 1
        return f"%t{self.count}"

    def emit(self, line):
        self.lines.append("  " + line)

    def value(self, text, dtype, shape):
        """A new value: `text` makes it."""
        name = self.fresh()
        self.emit(f"{name} = {text}")
        return Value(self, name, dtype, tuple(shape), self.inside)

    def attributes(self):
        """Of the Spec that stands for this program."""
        return (("program", json.dumps({
            "relations": self.relations, "rows_per_block": self.rows_per_block, "edges_per_pair": self.edges_per_pair,
            "inputs": self.inputs, "lines": "\n".join(self.lines),
            "results": [(value.dtype, value.shape) for value in self.results], "values": [value.name for value in self.results],
            "kept": [(value.dtype, value.shape) for value in self.kept], "kept_values": [value.name for value in self.kept]})),)

    def zero_index(self):
        name = self.fresh()
        self.emit(f"{name} = arith.constant 0 : index")
        return name

    # --- ops on the graph ---

    def linear(self, x, w, transpose=False):
        """The rows of pairs times the matrices of their relations, or these transposed."""
        at = x.shape[0]
        if at not in _PAIRS:
            raise CallError(f"linear takes rows of nodes or pairs, not of {at}")
        shape = (_PAIRS[at], *x.shape[1:-1], w.shape[-2 if transpose else -1])
        return self.value(f"rgnn.linear %graph, {x.name} at {at}, {w.name}{' transpose' if transpose else ''} : {x.type}, {w.type} -> {_type(x.dtype, shape)}",
                          x.dtype, shape)

    def traverse(self, function, inputs, to, over="edge"):
        """function(*rows) -> rows, one for each (space, combiner) of `to`."""
        if self.inside is not None:
            raise CallError("a function of an edge traverses no graph itself")
        spaces = [x.shape[0] if x.shape and x.shape[0] in SPACES else "all" for x in inputs]
        lines, self.lines = self.lines, []
        self.inside = object()
        try:
            rows = [Value(self, f"%r{self.count}_{i}", x.dtype, x.shape if space == "all" else x.shape[1:], self.inside)
                    for i, (x, space) in enumerate(zip(inputs, spaces))]
            given = function(*rows)
            given = list(given) if isinstance(given, (tuple, list)) else [given]
            if len(given) != len(to):
                raise CallError(f"the function of an edge gives {len(given)} rows for {len(to)} results")
            given = [self.constant(row, _computed(rows[0].dtype) if rows else "float32") if _is_number(row) else row
                     for row in given]
            for row in given:
                if not isinstance(row, Value) or row.inside is not self.inside:
                    raise CallError(f"the function of an edge gives {row!r}, which is not made of its rows")
                if "float" not in row.dtype:
                    raise CallTypeError(f"the function of an edge gives {row!r}; it gives rows of floats")
            body, self.lines = self.lines, lines
        finally:
            self.lines, self.inside = lines, None
        results = [Value(self, "", row.dtype, (*([] if space == "all" else [space]), *row.shape)) for row, (space, _) in zip(given, to)]
        name = self.fresh()
        arguments = ", ".join(f"{x.name} at {space} : {x.type}" for x, space in zip(inputs, spaces))
        types = ", ".join(f"{result.type} at {space} by {combiner}" for result, (space, combiner) in zip(results, to))
        self.emit(f"{name}{f':{len(to)}' if len(to) > 1 else ''} = rgnn.traverse %graph over {over} ({arguments}) -> ({types}) {{")
        self.emit(f"^bb0({', '.join(f'{row.name}: {row.type}' for row in rows)}):")
        self.lines += body
        self.emit(f"  rgnn.yield {', '.join(row.name for row in given)} : {', '.join(row.type for row in given)}\n  }}")
        for i, result in enumerate(results):
            result.name = f"{name}#{i}" if len(to) > 1 else name
        return results if len(results) > 1 else results[0]

    def constant(self, number, dtype, shape=()):
        text = _float(number, dtype) if "float" in dtype else f"{int(number)}"
        scalar = self.inside is not None and not shape
        if shape and isinstance(shape[0], str):
            name = self.fresh()
            self.emit(f"{name} = arith.constant {text} : {_ELEMENTS[dtype]}")
            return self.value(f"tensor.splat {name}@[{shape[0]}]@ : {_type(dtype, shape)}", dtype, shape)
        return self.value(f"arith.constant {text if scalar else f'dense<{text}>'} : {_type(dtype, shape, scalar)}", dtype, shape)


def _type(dtype, shape, scalar=False):
    """The text of a type, with its spaces open. `scalar`: () is a number, not a tensor without dimensions."""
    if scalar and not shape:
        return _ELEMENTS[dtype]
    return f"tensor<{''.join(f'@{extent}@x' if isinstance(extent, str) else f'{extent}x' for extent in shape)}{_ELEMENTS[dtype]}>"


def _float(number, dtype="float64"):
    """A number as MLIR writes it."""
    if not abs(number) <= (1.7976931348623157e308 if dtype == "float64" else 3.4028234663852886e38):
        raise CallError(f"{number} is no {dtype}, as a constant of a function of edges has to be")
    return f"{float(number):.17e}"


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _computed(dtype):
    return "float32" if dtype in ("float16", "bfloat16") else dtype


class Value:
    """A tensor, or a row of one in a function of an edge: arithmetic with NumPy's rules for shapes."""

    # NumPy's arrays leave arithmetic to this class.
    __array_ufunc__ = None

    def __init__(self, program, name, dtype, shape, inside=None):
        self.program, self.name, self.dtype, self.shape, self.inside = program, name, dtype, tuple(shape), inside
        # Of a comparison: the type of what was compared.
        self.compared = "float32"

    @property
    def type(self):
        return _type(self.dtype, self.shape, scalar=self.inside is not None)

    def __repr__(self):
        return f"{'row' if self.inside else 'tensor'} of {self.dtype} {list(self.shape)}"

    def __bool__(self):
        raise CallError("what a function of an edge does cannot depend on values: use where(condition, a, b)")

    def __iter__(self):
        raise CallError("a row is no sequence; rows have sum, max, reshape and arithmetic")

    def _new(self, text, shape=None, dtype=None):
        return self.program.value(text, dtype or self.dtype, self.shape if shape is None else shape)

    def _empty(self, shape):
        sizes = f"@({shape[0]})@" if shape and isinstance(shape[0], str) else "()"
        return self._new(f"tensor.empty{sizes} : {_type(self.dtype, shape)}", shape)

    def at(self, space):
        """The same rows at another space that has as many: where sources and targets are the same nodes."""
        return Value(self.program, self.name, self.dtype, (space, *self.shape[1:]), self.inside)

    def wide(self):
        """In the type to compute in."""
        return self.to(_computed(self.dtype))

    def to(self, dtype):
        if dtype == self.dtype:
            return self
        if "float" not in self.dtype or "float" not in dtype:
            raise CallTypeError(f"{self.dtype} is not converted to {dtype} here")
        bits = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
        if bits[dtype] == bits[self.dtype]:
            return self.to("float32").to(dtype)
        op = "arith.extf" if bits[dtype] > bits[self.dtype] else "arith.truncf"
        return self._new(f"{op} {self.name} : {self.type} to {_type(dtype, self.shape, self.inside is not None)}", dtype=dtype)

    def broadcast(self, shape):
        """With NumPy's rules."""
        shape = tuple(shape)
        if shape == self.shape:
            return self
        lead = len(shape) - len(self.shape)
        stretched = [d for d, extent in enumerate(self.shape) if extent == 1 and shape[lead + d] != 1]
        if lead < 0 or any(extent not in (1, shape[lead + d]) for d, extent in enumerate(self.shape)):
            raise CallError(f"a row of shape {list(self.shape)} does not go with one of {list(shape)}")
        kept = [d for d in range(len(self.shape)) if d not in stretched]
        one = self.reshape([self.shape[d] for d in kept])
        if not one.shape and one.inside is not None:
            return one._new(f"tensor.splat {one.name} : {_type(one.dtype, shape)}", shape)
        added = [d for d in range(len(shape)) if d - lead not in kept]
        empty = one._empty(shape)
        return one._new(f"linalg.broadcast ins({one.name} : {one.type}) outs({empty.name} : {empty.type}) dimensions = {added}", shape)

    def reshape(self, *shape):
        """Extents other than a leading space in another form; -1 for one of them."""
        shape = list(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else list(shape)
        space = [self.shape[0]] if self.shape and isinstance(self.shape[0], str) else []
        if space and shape and shape[0] == space[0]:
            shape = shape[1:]
        elif space:
            raise CallError(f"a tensor of rows is reshaped row by row: the first extent is {space[0]!r}")
        before, size = list(self.shape[len(space):]), 1
        for extent in before:
            size *= extent
        if -1 in shape:
            rest = 1
            for extent in shape:
                rest *= extent if extent != -1 else 1
            shape[shape.index(-1)] = size // rest if rest else 0
        product = 1
        for extent in shape:
            product *= extent
        if product != size or min(shape, default=0) < 0:
            raise CallError(f"a row of shape {before} is not reshaped to {shape}")
        if shape == before:
            return self
        # By way of all elements in a row.
        one = self._collapse(space, before, size)
        return one._expand(space, size, shape)

    def _collapse(self, space, before, size):
        if len(before) == 1:
            return self
        if not before:
            if self.inside is not None:
                return self._new(f"tensor.from_elements {self.name} : {_type(self.dtype, (1,))}", (1,))
            if not space:
                return self._new(f"tensor.expand_shape {self.name} [] output_shape [1] : {self.type} into {_type(self.dtype, (1,))}", (1,))
            shape = (*space, 1)
            return self._new(f"tensor.expand_shape {self.name} [[0, 1]] output_shape [@={space[0]}@, 1] : {self.type} into "
                             f"{_type(self.dtype, shape)}", shape)
        shape = (*space, size)
        groups = [[0]] * len(space) + [list(range(len(space), len(space) + len(before)))]
        return self._new(f"tensor.collapse_shape {self.name} {groups} : {self.type} into {_type(self.dtype, shape)}", shape)

    def _expand(self, space, size, shape):
        if len(shape) == 1:
            return self
        whole = (*space, *shape)
        if not shape:
            if self.inside is not None:
                return self._new(f"tensor.extract {self.name}[{self.program.zero_index()}] : {self.type}", ())
            groups = [[0, 1]] if space else []
            return self._new(f"tensor.collapse_shape {self.name} {groups} : {self.type} into {_type(self.dtype, whole)}", whole)
        groups = [[0]] * len(space) + [list(range(len(space), len(space) + len(shape)))]
        sizes = ", ".join(f"@={extent}@" if isinstance(extent, str) else str(extent) for extent in whole)
        return self._new(f"tensor.expand_shape {self.name} {groups} output_shape [{sizes}] : {self.type} into {_type(self.dtype, whole)}",
                         whole)

    def __getitem__(self, index):
        """Only None and :, as in x[:, None], which give extents of 1."""
        index = index if isinstance(index, tuple) else (index,)
        if any(one is not None and one is not Ellipsis and one != slice(None) for one in index):
            raise CallError("rows are indexed by : and None only, which add extents of 1")
        if Ellipsis in index:
            at = index.index(Ellipsis)
            missing = len(self.shape) - sum(one == slice(None) for one in index)
            index = (*index[:at], *[slice(None)] * missing, *index[at + 1:])
        if sum(one == slice(None) for one in index) > len(self.shape):
            raise CallError(f"{self!r} has no {sum(one == slice(None) for one in index)} dimensions")
        extents = list(self.shape)
        shape = [1 if one is None else extents.pop(0) for one in index]
        return self.reshape(shape + extents)

    # --- arithmetic ---

    def _other(self, other):
        if not isinstance(other, Value) or other.program is not self.program:
            raise CallError(f"a row does not go with {other!r}: what is not a row of the function's arguments is given as one")
        return other

    def _binary(self, op, other, swap=False):
        a, b = self, other
        if _is_number(b):
            a = a.wide()
            b = self.program.constant(b, a.dtype, a.shape)
        else:
            a, b = a.wide(), self._other(b).wide()
            if a.dtype != b.dtype or "float" not in a.dtype:
                raise CallTypeError(f"a row of {a.dtype} does not go with one of {b.dtype}; rows of floats of one type do")
            shape = _common(a.shape, b.shape)
            a, b = a.broadcast(shape), b.broadcast(shape)
        if swap:
            a, b = b, a
        return a._new(f"{op} {a.name}, {b.name} : {a.type}")

    def __add__(self, other):
        return self._binary("arith.addf", other)

    def __radd__(self, other):
        return self._binary("arith.addf", other)

    def __sub__(self, other):
        return self._binary("arith.subf", other)

    def __rsub__(self, other):
        return self._binary("arith.subf", other, swap=True)

    def __mul__(self, other):
        return self._binary("arith.mulf", other)

    def __rmul__(self, other):
        return self._binary("arith.mulf", other)

    def __truediv__(self, other):
        return self._binary("arith.divf", other)

    def __rtruediv__(self, other):
        return self._binary("arith.divf", other, swap=True)

    def maximum(self, other):
        return self._binary("arith.maximumf", other)

    def minimum(self, other):
        return self._binary("arith.minimumf", other)

    def _unary(self, op, attributes=""):
        x = self.wide()
        return x._new(f"{op} {x.name}{attributes} : {x.type}")

    def __neg__(self):
        return self._unary("arith.negf")

    def __pow__(self, power):
        if power == 2:
            return self * self
        raise CallError(f"rows have the power 2, not {power!r}; exp and log make others")

    def __abs__(self):
        return self._unary("math.absf")

    abs = __abs__

    def exp(self):
        return self._unary("math.exp")

    def log(self):
        return self._unary("math.log")

    def sqrt(self):
        return self._unary("math.sqrt")

    def sin(self):
        return self._unary("math.sin")

    def cos(self):
        return self._unary("math.cos")

    def tanh(self):
        return self._unary("kan.tanh")

    def sigmoid(self):
        return self._unary("kan.sigmoid")

    def relu(self):
        return self._unary("kan.relu")

    def leaky_relu(self, slope=0.01):
        return self._unary("kan.leaky_relu", f" {{slope = {_float(slope)} : f64}}")

    def elu(self):
        return self._unary("kan.elu")

    def silu(self):
        return self._unary("kan.silu")

    def gelu(self):
        return self._unary("kan.gelu")

    def softplus(self):
        return self._unary("kan.softplus")

    def _compare(self, predicate, other):
        a = self.wide()
        b = self.program.constant(other, a.dtype, a.shape) if _is_number(other) else self._other(other).wide()
        if a.dtype != b.dtype or "float" not in a.dtype:
            raise CallTypeError(f"{a!r} is not compared with {b!r}; rows of floats of one type are")
        shape = _common(a.shape, b.shape)
        a, b = a.broadcast(shape), b.broadcast(shape)
        result = a._new(f"arith.cmpf {predicate}, {a.name}, {b.name} : {a.type}", dtype="bool")
        result.compared = a.dtype
        return result

    # Rows are compared, not the objects that stand for them.
    __hash__ = object.__hash__

    def __eq__(self, other):  # type: ignore[override]
        return self._compare("oeq", other)

    def __ne__(self, other):  # type: ignore[override]
        return self._compare("une", other)

    def __gt__(self, other):
        return self._compare("ogt", other)

    def __lt__(self, other):
        return self._compare("olt", other)

    def __ge__(self, other):
        return self._compare("oge", other)

    def __le__(self, other):
        return self._compare("ole", other)

    # --- along the row ---

    def sum(self, axis=-1, keepdims=False):
        return self._reduce("arith.addf", "0.0", axis, keepdims)

    def mean(self, axis=-1, keepdims=False):
        axes = self._axes(axis)
        count = 1
        for d in axes:
            count *= self.shape[d]
        return self.sum(axis, keepdims) / float(count)

    def max(self, axis=-1, keepdims=False):
        return self._reduce("arith.maximumf", {"float64": "0xFFF0000000000000"}.get(_computed(self.dtype), "0xFF800000"), axis, keepdims)

    def _axes(self, axis):
        rank = len(self.shape)
        axes = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
        axes = sorted(d + rank if d < 0 else d for d in axes)
        if any(not 0 <= d < rank or isinstance(self.shape[d], str) for d in axes) or len(set(axes)) < len(axes):
            raise CallError(f"{self!r} has no axis {axis} of its rows")
        return axes

    def _reduce(self, op, start, axis, keepdims):
        x, axes = self.wide(), self._axes(axis)
        if not axes:
            return x
        element = _ELEMENTS[x.dtype]
        shape = tuple(extent for d, extent in enumerate(x.shape) if d not in axes)
        empty = x._empty(shape)
        first = x._new(f"arith.constant {start} : {element}", ())
        filled = x._new(f"linalg.fill ins({first.name} : {element}) outs({empty.name} : {_type(x.dtype, shape)}) -> {_type(x.dtype, shape)}",
                        shape)
        reduced = x._new(f"linalg.reduce {{ {op} }} ins({x.name} : {x.type}) outs({filled.name} : {_type(x.dtype, shape)}) "
                         f"dimensions = {axes}", shape)
        if not shape and x.inside is not None:
            reduced = reduced._new(f"tensor.extract {reduced.name}[] : {_type(x.dtype, ())}", ())
        return reduced.reshape([1 if d in axes else extent for d, extent in enumerate(x.shape)]) if keepdims else reduced

    def dot(self, other, axis=-1):
        return (self * other).sum(axis)

    def __matmul__(self, other):
        return self.product(other)

    def product(self, w):
        """Rows times one matrix, [in, out]."""
        if self.inside is not None:
            raise CallError("a product with a matrix for each edge is slow; multiply the rows of nodes before the function of an edge, "
                            "or what it gives behind it")
        inner, outer = w.shape
        if len(self.shape) != 2 or self.shape[1] != inner:
            raise CallError(f"{self!r} is not multiplied by a matrix of shape {list(w.shape)}")
        shape = (self.shape[0], outer)
        element = _ELEMENTS[self.dtype]
        empty = self._empty(shape)
        zero = self._new(f"arith.constant 0.0 : {element}", ())
        start = self._new(f"linalg.fill ins({zero.name} : {element}) outs({empty.name} : {empty.type}) -> {empty.type}", shape)
        return self._new(f"linalg.matmul ins({self.name}, {w.name} : {self.type}, {w.type}) outs({start.name} : {start.type}) "
                         f"-> {start.type}", shape)


def _common(a, b):
    """The shape that two have together."""
    shape = []
    for d in range(1, max(len(a), len(b)) + 1):
        x = a[-d] if d <= len(a) else 1
        y = b[-d] if d <= len(b) else 1
        if x != y and 1 not in (x, y):
            raise CallError(f"rows of shapes {list(a)} and {list(b)} do not go together")
        shape.insert(0, y if x == 1 else x)
    return tuple(shape)


def where(condition: Value, a: Value | float, b: Value | float) -> Value:
    """a where the condition holds, else b."""
    if not isinstance(condition, Value) or condition.dtype != "bool":
        raise CallError(f"where takes a comparison of rows, as in where(x > 0.0, x, y), not {condition!r}")
    program = condition.program
    for one in (a, b):
        if not isinstance(one, Value) and not _is_number(one):
            raise CallError(f"where takes rows and numbers, not {one!r}")
    values = [one for one in (a, b) if isinstance(one, Value)]
    dtype = _computed(values[0].dtype) if values else condition.compared
    like = values[0].shape if values else condition.shape

    def row(one: Value | float) -> Value:
        return one.wide() if isinstance(one, Value) else program.constant(one, dtype, like)

    first, second = row(a), row(b)
    if first.dtype != second.dtype:
        raise CallTypeError(f"where takes rows of one type, not {first!r} and {second!r}")
    shape = _common(condition.shape, _common(first.shape, second.shape))
    first, second, condition = first.broadcast(shape), second.broadcast(shape), condition.broadcast(shape)
    types = first.type if not shape and first.inside is not None else f"{condition.type}, {first.type}"
    return first._new(f"arith.select {condition.name}, {first.name}, {second.name} : {types}")


# --- layers ----------------------------------------------------------------------------------------------------------

class Edge:
    """A function of an edge that a user has written, with the names of what it takes."""

    def __init__(self, function, names, combine, to):
        self.function, self.names, self.combine, self.to = function, names, combine, to

    def __call__(self, *rows: Any) -> Any:
        given: dict[str, Any] = {}
        for (space, name), row in zip(self.names, rows):
            if name is None:
                given[space] = row
            else:
                given.setdefault(space, {})[name] = row
        return self.function(**given)

    def build(self, program, *inputs):
        """Results have the type of the tensors of floats, where these have one."""
        result = self._combined(program, inputs)
        kinds = {one.dtype for one in inputs if "float" in one.dtype}
        return result.to(kinds.pop()) if len(kinds) == 1 else result

    def _combined(self, program, inputs):
        if self.to == "edge":
            return program.traverse(self, inputs, [("edge", "none")])
        if self.combine == "softmax":
            return attend(program, self, inputs)[0]
        return combined(program, self, inputs, self.combine)


def input_type(dtype, shape, space):
    """A tensor as `spec_of` takes it: with its space for the number of its rows."""
    return dtype, shape if space == "all" else (space, *shape[1:])


def spec_of(build, options, inputs, kind):
    """The Spec of build(program, *values, *options), with a value for each input that is not None; kind: what Program takes."""
    program = Program(*kind)
    results = build(program, *[None if one is None else program.input(*one) for one in inputs], *options)
    for value in results if isinstance(results, (list, tuple)) else [results]:
        program.result(value)
    return Spec("message_passing", program.attributes())


COMBINERS = ("sum", "mean", "max", "min", "softmax")


def check_combiner(combine, to):
    """What message_passing combines by."""
    if to == "edge" and combine is not None:
        raise CallError(f"message_passing: with to='edge' nothing is combined, but combine is '{combine}'")
    combine = "sum" if combine is None else combine
    if combine not in COMBINERS:
        raise CallError(f"message_passing: combine is '{combine}'; it is one of {', '.join(COMBINERS)}")
    if to not in ("dst", "edge"):
        raise CallError(f"message_passing: to is '{to}'; it is 'dst' or 'edge'")
    return combine


def named_rows(**spaces):
    """(space, name, tensor) of all that is given: a tensor, whose name is None, or a dictionary for each space."""
    found = [(space, name, tensor) for space, given in spaces.items() if given is not None
             for name, tensor in (given.items() if isinstance(given, Mapping) else [(None, given)])]
    if not found:
        raise CallError("message_passing: no rows are given; src, dst, edge, rel or all has some")
    return found


def combined(program: Program, edge: Callable, inputs: Any, combine: str, to: str = "dst") -> Value:
    """What edge(*rows) gives, by sum, mean, max or min at the targets or, with to="dst_rel", by relation."""
    def wide(*rows):
        row = edge(*rows)
        if not isinstance(row, Value) and not _is_number(row):
            raise CallError(f"the function of an edge gives {row!r}; it gives one row")
        return row.wide() if isinstance(row, Value) else row

    if combine == "min":
        return -combined(program, lambda *rows: -wide(*rows), inputs, "max", to)
    if combine == "max":
        # Derivatives compare rows with it, where these are not computed.
        return program.keep(program.traverse(wide, inputs, [(to, "max")]))
    total = program.traverse(wide, inputs, [(to, "sum")])
    if combine != "mean":
        return total
    count = program.traverse(lambda: 1.0, [], [(to, "sum")]).to(total.dtype).maximum(1.0)
    return total / widen(count, total)


def widen(row: Value, value: Value) -> Value:
    """`row`, with extents of 1 behind it for what `value` has more."""
    return row.reshape([*row.shape, *[1] * (len(value.shape) - len(row.shape))])


def sum_pairs(program: Program, rows: Value) -> Value:
    """Rows of pairs of targets, added up."""
    return program.traverse(lambda row: row.wide(), [rows], [("dst", "sum")], over="dst_rel")


def attend(program: Program, edge: Callable, inputs: Any, weights: bool = False, matrices: Value | None = None,
           narrow: bool = False) -> list:
    """The softmax over each target's edges of the scores, times the values: edge(*rows) -> (score, value). A score is a number, or has
    one for each head, which is the first dimension of the value. With `weights` also what each edge was multiplied by. Values are
    multiplied by the `matrices` of their relations, once for each pair of a target. Edges keep their scores but where these are `narrow`:
    made of a few numbers, not of whole rows."""
    def score_and_value(*rows):
        pair = edge(*rows)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise CallError("with combine='softmax' the function of an edge gives a pair: a score, and a value")
        return tuple((program.constant(one, "float32") if _is_number(one) else one).wide() for one in pair)

    count, scores = len(inputs), []
    if narrow:
        top = program.traverse(lambda *rows: score_and_value(*rows)[0], inputs, [("dst", "bound")])
    else:
        score, top = program.traverse(lambda *rows: score_and_value(*rows)[:1] * 2, inputs, [("edge", "none"), ("dst", "bound")])
        scores.append(program.keep(score))
    inputs = [*inputs, program.keep(top), *scores]

    def weigh(*rows):
        score, value = score_and_value(*rows[:count])
        if scores:
            score = program.saved(score, rows[count + 1])
        weight = (score - rows[count]).exp()
        return widen(weight, value) * value, weight

    if matrices is None:
        total, weight = program.traverse(weigh, inputs, [("dst", "sum"), ("dst", "sum")])
    else:
        # Pairs are not in the order of their nodes there: weights are computed before.
        known, weight = program.traverse(lambda *rows: weigh(*rows)[1:] * 2, inputs, [("edge", "none"), ("dst", "sum")])

        def weighted(*rows):
            value = score_and_value(*rows[:count])[1]
            return widen(program.saved(weigh(*rows)[1], rows[-1]), value) * value

        sums = program.traverse(weighted, [*inputs, program.keep(known)], [("dst_rel", "sum")])
        total = sum_pairs(program, program.linear(sums.to(matrices.dtype), matrices))
    total, weight = program.keep(total), program.keep(weight)
    # Only a node without edges has no weight, and its sum is zero.
    share = 1.0 / where(weight > 0.0, weight, 1.0)
    results = [total * widen(share, total)]
    if weights:
        results.append(program.traverse(lambda *rows: weigh(*rows)[1] * rows[-1], [*inputs, share], [("edge", "none")]))
    return results


# --- the family -----------------------------------------------------------------------------------------------------

# The open extents of a graph: `blocks` and `tiles` are those of in_block_tiles and in_tile_pair, back_ those of out_block_tiles ...
_NUMBERS = {name: number for number, name in enumerate(
    ("src", "dst", "src_rel", "dst_rel", "edge", "blocks", "tiles", "back_blocks", "back_tiles"))}


def _shapes_of_arrays():
    """For each array (extent, more): it has as many entries as there are of these, and `more`."""
    def order(nodes, pairs, back=""):
        return [(nodes, 1), (pairs, 0), (pairs, 1), ("edge", 0), ("edge", 0), (f"{back}blocks", 1)] + [(f"{back}tiles", 0)] * 3

    return [*order("dst", "dst_rel"), *order("src", "src_rel", "back_"), ("edge", 0)]


_OF_ARRAYS = dict(zip(ARRAYS, _shapes_of_arrays()))


def extents(arrays, relations):
    """The extents of a graph's spaces, from the shapes of its arrays. They may be open."""
    first = {array: shape[0] for array, shape in zip(ARRAYS, arrays)}
    return {"src": between(first["out_node_pairs"]), "dst": between(first["in_node_pairs"]), "src_rel": first["out_pair_relation"],
            "dst_rel": first["in_pair_relation"], "edge": first["in_far"], "rel": relations}


def edges_per_pair(arrays):
    """How many edges the pairs of targets, and those of sources, have: powers of two, as few programs serve many graphs."""
    first = {array: shape[0] for array, shape in zip(ARRAYS, arrays)}

    def expected(pairs):
        return 1 << min(max(first["in_far"] // max(pairs, 1), 1).bit_length() - 1, 4)

    return expected(first["in_pair_relation"]), expected(first["out_pair_relation"])


@functools.lru_cache(maxsize=1024)
def _program(text):
    return json.loads(text)


def _known(program, arguments):
    return extents([one.shape for one in arguments[len(program["inputs"]):]], program["relations"])


def _filled(shape, known):
    return tuple(known[extent] if isinstance(extent, str) else extent for extent in shape)


def _kept_types(program, known):
    return [Array(dtype, _filled(shape, known)) for dtype, shape in program["kept"]]


def _saving(attributes):
    """(attributes of the op that also gives what is kept, those of the op that takes it, how many values that are); None of others."""
    count = len(_program(attributes["program"])["kept"])
    if not count or "kept" in attributes:
        return None
    return (*(tuple({**attributes, "kept": mode}.items()) for mode in ("given", "taken")), count)


def _check(attributes, arguments):
    program = _program(attributes["program"])
    inputs = program["inputs"]
    kept = len(program["kept"]) if attributes.get("kept") == "taken" else 0
    if len(arguments) != len(inputs) + len(ARRAYS) + kept:
        raise CallError(f"message passing takes {len(inputs)} tensors and {len(ARRAYS)} arrays of a graph, not {len(arguments)}")
    known = _known(program, arguments)
    for i, ((dtype, shape), argument) in enumerate(zip(inputs, arguments)):
        if tuple(argument.shape) != _filled(shape, known):
            space = shape[0] if shape and isinstance(shape[0], str) else None
            rows = f": the graph has {known[space]} rows at {space}" if space else ""
            raise CallError(f"message passing: tensor {i} has the shape {list(argument.shape)}; it is {list(_filled(shape, known))}{rows}")
        if argument.dtype != dtype:
            raise CallTypeError(f"message passing: tensor {i} is {argument.dtype}; it is {dtype}")


def _results(attributes, arguments):
    program = _program(attributes["program"])
    known = _known(program, arguments)
    results = [Array(dtype, _filled(shape, known)) for dtype, shape in program["results"]]
    return results + _kept_types(program, known) if attributes.get("kept") == "given" else results


def _fill(text, known):
    """The text of a program with the extents in their places."""
    def place(found):
        kind, space = found[1], found[2]
        extent = known[space]
        value = f"%extent{-1 - extent}" if extent < 0 else str(extent)
        if kind == "=":
            return value
        if kind:
            told = value if extent < 0 else ""
            return f"({told})" if kind == "(" else f"[{told}]" if told else ""
        return "?" if extent < 0 else str(extent)

    return re.sub(r"@([(\[=]?)(\w+)[)\]]?@", place, text)


def _body(attributes, arguments, results, names):
    program = _program(attributes["program"])
    count = len(program["inputs"])
    known = _known(program, arguments)

    def order(part):
        return f"({', '.join(names[count:][part])} : {', '.join(one.text for one in arguments[count:][part])})"

    taken = attributes.get("kept") == "taken"

    def kept(found):
        """What is kept is its value or, where that is given, what the first derivatives begin with."""
        number = int(found[2])
        value, (dtype, shape) = program["kept_values"][number], program["kept"][number]
        if found[1] == "kept":
            return f"%kept{number}" if taken else value
        return f"%kept{number} = ad.saved {value} as {names[count + len(ARRAYS) + number]} : {_type(dtype, shape)}" if taken else ""

    def fill(text):
        # What is kept may be made of what is kept.
        while "@kept" in text or "@keep" in text:
            text = re.sub(r"@(kept|keep)(\d+)@", kept, text)
        return _fill(re.sub(r"@x(\d+)@", lambda found: names[int(found[1])], text), known)

    incoming = slice(0, len(INCOMING))
    outgoing = slice(len(INCOMING), len(ARRAYS))
    graph = (f"  %graph = rgnn.graph incoming{order(incoming)} outgoing{order(outgoing)} "
             f"{{relations = {program['relations']}, rows_per_block = {program['rows_per_block']}, "
             f"edges_per_pair = array<i64: {', '.join(map(str, program['edges_per_pair']))}>}}")
    values = program["values"] + (program["kept_values"] if attributes.get("kept") == "given" else [])
    return [graph, fill(program["lines"])], [fill(name) for name in values]


def _opened(attributes, arguments):
    """Any graph of so many relations."""
    program = _program(attributes["program"])

    def opened(extents, array):
        shape = [open_extent(_NUMBERS[extent], more) if extent in _NUMBERS else own for (extent, more), own in zip(extents, array.shape)]
        return Array(array.dtype, tuple(shape))

    inputs, kept = ([[(extent, 0) for extent in shape] for _, shape in program[of]] for of in ("inputs", "kept"))
    arrays = [[_OF_ARRAYS[name], (None, 0)] for name in ARRAYS]
    return [opened(shape, array) for shape, array in zip(inputs + arrays + kept, arguments)]


register("message_passing", _check, _results, _body, _opened, rowwise=False, open_first=True, saving=_saving,
         axes=lambda attributes, arguments: tuple([(None,) * len(one.shape) for one in given]
                                                  for given in (arguments, _results(attributes, arguments))))
