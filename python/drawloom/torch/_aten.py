# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of torch, written down as a program of rows.

A Recorder is a dispatch mode. Under it a call runs on fake tensors; each ATen op that arrives is composed of simpler ones where
`_COMPOSED` says how, and else becomes lines of the program by the function of its name in `_OPS`. A tensor has rows, whose extents
are the first of its shape (`Item.lead`), or is shared by all rows. What one row does must not depend on another one: ops that mix rows,
and ops that are not known here, raise Unsupported with the reason.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import get_decompositions
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from ..ops import tracing
from ..ops.rows import ROW
from ..ops.tracing import Value
from ._dispatch import _names, defined

aten = torch.ops.aten

_FLOATS = ("float32", "float64", "bfloat16", "float16")


class Unsupported(Exception):
    """Why something stays with torch, and the op that it is about, if it is about one."""

    op: str | None = None

    def __str__(self):
        return f"{self.op}: {self.reason}" if self.op and not self.reason.startswith(self.op) else self.reason

    @property
    def reason(self):
        return self.args[0]


def dtype_name(dtype, known=_FLOATS):
    name = _names.get(dtype)
    if name not in known:
        raise Unsupported(f"{str(dtype).removeprefix('torch.')} is no type of its programs of rows")
    return name


def count_of(extents):
    number = 1
    for extent in extents:
        number = number * extent
    return number


def same(a, b):
    return a is b or statically_known_true(a == b)


def known(shape, what="a shared tensor"):
    """Extents as numbers; a symbol may be one."""
    extents = [extent if isinstance(extent, int) else extent.node.maybe_as_int() for extent in shape]
    if None in extents:
        raise Unsupported(f"{what} has extents that are open, {list(shape)}")
    return tuple(extents)


class Item:
    """What stands for a tensor: a Value of the program, [ROW, ...] for a tensor of rows, whose shape begins with `lead` extents that are
    one row each; -1 where all rows share it. A matrix that is only turned is not written down before somebody needs it so."""

    def __init__(self, value: Value | None, lead: int, turned: Value | None = None):
        self._value, self.lead, self.turned = value, lead, turned

    @property
    def rows(self):
        return self.lead >= 0

    @property
    def value(self) -> Value:
        if self._value is None:
            assert self.turned is not None
            self._value = self.turned.transpose((1, 0))
        return self._value


