# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(model, backend="drawloom"): values and gradients of models as they are written are those of eager execution, and what becomes
a program is what should."""

import numpy as np
import pytest
import torch
import torch.utils.checkpoint
from torch import nn
from torch.nn import functional as F

import drawloom
import drawloom.torch as dt
from drawloom import ops
from drawloom.torch import _backend
from drawloom_bench.programs.models import MODELS
from support.runner import run
from with_torch.backend_checks import EAGER, assert_same, fresh, gradients, small  # noqa: F401


class Between(nn.Module):
    """What a function does to [rows, 12] between two layers."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.up = nn.Linear(4, 12, dtype=torch.float64)
        with torch.no_grad():
            width = function(self.up(torch.ones(2, 4, dtype=torch.float64))).shape[-1]
        self.down = nn.Linear(width, 3, dtype=torch.float64)

    def forward(self, x):
        return self.down(self.function(self.up(x)))


def parts(module, *inputs):
    return [part for part in dt.explain(module, *inputs).parts if part.by == "drawloom"]


ROWWISE = {
    "arithmetic": lambda x: (2 - x) * x / (x * x + 1.5) - x + 3,
    "alpha": lambda x: torch.add(x, x * x, alpha=0.3) + torch.sub(x, x.sin(), alpha=2),
    "functions": lambda x: x.abs().sqrt() + (1 + x * x).log() + (-x * x).exp() + x.erf() + x.cos() * torch.rsqrt(1 + x * x),
    "powers": lambda x: x ** 3 + (1 + x * x) ** -1.5 + 2 ** x + torch.square(x) + (x * x + 1) ** 0.5,
    "relu": F.relu, "leaky_relu": lambda x: F.leaky_relu(x, 0.2), "elu": F.elu, "selu": F.selu, "celu": lambda x: F.celu(x, 1.5),
    "silu": F.silu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "mish": F.mish, "softplus": F.softplus,
    "sigmoid": torch.sigmoid, "tanh": torch.tanh, "logsigmoid": F.logsigmoid, "hardtanh": F.hardtanh, "relu6": F.relu6,
    "hardswish": F.hardswish, "clamp": lambda x: x.clamp(-0.3, 0.4) + x.clamp(min=0.1), "softshrink": F.softshrink,
    "where": lambda x: torch.where(x > 0.1, x.sin(), x * 2) + torch.where(x <= 0, 0.5, x),
    "maximum": lambda x: torch.maximum(x, x.cos()) + torch.minimum(x, -x),
    "softmax": lambda x: x.softmax(-1) + x.log_softmax(-1), "sums": lambda x: x - x.mean(-1, keepdim=True) + x.sum(-1, keepdim=True),
    "extremes": lambda x: x - x.amax(-1, keepdim=True) + x.amin(-1, keepdim=True), "norm": lambda x: F.normalize(x, dim=-1),
    "variance": lambda x: x / (x.var(-1, keepdim=True) + x.std(-1, keepdim=True)), "logsumexp": lambda x: x - x.logsumexp(-1, keepdim=True),
    "layer_norm": lambda x: F.layer_norm(x, (12,)), "rms_norm": lambda x: F.rms_norm(x, (12,), eps=1e-5),
    "cat": lambda x: torch.cat([x, x * x, x[..., 2:5]], -1), "chunk": lambda x: torch.mul(*x.chunk(2, -1)),
    "split": lambda x: x.split([2, 10], -1)[1] * x.split(5, -1)[0][..., :1], "glu": lambda x: F.glu(x, -1), "slices": lambda x: x[..., 1:9] * x[..., -1:],
    "select": lambda x: x[..., 3, None] * x, "groups": lambda x: (x.view(-1, 3, 4) * x.view(-1, 3, 4).mean(1, keepdim=True)).flatten(1),
    "turned": lambda x: x.view(-1, 3, 4).transpose(1, 2).reshape(-1, 12).sin(), "permuted": lambda x: x.view(-1, 3, 2, 2).permute(0, 3, 1, 2).flatten(1),
    "shared": lambda x: x * 0.5, "stack": lambda x: torch.stack([x, -x], -1).flatten(-2),
    "squeeze": lambda x: x.unsqueeze(-1).squeeze(-1) + x.unsqueeze(1).expand(-1, 2, -1).sum(1), "types": lambda x: x.float().double() + x,
}


