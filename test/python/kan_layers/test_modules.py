# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kolmogorov-Arnold networks as modules of torch."""

import copy

import pytest
import torch

import drawloom
from drawloom.torch import nn

NETWORKS = {
    "BSplineKAN": lambda: nn.BSplineKAN([3, 5, 2], grid=4),
    "BSplineKAN that learns its grid": lambda: nn.BSplineKAN([3, 5, 2], grid=4, order=2, learn_grid=True, bias=True),
    "FastKAN": lambda: nn.FastKAN([3, 5, 2], grid=4, learn_centers=True),
    "FasterKAN": lambda: nn.FasterKAN([3, 5, 2]),
    "ChebyKAN": lambda: nn.ChebyKAN([3, 5, 2], 3),
    "JacobiKAN": lambda: nn.JacobiKAN([3, 5, 2], 3, learn=True),
    "PolynomialKAN": lambda: nn.PolynomialKAN([3, 5, 2], basis="bernstein", normalizer="sigmoid", base="silu", bias=True),
    "FourierKAN": lambda: nn.FourierKAN([3, 5, 2], 3, smooth=True),
    "SineKAN": lambda: nn.SineKAN([3, 5, 2], 4),
    "WavKAN": lambda: nn.WavKAN([3, 5, 2], "morlet"),
    "ReLUKAN": lambda: nn.ReLUKAN([3, 5, 2]),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_train_every_parameter(name):
    torch.manual_seed(1)
    model = NETWORKS[name]()
    x, target = torch.rand(200, 3), torch.rand(200, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = (model(x) - target).square().mean()
        loss.backward()
        losses.append(loss.item())
        assert all(one.grad is not None and torch.isfinite(one.grad).all() and one.grad.abs().max() > 0 for one in model.parameters())
        optimizer.step()
    assert losses[-1] < 0.9 * losses[0]
    again = copy.deepcopy(model)
    again.load_state_dict(model.state_dict())
    assert torch.equal(again.eval()(x), model.eval()(x))


def test_layers_with_hooks_run_one_by_one():
    model = nn.ChebyKAN([3, 4, 2])
    x, seen = torch.rand(9, 3), []
    together = model(x)
    model.layers[1].register_forward_hook(lambda module, given, y: seen.append(y))
    torch.testing.assert_close(model(x), together)
    assert len(seen) == 1


def test_splines_begin_near_noise():
    torch.manual_seed(0)
    layer = nn.BSplineKANLayer(4, 6, grid=8, base=None, noise=0.1)
    y = layer(torch.linspace(-1, 0.99, 500)[:, None].repeat(1, 4))
    assert 0 < y.abs().max() < 4 * 4 * 0.1 / 16


@pytest.mark.parametrize("learn", [False, True])
def test_updating_a_grid_keeps_the_functions(learn):
    torch.manual_seed(2)
    layer = nn.BSplineKANLayer(3, 4, grid=5, learn_grid=learn, noise=3.0, dtype=torch.float64)
    x = torch.randn(4000, 3, dtype=torch.float64).clamp(-0.9, 0.9) ** 3
    before = layer(x)
    # Splines with the same pieces and more: the error is that of what lies between two knots of both.
    layer.update_grid(x, grid=20)
    assert layer.basis == "bspline" and layer.functions == 23 and layer.knots.shape == (27, 3)
    assert (layer(x) - before).abs().max() < 0.03 * before.abs().max()
    assert (layer.knots.diff(dim=0) > 0).all() and isinstance(layer.knots, torch.nn.Parameter) == learn
    # Once more with the same number of intervals: the parameter stays the same object.
    parameter = layer.coefficients
    layer.update_grid(x)
    assert layer.coefficients is parameter and (layer(x) - before).abs().max() < 0.03 * before.abs().max()


def test_updating_a_grid_follows_the_network():
    torch.manual_seed(3)
    model = nn.BSplineKAN([2, 4, 1], grid=6, dtype=torch.float64, noise=1.0)
    x = torch.rand(1000, 2, dtype=torch.float64)
    before = model(x)
    model.update_grid(x, grid=12)
    assert (model(x) - before).abs().max() < 0.02 * before.abs().max()


def test_a_convolution_is_its_layer_on_patches():
    torch.manual_seed(4)
    convolution = nn.KANConv2d(2, 3, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), layer=lambda n, m: nn.BSplineKANLayer(n, m, grid=4))
    x = torch.rand(5, 2, 8, 9)
    y = convolution(x)
    assert y.shape == (5, 3, 4, 7)
    padded = torch.nn.functional.pad(x, (0, 0, 1, 1))
    for row, column in ((0, 0), (1, 3), (3, 6)):
        patch = padded[:, :, 2 * row:2 * row + 3, column:column + 3:2]
        torch.testing.assert_close(y[:, :, row, column], convolution.layer(patch.reshape(5, -1)))


def test_a_wavelet_of_its_own_on_every_edge():
    layer = nn.WavKAN([2, 3], "mexican_hat", batch_norm=False)[0]
    with torch.no_grad():
        layer.translation.uniform_(-1, 1)
        layer.scale.uniform_(0.5, 2)
    x = torch.rand(6, 2)
    v = (x[:, :, None] - layer.translation) / layer.scale
    wavelet = 2 / (3**0.5 * torch.pi**0.25) * (1 - v * v) * torch.exp(-v * v / 2)
    torch.testing.assert_close(layer(x), (layer.coefficients * wavelet).sum(1))


def test_compiled_and_vectorized_calls_are_the_same():
    torch.manual_seed(5)
    model, x = nn.BSplineKAN([3, 4, 1]), torch.rand(7, 3)
    torch.testing.assert_close(torch.compile(model)(x), model(x))
    model, x = model.double(), x.double()
    hessian = torch.func.vmap(torch.func.hessian(lambda one: model(one).squeeze()))(x)
    assert hessian.shape == (7, 3, 3)
    torch.testing.assert_close(hessian, hessian.transpose(1, 2))


@pytest.mark.parametrize("make, message", [
    (lambda: nn.BSplineKAN([3]), "the widths are"),
    (lambda: nn.BSplineKAN([3, 2], order=0), "order is 0; it is a number from 1"),
    (lambda: nn.BSplineKAN([3, 2], grid_range=(1, 1)), "it is a lower and a higher number"),
    (lambda: nn.BSplineKAN([3, 2], grid_range=(0, float("nan"))), "it is a lower and a higher number"),
    (lambda: nn.FastKAN([3, 2], grid=1), "grid is 0; it is a number from 1"),
    (lambda: nn.WavKAN([3, 2], "haar"), "the wavelet is 'haar'"),
    (lambda: nn.KANConv2d(2, 3, 3)(torch.zeros(2, 3, 8, 8)), r"it is \[batch, 2, height, width\]"),
    (lambda: nn.BSplineKANLayer(3, 2).update_grid(torch.zeros(2, 3)), "5 intervals take 6 finite rows at least"),
])
def test_what_does_not_fit_is_an_error_that_says_what_would(make, message):
    with pytest.raises(drawloom.CallError, match=message):
        make()


@pytest.mark.parametrize("update", [False, True])
def test_fitted_coefficients_have_dense_strides(update):
    """torch.optim.LBFGS takes no others."""
    layer = nn.BSplineKANLayer(2, 3, grid=4)
    if update:
        layer.update_grid(torch.rand(50, 2), grid=6)
    optimizer = torch.optim.LBFGS(layer.parameters())

    def closure():
        optimizer.zero_grad()
        loss = layer(torch.linspace(-0.5, 0.5, 20).reshape(10, 2)).square().sum()
        loss.backward()
        return loss

    before = float(closure())
    optimizer.step(closure)
    assert float(closure()) < before
