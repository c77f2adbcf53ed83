# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""structured_linear of several terms is each of them, and its gradients are sums; JAX has it, too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax.test_util import check_grads

from drawloom import CallError, ops
from drawloom.jax import structured_linear as jax_structured_linear
from drawloom.ops.structured import known, operands, spec
from drawloom.structured import block_diagonal, dense, permute
from drawloom.torch import structured_linear
from support import jax_references as references

K, N, M, R = 12, 8, 5, 3
QUERY, VALUE = ((dense(w) + 2.0 * (dense(b) @ dense("a"))).T for w, b in (("q", "b"), ("v", "c")))
SHAPES = {"q": (N, K), "b": (N, R), "a": (R, K), "v": (M, K), "c": (M, R)}
ONE = ("q", "b", "a")


def formula(x, leaves, bias):
    """Of QUERY and VALUE, in torch or jax.numpy."""
    a = leaves["a"]
    return x @ (leaves["q"] + 2.0 * leaves["b"] @ a).T + bias, x @ (leaves["v"] + 2.0 * leaves["c"] @ a).T


def of_jax(x, leaves, bias):
    return jax_structured_linear(x, [QUERY, VALUE], leaves, [bias, None])


@pytest.fixture
def arguments(rng):
    return rng.standard_normal((2, 3, K)), {name: rng.standard_normal(shape) for name, shape in SHAPES.items()}, rng.standard_normal(N)


@pytest.fixture
def tensors(arguments):
    x, leaves, bias = arguments
    return [torch.from_numpy(one).requires_grad_() for one in (x, *leaves.values(), bias)]


def of_torch(x, *rest):
    return structured_linear(x, [QUERY, VALUE], dict(zip(SHAPES, rest)), [rest[-1], None])


def test_several_terms_are_each_of_them(tensors):
    x, *rest = tensors
    ours, theirs = of_torch(x, *rest), formula(x, dict(zip(SHAPES, rest)), rest[-1])
    assert isinstance(ours, tuple)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-13, atol=1e-13)
    for one, other in zip(*(torch.autograd.grad([y.sin().sum() for y in results], tensors) for results in (ours, theirs))):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_the_gradient_of_one_result_alone_is_its_own(tensors):
    x, *rest = tensors
    for i in range(2):
        ours, theirs = of_torch(x, *rest)[i], formula(x, dict(zip(SHAPES, rest)), rest[-1])[i]
        torch.testing.assert_close(torch.autograd.grad(ours.sum(), x)[0], torch.autograd.grad(theirs.sum(), x)[0], rtol=1e-12, atol=1e-12)


def test_second_derivatives_and_forward_mode(tensors):
    def penalty(function):
        def of(*tensors):
            gradients = torch.func.grad(lambda tensors: sum(y.sin().sum() for y in function(*tensors)))(tensors)
            return sum(one.square().sum() for one in gradients)

        return of

    def by_formula(x, *rest):
        return formula(x, dict(zip(SHAPES, rest)), rest[-1])

    values = tuple(one.detach() for one in tensors)
    moved = tuple(one.flip(0) for one in values)
    for one, other in zip(*(torch.func.grad(penalty(f), tuple(range(len(values))))(*values) for f in (of_torch, by_formula))):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-11)
    for one, other in zip(*(torch.func.jvp(f, values, moved)[1] for f in (of_torch, by_formula))):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_batches_of_rows_and_of_leaves(tensors):
    x, *rest = (one.detach() for one in tensors)
    for batched in (0, 3):
        values = [x, *rest]
        values[batched] = torch.stack([values[batched], 2 * values[batched]])
        got = torch.vmap(of_torch, tuple(0 if i == batched else None for i in range(len(values))))(*values)
        for i in range(2):
            want = of_torch(*(one[i] if at == batched else one for at, one in enumerate(values)))
            for one, other in zip(got, want):
                torch.testing.assert_close(one[i], other, rtol=1e-13, atol=1e-13)


def test_torchs_rules(tensors):
    x, *leaves, bias = tensors
    text = operands([known(QUERY), known(VALUE)], dict(zip(SHAPES, leaves)), [bias, None])
    torch.library.opcheck(torch.ops.drawloom.structured_linear.default, (x, *text, "auto"))


def test_torch_compile_tells_terms_apart():
    w, x = torch.randn(K, K), torch.randn(3, K)

    @torch.compile(backend="aot_eager", fullgraph=True)
    def compiled(x, term):
        return structured_linear(x, term, {"w": w})

    for term in (dense("w"), 2.0 * dense("w"), dense("w").T, [dense("w"), 3.0 * dense("w")], [dense("w"), dense("w").T]):
        for one, other in zip(compiled(x, term), structured_linear(x, term, {"w": w})):
            assert torch.equal(one, other)


