# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.jax.op: values and derivatives of functions of rows are JAX's own, and what is no such function is refused with the reason."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import drawloom
import drawloom.jax as dj
from drawloom import ops

U64, U32 = 2.0**-53, 2.0**-24

# Roundings on the way to a number: some thirty operations, each on numbers that are some ten times the result at most.
ROUNDINGS = 1000


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def array(*shape, seed=0, dtype=np.float64):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def close(found, expected, eps=U64):
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
        assert (np.isnan(one) == np.isnan(other)).all()
        there = np.isfinite(other)
        assert (one[~there & ~np.isnan(other)] == other[~there & ~np.isnan(other)]).all()
        assert np.abs(one - other)[there].max(initial=0) <= ROUNDINGS * eps * (1 + np.abs(other[there]).max(initial=0))


def check(function, *arrays, rows=1, second=False):
    """Values, gradients of their squares, and where asked for second derivatives."""
    op, every = dj.op(function, rows=rows), tuple(range(len(arrays)))
    close(op(*arrays), function(*arrays))

    def loss(of):
        return lambda *given: sum((one**2).sum() for one in jax.tree.leaves(of(*given)))

    close(jax.grad(loss(op), every)(*arrays), jax.grad(loss(function), every)(*arrays))
    if second:
        directions = tuple(jnp.cos(one + 1) for one in arrays)
        close(*(jax.jvp(jax.grad(loss(of), every), arrays, directions) for of in (op, function)))
        close(*(jax.grad(lambda *given, of=of: sum((one * two).sum() for one, two in zip(jax.grad(loss(of), every)(*given), directions)), every)(*arrays)
                for of in (op, function)))


ROWWISE = {
    "arithmetic": lambda x: (2 - x) * x / (x * x + 1.5) - x + 3,
    "functions": lambda x: jnp.sqrt(abs(x)) + jnp.log(1 + x * x) + jnp.exp(-x * x) + jax.scipy.special.erf(x) + jnp.cos(x) * jax.lax.rsqrt(1 + x * x),
    "more functions": lambda x: jnp.cbrt(x * x + 1) + jnp.tan(x / 4) + jnp.arctan(x) + jnp.sinh(x) + jnp.cosh(x) + jnp.arcsinh(x) + jnp.log1p(x * x) + jnp.expm1(x),
    "powers": lambda x: x**3 + (1 + x * x) ** -1.5 + 2.0**x + jnp.square(x) + (x * x + 1) ** 0.5 + (x * x + 1) ** -9 + 3.0 ** x + (x * x + 1) ** x,
    "smooth": lambda x: jax.nn.silu(x) + jax.nn.gelu(x) + jax.nn.gelu(x, approximate=False) + jax.nn.softplus(x) + jax.nn.sigmoid(x) + jnp.tanh(x) + jax.nn.mish(x),
    "bent": lambda x: jax.nn.relu(x) + jax.nn.relu6(4 * x) + jax.nn.elu(x) + jax.nn.selu(x) + jax.nn.celu(x) + jax.nn.leaky_relu(x, 0.2) + jax.nn.hard_swish(4 * x),
    "log_sigmoid": lambda x: jax.nn.log_sigmoid(x) + jnp.logaddexp(x, -2 * x), "clip": lambda x: jnp.clip(x, -0.3, 0.4) + jax.lax.clamp(-0.1, x, 0.5),
    "where": lambda x: jnp.where((x > 0.1) & ~(x > 1) | (x < -1), jnp.sin(x), x * 2) + jnp.where((x > 0) ^ (x > 0.5), 0.5, x),
    "masks": lambda x: x * (x > 0) + (x >= 0.5).astype(x.dtype) + jnp.where(jnp.isfinite(x) & (x != 0), x, 0),
    "maximum": lambda x: jnp.maximum(x, jnp.cos(x)) + jnp.minimum(x, -x), "remainder": lambda x: x % 0.7 + jnp.fmod(x, 0.3) + jnp.floor(x) + jnp.ceil(x) + jnp.round(x),
    "sign": lambda x: x * jnp.sign(x - 0.5) + abs(x), "hypot": lambda x: jnp.hypot(x, x[:, ::-1]),
    "softmax": lambda x: jax.nn.softmax(x) + jax.nn.log_softmax(x), "logsumexp": lambda x: x - jax.nn.logsumexp(x, -1, keepdims=True),
    "sums": lambda x: x - x.mean(-1, keepdims=True) + x.sum(-1)[:, None], "extremes": lambda x: x - x.max(-1, keepdims=True) + x.min(-1, keepdims=True),
    "variance": lambda x: x / (x.var(-1, keepdims=True) + x.std(-1, keepdims=True)), "norm": lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True),
    "concatenate": lambda x: jnp.concatenate([x, x * x, x[:, 2:5]], -1), "split": lambda x: jnp.split(x, [2], -1)[1] * x[:, :1],
    "stack": lambda x: jnp.stack([x, -x], -1).reshape(x.shape[0], -1), "strides": lambda x: x[:, 1::2] * x[:, ::2], "select": lambda x: x[:, 3, None] * x,
    "places": lambda x: x[:, jnp.array([0, 5, 2])] * 2, "pad": lambda x: jnp.pad(x, ((0, 0), (1, 2)), constant_values=0.5) ** 2,
    "roll": lambda x: jnp.roll(x, 2, -1) * x[:, ::-1],
    "tile": lambda x: jnp.tile(x, (1, 3)) * 2, "groups": lambda x: (x.reshape(-1, 3, 2) * x.reshape(-1, 3, 2).mean(1, keepdims=True)).reshape(x.shape),
    "turned": lambda x: jnp.sin(x.reshape(-1, 3, 2).swapaxes(1, 2).reshape(x.shape)), "made": lambda x: x * jnp.arange(6) + jnp.linspace(0, 1, 6) + jnp.eye(6)[2],
    "constants": lambda x: x * np.arange(6.0) + jnp.array([1.0, -2, 3, 0, 0.5, 1]), "stopped": lambda x: jax.lax.stop_gradient(jnp.sin(x)) * x + x,
    "stopped twice": lambda x: jax.lax.stop_gradient(x) * x + jax.lax.stop_gradient(x * x),
    "stopped twice in a row": lambda x: (lambda y: y * jax.lax.stop_gradient(jnp.sin(y)))(x * jax.lax.stop_gradient(jnp.sin(x))),
    "stopped beside zeros": lambda x: jnp.maximum(x, 0.0) * jax.lax.stop_gradient(x) + jax.lax.stop_gradient(jnp.maximum(x - 0.5, 0.0)) * x,
    "types": lambda x: x.astype(jnp.float32).astype(jnp.float64) + jnp.exp(x), "several": lambda x: (jnp.sin(x), x.sum(-1)),
    "checkpoint": lambda x: jax.checkpoint(jnp.sin)(x) * x,
    "inner jit": lambda x: jax.jit(lambda y: jnp.cos(y) * y)(x),
}


