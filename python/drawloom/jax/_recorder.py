# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Equations of JAX, written down as a program of rows.

A jaxpr is flattened: functions that it calls become part of it where that changes nothing. What is made of numbers alone is computed then.
A Recorder writes equations as lines of a program, each by the function of its primitive in `RULES` (_primitives fills it). An array has rows,
whose extents are the first of its shape (`Item.lead`), or is shared by all rows. What one row does must not depend on another one: equations
that mix rows, and primitives that are not known here, raise Unsupported with the reason.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend.core import Literal

from ..ops import formulas, tracing
from ..ops.regions import LARGEST_MADE, Unsupported
from ..ops.rows import ROW
from ..ops.tracing import Value

_FLOATS = ("float32", "float64", "bfloat16", "float16")


def dtype_name(dtype, known=_FLOATS):
    name = str(dtype)
    if name not in known:
        raise Unsupported(f"{name} is no type of its programs of rows")
    return name


def _place_of(equation):
    """The line of the user's function that an equation comes from: "file.py:12", or ""."""
    try:
        from jax._src.source_info_util import user_frame

        frame = user_frame(getattr(equation.source_info, "traceback", None))
    except Exception:  # JAX has no public way: another version may have another one.
        return ""
    return f"{os.path.basename(frame.file_name)}:{frame.start_line}" if frame else ""


# --- a jaxpr, flat -----------------------------------------------------------------------------------------------------

CHECKPOINTS = ("checkpoint", "remat", "remat2")


class Name:
    """A variable of a flat jaxpr."""

    __slots__ = ("aval",)

    def __init__(self, aval):
        self.aval = aval


class Equation:
    """An equation on Names; `outer` is that of the user's function which calls what it is in."""

    def __init__(self, equation, inputs, outer):
        self.primitive, self.params, self.ctx, self.outer = equation.primitive, equation.params, equation.ctx, outer
        self.effects, self.inputs, self.outputs = equation.effects, inputs, [Name(one.aval) for one in equation.outvars]

    @property
    def name(self):
        inner = self.params.get("call_jaxpr") or self.params.get("fun_jaxpr")
        told = getattr(getattr(inner, "jaxpr", None), "debug_info", None)
        return f"{self.primitive.name} {told.func_name}" if self.primitive.name.startswith("custom_") and told else self.primitive.name

    @property
    def place(self):
        return _place_of(self.outer)

    def evaluate(self, values):
        found = self.primitive.get_bind_params(self.params)
        # Before JAX 0.10 functions were apart.
        functions, params = found if isinstance(found, tuple) else ((), found)
        with self.ctx.manager:
            results = self.primitive.bind(*functions, *values, **params)
        return results if self.primitive.multiple_results else [results]


class Flat:
    """A closed jaxpr without calls; `remat`: those of jax.checkpoint are none either. `consts` are arrays by name, `known` Items of what is
    made of numbers alone, of which arrays that the function reads from outside are some up to so many elements."""

    def __init__(self, closed: Any, remat: bool = False, outside: int = LARGEST_MADE) -> None:
        self.equations: list[Equation] = []
        self.consts: dict[Name, Any] = {}
        self.remat, self.outside = remat, outside
        self.inputs = [Name(one.aval) for one in closed.jaxpr.invars]
        self.outputs = self._inline(closed.jaxpr, closed.consts, self.inputs)
        self.known = self._known()

    def _name(self, names, atom):
        if not isinstance(atom, Literal):
            return names[atom]
        made = Name(atom.aval)
        self.consts[made] = np.asarray(atom.val, dtype=atom.aval.dtype)
        return made

    def _inline(self, jaxpr: Any, consts: Any, inputs: Any, outer: Any = None) -> list[Name]:
        names: dict[Any, Any] = dict(zip(jaxpr.invars, inputs))
        for one, value in zip(jaxpr.constvars, consts):
            names[one] = Name(one.aval)
            self.consts[names[one]] = value
        for equation in jaxpr.eqns:
            given = [self._name(names, one) for one in equation.invars]
            inner = self._called(equation)
            if inner is None:
                made = Equation(equation, given, outer or equation)
                self.equations.append(made)
                outputs = made.outputs
            else:
                outputs = self._inline(inner[0], inner[1], given, outer or equation)
            names.update(zip(equation.outvars, outputs))
        return [self._name(names, one) for one in jaxpr.outvars]

    def _called(self, equation):
        """(jaxpr, constants) of a call that may become part of what is around it."""
        kind, params = equation.primitive.name, equation.params
        if kind in ("jit", "pjit"):
            told = [*params.get("in_shardings", ()), *params.get("out_shardings", ()), *params.get("in_layouts", ()), *params.get("out_layouts", ())]
            if all(one is None or type(one).__name__ == "UnspecifiedValue" for one in told) and not params.get("compiler_options_kvs"):
                return params["jaxpr"].jaxpr, params["jaxpr"].consts
        elif kind in ("closed_call", "core_call"):
            inner = params["call_jaxpr"]
            return getattr(inner, "jaxpr", inner), getattr(inner, "consts", ())
        elif self.remat and kind in CHECKPOINTS:
            return params["jaxpr"], ()
        return None

    def _known(self):
        known = {one: _constant(value) for one, value in self.consts.items()
                 if not isinstance(value, jax.core.Tracer) and one.aval.size <= self.outside}
        known = {one: item for one, item in known.items() if item is not None}
        for equation in self.equations:
            items = [known.get(one) for one in equation.inputs]
            if None not in items and not equation.effects and equation.primitive.name not in ("stop_gradient", "drawloom_call"):
                for one, item in zip(equation.outputs, _made(equation, items)):
                    known[one] = item
        return known


