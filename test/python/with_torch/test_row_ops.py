# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of torch in ops of rows at numbers where they are easily wrong: large and infinite ones, kinks, halves; and what is refused."""

import pytest
import torch
from torch.nn import functional as F

import drawloom
import drawloom.torch as dt
from drawloom import ops

U32 = 2.0**-24
LARGE = torch.tensor([[-1e10], [-100.0], [-88.0], [-3.0], [0.0], [3.0], [20.0], [50.0], [89.0], [100.0], [1e10]])


@pytest.mark.parametrize("function", [F.selu, F.celu, lambda x: F.celu(x, 0.5), lambda x: F.elu(x, -1.5), F.elu, F.hardswish, F.mish, F.softplus, F.silu,
                                      F.gelu, F.logsigmoid, F.relu6])
def test_slopes_of_what_is_not_taken_do_not_spoil_those_of_what_is(function):
    x = LARGE.clone().requires_grad_()
    found, = torch.autograd.grad(dt.op(function)(x).sum(), x)
    expected, = torch.autograd.grad(function(x.double()).sum(), x)
    # A slope is made of some ten operations on numbers whose results are at most about 2; numbers below the normal ones may be 0.
    assert ((found - expected).abs() <= 20 * U32 * (1 + expected.abs())).all()


@pytest.mark.parametrize("function", [lambda x, t: F.smooth_l1_loss(x, t, reduction="none", beta=0.5), lambda x, t: F.huber_loss(x, t, reduction="none", delta=0.7)])
def test_a_straight_loss_has_its_slope_at_infinity(function):
    x = torch.tensor([[5.0], [0.1], [float("inf")], [-float("inf")], [0.0]], requires_grad=True)
    target = torch.tensor([[1.0], [0.2], [0.0], [0.0], [0.0]])
    ours, eager = dt.op(function, rows=2)(x, target), function(x, target)
    # A difference, a square and two products or a sum are rounded on either side, and so are the two factors of a slope at most.
    torch.testing.assert_close(ours, eager, rtol=8 * U32, atol=0)
    torch.testing.assert_close(*[torch.autograd.grad(one.sum(), x)[0] for one in (ours, eager)], rtol=8 * U32, atol=0)


def test_a_small_cross_entropy_is_not_lost():
    x, target = torch.tensor([[5.0], [10.0], [15.0], [20.0], [float("inf")]]), torch.tensor([[1.0], [1.0], [1.0], [1.0], [0.0]])
    found = dt.op(lambda x, t: F.binary_cross_entropy_with_logits(x, t, reduction="none"), rows=2)(x, target)
    expected = F.binary_cross_entropy_with_logits(x.double(), target.double(), reduction="none")
    # Of log(1 + e^-x): an exponential of 3 roundings, a logarithm of as many, a sum.
    assert (found[:4] - expected[:4]).abs().div(expected[:4]).max() <= 10 * U32 and found[4] == float("inf")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("function", [lambda x: torch.where(x > 0.1, x, -x), lambda x: torch.where(x <= 0.3, x, -x), lambda x: torch.where(x == 0.1, x, -x),
                                      lambda x: torch.where(0.3 >= x, x, -x), lambda x: x.clamp(0.1, 0.3)])
