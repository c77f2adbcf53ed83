# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ATen ops that programs of rows have: each is a function that writes the op down, or torch's own decomposition into others."""

from __future__ import annotations

import math

import torch
from torch._decomp import get_decompositions

from ..ops import formulas, tracing
from ..ops.formulas import number_in
from ..ops.regions import KEPT_FROM
from ..ops.rows import ROW
from ..ops.tracing import Value
from ._recorder import COMPOSED, OPS, Item, Unsupported, count_of, dtype_name, known, op, rounded, same

aten = torch.ops.aten


def _unary(packet, compute):
    OPS[packet] = lambda recorder, out, x: recorder.elementwise(out, compute, x)


def _math(name):
    return lambda x: x._unary(name)


for _packet, _compute in {
        aten.neg: lambda x: -x, aten.abs: formulas.absolute, aten.exp: Value.exp, aten.log: Value.log, aten.sqrt: Value.sqrt, aten.sin: Value.sin,
        aten.cos: Value.cos, aten.tanh: Value.tanh, aten.sigmoid: Value.sigmoid, aten.relu: Value.relu, aten.silu: Value.silu,
        aten.erf: _math("math.erf"), aten.rsqrt: _math("math.rsqrt"), aten.log1p: _math("math.log1p"), aten.expm1: _math("math.expm1"),
        aten.exp2: _math("math.exp2"), aten.log2: _math("math.log2"), aten.log10: _math("math.log10"), aten.tan: _math("math.tan"),
        aten.atan: _math("math.atan"), aten.asinh: _math("math.asinh"), aten.sinh: _math("math.sinh"), aten.cosh: _math("math.cosh"),
        aten.reciprocal: lambda x: 1.0 / x, aten.floor: _math("math.floor"), aten.ceil: _math("math.ceil"), aten.round: _math("math.roundeven")}.items():
    _unary(_packet, _compute)


def _binary(packet, compute):
    OPS[packet] = lambda recorder, out, a, b: recorder.elementwise(out, compute, a, b)


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
            return formulas.exponential(x, power)
        if isinstance(power, Value):
            return x._binary("math.powf", power)
        if power == 0.5:
            return x.sqrt()
        if power != int(power) or abs(power) > 8:
            return x._binary("math.powf", float(power))
        if power == 0:
            raise Unsupported("it is a power of 0")
        return formulas.repeated(x, int(power))

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
    def compute(x, divisor):
        like = x if isinstance(x, Value) else divisor
        x, divisor = (one if isinstance(one, Value) else like.program.constant(one, like.dtype, like.shape) for one in (x, divisor))
        rest = x._binary("arith.remf", divisor)
        # It has the sign of the divisor.
        turned = tracing.where(divisor > 0.0, tracing.where(rest < 0.0, rest + divisor, rest), tracing.where(rest > 0.0, rest + divisor, rest))
        return tracing.where(rest == 0.0, rest, turned)

    return recorder.elementwise(out, compute, x, divisor)


@op(aten.celu)
def _celu(recorder, out, x, alpha=1.0):
    return _elu(recorder, out, x, alpha, 1.0, 1.0 / alpha)


@op(aten.elu)
def _elu(recorder, out, x, alpha=1.0, scale=1.0, input_scale=1.0):
    if (scale, input_scale) != (1, 1) or alpha <= 0:
        return recorder.elementwise(out, lambda x: formulas.scaled_elu(x, alpha, scale, input_scale), x)
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
    return recorder.elementwise(out, lambda x, target: (1.0 - target) * x + (-x).softplus(), x, target)


def _bent(recorder, out, x, target, reduction, width, inside):
    """A loss of the difference d: inside(d) up to a width, and the straight line that goes on from there."""
    if reduction != 0:
        raise Unsupported("it goes over the rows")

    def compute(x, target):
        change = x - target
        size = formulas.absolute(change)
        # What is not taken has to stay finite.
        small = tracing.where(size < width, size, 0.0)
        return tracing.where(size < width, *inside(small, size))

    return recorder.elementwise(out, compute, x, target)


@op(aten.smooth_l1_loss)
def _smooth_l1(recorder, out, x, target, reduction=1, beta=1.0):
    if beta <= 0:
        raise Unsupported("its beta is not above 0")
    return _bent(recorder, out, x, target, reduction, beta, lambda small, size: (small * small * (0.5 / beta), size - 0.5 * beta))


