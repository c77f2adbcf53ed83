# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of values that frameworks have and programs do not have as one op: with the frameworks' slopes at kinks, NaN and infinity."""

from __future__ import annotations

import math
from collections.abc import Sequence

from . import tracing
from .tracing import Value


def absolute(x: Value) -> Value:
    """The absolute value, whose slope at 0 is 0."""
    return tracing.where(x > 0.0, x, tracing.where(x < 0.0, -x, x * 0.0))


def number_in(value: Value, dtype: str) -> Value:
    """A value in a type of floats, where what is true is 1."""
    if value.dtype != "bool":
        return value.to(dtype)
    return tracing.where(value, value.program.constant(1, dtype, value.shape), 0.0)


def maximum(a: Value, b: Value | float) -> Value:
    return tracing.where(a > b, a, tracing.where(a < b, b, _halves(a, b)))


def minimum(a: Value, b: Value | float) -> Value:
    return tracing.where(a < b, a, tracing.where(a > b, b, _halves(a, b)))


def _halves(a, b):
    """Of equal operands each has half the gradient; NaN is carried on."""
    return a * 0.5 + b * 0.5


def inside(x: Value, low: Value | float, high: Value | float) -> Value:
    """x between bounds, where its slope is 0."""
    return tracing.where(x <= low, low, tracing.where(x >= high, high, x))


def repeated(x: Value, power: int) -> Value:
    """x to a power that is a whole number other than 0, by multiplications."""
    result, square, left = None, x if power > 0 else 1.0 / x, abs(power)
    while True:
        if left & 1:
            result = square if result is None else result * square
        left >>= 1
        if not left:
            assert result is not None
            return result
        square = square * square


def exponential(base: float, power: Value) -> Value:
    """The power of a number above 0."""
    return power._unary("math.exp2") if base == 2 else (power * math.log(base)).exp()


def scaled_elu(x: Value, alpha: float, scale: float, input_scale: float) -> Value:
    # What is not taken has to stay finite: 0 times infinity is no slope of 0.
    below = tracing.where(x > 0.0, 0.0, x)
    return tracing.where(x > 0.0, x, (below * input_scale)._unary("math.expm1") * alpha) * scale


def least(x: Value, axes: Sequence[int], keepdims: bool = False) -> Value:
    return -((-x).max(axes, keepdims))


def stopped(value: Value) -> Value:
    """The same numbers, with derivatives of 0: by way of whole numbers, which have none. The way is not straight back, or it would be no way."""
    wide = value if value.dtype in ("float32", "float64") else value.to("float32")
    program, (bits, nan) = wide.program, ("int32", 0x7FC00000) if wide.dtype == "float32" else ("int64", 0x7FF8000000000000)
    whole = tracing.type_of(bits, wide.shape)
    number = program.value(f"arith.bitcast {wide.name} {{ad.stops}} : {wide.type} to {whole}", bits, wide.shape)
    other, known = program.constant(nan, bits, wide.shape), wide == wide
    chosen = program.value(f"arith.select {known.name}, {number.name}, {other.name} : {known.type}, {whole}", bits, wide.shape)
    return program.value(f"arith.bitcast {chosen.name} : {whole} to {wide.type}", wide.dtype, wide.shape).to(value.dtype)