@pytest.mark.parametrize("name", ROWWISE)
def test_calls_that_work_row_by_row_are_one_program_with_their_layers(name, small):
    module, x = Between(ROWWISE[name]), torch.randn(5, 4, dtype=torch.float64)
    explanation = dt.explain(module, x)
    assert [part.by for part in explanation.parts] == ["drawloom"], str(explanation)
    assert_same(module, [x], eps=2.0 ** (-24 if name == "types" else -53))


def test_slopes_are_torchs_where_there_are_two(small):
    functions = {"abs": torch.abs, "relu": F.relu, "relu6": F.relu6, "hardtanh": F.hardtanh, "hardswish": F.hardswish, "clamp": lambda x: x.clamp(-0.5, 1),
                 "maximum": lambda x: torch.maximum(x, -x), "minimum": lambda x: torch.minimum(x, x * x), "amax": lambda x: x.amax(-1, keepdim=True) * x,
                 "norm": lambda x: F.normalize(x, dim=-1), "std": lambda x: x * x.std(-1, keepdim=True), "softshrink": lambda x: F.softshrink(x, 0.5),
                 "prelu": lambda x: F.prelu(x, x.new_full((1,), 0.25)), "remainder": lambda x: x % 2, "round": lambda x: x * x.round()}
    x = torch.tensor([[-3, -0.5, 0, 0.5, 3, 6], [0] * 6, [1, 1, 2, 2, -1, -1]], dtype=torch.float64, requires_grad=True)
    for name, function in functions.items():
        weights = torch.randn(3, 6, dtype=torch.float64)
        found, = torch.autograd.grad((dt.op(function)(x) * weights).sum(), x)
        expected, = torch.autograd.grad((function(x) * weights).sum(), x)
        assert ((found - expected).abs() <= 1e-12 * (1 + expected.abs())).all(), name


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        return g


def _without_gradients(x):
    with torch.no_grad():
        scale = x.abs() + 1
    return x / scale


NO_GRADIENT = {
    "detach": lambda x: x + (x.sin() - x).detach(), "no_grad": _without_gradients, "a function of its own": StraightThrough.apply,
    "in place": lambda x: F.relu(x.sin(), True) + x, "in place, unread": lambda x: (F.leaky_relu(x, 0.1, True), x * 2)[1],
}


@pytest.mark.parametrize("name", NO_GRADIENT)
def test_what_has_no_gradient_of_its_own_is_not_differentiated(name, small):
    assert_same(Between(NO_GRADIENT[name]), [torch.randn(5, 4, dtype=torch.float64)])


@pytest.mark.parametrize("function", [NO_GRADIENT["detach"], NO_GRADIENT["no_grad"], lambda x: F.relu(x, True)], ids=["detach", "no_grad", "in place"])
def test_ops_without_gradients_of_their_own_are_refused(function):
    with pytest.raises(drawloom.CallError, match="no gradient goes through it|it changes its argument"):
        dt.op(function)(torch.randn(5, 4))


MIXING = {
    "sum of rows": (lambda x: x - x.mean(0), "it goes over the rows"), "turned rows": (lambda x: (x @ x.t()) @ x, "it moves the dimension of rows"),
    "rows behind one another": (lambda x: torch.cat([x, x])[:6], "it makes rows of its own"),
    "some rows": (lambda x: x + x[:1], "it takes some of the rows"), "cumsum": (lambda x: x.cumsum(0), "cumsum has no form"),
    "dropout": (lambda x: F.dropout(x, 0.5), "draws random numbers"), "sort": (lambda x: x.sort(-1)[0], "sort has no form"),
}


@pytest.mark.parametrize("name", MIXING)
def test_calls_that_mix_rows_stay_with_torch(name, small):
    function, why = MIXING[name]
    module, x = Between(function), torch.randn(6, 4, dtype=torch.float64)
    explanation = dt.explain(module, x)
    assert any(why in part.why and part.by == "inductor" for part in explanation.parts), str(explanation)
    if name != "dropout":
        assert_same(module, [x])


def test_tensors_that_are_changed_in_place_stay_with_torch(small):
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 8).double(), nn.Linear(8, 4).double()

        def forward(self, x):
            h = self.a(x)
            before = h * 2
            h += 1
            h.mul_(3)
            return self.b(F.relu(h) + before) + x

    assert_same(Module(), [torch.randn(5, 4, dtype=torch.float64)])