def test_numbers_are_compared_in_the_type_of_the_tensor(function, dtype):
    x = torch.tensor([[0.1], [0.3], [0.2]]).to(dtype)
    assert torch.equal(dt.op(function)(x), function(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("divisor", [0.1, -3.0, 0.3, float("inf"), -float("inf")])
def test_a_remainder_is_exact(divisor, dtype):
    x = torch.tensor([[0.5], [1.5], [1e10], [-1.5], [0.0], [-0.0], [1e19], [-2.0], [-1e-3]], dtype=dtype)
    assert torch.equal(dt.op(lambda x: x % divisor)(x), x % divisor)
    other = torch.full_like(x, divisor)
    assert torch.equal(dt.op(lambda x, d: x % d, rows=2)(x, other), x % other)


@pytest.mark.parametrize("function", [lambda x: x * (x > 0), lambda x: (x > 0) * x, lambda x: x + (x > 0), lambda x: x * (x > 0).float(),
                                      lambda x: 1 - (x > 0).to(x.dtype)])
def test_what_is_true_is_one(function):
    x = torch.randn(6, 4)
    assert torch.equal(dt.op(function)(x), function(x))


@pytest.mark.parametrize("rows", [1, 5, 100])
@pytest.mark.parametrize("function", [lambda x: torch.cat([x, x], -1), lambda x: torch.stack([x, x], -1), lambda x: torch.cat([x[:, 2:], x[:, :2]], -1),
                                      lambda x: x[:, -100:3] * 1.0, lambda x: torch.cat([x.unsqueeze(1), x.unsqueeze(1)], 1)])
def test_numbers_that_are_only_moved_keep_their_bits(function, rows):
    x = torch.randn(rows, 4, requires_grad=True)
    ours, eager = dt.op(function)(x), function(x)
    assert torch.equal(ours, eager)
    assert all(torch.equal(*pair) for pair in zip(torch.autograd.grad(ours.sum(), x), torch.autograd.grad(eager.sum(), x)))


@pytest.mark.parametrize("function", [lambda x: x + torch.arange(4) * 1.0, lambda x: x * torch.tensor([1.0, -2.0, 0.5, 3.0]), lambda x: x @ torch.eye(4),
                                      lambda x: torch.cat([x, torch.zeros_like(x)], -1), lambda x: x * torch.linspace(0, 1, 4)[None],
                                      lambda x: torch.where(torch.tensor([True, False, True, True]), x, 0.0)])
def test_tensors_of_numbers_are_constants(function):
    x = torch.randn(6, 4)
    # One operation on each number, or sums with zeros.
    assert torch.equal(dt.op(function)(x), function(x))


INLINED = {
    "fused_mlp": (lambda x, a, b, c, d: torch.tanh(dt.fused_mlp(x, [a, b], [c, d], activation="gelu")) + x[..., :4],
                  [(16, 8), (4, 16), (16,), (4,)]),
    "rational": (lambda x, w, a, b: dt.rational(x @ w, a, b).exp(), [(8, 16), (2, 6), (2, 4)]),
    "frequency_encode": (lambda x, w: dt.frequency_encode(x.sin(), 3) @ w, [(48, 5)]),
    "kan_layer": (lambda x, c: 2 * dt.kan_layer(x.tanh(), c, basis="chebyshev"), [(6, 8, 5)]),
}


@pytest.mark.parametrize("rows", [(20,), (3, 5)])
@pytest.mark.parametrize("name", INLINED)
def test_ops_of_drawloom_are_part_of_a_program(name, rows):
    function, shapes = INLINED[name]
    generator = torch.Generator().manual_seed(3)
    given = [torch.randn(*shape, dtype=torch.float64, generator=generator) / 2 for shape in [(*rows, 8), *shapes]]
    results = []
    for call in (dt.op(function), function):
        own = [one.clone().requires_grad_() for one in given]
        y = call(*own)
        results.append([y, *torch.autograd.grad(y.cos().sum(), own)])
    # The same steps, by other programs: sums of at most 48 products, and over 20 rows, in another order, whose roundings two layers carry on by
    # slopes that are below 4.
    for ours, theirs in zip(*results):
        assert (ours - theirs).abs().max() <= 2.0**-53 * 16 * (48 + 20) * (1 + theirs.abs().max())


@pytest.mark.parametrize("function, said", [
    (lambda x: x.unsqueeze(0) * 2, "its result has the rows in 2 dimensions"), (lambda x: x[:, 50:] * 1.0, "it takes no element"),
    (lambda x: x.round(decimals=2), "round, called like this, has no form"), (lambda x: torch.kron(x, x), "has no form in a program of rows"),
    (lambda x: x.clamp(float("nan"), 1.0), "a bound is NaN"), (lambda x: x.split(2)[0] * 1.0, "it takes the rows apart"),
    (lambda x: x + torch.ones(5000, 4).sum(0), "it makes 20000 numbers, more than 4096"), (lambda x: x * torch.arange(x.shape[0])[:, None], "known in a call only"),
    (lambda x: torch.nn.functional.dropout(x), "draws random numbers"), (lambda x: torch.rand_like(x), "it draws random numbers"),
    (lambda x: x + torch.randint(4, (4,)), "it draws random numbers"),
    (lambda x: x + torch.full((4,), float("nan")), "one with NaN")])
def test_what_is_refused_is_said(function, said):
    with pytest.raises(drawloom.CallError, match=said):
        dt.op(function)(torch.randn(6, 4))


def test_an_error_says_the_line_of_the_function():
    def centred(x):
        doubled = 2 * x
        return doubled - doubled.mean(0)

    line = centred.__code__.co_firstlineno + 2
    with pytest.raises(drawloom.CallError, match=rf"mean: it goes over the rows \(test_row_ops.py:{line}\)"):
        dt.op(centred)(torch.randn(6, 4))


def test_shapes_that_do_not_fit_are_told_in_the_functions_words(caplog):
    with pytest.raises(drawloom.CallError, match=r"<lambda>: .*\[rows, 4\] X \[5, 6\].* \(test_row_ops.py:\d+\)"):
        dt.op(lambda x, w: x @ w)(torch.randn(6, 4), torch.randn(5, 6))
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


def test_another_argument_with_rows_is_thought_of():
    with pytest.raises(drawloom.CallError) as error:
        dt.op(lambda x, y: x * y)(torch.randn(6, 4), torch.randn(6, 4))
    assert "(rows) must match" in str(error.value) and "; argument 1 is shared by all rows, unless rows= says otherwise (test_row_ops.py:" in str(error.value)
    assert str(error.value).count("(") == str(error.value).count(")")


def test_errors_of_a_function_itself_stay():
    def function(x):
        raise ZeroDivisionError("of its own")

    with pytest.raises(ZeroDivisionError, match="of its own"):
        dt.op(function)(torch.randn(6, 4))


def test_an_op_that_is_compiled_again_and_again_says_so_once(monkeypatch):
    monkeypatch.setattr(ops, "_MANY_PROGRAMS", 3)
    with pytest.warns(RuntimeWarning, match=r"frequency_encode has been compiled for 3 combinations of shapes, the last with \[any, 4\]") as said:
        for extent in range(2, 7):
            # Rows are no reason, channels are.
            dt.frequency_encode(torch.randn(extent, 3, dtype=torch.float64), 6)
            dt.frequency_encode(torch.randn(5, extent, dtype=torch.float64), 7)
    assert len(said) == 1


@pytest.mark.parametrize("transform", [torch.func.grad, lambda f: torch.func.grad(lambda x: torch.func.grad(f)(x).sum()),
                                       lambda f: lambda x: torch.func.jvp(f, (x,), (x,))[1], torch.func.jacrev])
def test_the_first_call_may_be_within_a_transform(transform):
    def function(x):
        return torch.sin(x) * torch.exp(-x)

    x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(3, 2)
    made = drawloom.torch.op(function)
    torch.testing.assert_close(transform(lambda x: made(x).sum())(x), transform(lambda x: function(x).sum())(x))