def _constant(value):
    try:
        array = np.asarray(value)
    except Exception:  # A key of random numbers, say.
        return None
    return Item(None, -1, array.shape, str(array.dtype), array=array)


def _made(equation, items):
    """What an equation makes of numbers alone, where that is little."""
    outs = [one.aval for one in equation.outputs]
    kind = equation.primitive.name
    if kind in ("broadcast_in_dim", "iota") and outs[0].size > LARGEST_MADE:
        shape, params = outs[0].shape, equation.params
        if kind == "iota":
            dim = params["dimension"]
            if shape[dim] > LARGEST_MADE:
                return []
            array = np.arange(shape[dim]).reshape([-1 if d == dim else 1 for d in range(len(shape))]).astype(outs[0].dtype)
        else:
            dims = params["broadcast_dimensions"]
            array = items[0].array.reshape([items[0].array.shape[dims.index(d)] if d in dims else 1 for d in range(len(shape))])
        return [Item(None, -1, shape, str(outs[0].dtype), array=array)]
    if any(one.size > LARGEST_MADE for one in outs) or any(math.prod(one.shape) > LARGEST_MADE for one in items):
        return []
    try:
        with jax.ensure_compile_time_eval():
            made = [_constant(one) for one in equation.evaluate([np.broadcast_to(one.array, one.shape) for one in items])]
    except Exception:  # Whatever it is, it is no number.
        return []
    return [] if None in made else made


# --- programs ----------------------------------------------------------------------------------------------------------

class Item:
    """What stands for an array of this shape: a Value of the program, [ROW, ...] for an array of rows, whose shape begins with `lead` extents
    that are one row each; -1 where all rows share it, and then extents of the value may be 1 that are more in the shape. Numbers that
    are known, and a matrix that is only turned, are not written down before somebody needs them so."""

    def __init__(self, value, lead, shape, dtype, turned=None, array=None):
        self._value, self.lead, self.shape, self.dtype, self.turned, self.array = value, lead, tuple(shape), dtype, turned, array

    @property
    def rows(self):
        return self.lead >= 0

    @property
    def base(self):
        """The extents of the value."""
        return self.array.shape if self.array is not None else self.shape if self._value is None else self._value.shape

    @property
    def value(self) -> Value:
        if self._value is None:
            assert self.turned is not None
            self._value = self.turned.transpose((1, 0))
        return self._value


