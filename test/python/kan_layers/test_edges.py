# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions on the edges of Kolmogorov-Arnold layers: values, which matter, formulas."""

import copy

import pytest
import torch

import drawloom.torch as dt
from drawloom import CallError
from drawloom.torch import nn

LAYERS = {
    "splines": lambda: nn.BSplineKANLayer(3, 4, grid=5, bias=True, dtype=torch.float64),
    "learnt knots": lambda: nn.BSplineKANLayer(3, 4, grid=3, learn_grid=True, dtype=torch.float64),
    "Gaussians": lambda: nn.FastKAN([3, 4], dtype=torch.float64).layers[0],
    "Chebyshev": lambda: nn.ChebyKAN([3, 4], 5, dtype=torch.float64).layers[0],
    "wavelets by edge": lambda: nn.WavKAN([3, 4], dtype=torch.float64)[0],
    "sines": lambda: nn.SineKAN([3, 4], dtype=torch.float64).layers[0],
}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def rows(count=60):
    return torch.rand(count, 3, dtype=torch.float64) * 1.8 - 0.9


@pytest.mark.parametrize("kind", LAYERS)
def test_values_of_edges_add_up_to_the_layer(kind):
    layer, x = LAYERS[kind](), rows().reshape(6, 10, 3)
    values = layer.edge_values(x)
    assert values.shape == (6, 10, 3, 4)
    bias = 0 if layer.bias is None else layer.bias
    torch.testing.assert_close(values.sum(-2) + bias, layer(x))
    # An edge's values depend on its own input alone, but for a norm of all.
    if layer.normalizer != "layer_norm":
        moved = x.clone()
        moved[..., 1] += 0.05
        same = layer.edge_values(moved)
        assert torch.equal(same[..., [0, 2], :], values[..., [0, 2], :]) and not torch.equal(same[..., 1, :], values[..., 1, :])
    torch.testing.assert_close(layer.edge_scores(x), values.flatten(0, 1).std(0, unbiased=False))


@pytest.mark.parametrize("kind", LAYERS)
def test_pruned_edges_give_nothing_and_do_not_train(kind):
    layer, x = LAYERS[kind](), rows()
    values = layer.edge_values(x)
    keep = torch.rand(3, 4) > 0.4
    layer.prune_edges(keep)
    bias = 0 if layer.bias is None else layer.bias
    torch.testing.assert_close(layer(x), (values * keep).sum(-2) + bias)
    layer(x).square().sum().backward()
    assert not layer.coefficients.grad[:, ~keep].any() and layer.coefficients.grad[:, keep].any()
    if layer.base_weight is not None:
        assert not layer.base_weight.grad.T[~keep].any()


def test_networks_with_pruned_edges_are_saved_copied_and_compiled():
    network, x = nn.BSplineKAN([3, 4, 2], dtype=torch.float64), rows()
    network.layers[0].prune_edges(torch.rand(3, 4) > 0.5)
    wanted = network(x)
    other = nn.BSplineKAN([3, 4, 2], dtype=torch.float64)
    other.load_state_dict(network.state_dict())
    assert torch.equal(other(x), wanted)
    assert torch.equal(copy.deepcopy(network)(x), wanted)
    assert torch.equal(torch.compile(network, backend="aot_eager", fullgraph=True)(x), wanted)
    plain = nn.BSplineKAN([3, 4, 2], dtype=torch.float64)
    other.load_state_dict(plain.state_dict())
    assert other.layers[0].edges is None and torch.equal(other(x), plain(x))


FOUND = {"x^2": lambda x: 3 * (0.5 * x - 1)**2 + 2, "sin": lambda x: -torch.sin(4 * x + 0.5), "exp": lambda x: torch.exp(2 * x) - 5,
         "x": lambda x: 3 * x - 1, "0": lambda x: torch.full_like(x, 2.5), "tanh": lambda x: torch.tanh(3 * x - 1), "abs": lambda x: (x - 0.3).abs()}


