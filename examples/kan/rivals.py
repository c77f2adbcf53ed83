# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loss of the equation without Drawloom, for times: the same network of cubic B-splines in JAX, in several ways, and in torch.compile.

A network is a list of pairs (coefficients [functions, in, out], base weight [out, in]) on the grid of [-1, 1]. Formulas that are the
same for both libraries take `lib`, which is jax.numpy or torch.
"""

import functools

import jax
import jax.numpy as jnp
import problem
import torch


def distances(lib, x, functions):
    """Of each x from the middle of each spline, [functions, ...x], in intervals; and how many intervals are in 1."""
    scale = (functions - 3) / 2
    return (x + 1) * scale + 1 - lib.arange(functions, dtype=x.dtype).reshape(-1, *[1] * x.ndim), scale


def spline(lib, x, functions):
    """The splines in closed form, [functions, ...x]: two truncated powers of the distance."""
    distance = lib.abs(distances(lib, x, functions)[0])
    far, near = lib.clip(2 - distance, 0, None), lib.clip(1 - distance, 0, None)
    return far * far * far * (1 / 6) - near * near * near * (4 / 6)


def spline_twice(lib, x, functions):
    """The splines with their first and second derivatives."""
    offset, scale = distances(lib, x, functions)
    distance, sign = lib.abs(offset), lib.sign(offset) * scale
    far, near = lib.clip(2 - distance, 0, None), lib.clip(1 - distance, 0, None)
    return (far * far * far * (1 / 6) - near * near * near * (4 / 6), sign * (2 * near * near - far * far / 2),
            scale**2 * (far - 4 * near))


def silu_twice(lib, x):
    s = 1 / (1 + lib.exp(-x))
    slope = s * (1 - s)
    return x * s, s + x * slope, slope * (2 + x * (1 - 2 * s))


def one_network(points, network):
    x = points
    for coefficients, base in network:
        x = jnp.einsum("kni,kio->no", spline(jnp, x, len(coefficients)), coefficients) + jax.nn.silu(x) @ base.T
    return x[:, 0]


def four_weights(points, network):
    """The same from the four splines that are not 0, whose coefficients are gathered."""
    x = points
    for coefficients, base in network:
        functions, inputs, _ = coefficients.shape
        at = (x + 1) * ((functions - 3) / 2)
        first = jnp.floor(jax.lax.stop_gradient(at))
        t, first = at - first, first.astype(int)
        weights = [(1 - t)**3 / 6, (3 * t**3 - 6 * t**2 + 4) / 6, (-3 * t**3 + 3 * t**2 + 3 * t + 1) / 6, t**3 / 6]
        y = jax.nn.silu(x) @ base.T
        for k, weight in enumerate(weights):
            place = first + k
            inside = (place >= 0) & (place < functions)
            rows = coefficients[jnp.clip(place, 0, functions - 1), jnp.arange(inputs)]
            y += jnp.einsum("ni,nio->no", jnp.where(inside, weight, 0), rows)
        x = y
    return x[:, 0]


def at_each_point(function, points, network):
    """n, its derivatives and n_xx + n_yy from a Hessian at each point: the shortest way to write it."""
    def n(point):
        return function(point[None], network)[0]

    hessians, slopes = jax.vmap(jax.hessian(n))(points), jax.vmap(jax.grad(n))(points)
    return function(points, network), list(slopes.T), hessians[:, 0, 0] + hessians[:, 1, 1]


def along_each_axis(function, points, network):
    """The same from two forward derivatives along each axis, for all points at once."""
    def derivatives(axis):
        along = jnp.zeros_like(points).at[:, axis].set(1)
        return jax.jvp(lambda at: jax.jvp(lambda x: function(x, network), (at,), (along,))[1], (points,), (along,))

    (first, second), (other, more) = derivatives(0), derivatives(1)
    return function(points, network), [first, other], second + more


def by_hand(lib, rows_last, points, network):
    """The same with n, two first derivatives and n_xx + n_yy carried through the layers: as few operations as there are, and in each
    layer one product for all four. With rows last, every operation has long vectors, however narrow the network is."""
    equation = "kidn,kio->odn" if rows_last else "kdni,kio->dno"
    values, firsts, laplacian = points.T if rows_last else points, None, None
    for coefficients, base in network:
        functions = len(coefficients)
        phi, slope, bend = (lib.concatenate([spline, silu[None]]) for spline, silu in
                            zip(spline_twice(lib, values, functions), silu_twice(lib, values)))
        table = lib.concatenate([coefficients, base.T[None]])
        if firsts is None:
            # An input's functions vary along its own axis alone.
            where = lib.eye(2, dtype=points.dtype)
            firsts, laplacian = ([one[:, None] for one in where] if rows_last else list(where)), 0
            square = 1
        else:
            square = firsts[0]**2 + firsts[1]**2
        every = lib.einsum(equation, lib.stack([phi, slope * firsts[0], slope * firsts[1], bend * square + slope * laplacian],
                                               2 if rows_last else 1), table)
        values, *firsts, laplacian = every.swapaxes(0, 1) if rows_last else every
    return (values[0], [one[0] for one in firsts], laplacian[0]) if rows_last else (values[:, 0], [one[:, 0] for one in firsts], laplacian[:, 0])


def by_hand_gathered(points, network):
    """The same from the four splines that are not 0: coefficients are gathered once for all derivatives."""
    values, firsts, laplacian = points, list(jnp.eye(2, dtype=points.dtype)), 0
    for coefficients, base in network:
        functions, inputs, _ = coefficients.shape
        scale = (functions - 3) / 2
        at = (values + 1) * scale
        first = jnp.floor(jax.lax.stop_gradient(at))
        t, first = at - first, first.astype(int)
        place = first + jnp.arange(4).reshape(4, 1, 1)
        inside = ((place >= 0) & (place < functions)).astype(values.dtype)
        rows = coefficients[jnp.clip(place, 0, functions - 1), jnp.arange(inputs)]
        phi = jnp.stack([(1 - t)**3 / 6, (3 * t**3 - 6 * t**2 + 4) / 6, (-3 * t**3 + 3 * t**2 + 3 * t + 1) / 6, t**3 / 6]) * inside
        slope = jnp.stack([-(1 - t)**2 / 2, (3 * t - 4) * t / 2, (-3 * t**2 + 2 * t + 1) / 2, t**2 / 2]) * inside * scale
        bend = jnp.stack([1 - t, 3 * t - 2, 1 - 3 * t, t]) * inside * scale**2
        square = firsts[0]**2 + firsts[1]**2

        def carried(value, slope, bend):
            return jnp.stack([value, slope * firsts[0], slope * firsts[1], bend * square + slope * laplacian])  # noqa: B023

        every = (jnp.einsum("dkni,knio->dno", jax.vmap(carried, (0, 0, 0), 1)(phi, slope, bend), rows)
                 + carried(*silu_twice(jnp, values)) @ base.T)
        values, *firsts, laplacian = every
    return values[:, 0], [one[:, 0] for one in firsts], laplacian[:, 0]


IN_JAX = {
    "Hessians at each point": functools.partial(at_each_point, one_network),
    "forward derivatives along each axis": functools.partial(along_each_axis, one_network),
    "four weights gathered, forward derivatives": functools.partial(along_each_axis, four_weights),
    "four weights gathered, formulas by hand": by_hand_gathered,
    "formulas by hand": functools.partial(by_hand, jnp, False),
    "formulas by hand, rows last": functools.partial(by_hand, jnp, True),
}


def in_jax(way, points, network):
    """What computes the loss and the gradients of a network's tensors, when it is called."""
    def loss(network, points):
        x, y = points.T
        return jnp.mean((problem.laplacian_of(x, y, *way(points, network)) - problem.source(x, y, jnp))**2)

    compiled = jax.jit(jax.value_and_grad(loss))
    points, network = jnp.asarray(points), [tuple(map(jnp.asarray, pair)) for pair in network]

    def run():
        value, gradients = jax.block_until_ready(compiled(network, points))
        return float(value), [one for pair in gradients for one in pair]

    return run


def in_torch(points, network):
    """The same in torch.compile, with formulas worked out by hand: it takes no second derivatives by autograd."""
    points = torch.from_numpy(points)
    network = [tuple(torch.from_numpy(one).requires_grad_() for one in pair) for pair in network]

    def loss(points, network):
        x, y = points.unbind(1)
        return (problem.laplacian_of(x, y, *by_hand(torch, True, points, network)) - problem.source(x, y, torch)).square().mean()

    compiled = torch.compile(loss)

    def run():
        value = compiled(points, network)
        return value.item(), list(torch.autograd.grad(value, [one for pair in network for one in pair]))

    return run
