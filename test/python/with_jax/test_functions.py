# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.jax beside jax.numpy: values and derivatives, in float64 where it counts."""

import jax
import numpy as np
import pytest
from jax.test_util import check_grads

import drawloom
import drawloom.jax as dj
from drawloom import ops
from support import jax_references as references


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("form", ops.rational.FORMS)
def test_rational_is_the_formula(rng, form):
    x, (a, b) = rng.standard_normal((3, 5, 8)), references.tables(rng, 2)
    assert references.difference(dj.rational(x, a, b, form=form), references.rational(x, a, b, form)) < 1e-14


def test_rational_has_right_derivatives(rng):
    check_grads(dj.rational, (rng.standard_normal((5, 4)), *references.tables(rng, 2)), order=2)


@pytest.mark.parametrize("activation", sorted(references.ACTIVATIONS))
def test_fused_mlp_is_the_chain(rng, activation):
    x, (weights, biases) = rng.standard_normal((2, 3, 6)), references.layers(rng, 6, 8, 4)
    got = dj.fused_mlp(x, weights, biases, activation=activation, output_activation="tanh")
    assert references.difference(got, references.fused_mlp(x, weights, biases, activation, "tanh")) < 1e-13


def test_fused_mlp_without_biases_is_the_chain(rng):
    x, (weights, _) = rng.standard_normal((3, 6)), references.layers(rng, 6, 8, 4)
    assert references.difference(dj.fused_mlp(x, weights), references.fused_mlp(x, weights)) < 1e-14


def test_fused_mlp_has_right_derivatives(rng):
    def f(x, weights, biases):
        return dj.fused_mlp(x, weights, biases, activation="sine")

    check_grads(f, (rng.standard_normal((3, 2)), *references.layers(rng, 2, 4, 1)), order=2)


def test_rational_activations_of_a_chain_have_their_own_coefficients(rng):
    x, (weights, biases) = rng.standard_normal((3, 6)), references.layers(rng, 6, 8, 4, 2)
    params = [references.tables(rng, 4), references.tables(rng, 1)]
    got = dj.fused_mlp(x, weights, biases, activation="rational", activation_params=params)
    assert references.difference(got, jax.jit(references.fused_mlp, static_argnums=(3, 4))(
        x, weights, biases, "rational", None, params)) < 1e-13


def test_kat_mlp_is_the_formula_and_has_its_gradients(rng):
    weights, biases = references.layers(rng, 8, 16, 4)
    first, second = references.tables(rng, 4), references.tables(rng, 2)
    arguments = rng.standard_normal((2, 3, 8)), first, weights[0], biases[0], second, weights[1], biases[1]

    def of(f):
        return jax.jit(jax.value_and_grad(lambda arguments: jax.numpy.sin(f(*arguments)).sum()))(arguments)

    assert references.difference(of(dj.kat_mlp), of(references.kat_mlp)) < 1e-12


def test_frequency_encode_is_the_formula_and_has_right_derivatives(rng):
    x = rng.uniform(-1, 1, (3, 2))
    assert references.difference(dj.frequency_encode(x, 5), references.frequency_encode(x, 5)) < 1e-13
    check_grads(lambda x: dj.frequency_encode(x, 1), (x,), order=2)


def test_third_derivatives_are_right(rng):
    weights, biases = references.layers(rng, 1, 4, 1)

    def third(f):
        # Forward of reverse of reverse: all rules, each on what another gave.
        u = lambda x: f(x[None, None], weights, biases, activation="tanh")[0, 0]
        return jax.jvp(jax.grad(jax.grad(u)), (0.3,), (1.0,))[1]

    assert references.difference(third(dj.fused_mlp), third(references.fused_mlp)) < 1e-12


def test_derivatives_along_directions_are_those_of_jvp(rng):
    x, (weights, biases) = rng.standard_normal((2, 3, 4)), references.layers(rng, 4, 6, 2)
    directions = rng.standard_normal((2, 4))

    def along(weights):
        return dj.fused_mlp_along(x, directions, weights, biases, activation="tanh")

    def by_jvp(weights):
        f = lambda x: references.fused_mlp(x, weights, biases, "tanh")
        firsts, seconds = [], []
        for direction in directions:
            v = jax.numpy.broadcast_to(direction, x.shape)
            first, second = jax.jvp(lambda x: jax.jvp(f, (x,), (v,))[1], (x,), (v,))
            firsts.append(first)
            seconds.append(second)
        return f(x), firsts, seconds

    def loss(values):
        return lambda weights: sum(jax.numpy.sin(one).sum() * (1 + i) for i, one in enumerate(jax.tree.leaves(values(weights))))

    assert references.difference(along(weights), jax.jit(by_jvp)(weights)) < 1e-12
    assert references.difference(jax.grad(loss(along))(weights), jax.jit(jax.grad(loss(by_jvp)))(weights)) < 1e-12


