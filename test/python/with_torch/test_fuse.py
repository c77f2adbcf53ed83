# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.fuse: modules that are functions of rows, and what of others is, give the same outputs, gradients and state, or are left
alone with the reason."""

import copy
import pickle
import random

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import drawloom.torch as dt


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
    """How many programs a call runs."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        fused(torch.randn(*shape))
    return sum(event.count for event in profile.key_averages() if event.key == "drawloom::vjp")


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def test_chains_of_modules_and_of_functions_are_fused(capsys):
    model = Tower()
    fused = dt.fuse(model)
    said = capsys.readouterr().out
    assert "blocks.0.up to blocks.0.down is one program now: 8 -> 32 -> 8" in said
    assert "mlp is one program now: 8 -> 32 -> 8" in said
    assert "head is one program now: 8 -> 16 -> 3" in said
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
    assert "hooked.fc2 stays as it is: a module in it has hooks, parametrizations or a forward of its own" in said
    assert ("drops.fc1 and 1 more stay as they are: it is a single layer: Dropout(p=0.5) draws random numbers; of a model "
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
            return self.c(F.relu(self.b(h))) + h.mean(0)

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
        return self.b(F.relu(self.a(x))) * (2.0 if self.drop.training else 3.0)


class Reads(Odd):
    def forward(self, x):
        return self.b(F.relu(self.a(x))) * (len(self.log) + 1.0)


class Catches(Odd):
    def forward(self, x):
        try:
            return self.b(F.relu(self.a(x)))
        except RuntimeError:
            return x


class Sizes(Odd):
    def forward(self, x):
        return self.b(F.relu(self.a(x))) if x.shape[0] > 100 else x


class Flat(Odd):
    def forward(self, x):
        return self.b(F.relu(self.a(x))).squeeze()


class Asks(Odd):
    def forward(self, x):
        return self.b(F.relu(self.a(x))) if x.requires_grad else x


class Pair(Odd):
    def forward(self, x):
        return self.b(F.relu(self.a(x))), x


class Two(Odd):
    def forward(self, x, y):
        if y is x:
            return self.b(F.relu(self.a(x)))
        return x


@pytest.mark.parametrize("kind, why", [
    (DataDependent, "sum: it goes over the rows"), (NoGrad, "no gradient goes through it"), (Decorated, "no gradient goes through it"),
    (Keeps, "sets self.last"), (Logs, "sets self.log"), (Noise, "randn: it draws random numbers"), (Draws, "not the same each time"),
    (Reads, "reads self.log, which is neither"), (Catches, "catches exceptions"), (Sizes, "depends on the number of rows"),
    (Asks, "its code asks for requires_grad"), (Two, "takes several arguments"),
], ids=lambda one: getattr(one, "__name__", ""))
@pytest.mark.parametrize("training", [True, False])
def test_a_forward_that_a_trace_does_not_show_is_left_alone(kind, why, training, capsys):
    model = kind().train(training)
    model.drop.train(not training)
    before = dict(model.__dict__)
    fused = dt.fuse(model, inplace=True)
    said = capsys.readouterr().out
    assert "drawloom: the model stays as it is: " in said and why in said
    assert fused is model and type(model) is kind and model.__dict__ == before
    assert model.training == training and model.drop.training != training
    assert not model.log


@pytest.mark.parametrize("kind", [Flat, Pair])
def test_what_is_in_front_of_what_is_no_function_of_rows_is_fused(kind, capsys):
    model = kind()
    fused = dt.fuse(model)
    assert "a to b is one program now: 8 -> 8 -> 8" in capsys.readouterr().out
    for rows in (1, 3):
        assert programs(fused, rows, 8) == 1
        x = torch.randn(rows, 8)
        torch.testing.assert_close(fused(x), model(x))


def test_functions_are_the_activations_that_they_name():
    class Chain(nn.Module):
        def __init__(self, activation):
            super().__init__()
            self.a, self.b, self.activation = nn.Linear(8, 16), nn.Linear(16, 4), activation

        def forward(self, x):
            return self.b(self.activation(self.a(x)))

    for activation, count in [
            (F.relu, 1), (torch.relu, 1), (F.silu, 1), (F.gelu, 1), (torch.tanh, 1), (torch.sigmoid, 1),
            (lambda x: F.gelu(x, approximate="tanh"), 1), (F.leaky_relu, 1), (lambda x: F.leaky_relu(x, 0.3), 1), (F.elu, 1),
            (lambda x: F.elu(x, 2.0), 1), (F.softplus, 1), (lambda x: x.tanh(), 1), (lambda x: x.sigmoid(), 1), (torch.sin, 1), (lambda x: x.cumsum(0), 0),
            (lambda x: F.relu(x, inplace=True), 1)]:
        model = Chain(activation)
        fused = dt.fuse(model, verbose=False)
        assert programs(fused, 3, 8) == count, activation
        agree(model, fused, 3, 8)


# --- any function of rows ---

class Gated(nn.Module):
    """The feed-forward part of LLaMA and of what follows it."""

    def __init__(self, width=16, hidden=48, act=F.silu, bias=False):
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(width, hidden, bias), nn.Linear(width, hidden, bias), nn.Linear(hidden, width, bias)
        self.act = act

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


class Norm(nn.Module):
    """RMSNorm as models write it."""

    def __init__(self, width):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.rand(width) + 0.5), 1e-6

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


