# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The network in JAX. Its residual is what the equation says, with derivatives by jax.grad and its kin."""

import functools

import jax
import jax.numpy as jnp
import problem

import drawloom.jax


def fused(x, weights, biases):
    return drawloom.jax.fused_mlp(x, weights, biases, activation="sine")


def plain(x, weights, biases):
    for weight, bias in zip(weights[:-1], biases[:-1]):
        x = jnp.sin(x @ weight.T + bias)
    return x @ weights[-1].T + biases[-1]


def at_each_point(network, parameters, points):
    """The residual, from the Hessian of u at each point: the shortest way to write it."""
    def u(point):
        return problem.border(*point) * network(point, *parameters)[0]

    def residual(point):
        return jnp.trace(jax.hessian(u)(point)) + problem.WAVE_NUMBER**2 * u(point) - problem.source(*point, jnp)

    return jax.vmap(residual)(points)


def along_each_axis(network, parameters, points):
    """The same, from two forward derivatives along each axis for all points at once."""
    def u(points):
        return problem.border(*points.T) * network(points, *parameters)[:, 0]

    def second(axis):
        along = jnp.zeros_like(points).at[:, axis].set(1)
        return jax.jvp(lambda at: jax.jvp(u, (at,), (along,))[1], (points,), (along,))[1]

    return second(0) + second(1) + problem.WAVE_NUMBER**2 * u(points) - problem.source(*points.T, jnp)


def by_hand(_, parameters, points):
    """The same, with both derivatives along both axes carried through the layers: as few operations as there are, for one who
    works the formulas of this network out."""
    values, firsts, seconds = points, jnp.eye(2, dtype=points.dtype)[:, None], [0.0, 0.0]
    for i, (weight, bias) in enumerate(zip(*parameters)):
        values = values @ weight.T + bias
        firsts = [one @ weight.T for one in firsts]
        seconds = [one if i == 0 else one @ weight.T for one in seconds]
        if i + 1 < len(parameters[0]):
            values, slope = jnp.sin(values), jnp.cos(values)
            seconds = [slope * two - values * one**2 for one, two in zip(firsts, seconds)]
            firsts = [slope * one for one in firsts]
    n = values[:, 0]
    return (problem.laplacian(*points.T, n, [one[:, 0] for one in firsts], [two[:, 0] for two in seconds])
            + problem.WAVE_NUMBER**2 * problem.border(*points.T) * n - problem.source(*points.T, jnp))


def in_one_call(_, parameters, points):
    """The same with derivatives that Drawloom computes along both axes at once."""
    n, firsts, seconds = drawloom.jax.fused_mlp_along(points, jnp.eye(2), *parameters, activation="sine")
    firsts, seconds = ([one[:, 0] for one in group] for group in (firsts, seconds))
    return (problem.laplacian(*points.T, n[:, 0], firsts, seconds)
            + problem.WAVE_NUMBER**2 * problem.border(*points.T) * n[:, 0] - problem.source(*points.T, jnp))


class Trainer:
    """Adam on the mean of the squared residuals."""

    def __init__(self, parameters, network=fused, residual=in_one_call):
        self.parameters = jax.tree.map(jnp.asarray, parameters)
        self.state = jax.tree.map(lambda leaf: (jnp.zeros_like(leaf), jnp.zeros_like(leaf)), self.parameters)
        self._network = jax.jit(lambda points, parameters: problem.border(*points.T) * network(points, *parameters)[:, 0])

        def loss(parameters, points):
            return jnp.mean(residual(network, parameters, points) ** 2)

        def adam(parameter, gradient, state, step, rate):
            mean, square = 0.9 * state[0] + 0.1 * gradient, 0.999 * state[1] + 0.001 * gradient**2
            moved = rate * mean / (1 - 0.9**step) / (jnp.sqrt(square / (1 - 0.999**step)) + 1e-8)
            return parameter - moved, (mean, square)

        def update(parameters, state, points, step, rate):
            value, gradients = jax.value_and_grad(loss)(parameters, points)
            leaves, tree = jax.tree.flatten(parameters)
            pairs = [adam(*one, step, rate) for one in
                     zip(leaves, jax.tree.leaves(gradients), tree.flatten_up_to(state))]
            return value, tree.unflatten([one for one, _ in pairs]), tree.unflatten([two for _, two in pairs])

        self._update = jax.jit(update)

    def step(self, points, number, rate):
        """One step, the first of which is number 1; gives the loss."""
        value, self.parameters, self.state = self._update(self.parameters, self.state, points, float(number), rate)
        return float(value)

    def u(self, points):
        return jax.device_get(self._network(points, self.parameters))


def rivals(parameters):
    """{what it is called: what makes a trainer} of the same network without Drawloom, under jax.jit."""
    ways = {"Hessians at each point": at_each_point, "forward derivatives along each axis": along_each_axis,
            "formulas worked out by hand": by_hand}
    return {f"jax.jit, {name}": functools.partial(Trainer, parameters, plain, way) for name, way in ways.items()}
