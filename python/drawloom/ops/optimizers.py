# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers' updates of one parameter, as programs on pieces of it. Every element is updated by itself, so that tensors of
any sizes share a few programs."""

import functools

from .. import _library
from . import Array

# Elements: the largest fill a core's second cache with what is read and written.
PIECES = (65536, 8192, 1024, 128)


@functools.lru_cache(maxsize=256)
def adamw(dtype, state, beta1, beta2, epsilon, weight_decay):
    """[(elements, function)] of opt.adamw: (p, g, m, v, rate, step) -> (p, m, v), parameters of type `dtype` with moments of
    type `state`; step counts from 1."""
    return [(size, _compile(_adamw_text(size, dtype, state, beta1, beta2, epsilon, weight_decay))) for size in PIECES]


def _compile(text):
    return _library.build(_library.compiler(), [("adamw.mlir", text.encode())], []).functions[0]


def _adamw_text(size, dtype, state, beta1, beta2, epsilon, weight_decay):
    p, m = Array(dtype, (size,)).text, Array(state, (size,)).text
    rate = "f64" if dtype == "float64" else "f32"
    moments = "" if state == dtype else f" moments {m}"
    return f"""
func.func @adamw(%p: {p}, %g: {p}, %m: {m}, %v: {m}, %rate: {rate}, %step: i64) -> ({p}, {m}, {m}) {{
  %new, %first, %second = opt.adamw params(%p) grads(%g) first(%m) second(%v) lr(%rate : {rate}) step(%step : i64)
    weight_decay [{weight_decay:.17e}] {{beta1 = {beta1:.17e}, beta2 = {beta2:.17e}, epsilon = {epsilon:.17e}}} : {p}{moments}
  return %new, %first, %second : {p}, {m}, {m}
}}
"""
