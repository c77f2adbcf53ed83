# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forward mode of drawloom.torch's ops: torch.func's jvp, jacfwd, hessian and dual numbers, against plain torch in float64."""

import pytest
import torch
from torch import func
from torch.autograd import forward_ad

import drawloom
from drawloom.torch import frequency_encode, fused_mlp, fused_mlp_along, kat_mlp, linrec, rational
from with_torch.test_ops import plain_mlp, plain_rational

DOUBLE = torch.float64


def randn(*shape, scale=1.0, seed=[0]):
    seed[0] += 1
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed[0]), dtype=DOUBLE)


def tables():
    return randn(1, 6), randn(2, 4, scale=0.2)


def plain_encode(x):
    angles = x[..., None] * torch.pi * 2.0**torch.arange(2)
    return torch.stack([torch.sin(angles), torch.cos(angles)], -1).flatten(-3)


def mlp(f):
    return lambda x, v, w, b, c: f(x, [v, w], [b, c])


# By op: ours, torch's own and the inputs, x first.
OPS = {
    "rational": (rational, plain_rational, (randn(3, 4), *tables())),
    "fused_mlp": (mlp(lambda *given: fused_mlp(*given, activation="tanh", output_activation="sine")),
                  mlp(lambda *given: plain_mlp(*given, "tanh", "sine")),
                  (randn(3, 4), randn(5, 4), randn(2, 5), randn(5), randn(2))),
    "kat_mlp": (lambda x, a, b, w, c: kat_mlp(x, (a, b), w, c, (a, b), w, c),
                lambda x, a, b, w, c: plain_rational(plain_rational(x, a, b) @ w.t() + c, a, b) @ w.t() + c,
                (randn(3, 4), *tables(), randn(4, 4, scale=0.5), randn(4))),
    "frequency_encode": (lambda x: frequency_encode(x, 2), plain_encode, (randn(3, 2),)),
}


@pytest.fixture(params=OPS)
def op(request):
    return OPS[request.param]


def assert_same(ours, plain):
    torch.testing.assert_close(ours, plain, rtol=1e-9, atol=1e-9)


def loss(f):
    return lambda *inputs: f(*inputs).square().sum()


def test_jvp_with_respect_to_all_inputs(op):
    ours, plain, inputs = op
    tangents = tuple(map(torch.randn_like, inputs))
    assert_same(func.jvp(ours, inputs, tangents), func.jvp(plain, inputs, tangents))


def test_jvp_is_the_numerical_difference(op):
    ours, _, inputs = op
    tangents, step = tuple(map(torch.randn_like, inputs)), 1e-5
    forward, backward = ([x + sign * step * t for x, t in zip(inputs, tangents)] for sign in (1, -1))
    difference = (ours(*forward) - ours(*backward)) / (2 * step)
    # The difference's own error: a third derivative times 1e-10, and roundings divided by the step.
    torch.testing.assert_close(func.jvp(ours, inputs, tangents)[1], difference, rtol=1e-6, atol=1e-6)


def test_jacobians_by_forward_and_reverse_mode_are_equal(op):
    ours, plain, inputs = op
    for i in range(len(inputs)):
        assert_same(func.jacfwd(ours, i)(*inputs), func.jacrev(plain, i)(*inputs))


@pytest.mark.parametrize("compose", [func.hessian, lambda f, i: func.jacrev(func.jacfwd(f, i), i), lambda f, i: func.jacfwd(func.jacfwd(f, i), i),
                                     lambda f, i: func.jacrev(func.jacrev(f, i), i)],
                         ids=["forward over reverse", "reverse over forward", "forward over forward", "reverse over reverse"])
def test_hessians_of_every_composition(op, compose):
    ours, plain, inputs = op
    for i in {0, len(inputs) - 1}:
        assert_same(compose(loss(ours), i)(*inputs), func.jacrev(func.jacrev(loss(plain), i), i)(*inputs))


def test_mixed_second_derivatives(op):
    ours, plain, inputs = op
    every = tuple(range(len(inputs)))
    for one, other in zip(func.hessian(loss(ours), every)(*inputs), func.jacrev(func.jacrev(loss(plain), every), every)(*inputs)):
        assert_same(one, other)


def test_hessians_of_a_batch_are_of_each_row():
    weights = [randn(5, 4), randn(2, 5)]

    def laplacian(f):
        return func.vmap(lambda x: func.hessian(lambda x: f(x).sum())(x).diagonal().sum())(x)

    x = randn(7, 4)
    assert_same(laplacian(lambda x: fused_mlp(x, weights, activation="tanh")), laplacian(lambda x: plain_mlp(x, weights, None, "tanh", "none")))


def test_a_batch_of_tangents_is_more_rows(monkeypatch):
    """Not a call for each: jacfwd's tangents are a batch, and x has none."""
    from drawloom.torch import _dispatch

    calls, run = [], _dispatch._run_spec
    monkeypatch.setattr(_dispatch, "_run_spec", lambda spec, *rest: calls.append(spec) or run(spec, *rest))
    x, (a, b) = randn(3, 4), tables()
    assert_same(func.jacfwd(lambda x: rational(x, a, b))(x), func.jacrev(lambda x: plain_rational(x, a, b))(x))
    assert len(calls) <= 2


