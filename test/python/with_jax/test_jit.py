# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.jax.jit: values and derivatives of functions as they are written are those of jax.jit, and what becomes a program is what should."""

import functools
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import drawloom
import drawloom.jax as dj
from drawloom import ops
from drawloom.jax import _jit
from with_jax.test_own_ops import U64, array, backward, custom, wide  # noqa: F401

# Roundings of a model: some thirty equations, each of some thirty operations on an element or a sum of as many.
ROUNDINGS = 1000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Programs of few rows, too, so that tests are quick."""
    monkeypatch.setattr(_jit, "_FEWEST", 0)


def squares(function):
    return lambda *given: sum((one**2).sum() for one in jax.tree.leaves(function(*given)))


def assert_same(function, *given, second=False):
    """Values and derivatives are those of jax.jit. Each rounding is a relative change of at most 2^-53 of a number on the way; how far such
    changes carry is measured, by changes of the arguments that are well above rounding."""
    def results(of, given):
        every = tuple(range(len(given)))
        found = [of(*given), jax.grad(squares(of), every)(*given)]
        if second:
            moved = jax.tree.map(jnp.cos, given)
            found.append(jax.jvp(jax.grad(squares(of), every), given, moved)[1])
        return jax.tree.leaves(found)

    found, expected = results(dj.jit(function), given), results(jax.jit(function), given)
    numbers, step = np.random.default_rng(0), 2.0**10 * U64
    nearby = results(jax.jit(function), jax.tree.map(lambda one: one * (1 + step * numbers.choice([-1.0, 1.0], one.shape)), given))
    reach = max(float(jnp.abs(one - other).max() / (step * (1 + jnp.abs(other).max()))) for one, other in zip(nearby, expected))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        assert jnp.abs(one - other).max() <= ROUNDINGS * U64 * (1 + reach) * (1 + jnp.abs(other).max())


def weights(*sizes):
    return [array(*size, seed=i + 1) / size[0] ** 0.5 for i, size in enumerate(sizes)]


def mine(function, *given):
    return [part for part in dj.explain(function, *given).parts if part.by == "drawloom"]


def normed(x, scale, shift):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift


def mlp(x, p):
    return jnp.tanh(x @ p[0] + p[1]) @ p[2] + p[3]


def gated(x, p):
    return (jax.nn.silu(x @ p[0]) * (x @ p[1])) @ p[2]


def siren(x, p):
    for w, b in zip(p[::2], p[1::2]):
        x = jnp.sin(3 * (x @ w.T) + b)
    return x


def residual(x, p):
    x = x + jax.nn.gelu(normed(x, p[0], p[1]) @ p[2]) @ p[3]
    return normed(x + jax.nn.gelu(normed(x, p[0], p[1]) @ p[2], approximate=False) @ p[3], p[0], p[1])


def mixer(x, p):
    x = x + jnp.swapaxes(jax.nn.gelu(jnp.swapaxes(x, 1, 2) @ p[0]) @ p[1], 1, 2)
    return x + jax.nn.gelu(x @ p[2]) @ p[3]


def classifier(x, p):
    logits = jax.nn.relu(x @ p[0]) @ p[1]
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), jnp.arange(x.shape[0])[:, None] % 3, -1).mean()


def smoothed(x, p):
    logits = jax.nn.relu(x @ p[0]) @ p[1]
    return -(jax.nn.log_softmax(logits) * (0.9 * jax.nn.one_hot(jnp.arange(x.shape[0]) % 3, 3) + 0.1 / 3)).sum(-1)


def attention(x, p):
    q, k, v = jnp.split(x @ p[0], 3, -1)
    x = x + jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k)), v) @ p[1]
    return x + jax.nn.silu(x @ p[2]) @ p[3]


def experts(x, p):
    chosen = jax.nn.softmax(x @ p[0])
    return sum(chosen[:, i:i + 1] * (jax.nn.relu(x @ p[1]) @ p[2] * (i + 1)) for i in range(3))


def looped(x, p):
    h = jnp.tanh(x @ p[0]) @ p[1]
    h, _ = jax.lax.scan(lambda c, _: (jnp.sin(c) * 1.5, None), h, length=3)
    h = jax.lax.cond(h.sum() > 0, lambda h: h * 2, jnp.cos, h)
    return jnp.tanh(h @ p[0]) @ p[1] + h


def remembered(x, p):
    return jax.checkpoint(gated)(x, p) + x


def owned(x, p):
    """Functions with derivatives of their own."""
    return custom(x @ p[0]) @ p[1] + backward(jnp.tanh(x @ p[0]) @ p[1]) + jax.lax.stop_gradient(x @ p[0] @ p[1]) * x


def hypernetwork(x, p):
    return jnp.tanh(x @ jnp.tanh(p[0] @ p[1])) @ p[2]


with jax.enable_x64(True):
    X, CUBE = array(7, 4), array(3, 5, 4)
    # Name: function, x, parameters, how many programs.
    MODELS = {
        "mlp": (mlp, X, weights((4, 8), (8,), (8, 3), (3,)), 1), "mlp of sequences": (mlp, CUBE, weights((4, 8), (8,), (8, 3), (3,)), 1),
        "as many rows as channels": (mlp, array(4, 4), weights((4, 4), (4,), (4, 4), (4,)), 1), "gated": (gated, X, weights((4, 8), (4, 8), (8, 4)), 1),
        "siren": (siren, X, weights((8, 4), (8,), (8, 8), (8,), (2, 8), (2,)), 1), "residual": (residual, X, weights((4,), (4,), (4, 8), (8, 4)), 1),
        "mixer": (mixer, CUBE, weights((5, 6), (6, 5), (4, 8), (8, 4)), 2), "classifier": (classifier, X, weights((4, 8), (8, 3)), 1),
        "smoothed": (smoothed, X, weights((4, 8), (8, 3)), 1), "attention": (attention, CUBE, weights((4, 12), (4, 4), (4, 8), (8, 4)), 1),
        "experts": (experts, X, weights((4, 3), (4, 8), (8, 4)), 1), "looped": (looped, X, weights((4, 8), (8, 4)), 2),
        "remembered": (remembered, X, weights((4, 8), (4, 8), (8, 4)), 1),
        "owned": (owned, X, weights((4, 8), (8, 4)), 2), "hypernetwork": (hypernetwork, X, weights((4, 6), (6, 8), (8, 3)), 0),
    }


@pytest.mark.parametrize("name", MODELS)
def test_models_are_jaxs_and_programs_where_they_work_row_by_row(name):
    function, x, parameters, programs = MODELS[name]
    explanation = dj.explain(function, x, parameters)
    assert sum(part.by == "drawloom" for part in explanation.parts) == programs, str(explanation)
    # JAX has no forward derivative of custom_vjp.
    assert_same(function, x, parameters, second=name not in ("owned",))


def test_a_model_is_called_as_by_jax():
    p = weights((4, 8), (8,), (8, 3), (3,))

    @functools.partial(dj.jit, static_argnames=("twice", "kind"))
    def model(x, p, *, twice, kind="tanh", scale=1.0):
        """What it says."""
        y = scale * mlp(x, p) if kind == "tanh" else x
        return {"y": y, "none": None, "more": (y @ p[2].T if twice else 3.0)}

    def plain(x, p, twice, scale=1.0):
        y = scale * mlp(x, p)
        return {"y": y, "none": None, "more": (y @ p[2].T if twice else 3.0)}

    for twice in (True, False):
        found, expected = model(X, p, twice=twice, scale=2.0), plain(X, p, twice, 2.0)
        assert jax.tree.structure(found) == jax.tree.structure(expected)
        assert all(jnp.abs(one - other).max() < 1e-13 for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected)))
    assert model(X, p, twice=False, kind="none")["y"].shape == X.shape
    assert model.__doc__ == "What it says." and "custom_call" in model.lower(X, p, twice=True).as_text()
    donated = dj.jit(lambda x, p: mlp(x, p) + 1, donate_argnums=0)
    assert donated(X + 0, p).shape == (7, 3)
    by_number = dj.jit(lambda n, x, p: n * mlp(x, p), static_argnums=0)
    assert jnp.abs(by_number(3, X, p) - 3 * mlp(X, p)).max() < 1e-13
    assert len(mine(by_number, 3, X, p)) == 1
    with pytest.raises(drawloom.CallError, match="not a int"):
        dj.jit(3)


def test_transformations():
    p = weights((4, 8), (8,), (8, 3), (3,))
    ours, x = dj.jit(mlp), array(6, 5, 4)
    for of, given in [(lambda one: jax.vmap(one, (0, None)), (x, p)), (lambda one: jax.vmap(jax.hessian(lambda x: one(x, p).sum())), (x[0],))]:
        found, expected = of(ours)(*given), of(mlp)(*given)
        assert jnp.abs(found - expected).max() <= ROUNDINGS * U64 * (1 + jnp.abs(expected).max())
    many = jax.tree.map(lambda one: jnp.stack([one, 2 * one]), p)
    found, expected = (jax.vmap(one, (None, 0))(x[0], many) for one in (ours, mlp))
    assert jnp.abs(found - expected).max() <= ROUNDINGS * U64 * (1 + jnp.abs(expected).max())
    inside = jax.jit(lambda x: ours(x, p) * 2)
    assert jnp.abs(inside(x[0]) - 2 * mlp(x[0], p)).max() < 1e-13


def test_random_numbers_other_types_and_no_jit():
    p = weights((4, 8), (8,), (8, 3), (3,))

    def dropped(x, p, key):
        h = jnp.tanh(x @ p[0] + p[1])
        return jnp.where(jax.random.bernoulli(key, 0.5, h.shape), 2 * h, 0) @ p[2] + p[3]

    given = X, p, jax.random.key(1)
    assert mine(dropped, *given) and jnp.abs(dj.jit(dropped)(*given) - dropped(*given)).max() < 1e-13
    half = jax.tree.map(lambda one: one.astype(jnp.bfloat16), (X, p))
    gradients = jax.grad(lambda *given: dj.jit(mlp)(*given).sum(), (0, 1))(*half)
    assert all(one.dtype == jnp.bfloat16 for one in jax.tree.leaves(gradients))
    # Either side rounds the four results of its products and sums; numbers of a sum of 8 are at most as large as the largest together.
    assert jnp.abs(dj.jit(mlp)(*half) - mlp(*half)).max() <= 8 * 8 * 2.0**-8 * jnp.abs(mlp(*half)).max()
    with jax.disable_jit():
        assert jnp.abs(dj.jit(mlp)(X, p) - mlp(X, p)).max() < 1e-13


def test_other_numbers_of_rows_are_no_new_programs():
    function, x, parameters, _ = MODELS["residual"]
    gradient = jax.grad(lambda x, p: dj.jit(function)(x, p).sum(), (0, 1))
    gradient(x, parameters)
    before = ops._build_open.cache_info().misses
    for rows in (2, 40, 333):
        found, expected = gradient(array(rows, 4), parameters), jax.grad(lambda x, p: function(x, p).sum(), (0, 1))(array(rows, 4), parameters)
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
            # Sums over so many rows.
            assert jnp.abs(one - other).max() <= rows * ROUNDINGS * U64 * (1 + jnp.abs(other).max())
    assert ops._build_open.cache_info().misses == before


def test_ops_of_ones_own_become_part_of_what_is_around():
    own = dj.op(lambda x, w: jnp.tanh(x @ w))

    def function(x, p):
        return own(x @ p[0], p[1]) @ p[2]

    p = weights((4, 8), (8, 8), (8, 3))
    part, = mine(function, X, p)
    assert any("drawloom_call" in one for one in part.calls)
    assert_same(function, X, p)


def test_what_is_too_small_or_wide_is_left_to_xla(monkeypatch):
    p = weights((4, 8), (8,), (8, 3), (3,))
    monkeypatch.setattr(_jit, "_FEWEST", 10_000)
    part, = [part for part in dj.explain(mlp, X, p).parts if "dot_general" in part.calls[0]]
    assert part.by == "xla" and "it has 392 multiplications; below 10000" in part.why
    monkeypatch.setattr(_jit, "_FEWEST", 0)
    part, *_ = dj.explain(lambda x, w: jnp.tanh(x @ w) @ w.T, X, array(4, 600)).parts
    assert part.by == "xla" and "a product has 600 channels" in part.why
    assert not mine(lambda x, w: jnp.tanh(x @ w), X, array(4, 6))


def test_an_explanation_says_why():
    text = str(dj.explain(classifier, X, MODELS["classifier"][2]))
    assert text.startswith("1 of 3 parts compiled by Drawloom\n  drawloom: dot_general (test_jit.py:")
    assert "of 7 rows: 2 matrix products of at most 8 channels; intermediate results stay in the cache" in text
    assert "it takes elements of several dimensions" in text


def test_effects_stay_in_order_and_errors_are_jaxs():
    seen = []

    @dj.jit
    def function(x, p):
        jax.debug.callback(lambda one: seen.append(float(one)), x[0, 0], ordered=True)
        y = mlp(x, p)
        jax.debug.callback(lambda one: seen.append(float(one)), y[0, 0], ordered=True)
        return y

    p = weights((4, 8), (8,), (8, 3), (3,))
    y = function(X, p)
    jax.effects_barrier()
    assert seen == [float(X[0, 0]), float(y[0, 0])]
    with pytest.raises(TypeError):
        dj.jit(lambda x: x @ jnp.ones((3, 3)))(X)
    with pytest.raises(jax.errors.TracerBoolConversionError):
        dj.jit(lambda x: x if x[0, 0] > 0 else -x)(X)


def test_masks_that_others_read_are_masks():
    def function(x, p):
        h = jnp.tanh(x @ p[0]) @ p[1]
        found = h > 0
        return jnp.where(found, h, 0.1 * h), jnp.cumsum(found, 0) * 1.0

    assert_same(function, X, weights((4, 8), (8, 4)))


UNARY = [jnp.sin, jnp.tanh, jax.nn.silu, jax.nn.softplus, lambda x: jnp.exp(-x * x), lambda x: x * 0.5, lambda x: jnp.log1p(x * x), lambda x: x / (1 + x * x),
         jax.nn.softmax, lambda x: x - x.mean(-1, keepdims=True), lambda x: jnp.where(x > 0.1, x, jnp.cos(x)), lambda x: jnp.sqrt(1 + x * x), jax.lax.stop_gradient,
         lambda x: x[..., ::-1], lambda x: jnp.clip(x, -0.7, 0.8), lambda x: x * x.max(-1, keepdims=True), jax.nn.gelu, jax.scipy.special.erf,
         lambda x: jnp.roll(x, 1, -1),
         lambda x: jnp.concatenate([x[..., 1:], x[..., :1] * 2], -1), lambda x: jnp.cumsum(x, -1) / 3, lambda x: x - x.mean(0), lambda x: jnp.abs(x) ** 1.5,
         lambda x: x % 1.3,
         lambda x: x.reshape(*x.shape[:-1], 2, -1).swapaxes(-1, -2).reshape(x.shape), lambda x: jnp.where((x > 0) & (x < 1), x, -x),
         jax.jit(jnp.cos), jax.checkpoint(jnp.sin)]
BINARY = [lambda a, b: a + b, lambda a, b: a * b, jnp.maximum, jnp.minimum, lambda a, b: a - 2 * b, jnp.logaddexp, lambda a, b: jnp.where(a > b, a, b * b),
          lambda a, b: a / (2 + b * b), jnp.hypot]


@pytest.mark.parametrize("seed", range(12))
def test_random_functions_are_jaxs(seed):
    """Of random equations, row by row or not, with products of matrices and parameters between them."""
    choose = random.Random(seed)
    plan = [(choose.choice(["unary", "unary", "binary", "product", "scale"]), choose.choice(UNARY), choose.choice(BINARY), choose.randrange(3),
             choose.randrange(100), choose.randrange(100)) for _ in range(14)]
    shape = choose.choice([(7, 6), (6, 6), (2, 3, 6)])

    def function(x, p):
        values = [x]
        for kind, unary, binary, which, a, b in plan:
            one, other = values[-1 - a % min(len(values), 3)], values[-1 - b % min(len(values), 4)]
            values.append(unary(one) if kind == "unary" else binary(one, other) if kind == "binary" else one @ p[which] if kind == "product" else one * p[3] + 0.1)
        return values[-1], values[-2]

    assert_same(function, array(*shape, seed=seed), weights((6, 6), (6, 6), (6, 6), (6,)))
