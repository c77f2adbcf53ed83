# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of pykan and inkan, computed by Drawloom: what they give stays what it is, and their own methods work."""

import os

os.environ.setdefault("MPLBACKEND", "Agg")

import inkan  # noqa: E402
import kan  # noqa: E402
import pytest  # noqa: E402
import torch  # noqa: E402

import drawloom.torch as dt  # noqa: E402


@pytest.fixture
def patched(tmp_path, monkeypatch):
    """Both packages patched; pykan writes into the folder that it runs in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    assert {"pykan", "inkan"} <= set(dt.patch_kan())
    yield
    dt.unpatch_kan()


def computed(name):
    return dt.patch_kan_report()["computed"].get(name, 0)


def both(run, name):
    """What a function gives patched and not, and how many calls of the layer Drawloom has computed."""
    before = computed(name)
    ours = run()
    calls = computed(name) - before
    dt.unpatch_kan()
    theirs = run()
    dt.patch_kan()
    return ours, theirs, calls


def gradients(model, x):
    y = model(x)
    return [y, *torch.autograd.grad(y.sin().sum(), [one for one in model.parameters() if one.requires_grad], allow_unused=True)]


def assert_same(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("base", ["silu", "identity", torch.sin])
def test_pykans_layers_and_gradients(patched, base):
    torch.set_default_dtype(torch.float64)
    try:
        model = kan.KAN(width=[3, [4, 2], 2], grid=[4, 7], k=3, base_fun=base, auto_save=False, seed=1).speed()
        with torch.no_grad():
            model.act_fun[0].mask[0, 1] = 0
        x = torch.rand(50, 3) * 3 - 1.5
        ours, theirs, calls = both(lambda: gradients(model, x), "pykan.KANLayer")
    finally:
        torch.set_default_dtype(torch.float32)
    assert calls == 2
    assert_same(ours, theirs)


def test_pykans_fit_refine_prune_and_plot(patched):
    def run():
        # It seeds what draws.
        data = kan.create_dataset(lambda x: torch.exp(torch.sin(torch.pi * x[:, [0]]) + x[:, [1]] ** 2), n_var=2, train_num=200, test_num=50, seed=1)
        data = {name: one.double() for name, one in data.items()}
        model = kan.KAN(width=[2, 3, 1], grid=5, k=3, seed=0, auto_save=False).double()
        model.fit(data, opt="Adam", steps=12, lamb=0.0, log=100)
        model = model.refine(8)
        model.fit(data, opt="Adam", steps=6, lamb=0.0, lr=1e-3, log=100)
        model(data["train_input"])
        model = model.prune()
        model.plot(folder="pictures")
        model.fit(data, opt="Adam", steps=3, lamb=1e-3, log=100)
        return [model(data["test_input"]), *model.state_dict().values()]

    torch.set_default_dtype(torch.float64)
    try:
        ours, theirs, calls = both(run, "pykan.KANLayer")
    finally:
        torch.set_default_dtype(torch.float32)
    assert calls > 20
    # A gradient is a sum of 200 rows, off by as many roundings of its size, 1 at most. Adam divides it by the root of its squares and 1e-8: where it
    # vanishes, each of 21 steps (of 1 at most) may differ by its roundings over 1e-8.
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=21 * 200 * 2.0**-53 / 1e-8)


def test_pykan_keeps_the_values_of_edges_where_they_are_asked_for(patched):
    model = kan.KAN(width=[2, 2], grid=3, k=2, auto_save=False)
    model(torch.rand(5, 2))
    assert model.spline_postacts[0].shape == (5, 2, 2)
    assert any("save_act" in reason for _, reason in dt.patch_kan_report()["left"])


@pytest.mark.parametrize("grid, activation", [(5, torch.nn.SiLU), (1, torch.nn.GELU), (40, torch.nn.Mish)])
def test_inkans_layers_and_gradients(patched, grid, activation):
    torch.manual_seed(0)
    layer = inkan.KANLayer(4, 3, grid_size=grid, base_activation=activation, grid_range=(-0.5, 2.0), compile_basis=False).double()
    ours, theirs, calls = both(lambda: gradients(layer, torch.rand(30, 4, generator=torch.Generator().manual_seed(1)).double() * 3 - 0.9),
                               "inkan.KANLayer")
    assert calls == 1
    assert_same(ours, theirs)


def test_unpatching_gives_the_packages_back(patched):
    theirs = inkan.KANLayer.forward
    dt.unpatch_kan()
    assert inkan.KANLayer.forward is not theirs and not hasattr(inkan.KANLayer.forward, "__wrapped__")
