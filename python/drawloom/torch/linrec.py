# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear recurrences: gated linear attention and its family, under the names and signatures of flash-linear-attention.

`linear_recurrence` is the one op; every other function says a model with it. Layouts are [batch, tokens, heads, size], states
[sequences, heads, K, V] in float32 (float64 for float64). `cu_seqlens` packs sequences: batch 1, sequence i has the tokens
cu_seqlens[i] to cu_seqlens[i + 1] - 1, possibly none. Everything is differentiable once, initial and final states included.
The fused_recurrent_* names are the same functions: a program is compiled for each number of tokens, one among them.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .._errors import CallError
from ..ops import Spec
from ..ops.recurrences import OPTIONAL
from . import _dispatch
from ._dispatch import intern

__all__ = ["chunk_comba", "chunk_delta_rule", "chunk_dplr_delta_rule", "chunk_gated_delta_rule", "chunk_gla", "chunk_gsa", "chunk_hgrn2",
           "chunk_iplr_delta_rule", "chunk_kda", "chunk_lightning_attn", "chunk_linear_attn", "chunk_mamba2", "chunk_retention",
           "chunk_rwkv6", "chunk_rwkv7", "chunk_simple_gla", "fused_recurrent_delta_rule", "fused_recurrent_gated_delta_rule",
           "fused_recurrent_gla", "fused_recurrent_kda", "fused_recurrent_retention", "fused_recurrent_rwkv6",
           "fused_recurrent_simple_gla", "linear_recurrence"]

_specs: dict[tuple, Spec] = {}


def _operands(decay, beta, erase, lowrank, bonus, initial, starts):
    return decay, beta, erase, lowrank, bonus, initial, starts


def _spec(q, k, v, decay=None, beta=None, erase=None, lowrank=None, bonus=None, initial=None, starts=None, scale=None,
          decay_side="key", erase_before_decay=False, decay_bound=None, chunk=None):
    given = " ".join(name for name, operand in zip(OPTIONAL, _operands(decay, beta, erase, lowrank, bonus, initial, starts))
                     if operand is not None)
    key = given, scale, decay_side, erase_before_decay, decay_bound, chunk
    spec = _specs.get(key)
    if spec is None:
        spec = _specs[key] = intern(Spec("linear_recurrence", (
            ("operands", given), ("scale", scale), ("decay_side", decay_side), ("erase_before_decay", erase_before_decay),
            ("decay_bound", decay_bound), ("chunk", chunk))))
    return spec


def _flatten(q, k, v, decay=None, beta=None, erase=None, lowrank=None, bonus=None, initial=None, starts=None, *rest):
    return (q, k, v, *[one for one in _operands(decay, beta, erase, lowrank, bonus, initial, starts) if one is not None])


def _join(tensors, q, k, v, decay=None, beta=None, erase=None, lowrank=None, bonus=None, initial=None, starts=None, *rest):
    left = iter(tensors[3:])
    given = [None if one is None else next(left) for one in _operands(decay, beta, erase, lowrank, bonus, initial, starts)]
    return *tensors[:3], *given, *rest


def _autocast(dtype, q, k, v, decay=None, beta=None, erase=None, lowrank=None, bonus=None, initial=None, starts=None, *rest):
    # Decays and states keep their digits.
    def cast(one):
        return one if one is None else one.to(dtype)

    def wide(one):
        return one if one is None else one.float()

    return (cast(q), cast(k), cast(v), wide(decay), wide(beta), cast(erase), cast(lowrank), wide(bonus), wide(initial), starts, *rest)


_op = _dispatch.define(
    "linear_recurrence(Tensor q, Tensor k, Tensor v, Tensor? decay=None, Tensor? beta=None, Tensor? erase=None, "
    "Tensor? lowrank=None, Tensor? bonus=None, Tensor? initial=None, Tensor? starts=None, float? scale=None, "
    'str decay_side="key", bool erase_before_decay=False, float? decay_bound=None, int? chunk=None) -> (Tensor, Tensor)',
    _spec, _flatten, _join, autocast=_autocast)


def _check_starts(starts, tokens):
    """What compiled code relies on."""
    if starts is None or torch.compiler.is_compiling() or type(starts) is not Tensor:
        return
    values = starts.tolist()
    if values[0] != 0 or values[-1] != tokens:
        raise CallError(f"linear_recurrence: the starts of packed sequences go from {values[0]} to {values[-1]}; they go from 0 to "
                        f"the number of tokens, {tokens}")
    for i in range(1, len(values)):
        if values[i] < values[i - 1]:
            raise CallError(f"linear_recurrence: the starts of packed sequences decrease: entry {i} is {values[i]} after {values[i - 1]}")


