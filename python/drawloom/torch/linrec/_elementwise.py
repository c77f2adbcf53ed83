# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrences of each channel by itself."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from ..._errors import CallError
from ...ops.recurrences import says
from ._calls import log_decay, wide
from ._op import linear_recurrence

__all__ = ["chunk_hgrn", "fused_recurrent_hgrn", "selective_scan"]


def _heads(channels):
    """Channels are values of heads, of a size that keeps states small and gives several heads to compute side by side."""
    size = next((size for size in range(64, 16, -1) if channels % size == 0), channels)
    return channels // size, size


@says(v="x")
def chunk_hgrn(x: Tensor, g: Tensor, initial_state: Tensor | None = None, output_final_state: bool = False,
               cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """HGRN (arXiv 2311.04823): h_t = exp(g_t) h_{t-1} + x_t of each channel, x and log-decays g [B, T, D]. Gives all h, and the last
    ones, [N, D]."""
    if x.dim() != 3 or g.shape != x.shape:
        raise CallError(f"chunk_hgrn: x has the shape {list(x.shape)} and g {list(g.shape)}; both are [batch, tokens, channels]")
    heads = _heads(x.shape[2])
    one = x.new_ones(1, 1, 1, 1).expand(*x.shape[:2], 1, 1)
    initial = None if initial_state is None else wide(initial_state).unflatten(1, heads).unsqueeze(2)
    o, final = linear_recurrence(one, one, x.unflatten(2, heads), decay=log_decay(g, x).unflatten(2, heads), decay_side="value",
                                 initial=initial, starts=cu_seqlens, scale=1.0)
    return o.flatten(2), final.flatten(1) if output_final_state else None


fused_recurrent_hgrn = chunk_hgrn


@says(q="C", k="B", v="u", decay="delta", rates="A")
def selective_scan(u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor | None = None, z: Tensor | None = None,
                   delta_bias: Tensor | None = None, delta_softplus: bool = False,
                   return_last_state: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Mamba's selective scan (arXiv 2312.00752), with the layouts of mamba_ssm's selective_scan_fn: u, delta and z [B, D, T], A
    [D, N] (negative), B and C [B, N, T] or [B, G, N, T] for G groups of channels, D and delta_bias [D]. With d a channel,

        h_t[d] = exp(delta_t[d] A[d]) h_{t-1}[d] + delta_t[d] u_t[d] B_t        h [N]
        y_t[d] = C_t . h_t[d] + D[d] u_t[d]                                     times silu(z_t[d])

    Gives y [B, D, T], with return_last_state also h [B, D, N].
    """
    if u.dim() != 3 or A.dim() != 2 or A.shape[0] != u.shape[1]:
        raise CallError(f"selective_scan: u has the shape {list(u.shape)} and A {list(A.shape)}; they are [batch, channels, tokens] and "
                        "[channels, numbers of each]")
    step = wide(delta)
    if delta_bias is not None:
        step = step + wide(delta_bias).unsqueeze(-1)
    if delta_softplus:
        step = F.softplus(step)
    groups = [1 if one.dim() == 3 else one.shape[1] for one in (B, C)]
    channels = u.shape[1]
    most = max(groups)
    if channels % most:
        raise CallError(f"selective_scan: {most} groups of B or C do not divide the {channels} channels of u")
    heads, size = _heads(channels // most)
    heads = heads * most, size

    def rows(one):
        return (one.unsqueeze(1) if one.dim() == 3 else one).permute(0, 3, 1, 2).to(u.dtype)

    o, final = linear_recurrence(rows(C), rows(B), (u * step).to(u.dtype).mT.unflatten(2, heads), decay=step.mT.unflatten(2, heads),
                                 rates=wide(A).unflatten(0, heads).mT, decay_side="value", scale=1.0)
    y = o.flatten(2).mT
    if D is not None:
        y = y + u * D.unsqueeze(-1)
    if z is not None:
        y = y * F.silu(z)
    y = y.to(u.dtype)
    return (y, final.mT.flatten(1, 2)) if return_last_state else y