def test_results_that_are_views_of_arguments_are_views(small):
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 8).double(), nn.Linear(8, 4).double()

        def forward(self, x):
            flat = x.reshape(-1, 4)
            return flat, self.b(self.a(flat).sin())

    module, x = Module(), torch.randn(3, 5, 4, dtype=torch.float64)
    flat, _ = torch.compile(module, backend="drawloom", options=EAGER)(x)
    assert flat.data_ptr() == x.data_ptr()
    assert_same(module, [x])


def test_what_others_read_of_a_region_is_a_result_of_its_program(small):
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(4, 8).double(), nn.Linear(8, 8).double(), nn.Linear(8, 4).double()

        def forward(self, x):
            h = self.a(x).sin()
            total = h.sum(0)            # Not by rows, and read by the next layer's rows.
            return self.c(self.b(h).cos()), self.c(h) * total[:4], h

    module, x = Module(), torch.randn(7, 4, dtype=torch.float64)
    assert parts(module, x)
    assert_same(module, [x])


def test_programs_of_other_rows_read_each_others_results(small):
    # Layers of tokens, then layers of what the tokens of a sequence are together, and back.
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(*size) for size in ((4, 8), (8, 2), (10, 6), (6, 10), (2, 8), (8, 3)))

        def forward(self, x):
            a, b, c, d, e, f = self.layers
            h = b(a(x).sin())
            together = d(c(h.flatten(1)).cos())
            return f(e(together.view(-1, 5, 2) * h).sin()), together

    module, x = Module().double(), torch.randn(3, 5, 4, dtype=torch.float64)
    assert len(parts(module, x)) >= 2
    assert_same(module, [x])


def test_programs_that_would_need_each_other_are_not_both_made(small):
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(*size) for size in ((4, 2), (10, 10), (4, 10), (2, 2)))

        def forward(self, x, z):
            a, b, c, d = self.layers
            h = a(x)
            there, back = b(h.flatten(1)), c(z)
            return there.sin() * back, h.cos() * d(back.view(-1, 5, 2))

    assert_same(Module().double(), [torch.randn(3, 5, 4, dtype=torch.float64), torch.randn(3, 4, dtype=torch.float64)])


class Stateful(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
        self.function, self.norm = function, nn.BatchNorm1d(8)
        self.register_buffer("buffer", torch.ones(8))

    def forward(self, x):
        return self.function(self, x)


def _update(m, x):
    h = m.a(x).relu()
    m.buffer.add_(h.detach().mean(0))
    return m.b(h) * m.buffer.sum()


def _statistics(m, x):
    h = m.a(x).relu()
    m.norm(h)
    return m.b(h) * m.norm.running_mean.sum()


def _statistics_before(m, x):
    h = m.a(x).relu() + m.norm.running_mean
    z = m.norm(x * 2)
    return m.b(h), z


def _mode(m, x):
    h = m.a(x).relu()
    with torch.no_grad():
        s = h.mean(0)
    return m.b(h), s


def _remainder(m, x):
    h = m.b(m.a(x).relu())
    g = h.cumsum(0).detach().clone()
    v = g.view(-1)
    g //= 0.5
    return v, h


def _foreach(m, x):
    h = m.a(x).relu()
    torch._foreach_mul_([m.buffer], 2.0)
    return m.b(h * m.buffer)


def _truths(m, x):
    u = torch.where((x > 0) == (m.a.bias > 0), x, m.a.bias)
    return u, m.b(m.a(u))


@pytest.mark.parametrize("function", [_update, _statistics, _statistics_before, _mode, _remainder, _foreach, _truths], ids=lambda one: one.__name__)
def test_calls_stay_on_their_side_of_what_changes_something(function, small):
    x, found, before = torch.randn(12, 8, dtype=torch.float64), [], None
    for compiles in (False, True):
        torch.manual_seed(1)
        module = Stateful(function).double()
        run_ = torch.compile(module, backend="drawloom", options=EAGER) if compiles else module
        for _ in range(2):
            module.zero_grad()
            results = run_(x)
            results = list(results) if isinstance(results, tuple) else [results]
            sum(one.square().sum() for one in results if one.requires_grad).backward()
        found.append([*results, *[one.grad for one in module.parameters()], *module.buffers()])
        assert not compiles or [one.requires_grad for one in results] == before
        before = [one.requires_grad for one in results]
    for one, other in zip(*found):
        assert (one is None) == (other is None)
        if one is not None:
            assert (one - other).abs().max() <= 1e-11 * (1 + one.abs().max())


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 2, 4)], ids=str)
def test_rows_may_have_several_dimensions(shape, small):
    module, x = Between(lambda x: F.layer_norm(x, (12,)) * x), torch.randn(shape, dtype=torch.float64)
    assert len(parts(module, x)) == 1
    assert_same(module, [x])