class Recorder(TorchDispatchMode):
    """Writes down what runs under it on fake tensors that `take` has made known. `rows` is how many rows there are."""

    def __init__(self, program: tracing.Program, rows: Any):
        super().__init__()
        self.program, self.row_count = program, rows
        # By identity, with the tensor: an identity is not taken again as long as it lives.
        self.items: dict[int, tuple[torch.Tensor, Item]] = {}
        self.fakes: Any = None
        # Identities of inputs, and of what is made of numbers alone.
        self.given: set[int] = set()
        self.made: set[int] = set()

    def take(self, tensor, lead):
        """An input: its first `lead` extents are rows; -1: all rows share it."""
        self.fakes = tensor.fake_mode
        trailing = known(tensor.shape[max(lead, 0):], "a row" if lead >= 0 else "a shared tensor")
        value = self.program.input(dtype_name(tensor.dtype, (*_FLOATS, "bool")), (ROW, *trailing) if lead >= 0 else trailing)
        self.items[id(tensor)] = tensor, Item(value, lead)
        self.given.add(id(tensor))

    def _known(self, tensor, scalar):
        """The tensor; for a number that torch has made a tensor of, a fake one, where calls have these."""
        if isinstance(tensor, FakeTensor):
            return tensor
        if tensor.dim() or tensor.requires_grad or self.fakes is None or not scalar:
            raise Unsupported("it reads a tensor that is no argument")
        number, dtype = tensor.item(), dtype_name(tensor.dtype)
        fake = self.fakes.from_tensor(tensor)
        self.items[id(fake)] = fake, Item(self.program.constant(number, dtype), -1)
        return fake

    def item(self, tensor) -> Item:
        found = self.items.get(id(tensor))
        if found is None:
            raise Unsupported("it reads a tensor that is made on the way")
        return found[1]

    def result(self, tensor):
        self.program.result(self.item(tensor).value.to(dtype_name(tensor.dtype)))

    def lead_of(self, shape):
        """How many extents of a shape are the rows."""
        count = 1
        for lead, extent in enumerate(shape):
            count = count * extent
            if same(count, self.row_count):
                # Extents of one behind belong to the row.
                return lead + 1
        raise Unsupported(f"its result, {list(shape)}, does not have the rows first")

    def __torch_dispatch__(self, func, types, arguments=(), options=None):
        try:
            return self._write(func, arguments, options or {})
        except Unsupported as error:
            if error.op is None:
                error.op = func.overloadpacket.__name__
            raise

    def _write(self, func, arguments, options):
        if not torch.is_grad_enabled():
            raise Unsupported("no gradient goes through it")
        if func.namespace == "drawloom":
            return self._call(func, arguments, options)
        if func.namespace == "prim":
            # Questions about a tensor, such as its device.
            return func(*arguments, **options)
        composed, written = _COMPOSED.get(func), None
        packet = func.overloadpacket
        if packet.__name__.endswith("_") and func._schema.is_mutable:
            # Composed ops change what they have just made.
            written, packet = arguments[0], getattr(aten, packet.__name__.rstrip("_"), None)
            if id(written) in self.given:
                raise Unsupported("it changes its argument")
            if any(one is not written and one.untyped_storage()._cdata == written.untyped_storage()._cdata for one, _ in self.items.values()):
                raise Unsupported("it changes a tensor of which there are views")
        if packet is aten._local_scalar_dense:
            raise Unsupported("what is done depends on values")
        if packet in _MADE and not any(isinstance(one, FakeTensor) for one in arguments):
            return self._made(func, arguments, options)
        write = None if composed else _OPS.get(packet)
        if composed:
            with self:
                return composed(*arguments, **options)
        if write is None:
            if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
                with self:
                    return func.decompose(*arguments, **options)
            raise Unsupported(f"{func.overloadpacket.__name__} has no form in a program of rows")
        arguments = torch.utils._pytree.tree_map_only(torch.Tensor, lambda one: self._known(one, packet is aten.where), arguments)
        result = func(*arguments, **options)
        out = result[0] if isinstance(result, (tuple, list)) else result
        values = write(self, out, *arguments, **{name: one for name, one in options.items() if name not in _IGNORED})
        for tensor, item in zip(result if isinstance(result, (tuple, list)) else [result], values if isinstance(values, list) else [values]):
            self.items[id(tensor)] = tensor, item
        if written is not None:
            self.items[id(written)] = written, self.items[id(out)][1]
        return result

    def _made(self, func, arguments, options):
        """A tensor that is made of numbers alone: a constant of the program. Whole numbers are known as float64."""
        if any(isinstance(one, torch.SymInt) and one.node.maybe_as_int() is None for one in torch.utils._pytree.tree_leaves((arguments, options))):
            raise Unsupported("its size is known in a call only")
        with _disable_current_modes():
            made = func(*arguments, **{name: one for name, one in options.items() if name != "device"})
        if made.numel() > _LARGEST_MADE:
            raise Unsupported(f"it makes {made.numel()} numbers, more than {_LARGEST_MADE}; a tensor that is an argument may have any number")
        if made.numel() == 0 or made.isnan().any():
            raise Unsupported("it makes an empty tensor, or one with NaN")
        numbers = made.double() if made.is_floating_point() or made.dtype in (torch.int64, torch.int32) else made
        name = dtype_name(made.dtype) if made.is_floating_point() else dtype_name(numbers.dtype, ("float64", "bool"))
        with _disable_current_modes():
            fake = self.fakes.from_tensor(made, static_shapes=True)
        self.made.add(id(fake))
        self.items[id(fake)] = fake, Item(self.program.array(numbers.tolist(), name, tuple(made.shape)), -1)
        return fake

    def _call(self, func, arguments, options):
        """An op of drawloom.torch.op: its program becomes part of this one."""
        spec_of, flatten = defined.get(func, (None, None))
        spec = spec_of(*arguments, **options) if spec_of else None
        if spec is None or spec.family != "rows" or spec.derivatives or "kept" in dict(spec.attributes):
            raise Unsupported("an op of Drawloom stays whole")
        items = [self.item(one) for one in flatten(*arguments, **options)]
        attributes = dict(spec.attributes)
        for item, (_, shape) in zip(items, tracing.program_of(attributes)["inputs"]):
            if item.lead != (1 if ROW in shape else -1):
                raise Unsupported("an op of Drawloom takes rows where others share a tensor, or the other way round")
        results = func(*arguments, **options)
        for tensor, value in zip(results, self.program.call(attributes, [item.value for item in items])):
            self.items[id(tensor)] = tensor, Item(value, 1)
        return results

    # --- what ops are written with ---

    def operand(self, one, out, lead):
        """A tensor or number as it goes with the result: a value that broadcasts along rows."""
        if isinstance(one, numbers.Real):
            return one
        if not isinstance(one, torch.Tensor):
            raise Unsupported(f"it has an operand {type(one).__name__}")
        item = self.item(one)
        if item.rows:
            if item.lead != lead or len(one.shape) != len(out.shape):
                raise Unsupported("it goes along another dimension than that of rows")
            return item.value
        value = item.value
        if lead >= 0 and len(value.shape) > len(out.shape) - lead:
            extra = len(value.shape) - (len(out.shape) - lead)
            if any(extent != 1 for extent in value.shape[:extra]):
                raise Unsupported("it reads a tensor that differs from row to row, but does not have all rows")
            value = value.reshape(value.shape[extra:])
        return value

    def lead(self, tensors, out):
        """That of the result of arithmetic."""
        leads = {self.item(one).lead for one in tensors if isinstance(one, torch.Tensor)} - {-1}
        if len(leads) > 1:
            raise Unsupported("its operands have their rows in different dimensions")
        if not leads:
            return -1
        lead, = leads
        if not same(count_of(out.shape[:lead]), self.row_count):
            raise Unsupported("it makes rows of its own")
        return lead

    def elementwise(self, out, compute, *operands):
        lead = self.lead(operands, out)
        values = [self.operand(one, out, lead) for one in operands]
        if not any(isinstance(one, Value) for one in values):
            raise Unsupported("it has no tensor")
        if out.dtype != torch.bool:
            wide = tracing.computed(dtype_name(out.dtype))
            values = [one.to(wide) if isinstance(one, Value) and one.dtype != "bool" else one for one in values]
        else:
            if any(isinstance(one, Value) and one.dtype == "bool" for one in values):
                raise Unsupported("it compares what is true")
            wide = tracing.promoted(*{tracing.computed(one.dtype) for one in values if isinstance(one, Value)})
            values = [one.to(wide) if isinstance(one, Value) else one for one in values]
        value = compute(*values)
        shape = tuple(out.shape) if lead < 0 else (ROW, *known(out.shape[lead:], "a row"))
        return Item(value.broadcast(shape), lead)

    def dims(self, tensor, dims, item):
        """Dimensions of a reduction as those of the value; those of rows are none."""
        rank = len(tensor.shape)
        dims = range(rank) if dims is None or (isinstance(dims, (list, tuple)) and not dims) else [dims] if isinstance(dims, int) else dims
        dims = sorted(d + rank if d < 0 else d for d in dims)
        if not item.rows:
            return dims
        if any(d < item.lead for d in dims):
            raise Unsupported("it goes over the rows")
        return [d - item.lead + 1 for d in dims]

    def shaped(self, item, shape):
        """The same numbers in another shape."""
        if not item.rows:
            return Item(item.value.reshape(list(known(shape))), -1)
        lead = self.lead_of(shape)
        trailing = known(shape[lead:], "a row")
        if count_of(trailing) != count_of(item.value.shape[1:]):
            raise Unsupported("it takes numbers from one row to another")
        return Item(item.value.reshape([ROW, *trailing]), lead)


