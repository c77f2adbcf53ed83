# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of drawloom.jax as jax.numpy has them."""

import jax
import jax.numpy as jnp
import numpy as np

ACTIVATIONS = {
    "none": lambda z: z,
    "relu": jax.nn.relu,
    "leaky_relu": jax.nn.leaky_relu,
    "elu": jax.nn.elu,
    "silu": jax.nn.silu,
    "gelu": lambda z: jax.nn.gelu(z, approximate=False),
    "gelu_tanh": lambda z: jax.nn.gelu(z, approximate=True),
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "softplus": jax.nn.softplus,
    "sine": jnp.sin,
    "square": jnp.square,
}


def rational(x, a, b, form="abs_terms"):
    channels = x.shape[-1]
    a = jnp.repeat(jnp.asarray(a), channels // a.shape[0], 0)
    b = jnp.repeat(jnp.asarray(b), channels // b.shape[0], 0)
    above = sum(a[:, i] * x**i for i in range(a.shape[1]))
    first = 0 if form == "abs_sum_eps" else 1
    terms = [b[:, i] * x ** (i + first) for i in range(b.shape[1])]
    below = {"abs_terms": lambda: 1 + sum(map(jnp.abs, terms)), "abs_sum": lambda: 1 + jnp.abs(sum(terms)),
             "abs_sum_eps": lambda: 0.1 + jnp.abs(sum(terms)), "unsafe": lambda: 1 + sum(terms)}[form]()
    return above / below


def fused_mlp(x, weights, biases=None, activation="relu", output_activation=None, activation_params=None):
    params = list(activation_params or ())
    for i, weight in enumerate(weights):
        x = x @ weight.T + (0 if biases is None else biases[i])
        kind = activation if i + 1 < len(weights) else output_activation or "none"
        x = rational(x, *params.pop(0)) if kind == "rational" else ACTIVATIONS[kind](x)
    return x


def kat_mlp(x, params1, weight1, bias1, params2, weight2, bias2):
    x = rational(x, *params1) @ weight1.T + (0 if bias1 is None else bias1)
    return rational(x, *params2) @ weight2.T + (0 if bias2 is None else bias2)


def frequency_encode(x, octaves):
    angles = x[..., None] * (np.pi * 2.0 ** np.arange(octaves))
    return jnp.stack([jnp.sin(angles), jnp.cos(angles)], -1).reshape(*x.shape[:-1], -1)


def layers(rng, *widths, dtype="float64"):
    """Weights [out, in] and biases of a chain."""
    def draw(*shape):
        return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(dtype)

    return [draw(o, i) for i, o in zip(widths, widths[1:])], [draw(o) for o in widths[1:]]


def tables(rng, groups, dtype="float64"):
    """Coefficients (a, b) of degrees 5 and 4."""
    return tuple(rng.uniform(0.1, 0.6, (groups, n)).astype(dtype) for n in (6, 4))


def difference(one, other):
    """The largest, relative to the largest number of the leaf."""
    pairs = list(zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))
    return max(float(np.abs(np.asarray(u, "float64") - np.asarray(v, "float64")).max() /
                     (1e-30 + np.abs(np.asarray(v, "float64")).max())) for u, v in pairs)
