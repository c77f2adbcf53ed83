# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kan suite's rivals in JAX."""

import jax
import jax.numpy as jnp

from drawloom_bench.programs.kan import ADAM
from drawloom_bench.rivals.kan_formulas import rational
from drawloom_bench.suites.case import jax_call


def grouped(x, a, b):
    y = rational(x.reshape(x.shape[0], a.shape[0], -1), a[None, :, None], b[None, :, None])
    return y.reshape(x.shape)


def forward_of(activation, encode=None):
    def forward(x, *parameters):
        x = encode(x) if encode else x
        at = 0
        while True:
            x = x @ parameters[at] + parameters[at + 1]
            at += 2
            if at == len(parameters):
                return x
            if activation == "relu":
                x = jax.nn.relu(x)
            else:
                x = grouped(x, parameters[at], parameters[at + 1])
                at += 2

    return forward


def mean_squares(y, t):
    return jnp.mean((y - t) ** 2)


def cross_entropy(y, t):
    return -jnp.take_along_axis(jax.nn.log_softmax(y), t[:, None], 1).mean()


def loss_gradients(forward, loss_of, x, t, parameters):
    def run(x, t, parameters):
        value, grads = jax.value_and_grad(lambda p: loss_of(forward(x, *p), t))(parameters)
        return [value, *grads]

    return jax_call(run, x, t, parameters)


def step(forward, loss_of, x, t, parameters, rate):
    """A step of Adam whose state is donated, so that it is updated in place."""
    b1, b2, epsilon = ADAM["beta1"], ADAM["beta2"], ADAM["epsilon"]

    def update(x, t, count, parameters, m, v):
        value, grads = jax.value_and_grad(lambda p: loss_of(forward(x, *p), t))(parameters)
        m = [b1 * a + (1 - b1) * g for a, g in zip(m, grads)]
        v = [b2 * a + (1 - b2) * g * g for a, g in zip(v, grads)]
        scale = rate / (1 - b1**count)
        root = jnp.sqrt(1 - b2**count)
        new = [p - scale * a / (jnp.sqrt(c) / root + epsilon) for p, a, c in zip(parameters, m, v)]
        return value, new, m, v

    compiled = jax.jit(update, donate_argnums=(3, 4, 5))
    parameters = [jnp.array(p, copy=True) for p in parameters]
    state = [parameters, [jnp.zeros_like(p) for p in parameters], [jnp.zeros_like(p) for p in parameters]]
    count = 0

    def run():
        nonlocal count
        count += 1
        value, *state[:] = compiled(x, t, float(count), *state)
        jax.block_until_ready(state)
        return [value, *state[0]]

    return run


def frequency_encode(octaves):
    def encode(xy):
        k = jnp.pow(2.0, jnp.arange(octaves)) * jnp.pi
        t = xy[:, :, None] * k
        return jnp.stack([jnp.sin(t), jnp.cos(t)], 3).reshape(xy.shape[0], -1)

    return encode