def linear_recurrence(q: Tensor, k: Tensor, v: Tensor, *, decay: Tensor | None = None, beta: Tensor | None = None,
                      erase: Tensor | None = None, lowrank: Tensor | None = None, bonus: Tensor | None = None,
                      initial: Tensor | None = None, starts: Tensor | None = None, scale: float | None = None,
                      decay_side: str = "key", erase_before_decay: bool = False, decay_bound: float | None = None,
                      chunk: int | None = None) -> tuple[Tensor, Tensor]:
    r"""The recurrence of the whole family, as (o, final state). With rows q_t, k_t, a_t, b_t of length K and v_t of length V,
    D_t = exp(min(g_t, 0)) and s = scale, or K^(-1/2):

        e_t = a_t (D_t S_{t-1}),                with erase_before_decay  a_t S_{t-1}
        S_t = D_t S_{t-1} + k_t^T v_t + b_t^T e_t
        o_t = s q_t S_t,                        with a bonus u  s (q_t S_{t-1} + (sum_d q_td u_d k_td) v_t)

    q, k     [B, T, Hq, K], [B, T, Hk, K]: Hq and Hk divide H, and heads of v share theirs
    v, o     [B, T, H, V]
    decay    g: [H], [B, T, H], [B, T, H, K] or, with decay_side="value", [B, T, H, V]; natural logarithms, positive ones count as 0
    beta     [B, T, H]: a_t = beta_t k_t and beta_t v_t in place of v_t (the delta rule)
    erase    a: [B, T, H, K]
    lowrank  b: [B, T, H, K]; without it b_t = -k_t
    bonus    u: [H, K]
    initial  S_0: [N, H, K, V], N = B or the number of packed sequences
    starts   [N + 1], int32 or int64: packed sequences, from 0 to T

    decay_bound promises that no log-decay is less: chunks are then not looked at before they are computed as products of
    matrices. chunk is the number of tokens computed at a time, a multiple of 16; it changes rounding only. float16 and bfloat16
    are computed, and states kept, in float32. Differentiable once.
    """
    _check_starts(starts, v.shape[1] if v.dim() == 4 else 0)
    return _op(q, k, v, decay, beta, erase, lowrank, bonus, initial, starts, scale, decay_side, erase_before_decay, decay_bound, chunk)




def _state_of(initial_state, state_v_first=False):
    if initial_state is None:
        return None
    initial_state = initial_state if initial_state.dtype == torch.float64 else initial_state.float()
    return initial_state.transpose(-1, -2) if state_v_first else initial_state


def _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first=False, **more):
    o, final = linear_recurrence(q, k, v, initial=_state_of(initial_state, state_v_first), starts=cu_seqlens,
                                 scale=None if scale is None else float(scale), **more)
    if not output_final_state:
        return o, None
    return o, final.transpose(-1, -2) if state_v_first else final


def _l2norm(x):
    return (x.float() * torch.rsqrt(x.float().square().sum(-1, keepdim=True) + 1e-6)).to(x.dtype)


def _log_decay(g, q):
    return g if g is None or q.dtype == torch.float64 else g.float()


def chunk_linear_attn(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None, initial_state: Tensor | None = None,
                      output_final_state: bool = False, normalize: bool = True, cu_seqlens: Tensor | None = None):
    """Linear attention, S_t = S_{t-1} + k_t^T v_t. With normalize, o_t is divided by s q_t . (k_1 + ... + k_t)."""
    if normalize and (cu_seqlens is not None or initial_state is not None):
        raise CallError("chunk_linear_attn: normalize needs the sum of all keys, which neither initial_state nor cu_seqlens has")
    o, final = _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens)
    if normalize:
        s = q.shape[-1] ** -0.5 if scale is None else scale
        z = (q.float() * s * k.float().cumsum(1)).sum(-1, keepdim=True) + 1e-10
        o = (o.float() / z).to(o.dtype)
    return o, final


def chunk_retention(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None, initial_state: Tensor | None = None,
                    output_final_state: bool = False, cu_seqlens: Tensor | None = None):
    """RetNet: head h decays by 1 - 2^(-5-h) (arXiv 2307.08621)."""
    heads = torch.arange(v.shape[2], dtype=torch.float64)
    decay = torch.log1p(-torch.exp2(-5 - heads)).to(torch.float64 if q.dtype == torch.float64 else torch.float32)
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=decay)


def chunk_lightning_attn(q: Tensor, k: Tensor, v: Tensor, layer_idx: int, num_layers: int, scale: float | None = None,
                         initial_state: Tensor | None = None, output_final_state: bool = False, cu_seqlens: Tensor | None = None):
    """Lightning attention: head h of layer l of L decays by exp(-(8 / H) (1 - l / L) h) (arXiv 2405.17381)."""
    heads = torch.arange(v.shape[2], dtype=torch.float64)
    decay = -(8 / v.shape[2]) * (1 - layer_idx / num_layers) * heads
    decay = decay.to(torch.float64 if q.dtype == torch.float64 else torch.float32)
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=decay)


