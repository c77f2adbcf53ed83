# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers with structured weights are torch.nn.Linear with the weight that they stand for, and train only their own parameters."""

import pytest
import torch

import drawloom.torch
from drawloom import CallError
from drawloom.structured import Term, concat, dense, diagonal, fold, hadamard, kronecker, permute, select
from drawloom.torch.nn import KroneckerLinear, LoRALinear, MonarchLinear, StructuredLinear

LAYERS = {
    "LoRA": lambda: LoRALinear(torch.nn.Linear(12, 8), r=3),
    "LoRA without a bias": lambda: LoRALinear(torch.nn.Linear(12, 8, bias=False), r=1, rslora=True),
    "Monarch": lambda: MonarchLinear(12, 8, 4),
    "Kronecker": lambda: KroneckerLinear((3, 4), (4, 2)),
    "diagonal": lambda: StructuredLinear(diagonal("d"), {"d": torch.nn.Parameter(torch.randn(12))}),
}


def trained(layer):
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    return layer


@pytest.mark.parametrize("kind", LAYERS)
def test_merged(kind):
    layer = trained(LAYERS[kind]()).double()
    x = torch.randn(2, 5, layer.in_features, dtype=torch.float64)
    torch.testing.assert_close(layer(x), layer.merge()(x))


@pytest.mark.parametrize("kind", LAYERS)
def test_gradients_have_the_parameters_shapes(kind):
    layer = trained(LAYERS[kind]())
    layer(torch.randn(3, layer.in_features)).sum().backward()
    assert all(parameter.grad.shape == parameter.shape for parameter in layer.parameters())


def test_lora_starts_as_its_base_and_freezes_it():
    base = torch.nn.Linear(12, 8)
    layer = LoRALinear(base, r=3, alpha=6)
    x = torch.randn(7, 12)
    torch.testing.assert_close(layer(x), base(x))
    assert {name for name, _ in layer.named_parameters()} == {"lora_a", "lora_b"}
    torch.nn.init.normal_(layer.lora_b)
    torch.testing.assert_close(layer.materialize(), base.weight + 2.0 * layer.lora_b @ layer.lora_a)


def test_state_dict_goes_both_ways():
    one, other = (trained(MonarchLinear(12, 8, 4)) for _ in range(2))
    other.load_state_dict(one.state_dict())
    x = torch.randn(3, 12)
    assert torch.equal(one(x), other(x))


def test_leaves_may_have_any_names():
    names = ["bias", "bias_", "weight", "training", "term", "_names"]
    leaves = {name: torch.nn.Parameter(torch.randn(4, 4)) for name in names}
    layer = StructuredLinear(sum((dense(name) for name in names[1:]), dense(names[0])), leaves, torch.nn.Parameter(torch.randn(4)))
    assert len(list(layer.parameters())) == 7
    x = torch.randn(3, 4)
    torch.testing.assert_close(layer(x), x @ sum(leaves.values()) + layer.bias)


def test_autocast_leaves_double_precision():
    w = torch.randn(4, 4)
    with torch.autocast("cpu", torch.bfloat16):
        assert drawloom.torch.structured_linear(torch.randn(3, 4), dense("w"), {"w": w}).dtype == torch.bfloat16
        assert drawloom.torch.structured_linear(torch.randn(3, 4).double(), dense("w"), {"w": w.double()}).dtype == torch.float64


def test_shared_terms_cost_no_more():
    term = dense("w")
    for _ in range(60):
        term = hadamard(term, term)
    assert term.shape({"w": (3, 4)}) == (3, 4) and hash(term) == hash(hadamard(*term.parts))


def test_trains():
    torch.manual_seed(0)
    layer, target = LoRALinear(torch.nn.Linear(12, 8), r=8), torch.nn.Linear(12, 8)
    optimizer = torch.optim.Adam(layer.parameters(), 0.05)
    x = torch.randn(64, 12)
    losses = []
    for _ in range(200):
        optimizer.zero_grad()
        loss = (layer(x) - layer.bias - target(x) + target.bias).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 1e-2 * losses[0]