@pytest.mark.parametrize("name", FOUND)
def test_formulas_are_found(name):
    x = torch.rand(1000, dtype=torch.float64) * 2 - 1
    found = dt.fit_symbolic(x, FOUND[name](x))[0]
    assert found.name == name and found.r2 > 1 - 1e-4
    # The share is of 400 points, evenly chosen of these: of all it is the same but for the points between, less than twice as much.
    left = (found.values(x) - FOUND[name](x)).square().mean()
    assert left <= 2 * (1 - found.r2 + 1e-9) * FOUND[name](x).var(unbiased=False) + 1e-18


def test_formulas_that_are_not_finite_at_the_points_are_not_taken():
    x = torch.linspace(-1, 1, 50, dtype=torch.float64)
    names = [one.name for one in dt.fit_symbolic(x, x.exp(), ["log", "sqrt", "exp"])]
    assert names[0] == "exp"
    assert all(one.r2 <= 1 + 1e-9 for one in dt.fit_symbolic(x, x.exp(), ["log", "sqrt", "1/x"]))


def test_a_network_becomes_a_formula():
    network, x = nn.BSplineKAN([2, 1], grid=8, order=3, base="silu", dtype=torch.float64), rows()[:, :2].contiguous()
    wanted = torch.sin(3 * x[:, :1]) + x[:, 1:] ** 2
    optimizer = torch.optim.LBFGS(network.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = (network(x) - wanted).square().mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    layer = network.layers[0]
    with pytest.raises(CallError, match="the edge from 0 to 0 of layer 0 has no formula"):
        network.formula()
    assert layer.snap_edge(x, 0, 0).name == "sin"
    assert layer.snap_edge(x, 1, 0, ["x", "x^2", "x^3"]).name == "x^2"
    # The nearest cubic spline of intervals h is within 5/384 h^4 of the largest fourth derivative, scale slope^4 of a sine and 0 of a parabola
    # (de Boor, A Practical Guide to Splines, V); least squares are at most 1 + 7 times as far in the largest difference (Shadrin 2001).
    sine, parabola = layer.symbols[0, 0], layer.symbols[1, 0]
    formula = sine.values(x[:, :1]) + parabola.values(x[:, 1:])
    assert (network(x) - formula).abs().max() <= 8 * 5 / 384 * 0.25**4 * abs(sine.scale) * sine.slope**4
    (text,) = network.formula(["a", "b"])
    assert "sin(" in text and "^2" in text and "a" in text and "b" in text
    before = layer.coefficients.detach().clone()
    optimizer.step(closure)
    assert torch.equal(layer.coefficients, before)
    layer.prune_edges(torch.tensor([[True], [False]]))
    assert "b" not in network.formula(["a", "b"])[0]


@pytest.mark.parametrize("build, message", [
    (lambda: nn.ChebyKAN([2, 3]).layers[0].prune_edges(torch.ones(3, 2, dtype=torch.bool)), "it is bool [2, 3]"),
    (lambda: nn.ChebyKAN([2, 3]).layers[0].snap_edge(torch.rand(5, 2), 0, 0), "computes functions of tanh(x)"),
    (lambda: nn.BSplineKANLayer(2, 3).snap_edge(torch.rand(5, 2), 2, 0), "i is 2; it is a number from 0 to 1"),
    (lambda: nn.BSplineKANLayer(2, 3).snap_edge(torch.rand(5, 2), 0, 0, ["cosh"]), "there is no 'cosh'"),
    (lambda: dt.fit_symbolic(torch.rand(5), torch.rand(4)), "[5] and [4]"),
    (lambda: nn.BSplineKAN([2, 1]).formula(["a"]), "there are 1 names, and 2 inputs"),
])
def test_what_is_wrong_is_said(build, message):
    with pytest.raises(CallError) as error:
        build()
    assert message in str(error.value)
