# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values and gradients of kan and loss ops against torch autograd, in float64.

Every program runs twice in the interpreter: with the ops as they are, and decomposed
into linalg, arith and loops.
"""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from support import kan_references as reference
from support.runner import assert_close, optimize, run

TYPES = {torch.float64: "f64", torch.int64: "i64"}


def mlir_type(tensor):
    extents = "".join(f"{extent}x" for extent in tensor.shape)
    return f"tensor<{extents}{TYPES[tensor.dtype]}>"


def program(body, inputs, result, wrt):
    """@value computes the body, @gradients its vector-Jacobian product."""
    types = [mlir_type(t) for t in inputs]
    out = mlir_type(result)
    arguments = ", ".join(f"%x{i}: {t}" for i, t in enumerate(types))
    names = ", ".join(f"%x{i}" for i in range(len(types)))
    gradients = ", ".join([out, *(types[i] for i in wrt)])
    results = ", ".join(f"%r#{i}" for i in range(1 + len(wrt)))
    return f"""
func.func private @value({arguments}) -> {out} {{
  {body} : TYPES
  return %y : {out}
}}
func.func @gradients({arguments}, %g: {out}) -> ({gradients}) {{
  %r:{1 + len(wrt)} = ad.vjp @value({names}) cotangents(%g) wrt {list(wrt)}
      : ({', '.join(types)}) -> ({gradients})
  return {results} : {gradients}
}}
"""


def check(op, signature, inputs, function, wrt=None, tolerance=1e-9):
    """`op` is `dialect.op operands attributes`, `signature` what follows the colon."""
    wrt = [i for i, t in enumerate(inputs) if t.is_floating_point()] if wrt is None else wrt
    leaves = [t.clone().requires_grad_(i in wrt) for i, t in enumerate(inputs)]
    value = function(*leaves)
    g = torch.from_numpy(np.random.default_rng(1).normal(size=tuple(value.shape)))
    expected = torch.autograd.grad(value, [leaves[i] for i in wrt], g)
    expected = [t.detach().numpy() for t in (value, *expected)]
    names = ", ".join(f"%x{i}" for i in range(len(inputs)))
    types = [mlir_type(t) for t in inputs]
    signature = signature.format(*types, y=mlir_type(value))
    module = program(f"%y = {op.format(names)}", inputs, value, wrt).replace("TYPES", signature)
    arrays = [t.numpy() for t in inputs] + [g.numpy()]
    for passes in (["--differentiate"], ["--differentiate", "--decompose-graph", "--decompose-blocks"]):
        results = run(optimize(module, *passes), "gradients", arrays, target="interpreter")
        assert_close(results, expected, tolerance)


def uniform(*shape, low=-2.0, high=2.0, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).uniform(low, high, size=shape))


ACTIVATIONS = {
    "kan.relu {}": torch.relu,
    "kan.leaky_relu {} {{slope = 0.2}}": lambda x: F.leaky_relu(x, 0.2),
    "kan.elu {} {{alpha = 0.5}}": lambda x: F.elu(x, 0.5),
    "kan.silu {}": F.silu,
    "kan.gelu {}": F.gelu,
    'kan.gelu {} {{approximate = "tanh"}}': lambda x: F.gelu(x, approximate="tanh"),
    "kan.tanh {}": torch.tanh,
    "kan.sigmoid {}": torch.sigmoid,
    "kan.softplus {} {{beta = 3.0}}": lambda x: F.softplus(x, beta=3.0, threshold=100),
    "kan.sine {} {{omega = 5.0}}": lambda x: torch.sin(5 * x),
    "kan.sinpi {}": lambda x: torch.sin(math.pi * x),
    "kan.cospi {}": lambda x: torch.cos(math.pi * x),
    "kan.square {}": torch.square,
    "kan.snake {} {{alpha = 2.0}}": lambda x: x + torch.sin(2 * x) ** 2 / 2,
}


@pytest.mark.parametrize("op", ACTIVATIONS)
@pytest.mark.parametrize("shape", [(3, 7), (0, 4), (1,), ()])
def test_activation(op, shape):
    check(op, "{0}", [uniform(*shape, low=-6, high=6)], ACTIVATIONS[op])


@pytest.mark.parametrize("op", ["kan.elu {} {{alpha = 0.5}}", "kan.sigmoid {}", "kan.silu {}", "kan.softplus {} {{beta = 3.0}}",
                                "kan.tanh {}", "kan.gelu {}"])
def test_activation_far_from_zero(op):
    x = torch.tensor([-1000.0, -30.0, 30.0, 1000.0], dtype=torch.float64)
    check(op, "{0}", [x], ACTIVATIONS[op])


FORMS = ["abs_terms", "abs_sum", "abs_sum_eps", "abs_sum_noise", "unsafe"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape, groups, degrees", [
    ((5, 48), (1, 2), (5, 4)),
    ((3, 24), (8, 2), (3, 2)),
    ((2, 3, 6), (6, 1), (1, 1)),
    ((4,), (1, 4), (0, 3)),
    ((0, 8), (2, 2), (5, 4)),
    ((1, 24), (1, 1), (7, 6)),
])
def test_rational(form, shape, groups, degrees):
    x = uniform(*shape, seed=2)
    a = uniform(groups[0], degrees[0] + 1, low=-1, high=1, seed=3)
    low = 0.05 if form == "unsafe" else -1
    b = uniform(groups[1], degrees[1] + (form == "abs_sum_eps"), low=low, high=0.4, seed=4)
    if form == "unsafe":
        x = x.abs()
    inputs = [x, a, b]
    op = f"kan.rational %x0, %x1, %x2 form({form})"
    wrt = None
    if form == "abs_sum_noise":
        inputs.append(uniform(*a.shape, low=0.9, high=1.1, seed=5))
        op += f" noise(%x3 : {mlir_type(a)})"
    check(op, "{0}, {1}, {2}", inputs,
          lambda x, a, b, noise=None: reference.rational(x, a, b, form, noise=noise), wrt)


def test_rational_takes_the_sign_of_zero_as_positive():
    x = torch.zeros(1, 1, dtype=torch.float64)
    module = program("%y = kan.rational %x0, %x1, %x2", [x, uniform(1, 2), uniform(1, 1)], x, [0, 2])
    module = module.replace("TYPES", "tensor<1x1xf64>, tensor<1x2xf64>, tensor<1x1xf64>")
    a, one = np.array([[2.0, 3.0]]), np.ones((1, 1))
    for passes in (["--differentiate"], ["--differentiate", "--decompose-graph"]):
        # y = (2 + 3 x) / (1 + |b| |x|); at x = 0 with s(0) = 1: 3 - 2 |b|.
        results = run(optimize(module, *passes), "gradients", [0 * one, a, -0.5 * one, one], target="interpreter")
        assert_close(results[1:], [np.array([[2.0]]), np.array([[0.0]])], 1e-12)
        # At b = 0, x = 1: -P |x| s(0).
        results = run(optimize(module, *passes), "gradients", [one, a, 0 * one, one], target="interpreter")
        assert_close(results[2:], [np.array([[-5.0]])], 1e-12)


@pytest.mark.parametrize("shape, octaves", [((3, 2), 4), ((1, 3), 1), ((0, 2), 3)])
def test_frequency_encode(shape, octaves):
    check(f"kan.frequency_encode {{}} {{{{octaves = {octaves}}}}}", "{0} -> {y}", [uniform(*shape)],
          lambda x: reference.frequency_encode(x, octaves))


@pytest.mark.parametrize("rows, d, tables, attributes", [
    (9, 2, (3, 64, 2), dict(base=2, finest=16)),
    (9, 2, (1, 30, 3), dict(base=4, growth=1.0)),
    (5, 3, (4, 100, 1), dict(base=2, growth=1.7)),
    (5, 3, (2, 128, 4), dict(base=3, finest=7)),
    (0, 2, (2, 64, 2), dict(base=2, finest=8)),
])
def test_grid_encode(rows, d, tables, attributes):
    # Some coordinates outside [0, 1], none on the border of a cell.
    x = uniform(rows, d, low=-0.1, high=1.1, seed=6)
    names = {"base": "base_resolution", "finest": "finest_resolution", "growth": "growth"}
    text = ", ".join(f"{names[k]} = {v}" for k, v in attributes.items())
    check(f"kan.grid_encode {{}} {{{{{text}}}}}", "{0}, {1} -> {y}", [x, uniform(*tables, seed=7)],
          lambda x, t: reference.grid_encode(x, t, **attributes))


def test_grid_encode_tables_are_differentiated_twice():
    """The gradient for tables is linear in g: its gradients are encodings."""
    x = uniform(6, 2, low=0.0, high=1.0, seed=8)
    g, tables = uniform(6, 4, seed=9), uniform(2, 40, 2, seed=10)

    def tables_gradient(g, x):
        t = tables.clone().requires_grad_()
        y = reference.grid_encode(x, t, base=3, finest=8)
        return torch.autograd.grad(y, t, g, create_graph=True)[0]

    check("kan.grid_encode_vjp_tables {} {{base_resolution = 3, finest_resolution = 8}}",
          "{0}, {1} -> {y}", [g, x], tables_gradient)


@pytest.mark.parametrize("shape", [(5, 3), (1,), (2, 3, 4)])
def test_mse(shape):
    check("loss.mse {}", "{0} -> {y}", [uniform(*shape), uniform(*shape, seed=1)], F.mse_loss)


@pytest.mark.parametrize("delta", [0.5, 2.0])
def test_huber(delta):
    check(f"loss.huber {{}} {{{{delta = {delta}}}}}", "{0} -> {y}", [uniform(7, 3), uniform(7, 3, seed=1)],
          lambda p, t: F.huber_loss(p, t, delta=delta))


@pytest.mark.parametrize("loss", ["loss.mse {}", "loss.huber {}"])
def test_loss_of_no_rows_has_zero_gradients(loss):
    check(loss, "{0} -> {y}", [uniform(0, 3), uniform(0, 3)], lambda p, t: (p - t).square().sum())


@pytest.mark.parametrize("rows, classes", [(4, 5), (1, 1), (3, 17)])
def test_cross_entropy_of_class_labels(rows, classes):
    labels = torch.from_numpy(np.random.default_rng(0).integers(0, classes, size=rows))
    check("loss.softmax_cross_entropy {}", "{0}, {1} -> {y}", [uniform(rows, classes, low=-40, high=40), labels],
          F.cross_entropy)


def test_cross_entropy_of_probabilities():
    check("loss.softmax_cross_entropy {}", "{0}, {1} -> {y}",
          [uniform(4, 5), torch.softmax(uniform(4, 5, seed=1), 1)], F.cross_entropy)


@pytest.mark.parametrize("op, function", [("softmax", torch.softmax), ("log_softmax", torch.log_softmax)])
def test_softmax(op, function):
    check(f"loss.{op} {{}}", "{0}", [uniform(2, 3, 5)], lambda x: function(x, -1))