# What options do not matter to a program.
_IGNORED = ("memory_format", "layout", "device", "pin_memory", "non_blocking")

# What makes tensors of numbers, and of how many at most: they stand in the program's text.
_MADE = (aten.arange, aten.eye, aten.full, aten.lift_fresh, aten.linspace, aten.logspace, aten.ones, aten.scalar_tensor, aten.zeros)
_LARGEST_MADE = 4096

_OPS: dict[Any, Callable] = {}


def op(*packets):
    def register(function):
        for packet in packets:
            _OPS[packet] = function
        return function
    return register


def _abs(x):
    """The absolute value, whose slope at 0 is 0."""
    return tracing.where(x > 0.0, x, tracing.where(x < 0.0, -x, x * 0.0))


def _unary(packet, compute):
    _OPS[packet] = lambda recorder, out, x: recorder.elementwise(out, compute, x)


def _math(name):
    return lambda x: x._unary(name)


for _packet, _compute in {
        aten.neg: lambda x: -x, aten.abs: _abs, aten.exp: Value.exp, aten.log: Value.log, aten.sqrt: Value.sqrt, aten.sin: Value.sin,
        aten.cos: Value.cos, aten.tanh: Value.tanh, aten.sigmoid: Value.sigmoid, aten.relu: Value.relu, aten.silu: Value.silu,
        aten.erf: _math("math.erf"), aten.rsqrt: _math("math.rsqrt"), aten.log1p: _math("math.log1p"), aten.expm1: _math("math.expm1"),
        aten.exp2: _math("math.exp2"), aten.log2: _math("math.log2"), aten.log10: _math("math.log10"), aten.tan: _math("math.tan"),
        aten.atan: _math("math.atan"), aten.asinh: _math("math.asinh"), aten.sinh: _math("math.sinh"), aten.cosh: _math("math.cosh"),
        aten.reciprocal: lambda x: 1.0 / x, aten.floor: _math("math.floor"), aten.ceil: _math("math.ceil"), aten.round: _math("math.roundeven")}.items():
    _unary(_packet, _compute)