def test_specs_are_read_back_from_their_text():
    spec = ops.Spec("rational", (("form", "abs_sum"),)).along(2).vjp((1, 2), (0, 3)).jvp((1,))
    assert ops.Spec.parse(str(spec)) == spec


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_results_have_the_type_of_x(rng, dtype):
    x = jax.numpy.asarray(rng.standard_normal((3, 6)), dtype)
    weights, biases = (jax.tree.map(lambda one: jax.numpy.asarray(one, dtype), some) for some in references.layers(rng, 6, 8, 4))
    y = dj.fused_mlp(x, weights, biases, activation="silu")
    assert y.dtype == dtype
    exact = references.fused_mlp(*jax.tree.map(lambda one: np.asarray(one, "float64"), (x, weights, biases)), "silu")
    assert references.difference(y, exact) < {"float32": 2**-20, "bfloat16": 2**-6, "float16": 2**-9}[dtype]


def test_the_bits_are_those_of_the_same_program_outside_of_jax(rng):
    x, (a, b) = rng.standard_normal((33, 8)).astype("float32"), references.tables(rng, 2, "float32")
    spec = ops.Spec("rational", (("form", "abs_terms"),)).vjp((0, 1, 2), (0,))
    types = [ops.Array("float32", one.shape) for one in (x, a, b, x)]
    want = drawloom.compile(ops.text(spec, types), cache=False)(x, a, b, np.ones_like(x))
    got = jax.grad(lambda *arguments: dj.rational(*arguments).sum(), (0, 1, 2))(x, a, b)
    assert all(np.array_equal(u, v) for u, v in zip(got, want, strict=True))


def test_arrays_without_rows_give_arrays_without_rows_and_no_gradient(rng):
    weights, biases = references.layers(rng, 6, 4)

    def loss(weights, x):
        return dj.fused_mlp(x, weights, biases).sum()

    assert dj.fused_mlp(np.zeros((0, 6)), weights, biases).shape == (0, 4)
    assert not np.any(jax.grad(loss)(weights, np.zeros((0, 6)))[0])
    assert dj.fused_mlp(np.zeros(6), weights, biases).shape == (4,)


def test_kan_layers_have_right_derivatives(rng):
    def f(x, c, knots, base_weight):
        return dj.kan_layer(x, c, basis="bspline", order=2, parameters=[knots], base="silu", base_weight=base_weight)

    knots = np.linspace(-1.5, 1.6, 8) + 0.05 * rng.uniform(size=8)
    arguments = rng.uniform(-0.9, 0.9, (3, 2)), rng.standard_normal((5, 2, 3)), knots, rng.standard_normal((3, 2))
    check_grads(f, arguments, order=1)
    check_grads(lambda x: f(x, *arguments[1:]), arguments[:1], order=2)


def test_kan_networks_are_their_layers(rng):
    layers = [dict(coefficients=rng.standard_normal((6, 3, 4)), basis="fourier"),
              dict(coefficients=rng.standard_normal((4, 4, 2)), basis="chebyshev", normalizer="tanh", bias=rng.standard_normal(2))]
    x = rng.uniform(-1, 1, (2, 5, 3))
    got = jax.jit(lambda x: dj.kan_network(x, layers))(x)
    expected = dj.kan_layer(dj.kan_layer(x, **layers[0]), **layers[1])
    assert references.difference(got, expected) < 1e-13
    angles = x[..., None] * np.arange(1, 4)
    phi = np.concatenate([np.cos(angles), np.sin(angles)], -1)
    assert references.difference(dj.kan_layer(x, **layers[0]), np.einsum("abik,kio->abo", phi, layers[0]["coefficients"])) < 1e-13
    y, first, second = dj.kan_network_along(x, [np.array([1.0, 0, 0])], layers)
    slope = jax.jvp(lambda at: dj.kan_network(at, layers), (x,), (np.broadcast_to([1.0, 0, 0], x.shape),))[1]
    assert references.difference(first[0], slope) < 1e-12 and second[0].shape == y.shape
