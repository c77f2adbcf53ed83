# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training step's loss and gradients, Drawloom beside JAX and torch.compile: first that all compute the same, then how long it takes."""

import os
import time

import numpy as np
import pde
import problem
import torch
from progress import Bar

import drawloom.torch


def one_core():
    """Keeps the process on one core, so that every library has one thread. It comes before JAX makes its threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")


def network_of(options):
    """Coefficients and base weights as NumPy arrays, float32; of a size that keeps values within the grid."""
    generator = np.random.default_rng(options.seed)
    widths, functions = [2, *[options.width] * options.layers, 1], options.grid + 3
    return [(generator.normal(0, 0.5 / np.sqrt(n), (functions, n, m)).astype("float32"),
             generator.normal(0, 0.5 / np.sqrt(n), (m, n)).astype("float32")) for n, m in zip(widths, widths[1:])]


def layers_of(network):
    domain = torch.tensor([-1.0, 1.0], dtype=torch.float32)
    return [{"coefficients": coefficients, "basis": "uniform_bspline", "order": 3, "parameters": [domain], "base": "silu", "base_weight": base}
            for coefficients, base in network]


class _Model(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self._layers = layers

    def forward(self, x):
        return drawloom.torch.kan_network(x, self._layers)


def with_drawloom(points, network, nested=False):
    points = torch.from_numpy(points)
    network = [tuple(torch.from_numpy(one).requires_grad_() for one in pair) for pair in network]
    leaves, layers = [one for pair in network for one in pair], layers_of(network)
    derivatives = pde.derivatives_by_autograd(_Model(layers)) if nested else pde.derivatives_by_layers(layers)

    def run():
        loss = pde.loss_of(derivatives, points)
        return loss.item(), list(torch.autograd.grad(loss, leaves))

    return run


def difference(one, other):
    """The largest of losses and gradients, each relative to its own size."""
    pairs = [(np.asarray(one[0]), np.asarray(other[0])), *((np.asarray(a), np.asarray(b)) for a, b in zip(one[1], other[1]))]
    return max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs)


def measure(options):
    """[(what it is called, difference from Drawloom's results, median of milliseconds)]; None where it failed."""
    import rivals

    points, network = problem.points(options.points, options.seed).astype("float32"), network_of(options)
    runs = {"Drawloom": with_drawloom(points, network), "Drawloom, nested autograd": with_drawloom(points, network, nested=True)}
    if not options.no_rivals:
        runs |= {f"jax.jit, {name}": rivals.in_jax(way, points, network) for name, way in rivals.IN_JAX.items()}
        if not options.no_compile:
            runs["torch.compile, formulas by hand, rows last"] = rivals.in_torch(points, network)
    differences, failed, first = {}, {}, None
    bar = Bar(len(runs) + options.rounds, "times  ")
    for done, (name, run) in enumerate(list(runs.items()), 1):
        try:
            result = run()
        except Exception as error:  # A library that does not compile it leaves the others be.
            failed[name] = str(error).splitlines()[0] if str(error) else type(error).__name__
            continue
        first = first or result
        differences[name] = difference(first, result)
        bar.show(done, f"{name} compiled")
    times = {name: [] for name in differences}
    # One after another in each round, so that what else the machine does meets all alike.
    for turn in range(options.rounds + 2):
        for name in times:
            start = time.perf_counter()
            runs[name]()
            if turn >= 2:
                times[name].append(time.perf_counter() - start)
        if turn >= 2:
            bar.show(len(runs) + turn - 1, f"round {turn - 1}")
    return [(name, differences[name], 1e3 * float(np.median(one))) for name, one in times.items()], failed
