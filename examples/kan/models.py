# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two kinds of networks, and the optimizer that trains both."""

import itertools

import torch
from torch import nn

import drawloom.torch.nn


def splines(widths, grid, **options):
    """A network of B-splines on `grid` intervals, cubic ones unless `order` says another. It is one program, forward and backward."""
    return drawloom.torch.nn.BSplineKAN(widths, grid=grid, **options)


def perceptron(inputs, hidden, layers, outputs=1, activation=nn.Tanh):
    widths = [inputs, *[hidden] * layers]
    inner = itertools.chain.from_iterable((nn.Linear(n, m), activation()) for n, m in zip(widths, widths[1:]))
    return nn.Sequential(*inner, nn.Linear(hidden, outputs))


def size(model):
    return sum(one.numel() for one in model.parameters())


def perceptron_of_size(inputs, wanted, layers=2):
    """The one whose number of parameters is nearest to `wanted`."""
    def parameters(hidden):
        return (inputs + 1) * hidden + (layers - 1) * (hidden + 1) * hidden + hidden + 1

    hidden = min(range(1, max(wanted, 2)), key=lambda one: abs(parameters(one) - wanted))
    return perceptron(inputs, hidden, layers)


class Minimizer:
    """L-BFGS with a line search, on points that stay the same; `steps` gives the loss after some of its iterations."""

    def __init__(self, model, loss):
        self.evaluations, self._loss = 0, loss
        self._optimizer = torch.optim.LBFGS(model.parameters(), history_size=20, line_search_fn="strong_wolfe", tolerance_grad=0,
                                            tolerance_change=0)

    def _closure(self):
        self.evaluations += 1
        self._optimizer.zero_grad()
        loss = self._loss()
        loss.backward()
        return loss

    def steps(self, count):
        group = self._optimizer.param_groups[0]
        group["max_iter"], group["max_eval"] = count, count * 5 // 4
        return self._optimizer.step(self._closure).item()
