# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.export: a model with its weights in one file gives what the model gives."""

import copy

import pytest
import torch
from torch import nn

import drawloom
import drawloom.torch

U32 = 2.0**-24


class Residual(nn.Module):
    """Everything that a file must keep: tied weights, buffers, statistics, a weight that is no leaf."""

    def __init__(self):
        super().__init__()
        self.norm, self.first = nn.BatchNorm1d(12), nn.utils.parametrizations.weight_norm(nn.Linear(12, 40))
        self.second, self.third = nn.Linear(40, 40), nn.Linear(40, 40)
        self.third.weight = self.second.weight
        self.register_buffer("scale", torch.tensor(0.5))
        self.drop, self.last = nn.Dropout(0.9), nn.Linear(40, 3)

    def forward(self, x):
        y = torch.nn.functional.gelu(self.first(self.norm(x)))
        y = y + self.scale * self.third(self.drop(torch.relu(self.second(y))))
        return self.last(y), y.mean(-1)


@pytest.fixture
def residual():
    torch.manual_seed(0)
    model = Residual()
    with torch.no_grad():
        model(torch.randn(50, 12) * 3 + 1)  # Statistics that are not those of a new module.
    return model


def bound(model, *inputs):
    """How far float32 may be from float64: twice what eager's own results are, and one rounding."""
    exact = copy.deepcopy(model).double().eval()(*[one.double() for one in inputs])
    eager = copy.deepcopy(model).eval()(*inputs)
    return exact, [2 * (a - b).abs().max() + U32 * b.abs().max() for a, b in zip(eager, exact)]


@pytest.mark.parametrize("rows", [1, 7, 4096])
def test_any_number_of_rows_gives_what_the_model_gives(residual, tmp_path, rows):
    drawloom.torch.export(residual, torch.zeros(2, 12), tmp_path / "net.drawloom", isa="native")
    x = torch.randn(rows, 12)
    exact, bounds = bound(residual, x)
    for given, wanted, most in zip(drawloom.load(tmp_path / "net.drawloom").forward(x), exact, bounds):
        assert (given - wanted).abs().max() <= most


def test_the_model_stays_as_it_is(residual, tmp_path):
    residual.norm.eval()
    before, modes = copy.deepcopy(residual.state_dict()), [one.training for one in residual.modules()]
    drawloom.torch.export(residual, torch.zeros(2, 12), tmp_path / "net.drawloom", isa="native")
    assert [one.training for one in residual.modules()] == modes and True in modes and False in modes
    assert all(torch.equal(one, before[name]) for name, one in residual.state_dict().items())


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_weights_of_each_type_keep_their_bits(dtype, tmp_path):
    layer = nn.Linear(5, 4).to(dtype)
    drawloom.torch.export(lambda x: x * layer.weight.shape[0], torch.zeros(1, 4, dtype=dtype), tmp_path / "function.drawloom", isa="native")
    drawloom.torch.export(Shift(layer.bias), torch.zeros(1, 4, dtype=dtype), tmp_path / "net.drawloom", isa="native")
    x = torch.zeros(3, 4, dtype=dtype)
    assert torch.equal(drawloom.load(tmp_path / "net.drawloom").forward(x), layer.bias.detach().expand(3, 4))


