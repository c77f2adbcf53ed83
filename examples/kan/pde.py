# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Poisson's equation is put into the loss: second derivatives of a network of splines, and of a perceptron."""

import dataclasses
import time

import models
import numpy as np
import problem
import torch
from progress import Bar

import drawloom.torch

CHUNK = 10  # iterations between two looks at the errors
GRID = 101  # points of the pictures, and of the errors, along an axis


def derivatives_by_layers(layers):
    """n, its first derivatives and n_xx + n_yy, by one program of Drawloom that computes all of them."""
    def run(points):
        n, firsts, seconds = drawloom.torch.kan_network_along(points, torch.eye(2, dtype=points.dtype), layers)
        return n[:, 0], [one[:, 0] for one in firsts], (seconds[0] + seconds[1])[:, 0]

    return run


def derivatives_by_program(model):
    """The same of a network of splines; its layers are asked each time, since `update_grid` gives them others."""
    return lambda points: derivatives_by_layers([layer.arguments() for layer in model.layers])(points)


def derivatives_by_autograd(model):
    """The same of any model, by derivatives of derivatives."""
    def run(points):
        points = points.detach().requires_grad_()
        with torch.enable_grad():
            n = model(points)[:, 0]
            (slope,) = torch.autograd.grad(n.sum(), points, create_graph=True)
            seconds = [torch.autograd.grad(slope[:, axis].sum(), points, create_graph=True)[0][:, axis] for axis in range(2)]
        return n, list(slope.unbind(1)), seconds[0] + seconds[1]

    return run


def loss_of(derivatives, points):
    """The mean square of what is left over in the equation."""
    x, y = points.unbind(1)
    return (problem.laplacian_of(x, y, *derivatives(points)) - problem.source(x, y, torch)).square().mean()


@dataclasses.dataclass
class Run:
    """curve    (seconds, iterations, L2, H1) while it learns
    u           the solution that was learnt, on the grid of the pictures
    """
    parameters: int
    curve: list
    u: np.ndarray


def errors_of(derivatives, points):
    """The relative errors in L2 and in H1, and u."""
    x, y = points.unbind(1)
    n, firsts, _ = derivatives(points)
    u, slopes = problem.u_of(x, y, n), problem.slopes_of(x, y, n, firsts)
    known, known_slopes = problem.solution(x, y, torch), problem.slopes(x, y, torch)
    part = (u - known).square().sum(), known.square().sum()
    whole = [one + sum(more) for one, more in zip(part, zip(*(((a - b).square().sum(), b.square().sum())
                                                              for a, b in zip(slopes, known_slopes))))]
    return (part[0] / part[1]).sqrt().item(), (whole[0] / whole[1]).sqrt().item(), u.detach().numpy()


def solve(model, derivatives, options, label):
    """Minimizes the loss at fixed points, and keeps the errors on a grid."""
    points, grid = torch.from_numpy(problem.points(options.points, options.seed)), torch.from_numpy(problem.grid(GRID))
    minimizer = models.Minimizer(model, lambda: loss_of(derivatives, points))
    errors = errors_of(derivatives, grid)
    # The program is compiled before the clock runs.
    loss_of(derivatives, points).backward()
    curve, bar, seconds, done = [(0.0, 0, *errors[:2])], Bar(options.steps, label), 0.0, 0
    while done < options.steps:
        count = min(CHUNK, options.steps - done)
        start = time.perf_counter()
        loss = minimizer.steps(count)
        seconds += time.perf_counter() - start
        done += count
        errors = errors_of(derivatives, grid)
        curve.append((seconds, done, *errors[:2]))
        bar.show(done, f"loss {loss:.2e}  L2 {errors[0]:.2e}  H1 {errors[1]:.2e}")
    return Run(models.size(model), curve, errors[2].reshape(GRID, GRID))


def learn(options):
    """{what it is called: its run}."""
    torch.manual_seed(options.seed)
    model = models.splines([2, *[options.width] * options.layers, 1], options.grid, order=options.order, base=options.base)
    runs = {"splines": solve(model, derivatives_by_program(model), options, "splines  ")}
    if not options.no_rivals:
        torch.manual_seed(options.seed)
        rival = models.perceptron_of_size(2, models.size(model))
        runs["perceptron"] = solve(rival, derivatives_by_autograd(rival), options, "perceptron  ")
    return runs