@op(aten.huber_loss)
def _huber(recorder, out, x, target, reduction=1, delta=1.0):
    return _bent(recorder, out, x, target, reduction, delta, lambda small, size: (small * small * 0.5, (size - 0.5 * delta) * delta))


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
    low, high = (one if one is None else rounded(float(one), {x.dtype}) for one in (low, high))
    if any(one is not None and math.isnan(one) for one in (low, high)):
        raise Unsupported("a bound is NaN")
    return recorder.elementwise(out, lambda x: compute(x, low, high), x)


@op(aten.clamp)
def _clamp(recorder, out, x, low=None, high=None):
    # At a bound its slope is 1.
    def compute(x, low, high):
        y = x if low is None else tracing.where(x < low, low, x)
        return y if high is None else tracing.where(y > high, high, y)

    return _bounded(recorder, out, x, low, high, compute)


@op(aten.hardtanh)
def _hardtanh(recorder, out, x, low=-1.0, high=1.0):
    # At a bound its slope is 0.
    return _bounded(recorder, out, x, low, high, formulas.inside)


@op(aten.hardswish)
def _hardswish(recorder, out, x):
    def compute(x):
        inner = tracing.where(x >= 3.0, 3.0, x)
        return tracing.where(x <= -3.0, 0.0, tracing.where(x >= 3.0, x, inner * (inner + 3.0) / 6.0))

    return recorder.elementwise(out, compute, x)


@op(aten.hardsigmoid)
def _hardsigmoid(recorder, out, x):
    return recorder.elementwise(out, lambda x: tracing.where(x <= -3.0, 0.0, tracing.where(x >= 3.0, 1.0, x / 6.0 + 0.5)), x)


_binary(aten.maximum, formulas.maximum)
_binary(aten.minimum, formulas.minimum)


@op(aten.where)
def _where(recorder, out, condition, a, b):
    return recorder.elementwise(out, lambda condition, a, b: tracing.where(condition, a, b), condition, a, b, masks=True)


def _reduction(packet, compute):
    def write(recorder, out, x, dims=None, keepdim=False, dtype=None):
        item = recorder.item(x)
        axes = recorder.dims(x, dims, item)
        return Item(compute(item.value.to(tracing.computed(dtype_name(out.dtype))), axes, keepdim), item.lead)
    OPS[packet] = write


for _packet, _compute in {aten.sum: Value.sum, aten.mean: Value.mean, aten.amax: Value.max, aten.amin: formulas.least}.items():
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
    return Item(_root((wide * wide).sum(axes, keepdim)) if order == 2 else formulas.absolute(wide).sum(axes, keepdim), item.lead)


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
    if item.value.dtype == "bool":
        return Item(number_in(item.value, name), item.lead)
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
    start = 0 if start is None else max(start + extent, 0) if start < 0 else min(start, extent)
    size, = known(out.shape[rank:rank + 1], "a row")
    if size == 0:
        raise Unsupported("it takes no element")
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


OPS[aten.zeros], OPS[aten.ones], OPS[aten.full] = _made(lambda given: 0), _made(lambda given: 1), _made(lambda given: given[1])
OPS[aten.new_zeros], OPS[aten.new_ones], OPS[aten.new_full] = _made(lambda given: 0), _made(lambda given: 1), _made(lambda given: given[2])
OPS[aten.scalar_tensor] = _made(lambda given: given[0])


def _filled(number_of):
    def write(recorder, out, x, *given, dtype=None):
        item = recorder.item(x)
        number = number_of(*given)
        if not isinstance(number, (int, float)) or isinstance(number, bool):
            raise Unsupported("it makes a tensor of what is no number")
        recorder.made.add(id(out))
        return Item(recorder.program.constant(number, dtype_name(out.dtype), item.value.shape), item.lead)
    return write


OPS[aten.zeros_like], OPS[aten.ones_like], OPS[aten.full_like] = _filled(lambda: 0), _filled(lambda: 1), _filled(lambda number: number)


# --- products ---

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
    if left.value.shape[1] >= KEPT_FROM:
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
for _form, _function in get_decompositions([
    aten.mish, aten.square, aten.addcmul, aten.addcdiv, aten.lerp, aten.logit, aten.addmv,
    aten.softshrink, aten.hardshrink, aten.threshold, aten.selu, aten.glu, aten.rms_norm, aten._fused_rms_norm,
    aten.mse_loss, aten.squeeze.dims, aten.stack, aten.unbind, aten.var_mean, aten.std_mean,
    aten.native_group_norm, aten._weight_norm_interface, aten.clamp_min, aten.clamp_max, aten.norm, aten.masked_fill, aten.relu6]).items():
    if _form.overloadpacket not in OPS:
        COMPOSED[_form] = _function