class Shift(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.bias = nn.Parameter(bias.detach().clone())

    def forward(self, x):
        return x + self.bias


@pytest.mark.parametrize("values", [[0.0, -0.0, float("inf"), -float("inf"), 1e-45, 3.4e38], [2.0] * 6, [-0.0] * 6])
def test_special_and_equal_numbers_keep_their_bits(values, tmp_path):
    model = Shift(torch.tensor(values))
    drawloom.torch.export(model, torch.zeros(1, 6), tmp_path / "net.drawloom", isa="native")
    given = drawloom.load(tmp_path / "net.drawloom").forward(torch.full((2, 6), -0.0))
    assert torch.equal(given.view(torch.int32), (torch.full((2, 6), -0.0) + model.bias.detach()).view(torch.int32))


def test_several_inputs_and_extents_of_a_row_stay(tmp_path):
    drawloom.torch.export(lambda x, y: (x * y.unsqueeze(-1)).sum(1), (torch.zeros(1, 3, 4), torch.zeros(1, 3)), tmp_path / "sum.drawloom",
                          entry="weighted", isa="native")
    x, y = torch.randn(9, 3, 4), torch.randn(9, 3)
    given = drawloom.load(tmp_path / "sum.drawloom").weighted(x, y)
    # Three products and two sums, each rounded once, in some order.
    assert ((given - (x * y.unsqueeze(-1)).sum(1)).abs() <= 2 * 5 * U32 * (x * y.unsqueeze(-1)).abs().sum(1)).all()


def test_an_op_of_ones_own_is_part_of_the_file(tmp_path):
    @drawloom.torch.op
    def gated(x, gate, up):
        return torch.sigmoid(x @ gate) * (x @ up)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.up = (nn.Parameter(torch.randn(6, 5)) for _ in range(2))

        def forward(self, x):
            return torch.relu(gated(torch.sin(x), self.gate, self.up))

    model, x = Model(), torch.randn(9, 6)
    drawloom.torch.export(model, x, tmp_path / "net.drawloom", isa="native")
    # The op and the file are programs of the same calls, one of them with sin and relu as further ones: their products are rounded alike or
    # in another order, 6 products and sums in each of two, which sigmoid carries on by at most 1/4.
    exact = copy.deepcopy(model).double()(x.double())
    terms = (x.double().sin().abs() @ model.gate.double().abs() / 4 + 1) * (x.double().sin().abs() @ model.up.double().abs())
    assert ((drawloom.load(tmp_path / "net.drawloom").forward(x) - exact).abs() <= 16 * U32 * terms).all()


def test_modules_of_drawloom_are_part_of_the_file(tmp_path):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.mlp = nn.LayerNorm(8), drawloom.torch.nn.FusedMLP(8, 4, width=16, hidden_layers=2, activation="rational")
            self.kan = drawloom.torch.nn.KANLayer(4, 3, basis="chebyshev", functions=6)

        def forward(self, x):
            return self.kan(self.mlp(self.norm(x))).softmax(-1)

    model, x = Model().double(), torch.randn(30, 8, dtype=torch.float64)
    drawloom.torch.export(model, x, tmp_path / "net.drawloom", isa="native")
    # Probabilities: what is behind the softmax rounds by as many units as all sums of a row have products, four layers of 16 or fewer and a KAN of 24,
    # times slopes below 4 from layer to layer.
    assert (drawloom.load(tmp_path / "net.drawloom").forward(x) - model(x)).abs().max() <= 2.0**-53 * 4**4 * (4 * 16 + 24)


@pytest.mark.parametrize("model, inputs, said", [
    (nn.Sequential(nn.Linear(4, 4), nn.Softmax(0)), torch.zeros(2, 4), "Sequential is no function of rows"),
    (nn.Embedding(5, 4), torch.zeros(2, 3, dtype=torch.int64), "Embedding is no function of rows"),
    (lambda x: torch.zeros(4), torch.zeros(2, 4), "is no function of rows"),
    (nn.Linear(4, 4), torch.zeros(2, 4, dtype=torch.complex64), "argument 0 is complex64"),
    (nn.Linear(4, 4), torch.zeros(()), "argument 0 is a scalar")])
def test_what_cannot_be_written_is_said(model, inputs, said, tmp_path):
    with pytest.raises((drawloom.CallError, drawloom.CallTypeError), match=said):
        drawloom.torch.export(model, inputs, tmp_path / "net.drawloom")
    assert not (tmp_path / "net.drawloom").exists()


def test_wrong_arguments_are_named(tmp_path):
    for arguments, said in [((3, torch.zeros(1, 2)), "not a int"), ((nn.Linear(2, 2), [3]), "argument 0 is a int")]:
        with pytest.raises(drawloom.CallTypeError, match=said):
            drawloom.torch.export(*arguments, tmp_path / "net.drawloom")
    with pytest.raises(drawloom.CallTypeError, match="entry is '1x'"):
        drawloom.torch.export(nn.Linear(2, 2), torch.zeros(1, 2), tmp_path / "net.drawloom", entry="1x")
    with pytest.raises(drawloom.FileError, match="folder/net.drawloom"):
        drawloom.torch.export(nn.Linear(2, 2), torch.zeros(1, 2), tmp_path / "folder" / "net.drawloom")


def test_arguments_have_the_names_of_the_models_own(residual, tmp_path):
    drawloom.torch.export(residual, torch.zeros(2, 12), tmp_path / "net.drawloom", isa="native")
    forward, x = drawloom.load(tmp_path / "net.drawloom").forward, torch.randn(7, 12)
    assert forward.argument_names == ["x"] and forward.result_names == ["", ""]
    assert all(torch.equal(a, b) for a, b in zip(forward(x=x), forward(x)))
    with pytest.raises(drawloom.CallTypeError, match="@forward has no argument 'input'; it has x"):
        forward(input=x)