def chunk_simple_gla(q: Tensor, k: Tensor, v: Tensor, g: Tensor | None = None, g_gamma: Tensor | None = None,
                     scale: float | None = None, initial_state: Tensor | None = None, output_final_state: bool = False,
                     state_v_first: bool = False, cu_seqlens: Tensor | None = None):
    """One log-decay for each token and head, g [B, T, H], or for each head, g_gamma [H], which has a gradient, too."""
    if g is not None and g_gamma is not None:
        raise CallError("chunk_simple_gla: there are g and g_gamma; decays are given once")
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first,
                decay=_log_decay(g if g_gamma is None else g_gamma, q))


def chunk_gla(q: Tensor, k: Tensor, v: Tensor, g: Tensor, scale: float | None = None, initial_state: Tensor | None = None,
              output_final_state: bool = False, state_v_first: bool = False, cu_seqlens: Tensor | None = None):
    """Gated linear attention, g [B, T, H, K] (arXiv 2312.06635)."""
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, decay=_log_decay(g, q))


def chunk_hgrn2(q: Tensor, g: Tensor, v: Tensor, scale: float | None = 1.0, initial_state: Tensor | None = None,
                output_final_state: bool = False, cu_seqlens: Tensor | None = None):
    """HGRN2: what a gate forgets is what it writes, k = 1 - exp(g) (arXiv 2404.07904)."""
    return _run(q, -torch.expm1(g).to(q.dtype), v, scale, initial_state, output_final_state, cu_seqlens, decay=_log_decay(g, q))


def chunk_rwkv6(r: Tensor, k: Tensor, v: Tensor, w: Tensor, u: Tensor, scale: float | None = None,
                initial_state: Tensor | None = None, output_final_state: bool = False, cu_seqlens: Tensor | None = None):
    """RWKV-6: reads before the update, with a bonus u [H, K] for the token itself; w are log-decays (arXiv 2404.05892)."""
    return _run(r, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=_log_decay(w, r), bonus=u)


def chunk_delta_rule(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, scale: float | None = None, initial_state: Tensor | None = None,
                     output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False, cu_seqlens: Tensor | None = None):
    """DeltaNet (arXiv 2406.06484): S_t = S_{t-1} + beta_t k_t^T (v_t - k_t S_{t-1}). Keys have to be normalized."""
    if use_qk_l2norm_in_kernel:
        q, k = _l2norm(q), _l2norm(k)
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, beta=beta)


def _beta(beta, use_beta_sigmoid_in_kernel, allow_neg_eigval):
    if use_beta_sigmoid_in_kernel:
        beta = beta.float().sigmoid()
    return 2 * beta if allow_neg_eigval else beta


def chunk_gated_delta_rule(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, scale: float | None = None,
                           initial_state: Tensor | None = None, output_final_state: bool = False,
                           use_qk_l2norm_in_kernel: bool = False, use_beta_sigmoid_in_kernel: bool = False,
                           allow_neg_eigval: bool = False, state_v_first: bool = False, cu_seqlens: Tensor | None = None):
    """Gated DeltaNet (arXiv 2412.06464): the delta rule with a log-decay for each token and head, g [B, T, H]."""
    if use_qk_l2norm_in_kernel:
        q, k = _l2norm(q), _l2norm(k)
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, decay=_log_decay(g, q),
                beta=_beta(beta, use_beta_sigmoid_in_kernel, allow_neg_eigval))


def chunk_kda(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, scale: float | None = None,
              initial_state: Tensor | None = None, output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False,
              use_beta_sigmoid_in_kernel: bool = False, allow_neg_eigval: bool = False, state_v_first: bool = False,
              cu_seqlens: Tensor | None = None):
    """Kimi Delta Attention (arXiv 2510.26692): the delta rule with log-decays of each key, g [B, T, H, K]."""
    if use_qk_l2norm_in_kernel:
        q, k = _l2norm(q), _l2norm(k)
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, decay=_log_decay(g, q),
                beta=_beta(beta, use_beta_sigmoid_in_kernel, allow_neg_eigval))


def chunk_comba(q: Tensor, k: Tensor, v: Tensor, p: Tensor, g: Tensor, beta: Tensor, scale: float | None = None,
                initial_state: Tensor | None = None, output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False,
                cu_seqlens: Tensor | None = None):
    """Comba (arXiv 2506.02475): erases by p, before the decay: e_t = beta_t p_t S_{t-1}."""
    if use_qk_l2norm_in_kernel:
        q, k, p = _l2norm(q), _l2norm(k), _l2norm(p)
    weight = beta.unsqueeze(-1)
    return _run(q, k, (v * weight).to(v.dtype), scale, initial_state, output_final_state, cu_seqlens, decay=_log_decay(g, q),
                erase=(p * weight).to(p.dtype), erase_before_decay=True)


