# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent cells in JAX, against jax.lax.scan."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import drawloom.jax as dj
from drawloom import cells


def lax_gru(h, x, w):
    z, r = jax.nn.sigmoid(x[0] + w[0] * h), jax.nn.sigmoid(x[1] + w[1] * h)
    h = (1 - z) * h + z * jnp.tanh(x[2] + w[2] * (r * h))
    return h, h


def by_scan(inputs, parameters, initial):
    last, y = jax.lax.scan(lambda h, x: lax_gru(h, x, parameters), initial[0], [one.swapaxes(0, 1) for one in inputs])
    return y.swapaxes(0, 1), last


def arguments(rng, batch=2, tokens=9, channels=5):
    def normal(*shape):
        return jnp.asarray(rng.standard_normal(shape), np.float32)

    return ([normal(batch, tokens, channels) for _ in range(3)], [0.5 * jnp.tanh(normal(channels)) for _ in range(3)],
            [normal(batch, channels)])


def close(got, wanted):
    """Within 100 roundings of float32: a token is some 20 operations, and errors decay."""
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=100 * 2.0 ** -23 * max(1.0, np.abs(other).max()))


@pytest.fixture
def given():
    return arguments(np.random.default_rng(0))


def ours(inputs, parameters, initial, **options):
    (y,), (last,), _ = dj.nonlinear_scan(cells.gru, inputs, parameters, initial, **options)
    return y, last


@pytest.mark.parametrize("options", [{}, {"newton": 20, "segments": 2}], ids=str)
def test_a_cell_gives_what_a_scan_gives_with_gradients(given, options):
    close(ours(*given, **options), by_scan(*given))

    def loss(function, *arguments, **more):
        y, last = function(*arguments, **more)
        return jnp.sum(y * jnp.cos(jnp.arange(y.size).reshape(y.shape))) + jnp.sum(last ** 2)

    got = jax.jit(jax.grad(lambda *a: loss(ours, *a, **options), argnums=(0, 1, 2)))(*given)
    close(got, jax.grad(lambda *a: loss(by_scan, *a), argnums=(0, 1, 2))(*given))


def test_forward_mode_and_second_derivatives(given):
    inputs, parameters, initial = given
    tangents = jax.tree.map(jnp.cos, given)
    close(jax.jvp(ours, given, tangents), jax.jvp(by_scan, given, tangents))

    def hessian(function):
        return jax.hessian(lambda w: jnp.sum(function(inputs, [w, *parameters[1:]], initial)[0] ** 2))(parameters[0])

    close(hessian(ours), hessian(by_scan))


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16])
@pytest.mark.parametrize("cell", [cells.gru, cells.lstm], ids=["gru", "lstm"])
def test_states_that_are_no_outputs_are_kept_for_gradients(cell, dtype):
    rng = np.random.default_rng(1)
    x = [jnp.asarray(rng.standard_normal((2, 6, 3)), dtype) for _ in range(3)]
    w = [jnp.asarray(rng.uniform(-0.7, 0.7, 3), np.float32) for _ in range(cell.parameters)]

    def loss(x, w):
        return dj.nonlinear_scan(cell, x, w)[0][0].astype(np.float32).sum()

    gradients = jax.grad(loss, argnums=(0, 1))(x, w)
    # Forward mode is another program.
    tangents = jax.tree.map(jnp.ones_like, (x, w))
    _, slope = jax.jvp(loss, (x, w), tangents)
    total = sum(one.astype(np.float32).sum() for one in jax.tree.leaves(gradients))
    # bfloat16 rounds each of 108 gradients and 36 tangents of outputs by 2 ** -9 of its size, which is 2 at most.
    assert abs(total - slope) <= (144 * 2 * 2.0 ** -9 if dtype == jnp.bfloat16 else 144 * 2 * 2.0 ** -22)


def test_a_batch_of_calls(given):
    batched = jax.tree.map(lambda one: jnp.stack([one, 2 * one]), given)
    close(jax.vmap(ours)(*batched), jax.vmap(by_scan)(*batched))


def test_the_report_has_no_gradient(given):
    inputs, parameters, initial = given
    gradient = jax.grad(lambda x: dj.nonlinear_scan(cells.gru, [x, *inputs[1:]], parameters, initial, newton=9)[2][1])(inputs[0])
    assert not gradient.any()


def test_errors_say_what_is_wrong(given):
    inputs, parameters, initial = given
    with pytest.raises(Exception, match="inputs is a list of 2; it is one of 3"):
        dj.nonlinear_scan(cells.gru, inputs[:2], parameters, initial)
    with pytest.raises(Exception, match=r"state 0 has the shape \[1, 5\]; it is \[2, 5\]"):
        dj.nonlinear_scan(cells.gru, inputs, parameters, [initial[0][:1]])
