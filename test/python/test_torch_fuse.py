# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.fuse in modules with a forward of their own: the same outputs, gradients and state, or left alone with the reason."""

import copy
import pickle
import random

import drawloom.torch as dt
import pytest
import torch
from torch import nn
from torch.nn import functional as F


class Mlp(nn.Module):
    """The feed-forward part of a transformer, as timm and others write it."""

    def __init__(self, width=8, hidden=32, drop=0.0, act=nn.GELU):
        super().__init__()
        self.fc1, self.act, self.drop1 = nn.Linear(width, hidden), act(), nn.Dropout(drop)
        self.norm = nn.Identity()
        self.fc2, self.drop2 = nn.Linear(hidden, width), nn.Dropout(drop)

    def forward(self, x):
        x = self.fc1(x)
        x = self.act(x)
        x = self.drop1(x)
        x = self.norm(x)
        x = self.fc2(x)
        x = self.drop2(x)
        return x


class Block(nn.Module):
    """A transformer's block: attention, residuals, and the layers of its feed-forward part inside."""

    def __init__(self):
        super().__init__()
        self.heads, self.scale = 2, 0.5
        self.norm1, self.qkv, self.proj = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)
        self.norm2, self.up, self.down = nn.LayerNorm(8), nn.Linear(8, 32), nn.Linear(32, 8)

    def forward(self, x, mask=None):
        n, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(n, t, 3, self.heads, 4).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * self.scale).softmax(-1)
        x = x + self.proj((weights @ v).transpose(1, 2).reshape(n, t, c))
        return x + self.down(F.silu(self.up(self.norm2(x))))


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.mlp = Mlp()
        self.head = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(self.mlp(x))


def agree(model, fused, *shape):
    """The same outputs, and gradients of the input and of all parameters."""
    found = []
    for one in (model, fused):
        x = torch.randn(*shape, generator=torch.Generator().manual_seed(3)).requires_grad_()
        one.zero_grad()
        y = one(x)
        y.sin().sum().backward()
        found.append([y.detach(), x.grad, *(p.grad.clone() for p in one.parameters() if p.grad is not None)])
    assert len(found[0]) == len(found[1])
    for one, other in zip(*found):
        torch.testing.assert_close(other, one, rtol=2e-5, atol=2e-5)


