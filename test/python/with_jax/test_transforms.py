# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.jax under JAX's transformations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import drawloom.jax as dj
from support import jax_references as references

TANH = {"activation": "tanh"}


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.fixture
def chain(rng):
    return references.layers(rng, 3, 5, 2)


def same(compute, *arguments):
    """`compute` makes of dj.fused_mlp what it makes of the reference."""
    got, want = (jax.jit(compute(f))(*arguments) for f in (dj.fused_mlp, references.fused_mlp))
    assert references.difference(got, want) < 1e-11


def calls(function, *arguments):
    """How many calls of programs a function makes, those of loops and functions inside once each."""
    return str(jax.make_jaxpr(function)(*arguments)).count("drawloom_call[")


def test_jit_and_eager_calls_agree_in_all_bits(rng, chain):
    x = rng.standard_normal((4, 3))
    assert np.array_equal(dj.fused_mlp(x, *chain), jax.jit(dj.fused_mlp)(x, *chain))


def test_a_batch_of_x_becomes_rows_of_one_call(rng, chain):
    x = rng.standard_normal((4, 6, 3))
    same(lambda f: jax.vmap(lambda x: f(x, *chain, **TANH), in_axes=1, out_axes=1), x)
    text = str(jax.make_jaxpr(jax.vmap(lambda x: dj.fused_mlp(x, *chain), in_axes=1))(x))
    assert text.count("drawloom_call[") == 1 and "scan" not in text


def test_derivatives_at_each_point_are_rows_of_one_call(rng, chain):
    """What networks with physics in their loss are written with."""
    x = rng.standard_normal((7, 3))
    hessians = lambda f: jax.vmap(jax.hessian(lambda point: f(point, *chain, **TANH)[0]))
    same(hessians, x)
    assert "scan" not in str(jax.make_jaxpr(hessians(dj.fused_mlp))(x))


def test_gradients_of_parameters_stay_apart_in_a_batch(rng, chain):
    x = rng.standard_normal((4, 6, 3))
    same(lambda f: jax.vmap(jax.grad(lambda parameters, x: f(x, *parameters, **TANH).sum()), in_axes=(None, 0)), chain, x)


def test_a_batch_of_parameters_is_mapped(rng):
    x, ensemble = rng.standard_normal((6, 3)), [references.layers(rng, 3, 5, 2) for _ in range(3)]
    ensemble = jax.tree.map(lambda *leaves: np.stack(leaves), *ensemble)
    same(lambda f: jax.vmap(lambda parameters: f(x, *parameters, **TANH)), ensemble)


def test_jacobians_agree(rng, chain):
    x = rng.standard_normal((4, 3))
    same(lambda f: jax.jacrev(lambda parameters: f(x, *parameters, **TANH)), chain)
    same(lambda f: jax.jacfwd(lambda x: f(x, *chain, **TANH)), x)


def test_checkpoint_gives_the_same_gradients(rng, chain):
    x = rng.standard_normal((4, 3))

    def loss(f):
        block = jax.checkpoint(lambda x, parameters: jnp.sin(f(x, *parameters, **TANH)))
        return jax.jit(jax.grad(lambda x, parameters: block(x, parameters).sum(), (0, 1)))

    same(loss, x, chain)


def test_scan_over_steps_has_gradients(rng):
    chain, x = references.layers(rng, 3, 5, 3), rng.standard_normal((4, 3))

    def loss(f):
        def run(parameters):
            return jax.lax.scan(lambda x, _: (f(x, *parameters, **TANH), None), x, length=3)[0].sum()

        return jax.grad(run)

    same(loss, chain)


def test_only_gradients_that_are_asked_for_are_computed(rng, chain):
    x = rng.standard_normal((4, 3))
    text = str(jax.make_jaxpr(jax.grad(lambda x: dj.fused_mlp(x, *chain).sum()))(x))
    assert "[[[0], [0]]]" in text


def test_pulling_back_is_linear_in_its_cotangents(rng, chain):
    x, direction = rng.standard_normal((4, 3)), rng.standard_normal((4, 3))

    def forward(f):
        y, pull = jax.vjp(lambda x: f(x, *chain, **TANH), x)
        return lambda direction: jax.linear_transpose(pull, y)((direction,))

    same(forward, direction)


def test_hessian_vector_products_agree(rng, chain):
    x = rng.standard_normal((4, 3))
    direction = jax.tree.map(lambda leaf: rng.standard_normal(leaf.shape), chain)

    def product(f):
        loss = lambda parameters: jnp.sin(f(x, *parameters, **TANH)).sum()
        return lambda v: (jax.jvp(jax.grad(loss), (chain,), (v,))[1],
                          jax.grad(lambda p: sum(jax.tree.leaves(jax.tree.map(lambda g, v: (g * v).sum(), jax.grad(loss)(p), v))))(chain))

    same(product, direction)