def chunk_iplr_delta_rule(q: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, scale: float | None = None,
                          initial_state: Tensor | None = None, output_final_state: bool = False, cu_seqlens: Tensor | None = None):
    """S_t = S_{t-1} + k_t^T v_t + b_t^T (a_t S_{t-1}): identity plus low rank."""
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, erase=a, lowrank=b)


def chunk_dplr_delta_rule(q: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, gk: Tensor, scale: float | None = None,
                          initial_state: Tensor | None = None, output_final_state: bool = False, cu_seqlens: Tensor | None = None):
    """S_t = diag(exp gk_t) S_{t-1} + k_t^T v_t + b_t^T (a_t S_{t-1}): diagonal plus low rank."""
    return _run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=_log_decay(gk, q), erase=a, lowrank=b,
                erase_before_decay=True)


def chunk_rwkv7(r: Tensor, w: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, scale: float = 1.0,
                initial_state: Tensor | None = None, output_final_state: bool = False, cu_seqlens: Tensor | None = None):
    """RWKV-7 (arXiv 2503.14456): diagonal plus low rank, w log-decays, scale 1."""
    return chunk_dplr_delta_rule(r, k, v, a, b, w, scale, initial_state, output_final_state, cu_seqlens)


def chunk_gsa(q: Tensor, k: Tensor, v: Tensor, s: Tensor, g: Tensor | None = None, scale: float | None = None,
              initial_state: tuple[Tensor, Tensor] | None = None, output_final_state: bool = False, cu_seqlens: Tensor | None = None):
    """Gated slot attention (arXiv 2409.07146): M slots s, g [B, T, H, M]. One recurrence gives each slot's score, decays along
    its values; the other, with the softmax of these as queries, reads the slots. Without g, a slot holds the average of all
    tokens so far, weighted by exp(s)."""
    if g is None:
        if cu_seqlens is not None or initial_state is not None:
            raise CallError("chunk_gsa: without g, slots are averages over all tokens, which neither initial_state nor cu_seqlens has")
        weights = s if s.dtype == torch.float64 else s.float()
        total = weights.logcumsumexp(1)
        g = torch.cat((total[:, :1], total[:, :-1]), 1) - total
        s = torch.exp(weights - total).to(k.dtype)
    first, second = initial_state if initial_state is not None else (None, None)
    g = _log_decay(g, q)
    ok, final_k = _run(q, k, s, scale, first, output_final_state, cu_seqlens, decay=g, decay_side="value")
    p = F.softmax(ok.float() if ok.dtype != torch.float64 else ok, -1).to(q.dtype)
    o, final_v = _run(p, s, v, 1.0, second, output_final_state, cu_seqlens, decay=g)
    return o, (final_k, final_v) if output_final_state else None


def chunk_mamba2(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, *, D: Tensor | None = None, z: Tensor | None = None,
                 dt_bias: Tensor | None = None, dt_softplus: bool = False, initial_states: Tensor | None = None,
                 return_final_states: bool = False, seq_starts: Tensor | None = None):
    """Mamba-2's state space duality (arXiv 2405.21060): x [B, T, H, P], dt [B, T, H], A [H] (negative), B and C [B, T, G, N],
    D [H] or [H, P], z like x. Gives y, with return_final_states (y, states [B, H, P, N])."""
    step = dt if dt.dtype == torch.float64 else dt.float()
    if dt_bias is not None:
        step = step + dt_bias
    if dt_softplus:
        step = F.softplus(step)
    initial = None if initial_states is None else initial_states.transpose(-1, -2)
    o, final = _run(C, B, (x * step.unsqueeze(-1)).to(x.dtype), 1.0, initial, return_final_states, seq_starts, decay=step * A)
    if D is not None:
        o = (o + x * (D.unsqueeze(-1) if D.dim() == 1 else D)).to(x.dtype)
    if z is not None:
        o = o * F.silu(z)
    return (o, final.transpose(-1, -2)) if return_final_states else o


fused_recurrent_gla = chunk_gla
fused_recurrent_simple_gla = chunk_simple_gla
fused_recurrent_retention = chunk_retention
fused_recurrent_rwkv6 = chunk_rwkv6
fused_recurrent_delta_rule = chunk_delta_rule
fused_recurrent_gated_delta_rule = chunk_gated_delta_rule
fused_recurrent_kda = chunk_kda
