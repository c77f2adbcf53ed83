# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear recurrences in JAX: gated linear attention and its family, under the names and signatures of flash-linear-attention.

The functions are those of drawloom.torch.linrec, said with drawloom.jax.linear_recurrence. Layouts are [batch, tokens, heads, size],
states [sequences, heads, K, V] in float32 (float64 for float64); those of `short_convolution`, which stands in front of many, are
[sequences, D, W] in the type of x. `cu_seqlens` packs sequences: batch 1, sequence i has the tokens
cu_seqlens[i] to cu_seqlens[i + 1] - 1, possibly none. Everything is differentiable once, in reverse, initial and final states
included.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from .. import ops
from .._errors import CallError, CallTypeError
from ..ops import Spec
from ..ops.recurrences import check_starts
from ..ops.short_convolution import OPTIONAL
from ._call import call_anywhere, type_of
from .functional import _array, linear_recurrence

__all__ = ["chunk_comba", "chunk_delta_rule", "chunk_dplr_delta_rule", "chunk_gated_delta_product", "chunk_gated_delta_rule", "chunk_gla",
           "chunk_gsa", "chunk_hgrn2", "chunk_iplr_delta_rule", "chunk_kda", "chunk_lightning_attn", "chunk_linear_attn", "chunk_mamba2",
           "chunk_retention", "chunk_rwkv6", "chunk_rwkv7", "chunk_simple_gla", "linear_recurrence", "short_convolution"]


def _wide(x):
    return x if x.dtype == np.float64 else x.astype(np.float32)


def _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first=False, **more):
    if initial_state is not None:
        initial_state = _wide(initial_state)
        initial_state = initial_state.swapaxes(-1, -2) if state_v_first else initial_state
    o, final = linear_recurrence(q, k, v, initial=initial_state, starts=cu_seqlens, scale=scale, **more)
    if not output_final_state:
        return o, None
    return o, final.swapaxes(-1, -2) if state_v_first else final


def _l2norm(x):
    wide = _wide(x)
    return (wide * jax.lax.rsqrt((wide * wide).sum(-1, keepdims=True) + 1e-6)).astype(x.dtype)


def _log_decay(g, q):
    return g if g is None or q.dtype == np.float64 else g.astype(np.float32)


def _constants(decay, q):
    """Decays [H] that NumPy computed in float64."""
    return jnp.asarray(decay, np.float64 if q.dtype == np.float64 else np.float32)


def chunk_linear_attn(q: Array, k: Array, v: Array, scale: float | None = None, initial_state: Array | None = None,
                      output_final_state: bool = False, normalize: bool = True, cu_seqlens: Array | None = None):
    """Linear attention, S_t = S_{t-1} + k_t^T v_t. With normalize, o_t is divided by s q_t . (k_1 + ... + k_t)."""
    if normalize and (cu_seqlens is not None or initial_state is not None):
        raise CallError("chunk_linear_attn: normalize needs the sum of all keys, which neither initial_state nor cu_seqlens has")
    o, final = _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens)
    if normalize:
        s = q.shape[-1] ** -0.5 if scale is None else scale
        z = (_wide(q) * s * _wide(k).cumsum(1)).sum(-1, keepdims=True) + 1e-10
        o = (_wide(o) / z).astype(o.dtype)
    return o, final


def chunk_retention(q: Array, k: Array, v: Array, scale: float | None = None, initial_state: Array | None = None,
                    output_final_state: bool = False, cu_seqlens: Array | None = None):
    """RetNet: head h decays by 1 - 2^(-5-h) (arXiv 2307.08621)."""
    decay = _constants(np.log1p(-np.exp2(-5.0 - np.arange(v.shape[2]))), q)
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=decay)


def chunk_lightning_attn(q: Array, k: Array, v: Array, layer_idx: int, num_layers: int, scale: float | None = None,
                         initial_state: Array | None = None, output_final_state: bool = False, cu_seqlens: Array | None = None):
    """Lightning attention: head h of layer l of L decays by exp(-(8 / H) (1 - l / L) h) (arXiv 2405.17381)."""
    decay = _constants(-(8 / v.shape[2]) * (1 - layer_idx / num_layers) * np.arange(v.shape[2]), q)
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=decay)


def chunk_simple_gla(q: Array, k: Array, v: Array, g: Array | None = None, g_gamma: Array | None = None,
                     scale: float | None = None, initial_state: Array | None = None, output_final_state: bool = False,
                     state_v_first: bool = False, cu_seqlens: Array | None = None):
    """One log-decay for each token and head, g [B, T, H], or for each head, g_gamma [H], which has a gradient, too."""
    if g is not None and g_gamma is not None:
        raise CallError("chunk_simple_gla: there are g and g_gamma; decays are given once")
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first,
                decay=_log_decay(g if g_gamma is None else g_gamma, q))