def test_what_does_not_fit_is_refused():
    x, leaves = torch.randn(2, K), {name: torch.randn(shape) for name, shape in SHAPES.items()}
    bias = torch.randn(N)
    for term, given, biases, message in (
        ([], leaves, None, "there is no term; it is one, or a sequence of terms that share x"),
        ([QUERY, "v"], leaves, None, "'v' is no term"),
        ([QUERY, [VALUE]], leaves, None, "is no term"),
        ([QUERY, VALUE], leaves, bias, "bias is one array; for a sequence of 2 terms it is a sequence of 2 biases, None where there is none"),
        ([QUERY, VALUE], leaves, [bias], "bias is a sequence of 1; for a sequence of 2 terms"),
        ([QUERY, VALUE], leaves, [bias, bias], "bias has the shape [8], but"),
        ([QUERY], leaves, None, "has no leaf 'v'"),
        ([QUERY, VALUE], {name: leaves[name] for name in ONE}, None, "the leaf 'v' of"),
        ([dense("q").T, dense("v")], {name: leaves[name] for name in "qv"}, None, "x has 12 channels, but dense('v') takes 5"),
    ):
        for call, refused in ((structured_linear, x), (jax_structured_linear, x.numpy())):
            of_call = {name: one if call is structured_linear else one.numpy() for name, one in given.items()}
            with pytest.raises(CallError) as caught:
                call(refused, term, of_call, biases)
            assert message in str(caught.value)


# --- JAX ----------------------------------------------------------------------------------------------------------------


def test_jax_has_the_formula_and_right_derivatives(arguments):
    with jax.enable_x64(True):
        for function in (of_jax, jax.jit(of_jax)):
            assert references.difference(function(*arguments), formula(*arguments)) < 1e-13
        check_grads(of_jax, arguments, order=2)


@pytest.mark.parametrize("term, shapes", [(QUERY, {name: SHAPES[name] for name in ONE}), (
    block_diagonal("r") @ permute([4, 8], [1, 0]) @ block_diagonal("l"), {"r": (4, 3, 8), "l": (8, 4, 2)})])
def test_jax_has_the_bits_of_torch(rng, term, shapes):
    x, leaves = rng.standard_normal((70, K)).astype("float32"), {name: rng.standard_normal(s).astype("float32") for name, s in shapes.items()}
    y, pull = jax.vjp(lambda x, leaves: jax_structured_linear(x, term, leaves), x, leaves)
    tensors = [torch.from_numpy(one).requires_grad_() for one in (x, *leaves.values())]
    theirs = structured_linear(tensors[0], term, dict(zip(leaves, tensors[1:])))
    gradients = torch.autograd.grad(theirs, tensors, torch.ones_like(theirs))
    of_x, of_leaves = pull(jnp.ones_like(y))
    for one, other in zip([y, of_x, *(of_leaves[name] for name in leaves)], [theirs.detach(), *gradients], strict=True):
        assert np.array_equal(one, other.numpy())


def test_jax_batches_of_rows_are_one_call_and_batches_of_leaves_are_mapped(arguments):
    x, leaves, bias = arguments
    with jax.enable_x64(True):
        rows = jax.vmap(of_jax, (0, None, None))
        assert references.difference(rows(x, leaves, bias), formula(x, leaves, bias)) < 1e-13
        text = str(jax.make_jaxpr(rows)(x, leaves, bias))
        assert text.count("drawloom_call[") == 1 and "scan" not in text
        both = jnp.stack([bias, 2 * bias])
        got, want = (jax.vmap(f, (None, None, 0))(x, leaves, both) for f in (of_jax, formula))
        assert references.difference(got, want) < 1e-13
        got, want = (jax.vmap(jax.grad(lambda leaves, x, f=f: sum(jnp.sin(y).sum() for y in f(x, leaves, bias))), (None, 0))(leaves, x)
                     for f in (of_jax, formula))
        assert references.difference(got, want) < 1e-11


def test_jax_computes_only_gradients_that_are_asked_for(arguments):
    x, leaves, bias = arguments

    def loss(a):
        return of_jax(x, {**leaves, "a": a}, bias)[0].sum()

    assert "[[[3], [0]]]" in str(jax.make_jaxpr(jax.grad(loss))(leaves["a"]))


def test_jax_refuses_what_is_no_array():
    with pytest.raises(CallError, match="structured_linear: leaf 'w' is no array"):
        jax_structured_linear(np.zeros((2, 3)), dense("w"), {"w": object()})
    with pytest.raises(CallError, match="structured_linear: x is a scalar"):
        jax_structured_linear(1.0, dense("w"), {"w": np.zeros((2, 3))})


def test_the_spec_is_read_back_from_its_text():
    _, _, *attributes = operands([known(QUERY)], dict.fromkeys(ONE), [None])
    one = spec(*attributes, "auto").vjp((1,), (0,))
    assert ops.Spec.parse(str(one)) == one