def _binary(packet, compute):
    _OPS[packet] = lambda recorder, out, a, b: recorder.elementwise(out, compute, a, b)


def _compared(method, turned):
    return lambda a, b: getattr(a, method)(b) if isinstance(a, Value) else getattr(b, turned)(a)


for _packet, _compute in {
        aten.mul: lambda a, b: a * b, aten.gt: _compared("__gt__", "__lt__"), aten.lt: _compared("__lt__", "__gt__"), aten.ge: _compared("__ge__", "__le__"),
        aten.le: _compared("__le__", "__ge__"), aten.eq: _compared("__eq__", "__eq__"), aten.ne: _compared("__ne__", "__ne__")}.items():
    _binary(_packet, _compute)


@op(aten.add)
def _add(recorder, out, a, b, alpha=1):
    return recorder.elementwise(out, lambda a, b: a + (b if alpha == 1 else b * alpha), a, b)


@op(aten.sub)
def _sub(recorder, out, a, b, alpha=1):
    return recorder.elementwise(out, lambda a, b: a - (b if alpha == 1 else b * alpha), a, b)


@op(aten.rsub)
def _rsub(recorder, out, a, b, alpha=1):
    return _sub(recorder, out, b, a) if alpha == 1 else recorder.elementwise(out, lambda a, b: b - a * alpha, a, b)


@op(aten.div)
def _div(recorder, out, a, b, rounding_mode=None):
    if rounding_mode is not None:
        raise Unsupported("it rounds a quotient")
    return recorder.elementwise(out, lambda a, b: a / b, a, b)


@op(aten.pow)
def _pow(recorder, out, x, power):
    def compute(x, power):
        if not isinstance(x, Value):
            if x <= 0:
                raise Unsupported("it is a power of a number that is not above 0")
            return (power * math.log(x)).exp()
        if isinstance(power, Value):
            return x._binary("math.powf", power)
        if power == 0.5:
            return x.sqrt()
        if power != int(power) or abs(power) > 8:
            return x._binary("math.powf", float(power))
        if power == 0:
            raise Unsupported("it is a power of 0")
        factor = x if power > 0 else 1.0 / x
        value = factor
        for _ in range(abs(int(power)) - 1):
            value = value * factor
        return value

    return recorder.elementwise(out, compute, x, power)


@op(aten.gelu)
def _gelu(recorder, out, x, approximate="none"):
    attributes = "" if approximate == "none" else ' {approximate = "tanh"}'
    return recorder.elementwise(out, lambda x: x._unary("kan.gelu", attributes), x)


@op(aten.leaky_relu)
def _leaky_relu(recorder, out, x, slope=0.01):
    return recorder.elementwise(out, lambda x: x.leaky_relu(slope), x)


@op(aten._prelu_kernel)
def _prelu(recorder, out, x, slope):
    return recorder.elementwise(out, lambda x, slope: tracing.where(x > 0.0, x, x * slope), x, slope)


@op(aten.remainder)
def _remainder(recorder, out, x, divisor):
    return recorder.elementwise(out, lambda x, divisor: x - (x / divisor)._unary("math.floor") * divisor, x, divisor)