@pytest.mark.parametrize("name", ROWWISE)
def test_functions_of_rows_are_jaxs(name):
    x = array(5, 6)
    function = ROWWISE[name]
    if name == "types":
        # Rounded to float32 on the way, and so are gradients.
        return close(dj.op(function)(x), function(x))
    check(function, x, second=name not in ("powers",))


def test_products_in_all_orientations():
    w = array(4, 6, seed=1)
    check(lambda x, w: jax.nn.silu(x @ w) @ w.T, array(5, 4), w, second=True)
    check(lambda x, w: jnp.einsum("ni,io->no", x, w) + jnp.einsum("io,ni->no", w, x) + jnp.einsum("oi,ni->no", w.T, x), array(5, 4), w)
    check(lambda x, w: jnp.einsum("ni,iab->nab", x, w.reshape(4, 2, 3)).reshape(-1, 6) * (x @ w[:, 0])[:, None], array(5, 4), w)
    check(lambda x, w: jnp.einsum("nab,abo->no", x.reshape(-1, 2, 2), w.reshape(2, 2, 6)), array(5, 4), w)
    check(lambda q, m, w: (m * (q @ w)[:, None]).sum(-1), array(5, 4), array(5, 3, 6, seed=2), w, rows=2)


def gated(x, gate, up, down, *, sharpness=1.0):
    return (jax.nn.sigmoid(sharpness * (x @ gate)) * (x @ up)) @ down


WEIGHTS = [(4, 8), (4, 8), (8, 4)]


def test_a_call_takes_any_extents_and_options():
    op, weights = dj.op(gated), [array(*size, seed=i) for i, size in enumerate(WEIGHTS)]
    for shape in ((4,), (1, 4), (3, 4), (2, 3, 4), (2, 1, 3, 4), (0, 4)):
        x = array(*shape)
        close(op(x, *weights, sharpness=2.0), gated(x, *weights, sharpness=2.0))
    close(op(np.asarray(x), *weights), gated(x, *weights))