@pytest.mark.parametrize("dynamic", [None, True])
def test_other_numbers_of_rows_compile_no_more_programs(dynamic, small, monkeypatch):
    module = Between(F.silu)
    compiled = torch.compile(module, backend="drawloom", options=EAGER, dynamic=dynamic)
    for rows in (5, 6):
        compiled(torch.randn(rows, 4, dtype=torch.float64)).sum().backward()
    with torch._dynamo.config.patch(error_on_recompile=True):
        monkeypatch.setattr(ops, "_build", None)
        for rows in (7, 19, 64):
            x = torch.randn(rows, 4, dtype=torch.float64)
            y = compiled(x)
            y.sum().backward()
            assert (y - module(x)).abs().max() < 1e-12


def test_norms_are_part_of_programs_of_open_sizes(small):
    # With dynamic=True their eps is a symbol.
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.n, self.b = nn.Linear(4, 12).double(), nn.LayerNorm(12).double(), nn.Linear(12, 4).double()

        def forward(self, x):
            return self.b(self.n(self.a(x)))

    module, found = Module(), []

    def backend(graph, inputs):
        found.extend(_backend._cut(graph)[0])
        return _backend.drawloom(graph, inputs, options=EAGER)

    compiled = torch.compile(module, backend=backend, dynamic=True)
    for rows in (5, 9):
        x = torch.randn(rows, 4, dtype=torch.float64)
        assert (compiled(x) - module(x)).abs().max() < 1e-12
    assert [len(region.nodes) for region in found] == [3]


def test_a_program_that_cannot_be_compiled_is_left_to_torch(small, monkeypatch):
    def fail(*_):
        raise drawloom.CompileError("no", "", "", "")

    monkeypatch.setattr(ops, "function", fail)
    module, x = Between(F.silu), torch.randn(5, 4, dtype=torch.float64)
    with pytest.warns(UserWarning, match="a part of 3 calls is left to Inductor"):
        assert torch.equal(torch.compile(module, backend="drawloom", options=EAGER)(x), module(x))


def test_what_fails_under_the_recorder_is_left_to_torch(small):
    class Strange(torch.Tensor):
        pass

    module = Between(lambda x: x * torch.ones(12, dtype=x.dtype).as_subclass(Strange).as_subclass(torch.Tensor).sin())
    assert_same(module, [torch.randn(5, 4, dtype=torch.float64)])


@pytest.mark.parametrize("dynamic", [None, True])
def test_numbers_of_a_module_may_change(dynamic, small):
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.scale = nn.Linear(4, 12).double(), nn.Linear(12, 4).double(), 0.5

        def forward(self, x):
            return self.b((self.a(x) * self.scale).sin())

    module, x = Module(), torch.randn(5, 4, dtype=torch.float64)
    compiled = torch.compile(module, backend="drawloom", options=EAGER, dynamic=dynamic)
    for module.scale in (0.5, 1.5, 2.5, 0.5):
        assert (compiled(x) - module(x)).abs().max() < 1e-13


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode], ids=lambda mode: mode.__name__)
def test_values_alone(mode, small):
    module, x = Between(F.gelu), torch.randn(5, 4, dtype=torch.float64)
    with mode():
        assert (torch.compile(module, backend="drawloom", options=EAGER)(x) - module(x)).abs().max() < 1e-12


def test_bfloat16_is_summed_in_float32(small):
    module, x = Between(F.gelu).to(torch.bfloat16), torch.randn(64, 4, dtype=torch.bfloat16)
    assert len(parts(module, x)) == 1
    with torch.no_grad():
        exact = Between.forward(module.double(), x.double())
        found = torch.compile(module.bfloat16(), backend="drawloom", options=EAGER)(x)
    # The parameters are what they were: widening and rounding back changes nothing. Some 12 roundings of 2^-9 each.
    assert found.dtype == torch.bfloat16 and (found.double() - exact).abs().max() < 12 * 2 ** -9 * (1 + exact.abs().max())


