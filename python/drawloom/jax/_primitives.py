# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The primitives of JAX that programs of rows have: each is a function that writes an equation down."""

from __future__ import annotations

import math

import numpy as np

from ..ops import formulas, tracing
from ..ops.regions import KEPT_FROM, Unsupported
from ..ops.rows import ROW
from ..ops.tracing import Value
from ._recorder import RULES, Item, dtype_name, rule

# --- arithmetic --------------------------------------------------------------------------------------------------------


def _elementwise(compute, masks=False):
    return lambda recorder, equation: recorder.elementwise(equation, compute, masks)


def _math(name):
    return lambda x: x._unary(name)


def _sign(x):
    return tracing.where(x > 0.0, 1.0, tracing.where(x < 0.0, -1.0, x * 0.0))


for _name, _compute in {
        "neg": lambda x: -x, "abs": lambda x: tracing.where(x < 0.0, -x, x), "sign": _sign, "exp": Value.exp, "log": Value.log, "sqrt": Value.sqrt,
        "sin": Value.sin, "cos": Value.cos,
        "tanh": Value.tanh, "logistic": Value.sigmoid, "square": lambda x: x * x, "erf": _math("math.erf"), "erfc": _math("math.erfc"),
        "rsqrt": _math("math.rsqrt"), "cbrt": _math("math.cbrt"), "log1p": _math("math.log1p"), "expm1": _math("math.expm1"), "exp2": _math("math.exp2"),
        "tan": _math("math.tan"), "atan": _math("math.atan"), "asinh": _math("math.asinh"), "sinh": _math("math.sinh"), "cosh": _math("math.cosh"),
        "floor": _math("math.floor"), "ceil": _math("math.ceil"), "mul": lambda a, b: a * b, "add": lambda a, b: a + b, "add_any": lambda a, b: a + b,
        "sub": lambda a, b: a - b, "div": lambda a, b: a / b}.items():
    RULES[_name] = _elementwise(_compute)


def _values(a, b):
    """Two operands, of which one may be a number, as values."""
    like = a if isinstance(a, Value) else b
    return [one if isinstance(one, Value) else like.program.constant(one, like.dtype, like.shape) for one in (a, b)]


def _extreme(compute, nothing):
    def write(recorder, equation):
        for one, other in (equation.inputs, equation.inputs[::-1]):
            item = recorder.known(other)
            if item is not None and item.array is not None and item.array.size == 1 and float(item.array.reshape(())) == nothing:
                # As the functions of jax.numpy put it around reductions.
                return recorder.item(one)
        return recorder.elementwise(equation, lambda a, b: compute(*_values(a, b)))
    return write


RULES["max"], RULES["min"] = _extreme(formulas.maximum, -math.inf), _extreme(formulas.minimum, math.inf)
RULES["rem"] = _elementwise(lambda a, b: Value._binary(*(lambda x, y: (x, "arith.remf", y))(*_values(a, b))))


@rule("round")
def _round(recorder, equation):
    if int(equation.params["rounding_method"]) != 1:
        raise Unsupported("it rounds halves away from 0")
    return recorder.elementwise(equation, _math("math.roundeven"))


@rule("integer_pow")
def _integer_pow(recorder, equation):
    power = equation.params["y"]
    if power == 0:
        raise Unsupported("it is a power of 0")
    return recorder.elementwise(equation, lambda x: formulas.repeated(x, power))


@rule("pow")
def _pow(recorder, equation):
    def compute(x, power):
        if not isinstance(x, Value):
            return formulas.exponential(x, power) if x > 0 else Value._binary(_values(x, power)[0], "math.powf", power)
        if not isinstance(power, Value) and power == int(power) and 0 < abs(power) <= 8:
            return formulas.repeated(x, int(power))
        return x._binary("math.powf", power)

    return recorder.elementwise(equation, compute)


@rule("is_finite")
def _is_finite(recorder, equation):
    return recorder.elementwise(equation, lambda x: x - x == 0.0)


def _compared(name, turned):
    def compute(a, b):
        if isinstance(a, Value) and a.dtype == "bool":
            if name not in ("eq", "ne") or not isinstance(b, Value):
                raise Unsupported("it compares what is true")
            different = _logical("arith.xori")(a, b)
            return different if name == "ne" else _not(different)
        return getattr(a, f"__{name}__")(b) if isinstance(a, Value) else getattr(b, f"__{turned}__")(a)

    def write(recorder, equation):
        masks = equation.inputs[0].aval.dtype == bool
        return recorder.elementwise(equation, compute, masks=masks)
    RULES[name] = write


