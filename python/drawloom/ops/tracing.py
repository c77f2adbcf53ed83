# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a Python function says of rows, traced to MLIR text.

A Program has inputs and lines of text. Where extents have to be said that a call chooses, the text has places for them (`fill`): @src@ in
types, @(src)@ and @[src]@ for what an op is told because its type does not say it, @=src@ for an extent as such.
"""

from __future__ import annotations

import functools
import json
import numbers
import re

from .._errors import CallError, CallTypeError
from . import Array

_ELEMENTS = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int32": "i32", "int64": "i64", "bool": "i1"}


class Program:
    """What is traced. `what` it is for errors."""

    what = "a program of rows"

    def __init__(self):
        self.inputs, self.results, self.kept = [], [], []
        self.lines, self.count = [], 0
        # (channels in, channels out) of each product of rows with a matrix.
        self.products = []
        # Of the function of one row that is traced now: None outside.
        self.inside = None

    def input(self, dtype, shape):
        """A tensor that a call gives; its first extent may be a space, which has a name."""
        if dtype not in _ELEMENTS:
            raise CallTypeError(f"{self.what} takes no {dtype}; tensors are {', '.join(_ELEMENTS)}")
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

    def call(self, attributes, inputs):
        """The results of another program on values, one for each of its inputs: its lines become part of this one."""
        program, first, kept = program_of(attributes), self.count, {}

        def new_name(found):
            kind, number = found[1] or found[3], int(found[2] or found[4])
            return inputs[number].name if kind == "x" else f"%t{first + number}" if kind == "%t" else f"@kept{kept[number]}@"

        def rename(text):
            return re.sub(r"@(x|kept)(\d+)@|(%t)(\d+)\b", new_name, text)

        self.products += map(tuple, program["products"])
        self.count += max((int(number) for number in re.findall(r"%t(\d+)\b", program["lines"])), default=0)
        for line in program["lines"].splitlines():
            keeps = re.fullmatch(r"\s*@keep(\d+)@\s*", line)
            if keeps:
                number = int(keeps[1])
                kept[number] = len(self.kept)
                dtype, shape = program["kept"][number]
                self.keep(Value(self, rename(program["kept_values"][number]), dtype, tuple(shape)))
            else:
                self.lines.append(rename(line))
        return [Value(self, rename(name), dtype, tuple(shape)) for name, (dtype, shape) in zip(program["values"], program["results"])]

    def include(self, lines, values, types, inputs):
        """The values of another family's body, whose rows are the open extent 0, with these types: its lines become part of this program.
        `inputs` are by the names that the body has for them."""
        names = {name: one.name for name, one in inputs.items()}

        def new_name(found):
            if found[0] not in names:
                names[found[0]] = self.fresh()
            return names[found[0]]

        def fill(text):
            for form, place in (("(%extent0)", "@(row)@"), ("[%extent0]", "@[row]@"), ("%extent0", "@=row@"), ("?", "@row@")):
                text = text.replace(form, place)
            return re.sub(r"%[A-Za-z_]\w*", new_name, text)

        self.lines += map(fill, lines)
        return [Value(self, fill(name), dtype, shape) for name, (dtype, shape) in zip(values, types)]

    def attributes(self, **more):
        """Of the Spec that stands for this program."""
        return (("program", json.dumps({
            **more, "inputs": self.inputs, "lines": "\n".join(self.lines),
            "results": [(value.dtype, value.shape) for value in self.results], "values": [value.name for value in self.results],
            "products": self.products,
            "kept": [(value.dtype, value.shape) for value in self.kept], "kept_values": [value.name for value in self.kept]})),)

    def zero_index(self):
        name = self.fresh()
        self.emit(f"{name} = arith.constant 0 : index")
        return name

    def constant(self, number, dtype, shape=()):
        text = _float(number, dtype) if "float" in dtype else f"{int(number)}"
        scalar = self.inside is not None and not shape
        if shape and isinstance(shape[0], str):
            name = self.fresh()
            self.emit(f"{name} = arith.constant {text} : {_ELEMENTS[dtype]}")
            return self.value(f"tensor.splat {name}@[{shape[0]}]@ : {type_of(dtype, shape)}", dtype, shape)
        return self.value(f"arith.constant {text if scalar else f'dense<{text}>'} : {type_of(dtype, shape, scalar)}", dtype, shape)


    def array(self, numbers, dtype, shape):
        """A constant of these numbers, in lists of lists."""
        def text(one):
            return f"[{', '.join(map(text, one))}]" if isinstance(one, list) else _float(one, dtype) if "float" in dtype else str(one).lower()

        return self.value(f"arith.constant dense<{text(numbers)}> : {type_of(dtype, shape)}", dtype, shape)


def type_of(dtype, shape, scalar=False):
    """The text of a type, with its spaces open. `scalar`: () is a number, not a tensor without dimensions."""
    if scalar and not shape:
        return _ELEMENTS[dtype]
    return f"tensor<{''.join(f'@{extent}@x' if isinstance(extent, str) else f'{extent}x' for extent in shape)}{_ELEMENTS[dtype]}>"


def _float(number, dtype="float64"):
    """A number as MLIR writes it."""
    if abs(number) == float("inf"):
        return ("0x7FF0000000000000" if number > 0 else "0xFFF0000000000000") if dtype == "float64" else "0x7F800000" if number > 0 else "0xFF800000"
    if not abs(number) <= (1.7976931348623157e308 if dtype == "float64" else 3.4028234663852886e38):
        raise CallError(f"{number} is no {dtype}, as a constant of a function of edges has to be")
    return f"{float(number):.17e}"


def traced(program, build, options, inputs):
    """The program with the results of build(program, *values, *options), with a value for each input, (dtype, shape), that is not None."""
    results = build(program, *[None if one is None else program.input(*one) for one in inputs], *options)
    for value in results if isinstance(results, (list, tuple)) else [results]:
        program.result(value)
    return program


def promoted(*dtypes):
    """The float type that holds all of these."""
    kinds = set(dtypes)
    return kinds.pop() if len(kinds) == 1 else "float64" if "float64" in kinds else "float32"


def is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def computed(dtype):
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
        return type_of(self.dtype, self.shape, scalar=self.inside is not None)

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
        return self._new(f"tensor.empty{sizes} : {type_of(self.dtype, shape)}", shape)

    def at(self, space):
        """The same rows at another space that has as many: where sources and targets are the same nodes."""
        return Value(self.program, self.name, self.dtype, (space, *self.shape[1:]), self.inside)

    def wide(self):
        """In the type to compute in."""
        return self.to(computed(self.dtype))

    def to(self, dtype):
        if dtype == self.dtype:
            return self
        if "float" not in self.dtype or "float" not in dtype:
            raise CallTypeError(f"{self.dtype} is not converted to {dtype} here")
        bits = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
        if bits[dtype] == bits[self.dtype]:
            return self.to("float32").to(dtype)
        op = "arith.extf" if bits[dtype] > bits[self.dtype] else "arith.truncf"
        return self._new(f"{op} {self.name} : {self.type} to {type_of(dtype, self.shape, self.inside is not None)}", dtype=dtype)

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
            return one._new(f"tensor.splat {one.name} : {type_of(one.dtype, shape)}", shape)
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
                return self._new(f"tensor.from_elements {self.name} : {type_of(self.dtype, (1,))}", (1,))
            if not space:
                return self._new(f"tensor.expand_shape {self.name} [] output_shape [1] : {self.type} into {type_of(self.dtype, (1,))}", (1,))
            shape = (*space, 1)
            return self._new(f"tensor.expand_shape {self.name} [[0, 1]] output_shape [@={space[0]}@, 1] : {self.type} into "
                             f"{type_of(self.dtype, shape)}", shape)
        shape = (*space, size)
        groups = [[0]] * len(space) + [list(range(len(space), len(space) + len(before)))]
        return self._new(f"tensor.collapse_shape {self.name} {groups} : {self.type} into {type_of(self.dtype, shape)}", shape)

    def _expand(self, space, size, shape):
        if len(shape) == 1:
            return self
        whole = (*space, *shape)
        if not shape:
            if self.inside is not None:
                return self._new(f"tensor.extract {self.name}[{self.program.zero_index()}] : {self.type}", ())
            groups = [[0, 1]] if space else []
            return self._new(f"tensor.collapse_shape {self.name} {groups} : {self.type} into {type_of(self.dtype, whole)}", whole)
        groups = [[0]] * len(space) + [list(range(len(space), len(space) + len(shape)))]
        sizes = ", ".join(f"@={extent}@" if isinstance(extent, str) else str(extent) for extent in whole)
        return self._new(f"tensor.expand_shape {self.name} {groups} output_shape [{sizes}] : {self.type} into {type_of(self.dtype, whole)}",
                         whole)

    def transpose(self, order):
        """Its dimensions in this order; a leading space stays."""
        order = tuple(order)
        if order == tuple(range(len(self.shape))):
            return self
        shape = tuple(self.shape[d] for d in order)
        empty = self._empty(shape)
        return self._new(f"linalg.transpose ins({self.name} : {self.type}) outs({empty.name} : {empty.type}) permutation = {list(order)}", shape)

    def slice(self, axis, start, size):
        """So many elements of a dimension that is no space, from one on."""
        if size == self.shape[axis]:
            return self
        shape = tuple(size if d == axis else extent for d, extent in enumerate(self.shape))
        offsets = ", ".join(str(start if d == axis else 0) for d in range(len(shape)))
        sizes = ", ".join(f"@={extent}@" if isinstance(extent, str) else str(extent) for extent in shape)
        return self._new(f"tensor.extract_slice {self.name}[{offsets}] [{sizes}] [{', '.join('1' * len(shape))}] : {self.type} to "
                         f"{type_of(self.dtype, shape)}", shape)

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
        if is_number(b):
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
        b = self.program.constant(other, a.dtype, a.shape) if is_number(other) else self._other(other).wide()
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
        return self._reduce("arith.maximumf", {"float64": "0xFFF0000000000000"}.get(computed(self.dtype), "0xFF800000"), axis, keepdims)

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
        filled = x._new(f"linalg.fill ins({first.name} : {element}) outs({empty.name} : {type_of(x.dtype, shape)}) -> {type_of(x.dtype, shape)}",
                        shape)
        reduced = x._new(f"linalg.reduce {{ {op} }} ins({x.name} : {x.type}) outs({filled.name} : {type_of(x.dtype, shape)}) "
                         f"dimensions = {axes}", shape)
        if not shape and x.inside is not None:
            reduced = reduced._new(f"tensor.extract {reduced.name}[] : {type_of(x.dtype, ())}", ())
        return reduced.reshape([1 if d in axes else extent for d, extent in enumerate(x.shape)]) if keepdims else reduced

    def dot(self, other, axis=-1):
        return (self * other).sum(axis)

    def __matmul__(self, other):
        return self.product(other)

    def product(self, w, bias=None, transposed=False):
        """Rows times one matrix, [in, out], or [out, in] where it is transposed, and a bias [out] of their type."""
        if self.inside is not None:
            raise CallError("a product with a matrix for each edge is slow; multiply the rows of nodes before the function of an edge, "
                            "or what it gives behind it")
        inner, outer = reversed(w.shape) if transposed else w.shape
        if len(self.shape) != 2 or self.shape[1] != inner:
            raise CallError(f"{self!r} is not multiplied by a matrix of shape {list(w.shape)}")
        shape = (self.shape[0], outer)
        self.program.products.append((inner, outer))
        if bias is None:
            element = _ELEMENTS[self.dtype]
            empty = self._empty(shape)
            zero = self._new(f"arith.constant 0.0 : {element}", ())
            start = self._new(f"linalg.fill ins({zero.name} : {element}) outs({empty.name} : {empty.type}) -> {empty.type}", shape)
        else:
            start = bias.broadcast(shape)
        maps = " indexing_maps = [{}, {}, {}]".format(*(f"affine_map<(m, n, k) -> ({of})>" for of in ("m, k", "n, k", "m, n")))
        return self._new(f"linalg.matmul{maps if transposed else ''} ins({self.name}, {w.name} : {self.type}, {w.type}) outs({start.name} : {start.type}) "
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


def concat(values, axis):
    """Values of one type behind one another, along a dimension that is no space."""
    first = values[0]
    if len(values) == 1:
        return first
    shape = tuple(sum(one.shape[d] for one in values) if d == axis else extent for d, extent in enumerate(first.shape))
    names, types = ", ".join(one.name for one in values), ", ".join(one.type for one in values)
    return first._new(f"tensor.concat dim({axis}) {names} : ({types}) -> {type_of(first.dtype, shape)}", shape)


def where(condition: Value, a: Value | float, b: Value | float) -> Value:
    """a where the condition holds, else b."""
    if not isinstance(condition, Value) or condition.dtype != "bool":
        raise CallError(f"where takes a comparison of rows, as in where(x > 0.0, x, y), not {condition!r}")
    program = condition.program
    for one in (a, b):
        if not isinstance(one, Value) and not is_number(one):
            raise CallError(f"where takes rows and numbers, not {one!r}")
    values = [one for one in (a, b) if isinstance(one, Value)]
    dtype = computed(values[0].dtype) if values else condition.compared
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


# --- what a family does with a program --------------------------------------------------------------------------------

@functools.lru_cache(maxsize=1024)
def _read(text):
    return json.loads(text)


def program_of(attributes):
    """What Program.attributes has written."""
    return _read(attributes["program"])


def filled(shape, extents):
    return tuple(extents[extent] if isinstance(extent, str) else extent for extent in shape)


def check_inputs(what, program, arguments, extents, whose):
    """Raises where the first arguments are not what the program takes; `whose` rows the extents count."""
    for i, ((dtype, shape), argument) in enumerate(zip(program["inputs"], arguments)):
        if tuple(argument.shape) != filled(shape, extents):
            space = shape[0] if shape and isinstance(shape[0], str) else None
            rows = f": {whose} has {extents[space]} rows at {space}" if space else ""
            raise CallError(f"{what}: tensor {i} has the shape {list(argument.shape)}; it is {list(filled(shape, extents))}{rows}")
        if argument.dtype != dtype:
            raise CallTypeError(f"{what}: tensor {i} is {argument.dtype}; it is {dtype}")


def kept_count(attributes):
    """How many values behind its inputs a program takes, which the forward pass has kept."""
    return len(program_of(attributes)["kept"]) if attributes.get("kept") == "taken" else 0


def results_of(attributes, extents):
    program = program_of(attributes)
    given = program["results"] + (program["kept"] if attributes.get("kept") == "given" else [])
    return [Array(dtype, filled(shape, extents)) for dtype, shape in given]


def saving(attributes):
    """(attributes of the op that also gives what is kept, those of the op that takes it, how many values that are, 0); None of others."""
    count = len(program_of(attributes)["kept"])
    if not count or "kept" in attributes:
        return None
    return (*(tuple({**attributes, "kept": mode}.items()) for mode in ("given", "taken")), count, 0)


def _fill(text, extents):
    """The text of a program with the extents in their places."""
    def place(found):
        kind, space = found[1], found[2]
        extent = extents[space]
        value = f"%extent{-1 - extent}" if extent < 0 else str(extent)
        if kind == "=":
            return value
        if kind:
            told = value if extent < 0 else ""
            return f"({told})" if kind == "(" else f"[{told}]" if told else ""
        return "?" if extent < 0 else str(extent)

    return re.sub(r"@([(\[=]?)(\w+)[)\]]?@", place, text)


def body_of(attributes, extents, names):
    """(lines, values) of a program on inputs of these names, behind which are those of what is kept where that is taken."""
    program = program_of(attributes)
    kept_names = names[len(program["inputs"]):]
    taken = attributes.get("kept") == "taken"

    def kept(found):
        """What is kept is its value or, where that is given, what the first derivatives begin with."""
        number = int(found[2])
        value, (dtype, shape) = program["kept_values"][number], program["kept"][number]
        if found[1] == "kept":
            return f"%kept{number}" if taken else value
        return f"%kept{number} = ad.saved {value} as {kept_names[number]} : {type_of(dtype, shape)}" if taken else ""

    def fill(text):
        # What is kept may be made of what is kept.
        while "@kept" in text or "@keep" in text:
            text = re.sub(r"@(kept|keep)(\d+)@", kept, text)
        return _fill(re.sub(r"@x(\d+)@", lambda found: names[int(found[1])], text), extents)

    values = program["values"] + (program["kept_values"] if attributes.get("kept") == "given" else [])
    lines = [line for line in fill(program["lines"]).splitlines() if line.strip()]
    return lines, [fill(name) for name in values]