def test_autocast_stays_with_torch(small):
    module, x = Between(F.gelu).float(), torch.randn(64, 4)

    def run(model):
        with torch.autocast("cpu", torch.bfloat16):
            return model(x)

    found = torch.compile(lambda: run(module), backend="drawloom", options=EAGER)()
    assert found.dtype == torch.bfloat16 and torch.equal(found, run(module))


def test_batch_norm_of_a_model_in_eval_is_part_of_a_program(small):
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.n, self.b = nn.Linear(4, 12), nn.BatchNorm1d(12), nn.Linear(12, 3)

        def forward(self, x):
            return self.b(F.relu(self.n(self.a(x))))

    module, x = Module().double(), torch.randn(9, 4, dtype=torch.float64)
    assert not parts(module, x)
    module(x)
    module.eval()
    assert len(parts(module, x)[0].calls) == 4
    assert_same(module, [x])


def test_rational_activations_are_part_of_programs(small):
    module, x = nn.Sequential(nn.Linear(4, 16), dt.nn.Rational(16), nn.Linear(16, 3)).double(), torch.randn(9, 4, dtype=torch.float64)
    assert len(parts(module, x)[0].calls) == 3
    assert_same(module, [x])


def test_ops_of_drawloom_stay_whole(small):
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.kan, self.b = nn.Linear(4, 8), dt.nn.BSplineKAN([8, 8], grid=3), nn.Linear(8, 3)

        def forward(self, x):
            return self.b(self.kan(self.a(x).tanh()).sin())

    module, x = Module(), torch.randn(9, 4)
    assert "it is an op of Drawloom by itself" in str(dt.explain(module, x))
    assert_same(module, [x], eps=2.0 ** -24)


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"pinn"}))
def test_models_have_the_gradients_of_eager_execution(name):
    module, inputs, loss = MODELS[name]()
    module = module.double()
    inputs = [one.double() if one.is_floating_point() else one for one in inputs]
    # A part of the batch is enough.
    few = max(one.shape[0] for one in inputs) // 16
    inputs = [one[:max(few, 2)] if one.shape[0] > few else one for one in inputs]
    results = []
    for function in (module, torch.compile(module, backend="drawloom", options=EAGER)):
        module.zero_grad()
        loss(function(*inputs)).backward()
        results.append([one.grad.clone() for one in module.parameters() if one.grad is not None])
    for one, other in zip(*results):
        # SIREN and NeRF multiply angles by up to 30 and 512.
        assert (one - other).abs().max() <= 1e-10 * (other.abs().max() + 1e-3)