def test_one_program_is_for_any_number_of_rows():
    op, weights = dj.op(gated), [array(*size, seed=i) for i, size in enumerate(WEIGHTS)]
    gradient = jax.grad(lambda x, *weights: op(x, *weights).sum(), (0, 1))
    gradient(array(5, 4), *weights)
    before = ops._build_open.cache_info().misses
    for rows in (1, 2, 77, 300):
        close(gradient(array(rows, 4), *weights), jax.grad(lambda x, *weights: gated(x, *weights).sum(), (0, 1))(array(rows, 4), *weights))
    assert ops._build_open.cache_info().misses == before


def test_transformations():
    op, weights, x = dj.op(gated), [array(*size, seed=i) for i, size in enumerate(WEIGHTS)], array(6, 5, 4)
    for of in (jax.jit, lambda one: jax.vmap(one, (0, None, None, None)), lambda one: jax.vmap(one, (1, None, None, None), 1), jax.checkpoint):
        close(of(op)(x, *weights), of(gated)(x, *weights))
    many = [jnp.stack([one, 2 * one]) for one in weights]
    close(*(jax.vmap(one, (None, 0, 0, 0))(x[0], *many) for one in (op, gated)))
    close(*(jax.vmap(jax.hessian(lambda x, one=one: one(x, *weights).sum()))(x[0]) for one in (op, gated)))
    close(*(jax.vmap(jax.grad(lambda w, x, one=one: one(x, w, *weights[1:]).sum()), (None, 0))(weights[0], x) for one in (op, gated)))


def test_a_batch_of_vmap_is_more_rows():
    op, w = dj.op(lambda x, w: jnp.tanh(x @ w)), array(4, 3)
    for of in (op, jax.grad(lambda x, w: op(x, w).sum())):
        jaxpr = jax.make_jaxpr(jax.vmap(of, (0, None)))(array(6, 5, 4), w)
        assert "scan" not in str(jaxpr) and "60" not in str(jaxpr)


@pytest.mark.parametrize("dtype, eps", [(jnp.float32, U32), (jnp.bfloat16, 2.0**-8), (jnp.float16, 2.0**-11)])
def test_types(dtype, eps):
    x, weights = array(50, 4).astype(dtype), [array(*size, seed=i).astype(dtype) for i, size in enumerate(WEIGHTS)]
    found, expected = dj.op(gated)(x, *weights), gated(x.astype(jnp.float64), *[one.astype(jnp.float64) for one in weights])
    assert found.dtype == dtype
    # Two products and the result are rounded to the type; numbers of a sum of 8 are as large as the largest together.
    assert jnp.abs(found - expected).max() <= 8 * 8 * eps * jnp.abs(expected).max()
    assert all(one.dtype == dtype for one in jax.grad(lambda *given: dj.op(gated)(*given).sum(), (0, 1))(x, *weights))


def test_slopes_and_values_where_there_are_two_or_none():
    x = jnp.array([[-3, -0.5, 0, 0.5, 3, 6], [0] * 6, [1, 1, 2, 2, -1, -1], [jnp.inf, -jnp.inf, 1, jnp.nan, 0.25, 1e300]])
    functions = [abs, jax.nn.relu, jax.nn.relu6, lambda x: jnp.maximum(x, -x), lambda x: jnp.minimum(x, x * x), lambda x: jnp.maximum(x, 0), jnp.sign, jax.nn.softplus,
                 lambda x: jax.lax.clamp(-0.5, x, 0.5), lambda x: jnp.clip(x, -0.5, 3), lambda x: jnp.logaddexp(x, jnp.zeros_like(x)), jnp.isfinite, lambda x: x == x,
                 lambda x: jnp.where(jnp.isnan(x), 0.0, x), lambda x: x.max(-1), lambda x: x.min(-1)]
    for function in functions:
        def of_floats(x, function=function):
            y = function(x)
            return y.astype(x.dtype)

        found, expected = dj.op(of_floats)(x), of_floats(x)
        close(found, expected)
        if function not in (jnp.isfinite,):
            weights = array(*expected[:3].shape)
            close(*(jax.grad(lambda x, of=of: (of(x)[:3] * weights).sum())(x[:3]) for of in (dj.op(of_floats), of_floats)))


@jax.custom_jvp
def custom(x):
    return jnp.sin(x)


custom.defjvp(lambda given, moved: (custom(given[0]), 3 * moved[0]))


@jax.custom_vjp
def backward(x):
    return jnp.sin(x)


backward.defvjp(lambda x: (backward(x), None), lambda kept, g: (3 * g,))

