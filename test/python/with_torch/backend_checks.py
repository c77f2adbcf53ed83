# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of torch.compile(model, backend="drawloom") share: results and gradients beside those of eager execution."""

import pytest
import torch

from drawloom.torch import _backend

EAGER = {"rest": "eager"}


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


@pytest.fixture
def small(monkeypatch):
    """Programs of few rows, too, so that tests are quick."""
    monkeypatch.setattr(_backend, "_FEWEST", 0)


def gradients(function, module, inputs):
    """Results, and the gradients of their squares with respect to inputs and parameters."""
    leaves = [one.detach().clone().requires_grad_(one.is_floating_point()) for one in inputs]
    results = function(*leaves)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    for one in module.parameters():
        one.grad = None
    sum(one.square().sum() for one in results).backward()
    return results + [one.grad for one in (*leaves, *module.parameters())]


# Roundings of a model here: some thirty calls, each of some thirty operations on an element or a sum of as many.
ROUNDINGS = 1000


def assert_same(module, inputs, eps=2.0 ** -53):
    """Values and gradients are those of eager execution. Each rounding is a relative change of at most `eps` of a number on the way; how far such
    changes carry is measured, by changes of the inputs and parameters that are well above rounding."""
    found = gradients(torch.compile(module, backend="drawloom", options=EAGER), module, inputs)
    expected = gradients(module, module, inputs)
    parameters, step = [one.detach().clone() for one in module.parameters()], 2.0 ** 10 * eps

    def move(tensor):
        return tensor * (1 + step * torch.sign(torch.randn_like(tensor))) if tensor.is_floating_point() else tensor

    def set_parameters(values):
        with torch.no_grad():
            for one, value in zip(module.parameters(), values):
                one.copy_(value)

    set_parameters(map(move, parameters))
    nearby = gradients(module, module, [move(one) for one in inputs])
    set_parameters(parameters)
    # What reaches one result passes through the same numbers as what reaches another.
    reach = max(((one - other).abs().max() / (step * (1 + other.abs().max()))).item() for one, other in zip(nearby, expected) if one is not None)
    for one, other in zip(found, expected):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype and one.shape == other.shape
            assert (one - other).abs().max() <= ROUNDINGS * eps * (1 + reach) * (1 + other.abs().max())
