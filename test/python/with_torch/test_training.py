# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch in training: modules, the optimizer, fuse(), torch.compile and export, checkpoints, AMP."""

import copy

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import drawloom.torch as dt


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(3)


MODULES = {
    "rational": (lambda: dt.nn.Rational(16, groups=4), 16),
    "rational relu": (lambda: dt.nn.Rational(16, groups=2, degrees=(3, 2), form="abs_sum_eps", init="relu"), 16),
    "fused": (lambda: dt.nn.FusedMLP(8, 3, width=16, hidden_layers=2), 8),
    "fused rational": (lambda: dt.nn.FusedMLP(8, 3, width=16, hidden_layers=2, activation="rational", bias=False), 8),
    "gr-kan": (lambda: dt.nn.GRKAN(16, 5), 16),
    "encoding": (lambda: nn.Sequential(dt.nn.FrequencyEncoding(3), dt.nn.FusedMLP(12, 1, width=16, hidden_layers=1)), 2),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_train_and_are_saved(name):
    make, channels = MODULES[name]
    model, x = make(), torch.randn(32, channels)
    target = torch.randn_like(model(x))
    optimizer = dt.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.95 * losses[0]
    other = make()
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(x), model(x)) and torch.equal(copy.deepcopy(model)(x), model(x))


@pytest.mark.parametrize("make, words", [
    (lambda: dt.nn.FusedMLP(5, 3, width=8, hidden_layers=-1), "hidden_layers is -1; it is a number from 0"),
    (lambda: dt.nn.FusedMLP(5, 3, width=0), "width is 0; it is a number from 1"),
    (lambda: dt.nn.FusedMLP(5, 3.0), "out_features is 3.0; it is a number from 1"),
    (lambda: dt.nn.FusedMLP(5, 3, activation="rleu"), "FusedMLP: activation is 'rleu' (did you mean 'relu'?)"),
    (lambda: dt.nn.FusedMLP(5, 3, output_activation="rational"), "FusedMLP: output_activation is 'rational'; it is one of none, relu"),
    (lambda: dt.nn.FusedMLP(5, 3, activation="rational", form="sum"), "the form is 'sum'; it is one of abs_terms"),
    (lambda: dt.nn.Rational(10), "Rational: 8 groups do not divide 10 channels"),
    (lambda: dt.nn.FrequencyEncoding(0), "octaves is 0; it is 1 to 64"),
])
def test_what_a_module_cannot_compute_is_refused_when_it_is_made(make, words):
    with pytest.raises(dt.functional.CallError) as caught:
        make()
    assert words in str(caught.value)


def test_a_module_of_one_layer_has_no_hidden_ones():
    model, x = dt.nn.FusedMLP(5, 3, hidden_layers=0), torch.randn(2, 5)
    torch.testing.assert_close(model(x), nn.functional.linear(x, model.weights[0], model.biases[0]))


@pytest.mark.parametrize("init, target", [("silu", nn.functional.silu), ("gelu", nn.functional.gelu), ("tanh", torch.tanh),
                                          ("relu", torch.relu), ("sigmoid", torch.sigmoid), ("identity", lambda x: x)])
def test_a_rational_starts_as_the_activation_that_it_names(init, target):
    x = torch.linspace(-3, 3, 101)[:, None].repeat(1, 8)
    for form in ("abs_terms", "abs_sum", "abs_sum_eps", "unsafe"):
        y = dt.nn.Rational(8, init=init, form=form)(x)
        # A kink is not met by a rational; 0.076 is the distance of the least-squares fit of degrees (5, 4).
        assert (y - target(x)).abs().max() < (0.08 if init == "relu" else 4e-3)


def test_gr_kan_keeps_the_variance():
    y = dt.nn.GRKAN(512, 256)(torch.randn(4096, 512))
    assert 0.9 < y.var() < 1.1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_adamw_is_torchs(dtype):
    # Sizes that are no multiple of a piece, one beyond the largest, one with strides of its own.
    shapes = [(3,), (70001,), (128, 64), (5, 7), ()]
    start = [torch.randn(shape, dtype=dtype) for shape in shapes] + [torch.randn(6, 9, dtype=dtype).t()]
    ours, theirs = [[nn.Parameter(p.clone()) for p in start] for _ in range(2)]
    groups = dict(lr=1e-2, betas=(0.8, 0.95), eps=1e-6)
    a = dt.optim.AdamW([{"params": ours[:2]}, {"params": ours[2:], "weight_decay": 0.2}], **groups)
    b = torch.optim.AdamW([{"params": theirs[:2]}, {"params": theirs[2:], "weight_decay": 0.2}], **groups)
    schedules = [torch.optim.lr_scheduler.ExponentialLR(o, 0.9) for o in (a, b)]
    for i in range(6):
        for p, q in zip(ours, theirs):
            p.grad = torch.randn_like(p)
            q.grad = p.grad.clone()
        if i == 3:  # States go both ways.
            states = copy.deepcopy(a.state_dict()), copy.deepcopy(b.state_dict())
            a.load_state_dict(states[1])
            b.load_state_dict(states[0])
        for one in (a, b, *schedules):
            one.step()
    # The same formula; each of six updates is rounded a few times.
    epsilon = torch.finfo(dtype).eps
    for p, q in zip(ours, theirs):
        torch.testing.assert_close(p, q, rtol=64 * epsilon, atol=64 * epsilon)