@op(aten.elu)
def _elu(recorder, out, x, alpha=1.0, scale=1.0, input_scale=1.0):
    if (scale, input_scale) != (1, 1) or alpha <= 0:
        return recorder.elementwise(out, lambda x: tracing.where(x > 0.0, x, (x * input_scale)._unary("math.expm1") * alpha) * scale, x)
    return recorder.elementwise(out, lambda x: x._unary("kan.elu", f" {{alpha = {tracing._float(alpha)} : f64}}"), x)


@op(aten.softplus)
def _softplus(recorder, out, x, beta=1.0, threshold=20.0):
    if beta <= 0 or beta * threshold < 15:
        raise Unsupported("it is a softplus that becomes straight near 0")
    return recorder.elementwise(out, lambda x: x._unary("kan.softplus", f" {{beta = {tracing._float(beta)} : f64}}"), x)


@op(aten.sign)
def _sign(recorder, out, x):
    return recorder.elementwise(out, lambda x: tracing.where(x > 0.0, 1.0, tracing.where(x < 0.0, -1.0, x.program.constant(0, x.dtype, x.shape))), x)


@op(aten.log_sigmoid_forward)
def _log_sigmoid(recorder, out, x):
    item = recorder.elementwise(out, lambda x: -((-x).softplus()), x)
    return [item, item]


@op(aten.binary_cross_entropy_with_logits)
def _cross_entropy(recorder, out, x, target, weight=None, pos_weight=None, reduction=1):
    if reduction != 0 or weight is not None or pos_weight is not None:
        raise Unsupported("it goes over the rows" if reduction else "it is a cross entropy with weights")
    return recorder.elementwise(out, lambda x, target: x.softplus() - x * target, x, target)


@op(aten.native_batch_norm)
def _batch_norm(recorder, out, x, weight, bias, mean, variance, training, momentum, eps):
    item = recorder.item(x)
    if training or not item.rows or item.lead != 1 or len(x.shape) < 2:
        raise Unsupported("it goes over the rows")

    def channels(tensor, dtype):
        value = recorder.item(tensor).value.to(dtype)
        return value.reshape([value.shape[0], *[1] * (len(x.shape) - 2)])

    wide = item.value.wide()
    y = (wide - channels(mean, wide.dtype)) * (channels(variance, wide.dtype) + eps)._unary("math.rsqrt")
    if weight is not None:
        y = y * channels(weight, wide.dtype)
    if bias is not None:
        y = y + channels(bias, wide.dtype)
    return [Item(y, item.lead)]


def _bounded(recorder, out, x, low, high, compute):
    if isinstance(low, torch.Tensor) or isinstance(high, torch.Tensor):
        raise Unsupported("its bounds are tensors")
    return recorder.elementwise(out, compute, x)


@op(aten.clamp)
def _clamp(recorder, out, x, low=None, high=None):
    # At a bound its slope is 1.
    def compute(x):
        y = x if low is None else tracing.where(x < float(low), float(low), x)
        return y if high is None else tracing.where(y > float(high), float(high), y)

    return _bounded(recorder, out, x, low, high, compute)


@op(aten.hardtanh)
def _hardtanh(recorder, out, x, low=-1.0, high=1.0):
    # At a bound its slope is 0.
    return _bounded(recorder, out, x, low, high, lambda x: tracing.where(x <= float(low), float(low), tracing.where(x >= float(high), float(high), x)))


@op(aten.hardswish)
def _hardswish(recorder, out, x):
    return recorder.elementwise(out, lambda x: tracing.where(x <= -3.0, 0.0, tracing.where(x >= 3.0, x, x * (x + 3.0) / 6.0)), x)


@op(aten.hardsigmoid)
def _hardsigmoid(recorder, out, x):
    return recorder.elementwise(out, lambda x: tracing.where(x <= -3.0, 0.0, tracing.where(x >= 3.0, 1.0, x / 6.0 + 0.5)), x)


def _halves(a, b):
    """Of equal operands each has half the gradient; NaN is carried on."""
    return a * 0.5 + b * 0.5


@op(aten.maximum)
def _maximum(recorder, out, a, b):
    return recorder.elementwise(out, lambda a, b: tracing.where(a > b, a, tracing.where(b > a, b, _halves(a, b))), a, b)


