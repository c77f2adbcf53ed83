# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.linrec against flash-linear-attention's own references, from its package on PyPI, and its signatures.

Their references go token by token, or chunk by chunk, in torch, in float32. Here they run in float64 (`Double`), text and all, so that
what is measured is the error of the functions under test and not that of the reference. Outputs, final states and all gradients
are compared, with initial states and cotangents of both results.
"""

import importlib
import inspect
import re
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

import drawloom
from drawloom.torch import linrec
from recurrences.test_linear_recurrences import ratio

with warnings.catch_warnings():
    # On a machine without a GPU it says so.
    warnings.simplefilter("ignore")
    fla = pytest.importorskip("fla.ops", reason="flash-linear-attention is not installed")

# What is rounded along the longest way, 100 tokens and the sums over at most 64 channels in each, has either sign: the root mean
# square of n such roundings is sqrt(n) u, some 13 u, and a gradient goes the way twice, the states' and its own. 50 u. A decay is
# exp(g), and |g| u of it are not known; those that are strong multiply what they do not know by exp(g), 0.4 u at most.
NEAR = 50 * 2.0**-24
# In float64 the reference rounds as often.
EXACT = 100 * 2.0**-53
# Results of 16 bits are rounded once, to a unit in the last place of 2^-8 or 2^-11, by half of that at most.
HALF = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
# [batch, tokens, heads, K, V]: two chunks, the last of which is not full, and sizes of keys and values that differ.
SHAPE = (2, 35, 2, 16, 24)
# Those of their tests, with fewer tokens: one sequence of one head, sizes that are no power of two, values that are more than
# keys, one token.
SHAPES = {"GLA, decays / 1": [(1, 63, 1, 64, 64), (2, 100, 2, 60, 24), (1, 1, 2, 32, 32)], "gated delta rule": [(1, 17, 4, 16, 100)]}


@pytest.fixture(autouse=True)
def same_numbers():
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Double(TorchFunctionMode):
    """float64 wherever the code below says float32."""

    def __torch_function__(self, function, types, arguments=(), named=None):
        def wide(x):
            return torch.float64 if x is torch.float32 else x

        if function is torch.Tensor.float:
            return arguments[0].double()
        return function(*map(wide, arguments), **{key: wide(x) for key, x in (named or {}).items()})


def naive(path, name):
    return getattr(importlib.import_module(path), name)


def heads_first(function, *inputs, **options):
    """A reference whose tensors are [batch, heads, tokens, size]."""
    results = function(*(x.transpose(1, 2) if isinstance(x, torch.Tensor) and x.dim() > 2 else x for x in inputs), **options)
    results = results if isinstance(results, tuple) else (results, None)
    return results[0].transpose(1, 2), results[1]


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def rows(shape):
    """q, k, v and an initial state."""
    b, t, h, k, v = shape
    return draw(b, t, h, k), draw(b, t, h, k), draw(b, t, h, v), draw(b, h, k, v)


def unit(shape):
    q, k, v, s = rows(shape)
    return q, F.normalize(k, dim=-1), v, s


def decays(shape, *sizes, normalizer=1.0):
    return F.logsigmoid(draw(*shape[:2], *sizes)) / normalizer


def shares(shape, *sizes):
    return torch.sigmoid(draw(*shape[:2], *sizes))


def with_state(function, *inputs, initial_state, **options):
    return function(*inputs, initial_state=initial_state, output_final_state=True, **options)


def per_head_decays(x, slopes):
    return slopes.to(x.dtype).expand(*x.shape[:2], x.shape[2])


def retention_slopes(heads):
    return torch.log1p(-torch.exp2(-5 - torch.arange(heads, dtype=torch.float64)))


def slots(shape, count=8):
    b, t, h, k, v = shape
    g = F.logsigmoid(draw(b, t, h, count))
    return draw(b, t, h, k), draw(b, t, h, k), draw(b, t, h, v), draw(b, t, h, count), g, draw(b, h, k, count), draw(b, h, count, v)


def gsa(function):
    def call(q, k, v, s, g, first, second):
        o, (keys, values) = function(q, k, v, s, g, initial_state=(first, second), output_final_state=True)
        return o, keys, values
    return call


GLA, SIMPLE, LINEAR = "fla.ops.gla.naive", "fla.ops.simple_gla.naive", "fla.ops.linear_attn.naive"
DELTA, GATED, KDA, GDN2 = "fla.ops.delta_rule.naive", "fla.ops.gated_delta_rule.naive", "fla.ops.kda.naive", "fla.ops.gdn2.naive"
COMBA, PRODUCT, GSA, ABC = "fla.ops.comba.naive", "fla.ops.gated_delta_product.naive", "fla.ops.gsa.naive", "fla.ops.abc.naive"
DPLR, IPLR = "fla.ops.generalized_delta_rule.dplr.naive", "fla.ops.generalized_delta_rule.iplr.naive"
RWKV6 = "fla.ops.rwkv6.recurrent_naive"


def low_rank(shape):
    """q, k, v, state, a and b of a transition that does not grow: b a has the eigenvalue -share."""
    q, k, v, s = unit(shape)
    return q, k, v, s, -F.normalize(draw(*k.shape), dim=-1)


def dplr_inputs(shape):
    q, k, v, s, a = low_rank(shape)
    return q, k, v, s, a, -shares(shape, shape[2], 1) * a, decays(shape, shape[2], shape[3], normalizer=4)


def iplr_inputs(shape):
    return dplr_inputs(shape)[:6]


def product_inputs(shape, steps=3):
    b, t, h, k, v = shape
    return (draw(b, t, h, k), F.normalize(draw(b, t * steps, h, k), dim=-1), draw(b, t * steps, h, v), draw(b, h, k, v),
            decays(shape, h), 2 * torch.sigmoid(draw(b, t * steps, h)))


# name -> (ours, theirs, inputs of a shape). Both are functions of the inputs and give an output and a state, or more states.
MODELS = {
    "linear attention": (
        lambda q, k, v, s: with_state(linrec.chunk_linear_attn, q, k, v, initial_state=s, normalize=False),
        lambda q, k, v, s: with_state(naive(LINEAR, "naive_recurrent_linear_attn"), q, k, v, initial_state=s), rows),
    "normalized linear attention": (
        lambda q, k, v, s, z: (lambda o, f: (o, *f))(*with_state(linrec.chunk_linear_attn, q, k, v, initial_state=(s, z))),
        lambda q, k, v, s, z: (lambda o, f: (o, *f))(*with_state(naive(LINEAR, "naive_recurrent_linear_attn"), q, k, v,
                                                                initial_state=(s, z), normalize=True)),
        lambda shape: (*(x.abs() for x in rows(shape)), draw(shape[0], 1, shape[2], shape[3]).abs())),
    "retention": (
        lambda q, k, v: (linrec.chunk_retention(q, k, v)[0],),
        lambda q, k, v: heads_first(naive("fla.ops.retention.naive", "naive_retention"), q, k, v)[:1], lambda shape: rows(shape)[:3]),
    "retention, states": (
        lambda q, k, v, s: with_state(linrec.fused_recurrent_retention, q, k, v, initial_state=s),
        lambda q, k, v, s: with_state(naive(SIMPLE, "naive_recurrent_simple_gla"), q, k, v,
                                      per_head_decays(q, retention_slopes(q.shape[2])), initial_state=s), rows),
    "lightning attention": (
        lambda q, k, v, s: with_state(linrec.chunk_lightning_attn, q, k, v, 3, 12, initial_state=s),
        lambda q, k, v, s: with_state(naive(SIMPLE, "naive_recurrent_simple_gla"), q, k, v, per_head_decays(
            q, -(8 / q.shape[2]) * (1 - 3 / 12) * torch.arange(q.shape[2], dtype=torch.float64)), initial_state=s), rows),
    "simple GLA": (
        lambda q, k, v, s, g: with_state(linrec.chunk_simple_gla, q, k, v, g, initial_state=s),
        lambda q, k, v, s, g: with_state(naive(SIMPLE, "naive_recurrent_simple_gla"), q, k, v, g, initial_state=s),
        lambda shape: (*rows(shape), decays(shape, shape[2]))),
    "simple GLA by chunks": (
        lambda q, k, v, s, g: with_state(linrec.fused_chunk_simple_gla, q, k, v, g, initial_state=s),
        lambda q, k, v, s, g: with_state(naive(SIMPLE, "naive_chunk_simple_gla"), q, k, v, g, initial_state=s),
        lambda shape: (*rows(shape), decays(shape, shape[2]))),
    "simple GLA in parallel": (
        lambda q, k, v, g: linrec.parallel_simple_gla(q, k, v, g)[:1],
        lambda q, k, v, g: naive(SIMPLE, "naive_parallel_simple_gla")(q, k, v, g)[:1],
        lambda shape: (*rows(shape)[:3], decays(shape, shape[2]))),
    **{f"GLA, decays / {normalizer}": (
        lambda q, k, v, s, g: with_state(linrec.chunk_gla, q, k, v, g, initial_state=s),
        lambda q, k, v, s, g: with_state(naive(GLA, "naive_recurrent_gla"), q, k, v, g, initial_state=s),
        lambda shape, normalizer=normalizer: (*rows(shape), decays(shape, *shape[2:4], normalizer=normalizer)))
       for normalizer in (0.1, 1, 10)},
    "HGRN2": (
        lambda q, v, s, g: with_state(linrec.chunk_hgrn2, q, g, v, None, initial_state=s),
        lambda q, v, s, g: with_state(naive(GLA, "naive_recurrent_gla"), q, -torch.expm1(g), v, g, initial_state=s),
        lambda shape: (*(rows(shape)[i] for i in (0, 2, 3)), decays(shape, *shape[2:4]))),
    "RWKV-6": (
        lambda r, k, v, s, w, u: with_state(linrec.chunk_rwkv6, r, k, v, w, u, initial_state=s),
        lambda r, k, v, s, w, u: heads_first(naive(RWKV6, "naive_recurrent_rwkv6"), r, k, v, w, u, initial_state=s,
                                             output_final_state=True),
        lambda shape: (*rows(shape), -draw(*shape[:4]).exp(), draw(*shape[2:4]))),
    "delta rule": (
        lambda q, k, v, s, b: with_state(linrec.chunk_delta_rule, q, k, v, b, initial_state=s),
        lambda q, k, v, s, b: heads_first(naive(DELTA, "delta_rule_recurrence"), q, k, v, b, initial_state=s),
        lambda shape: (*unit(shape), shares(shape, shape[2]))),
    "gated delta rule": (
        lambda q, k, v, s, g, b: with_state(linrec.chunk_gated_delta_rule, q, k, v, g, b, initial_state=s),
        lambda q, k, v, s, g, b: with_state(naive(GATED, "naive_recurrent_gated_delta_rule"), q, k, v, b, g, initial_state=s),
        lambda shape: (*unit(shape), decays(shape, shape[2]), shares(shape, shape[2]))),
    "gated delta rule by chunks": (
        lambda q, k, v, s, g, b: with_state(linrec.fused_recurrent_gated_delta_rule, q, k, v, g, beta=b, initial_state=s),
        lambda q, k, v, s, g, b: with_state(naive(GATED, "naive_chunk_gated_delta_rule"), q, k, v, g, b, initial_state=s),
        lambda shape: (*unit(shape), decays(shape, shape[2]), shares(shape, shape[2]))),
    "KDA": (
        lambda q, k, v, s, g, b: with_state(linrec.chunk_kda, q, k, v, g, b, initial_state=s),
        lambda q, k, v, s, g, b: with_state(naive(KDA, "naive_recurrent_kda"), q, k, v, g, b, initial_state=s),
        lambda shape: (*unit(shape), decays(shape, *shape[2:4]), shares(shape, shape[2]))),
    "KDA, heads of values": (
        lambda q, k, v, s, g, b: with_state(linrec.fused_recurrent_kda, q, k, v, g, b, initial_state=s),
        lambda q, k, v, s, g, b: with_state(naive(KDA, "naive_recurrent_kda"), q, k, v, g, b, initial_state=s),
        lambda shape: (*unit(shape)[:2], *unit((*shape[:2], 2 * shape[2], *shape[3:]))[2:],
                       decays(shape, 2 * shape[2], shape[3]), shares(shape, 2 * shape[2]))),
    "GDN-2": (
        lambda q, k, v, s, g, b, w: with_state(linrec.chunk_gdn2, q, k, v, g, b, w, initial_state=s),
        lambda q, k, v, s, g, b, w: with_state(naive(GDN2, "naive_recurrent_gdn2"), q, k, v, g, b, w, initial_state=s),
        lambda shape: (*unit(shape), decays(shape, *shape[2:4]), shares(shape, *shape[2:4]), shares(shape, shape[2], shape[4]))),
    "Comba": (
        # Of two references, the one token by token reads after the decay, unlike their kernels and their chunks.
        lambda q, k, v, s, p, g, b: with_state(linrec.chunk_comba, q, k, v, p, g, b, initial_state=s),
        lambda q, k, v, s, p, g, b: with_state(naive(COMBA, "naive_chunk_comba"), q, k, v, p, g, b, initial_state=s),
        lambda shape: (*unit(shape), 0.5 * F.normalize(draw(*shape[:4]), dim=-1), decays(shape, shape[2], normalizer=4),
                       shares(shape, shape[2]))),
    "Gated DeltaProduct": (
        lambda q, k, v, s, g, b: with_state(linrec.chunk_gated_delta_product, q, k, v, g, b, 3, initial_state=s),
        lambda q, k, v, s, g, b: with_state(naive(PRODUCT, "naive_recurrent_gated_delta_product"), q, k, v, g, b,
                                            q.shape[-1]**-0.5, initial_state=s, num_householder=3), product_inputs),
    "DeltaProduct": (
        lambda q, k, v, s, b: with_state(linrec.chunk_gated_delta_product, q, k, v, None, b, 3, initial_state=s),
        lambda q, k, v, s, b: with_state(naive(PRODUCT, "naive_recurrent_gated_delta_product"), q, k, v, None, b,
                                         q.shape[-1]**-0.5, initial_state=s, num_householder=3),
        lambda shape: tuple(x for i, x in enumerate(product_inputs(shape)) if i != 4)),
    "IPLR": (
        lambda q, k, v, s, a, b: with_state(linrec.chunk_iplr_delta_rule, q, k, v, a, b, initial_state=s),
        lambda q, k, v, s, a, b: heads_first(naive(IPLR, "iplr_recurrence"), q, k, v, a, b, initial_state=s), iplr_inputs),
    "DPLR": (
        lambda q, k, v, s, a, b, g: with_state(linrec.chunk_dplr_delta_rule, q, k, v, a, b, g, initial_state=s),
        lambda q, k, v, s, a, b, g: heads_first(naive(DPLR, "dplr_recurrence"), q, k, v, a, b, g, initial_state=s), dplr_inputs),
    "RWKV-7": (
        lambda q, k, v, s, a, b, g: with_state(linrec.chunk_rwkv7, q, g, k, v, a, b, None, initial_state=s),
        lambda q, k, v, s, a, b, g: heads_first(naive(DPLR, "dplr_recurrence"), q, k, v, a, b, g, initial_state=s), dplr_inputs),
    "RWKV-7 of rates": (
        lambda q, k, v, s, kk, a, g: with_state(linrec.fused_mul_recurrent_rwkv7, q, g, k, v, kk, a, None, initial_state=s),
        lambda q, k, v, s, kk, a, g: heads_first(naive(DPLR, "dplr_recurrence"), q, k, v, -kk, kk * a, g, initial_state=s),
        lambda shape: (*unit(shape), F.normalize(draw(*shape[:4]), dim=-1), shares(shape, *shape[2:4]),
                       decays(shape, *shape[2:4], normalizer=4))),
    "GSA": (gsa(linrec.chunk_gsa), lambda *inputs: gsa(naive(GSA, "naive_recurrent_gsa"))(*inputs), slots),
    "GSA without gates": (
        lambda q, k, v, s: linrec.fused_recurrent_gsa(q, k, v, s)[:1],
        lambda q, k, v, s: naive(GSA, "naive_recurrent_gsa")(q, k, v, s)[:1], lambda shape: slots(shape)[:4]),
    "ABC": (
        lambda q, k, v, s: linrec.chunk_abc(q, k, v, s)[:1],
        lambda q, k, v, s: heads_first(naive(ABC, "naive_cumsum_abc"), q, k, v, s)[:1], lambda shape: slots(shape)[:4]),
}


def everything(function, inputs, cotangents=None):
    """Results and gradients of all inputs, and the cotangents that were drawn for them."""
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    results = [r for r in function(*leaves) if r is not None]
    if cotangents is None:
        cotangents = [torch.randn(r.shape, dtype=torch.float64) for r in results]
    gradients = torch.autograd.grad(results, leaves, [c.to(r.dtype) for c, r in zip(cotangents, results)])
    return [r.detach() for r in (*results, *gradients)], cotangents


def compare(name, shape, dtype, tolerance):
    ours, theirs, inputs = MODELS[name]
    # The reference gets what the function gets, rounded or not.
    inputs = [x.to(dtype) for x in inputs(shape)]
    with Double():
        expected, cotangents = everything(theirs, [x.double() for x in inputs])
    assert all(x.dtype == torch.float64 for x in expected)
    found, _ = everything(ours, inputs, cotangents)
    errors = [ratio(a, b) if b.abs().max() > 0 else float(a.abs().max()) for a, b in zip(found, expected)]
    assert max(errors) <= tolerance, errors


@pytest.mark.parametrize("name", MODELS)
def test_model_is_theirs(name):
    compare(name, SHAPE, torch.float32, NEAR)


@pytest.mark.parametrize("name", ["linear attention", "retention, states", "GLA, decays / 1", "delta rule", "DPLR"])
def test_model_is_theirs_in_double(name):
    compare(name, SHAPE, torch.float64, EXACT)


@pytest.mark.parametrize("name, shape", [(name, shape) for name, shapes in SHAPES.items() for shape in shapes], ids=str)
def test_model_is_theirs_for_any_size(name, shape):
    compare(name, shape, torch.float32, NEAR)


@pytest.mark.parametrize("name, dtype", [("GLA, decays / 1", torch.bfloat16), ("gated delta rule", torch.float16)], ids=str)
def test_halves_are_rounded_once(name, dtype):
    ours, theirs, inputs = MODELS[name]
    q, k, v, s, *gates = inputs(SHAPE)
    inputs = [q.to(dtype), k.to(dtype), v.to(dtype), s.float(), *(g.float() for g in gates)]
    wide = [x.double() for x in inputs]
    # The cotangent of the output has 16 bits, too.
    cotangents = [draw(*v.shape).to(dtype).double(), draw(*s.shape)]
    with Double():
        expected, _ = everything(theirs, wide, cotangents)
    found, _ = everything(ours, inputs, cotangents)
    errors = [ratio(a, b) for a, b in zip(found, expected)]
    assert max(errors) <= HALF[dtype], errors


def oja(q, k, v, s, gv, beta):
    """fla.ops.gated_oja_rule has no reference; this is what its kernel says of a token."""
    outputs = []
    for t in range(q.shape[1]):
        s = s * gv[:, t, :, None].exp()
        u = beta[:, t, :, None] * (k[:, t] - torch.einsum("bhkv,bhv->bhk", s, v[:, t]))
        s = s + u[..., None] * v[:, t, :, None]
        outputs.append(torch.einsum("bhk,bhkv->bhv", q[:, t], s) * q.shape[-1]**-0.5)
    return torch.stack(outputs, 1), s


def test_oja_rule_exchanges_keys_and_values():
    q, k, v, s = rows(SHAPE)
    inputs = [q, k, F.normalize(v, dim=-1), s, decays(q.shape, 2, 24), shares(q.shape, 2)]
    expected, cotangents = everything(oja, inputs)
    found, _ = everything(lambda q, k, v, s, g, b: with_state(linrec.chunk_gated_oja_rule, q, k, v, g, b, initial_state=s),
                          [x.float() for x in inputs], cotangents)
    errors = [ratio(a, b) for a, b in zip(found, expected)]
    assert max(errors) <= NEAR, errors


def packed(name, bounds):
    """A model whose fourth input is the state, ours packed and theirs a sequence at a time."""
    ours, theirs, inputs = MODELS[name]
    inputs = inputs((1, bounds[-1], 2, 16, 24))
    states = draw(len(bounds) - 1, *inputs[3].shape[1:])
    per_token = [i for i, x in enumerate(inputs) if i != 3 and x.dim() > 2]

    def apart(*given):
        steps = [given[i].shape[1] // bounds[-1] for i in range(len(given)) if i in per_token]
        results = []
        for n, (a, b) in enumerate(zip(bounds, bounds[1:])):
            if a == b:
                results.append((given[0][:, :0, :, :1].expand(1, 0, 2, 24), given[3][n:n + 1]))
                continue
            parts = list(given)
            for i, step in zip(per_token, steps):
                parts[i] = given[i][:, a * step:b * step]
            parts[3] = given[3][n:n + 1]
            results.append(theirs(*parts))
        return torch.cat([o for o, _ in results], 1), torch.cat([s for _, s in results])

    inputs = [states if i == 3 else x for i, x in enumerate(inputs)]
    with Double():
        expected, cotangents = everything(apart, inputs)
    return inputs, expected, cotangents


PACKED = {
    "GLA, decays / 1": lambda q, k, v, s, g, starts: with_state(linrec.chunk_gla, q, k, v, g, initial_state=s, cu_seqlens=starts),
    "gated delta rule": lambda q, k, v, s, g, b, starts: with_state(
        linrec.chunk_gated_delta_rule, q, k, v, g, b, initial_state=s, cu_seqlens=starts),
    "Gated DeltaProduct": lambda q, k, v, s, g, b, starts: with_state(
        linrec.chunk_gated_delta_product, q, k, v, g, b, 3, initial_state=s, cu_seqlens=starts),
}


@pytest.mark.parametrize("name", PACKED)
def test_sequences_are_packed(name):
    bounds = [0, 0, 15, 16, 40, 40, 70]
    inputs, expected, cotangents = packed(name, bounds)
    found, _ = everything(lambda *x: PACKED[name](*x, torch.tensor(bounds)), [x.float() for x in inputs], cotangents)
    errors = [ratio(a, b) for a, b in zip(found, expected)]
    assert max(errors) <= NEAR, errors


def reversed_model(name, function):
    """Ours with reverse, and theirs of the tokens in reverse order."""
    _, theirs, inputs = MODELS[name]

    def flipped(*given):
        o, *states = theirs(*(x.flip(1) if i != 3 and x.dim() > 2 else x for i, x in enumerate(given)))
        return o.flip(1), *states

    inputs = inputs(SHAPE)
    with Double():
        expected, cotangents = everything(flipped, inputs)
    found, _ = everything(function, [x.float() for x in inputs], cotangents)
    return [ratio(a, b) for a, b in zip(found, expected)]


@pytest.mark.parametrize("name, function", [
    ("GLA, decays / 1", lambda q, k, v, s, g: with_state(linrec.fused_recurrent_gla, q, k, v, g, initial_state=s, reverse=True)),
    ("simple GLA", lambda q, k, v, s, g: with_state(linrec.fused_recurrent_simple_gla, q, k, v, g, initial_state=s, reverse=True)),
    ("retention, states", lambda q, k, v, s: with_state(linrec.fused_recurrent_retention, q, k, v, initial_state=s, reverse=True)),
    ("RWKV-6", lambda q, k, v, s, w, u: with_state(linrec.fused_recurrent_rwkv6, q, k, v, w, u, initial_state=s, reverse=True)),
    ("DPLR", lambda q, k, v, s, a, b, g: with_state(linrec.fused_recurrent_dplr_delta_rule, q, k, v, a, b, g, initial_state=s,
                                                    reverse=True)),
    ("linear attention", lambda q, k, v, s: with_state(linrec.fused_recurrent_linear_attn, q, k, v, initial_state=s, reverse=True)),
])
def test_reverse_goes_from_the_last_token(name, function):
    errors = reversed_model(name, function)
    assert max(errors) <= NEAR, errors


def test_reverse_of_packed_sequences_is_that_of_each():
    q, k, v, s = (x.float() for x in rows((1, 40, 2, 16, 24)))
    g, s = decays(q.shape, 2, 16).float(), draw(3, 2, 16, 24).float()
    o, final = linrec.fused_recurrent_gla(q, k, v, g, initial_state=s, output_final_state=True, reverse=True,
                                          cu_seqlens=torch.tensor([0, 7, 7, 40]))
    for n, (a, b) in enumerate([(0, 7), (7, 7), (7, 40)]):
        one, last = linrec.fused_recurrent_gla(*(x[:, a:b].flip(1) for x in (q, k, v, g)), initial_state=s[n:n + 1],
                                               output_final_state=True)
        assert torch.allclose(o[:, a:b], one.flip(1), atol=1e-5) and torch.allclose(final[n:n + 1], last, atol=1e-5)


def unit_norm(x):
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)


# What a layer hands over before its gates: ours with use_gate_in_kernel, theirs by their own gate.
GATES = "fla.ops.kda.gate"
LAYERS = {
    "gated delta rule": (
        lambda q, k, v, s, g, b, A, bias: with_state(
            linrec.chunk_gated_delta_rule, q, k, v, g, b, initial_state=s, use_qk_l2norm_in_kernel=True, use_gate_in_kernel=True,
            A_log=A, dt_bias=bias, use_beta_sigmoid_in_kernel=True, allow_neg_eigval=True),
        lambda q, k, v, s, g, b, A, bias: with_state(
            naive(GATED, "naive_recurrent_gated_delta_rule"), unit_norm(q), unit_norm(k), v, 2 * b.sigmoid(),
            naive("fla.ops.gated_delta_rule.gate", "naive_gdn_gate")(g, A, bias), initial_state=s), False),
    "gated delta rule, step by step": (
        lambda q, k, v, s, g, b, A, bias: with_state(
            linrec.fused_recurrent_gated_delta_rule, q, k, v, g, beta=b, initial_state=s, use_gate_in_kernel=True, A_log=A,
            dt_bias=bias, use_beta_sigmoid_in_kernel=True, use_qk_l2norm_in_kernel=True),
        lambda q, k, v, s, g, b, A, bias: with_state(
            naive(GATED, "naive_recurrent_gated_delta_rule"), unit_norm(q), unit_norm(k), v, b.sigmoid(),
            naive("fla.ops.gated_delta_rule.gate", "naive_gdn_gate")(g, A, bias), initial_state=s), False),
    "KDA": (
        lambda q, k, v, s, g, b, A, bias: with_state(
            linrec.chunk_kda, q, k, v, g, b, initial_state=s, use_qk_l2norm_in_kernel=True, use_gate_in_kernel=True, A_log=A,
            dt_bias=bias, use_beta_sigmoid_in_kernel=True),
        lambda q, k, v, s, g, b, A, bias: with_state(
            naive(KDA, "naive_recurrent_kda"), unit_norm(q), unit_norm(k), v,
            naive(GATES, "naive_kda_gate")(g, A, bias, output_dtype=g.dtype), b.sigmoid(), initial_state=s), True),
    "KDA, bounded": (
        lambda q, k, v, s, g, b, A, bias: with_state(
            linrec.chunk_kda, q, k, v, g, b, initial_state=s, use_qk_l2norm_in_kernel=True, use_gate_in_kernel=True, A_log=A,
            dt_bias=bias, use_beta_sigmoid_in_kernel=True, safe_gate=True, lower_bound=-5.0),
        lambda q, k, v, s, g, b, A, bias: with_state(
            naive(KDA, "naive_recurrent_kda"), unit_norm(q), unit_norm(k), v,
            naive(GATES, "naive_kda_lowerbound_gate")(g, A, bias, -5.0, g.dtype), b.sigmoid(), initial_state=s), True),
    "KDA, bounded, without A": (
        lambda q, k, v, s, g, b, bias: with_state(
            linrec.fused_recurrent_kda, q, k, v, g, b, initial_state=s, use_qk_l2norm_in_kernel=True, use_gate_in_kernel=True,
            dt_bias=bias, use_beta_sigmoid_in_kernel=True, lower_bound=-5.0),
        lambda q, k, v, s, g, b, bias: with_state(
            naive(KDA, "naive_recurrent_kda"), unit_norm(q), unit_norm(k), v,
            naive(GATES, "naive_kda_lowerbound_gate")(g, None, bias, -5.0, g.dtype), b.sigmoid(), initial_state=s), True),
}


@pytest.mark.parametrize("name", LAYERS)
def test_gates_are_those_of_the_layers(name):
    ours, theirs, keys = LAYERS[name]
    q, k, v, s = rows(SHAPE)
    g, bias = (draw(2, 35, 2, 16), draw(32)) if keys else (draw(2, 35, 2), draw(2))
    inputs = [q, k, v, s, g, draw(2, 35, 2), draw(2), bias]
    if "without A" in name:
        del inputs[6]
    with Double():
        expected, cotangents = everything(theirs, inputs)
    found, _ = everything(ours, [x.float() for x in inputs], cotangents)
    errors = [ratio(a, b) for a, b in zip(found, expected)]
    # The gradient of A_log is the sum of g dg over all tokens. Where g is strong, dg is small, and what is not known of it, which
    # is not smaller there, counts g times; g is 10 at most here, and most of the sum comes from where it is 1.
    assert max(errors) <= 4 * NEAR, errors


def test_sums_of_keys_go_on_from_a_state():
    """Of packed sequences, too, which their reference does not have."""
    q, k, v, s = (x.float().abs() for x in rows((1, 40, 2, 16, 24)))
    s, z = draw(3, 2, 16, 24).float().abs(), draw(3, 1, 2, 16).float().abs()
    bounds = [0, 7, 7, 40]
    o, (final, keys) = linrec.chunk_linear_attn(q, k, v, initial_state=(s, z), output_final_state=True, cu_seqlens=torch.tensor(bounds))
    for n, (a, b) in enumerate(zip(bounds, bounds[1:])):
        one, (last, sums) = naive(LINEAR, "naive_recurrent_linear_attn")(
            q[:, a:b], k[:, a:b], v[:, a:b], initial_state=(s[n:n + 1], z[n:n + 1]), output_final_state=True, normalize=True)
        assert ratio(o[:, a:b], one.double()) <= NEAR and ratio(final[n:n + 1], last.double()) <= NEAR
        assert ratio(keys[n:n + 1], sums.double() if a < b else z[n:n + 1].double()) <= NEAR


# --- signatures ------------------------------------------------------------------------------------------------------

# Arguments of theirs that ours lack or have otherwise, and why.
OTHERWISE = {
    ("*", "transpose_state_layout"): "the old name of state_v_first, which is still taken",
    ("*", "head_first"): "gone there, and named in the error here",
    ("*", "use_qk_l2norm_in_kernel"): "an old name in gated Oja's further arguments, which is still taken",
}


def their_functions():
    from drawloom.torch._fla._table import RECURRENCES
    return [(path, name) for path, names in RECURRENCES.items() for name in names]


@pytest.mark.parametrize("path, name", their_functions(), ids=lambda x: x.rpartition(".")[2])
def test_signature_is_theirs(path, name):
    function = getattr(importlib.import_module(path), name)
    theirs, ours = (inspect.signature(inspect.unwrap(f)).parameters for f in (function, getattr(linrec, name)))
    named = {key: p for key, p in theirs.items() if p.kind is not p.VAR_KEYWORD}
    assert {key: p.default for key, p in named.items()} == {key: ours[key].default for key in named if key in ours}
    positional = [key for key, p in named.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert list(ours)[:len(positional)] == positional
    if len(named) < len(theirs):
        # What it takes from its further arguments.
        source = inspect.getsource(inspect.unwrap(function))
        further = set(re.findall(r"kwargs\.(?:get|pop)\(['\"](\w+)['\"]", source)) | set(re.findall(r"['\"](\w+)['\"] in kwargs", source))
        assert {key for key in further if key not in ours and ("*", key) not in OTHERWISE} == set()


def test_every_recurrence_is_one_of_theirs_or_more():
    more = {"linear_recurrence", "patch_fla", "chunk_hgrn2", "chunk_mamba2", "chunk_gdn", "fused_recurrent_gdn",
            "selective_scan", "short_convolution"}
    assert set(linrec.__all__) == more | {name for _, name in their_functions()}
    assert linrec.chunk_gdn is linrec.chunk_gated_delta_rule and fla.chunk_gdn is fla.chunk_gated_delta_rule


def test_short_convolution_has_the_arguments_of_theirs():
    """But for the further ones of its CUDA backend."""
    theirs = inspect.signature(inspect.unwrap(importlib.import_module("fla.modules.causal_conv1d").causal_conv1d)).parameters
    ours = inspect.signature(linrec.short_convolution).parameters
    assert [(name, one.default) for name, one in theirs.items() if one.kind is not one.VAR_KEYWORD] == [
        (name, one.default) for name, one in ours.items()]


def test_states_go_by_their_old_name():
    q, k, v, s = (x.float() for x in rows((1, 5, 1, 4, 4)))
    beta = torch.rand(1, 5, 1)
    with pytest.warns(DeprecationWarning, match="state_v_first"):
        found = linrec.chunk_gated_delta_rule(q, k, v, None, beta, initial_state=s, output_final_state=True, transpose_state_layout=True)
    expected = linrec.chunk_gated_delta_rule(q, k, v, None, beta, initial_state=s, output_final_state=True, state_v_first=True)
    assert torch.equal(found[0], expected[0]) and torch.equal(found[1], expected[1])


def small():
    q, k, v, _ = (x.float() for x in rows((1, 5, 1, 4, 4)))
    return q, k, v, -torch.rand(1, 5, 1, 4), torch.rand(1, 5, 1)


@pytest.mark.parametrize("call, words", [
    (lambda q, k, v, g, b: linrec.chunk_delta_rule(q, k, v, b, head_first=True), "head_first is gone"),
    (lambda q, k, v, g, b: linrec.chunk_delta_rule(q, k, v, b, chunksize=64), "there is no argument 'chunksize'"),
    (lambda q, k, v, g, b: linrec.chunk_kda(q, k, v, g, b, cp_context=object()), "cp_context splits sequences"),
    (lambda q, k, v, g, b: linrec.chunk_kda(q, k, v, g, b, return_intermediate_states=True), "output_final_state gives the last"),
    (lambda q, k, v, g, b: linrec.chunk_kda(q, k, v, g, b, allow_neg_eigval=True), "multiply it by 2"),
    (lambda q, k, v, g, b: linrec.chunk_kda(q, k, v, g, b, use_gate_in_kernel=True), "A_log is missing"),
    (lambda q, k, v, g, b: linrec.chunk_kda(q, k, v, g, b, use_gate_in_kernel=True, safe_gate=True), "lower_bound, which is missing"),
    (lambda q, k, v, g, b: linrec.chunk_kda(q, k, v, g, b, use_gate_in_kernel=True, lower_bound=1.0), "log-decays are below 0"),
    (lambda q, k, v, g, b: linrec.chunk_kda(q, k, v, g, b, state_v_first=True, transpose_state_layout=True), "it is given once"),
    (lambda q, k, v, g, b: linrec.fused_recurrent_gla(q, k, v, g, g), "of keys or of values"),
    (lambda q, k, v, g, b: linrec.fused_recurrent_gated_delta_rule(q, k, v, gv=g), "go with no delta rule"),
    (lambda q, k, v, g, b: linrec.fused_recurrent_gated_delta_rule(q, k, v, use_gate_in_kernel=True), "g is missing"),
    (lambda q, k, v, g, b: linrec.parallel_simple_gla(q, k, v, output_attentions=True), "which is not computed"),
    (lambda q, k, v, g, b: linrec.chunk_gated_delta_product(q, k, v, None, b, 2), "2 for each of 5 tokens are 10"),
    (lambda q, k, v, g, b: linrec.chunk_abc(q, k, v, g, (k, v)), "averages over all tokens"),
])
def test_error_says_what_fits(call, words):
    with pytest.raises(drawloom.CallError) as error:
        call(*small())
    assert words in str(error.value)