def chunk_gla(q: Array, k: Array, v: Array, g: Array, scale: float | None = None, initial_state: Array | None = None,
              output_final_state: bool = False, state_v_first: bool = False, cu_seqlens: Array | None = None):
    """Gated linear attention, g [B, T, H, K] (arXiv 2312.06635)."""
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, decay=_log_decay(g, q))


def chunk_hgrn2(q: Array, g: Array, v: Array, scale: float | None = 1.0, initial_state: Array | None = None,
                output_final_state: bool = False, cu_seqlens: Array | None = None):
    """HGRN2: what a gate forgets is what it writes, k = 1 - exp(g) (arXiv 2404.07904)."""
    return _run(q, -jnp.expm1(g).astype(q.dtype), v, scale, initial_state, output_final_state, cu_seqlens, decay=_log_decay(g, q))


def chunk_rwkv6(r: Array, k: Array, v: Array, w: Array, u: Array, scale: float | None = None, initial_state: Array | None = None,
                output_final_state: bool = False, cu_seqlens: Array | None = None):
    """RWKV-6: reads before the update, with a bonus u [H, K] for the token itself; w are log-decays (arXiv 2404.05892)."""
    return _run(r, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=_log_decay(w, r), bonus=u)


def chunk_delta_rule(q: Array, k: Array, v: Array, beta: Array, scale: float | None = None, initial_state: Array | None = None,
                     output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False, cu_seqlens: Array | None = None):
    """DeltaNet (arXiv 2406.06484): S_t = S_{t-1} + beta_t k_t^T (v_t - k_t S_{t-1}). Keys have to be normalized."""
    if use_qk_l2norm_in_kernel:
        q, k = _l2norm(q), _l2norm(k)
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, beta=beta)


def _beta(beta, use_beta_sigmoid_in_kernel, allow_neg_eigval):
    if use_beta_sigmoid_in_kernel:
        beta = jax.nn.sigmoid(_wide(beta))
    return 2 * beta if allow_neg_eigval else beta


def chunk_gated_delta_rule(q: Array, k: Array, v: Array, g: Array, beta: Array, scale: float | None = None,
                           initial_state: Array | None = None, output_final_state: bool = False,
                           use_qk_l2norm_in_kernel: bool = False, use_beta_sigmoid_in_kernel: bool = False,
                           allow_neg_eigval: bool = False, state_v_first: bool = False, cu_seqlens: Array | None = None):
    """Gated DeltaNet (arXiv 2412.06464): the delta rule with a log-decay for each token and head, g [B, T, H]."""
    if use_qk_l2norm_in_kernel:
        q, k = _l2norm(q), _l2norm(k)
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, decay=_log_decay(g, q),
                beta=_beta(beta, use_beta_sigmoid_in_kernel, allow_neg_eigval))


def chunk_gated_delta_product(q: Array, k: Array, v: Array, g: Array | None, beta: Array, num_householder: int,
                              scale: float | None = None, initial_state: Array | None = None, output_final_state: bool = False,
                              use_qk_l2norm_in_kernel: bool = False, cu_seqlens: Array | None = None):
    """Gated DeltaProduct: num_householder steps of the delta rule for each token, of which the first decays and the last is read.
    k, v and beta are [B, T num_householder, ...], q and g [B, T, ...]; g may be None."""
    if use_qk_l2norm_in_kernel:
        q, k = _l2norm(q), _l2norm(k)
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=_log_decay(g, q), beta=beta,
                steps_per_token=num_householder)


def chunk_kda(q: Array, k: Array, v: Array, g: Array, beta: Array, scale: float | None = None, initial_state: Array | None = None,
              output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False, use_beta_sigmoid_in_kernel: bool = False,
              allow_neg_eigval: bool = False, state_v_first: bool = False, cu_seqlens: Array | None = None):
    """Kimi Delta Attention (arXiv 2510.26692): the delta rule with log-decays of each key, g [B, T, H, K]."""
    # Decays have the one dimension more that tells the two models apart.
    return chunk_gated_delta_rule(q, k, v, g, beta, scale, initial_state, output_final_state, use_qk_l2norm_in_kernel,
                                  use_beta_sigmoid_in_kernel, allow_neg_eigval, state_v_first, cu_seqlens)