@op(aten.minimum)
def _minimum(recorder, out, a, b):
    return recorder.elementwise(out, lambda a, b: tracing.where(a < b, a, tracing.where(b < a, b, _halves(a, b))), a, b)


@op(aten.where)
def _where(recorder, out, condition, a, b):
    return recorder.elementwise(out, lambda condition, a, b: tracing.where(condition, a, b), condition, a, b)


def _reduction(packet, compute):
    def write(recorder, out, x, dims=None, keepdim=False, dtype=None):
        item = recorder.item(x)
        axes = recorder.dims(x, dims, item)
        return Item(compute(item.value.to(tracing.computed(dtype_name(out.dtype))), axes, keepdim), item.lead)
    _OPS[packet] = write


def _least(x, axes, keepdim):
    return -((-x).max(axes, keepdim))


for _packet, _compute in {aten.sum: Value.sum, aten.mean: Value.mean, aten.amax: Value.max, aten.amin: _least}.items():
    _reduction(_packet, _compute)


def _spread(x, axes, correction, keepdim):
    """(mean, variance), the first with the axes as extents of 1."""
    mean = x.mean(axes, keepdims=True)
    change = x - mean
    count = count_of(x.shape[d] for d in axes)
    if count <= correction:
        raise Unsupported("it is the variance of too few numbers")
    return mean, (change * change).sum(axes, keepdim) / float(count - correction)


def _root(x):
    """The square root whose slope at 0 is 0, as torch has it for norms and deviations."""
    return tracing.where(x == 0.0, 0.0, tracing.where(x == 0.0, 1.0, x).sqrt())


@op(aten.linalg_vector_norm)
def _norm(recorder, out, x, order=2, dims=None, keepdim=False, dtype=None):
    item = recorder.item(x)
    axes = recorder.dims(x, dims, item)
    if order not in (1, 2):
        raise Unsupported(f"it is a norm of order {order}")
    wide = item.value.wide()
    return Item(_root((wide * wide).sum(axes, keepdim)) if order == 2 else _abs(wide).sum(axes, keepdim), item.lead)


@op(aten.std)
def _std(recorder, out, x, dims=None, *, correction=1, keepdim=False):
    item = _var(recorder, out, x, dims, correction=correction, keepdim=keepdim)
    return Item(_root(item.value), item.lead)


@op(aten.var)
def _var(recorder, out, x, dims=None, *, correction=1, keepdim=False):
    item = recorder.item(x)
    wide = item.value.wide()
    return Item(_spread(wide, recorder.dims(x, dims, item), 1 if correction is None else correction, keepdim)[1], item.lead)


@op(aten.native_layer_norm)
def _layer_norm(recorder, out, x, shape, weight, bias, eps):
    item = recorder.item(x)
    rank = len(item.value.shape)
    axes = list(range(rank - len(shape), rank))
    if item.rows and rank - len(shape) < 1:
        raise Unsupported("it goes over the rows")
    wide = item.value.wide()
    mean, variance = _spread(wide, axes, 0, True)
    scale = (variance + eps)._unary("math.rsqrt")
    y = (wide - mean) * scale
    if weight is not None:
        y = y * recorder.item(weight).value.to(y.dtype)
    if bias is not None:
        y = y + recorder.item(bias).value.to(y.dtype)
    return [Item(y, item.lead), Item(mean, item.lead), Item(scale, item.lead)]


def _soft(recorder, x, dim):
    item = recorder.item(x)
    axes = recorder.dims(x, dim, item)
    wide = item.value.wide()
    shifted = wide - wide.max(axes, True)
    return item, shifted, shifted.exp(), axes


@op(aten.logsumexp)
def _logsumexp(recorder, out, x, dims, keepdim=False):
    item = recorder.item(x)
    axes = recorder.dims(x, dims, item)
    wide = item.value.wide()
    most = wide.max(axes, True)
    # Infinity less itself is no number.
    most = tracing.where(most - most == 0.0, most, 0.0)
    value = (wide - most).exp().sum(axes, True).log() + most
    if not keepdim:
        value = value.reshape([extent for d, extent in enumerate(value.shape) if d not in axes])
    return Item(value, item.lead)


@op(aten._softmax)
def _softmax(recorder, out, x, dim, half_to_float=False):
    item, _, powers, axes = _soft(recorder, x, dim)
    return Item(powers / powers.sum(axes, True), item.lead)