REFUSED = {
    "mean of rows": (lambda x: x - x.mean(0), r"reduce_sum: it goes over the rows \(test_own_ops.py:\d+\)"),
    "turned rows": (lambda x: (x @ x.T) @ x, "it moves the dimension of rows"), "rows behind": (lambda x: jnp.concatenate([x, x]), "it puts rows behind one another"),
    "some rows": (lambda x: x + x[:1], "it takes some of the rows"), "cumsum": (lambda x: jnp.cumsum(x, -1), "cumsum has no form in a program of rows"),
    "argmax": (lambda x: x + jnp.argmax(x, -1)[:, None], "argmax has no form"), "sort": (lambda x: jnp.sort(x), "sort has no form"),
    "batched": (lambda x: jnp.einsum("nij,njk->nik", x.reshape(-1, 2, 2), x.reshape(-1, 2, 2)).reshape(x.shape), "a product of matrices for each row"),
    "rows": (lambda x: x / x.shape[0], "what is done depends on the number of rows"), "values": (lambda x: x if x[0, 0] > 0 else -x, "what is done depends on values"),
    "one shared": (lambda x: jnp.ones(3), "it gives an array that all rows share"), "whole numbers": (lambda x: x.astype(jnp.int32), "int32 is no type"),
    "custom_jvp": (custom, "custom_jvp_call custom: it has a derivative of its own"), "custom_vjp": (backward, "it has a derivative of its own"),
    "scan": (lambda x: jax.lax.scan(lambda c, _: (c * 2, None), x, length=3)[0], "scan has no form"),
    "dimensions": (lambda x: x[None] * 2, "its result has the rows in 2 dimensions"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_said(name):
    function, said = REFUSED[name]
    with pytest.raises(drawloom.CallError, match=said):
        dj.op(function)(array(5, 4))


def test_what_a_function_reads_from_outside_is_a_constant_or_refused():
    large, small = array(100, 100), array(4)
    close(dj.op(lambda x: x * small)(array(5, 4)), array(5, 4) * small)
    with pytest.raises(drawloom.CallError, match="it reads an array that is no argument"):
        dj.op(lambda x: x @ large[:4])(array(5, 4))
    with pytest.raises(drawloom.CallError, match="it reads an array that is no argument"):
        jax.grad(lambda w: dj.op(lambda x: x * w)(array(5, 4)).sum())(small)


def test_arguments_that_do_not_fit():
    op = dj.op(gated)
    for given, options, said in [((3,), {}, "argument 0 is a int"), ((array(), *WEIGHTS), {}, "argument 1 is a tuple"), ((), {}, "the first 1 arguments are arrays"),
                                 ((jnp.arange(4),), {}, "argument 0 is int64"), ((array(2, 4),), {"sharpness": array(2)}, "sharpness is an array"),
                                 ((array(2, 4),), {"sharpness": [1]}, "sharpness is a list"), ((array(),), {}, "argument 0 is a scalar")]:
        with pytest.raises(drawloom.CallError, match=said):
            op(*given, **options)
    with pytest.raises(drawloom.CallError, match="its first extents are those of argument 0"):
        dj.op(lambda x, y: x + y, rows=2)(array(5, 4), array(4, 4))
    with pytest.raises(drawloom.CallError, match="rows is 0"):
        dj.op(gated, rows=0)
    with pytest.raises(drawloom.CallError, match="not of a int"):
        dj.op(3)


def test_ops_are_part_of_ops_and_say_their_programs():
    inner = dj.op(lambda x, w: jnp.tanh(x @ w))
    check(lambda x, w: inner(x, w) @ w.T if isinstance(x, jax.core.Tracer) else jnp.tanh(x @ w) @ w.T, array(5, 4), array(4, 3))

    @functools.partial(dj.op, rows=1)
    def outer(x, w):
        """What it says."""
        return inner(x, w) * 2

    text = outer.mlir(array(5, 4), array(4, 3))
    assert outer.__name__ == "outer" and outer.__doc__ == "What it says." and text.count("linalg.matmul") == 1
    assert "ad.vjp" in outer.mlir(array(5, 4), array(4, 3), gradients=True)
    assert "func.func" in outer.mlir(array(5, 4), array(4, 3), phase="blocks")
    close(drawloom.compile(text).main(np.asarray(array(5, 4)), np.asarray(array(4, 3))), 2 * jnp.tanh(array(5, 4) @ array(4, 3)))


def test_the_number_of_rows_may_be_a_symbol():
    op = dj.op(gated)
    weights = [array(*size, seed=i) for i, size in enumerate(WEIGHTS)]
    n, = jax.export.symbolic_shape("n")
    exported = jax.export.export(jax.jit(op), disabled_checks=[jax.export.DisabledSafetyCheck.custom_call("drawloom_call_1")])(
        jax.ShapeDtypeStruct((n, 4), jnp.float64), *weights)
    close(exported.call(array(9, 4), *weights), gated(array(9, 4), *weights))
