# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.jax.linrec: its functions are those of drawloom.torch.linrec, which recurrences/test_torch_recurrences.py compares with the models."""

import inspect

import jax
import numpy as np
import pytest
import torch

import drawloom
from drawloom.jax import linrec
from drawloom.torch import linrec as torch_linrec
from recurrences.test_linear_recurrences import ratio

B, T, H, K, V, M = 2, 19, 2, 8, 12, 4
# What jnp and torch may differ by in elementwise functions and in short sums around the op: a few units in the last place.
ROUNDING = 1e-6


SHAPES = {
    "q": (B, T, H, K), "k": (B, T, H, K), "v": (B, T, H, V), "p": (B, T, H, K), "a": (B, T, H, K), "b": (B, T, H, K),
    "beta": (B, T, H), "g": (B, T, H), "g_key": (B, T, H, K), "g_slot": (B, T, H, M), "g_head": (H,), "s": (B, T, H, M), "u": (H, K),
    "state": (B, H, K, V), "turned": (B, H, V, K), "slots_k": (B, H, K, M), "slots_v": (B, H, M, V),
    "x": (B, T, H, V), "z": (B, T, H, V), "dt": (B, T, H), "B": (B, T, 1, K), "C": (B, T, 1, K), "D": (H,), "bias": (H,),
    "k_steps": (B, 3 * T, H, K), "v_steps": (B, 3 * T, H, V), "beta_steps": (B, 3 * T, H)}


def draw(names):
    """Inputs by name, in float32."""
    rng = np.random.default_rng(0)
    found = {}
    for name in names:
        x = rng.standard_normal(SHAPES[name])
        if name in ("k", "k_steps", "p", "a", "b"):
            x = x / np.linalg.norm(x, axis=-1, keepdims=True)
        elif name.startswith("g"):
            x = -np.abs(x)
        elif name.startswith("beta"):
            x = 1 / (1 + np.exp(-x))
        found[name] = x.astype(np.float32)
    return found


# Calls of a module's functions; of those in EXACT, nothing around the op rounds, so that results have the same bits.
EXACT = {
    "linear_attn": lambda m, q, k, v, state: m.chunk_linear_attn(q, k, v, None, state, True, False),
    "retention": lambda m, q, k, v, state: m.chunk_retention(q, k, v, None, state, True),
    "lightning": lambda m, q, k, v, state: m.chunk_lightning_attn(q, k, v, 3, 12, 1.0, state, True),
    "simple_gla": lambda m, q, k, v, g, state: m.chunk_simple_gla(q, k, v, g, None, None, state, True),
    "simple_gla_by_heads": lambda m, q, k, v, g_head, state: m.chunk_simple_gla(q, k, v, None, g_head, None, state, True),
    "gla": lambda m, q, k, v, g_key, state: m.chunk_gla(q, k, v, g_key, 0.5, state, True),
    "gla_values_first": lambda m, q, k, v, g_key, turned: m.chunk_gla(q, k, v, g_key, None, turned, True, True),
    "rwkv6": lambda m, q, k, v, g_key, u, state: m.chunk_rwkv6(q, k, v, g_key, u, None, state, True),
    "delta_rule": lambda m, q, k, v, beta, state: m.chunk_delta_rule(q, k, v, beta, None, state, True),
    "gated_delta_rule": lambda m, q, k, v, g, beta, state: m.chunk_gated_delta_rule(q, k, v, g, beta, None, state, True),
    "gated_delta_product": lambda m, q, k_steps, v_steps, g, beta_steps, state: m.chunk_gated_delta_product(
        q, k_steps, v_steps, g, beta_steps, 3, None, state, True),
    "kda": lambda m, q, k, v, g_key, beta, state: m.chunk_kda(q, k, v, g_key, beta, None, state, True),
    "comba": lambda m, q, k, v, p, g, beta, state: m.chunk_comba(q, k, v, p, g, beta, None, state, True),
    "iplr": lambda m, q, k, v, a, b, state: m.chunk_iplr_delta_rule(q, k, v, a, b, None, state, True),
    "dplr": lambda m, q, k, v, a, b, g_key, state: m.chunk_dplr_delta_rule(q, k, v, a, b, g_key, None, state, True),
    "rwkv7": lambda m, q, k, v, a, b, g_key, state: m.chunk_rwkv7(q, g_key, k, v, a, b, 1.0, state, True),
}
OTHERS = {
    "linear_attn_normalized": lambda m, k, p, v: m.chunk_linear_attn(p * p, k * k, v)[0],
    "hgrn2": lambda m, q, g_key, v, state: m.chunk_hgrn2(q, g_key, v, 1.0, state, True),
    "delta_rule_normalized": lambda m, q, k, v, beta, state: m.chunk_delta_rule(3 * q, 2 * k, v, beta, None, state, True, True),
    "gated_delta_rule_with_all": lambda m, q, k, v, g, beta, turned: m.chunk_gated_delta_rule(
        3 * q, 2 * k, v, g, beta, None, turned, True, True, True, True, True),
    "kda_with_all": lambda m, q, k, v, g_key, beta, turned: m.chunk_kda(
        3 * q, 2 * k, v, g_key, beta, None, turned, True, use_qk_l2norm_in_kernel=True, use_beta_sigmoid_in_kernel=True,
        allow_neg_eigval=True, state_v_first=True),
    "comba_normalized": lambda m, q, k, v, p, g, beta, state: m.chunk_comba(3 * q, 2 * k, v, p, g, beta, None, state, True, True),
    "gsa": lambda m, q, k, v, s, g_slot, slots_k, slots_v: m.chunk_gsa(q, k, v, s, g_slot, None, (slots_k, slots_v), True),
    "gsa_of_averages": lambda m, q, k, v, s: m.chunk_gsa(q, k, v, s),
    "mamba2": lambda m, x, dt, g_head, B, C, D, z, bias, turned: m.chunk_mamba2(
        x, dt, g_head, B, C, D=D, z=z, dt_bias=bias, dt_softplus=True, initial_states=turned, return_final_states=True),
}