@op(aten._log_softmax)
def _log_softmax(recorder, out, x, dim, half_to_float=False):
    item, shifted, powers, axes = _soft(recorder, x, dim)
    return Item(shifted - powers.sum(axes, True).log(), item.lead)


# --- shapes ---

@op(aten.view, aten._unsafe_view, aten.unsqueeze, aten.squeeze)
def _view(recorder, out, x, *_):
    return recorder.shaped(recorder.item(x), out.shape)


@op(aten.detach)
def _detach(recorder, out, x):
    if id(x) not in recorder.made:
        raise Unsupported("no gradient goes through it")
    return recorder.item(x)


@op(aten.alias, aten.clone, aten.contiguous, aten.lift_fresh)
def _alias(recorder, out, x, *_):
    return recorder.item(x)


@op(aten._to_copy)
def _to_copy(recorder, out, x, dtype=None):
    item = recorder.item(x)
    name = dtype_name(out.dtype)
    # To be rounded is what is asked for.
    return Item(item.value.to(dtype_name(x.dtype)).to(name), item.lead)


@op(aten.expand)
def _expand(recorder, out, x, *_, implicit=False):
    item = recorder.item(x)
    if not item.rows:
        return Item(item.value.broadcast(known(out.shape)), -1)
    if len(x.shape) != len(out.shape):
        raise Unsupported("it repeats the rows")
    lead = recorder.lead([x], out)
    return Item(item.value.broadcast((ROW, *known(out.shape[lead:], "a row"))), lead)


def _turned(recorder, x, order):
    item = recorder.item(x)
    order = tuple(d + len(x.shape) if d < 0 else d for d in order)
    if item.rows:
        if order[:item.lead] != tuple(range(item.lead)):
            raise Unsupported("it moves the dimension of rows")
        return Item(item.value.transpose((0, *(d - item.lead + 1 for d in order[item.lead:]))), item.lead)
    if len(order) == 2 and order == (1, 0):
        return Item(item.turned, -1, None) if item.turned is not None else Item(None, -1, item.value)
    return Item(item.value.transpose(order), -1)


@op(aten.t)
def _t(recorder, out, x):
    return _turned(recorder, x, range(len(x.shape))[::-1])


@op(aten.transpose)
def _transpose(recorder, out, x, a, b):
    order = list(range(len(x.shape)))
    order[a], order[b] = order[b], order[a]
    return _turned(recorder, x, order)


@op(aten.permute)
def _permute(recorder, out, x, order):
    return _turned(recorder, x, order)


def _axis(recorder, x, item, dim):
    dim = dim + len(x.shape) if dim < 0 else dim
    if item.rows and dim < item.lead:
        raise Unsupported("it takes some of the rows")
    return dim - item.lead + 1 if item.rows else dim


@op(aten.slice)
def _slice(recorder, out, x, dim=0, start=None, end=None, step=1):
    item = recorder.item(x)
    rank = dim + len(x.shape) if dim < 0 else dim
    if same(out.shape[rank], x.shape[rank]):
        return item
    axis = _axis(recorder, x, item, dim)
    if step != 1:
        raise Unsupported("it takes every second element, or fewer")
    extent = item.value.shape[axis]
    start = 0 if start is None else start + extent if start < 0 else min(start, extent)
    size, = known(out.shape[rank:rank + 1], "a row")
    return Item(item.value.slice(axis, start, size), item.lead)


@op(aten.select)
def _select(recorder, out, x, dim, index):
    item = recorder.item(x)
    axis = _axis(recorder, x, item, dim)
    extent = item.value.shape[axis]
    part = item.value.slice(axis, index + extent if index < 0 else index, 1)
    return Item(part.reshape([*part.shape[:axis], *part.shape[axis + 1:]]), item.lead)


@op(aten.split, aten.split_with_sizes)
def _split(recorder, out, x, sizes, dim=0):
    item = recorder.item(x)
    axis = _axis(recorder, x, item, dim)
    extent, parts, start = item.value.shape[axis], [], 0
    if isinstance(sizes, int):
        sizes = [min(sizes, extent - first) for first in range(0, extent, sizes)]
    for size in sizes:
        parts.append(Item(item.value.slice(axis, start, size), item.lead))
        start += size
    return parts