def chunk_comba(q: Array, k: Array, v: Array, p: Array, g: Array, beta: Array, scale: float | None = None,
                initial_state: Array | None = None, output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False,
                cu_seqlens: Array | None = None):
    """Comba (arXiv 2506.02475): erases by p, before the decay: e_t = beta_t p_t S_{t-1}."""
    if use_qk_l2norm_in_kernel:
        q, k, p = _l2norm(q), _l2norm(k), _l2norm(p)
    weight = beta[..., None]
    return _run(q, k, (v * weight).astype(v.dtype), scale, initial_state, output_final_state, cu_seqlens, decay=_log_decay(g, q),
                erase=(p * weight).astype(p.dtype), erase_before_decay=True)


def chunk_iplr_delta_rule(q: Array, k: Array, v: Array, a: Array, b: Array, scale: float | None = None,
                          initial_state: Array | None = None, output_final_state: bool = False, cu_seqlens: Array | None = None):
    """S_t = S_{t-1} + k_t^T v_t + b_t^T (a_t S_{t-1}): identity plus low rank."""
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, erase=a, lowrank=b)


def chunk_dplr_delta_rule(q: Array, k: Array, v: Array, a: Array, b: Array, gk: Array, scale: float | None = None,
                          initial_state: Array | None = None, output_final_state: bool = False, cu_seqlens: Array | None = None):
    """S_t = diag(exp gk_t) S_{t-1} + k_t^T v_t + b_t^T (a_t S_{t-1}): diagonal plus low rank."""
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=_log_decay(gk, q), erase=a, lowrank=b,
                erase_before_decay=True)


def chunk_rwkv7(r: Array, w: Array, k: Array, v: Array, a: Array, b: Array, scale: float = 1.0, initial_state: Array | None = None,
                output_final_state: bool = False, cu_seqlens: Array | None = None):
    """RWKV-7 (arXiv 2503.14456): diagonal plus low rank, w log-decays, scale 1."""
    return chunk_dplr_delta_rule(r, k, v, a, b, w, scale, initial_state, output_final_state, cu_seqlens)


def chunk_gsa(q: Array, k: Array, v: Array, s: Array, g: Array | None = None, scale: float | None = None,
              initial_state: tuple[Array, Array] | None = None, output_final_state: bool = False, cu_seqlens: Array | None = None):
    """Gated slot attention (arXiv 2409.07146): M slots s, g [B, T, H, M]. One recurrence gives each slot's score, decays along
    its values; the other, with the softmax of these as queries, reads the slots. Without g, a slot holds the average of all
    tokens so far, weighted by exp(s)."""
    if g is None:
        if cu_seqlens is not None or initial_state is not None:
            raise CallError("chunk_gsa: without g, slots are averages over all tokens, which neither initial_state nor cu_seqlens has")
        weights = _wide(s)
        total = jax.lax.cumlogsumexp(weights, axis=1)
        g = jnp.concatenate((total[:, :1], total[:, :-1]), 1) - total
        s = jnp.exp(weights - total).astype(k.dtype)
    first, second = initial_state if initial_state is not None else (None, None)
    g = _log_decay(g, q)
    ok, final_k = _run(q, k, s, scale, first, output_final_state, cu_seqlens, decay=g, decay_side="value")
    o, final_v = _run(jax.nn.softmax(_wide(ok), -1).astype(q.dtype), s, v, 1.0, second, output_final_state, cu_seqlens, decay=g)
    return o, (final_k, final_v) if output_final_state else None


def chunk_mamba2(x: Array, dt: Array, A: Array, B: Array, C: Array, *, D: Array | None = None, z: Array | None = None,
                 dt_bias: Array | None = None, dt_softplus: bool = False, initial_states: Array | None = None,
                 return_final_states: bool = False, seq_starts: Array | None = None):
    """Mamba-2's state space duality (arXiv 2405.21060): x [B, T, H, P], dt [B, T, H], A [H] (negative), B and C [B, T, G, N],
    D [H] or [H, P], z like x. Gives y, with return_final_states (y, states [B, H, P, N])."""
    step = _wide(dt)
    if dt_bias is not None:
        step = step + dt_bias
    if dt_softplus:
        step = jax.nn.softplus(step)
    o, final = _run(C, B, (x * step[..., None]).astype(x.dtype), 1.0, initial_states, return_final_states, seq_starts,
                    state_v_first=True, decay=step * A)
    if D is not None:
        o = (o + x * (D[:, None] if D.ndim == 1 else D)).astype(x.dtype)
    if z is not None:
        o = o * jax.nn.silu(z)
    return (o, final) if return_final_states else o