def programs(fused, *shape):
    """How many fused chains a call runs."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        fused(torch.randn(*shape))
    return sum(event.count for event in profile.key_averages() if event.key == "drawloom::fused_mlp")


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def test_chains_of_modules_and_of_functions_are_fused(capsys):
    model = Tower()
    fused = dt.fuse(model)
    said = capsys.readouterr().out
    assert "blocks.0.up to blocks.0.down is one program now: 8 -> 32 -> 8" in said
    assert "mlp.fc1 to mlp.fc2 is one program now: 8 -> 32 -> 8" in said
    assert "head[0:3] is one program now" in said
    assert "blocks.0.qkv and 3 more stay as they are: it is a single layer" in said
    agree(model, fused, 2, 5, 8)
    assert programs(fused, 2, 5, 8) == 4 and programs(model, 2, 5, 8) == 0
    assert list(fused.state_dict()) == list(model.state_dict())
    assert [name for name, _ in fused.named_modules()] == [name for name, _ in model.named_modules()]
    assert all(p is q for p, q in zip(fused.parameters(), model.parameters()))
    assert type(model.mlp) is Mlp and isinstance(fused.mlp, Mlp)


def test_copies_and_files_of_a_fused_model_are_models_of_their_own():
    fused = dt.fuse(Tower(), verbose=False)
    for other in (copy.deepcopy(fused), pickle.loads(pickle.dumps(fused))):
        assert programs(other, 1, 4, 8) == 4
        agree(fused, other, 2, 5, 8)
        with torch.no_grad():
            other.mlp.fc1.weight.add_(1)
        assert not torch.equal(other(torch.ones(1, 4, 8)), fused(torch.ones(1, 4, 8)))
    assert dt.fuse(fused, inplace=True, verbose=False) is fused and programs(fused, 1, 4, 8) == 4


def test_a_fused_forward_follows_its_module():
    fused = dt.fuse(Mlp(), verbose=False)
    assert programs(fused, 3, 8) == 1
    x, seen = torch.randn(3, 8), []
    # A hook that comes later sees what it would have seen.
    handle = fused.act.register_forward_hook(lambda *_: seen.append(1))
    assert programs(fused, 3, 8) == 0 and seen
    handle.remove()
    assert programs(fused, 3, 8) == 1

    class Adapted(nn.Linear):
        def forward(self, x):
            return super().forward(x) + 1

    fused.fc1 = Adapted(8, 32)
    torch.testing.assert_close(fused(x), fused.fc2(F.gelu(fused.fc1(x))))
    block = Block()
    fused = dt.fuse(block, verbose=False)
    fused.scale = block.scale = 2.0
    agree(block, fused, 2, 5, 8)
    assert programs(fused, 2, 5, 8) == 0
    torch.testing.assert_close(fused(x[None], mask=None), block(x[None], None))


def test_the_compiler_of_torch_takes_a_fused_module():
    model = Mlp()
    fused = dt.fuse(model, verbose=False)
    torch._dynamo.reset()
    x = torch.randn(5, 8)
    torch.testing.assert_close(torch.compile(fused, backend="eager", fullgraph=True)(x), model(x))


def test_layers_with_hooks_or_dropout_stay(capsys):
    model = nn.ModuleDict({"hooked": Mlp(), "drops": Mlp(drop=0.5)})
    seen = []
    model["hooked"].fc2.register_forward_hook(lambda *_: seen.append(1))
    fused = dt.fuse(model)
    said = capsys.readouterr().out
    assert "hooked.fc1 stays as it is: a module in it has hooks, parametrizations or a forward of its own" in said
    assert ("drops.fc1 and 1 more stay as they are: it is a single layer: Dropout(p=0.5) draws random numbers between the layers; of a model "
            "in eval() it does not") in said
    fused["hooked"](torch.zeros(1, 8))
    assert seen and type(fused["drops"]) is Mlp


@pytest.mark.parametrize("drop", [nn.Dropout, nn.AlphaDropout, nn.FeatureAlphaDropout, nn.Dropout1d])
def test_dropout_is_the_identity_of_a_model_that_is_evaluated(drop, capsys):
    def sequential():
        return nn.Sequential(nn.Linear(8, 32), nn.ReLU(), drop(0.5), nn.Linear(32, 8), drop(0.5))

    x = torch.randn(5, 8)
    for model, kind in ((sequential().eval(), "FusedSequential"), (Mlp(drop=0.5).eval(), "FusedMlp")):
        fused = dt.fuse(model)
        assert type(fused).__name__ == kind and "is one program now: 8 -> 32 -> 8" in capsys.readouterr().out
        torch.testing.assert_close(fused(x), model(x))
        # In training numbers are drawn as before.
        fused.train()
        torch.manual_seed(1)
        drawn = fused(x)
        model.train()
        torch.manual_seed(1)
        torch.testing.assert_close(drawn, model(x))
        model.eval()
        assert not torch.allclose(drawn, model(x))


def test_shared_layers_are_fused_and_their_gradients_added():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.out = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x):
            return self.out(torch.tanh(self.inner(torch.tanh(self.inner(x))))) + self.inner(x)

    model = Shared()
    fused = dt.fuse(model, verbose=False)
    assert programs(fused, 3, 8) == 1
    agree(model, fused, 3, 8)


def test_what_is_read_inside_of_a_chain_ends_it(capsys):
    class Inside(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x):
            h = F.relu(self.a(x))
            return self.c(F.relu(self.b(h))) + h

    model = Inside()
    fused = dt.fuse(model)
    assert "b to c is one program now" in capsys.readouterr().out
    agree(model, fused, 3, 8)


class Odd(nn.Module):
    """Two layers, and between them what a subclass says."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.flag, self.log, self.drop = nn.Linear(8, 8), nn.Linear(8, 8), True, [], nn.Dropout(0.5)