@op(aten.cat)
def _cat(recorder, out, tensors, dim=0):
    items = [recorder.item(one) for one in tensors]
    lead = recorder.lead(tensors, out)
    dim = dim + len(out.shape) if dim < 0 else dim
    if lead >= 0 and dim < lead:
        raise Unsupported("it puts rows behind one another")
    name, axis = dtype_name(out.dtype), dim - lead + 1 if lead >= 0 else dim
    parts = []
    for one, item in zip(tensors, items):
        value = item.value.to(name)
        if lead >= 0 and not item.rows:
            value = recorder.operand(one, one, lead).broadcast((ROW, *known(one.shape[lead:])))
        parts.append(value)
    return Item(tracing.concat(parts, axis), lead)


@op(aten.empty)
def _empty(recorder, out, *_, dtype=None):
    return []


def _made(number_of):
    """A tensor of one number, which all rows share."""
    def write(recorder, out, *given, dtype=None):
        return Item(recorder.program.constant(number_of(given), dtype_name(out.dtype), known(out.shape)), -1)
    return write


_OPS[aten.zeros], _OPS[aten.ones], _OPS[aten.full] = _made(lambda given: 0), _made(lambda given: 1), _made(lambda given: given[1])
_OPS[aten.new_zeros], _OPS[aten.new_ones], _OPS[aten.new_full] = _made(lambda given: 0), _made(lambda given: 1), _made(lambda given: given[2])
_OPS[aten.scalar_tensor] = _made(lambda given: given[0])


def _filled(number_of):
    def write(recorder, out, x, *given, dtype=None):
        item = recorder.item(x)
        number = number_of(*given)
        if not isinstance(number, (int, float)) or isinstance(number, bool):
            raise Unsupported("it makes a tensor of what is no number")
        recorder.made.add(id(out))
        return Item(recorder.program.constant(number, dtype_name(out.dtype), item.value.shape), item.lead)
    return write


_OPS[aten.zeros_like], _OPS[aten.ones_like], _OPS[aten.full_like] = _filled(lambda: 0), _filled(lambda: 1), _filled(lambda number: number)


# --- products ---

# Multiplications of an element of a product from which on reading it again is faster than making it again.
_KEPT_FROM = 32


def _product(recorder, out, x, w, bias=None):
    left, right = recorder.item(x), recorder.item(w)
    if right.rows or not left.rows:
        raise Unsupported("it is a product of two matrices that rows share" if not right.rows else "both sides of a product have rows")
    if left.lead != 1 or len(left.value.shape) != 2:
        raise Unsupported("it is a product of matrices for each row")
    name = dtype_name(out.dtype)
    add = None
    if bias is not None:
        add = recorder.item(bias)
        if add.rows or add.value.shape != known(out.shape[1:]):
            raise Unsupported("it adds more than a bias to a product")
    turned = right.turned is not None
    matrix = right.turned if turned else right.value
    y = left.value.to(name).product(matrix.to(name), add.value.to(name) if add else None, transposed=turned)
    if left.value.shape[1] >= _KEPT_FROM:
        y = recorder.program.keep(y)
    return Item(y, 1)


@op(aten.mm)
def _mm(recorder, out, x, w):
    return _product(recorder, out, x, w)


@op(aten.addmm)
def _addmm(recorder, out, bias, x, w, beta=1, alpha=1):
    if (beta, alpha) != (1, 1):
        raise Unsupported("it is a product with factors")
    return _product(recorder, out, x, w, bias)


# Ops that are composed of others, of torch's own decompositions.
_COMPOSED = get_decompositions([
    aten.mish, aten.square, aten.addcmul, aten.addcdiv, aten.lerp, aten.logit, aten.addmv,
    aten.softshrink, aten.hardshrink, aten.threshold, aten.celu, aten.selu, aten.glu, aten.rms_norm, aten._fused_rms_norm,
    aten.mse_loss, aten.smooth_l1_loss, aten.huber_loss, aten.squeeze.dims, aten.stack, aten.unbind, aten.var_mean, aten.std_mean,
    aten.native_group_norm, aten._weight_norm_interface, aten.clamp_min, aten.clamp_max, aten.norm, aten.masked_fill, aten.relu6])
for _name in list(_COMPOSED):
    if _name.overloadpacket in _OPS:
        del _COMPOSED[_name]