for _name, _turned in {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge", "eq": "eq", "ne": "ne"}.items():
    _compared(_name, _turned)


def _logical(op):
    def compute(a, b):
        shape = tracing._common(a.shape, b.shape)
        a, b = a.broadcast(shape), b.broadcast(shape)
        return a._new(f"{op} {a.name}, {b.name} : {a.type}")
    return compute


def _not(x):
    return _logical("arith.xori")(x, x.program.constant(1, "bool", x.shape))


def _of_masks(compute):
    def write(recorder, equation):
        if equation.outputs[0].aval.dtype != bool:
            raise Unsupported("it is of whole numbers")
        return recorder.elementwise(equation, compute, masks=True)
    return write


RULES["and"], RULES["or"], RULES["xor"] = (_of_masks(_logical(f"arith.{_name}i")) for _name in ("and", "or", "xor"))
RULES["not"] = _of_masks(_not)


@rule("select_n")
def _select(recorder, equation):
    which, *cases = equation.inputs
    if which.aval.dtype != bool:
        raise Unsupported("it selects by whole numbers")
    if equation.outputs[0].aval.dtype == bool:
        def compute(which, no, yes):
            return _logical("arith.ori")(_logical("arith.andi")(which, yes), _logical("arith.andi")(_not(which), no))
    else:
        def compute(which, no, yes):
            return tracing.where(which, yes, no)
    found = recorder.known(which)
    if found is not None and found.array is not None and found.array.size == 1:
        return recorder.item(cases[bool(found.array.reshape(()))])
    return recorder.elementwise(equation, compute, masks=True)


@rule("clamp")
def _clamp(recorder, equation):
    return recorder.elementwise(equation, lambda low, x, high: formulas.inside(x if isinstance(x, Value) else _values(x, low)[0], low, high))


@rule("convert_element_type")
def _convert(recorder, equation):
    source, out = equation.inputs[0].aval.dtype, equation.outputs[0].aval
    item = recorder.item(equation.inputs[0])
    value = item.value if item.rows else recorder.value_of(item, whole=False)
    is_truth = source == np.bool_
    if out.dtype == np.bool_:
        return Item(value if is_truth else value != 0.0, item.lead, out.shape, "bool")
    name = dtype_name(out.dtype)
    # To be rounded is what is asked for.
    value = formulas.number_in(value, name) if is_truth else value.to(dtype_name(source)).to(name)
    return Item(value, item.lead, out.shape, name)


@rule("copy", "copy_p")
def _copy(recorder, equation):
    return recorder.item(equation.inputs[0])


@rule("stop_gradient")
def _stop_gradient(recorder, equation):
    item = recorder.item(equation.inputs[0])
    if item.dtype == "bool" or item.array is not None:
        return item
    value = item.value
    return Item(formulas.stopped(value), item.lead, item.shape, item.dtype)


# Functions of jax.nn and jax.numpy with derivatives of their own, which are those of these formulas.

def _log_add_exp(a, b):
    a, b = _values(a, b)
    change = a - b
    # Infinity less itself is no number, and what is not taken has to stay finite.
    known = change == change
    change = tracing.where(known, change, 0.0)
    return tracing.where(known, tracing.where(change >= 0.0, a + (-change).softplus(), b + change.softplus()), a + b)


_DERIVATIVES = {"relu": Value.relu, "relu6": lambda x: formulas.inside(x, 0.0, 6.0), "logaddexp": _log_add_exp}


@rule("custom_jvp_call")
def _custom_jvp(recorder, equation):
    told = getattr(equation.params["call_jaxpr"].jaxpr.debug_info, "func_src_info", "") or ""
    name, _, place = told.partition(" at ")
    compute = _DERIVATIVES.get(name)
    if compute is None or "/jax/_src/" not in place.replace("\\", "/"):
        raise Unsupported("it has a derivative of its own")
    return recorder.elementwise(equation, compute)


@rule("custom_vjp_call", "custom_vjp_call_jaxpr")
def _custom_vjp(recorder, equation):
    raise Unsupported("it has a derivative of its own")


# --- along the channels ------------------------------------------------------------------------------------------------

def _reduction(name, compute):
    def write(recorder, equation):
        item, out = recorder.item(equation.inputs[0]), equation.outputs[0].aval
        axes = recorder.axes(item, equation.params["axes"])
        value = item.value if item.rows else recorder.value_of(item)
        return Item(compute(value.to(tracing.computed(dtype_name(out.dtype))), axes), item.lead, out.shape, str(out.dtype))
    RULES[name] = write


_reduction("reduce_sum", Value.sum)
_reduction("reduce_max", Value.max)
_reduction("reduce_min", formulas.least)

# --- shapes ------------------------------------------------------------------------------------------------------------


@rule("reshape")
def _reshape(recorder, equation):
    if equation.params.get("dimensions") is not None:
        raise Unsupported("it turns what it reshapes")
    return recorder.shaped(recorder.item(equation.inputs[0]), equation.outputs[0].aval.shape)


@rule("squeeze")
def _squeeze(recorder, equation):
    return recorder.shaped(recorder.item(equation.inputs[0]), equation.outputs[0].aval.shape)


@rule("broadcast_in_dim")
def _broadcast(recorder, equation):
    shape, dims, operand = equation.outputs[0].aval.shape, equation.params["broadcast_dimensions"], equation.inputs[0]
    item = recorder.known(operand)
    if item is None and recorder.open:
        lead = recorder.lead_of(shape)
        mine = [d for d in range(len(dims)) if dims[d] < lead]
        item = recorder.take(operand, len(mine)) if any(operand.aval.shape[d] != 1 for d in mine) else recorder.take(operand, -1)
    if item is None:
        raise Unsupported("it reads an array that is no argument")
    if not item.rows:
        value = recorder.value_of(item, whole=False)
        sizes = dict(zip(dims, value.shape)) if value.shape else {}
        return Item(value.reshape([sizes.get(d, 1) for d in range(len(shape))]), -1, shape, item.dtype)
    lead = recorder.lead_of(shape)
    if any(d >= lead for d in dims[:item.lead]) or any(d < lead for d in dims[item.lead:]) or [shape[d] for d in dims[:item.lead]] != list(item.shape[:item.lead]):
        raise Unsupported("it repeats or moves the rows")
    sizes = {d: extent for d, extent in zip(dims[item.lead:], item.shape[item.lead:])}
    value = item.value.reshape([ROW, *(sizes.get(d, 1) for d in range(lead, len(shape)))])
    return Item(value.broadcast((ROW, *shape[lead:])), lead, shape, item.dtype)


@rule("transpose")
def _transpose(recorder, equation):
    order, shape = equation.params["permutation"], equation.outputs[0].aval.shape
    item = recorder.item(equation.inputs[0])
    if item.rows:
        if tuple(order[:item.lead]) != tuple(range(item.lead)):
            raise Unsupported("it moves the dimension of rows")
        return Item(item.value.transpose((0, *(d - item.lead + 1 for d in order[item.lead:]))), item.lead, shape, item.dtype)
    if tuple(order) == (1, 0) and item.base == item.shape:
        if item.turned is not None:
            return Item(item.turned, -1, shape, item.dtype)
        return Item(None, -1, shape, item.dtype, turned=recorder.value_of(item))
    return Item(recorder.value_of(item).transpose(order), -1, shape, item.dtype)


def _axis(item, d):
    if item.rows and d < item.lead:
        raise Unsupported("it takes some of the rows")
    return d - item.lead + 1 if item.rows else d


def _strided(value, axis, start, size, stride):
    if stride == 1:
        return value.slice(axis, start, size)
    first = start - start % stride
    if first + size * stride > value.shape[axis]:
        raise Unsupported("it takes every second element, or fewer, of a number that does not divide")
    value = value.slice(axis, first, size * stride)
    before, behind = value.shape[:axis], value.shape[axis + 1:]
    value = value.reshape([*before, size, stride, *behind]).slice(axis + 1, start - first, 1)
    return value.reshape([*before, size, *behind])


def _whole(recorder, item):
    return item.value if item.rows else recorder.value_of(item)


@rule("slice")
def _slice(recorder, equation):
    item, out = recorder.item(equation.inputs[0]), equation.outputs[0].aval
    strides = equation.params["strides"] or (1,) * len(out.shape)
    value = _whole(recorder, item)
    for d, (start, stride) in enumerate(zip(equation.params["start_indices"], strides)):
        if out.shape[d] == 0:
            raise Unsupported("it takes no element")
        if out.shape[d] != item.shape[d]:
            value = _strided(value, _axis(item, d), int(start), out.shape[d], stride)
    return Item(value, item.lead, out.shape, item.dtype)


@rule("split")
def _split(recorder, equation):
    item, start, parts = recorder.item(equation.inputs[0]), 0, []
    axis, value = _axis(item, equation.params["axis"]), _whole(recorder, item)
    for size, one in zip(equation.params["sizes"], equation.outputs):
        if size == 0:
            raise Unsupported("it takes no element")
        parts.append(Item(value.slice(axis, start, int(size)), item.lead, one.aval.shape, item.dtype))
        start += int(size)
    return parts


@rule("rev")
def _rev(recorder, equation):
    item = recorder.item(equation.inputs[0])
    value = _whole(recorder, item)
    for d in equation.params["dimensions"]:
        axis, extent = _axis(item, d), item.shape[d]
        if extent > _FEW:
            raise Unsupported(f"it turns {extent} elements round, more than {_FEW}")
        value = tracing.concat([value.slice(axis, at, 1) for at in reversed(range(extent))], axis)
    return Item(value, item.lead, item.shape, item.dtype)


# Pieces that one value is made of, each of which is a line of the program.
_FEW = 64


def _joined(recorder, equation, dim, stacked=False):
    out = equation.outputs[0].aval
    shapes = [one.aval.shape for one in equation.inputs]
    items = [recorder.known(one) for one in equation.inputs]
    leads = {one.lead for one in items if one is not None and one.rows}
    lead = leads.pop() if leads else recorder.lead_of(out.shape) if recorder.open else -1
    if leads:
        raise Unsupported("its operands have their rows in different dimensions")
    if 0 <= dim < lead or (lead >= 0 and math.prod(out.shape[:lead]) != recorder.row_count):
        raise Unsupported("it puts rows behind one another")
    name, axis, parts = dtype_name(out.dtype, ("float32", "float64", "bfloat16", "float16", "bool")), dim - lead + 1 if lead >= 0 else dim, []
    for atom, item, shape in zip(equation.inputs, items, shapes):
        item = recorder.take(atom, lead) if item is None else item
        if lead >= 0 and not item.rows:
            value = recorder.operand(item, lead)
            value = value if isinstance(value, Value) else recorder.program.constant(value, name)
            value = value.broadcast((ROW, *shape[lead:]))
        else:
            value = _whole(recorder, item)
        value = value if name == "bool" else value.to(name)
        parts.append(value.reshape([*value.shape[:axis], 1, *value.shape[axis:]]) if stacked else value)
    return Item(tracing.concat(parts, axis), lead, out.shape, name)


@rule("concatenate")
def _concatenate(recorder, equation):
    return _joined(recorder, equation, equation.params["dimension"])


@rule("stack")
def _stack(recorder, equation):
    return _joined(recorder, equation, equation.params["axis"], stacked=True)


@rule("tile")
def _tile(recorder, equation):
    item = recorder.item(equation.inputs[0])
    value = _whole(recorder, item)
    for d, times in enumerate(equation.params["reps"]):
        if times > _FEW:
            raise Unsupported(f"it repeats an array {times} times, more than {_FEW}")
        if times != 1:
            axis = _axis(item, d)
            value = tracing.concat([value] * times, axis)
    return Item(value, item.lead, equation.outputs[0].aval.shape, item.dtype)


@rule("pad")
def _pad(recorder, equation):
    item, filled, out = recorder.item(equation.inputs[0]), recorder.shared(equation.inputs[1]), equation.outputs[0].aval
    name, value = dtype_name(out.dtype), _whole(recorder, item)
    value = value.to(name)
    for d, (low, high, between) in enumerate(equation.params["padding_config"]):
        if not (low or high or between):
            continue
        if between or min(low, high) < 0:
            raise Unsupported("it pads between elements, or takes some away")
        axis = _axis(item, d)

        def filling(size, value=value, axis=axis):
            shape = tuple(size if at == axis else extent for at, extent in enumerate(value.shape))
            return recorder.value_of(filled).to(name).broadcast(shape)

        value = tracing.concat([*([filling(int(low))] if low else []), value, *([filling(int(high))] if high else [])], axis)
    return Item(value, item.lead, out.shape, name)


@rule("gather")
def _gather(recorder, equation):
    """Elements of one dimension at places that are known."""
    operand, indices = equation.inputs
    numbers, out = equation.params["dimension_numbers"], equation.outputs[0].aval
    places, item = recorder.known(indices), recorder.item(operand)
    if places is None or places.array is None:
        raise Unsupported("it takes elements at places that are computed")
    places = np.broadcast_to(places.array, places.shape)
    sizes, found = equation.params["slice_sizes"], numbers.start_index_map
    if len(found) != 1 or numbers.operand_batching_dims or places.size > _FEW or places.ndim > 2 or places.shape[-1] != 1:
        raise Unsupported("it takes elements of several dimensions")
    d = found[0]
    if any(sizes[one] != item.shape[one] for one in range(len(sizes)) if one != d) or tuple(numbers.collapsed_slice_dims) != (d,) or sizes[d] != 1:
        raise Unsupported("it takes elements of several dimensions")
    axis, value = _axis(item, d), _whole(recorder, item)
    flat = [int(one) for one in places.reshape(-1)]
    kept = [one for one in range(len(out.shape)) if one not in numbers.offset_dims]
    if any(not 0 <= one < item.shape[d] for one in flat) or kept not in ([], [d]):
        raise Unsupported("it takes elements that are not there, or to another dimension")
    value = tracing.concat([value.slice(axis, one, 1) for one in flat], axis)
    trailing = out.shape[item.lead:] if item.rows else out.shape
    return Item(value.reshape([ROW, *trailing] if item.rows else list(trailing)), item.lead, out.shape, item.dtype)


@rule("iota")
def _iota(recorder, equation):
    raise Unsupported("its size is known in a call only, or too large")


# --- products ----------------------------------------------------------------------------------------------------------

def is_product(equation, count):
    """Whether an equation may be a product of so many rows with a matrix."""
    if equation.primitive.name != "dot_general":
        return False
    (contracted, _), (batch, _) = equation.params["dimension_numbers"]
    shape = equation.inputs[0].aval.shape
    lead = len(shape) - len(contracted)
    return not batch and 0 < lead and min(contracted, default=0) >= lead and math.prod(shape[:lead]) == count


@rule("dot_general")
def _product(recorder, equation):
    (left, right), (batch, _) = equation.params["dimension_numbers"]
    x, w = equation.inputs
    item = recorder.known(x)
    if batch:
        raise Unsupported("it is a product of matrices for each row")
    if (item is None and recorder.open) or (item is not None and item.rows):
        item = recorder.take(x, recorder.lead_of(x.aval.shape)) if item is None else item
    other = recorder.shared(w)
    if item is None or not item.rows:
        raise Unsupported("it gives the rows in its last dimension" if other.rows else "it is a product of two matrices that rows share")
    if other.rows:
        raise Unsupported("both sides of a product have rows")
    if sorted(left) != list(range(item.lead, len(item.shape))):
        raise Unsupported("it goes over the rows" if min(left, default=item.lead) < item.lead else "it is a product of matrices for each row")
    out = equation.outputs[0].aval
    name, order = dtype_name(out.dtype), [right[left.index(d)] for d in sorted(left)]
    inner, free = math.prod(item.shape[item.lead:]), [d for d in range(len(other.shape)) if d not in right]
    rows = item.value.to(name).reshape([ROW, inner])
    if not free:
        y = (rows * _whole(recorder, other).transpose(order).reshape([inner]).to(name)).sum(-1)
        return Item(y, item.lead, out.shape, name)
    transposed = len(other.shape) == 2 and order == [1]
    matrix = other
    if len(other.shape) == 2:
        turned = other.turned
        transposed = (order == [1]) != (turned is not None)
        value = turned if turned is not None else recorder.value_of(matrix)
    else:
        value = recorder.value_of(matrix).transpose([*order, *free]).reshape([inner, math.prod(other.shape[d] for d in free)])
        transposed = False
    y = rows.product(value.to(name), transposed=transposed)
    if inner >= KEPT_FROM:
        y = recorder.program.keep(y)
    return Item(y.reshape([ROW, *(other.shape[d] for d in free)]), item.lead, out.shape, name)


@rule("drawloom_call")
def _call(recorder, equation):
    """An op of drawloom.jax.op: its program becomes part of this one."""
    spec = equation.params["spec"]
    attributes = dict(spec.attributes)
    if spec.family != "rows" or spec.derivatives or "kept" in attributes:
        raise Unsupported("an op of Drawloom stays whole")
    values = []
    for atom, (_, shape) in zip(equation.inputs, tracing.program_of(attributes)["inputs"]):
        rows = ROW in shape
        item = recorder.known(atom)
        if item is None and recorder.open:
            item = recorder.take(atom, 1 if rows else -1)
        if item is None or item.lead != (1 if rows else -1) or (rows and item.shape[0] != recorder.row_count):
            raise Unsupported("an op of Drawloom takes rows where others share an array, or the other way round")
        value = _whole(recorder, item)
        values.append(value if item.dtype == "bool" else value.to(item.dtype))
    results = recorder.program.call(attributes, values)
    return [Item(value, 1, one.aval.shape, str(one.aval.dtype)) for value, one in zip(results, equation.outputs)]