def test_second_derivatives():
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    leaves = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 3), (2, 2))]
    term = kronecker(dense("c"), dense("d"))
    assert torch.autograd.gradgradcheck(lambda x, c, d: drawloom.torch.structured_linear(x, term, {"c": c, "d": d}), (x, *leaves))


def test_no_rows():
    layer = LoRALinear(torch.nn.Linear(12, 8), r=3)
    x = torch.randn(0, 12, requires_grad=True)
    y = layer(x)
    y.sum().backward()
    assert y.shape == (0, 8) and x.grad.shape == (0, 12) and not layer.lora_a.grad.any()


def test_any_number_of_rows_gives_the_same_bits():
    layer = trained(LoRALinear(torch.nn.Linear(12, 8), r=3))
    x = torch.randn(70, 12)
    whole = layer(x)
    assert all(torch.equal(layer(x[:rows]), whole[:rows]) for rows in (1, 2, 16, 65))


def test_what_does_not_fit_is_refused():
    w, a = torch.randn(8, 12), torch.randn(3, 12)
    x = torch.randn(2, 12)
    linear = drawloom.torch.structured_linear
    for refused, message in (
        (lambda: linear(x, dense("w"), {"w": w}), "x has 12 channels, but dense('w') takes 8"),
        (lambda: linear(x, (dense("w") @ dense("a")).T, {"w": w, "a": a}), "dense('w') gives 12 outputs, but dense('a') behind it takes 3"),
        (lambda: linear(x, (dense("w") + dense("a")).T, {"w": w, "a": a}), "dense('a') is 3 x 12, but dense('w') is 8 x 12"),
        (lambda: linear(x, dense("w").T, {}), "the leaf 'w' of dense('w').T is not given"),
        (lambda: linear(x, dense("w").T, {"w": w, "a": a}), "dense('w').T has no leaf 'a'"),
        (lambda: linear(x, dense("w").T, {"w": w}, association="best"), "association is 'best'; it is one of auto, parts, matrix"),
        (lambda: linear(x, dense("w").T, {"w": w}, torch.randn(7)), "bias has the shape [7], but dense('w').T gives 8 channels"),
        (lambda: linear(x, dense("w").T, {"w": torch.randn(0, 12)}), "has the shape [0, 12]; it is a matrix [K, N], of extents from 1"),
        (lambda: linear(x, diagonal("w"), {"w": w}), "the leaf 'w' of diagonal('w') has the shape [8, 12]; it is a vector [K]"),
        (lambda: concat(), "concat: there is no term"),
        (lambda: fold(12, 5), "12 elements are not 5 parts of one length"),
        (lambda: select(4, 10, 12), "4 elements from 10 on are no part of 12"),
        (lambda: permute([3, 4], [0, 0]), "does not have each dimension of [3, 4] once"),
        (lambda: dense("w") * float("nan"), "a term is scaled by a finite number"),
        (lambda: dense("two words"), "a leaf has a name"),
        (lambda: LoRALinear(torch.nn.Linear(12, 8), r=0), "r is 0; it is a number from 1"),
        (lambda: LoRALinear(torch.nn.Identity()), "the base is a torch.nn.Linear, not a Identity"),
        (lambda: MonarchLinear(12, 8, 5), "5 blocks do not divide 12 inputs and 8 outputs"),
    ):
        with pytest.raises(CallError) as caught:
            refused()
        assert message in str(caught.value)


def test_terms_are_read_as_they_were_written():
    from drawloom.structured import dumps, loads

    term = concat((dense("w") + 0.1 * (dense("b") @ dense("a"))).T, kronecker(diagonal("d"), permute([2, 3], [1, 0])))
    assert loads(dumps(term)) == term and isinstance(loads(dumps(term)), Term)
