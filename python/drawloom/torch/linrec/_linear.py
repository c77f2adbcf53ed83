# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that write without erasing: linear attention, with decays of heads, tokens or keys."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from ..._errors import CallError
from ...ops.recurrences import says
from ._calls import check_chunk, layout, log_decay, run, wide

__all__ = ["chunk_gla", "chunk_hgrn2", "chunk_lightning_attn", "chunk_linear_attn", "chunk_mamba2", "chunk_retention", "chunk_rwkv6",
           "chunk_simple_gla", "fused_chunk_linear_attn", "fused_chunk_retention", "fused_chunk_simple_gla", "fused_recurrent_gla",
           "fused_recurrent_lightning_attn", "fused_recurrent_linear_attn", "fused_recurrent_retention", "fused_recurrent_rwkv6",
           "fused_recurrent_simple_gla", "parallel_retention", "parallel_simple_gla"]


@says()
def fused_recurrent_linear_attn(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None,
                                initial_state: Tensor | tuple[Tensor, Tensor] | None = None, output_final_state: bool = False,
                                reverse: bool = False, normalize: bool = False,
                                cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | tuple[Tensor | None, Tensor] | None]:
    """chunk_linear_attn; with reverse, sequences go from their last token to their first."""
    keys = None
    if normalize and isinstance(initial_state, tuple):
        initial_state, keys = initial_state
    o, final = run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, reverse=reverse)
    if not normalize:
        return o, final
    # The sum of keys is the state for a value of 1.
    ones = wide(v).new_ones(*v.shape[:3], 1)
    weights, keys = run(wide(q), wide(k), ones, scale, None if keys is None else keys.permute(0, 2, 3, 1), True, cu_seqlens,
                        reverse=reverse)
    return (wide(o) / (weights + 1e-10)).to(o.dtype), (final, keys.permute(0, 3, 1, 2))


@says()
def chunk_linear_attn(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None,
                      initial_state: Tensor | tuple[Tensor, Tensor] | None = None, output_final_state: bool = False,
                      normalize: bool = True,
                      cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | tuple[Tensor | None, Tensor] | None]:
    """Linear attention (arXiv 2006.16236), S_t = S_{t-1} + k_t^T v_t. With normalize, o_t is divided by
    s q_t . z_t, z_t = k_1 + ... + k_t, and states are (S, z), z [N, 1, H, K]."""
    return fused_recurrent_linear_attn(q, k, v, scale, initial_state, output_final_state, False, normalize, cu_seqlens)


def _by_head(decay, q):
    return decay.to(torch.float64 if q.dtype == torch.float64 else torch.float32)


def _retention_decay(q, v):
    return _by_head(torch.log1p(-torch.exp2(-5 - torch.arange(v.shape[2], dtype=torch.float64))), q)


def _lightning_decay(q, v, layer_idx, num_layers):
    return _by_head(-(8 / v.shape[2]) * (1 - layer_idx / num_layers) * torch.arange(v.shape[2], dtype=torch.float64), q)


@says()
def chunk_retention(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None, initial_state: Tensor | None = None,
                    output_final_state: bool = False, cu_seqlens: Tensor | None = None, chunk_size: int | None = None,
                    **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """RetNet: head h decays by 1 - 2^(-5-h) (arXiv 2307.08621)."""
    layout("chunk_retention", False, deprecated)
    check_chunk("chunk_retention", chunk_size)
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=_retention_decay(q, v))


@says()
def fused_recurrent_retention(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None, initial_state: Tensor | None = None,
                              output_final_state: bool = False, reverse: bool = False, state_v_first: bool = False,
                              cu_seqlens: Tensor | None = None, **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """chunk_retention; with reverse, sequences go from their last token to their first."""
    state_v_first = layout("fused_recurrent_retention", state_v_first, deprecated)
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, reverse, decay=_retention_decay(q, v))


@says()
def parallel_retention(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None, output_attentions: bool = False,
                       cu_seqlens: Tensor | None = None) -> tuple[Tensor, None]:
    """chunk_retention from an empty state, as (o, None): there is no matrix of attention weights."""
    _no_weights("parallel_retention", output_attentions)
    return chunk_retention(q, k, v, scale, cu_seqlens=cu_seqlens)