class Condition(Odd):
    def forward(self, x):
        x = F.relu(self.a(x))
        if self.flag:
            x = x * 2
        return self.b(x)


class DataDependent(Odd):
    def forward(self, x):
        return self.b(F.relu(self.a(x))) if x.sum() > 0 else x


class InAFunction(Odd):
    def forward(self, x):
        return self.b(helper(self.a(x), self.training))


def helper(x, training):
    return F.relu(x) + 1 if training else F.relu(x)


class Functional(Odd):
    def forward(self, x):
        return self.b(F.relu(self.a(F.dropout(x, 0.5, self.training))))


class NoGrad(Odd):
    def forward(self, x):
        with torch.no_grad():
            x = self.a(x)
        return self.b(F.relu(x))


class Decorated(Odd):
    @torch.no_grad()
    def forward(self, x):
        return self.b(F.relu(self.a(x)))


class Keeps(Odd):
    def forward(self, x):
        self.last = F.relu(self.a(x))
        return self.b(self.last)


class Logs(Odd):
    def forward(self, x):
        self.log.append(1)
        return self.b(F.relu(self.a(x)))


class Noise(Odd):
    def forward(self, x):
        return self.b(F.relu(self.a(x))) + torch.randn(8)


class Draws(Odd):
    def forward(self, x):
        return self.b(F.relu(self.a(x))) * random.random()


class ReadsAnother(Odd):
    def forward(self, x):
        return self.b(F.relu(self.a(x))) * self.drop.training


class Variable(Odd):
    def forward(self, *x):
        return self.b(F.relu(self.a(x[0])))


@pytest.mark.parametrize("kind, why", [
    (Condition, "has a condition"), (DataDependent, "cannot be traced"), (InAFunction, "has a condition"),
    (Functional, "not the same in training"), (NoGrad, "context manager"), (Decorated, "context manager"), (Keeps, "sets self.last"),
    (Logs, "self.log, which is neither"), (Noise, "makes tensors of its own"), (Draws, "or each time"),
    (ReadsAnother, "not the same in training"), (Variable, "variable number"),
], ids=lambda one: getattr(one, "__name__", ""))
@pytest.mark.parametrize("training", [True, False])
def test_a_forward_that_a_trace_does_not_show_is_left_alone(kind, why, training, capsys):
    model = kind().train(training)
    model.drop.train(not training)
    before = dict(model.__dict__)
    fused = dt.fuse(model, inplace=True)
    said = capsys.readouterr().out
    assert f"drawloom: the model stays as it is: " in said and why in said
    assert fused is model and type(model) is kind and model.__dict__ == before
    assert model.training == training and model.drop.training != training
    assert not model.log


def test_functions_are_the_activations_that_they_name():
    class Chain(nn.Module):
        def __init__(self, activation):
            super().__init__()
            self.a, self.b, self.activation = nn.Linear(8, 16), nn.Linear(16, 4), activation

        def forward(self, x):
            return self.b(self.activation(self.a(x)))

    for activation, count in [
            (F.relu, 1), (torch.relu, 1), (F.silu, 1), (F.gelu, 1), (torch.tanh, 1), (torch.sigmoid, 1),
            (lambda x: F.gelu(x, approximate="tanh"), 1), (F.leaky_relu, 1), (lambda x: F.leaky_relu(x, 0.3), 0), (F.elu, 1),
            (lambda x: F.elu(x, 2.0), 0), (F.softplus, 1), (lambda x: x.tanh(), 1), (lambda x: x.sigmoid(), 1), (torch.sin, 0),
            (lambda x: F.relu(x, inplace=True), 1)]:
        model = Chain(activation)
        fused = dt.fuse(model, verbose=False)
        assert programs(fused, 3, 8) == count, activation
        agree(model, fused, 3, 8)