def test_backward_through_what_adamw_has_changed_is_refused():
    p = nn.Parameter(torch.randn(5))
    y = (p * p).sum()
    y.backward(retain_graph=True)
    dt.optim.AdamW([p]).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_adamw_keeps_moments_of_bfloat16_in_float32():
    p = nn.Parameter(torch.randn(300, dtype=torch.bfloat16))
    optimizer = dt.optim.AdamW([p], lr=0.1)
    before = p.detach().clone()
    p.grad = torch.ones_like(p)
    optimizer.step()
    assert optimizer.state[p]["exp_avg"].dtype == torch.float32
    # The first step is lr times the sign, and the decay.
    torch.testing.assert_close(p.detach(), (before.float() * (1 - 0.1 * 0.01) - 0.1).bfloat16())


@pytest.mark.parametrize("make", [lambda p: dt.optim.AdamW([p], lr=-1), lambda p: dt.optim.AdamW([p], betas=(1.0, 0.9))])
def test_adamw_refuses_numbers_that_cannot_be(make):
    with pytest.raises(ValueError, match="AdamW"):
        make(nn.Parameter(torch.zeros(1)))


def test_adamw_refuses_gradients_that_it_cannot_use():
    p = nn.Parameter(torch.zeros(4, 2))
    p.grad = torch.sparse_coo_tensor([[1]], [[1.0, 2.0]], (4, 2))
    with pytest.raises(ValueError, match="sparse"):
        dt.optim.AdamW([p]).step()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.body = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Dropout(0.0), nn.Linear(32, 32), nn.GELU(),
                                  nn.Linear(32, 8), nn.Tanh())
        self.drop = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 8))
        self.wide = nn.Sequential(nn.Linear(8, 1024), nn.ReLU(), nn.Linear(1024, 8))

    def forward(self, x):
        return self.wide(self.drop(self.body(self.first(x))))


def test_fuse_replaces_chains_and_says_why_not(capsys):
    model = Net().eval()
    fused = dt.fuse(model)
    said = capsys.readouterr().out
    assert "first to drop is one program now: 4 -> 8 -> 32 -> 32 -> 8 -> 8 -> 8" in said
    assert "wide[0] and 1 more stay as they are: a layer has 1024 channels" in said
    assert "the model stays as it is" not in said
    x = torch.randn(10, 4)
    torch.testing.assert_close(fused(x), model(x))
    assert list(fused.state_dict()) == list(model.state_dict())
    assert all(p is q for p, q in zip(fused.parameters(), model.parameters()))
    assert type(model) is Net
    assert dt.fuse(model, inplace=True, verbose=False) is model and type(model) is not Net
    fused(x).sum().backward()
    assert model.body[0].weight.grad is not None


def test_fuse_leaves_dropout_in_training(capsys):
    dt.fuse(Net())
    said = capsys.readouterr().out
    assert "drop[0] stays as it is: it is a single layer: Dropout(p=0.5) draws random numbers" in said


def test_fuse_takes_activations_between_rationals():
    model = nn.Sequential(nn.Linear(4, 16), dt.nn.Rational(16), nn.Linear(16, 2))
    fused = dt.fuse(model, verbose=False)
    x = torch.randn(5, 4)
    torch.testing.assert_close(fused(x), model(x))


def test_fuse_leaves_layers_with_hooks(capsys):
    model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
    seen = []
    model[0].register_forward_hook(lambda *_: seen.append(1))
    dt.fuse(model)(torch.zeros(1, 2))
    assert seen and "hooks" in capsys.readouterr().out


def test_compile_has_one_graph_for_any_batch():
    model = nn.Sequential(dt.nn.FusedMLP(8, 8, width=16, hidden_layers=1, activation="silu"), dt.nn.Rational(8))
    torch._dynamo.reset()
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(model, fullgraph=True, dynamic=True, backend=backend)
    for rows in (2, 5, 33):
        x = torch.randn(rows, 8)
        y = compiled(x)
        torch.testing.assert_close(y, model(x))
        y.sum().backward()
    assert len(graphs) == 1


def test_compile_with_inductor_trains():
    model = nn.Sequential(nn.Linear(4, 8), dt.nn.Rational(8), nn.Linear(8, 1))
    torch._dynamo.reset()
    compiled, x = torch.compile(model, fullgraph=True), torch.randn(16, 4)
    compiled(x).square().mean().backward()
    gradients = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(x).square().mean().backward()
    for ours, plain in zip(gradients, [p.grad for p in model.parameters()]):
        torch.testing.assert_close(ours, plain)


def test_export_keeps_the_ops():
    model = dt.nn.FusedMLP(4, 2, width=8, hidden_layers=1)
    rows = torch.export.Dim("rows")
    program = torch.export.export(model, (torch.randn(3, 4),), dynamic_shapes=({0: rows},))
    assert "drawloom.fused_mlp" in str(program.graph)
    x = torch.randn(9, 4)
    assert torch.equal(program.module()(x), model(x))


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints_compute_the_same_gradients(reentrant):
    model, x = dt.nn.FusedMLP(4, 2, width=8, hidden_layers=1), torch.randn(3, 4, requires_grad=True)
    expected, = torch.autograd.grad(model(x).sum(), x)
    checkpoint(model, x, use_reentrant=reentrant).sum().backward()
    assert torch.equal(x.grad, expected)


def test_autocast_keeps_coefficients_in_float32():
    model = nn.Sequential(dt.nn.FusedMLP(4, 8, width=8, hidden_layers=1, activation="rational"), dt.nn.Rational(8))
    x = torch.randn(16, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = model(x)
    assert y.dtype == torch.bfloat16
    # Rounding of x, weights and two layers' results: a few times 2^-8 of numbers of size 1.
    torch.testing.assert_close(y.float(), model(x), rtol=0.05, atol=0.05)
    y.sum().backward()
    assert all(p.grad.dtype == torch.float32 for p in model.parameters())