def _no_weights(name, output_attentions):
    if output_attentions:
        raise CallError(f"{name}: output_attentions asks for the matrix of attention weights, which is not computed")


@says()
def chunk_lightning_attn(q: Tensor, k: Tensor, v: Tensor, layer_idx: int, num_layers: int, scale: float | None = None,
                         initial_state: Tensor | None = None, output_final_state: bool = False, cu_seqlens: Tensor | None = None,
                         chunk_size: int | None = None, **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """Lightning attention: head h of layer l of L decays by exp(-(8 / H) (1 - l / L) h) (arXiv 2405.17381)."""
    layout("chunk_lightning_attn", False, deprecated)
    check_chunk("chunk_lightning_attn", chunk_size)
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=_lightning_decay(q, v, layer_idx, num_layers))


@says()
def fused_recurrent_lightning_attn(q: Tensor, k: Tensor, v: Tensor, layer_idx: int, num_layers: int, scale: float | None = None,
                                   initial_state: Tensor | None = None, output_final_state: bool = False, reverse: bool = False,
                                   cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """chunk_lightning_attn; with reverse, sequences go from their last token to their first."""
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, reverse=reverse,
               decay=_lightning_decay(q, v, layer_idx, num_layers))


def _one_decay(name, g, g_gamma, q):
    if g is not None and g_gamma is not None:
        raise CallError(f"{name}: there are g and g_gamma; decays are given once")
    return log_decay(g if g_gamma is None else g_gamma, q)


@says()
def chunk_simple_gla(q: Tensor, k: Tensor, v: Tensor, g: Tensor | None = None, g_gamma: Tensor | None = None,
                     scale: float | None = None, initial_state: Tensor | None = None, output_final_state: bool = False,
                     state_v_first: bool = False, cu_seqlens: Tensor | None = None, cu_seqlens_cpu: Tensor | None = None,
                     chunk_size: int | None = None, **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """One log-decay for each token and head, g [B, T, H], or for each head, g_gamma [H], which has a gradient, too."""
    state_v_first = layout("chunk_simple_gla", state_v_first, deprecated)
    check_chunk("chunk_simple_gla", chunk_size)
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first,
               decay=_one_decay("chunk_simple_gla", g, g_gamma, q))


@says()
def fused_chunk_simple_gla(q: Tensor, k: Tensor, v: Tensor, g: Tensor | None = None, g_gamma: Tensor | None = None,
                           scale: float | None = None, initial_state: Tensor | None = None, output_final_state: bool = False,
                           cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """chunk_simple_gla."""
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens,
               decay=_one_decay("fused_chunk_simple_gla", g, g_gamma, q))


@says()
def fused_recurrent_simple_gla(q: Tensor, k: Tensor, v: Tensor, g: Tensor | None = None, g_gamma: Tensor | None = None,
                               scale: float | None = None, initial_state: Tensor | None = None, output_final_state: bool = False,
                               reverse: bool = False, state_v_first: bool = False, cu_seqlens: Tensor | None = None,
                               **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """chunk_simple_gla; with reverse, sequences go from their last token to their first."""
    state_v_first = layout("fused_recurrent_simple_gla", state_v_first, deprecated)
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, reverse,
               decay=_one_decay("fused_recurrent_simple_gla", g, g_gamma, q))


@says()
def parallel_simple_gla(q: Tensor, k: Tensor, v: Tensor, g: Tensor | None = None, scale: float | None = None,
                        output_attentions: bool = False, cu_seqlens: Tensor | None = None,
                        cu_seqlens_cpu: Tensor | None = None) -> tuple[Tensor, None]:
    """chunk_simple_gla from an empty state, as (o, None): there is no matrix of attention weights."""
    _no_weights("parallel_simple_gla", output_attentions)
    return chunk_simple_gla(q, k, v, g, scale=scale, cu_seqlens=cu_seqlens)


@says()
def chunk_gla(q: Tensor, k: Tensor, v: Tensor, g: Tensor, scale: float | None = None, initial_state: Tensor | None = None,
              output_final_state: bool = False, state_v_first: bool = False, cu_seqlens: Tensor | None = None,
              cu_seqlens_cpu: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """Gated linear attention, g [B, T, H, K] (arXiv 2312.06635)."""
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, like=v, decay=log_decay(g, q))