@pytest.mark.parametrize("name", [*EXACT, *OTHERS])
def test_model_is_that_of_torch(name):
    """Its results and gradients."""
    call = {**EXACT, **OTHERS}[name]
    inputs = list(draw(list(inspect.signature(call).parameters)[1:]).values())
    leaves = [torch.from_numpy(x).requires_grad_() for x in inputs]
    wanted = jax.tree.leaves(call(torch_linrec, *leaves))
    random = torch.Generator().manual_seed(0)
    cotangents = [torch.randn(one.shape, generator=random) for one in wanted]
    wanted += torch.autograd.grad(wanted, leaves, cotangents)
    if name in EXACT:
        for ours, theirs in zip(jax.tree.leaves(call(linrec, *inputs)), wanted):
            np.testing.assert_array_equal(ours, theirs.detach().numpy())

    @jax.jit
    def found(inputs, cotangents):
        results, pull = jax.vjp(lambda *arrays: jax.tree.leaves(call(linrec, *arrays)), *inputs)
        return [*results, *pull(cotangents)]

    found = found(inputs, [one.numpy() for one in cotangents])
    assert [(one.shape, str(one.dtype)) for one in found] == [(tuple(one.shape), "float32") for one in wanted]
    errors = [ratio(torch.from_numpy(np.array(ours)), theirs.detach().double()) for ours, theirs in zip(found, wanted)]
    assert max(errors) <= ROUNDING, errors


def test_float64_stays_float64():
    """Around the op, too: normalisation and sigmoids."""
    q, k, v, g, beta = (x.astype(np.float64) for x in draw(["q", "k", "v", "g", "beta"]).values())
    with jax.enable_x64(True):
        o, final = linrec.chunk_gated_delta_rule(*map(jax.numpy.asarray, (q, k, v, g, beta)), output_final_state=True,
                                                 use_qk_l2norm_in_kernel=True, use_beta_sigmoid_in_kernel=True)
    unit = [x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6) for x in (q, k)]
    wanted = torch_linrec.chunk_gated_delta_rule(*map(torch.from_numpy, (*unit, v, g, 1 / (1 + np.exp(-beta)))), output_final_state=True)
    assert o.dtype == final.dtype == np.float64
    assert max(ratio(torch.from_numpy(np.array(a)), b) for a, b in zip((o, final), wanted)) <= 1e-14


def test_names_and_arguments_are_those_of_torch():
    """Whose functions have more of both: what flash-linear-attention says of gates, directions and GPUs."""
    for name in linrec.__all__:
        ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (linrec, torch_linrec))
        for one in ours.values():
            assert one.name in theirs, (name, one.name)
            assert one.default in (one.empty, theirs[one.name].default), (name, one.name)
    assert set(linrec.__all__) < set(torch_linrec.__all__)


def packed(starts):
    return linrec.chunk_gla(*(x[:1] for x in draw(["q", "k", "v", "g_key"]).values()), cu_seqlens=starts, output_final_state=True)


def test_starts_are_looked_at_where_they_have_values():
    o, final = packed(np.array([0, 7, 7, T]))
    traced, _ = jax.jit(packed)(np.array([0, 7, 7, T]))
    assert final.shape == (3, H, K, V)
    np.testing.assert_array_equal(o, traced)
    with pytest.raises(drawloom.CallError, match="decrease: entry 2 is 3 after 7"):
        packed(np.array([0, 7, 3, T]))
    with pytest.raises(drawloom.CallError, match=f"go from 0 to 7; they go from 0 to the number of tokens, {T}"):
        packed(jax.numpy.array([0, 7]))


@pytest.mark.parametrize("words, call", [
    ("decays are given once", lambda x: linrec.chunk_simple_gla(x["q"], x["k"], x["v"], x["g"], x["g_head"])),
    ("the sum of all keys", lambda x: linrec.chunk_linear_attn(x["q"], x["k"], x["v"], initial_state=x["state"])),
    ("averages over all tokens", lambda x: linrec.chunk_gsa(x["q"], x["k"], x["v"], x["s"], cu_seqlens=np.array([0, T]))),
    ("decay has the shape", lambda x: linrec.chunk_gla(x["q"], x["k"], x["v"], x["g_slot"])),
])
def test_error_says_what_fits(words, call):
    with pytest.raises(drawloom.CallError, match=words):
        call(draw(SHAPES))