class Residual(nn.Module):
    def __init__(self, norm, inner, drop=0.0):
        super().__init__()
        self.norm, self.inner, self.drop, self.scale = norm, inner, nn.Dropout(drop), 0.5

    def forward(self, x):
        return x + self.scale * self.drop(self.inner(self.norm(x)))


def close(found, wanted, roundings, dtype=torch.float64):
    """Within so many roundings of the largest number."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        assert one.shape == other.shape and one.dtype == other.dtype
        scale = max(float(other.detach().abs().max()), 1.0) if other.numel() else 1.0
        assert float((one - other).detach().abs().max() if one.numel() else 0.0) <= roundings * torch.finfo(dtype).eps * scale


def derivatives(model, x, second=True):
    """The output, its gradients, and those of the square of the gradient of x."""
    x = x.detach().clone().requires_grad_()
    parameters = [one for one in model.parameters() if one.requires_grad]
    y = model(x)
    # Of numbers that the two have in common: a sum of squares doubles what they differ by.
    weights = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).reshape(y.shape)
    first = torch.autograd.grad((y * weights).sum(), [x, *parameters], create_graph=second, allow_unused=True)
    assert [one is None for one in first] == [False] + [False] * len(parameters)
    found = [y.detach(), *[one.detach() for one in first]]
    if second:
        more = torch.autograd.grad(first[0].square().sum(), [x, *parameters], allow_unused=True)
        found += [torch.zeros_like(one) if grad is None else grad for one, grad in zip([x, *parameters], more)]
    return found


# Sums of some hundred numbers, and some layers of them.
ROUNDINGS = 4000

MODELS = {
    "swiglu": lambda: Gated(), "geglu": lambda: Gated(act=F.gelu, bias=True), "geglu_tanh": lambda: Gated(act=nn.GELU("tanh")),
    "pre_norm": lambda: Residual(nn.LayerNorm(16), Gated()), "rms_norm": lambda: Residual(nn.RMSNorm(16), Gated()),
    "own_norm": lambda: Residual(Norm(16), Mlp(16, 48)),
    "post_norm": lambda: nn.Sequential(Residual(nn.Identity(), Mlp(16, 48)), nn.LayerNorm(16), nn.Linear(16, 4)),
    "mixed": lambda: nn.Sequential(nn.Linear(16, 24), nn.Tanh(), nn.Linear(24, 24, bias=False), nn.Mish(), nn.Linear(24, 16), nn.Softplus(),
                                   nn.Linear(16, 3), nn.LogSoftmax(-1)),
    "in_place": lambda: nn.Sequential(nn.Linear(16, 24), nn.ReLU(inplace=True), nn.Linear(24, 16), nn.SiLU(inplace=True), nn.Linear(16, 8)),
    "batch_norm": lambda: nn.Sequential(nn.Linear(16, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 8)).eval(),
    "dropout": lambda: Residual(nn.LayerNorm(16), Mlp(16, 48, drop=0.3), drop=0.2).eval(),
    "rational": lambda: nn.Sequential(nn.Linear(16, 24), dt.nn.Rational(24), nn.Linear(24, 8), nn.Tanh(), nn.Linear(8, 8), dt.nn.Rational(8)),
    "a_stack": lambda: nn.Sequential(*[Residual(nn.RMSNorm(16), Gated()) for _ in range(2)]),
}


@pytest.mark.parametrize("name", MODELS)
def test_functions_of_rows_are_one_program(name, capsys):
    model = MODELS[name]().double()
    fused = dt.fuse(model)
    assert "drawloom: the model is one program now: " in capsys.readouterr().out
    assert list(fused.state_dict()) == list(model.state_dict())
    assert all(p is q for p, q in zip(fused.parameters(), model.parameters()))
    assert isinstance(fused, type(model)) and programs(fused.float(), 5, 16) == 1
    fused.double()
    x = torch.randn(6, 16, dtype=torch.float64)
    wide = torch.randn(6, 32, dtype=torch.float64)
    second = name in ("geglu", "rms_norm", "batch_norm")
    wanted = derivatives(model, x, second)
    # BatchNorm1d does not take every number of dimensions to be rows.
    given = {"rows": x, "strided": wide[:, ::2], "transposed": x.t().contiguous().t(), "one row": x[:1]}
    if name != "batch_norm":
        given |= {"three dimensions": x.reshape(2, 3, 16), "four": x.reshape(1, 3, 2, 16), "a row": x[0]}
    close(derivatives(fused, x, second), wanted, ROUNDINGS)
    for one in given.values():
        close(derivatives(fused, one, second), derivatives(model, one, second), ROUNDINGS)
    empty = fused(x[:0])
    assert empty.shape == model(x[:0]).shape
    with torch.no_grad():
        close([fused(x)], wanted[:1], ROUNDINGS)
        assert not fused(x).requires_grad
    with torch.inference_mode():
        close([fused(x)], wanted[:1], ROUNDINGS)


@pytest.mark.parametrize("name", ["swiglu", "rms_norm", "mixed", "batch_norm"])
def test_copies_files_and_half_precision(name):
    model = MODELS[name]()
    fused = dt.fuse(model, verbose=False)
    x = torch.randn(7, 16)
    for other in (copy.deepcopy(fused), pickle.loads(pickle.dumps(fused))):
        assert type(other) is type(fused) and programs(other, 5, 16) == 1
        close([other(x)], [model(x)], ROUNDINGS, torch.float32)
        assert not set(map(id, other.parameters())) & set(map(id, fused.parameters()))
    half, other = model.bfloat16(), copy.deepcopy(fused).bfloat16()
    exact = copy.deepcopy(model).double()
    x = x.bfloat16()
    # Each of up to a dozen steps rounds once, or not at all.
    close([other(x).double()], [exact(x.double())], 24, torch.bfloat16)
    assert other(x).dtype == half(x).dtype == torch.bfloat16
    if name != "batch_norm":
        model.float()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y, wanted = fused(x.float()), model(x.float())
        assert y.dtype == wanted.dtype
        close([y.double()], [wanted.double()], 24, torch.bfloat16)


def test_modes_are_followed():
    """Statistics are learned, and numbers drawn, as without fuse; a model that is evaluated again is a program again."""
    model = MODELS["batch_norm"]()
    model.insert(3, nn.Dropout(0.5))
    model.eval()
    fused, plain = dt.fuse(copy.deepcopy(model)), model
    x = torch.randn(20, 16)
    assert programs(fused, 20, 16) == 1
    for one in (fused, plain):
        one.train()
        torch.manual_seed(1)
        one.outcome = one(x)
    assert programs(fused, 20, 16) == 0
    plain(torch.randn(20, 16))
    fused[1].load_state_dict(plain[1].state_dict())
    assert torch.equal(fused.outcome, plain.outcome)
    fused.eval()
    plain.eval()
    assert programs(fused, 20, 16) == 1
    close([fused(x)], [plain(x)], ROUNDINGS, torch.float32)


@pytest.mark.parametrize("kind", [Condition, InAFunction, Functional, ReadsAnother])
def test_what_a_forward_reads_of_its_modules_is_followed(kind):
    model = kind().eval()
    fused = dt.fuse(model, verbose=False)
    x = torch.randn(3, 8)
    assert programs(fused, 3, 8) == 1
    for name, module in (("flag", None), ("training", None), ("training", "drop")):
        for one in (fused, model):
            part = one if module is None else one.get_submodule(module)
            setattr(part, name, not getattr(part, name))
        for one in (fused, model):
            torch.manual_seed(0)
            one.outcome = one(x)
        close([fused.outcome], [model.outcome], ROUNDINGS, torch.float32)


def test_a_fused_module_follows_changes_of_what_is_in_it():
    model = Residual(nn.LayerNorm(16), Gated())
    fused = dt.fuse(model, inplace=True, verbose=False)
    x, seen = torch.randn(4, 16), []
    assert programs(fused, 4, 16) == 1

    def check(count):
        assert programs(fused, 4, 16) == count
        h = fused.norm(x)
        wanted = x + fused.scale * fused.inner.down(fused.inner.act(fused.inner.gate(h)) * fused.inner.up(h))
        close([fused(x)], [wanted], ROUNDINGS, torch.float32)

    handle = fused.inner.up.register_forward_hook(lambda *_: seen.append(1))
    check(0)
    assert seen
    handle.remove()
    check(1)
    # Its own hooks are called around a program.
    handle = fused.register_forward_hook(lambda *_: seen.append(2))
    check(1)
    assert seen[-1] == 2
    handle.remove()
    fused.scale = 3.0
    check(1)
    fused.inner.act = F.gelu
    check(1)
    fused.inner.up = nn.Linear(16, 48)
    check(1)
    fused.norm = nn.Identity()
    check(1)
    nn.utils.parametrizations.weight_norm(fused.inner.down)
    check(0)
    fused.inner.gate.weight.requires_grad_(False)
    fused(x).sum().backward()
    assert fused.inner.gate.weight.grad is None and fused.inner.up.weight.grad is not None
    for step in range(40):
        # What is another one in each call is not traced for ever.
        fused.scale = float(step)
        fused(x)


def test_weights_may_be_tied_and_modules_called_twice():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.norm, self.unused = nn.Linear(8, 8), nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 8)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.norm(self.b(torch.tanh(self.a(self.norm(x)))))

    model = Tied().double()
    fused = dt.fuse(model, verbose=False)
    assert fused.a.weight is fused.b.weight is model.a.weight and programs(fused.float(), 3, 8) == 1
    fused.double()
    results = []
    for one in (model, fused):
        one.zero_grad()
        one(torch.linspace(-2, 3, 24, dtype=torch.float64).reshape(3, 8)).square().sum().backward()
        # What nobody reads has no gradient, not one of 0.
        assert one.unused.weight.grad is None
        results.append([p.grad.clone() for p in one.parameters() if p.grad is not None])
    close(*results, ROUNDINGS)
    fused.b.weight = nn.Parameter(torch.randn(8, 8, dtype=torch.float64))
    x = torch.randn(3, 8, dtype=torch.float64)
    close([fused(x)], [fused.norm(fused.b(torch.tanh(fused.a(fused.norm(x)))))], ROUNDINGS)


def test_transforms_of_functions_take_a_fused_module():
    model = Residual(nn.LayerNorm(16), Gated()).double()
    fused = dt.fuse(model, verbose=False)
    values = {name: one.detach() for name, one in model.named_parameters()}
    x = torch.randn(5, 16, dtype=torch.float64)

    def loss(one):
        return lambda values, x: torch.func.functional_call(one, values, (x,)).sin().sum()

    for transform in (torch.func.grad, lambda f: torch.func.vmap(torch.func.grad(f), in_dims=(None, 0)), lambda f: torch.func.jacrev(f)):
        found, wanted = (transform(loss(one))(values, x) for one in (fused, model))
        close([found[name] for name in values], [wanted[name] for name in values], ROUNDINGS)
    close([torch.func.jvp(fused, (x,), (x,))[1]], [torch.func.jvp(model, (x,), (x,))[1]], ROUNDINGS)
    found, wanted = (torch.func.vmap(torch.func.hessian(lambda x: one(x).sum()))(x) for one in (fused, model))
    close([found], [wanted], ROUNDINGS)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "drawloom"])
def test_a_compiled_fused_model_keeps_its_programs(backend):
    model = nn.Sequential(Residual(nn.LayerNorm(16), Gated(), drop=0.5).eval(), nn.Conv1d(4, 4, 1), nn.Linear(16, 24), nn.GELU(), nn.Linear(24, 8)).eval()
    fused = dt.fuse(model, verbose=False)
    torch._dynamo.reset()
    graphs = []

    def look(graph, inputs):
        graphs.append([str(node.target) for node in graph.graph.nodes])
        return graph

    torch.compile(fused, backend=look, fullgraph=True)(torch.randn(2, 4, 16))
    assert graphs[0].count("drawloom.vjp.default") == 2
    torch._dynamo.reset()
    compiled = torch.compile(fused, backend=backend, fullgraph=True)
    for rows in (2, 5):
        x = torch.randn(rows, 4, 16)
        close(derivatives(compiled, x, second=False), derivatives(model, x, second=False), ROUNDINGS, torch.float32)
    fused[0].scale = model[0].scale = 2.0
    close([compiled(x)], [model(x)], ROUNDINGS, torch.float32)
    fused[0].inner.act = model[0].inner.act = F.gelu
    close([compiled(x)], [model(x)], ROUNDINGS, torch.float32)
    if backend == "eager":
        found = []
        for one, module in ((compiled, fused), (model, model)):
            module.train()
            torch.manual_seed(1)
            found.append(one(x))
        close(found[:1], found[1:], ROUNDINGS, torch.float32)


def test_parts_of_transformers_are_programs(capsys):
    pytest.importorskip("transformers")
    from transformers.models.llama.modeling_llama import LlamaConfig, LlamaMLP
    from transformers.models.t5.modeling_t5 import T5Config, T5DenseGatedActDense, T5LayerFF
    from transformers.models.vit.modeling_vit import ViTConfig, ViTLayer

    llama = LlamaConfig(hidden_size=32, intermediate_size=80)
    t5 = T5Config(d_model=32, d_ff=80, feed_forward_proj="gated-gelu")
    for model in (LlamaMLP(llama), T5DenseGatedActDense(t5).eval(), T5LayerFF(t5).eval()):
        fused = dt.fuse(model)
        assert "the model is one program now: 3 products of at most 80 channels" in capsys.readouterr().out
        x = torch.randn(2, 3, 32)
        close(derivatives(fused, x, second=False), derivatives(model, x, second=False), ROUNDINGS, torch.float32)
    layer = ViTLayer(ViTConfig(hidden_size=32, intermediate_size=64, num_attention_heads=4, attn_implementation="eager")).eval()
    fused = dt.fuse(layer)
    assert "mlp is one program now: 32 -> 64 -> 32" in capsys.readouterr().out
    x = torch.randn(2, 3, 32)
    first = [one[0] if isinstance(one, tuple) else one for one in (fused(x), layer(x))]
    close(first[:1], first[1:], ROUNDINGS, torch.float32)


def test_the_head_of_a_network_of_images_is_a_program(capsys):
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    fused = dt.fuse(model)
    said = capsys.readouterr()
    assert "the model[4:7] is one program now: 8 -> 16 -> 4" in said.out and not said.err
    assert programs(fused, 2, 3, 6, 6) == 1
    agree(model, fused, 2, 3, 6, 6)


def random_model(draw):
    """Layers that have nothing to do with each other, one after another."""
    width, layers = 12, []
    for _ in range(draw.randint(3, 7)):
        kind = draw.randrange(8)
        if kind < 3:
            wide = draw.choice([4, 12, 20])
            layers.append(nn.Linear(width, wide, bias=draw.random() < 0.7))
            width = wide
        elif kind == 3:
            layers.append(draw.choice([nn.Tanh, nn.SiLU, nn.GELU, nn.Sigmoid, nn.Softplus, nn.Mish, nn.ELU, nn.Identity])())
        elif kind == 4:
            layers.append(draw.choice([nn.LayerNorm, nn.RMSNorm, nn.BatchNorm1d, lambda n: nn.GroupNorm(2, n)])(width))
        elif kind == 5:
            layers.append(Residual(nn.LayerNorm(width), Gated(width, 16)))
        elif kind == 6:
            layers.append(nn.Dropout(0.5))
        else:
            layers.append(nn.Sequential(nn.Linear(width, width), draw.choice([nn.ReLU, nn.Tanh])()))
    return nn.Sequential(*layers)


@pytest.mark.parametrize("number", range(6))
def test_random_models(number):
    model = random_model(random.Random(number)).double().eval()
    fused = dt.fuse(model, verbose=False)
    x = torch.randn(9, 12, dtype=torch.float64)
    close(derivatives(fused, x, second=False), derivatives(model, x, second=False), ROUNDINGS)
    for one in (fused, model):
        one.train()
        torch.manual_seed(2)
        one.outcome = one(x)
    close([fused.outcome], [model.outcome], ROUNDINGS)


class Counting(nn.Module):
    """A forward that changes a tensor of its, or of the caller's, between layers that follow one another."""

    def __init__(self, change):
        super().__init__()
        self.first, self.last, self.change = nn.Linear(64, 64), nn.Linear(64, 64), change
        self.register_buffer("seen", torch.zeros(64))
        self.plain = torch.zeros(64)

    def forward(self, x):
        h = self.first(x)
        self.change(self, x)
        return self.last(torch.tanh(h)) + self.seen + self.plain


def _assign(module, x):
    module.seen += 1


CHANGES = {"add_": lambda module, x: module.seen.add_(1.0), "copy_": lambda module, x: module.seen.copy_(x[0]), "+=": _assign,
           "lerp_": lambda module, x: module.seen.lerp_(x[0], 0.5), "the input": lambda module, x: x.mul_(2.0),
           "no buffer": lambda module, x: module.plain.add_(1.0)}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_forward_changes_is_changed_as_often_as_it_runs(name):
    model = Counting(CHANGES[name]).double().requires_grad_(False)
    other, fused = copy.deepcopy(model), dt.fuse(copy.deepcopy(model), verbose=False)
    for _ in range(3):
        x = torch.randn(1024, 64, dtype=torch.float64)
        ours, theirs = x.clone(), x.clone()
        y, z = fused(ours), other(theirs)
        # Sums of 64 products in two layers, in another order; their terms are below 8 here, and tanh has slopes below 1.
        assert (y - z).abs().max() <= 2.0**-53 * 64 * 2 * 64 * 8
        assert torch.equal(fused.seen, other.seen) and torch.equal(fused.plain, other.plain) and torch.equal(ours, theirs)
