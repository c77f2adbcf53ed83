# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The network in PyTorch. Its residual is what the equation says, with derivatives
along the axes from one program."""

import functools

import problem
import torch

import drawloom.torch


def fused(x, weights, biases):
    return drawloom.torch.fused_mlp(x, weights, biases, activation="sine")


def plain(x, weights, biases):
    for weight, bias in zip(weights[:-1], biases[:-1]):
        x = torch.sin(torch.nn.functional.linear(x, weight, bias))
    return torch.nn.functional.linear(x, weights[-1], biases[-1])


def by_autograd(network, parameters, points):
    """The residual, from derivatives of sums over points: the usual way to write it."""
    points = points.detach().requires_grad_()
    u = problem.border(*points.T) * network(points, *parameters)[:, 0]
    (slope,) = torch.autograd.grad(u.sum(), points, create_graph=True)
    seconds = [torch.autograd.grad(slope[:, axis].sum(), points, create_graph=True)[0][:, axis] for axis in range(2)]
    return sum(seconds) + problem.WAVE_NUMBER**2 * u - problem.source(*points.detach().T, torch)


def by_program(_, parameters, points):
    """The same, with the derivatives along both axes from the program that computes the network."""
    n, firsts, seconds = drawloom.torch.fused_mlp_along(points, torch.eye(2), *parameters, activation="sine")
    n = n[:, 0]
    return (problem.laplacian(*points.T, n, [one[:, 0] for one in firsts], [two[:, 0] for two in seconds])
            + problem.WAVE_NUMBER**2 * problem.border(*points.T) * n - problem.source(*points.T, torch))


def by_hand(_, parameters, points):
    """The same, with both derivatives along both axes carried through the layers: as few operations as there are, for one who
    works the formulas of this network out."""
    values, firsts, seconds = points, torch.eye(2)[:, None], [0.0, 0.0]
    for i, (weight, bias) in enumerate(zip(*parameters)):
        values = values @ weight.T + bias
        firsts = [one @ weight.T for one in firsts]
        seconds = [one if i == 0 else one @ weight.T for one in seconds]
        if i + 1 < len(parameters[0]):
            values, slope = torch.sin(values), torch.cos(values)
            seconds = [slope * two - values * one**2 for one, two in zip(firsts, seconds)]
            firsts = [slope * one for one in firsts]
    n = values[:, 0]
    return (problem.laplacian(*points.T, n, [one[:, 0] for one in firsts], [two[:, 0] for two in seconds])
            + problem.WAVE_NUMBER**2 * problem.border(*points.T) * n - problem.source(*points.T, torch))


class Trainer:
    """Adam on the mean of the squared residuals."""

    def __init__(self, parameters, network=fused, residual=by_program, compiled=False):
        self.parameters = tuple([torch.tensor(one, requires_grad=True) for one in group] for group in parameters)
        self._network = network
        self._optimizer = torch.optim.Adam([one for group in self.parameters for one in group])

        def loss(parameters, points):
            return (residual(network, parameters, points) ** 2).mean()

        self._loss = torch.compile(loss) if compiled else loss

    def step(self, points, number, rate):
        """One step, the first of which is number 1; gives the loss."""
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.zero_grad()
        loss = self._loss(self.parameters, torch.from_numpy(points))
        loss.backward()
        self._optimizer.step()
        return loss.item()

    def u(self, points):
        with torch.no_grad():
            points = torch.from_numpy(points)
            return (problem.border(*points.T) * self._network(points, *self.parameters)[:, 0]).numpy()


def rivals(parameters):
    """{what it is called: what makes a trainer} of the same network without Drawloom. torch.compile takes no second
    derivatives by autograd, and its code for those of torch.func crashes in PyTorch 2.13."""
    return {"torch, derivatives by autograd": functools.partial(Trainer, parameters, plain, by_autograd),
            "torch, formulas worked out by hand": functools.partial(Trainer, parameters, plain, by_hand),
            "torch.compile, formulas worked out by hand": functools.partial(Trainer, parameters, plain, by_hand, compiled=True)}
