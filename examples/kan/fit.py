# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks of splines learn functions while their grids are refined, beside perceptrons of as many parameters."""

import dataclasses
import time

import models
import torch
from progress import Bar
from targets import targets

CHUNK = 20  # iterations between two looks at the progress bar


@dataclasses.dataclass
class Point:
    """One model, trained: a point of a curve."""
    grid: int
    parameters: int
    train: float
    test: float
    seconds: float


def rmse(model, x, y):
    with torch.no_grad():
        return (model(x) - y).square().mean().sqrt().item()


def minimize(model, data, steps, bar, done, name):
    """Gives how many iterations there have been after `steps` more."""
    x, y = data
    minimizer = models.Minimizer(model, lambda: (model(x) - y).square().mean())
    for first in range(0, steps, CHUNK):
        count = min(CHUNK, steps - first)
        loss = minimizer.steps(count)
        done += count
        bar.show(done, f"{name}  loss {loss:.2e}")
    return done


def learn_splines(target, train, test, steps, seed, bar):
    """A point for each grid: each begins with the functions of the one before."""
    torch.manual_seed(seed)
    model, points, done = models.splines(target.widths, target.grids[0]), [], 0
    for grid in target.grids:
        start = time.perf_counter()
        if grid != target.grids[0]:
            model.update_grid(train[0], grid=grid)
        done = minimize(model, train, steps, bar, done, f"grid {grid:3d}")
        points.append(Point(grid, models.size(model), rmse(model, *train), rmse(model, *test), time.perf_counter() - start))
    return model, points


def learn_perceptrons(target, wanted, train, test, steps, seed, bar):
    """A point for each number of parameters. Each is trained for as many iterations as the splines of that size had in all: these
    began with what smaller ones had learnt."""
    points, done = [], 0
    for i, parameters in enumerate(wanted):
        torch.manual_seed(seed)
        start = time.perf_counter()
        model = models.perceptron_of_size(target.widths[0], parameters)
        done = minimize(model, train, (i + 1) * steps, bar, done, f"{models.size(model)} parameters")
        points.append(Point(0, models.size(model), rmse(model, *train), rmse(model, *test), time.perf_counter() - start))
    return points


def learn(name, target, options):
    """(the network of splines, {what it is called: its points})."""
    generator = torch.Generator().manual_seed(options.seed)

    def data(count):
        x = torch.rand(count, target.widths[0], generator=generator) * 2 - 1
        return x, target(x)

    train, test = data(options.points), data(options.points)
    best = None
    grids, total = len(target.grids), options.steps * len(target.grids)
    # Which minimum is found depends on the first values: the best of some beginnings, by the points that are learnt, as for a user
    # who has no others.
    for seed in range(options.starts):
        bar = Bar(total, f"{name}, splines {seed + 1}/{options.starts}  ")
        found = learn_splines(target, train, test, options.steps, seed, bar)
        if best is None or found[1][-1].train < best[1][-1].train:
            best = found
    model, ours = best
    theirs = None
    for seed in range(0 if options.no_rivals else options.starts):
        bar = Bar(options.steps * grids * (grids + 1) // 2, f"{name}, perceptrons {seed + 1}/{options.starts}  ")
        found = learn_perceptrons(target, [one.parameters for one in ours], train, test, options.steps, seed, bar)
        theirs = found if theirs is None else [min(pair, key=lambda one: one.train) for pair in zip(theirs, found)]
    return model, {"splines": ours} | ({"perceptrons": theirs} if theirs else {})


def selected(options):
    known = targets(options.dimensions)
    chosen = {name: known[name] for name in (options.functions or known)}
    if options.quick:
        chosen = {name: dataclasses.replace(one, grids=one.grids[:2]) for name, one in chosen.items()}
    return chosen
