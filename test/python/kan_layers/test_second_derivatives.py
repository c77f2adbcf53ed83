# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of derivatives, as physics-informed losses take them, against torch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from kan_layers.test_gradients import ACTIVATIONS, FORMS, mlir_type, uniform
from support import kan_references as reference
from support.runner import assert_close, optimize, run


def check_twice(op, signature, inputs, function, tolerance=1e-8):
    """d/d(inputs) of <v, d<g, f>/dx0>."""
    leaves = [t.clone().requires_grad_() for t in inputs]
    value = function(*leaves)
    generator = np.random.default_rng(1)
    g = torch.from_numpy(generator.normal(size=tuple(value.shape)))
    v = torch.from_numpy(generator.normal(size=tuple(inputs[0].shape)))
    dx = torch.autograd.grad(value, leaves[0], g, create_graph=True)[0]
    expected = torch.autograd.grad(dx, leaves, v, allow_unused=True)
    expected = [(torch.zeros_like(t) if e is None else e).numpy() for e, t in zip(expected, inputs)]

    types = [mlir_type(t) for t in inputs]
    out = mlir_type(value)
    arguments = ", ".join(f"%x{i}: {t}" for i, t in enumerate(types))
    names = ", ".join(f"%x{i}" for i in range(len(types)))
    n = len(types)
    module = f"""
func.func private @value({arguments}) -> {out} {{
  %y = {op.format(names)} : {signature.format(*types, y=out)}
  return %y : {out}
}}
func.func private @slope({arguments}, %g: {out}) -> {types[0]} {{
  %y, %dx = ad.vjp @value({names}) cotangents(%g) wrt [0] : ({', '.join(types)}) -> ({out}, {types[0]})
  return %dx : {types[0]}
}}
func.func @second({arguments}, %g: {out}, %v: {types[0]}) -> ({', '.join(types)}) {{
  %r:{n + 1} = ad.vjp @slope({names}, %g) cotangents(%v) wrt {list(range(n))}
      : ({', '.join(types)}, {out}) -> ({', '.join([types[0], *types])})
  return {', '.join(f'%r#{i + 1}' for i in range(n))} : {', '.join(types)}
}}
"""
    arrays = [t.numpy() for t in (*inputs, g, v)]
    for passes in (["--differentiate"], ["--differentiate", "--decompose-graph", "--decompose-blocks"]):
        results = run(optimize(module, *passes), "second", arrays, target="interpreter")
        assert_close(results, expected, tolerance)


SMOOTH = [op for op in ACTIVATIONS if "relu" not in op]


@pytest.mark.parametrize("op", SMOOTH)
def test_activation(op):
    check_twice(op, "{0}", [uniform(3, 4)], ACTIVATIONS[op])


@pytest.mark.parametrize("form", [form for form in FORMS if form != "abs_sum_noise"])
def test_rational(form):
    x = uniform(4, 24, seed=2)
    a = uniform(1, 6, low=-1, high=1, seed=3)
    b = uniform(2, 4 + (form == "abs_sum_eps"), low=0.05 if form == "unsafe" else -1, high=0.4, seed=4)
    if form == "unsafe":
        x = x.abs()
    check_twice(f"kan.rational %x0, %x1, %x2 form({form})", "{0}, {1}, {2}", [x, a, b],
                lambda x, a, b: reference.rational(x, a, b, form))


def test_mse():
    check_twice("loss.mse {}", "{0} -> {y}", [uniform(4, 3), uniform(4, 3, seed=1)], F.mse_loss)


def test_cross_entropy():
    target = torch.softmax(uniform(4, 5, seed=1), 1)
    check_twice("loss.softmax_cross_entropy {}", "{0}, {1} -> {y}", [uniform(4, 5), target], F.cross_entropy)


def test_frequency_encode():
    check_twice("kan.frequency_encode {} {{octaves = 3}}", "{0} -> {y}", [uniform(3, 2)],
                lambda x: reference.frequency_encode(x, 3))