class Recorder:
    """Writes down equations. `rows` is how many rows there are, `known` Items by name. With `open`, names that are not known are inputs of the
    program, with rows or shared as the equation that reads them needs it, and results of equations have rows."""

    def __init__(self, program: tracing.Program, rows: Any, known: dict[Any, Item], open: bool = False):
        self.program, self.row_count, self.items, self.open = program, rows, dict(known), open
        self.inputs: dict[tuple[Any, int], Item] = {}

    def take(self, name, lead):
        """An input: its first `lead` extents are rows; -1: all rows share it."""
        found = self.inputs.get((name, lead))
        if found is None:
            shape, dtype = name.aval.shape, dtype_name(name.aval.dtype, (*_FLOATS, "bool"))
            trailing = shape[max(lead, 0):]
            if 0 in trailing:
                raise Unsupported("it has an array without elements")
            value = self.program.input(dtype, (ROW, *trailing) if lead >= 0 else trailing)
            found = self.inputs[name, lead] = Item(value, lead, shape, dtype)
        return found

    def known(self, atom) -> Item | None:
        return self.items.get(atom)

    def item(self, atom) -> Item:
        """The operand of an equation that has one, whose rows are those of the result."""
        found = self.known(atom)
        if found is None and self.open:
            found = self.take(atom, self.lead_of(atom.aval.shape))
        if found is None:
            raise Unsupported("it reads an array that is no argument")
        return found

    def shared(self, atom) -> Item:
        found = self.known(atom)
        if found is None and self.open:
            found = self.take(atom, -1)
        if found is None:
            raise Unsupported("it reads an array that is no argument")
        return found

    def value_of(self, item, whole=True) -> Value:
        """The value of a shared item; `whole`: with all extents of its shape."""
        if item.array is not None and item._value is None:
            item = Item(self._numbers(item.array), -1, item.shape, item.dtype)
        return item.value.broadcast(item.shape) if whole else item.value

    def _numbers(self, array):
        dtype = str(array.dtype)
        if dtype not in (*_FLOATS, "bool"):
            raise Unsupported(f"{dtype} is no type of its programs of rows")
        if array.size == 0:
            raise Unsupported("it makes an empty array")
        wide = tracing.computed(dtype)
        if dtype == "bool":
            return self.program.array(array.tolist(), "bool", array.shape) if array.shape else self.program.constant(bool(array), "bool")
        numbers = array.astype(wide)
        if np.isnan(numbers).all():
            return self.program.constant(0, wide, array.shape) / self.program.constant(0, wide, array.shape)
        if np.isnan(numbers).any():
            raise Unsupported("it makes an array with NaN")
        return self.program.array(numbers.tolist(), wide, array.shape) if array.shape else self.program.constant(float(numbers), wide)

    def write(self, equation):
        """Makes the results of an equation known."""
        try:
            rule = RULES.get(equation.primitive.name)
            if rule is None:
                raise Unsupported(f"{equation.primitive.name} has no form in a program of rows")
            result = rule(self, equation)
        except Unsupported as error:
            if error.op is None:
                error.op = equation.name
            raise
        for one, item in zip(equation.outputs, result if isinstance(result, list) else [result]):
            self.items[one] = item

    # --- what rules are written with ---

    def lead_of(self, shape):
        """How many extents of a shape are the rows."""
        count = 1
        for lead, extent in enumerate(shape):
            count = count * extent
            if count == self.row_count:
                # Extents of one behind belong to the row.
                return lead + 1
        raise Unsupported(f"its result, {list(shape)}, does not have the rows first")

    def aligned(self, atoms, shape):
        """(lead of the result, items) of arithmetic, whose operands have the rank of the result or are numbers."""
        items = [self.known(one) for one in atoms]
        leads = {one.lead for one in items if one is not None and one.rows}
        if len(leads) > 1:
            raise Unsupported("its operands have their rows in different dimensions")
        lead = leads.pop() if leads else self.lead_of(shape) if self.open else -1
        if lead >= 0 and math.prod(shape[:lead]) != self.row_count:
            raise Unsupported("it makes rows of its own")
        found = []
        for atom, item in zip(atoms, items):
            if item is None and not self.open:
                raise Unsupported("it reads an array that is no argument")
            if lead >= 0 and (item is None or (not item.rows and any(extent != 1 for extent in item.base[:lead]))):
                own = atom.aval.shape
                if self.open and own and own[:lead] == shape[:lead]:
                    item = self.take(atom, lead)
                elif self.open and all(extent == 1 for extent in own[:lead]):
                    item = self.take(atom, -1)
                else:
                    raise Unsupported("it reads an array that differs from row to row, but does not have all rows")
            found.append(item)
        if lead >= 0 and self.open and not any(one.rows for one in found):
            raise Unsupported("it has no rows")
        return lead, found

    def operand(self, item, lead):
        """As it goes with a result: a number, or a value that broadcasts along rows."""
        if item.rows:
            return item.value
        if item.array is not None and item.array.size == 1 and item.dtype != "bool":
            number = float(item.array.reshape(()))
            return number if number == number else self._numbers(item.array.reshape(()))
        value = self.value_of(item, whole=False)
        return value.reshape(value.shape[lead:]) if lead > 0 and value.shape else value

    def elementwise(self, equation, compute, masks=False):
        """`masks`: what is true or false is so for `compute`, and not 1 or 0."""
        out = equation.outputs[0].aval
        lead, items = self.aligned(equation.inputs, out.shape)
        values = [self.operand(one, lead) for one in items]
        if not any(isinstance(one, Value) for one in values):
            values[0] = self.program.constant(values[0], tracing.computed(dtype_name(items[0].dtype)))
        if out.dtype != bool:
            wide = tracing.computed(dtype_name(out.dtype))
            values = [one if not isinstance(one, Value) or (masks and one.dtype == "bool") else formulas.number_in(one, wide) for one in values]
        elif not masks:
            wide = tracing.promoted(*{tracing.computed(dtype_name(one.dtype)) for one in items})
            values = [one.to(wide) if isinstance(one, Value) else one for one in values]
        value = compute(*values)
        if lead >= 0:
            value = value.broadcast((ROW, *out.shape[lead:]))
        else:
            value = value.reshape([1] * (len(out.shape) - len(value.shape)) + list(value.shape))
        return Item(value, lead, out.shape, str(out.dtype))

    def axes(self, item, dims):
        """Dimensions as those of the value; those of rows are none."""
        if not item.rows:
            return sorted(dims)
        if any(d < item.lead for d in dims):
            raise Unsupported("it goes over the rows")
        return sorted(d - item.lead + 1 for d in dims)

    def shaped(self, item, shape):
        """The same numbers in another shape."""
        if not item.rows:
            return Item(self.value_of(item).reshape(list(shape)), -1, shape, item.dtype)
        lead = self.lead_of(shape)
        if math.prod(shape[lead:]) != math.prod(item.shape[item.lead:]):
            raise Unsupported("it takes numbers from one row to another")
        return Item(item.value.reshape([ROW, *shape[lead:]]), lead, shape, item.dtype)


# By the name of a primitive: what writes it down.
RULES: dict[str, Callable] = {}


def rule(*names):
    def register(function):
        for name in names:
            RULES[name] = function
        return function
    return register