@says(decay="gk or gv")
def fused_recurrent_gla(q: Tensor, k: Tensor, v: Tensor, gk: Tensor | None = None, gv: Tensor | None = None,
                        scale: float | None = None, initial_state: Tensor | None = None, output_final_state: bool = False,
                        reverse: bool = False, state_v_first: bool = False, cu_seqlens: Tensor | None = None,
                        **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """chunk_gla with log-decays of keys, gk [B, T, H, K], of values, gv [B, T, H, V], or neither; with reverse, sequences go from
    their last token to their first."""
    state_v_first = layout("fused_recurrent_gla", state_v_first, deprecated)
    if gk is not None and gv is not None:
        raise CallError("fused_recurrent_gla: there are gk and gv; decays are of keys or of values")
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, reverse,
               decay=log_decay(gk if gv is None else gv, q), decay_side="key" if gv is None else "value")


@says(k="g")
def chunk_hgrn2(q: Tensor, g: Tensor, v: Tensor, scale: float | None = 1.0, initial_state: Tensor | None = None,
                output_final_state: bool = False, cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """HGRN2: what a gate forgets is what it writes, k = 1 - exp(g) (arXiv 2404.07904)."""
    return run(q, -torch.expm1(g).to(q.dtype), v, scale, initial_state, output_final_state, cu_seqlens, decay=log_decay(g, q))


@says()
def chunk_rwkv6(r: Tensor, k: Tensor, v: Tensor, w: Tensor, u: Tensor, scale: float | None = None,
                initial_state: Tensor | None = None, output_final_state: bool = False, cu_seqlens: Tensor | None = None,
                cu_seqlens_cpu: Tensor | None = None, chunk_size: int | None = None, **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """RWKV-6: reads before the update, with a bonus u [H, K] for the token itself; w are log-decays (arXiv 2404.05892)."""
    layout("chunk_rwkv6", False, deprecated)
    check_chunk("chunk_rwkv6", chunk_size)
    return fused_recurrent_rwkv6(r, k, v, w, u, scale, initial_state, output_final_state, False, cu_seqlens)


@says(q="r", decay="w", bonus="u")
def fused_recurrent_rwkv6(r: Tensor, k: Tensor, v: Tensor, w: Tensor, u: Tensor, scale: float | None = None,
                          initial_state: Tensor | None = None, output_final_state: bool = False, reverse: bool = False,
                          cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """chunk_rwkv6; with reverse, sequences go from their last token to their first."""
    return run(r, k, v, scale, initial_state, output_final_state, cu_seqlens, reverse=reverse, like=v, decay=log_decay(w, r),
               bonus=u)


@says(q="C", k="B", v="x", decay="dt", initial="initial_states", starts="seq_starts")
def chunk_mamba2(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, *, D: Tensor | None = None, z: Tensor | None = None,
                 dt_bias: Tensor | None = None, dt_softplus: bool = False, dt_limit: tuple[float, float] = (0.0, float("inf")),
                 initial_states: Tensor | None = None, return_final_states: bool = False,
                 seq_starts: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """Mamba-2's state space duality (arXiv 2405.21060): x [B, T, H, P], dt [B, T, H], A [H] (negative), B and C [B, T, G, N],
    D [H] or [H, P], z like x; dt is held within dt_limit. Gives y, with return_final_states (y, states [B, H, P, N])."""
    step = wide(dt)
    if dt_bias is not None:
        step = step + dt_bias
    if dt_softplus:
        step = F.softplus(step)
    if dt_limit != (0.0, float("inf")):
        step = step.clamp(*dt_limit)
    initial = None if initial_states is None else initial_states.transpose(-1, -2)
    o, final = run(C, B, (x * step.unsqueeze(-1)).to(x.dtype), 1.0, initial, return_final_states, seq_starts, decay=step * A)
    if D is not None:
        o = (o + x * (D.unsqueeze(-1) if D.dim() == 1 else D)).to(x.dtype)
    if z is not None:
        o = o * F.silu(z)
    return (o, final.transpose(-1, -2)) if return_final_states else o


fused_chunk_linear_attn = chunk_linear_attn
fused_chunk_retention = chunk_retention