class Random(nn.Module):
    """Calls drawn at random on tensors [rows, some channels], each of which reads some that were made before."""

    def __init__(self, seed, calls=24):
        super().__init__()
        self.draw, self.layers, self.steps = np.random.default_rng(seed), nn.ModuleList(), []
        widths = [4]
        for _ in range(calls):
            step, width = self.step(widths)
            self.steps.append(step)
            widths.append(width)
        self.width = widths[-1]

    def step(self, widths):
        i, j = (int(max(self.draw.integers(len(widths)), self.draw.integers(len(widths)))) for _ in range(2))
        width, kind = widths[i], self.draw.integers(12)
        if kind < 4:
            layer = nn.Linear(width, int(self.draw.integers(1, 9)), bias=bool(self.draw.integers(2))).double()
            self.layers.append(layer)
            return lambda all: layer(all[i]), layer.out_features
        if kind == 4:
            function = [torch.sin, F.gelu, F.silu, torch.tanh, F.softplus, lambda x: x / (1 + x * x), lambda x: x.clamp(-1, 1)][self.draw.integers(7)]
            return lambda all: function(all[i]), width
        if kind == 5 and 1 in (width, widths[j]) or width == widths[j]:
            function = [torch.add, torch.mul, torch.maximum, lambda a, b: torch.where(a > b, a, b * 0.5)][self.draw.integers(4)]
            return lambda all: function(all[i], all[j]), max(width, widths[j])
        if kind == 6:
            norm = nn.LayerNorm(width).double()
            self.layers.append(norm)
            return lambda all: norm(all[i]), width
        if kind == 7:
            return lambda all: torch.cat([all[i], all[j]], -1), width + widths[j]
        if kind == 8 and width > 1:
            first = int(self.draw.integers(width - 1))
            return lambda all: all[i][..., first:first + 2], min(2, width - first)
        if kind == 9:
            return lambda all: all[i].softmax(-1), width
        if kind == 10 and width % 2 == 0:
            return lambda all: all[i].view(*all[i].shape[:-1], 2, width // 2).transpose(-1, -2).flatten(-2), width
        if kind == 11:
            # Across the rows: not for a program.
            return lambda all: all[i] - all[i].mean(0), width
        return lambda all: all[i].square().mean(-1, keepdim=True), 1

    def forward(self, x):
        made = [x]
        for step in self.steps:
            made.append(step(made))
        return made[-1], made[-3]


@pytest.mark.parametrize("seed", range(6))
def test_models_at_random(seed, small):
    module, x = Random(seed), torch.randn(2, 5, 4, dtype=torch.float64) if seed % 2 else torch.randn(7, 4, dtype=torch.float64)
    assert_same(module, [x])


def explained(function, *inputs):
    """The calls of each program, and those of no program."""
    parts = dt.explain(function, *inputs).parts
    return [part.calls for part in parts if part.by == "drawloom"], [name for part in parts if part.by != "drawloom" for name in part.calls]


@pytest.mark.parametrize("dropped", [nn.Dropout(0.1).eval(), nn.Dropout(0.0), nn.AlphaDropout(0.3).eval()], ids=str)
def test_random_calls_that_draw_nothing_are_part_of_programs(dropped, small):
    model, x = nn.Sequential(nn.Linear(4, 12), dropped, nn.Linear(12, 3)).double(), torch.randn(7, 4, dtype=torch.float64)
    programs, rest = explained(model, x)
    assert len(programs) == 1 and len(programs[0]) == 3 and not rest
    assert_same(model, (x,))


@pytest.mark.parametrize("dropped", [nn.Dropout(0.1), nn.AlphaDropout(0.3), nn.RReLU()], ids=str)
def test_random_calls_stay_with_torch(dropped, small):
    programs, rest = explained(nn.Sequential(nn.Linear(4, 12), dropped, nn.Linear(12, 3)), torch.randn(7, 4))
    assert not programs and len(rest) == 3


class Pooled(nn.Module):
    """One token of each example is read, by its index."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 12), nn.GELU(), nn.Linear(12, 4)).double()

    def forward(self, x):
        return (self.layers(x) + x)[:, 0]


def test_items_of_a_programs_result_are_not_part_of_it(small):
    model, x = Pooled(), torch.randn(3, 5, 4, dtype=torch.float64)
    programs, rest = explained(model, x)
    assert [len(one) for one in programs] == [4] and len(rest) == 1
    assert_same(model, (x,))


class Compared(nn.Module):
    """What is true of each number is read within a program and outside, or outside alone, and also of what is no part of it."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 12).double(), nn.Linear(12, 4).double()

    def forward(self, x, mask):
        y = self.first(x)
        positive = y > 0
        z = self.last(torch.where(positive, y, 0.1 * y))
        return z, y.masked_fill(positive, 1.0), torch.where(z > 0.5, z, 0.0), torch.where(mask > 0, mask, mask * mask), positive.sum().double()


def test_what_is_true_or_false_is_computed_on_both_sides(small):
    model, x = Compared(), torch.randn(7, 4, dtype=torch.float64)
    programs, rest = explained(model, x, torch.randn(7, 1))
    assert len(programs) == 1 and programs[0].count("linear") == 2 and "gt" in programs[0], (programs, rest)
    assert_same(model, (x, torch.randn(7, 1, dtype=torch.float64)))


def test_a_checkpoint_draws_the_same_numbers_twice():
    def dropped(x, w):
        return torch.utils.checkpoint.checkpoint(lambda x: F.dropout(x * w, 0.5), x, use_reentrant=False)

    w = torch.ones(1000, requires_grad=True)
    y = torch.compile(dropped, backend="drawloom", options=EAGER)(torch.ones(1000), w)
    y.sum().backward()
    assert torch.equal(w.grad, y.detach())


def test_derivatives_by_forward_mode_stay_with_torch():
    module, inputs, loss = MODELS["pinn"]()
    module, x = module.double(), inputs[0][:50].double()
    assert (torch.compile(module, backend="drawloom", options=EAGER)(x) - module(x)).abs().max() < 1e-11


def test_inductor_compiles_the_rest():
    module, inputs, loss = MODELS["deeponet"]()
    found = []
    for function in (module, torch.compile(module, backend="drawloom", fullgraph=True)):
        module.zero_grad()
        loss(function(*inputs)).backward()
        found.append([one.grad.clone() for one in module.parameters()])
    # Sums of 4,096 rows of float32 in another order.
    assert all((one - other).abs().max() <= 1e-5 * other.abs().max() for one, other in zip(*found))


def test_an_explanation_is_read_at_a_glance():
    module = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
    text = str(dt.explain(module, torch.randn(4096, 8)))
    assert text.splitlines()[0] == "1 of 1 parts compiled by Drawloom; 1 graph"
    assert "drawloom: " in text and "of 4096 rows: 2 matrix products of at most 64 channels" in text
    assert "below 200000 a call costs more than is gained" in str(dt.explain(module, torch.randn(4, 8)))
    wide = nn.Sequential(nn.Linear(8, 1024), nn.Tanh(), nn.Linear(1024, 1))
    assert "above 512 the products take all the time" in str(dt.explain(wide, torch.randn(4096, 8)))


def test_options_are_inductors_but_for_the_rest():
    module, x = nn.Linear(2, 2), torch.randn(3, 2)
    with pytest.raises(Exception, match="rest is 'nobody'; it is 'inductor' or 'eager'"):
        torch.compile(module, backend="drawloom", options={"rest": "nobody"})(x)


# --- drawloom.torch.op -----------------------------------------------------------------------------------------------

@dt.op
def gated(x, gate, up, down, *, sharpness=1.0):
    """A gated MLP."""
    return (torch.sigmoid(sharpness * (x @ gate)) * (x @ up)) @ down


def gated_arguments(*leading):
    return [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in ((*leading, 4), (4, 6), (4, 6), (6, 3))]


@pytest.mark.parametrize("leading", [(5,), (2, 3), ()], ids=str)
def test_an_op_is_its_function_with_derivatives_of_two_orders(leading):
    arguments = gated_arguments(*leading)
    x, gate, up, down = arguments
    y = gated(*arguments, sharpness=2.0)
    assert y.shape == (*leading, 3)
    assert (y - (torch.sigmoid(2 * (x @ gate)) * (x @ up)) @ down).abs().max() < 1e-13
    assert torch.autograd.gradcheck(gated, arguments)
    if leading == (5,):
        assert torch.autograd.gradgradcheck(gated, arguments) and torch.autograd.gradcheck(gated, arguments, check_forward_ad=True)


def test_an_op_is_one_node_of_a_compiled_graph():
    arguments = gated_arguments(5)
    compiled = torch.compile(lambda *given: gated(*given).sin(), fullgraph=True, backend="aot_eager")
    found, expected = compiled(*arguments), gated(*arguments).sin()
    assert torch.equal(found, expected)
    for one, other in zip(torch.autograd.grad(found.sum(), arguments), torch.autograd.grad(expected.sum(), arguments)):
        assert (one - other).abs().max() < 1e-13


class Gated(nn.Module):
    """An op of its own, new to each module, between two products."""

    def __init__(self):
        super().__init__()

        @dt.op
        def gate(x, up, scale):
            both = x @ up
            return torch.sigmoid(both[:, :6]) * both[:, 6:] * scale, both.tanh()

        self.gate = gate
        self.first, self.last = nn.Linear(4, 40, dtype=torch.float64), nn.Linear(6, 3, dtype=torch.float64)
        self.up = nn.Parameter(torch.randn(40, 12, dtype=torch.float64))
        self.scale = nn.Parameter(torch.randn(6, dtype=torch.float64))

    def forward(self, x):
        y, other = self.gate(self.first(x), self.up, self.scale)
        z, _ = self.gate(self.first(torch.sin(x)), self.up, self.scale)
        return self.last(y + z), other


def test_an_op_is_part_of_the_program_around_it(small):
    model, x = Gated(), torch.randn(7, 4, dtype=torch.float64)
    # Two products of two calls of the op beside the model's own three. What those with 40 channels give is kept for derivatives.
    part, = dt.explain(model, x).parts
    assert part.by == "drawloom" and part.why.startswith("5 matrix products") and any("gate" in name for name in part.calls)
    assert_same(model, (x,))


def test_an_op_may_be_called_first_where_torch_traces():
    model, x = Gated(), torch.randn(7, 4, dtype=torch.float64)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    found, expected = compiled(x), model(x)
    assert all(torch.equal(one, other) for one, other in zip(found, expected))


def test_what_a_phase_makes_of_an_op_is_text():
    x, *w = gated_arguments(5)
    assert "scf.forall" in gated.mlir(x, *w, phase="blocks") and "llvm.func" in gated.mlir(x, *w, gradients=True, phase="llvm")
    with pytest.raises(drawloom.CallError, match="phase is 'block'; the phases are input, differentiated"):
        gated.mlir(x, *w, phase="block")


def test_several_arguments_may_have_rows_and_several_results():
    @dt.op(rows=2)
    def both(x, heads, w):
        scores = (heads * x[:, None]).sum(-1).softmax(-1)
        return scores, (scores[..., None] * heads).sum(1) @ w

    x, heads, w = (torch.randn(size, dtype=torch.float64) for size in ((2, 5, 4), (2, 5, 3, 4), (4, 6)))
    scores, y = both(x, heads, w)
    expected = (heads * x[..., None, :]).sum(-1).softmax(-1)
    assert (scores - expected).abs().max() < 1e-13
    assert (y - (expected[..., None] * heads).sum(-2) @ w).abs().max() < 1e-13


def test_options_that_are_equal_but_for_their_types_are_others():
    @dt.op
    def typed(x, *, k):
        return x * (10.0 if k is True else 1.0)

    x = torch.ones(3, 2)
    assert (typed(x, k=1) == 1).all() and (typed(x, k=True) == 10).all() and (typed(x, k=1.0) == 1).all()


def test_the_text_of_an_op_is_a_program():
    arguments = gated_arguments(5)
    y, = run(gated.mlir(*arguments, sharpness=2.0), "main", [one.detach().numpy() for one in arguments], target="interpreter")
    assert abs(y - gated(*arguments, sharpness=2.0).detach().numpy()).max() < 1e-13
    assert "ad.vjp" in gated.mlir(*arguments, gradients=True) and gated.__doc__ == "A gated MLP."


def mixing(x):
    return x - x.mean(0)


SCALE = torch.tensor(2.0, requires_grad=True)


def views(x):
    y = x * 2
    y[:, :1].add_(1)
    return y


WRONG = {
    "rows that mix": (lambda: dt.op(mixing)(torch.ones(3, 2)), "mixing is no function of rows: mean: it goes over the rows"),
    "no tensor": (lambda: gated(torch.ones(3, 4), 2), "gated: argument 1 is a int; tensors come first, and what is no tensor is given by name"),
    "integers": (lambda: dt.op(mixing)(torch.ones(3, 2, dtype=torch.int64)), "int64 is no type of its programs of rows"),
    "other rows": (lambda: dt.op(mixing, rows=2)(torch.ones(3, 2), torch.ones(4, 2)), "its first extents are those of argument 0, [3]"),
    "a scalar": (lambda: dt.op(mixing)(torch.ones(())), "argument 0 is a scalar"),
    "no rows": (lambda: dt.op(mixing, rows=0), "rows is 0; it is how many arguments have rows, from 1"),
    "no function": (lambda: dt.op(3), "op makes ops of functions, not of a int"),
    "a shared result": (lambda: dt.op(lambda x, w: w * 2)(torch.ones(3, 2), torch.ones(2)), "it gives a tensor that all rows share"),
    "no tensor back": (lambda: dt.op(lambda x: 3)(torch.ones(3, 2)), "result 0 is a int; it is a tensor of rows"),
    "values": (lambda: dt.op(lambda x, w: x if w.sum() > 0 else -x)(torch.ones(3, 2), torch.ones(2)), "what is done depends on values"),
    "the number of rows": (lambda: dt.op(lambda x: x / x.shape[0])(torch.ones(3, 2)), "is no function of rows"),
    "the length": (lambda: dt.op(lambda x: x / len(x))(torch.ones(3, 2)), "what is done depends on the number of rows"),
    "tensors of the surroundings": (lambda: dt.op(lambda x: x * SCALE)(torch.ones(3, 2)), "it reads a tensor that is no argument"),
    "tensors by name": (lambda: gated(*gated_arguments(3), sharpness=SCALE), "sharpness is a tensor, given by name; tensors come first"),
    "lists by name": (lambda: gated(*gated_arguments(3), sharpness=[1]), "sharpness is a list, which may change"),
    "views": (lambda: dt.op(views)(torch.ones(3, 2)), "it changes a tensor of which there are views"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_op_is_refused_with_the_reason(name):
    call, message = WRONG[name]
    with pytest.raises(drawloom.Error) as error:
        call()
    assert message in str(error.value)
