# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear recurrences in plain JAX; see recurrence_torch.py. States go through lax.scan."""

import jax
import jax.numpy as jnp

from drawloom_bench.rivals.recurrence_torch import CHUNK, PART


def chunks(x):
    """[B, T, H, ...] -> [chunks, B, H, CHUNK, ...]: what lax.scan goes along is first."""
    b, t, h = x.shape[:3]
    return jnp.moveaxis(x.reshape(b, t // CHUNK, CHUNK, h, *x.shape[3:]), (1, 3), (0, 2))


def tokens(x):
    x = jnp.moveaxis(x, (0, 2), (1, 3))
    return x.reshape(x.shape[0], -1, *x.shape[3:])


def over_states(q, update, last):
    def step(state, now):
        q, update, last = now
        return last[..., None] * state + update, q @ state

    return jax.lax.scan(step, jnp.zeros_like(update[0]), (q, update, last))[1]


def turned(x):
    return jnp.swapaxes(x, -1, -2)


def gla_one_level(q, k, v, g):
    scale = q.shape[-1] ** -0.5
    q, k, v, g = (chunks(x) for x in (q, k, v, g))
    sums = jnp.cumsum(g, 3)
    q, k = q * jnp.exp(sums) * scale, k * jnp.exp(-sums)
    last = jnp.exp(sums[:, :, :, -1])
    inside = jnp.tril(q @ turned(k)) @ v
    return tokens(inside + over_states(q, last[..., None] * (turned(k) @ v), last))


def gla_exact(q, k, v, g):
    scale = q.shape[-1] ** -0.5
    q, k, v, g = (chunks(x) for x in (q, k, v, g))
    sums, q = jnp.cumsum(g, 3), q * scale
    parts = CHUNK // PART
    qp, kp, sp = (x.reshape(*x.shape[:3], parts, PART, x.shape[-1]) for x in (q, k, sums))
    between = jnp.exp(jnp.minimum(sp[..., :, None, :] - sp[..., None, :, :], 0))
    diagonal = jnp.tril(jnp.einsum("...id,...jd,...ijd->...ij", qp, kp, between))
    rows = []
    for i in range(parts):
        own = diagonal[:, :, :, i]
        if i:
            border = sums[:, :, :, i * PART - 1:i * PART]
            left = qp[:, :, :, i] * jnp.exp(sp[:, :, :, i] - border)
            right = k[:, :, :, :i * PART] * jnp.exp(border - sums[:, :, :, :i * PART])
            own = jnp.concatenate((left @ turned(right), own), -1)
        rows.append(jnp.pad(own, [(0, 0)] * 4 + [(0, CHUNK - (i + 1) * PART)]))
    end = sums[:, :, :, -1:]
    update = turned(k * jnp.exp(end - sums)) @ v
    return tokens(jnp.concatenate(rows, 3) @ v + over_states(q * jnp.exp(sums), update, jnp.exp(end[:, :, :, 0])))


def gla_tokens(q, k, v, g):
    scale = q.shape[-1] ** -0.5

    def step(state, now):
        q, k, v, g = now
        state = jnp.exp(g)[..., None] * state + k[..., None] * v[..., None, :]
        return state, scale * jnp.einsum("bhk,bhkv->bhv", q, state)

    state = jnp.zeros((q.shape[0], q.shape[2], q.shape[3], v.shape[3]))
    return jnp.moveaxis(jax.lax.scan(step, state, tuple(jnp.moveaxis(x, 1, 0) for x in (q, k, v, g)))[1], 0, 1)


def scalar(q, k, v, g):
    scale = q.shape[-1] ** -0.5
    q, k, v, g = (chunks(x) for x in (q, k, v, g))
    sums, q = jnp.cumsum(g, 3), q * scale
    between = jnp.tril(jnp.exp(jnp.minimum(sums[..., :, None] - sums[..., None, :], 0)))
    inside = (q @ turned(k) * between) @ v
    end = sums[:, :, :, -1:]
    update = turned(k * jnp.exp(end - sums)[..., None]) @ v
    return tokens(inside + over_states(q * jnp.exp(sums)[..., None], update, jnp.exp(end)))


def gated_delta(q, k, v, g, beta):
    scale = q.shape[-1] ** -0.5
    q, k, v, g, beta = (chunks(x) for x in (q, k, v, g, beta))
    sums = jnp.cumsum(g, 3)
    between = jnp.tril(jnp.exp(jnp.minimum(sums[..., :, None] - sums[..., None, :], 0)))
    q, kb = q * scale, k * beta[..., None]
    system = jnp.tril(kb @ turned(k) * between, -1) + jnp.eye(CHUNK)
    right = jnp.concatenate((v * beta[..., None], kb * jnp.exp(sums)[..., None]), -1)
    solved = jax.scipy.linalg.solve_triangular(system, right, lower=True, unit_diagonal=True)
    u, w = solved[..., :v.shape[-1]], solved[..., v.shape[-1]:]
    end = sums[:, :, :, -1:]
    scores = q @ turned(k) * between

    def step(state, now):
        q, k, u, w, scores, end = now
        written = u - w @ state
        return jnp.exp(end)[..., None] * state + turned(k) @ written, q @ state + scores @ written

    state = jnp.zeros((*q.shape[1:3], q.shape[-1], v.shape[-1]))
    along = (q * jnp.exp(sums)[..., None], k * jnp.exp(end - sums)[..., None], u, w, scores, end)
    return tokens(jax.lax.scan(step, state, along)[1])