def test_gradient_of_a_jvp_and_jvp_of_a_gradient(op):
    ours, plain, inputs = op
    tangents = tuple(map(torch.randn_like, inputs))
    every = tuple(range(len(inputs)))
    for transform in (lambda f: func.grad(lambda *inputs: func.jvp(f, inputs, tangents)[1].square().sum(), every)(*inputs),
                      lambda f: func.jvp(func.grad(loss(f), every), inputs, tangents),
                      lambda f: func.vmap(lambda x, t: func.jvp(lambda x: f(x, *inputs[1:]), (x,), (t,)))(inputs[0], tangents[0]),
                      lambda f: func.jvp(func.vmap(f, (0, *[None] * (len(inputs) - 1))), inputs, tangents),
                      lambda f: func.linearize(lambda x: f(x, *inputs[1:]), inputs[0])[1](tangents[0])):
        assert_same(transform(ours), transform(plain))


def test_gradcheck_of_forward_mode(op):
    ours, _, inputs = op
    leaves = [x.clone().requires_grad_() for x in inputs]
    assert torch.autograd.gradcheck(ours, leaves, check_forward_ad=True, fast_mode=True)
    assert torch.autograd.gradgradcheck(ours, leaves, check_fwd_over_rev=True, fast_mode=True)


def dual(f, inputs, tangents):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(*map(forward_ad.make_dual, inputs, tangents))).tangent


def test_dual_numbers_have_tangents(op):
    ours, plain, inputs = op
    tangents = tuple(map(torch.randn_like, inputs))
    assert_same(dual(ours, inputs, tangents), dual(plain, inputs, tangents))
    with torch.no_grad():
        assert_same(dual(ours, inputs, tangents), dual(plain, inputs, tangents))


def test_dual_numbers_that_require_a_gradient(op):
    ours, plain, inputs = op
    tangents = tuple(map(torch.randn_like, inputs))

    def forward_of_backward(f):
        leaves = [x.clone().requires_grad_() for x in inputs]
        with forward_ad.dual_level():
            y = f(*map(forward_ad.make_dual, leaves, tangents))
            return [forward_ad.unpack_dual(g).tangent for g in torch.autograd.grad(y.square().sum(), leaves)]

    def backward_of_forward(f):
        leaves = [x.clone().requires_grad_() for x in inputs]
        return torch.autograd.grad(dual(f, leaves, tangents).square().sum(), leaves)

    assert_same(forward_of_backward(ours), forward_of_backward(plain))
    assert_same(backward_of_forward(ours), backward_of_forward(plain))


def test_what_comes_behind_a_level_is_computed_as_before(op):
    ours, _, inputs = op
    expected = ours(*inputs)
    with forward_ad.dual_level():
        y = ours(*inputs)
        assert torch.equal(y, expected) and forward_ad.unpack_dual(y).tangent is None
    assert torch.equal(ours(*inputs), expected)


def test_derivatives_along_directions_have_tangents():
    weights, x, t = [randn(6, 2, scale=0.7), randn(1, 6, scale=0.7)], randn(5, 2), randn(5, 2)
    direction = torch.tensor([0.5, -1.0], dtype=DOUBLE)

    def second(x):
        return fused_mlp_along(x, [direction], weights, activation="sine")[2][0]

    def plain(x):
        def along(f):
            return lambda x: func.jvp(f, (x,), (direction.expand(x.shape),))[1]

        return along(along(lambda x: plain_mlp(x, weights, None, "sine", "none")))(x)

    assert_same(func.jvp(second, (x,), (t,)), func.jvp(plain, (x,), (t,)))


def test_half_precision_has_tangents_of_its_type():
    x, (a, b) = randn(16, 4), tables()
    t = torch.randn_like(x)
    _, expected = func.jvp(lambda x: plain_rational(x, a, b), (x,), (t,))
    _, tangent = func.jvp(lambda x: rational(x, a.float(), b.float()), (x.bfloat16(),), (t.bfloat16(),))
    assert tangent.dtype == torch.bfloat16
    # Rounded are x, the tangent and the result, 2^-9 each; x by a second derivative of some units.
    torch.testing.assert_close(tangent.double(), expected, rtol=2.0**-5, atol=2.0**-5)


@pytest.mark.parametrize("transform", [
    lambda f, x, t: func.jvp(f, (x,), (t,)), lambda f, x, t: func.jacfwd(f)(x), lambda f, x, t: func.hessian(loss(f))(x),
    lambda f, x, t: dual(f, (x,), (t,))], ids=["jvp", "jacfwd", "hessian", "dual"])
def test_transforms_are_compiled_by_torch(transform):
    x, (a, b), t = randn(3, 4), tables(), randn(3, 4)
    compiled = torch.compile(lambda x, t: transform(lambda x: rational(x, a, b), x, t), backend="aot_eager", fullgraph=True)
    assert_same(compiled(x, t), transform(lambda x: plain_rational(x, a, b), x, t))


@pytest.mark.parametrize("call", [
    lambda x: linrec.chunk_gla(x, x, x, -x.square())[0],
    lambda x: linrec.chunk_delta_rule(x, x, x, x[..., 0].sigmoid())[0],
    lambda x: linrec.short_convolution(x.flatten(2), torch.ones(4, 3))[0]], ids=["gla", "delta rule", "short convolution"])
def test_ops_that_have_no_forward_mode_say_so(call):
    x = torch.randn(1, 5, 2, 2)
    for transform in (lambda: func.jvp(call, (x,), (x,)), lambda: func.jacfwd(call)(x), lambda: dual(call, (x,), (x,))):
        with pytest.raises(drawloom.Error, match="forward mode"):
            transform()