def _last_tokens(x, count, initial, starts):
    """The last `count` tokens of each sequence, those of `initial`, [N, D, count], or zeros in front of them: [N, D, count]."""
    sequences = x.shape[0] if starts is None else starts.shape[0] - 1
    initial = jnp.zeros((sequences, x.shape[2], count), x.dtype) if initial is None else initial.astype(x.dtype)
    if starts is None:
        return jnp.concatenate((initial, x[:, -count:].swapaxes(1, 2)), -1)[..., -count:]
    if x.shape[1] == 0:
        return initial
    # Entry i is token end - count + i, or where that lies before the first, one of `initial`.
    token, first = starts[1:, None] + jnp.arange(-count, 0), starts[:-1, None]
    before = jnp.take_along_axis(initial, jnp.minimum(count + token - first, count - 1)[:, None], 2)
    return jnp.where((token >= first)[:, None], x[0][jnp.maximum(token, 0)].swapaxes(1, 2), before)


def short_convolution(x: ArrayLike, weight: ArrayLike, bias: ArrayLike | None = None, residual: ArrayLike | None = None,
                      initial_state: ArrayLike | None = None, output_final_state: bool = False, activation: str | None = None,
                      cu_seqlens: ArrayLike | None = None) -> tuple[Array, Array | None]:
    """The causal depthwise convolution in front of recurrences (arXiv 2312.00752, 2412.06464), of W tokens, W from 2 to 8, as (y, final
    state):

        y_t = act(bias + sum_j weight[:, W - 1 - j] x_{t - j}) + residual_t         j = 0 .. W - 1

    x, y, residual  [B, T, D], or with D in several dimensions, as in [B, T, H, K]
    weight, bias    [D, W], the last column that of the token itself, and [D]
    states          [N, D, W] in the type of x, the last W inputs of each sequence, oldest first; zeros without an initial one
    activation      None, "silu" or "swish"
    cu_seqlens      packed sequences, [N + 1], int32 or int64, batch 1

    float16 and bfloat16 are computed in float32. Differentiable once, in reverse.
    """
    if activation not in (None, "silu", "swish"):
        raise CallError(f"short_convolution: activation is '{activation}'; it is None, 'silu' or 'swish'")
    operands = {"x": x, "weight": weight, "bias": bias, "residual": residual, "initial_state": initial_state}
    given = {name: _array(one, f"short_convolution: {name}") for name, one in operands.items()
             if one is not None or name in ("x", "weight")}
    for name, one in given.items():
        if one.dtype not in (np.float32, np.float64, jnp.bfloat16, np.float16):
            raise CallTypeError(f"short_convolution: {name} is {one.dtype}; it is float32, float64, bfloat16 or float16")
    x, weight = given["x"], given["weight"]
    if x.ndim < 3 or weight.ndim != 2:
        raise CallError(f"short_convolution: x has the shape {list(x.shape)} and weight {list(weight.shape)}; they are [batch, tokens, "
                        "channels] and [channels, W]")
    rows, width = x.reshape(*x.shape[:2], math.prod(x.shape[2:])), weight.shape[1]
    starts = None if cu_seqlens is None else _array(cu_seqlens, "short_convolution: cu_seqlens")
    if starts is not None and (starts.ndim != 1 or starts.shape[0] < 1 or starts.dtype not in (np.int32, np.int64)):
        raise CallError(f"short_convolution: cu_seqlens is {starts.dtype} {list(starts.shape)}; it is int32 or int64, [sequences + 1]")
    sequences = x.shape[0] if starts is None else starts.shape[0] - 1
    for name, shape in (("residual", x.shape), ("initial_state", (sequences, rows.shape[2], width))):
        if name in given and given[name].shape != shape:
            raise CallError(f"short_convolution: {name} has the shape {list(given[name].shape)}; it is {list(shape)}")
    if starts is not None and not isinstance(starts, jax.core.Tracer):
        check_starts(np.asarray(starts).tolist(), x.shape[1], "short_convolution")

    # A sum with a residual is rounded once.
    own = rows if residual is None else _wide(rows)
    state = given.get("initial_state")
    before = None if state is None else state[..., 1:].swapaxes(1, 2).astype(own.dtype)
    optional = dict(zip(OPTIONAL, (given.get("bias"), before, starts)))
    arrays = {"weight": weight, **{name: one for name, one in optional.items() if one is not None}}
    for name in ("weight", "bias"):
        if name in arrays and (arrays[name].dtype == np.float64) != (x.dtype == np.float64):
            arrays[name] = arrays[name].astype(x.dtype)
    spec = Spec("short_convolution", (("operands", " ".join(name for name in arrays if name != "weight")),
                                      ("activation", "none" if activation is None else "silu")))
    ops.check(spec, list(map(type_of, (own, *arrays.values()))))
    y = call_anywhere(spec, own, *arrays.values())[0].reshape(x.shape)
    if residual is not None:
        y = (y + _wide(given["residual"])).astype(x.dtype)
    return y, _last_tokens(rows, width, state, starts) if output_final_state else None
