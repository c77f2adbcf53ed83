# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transitions that are the identity, or a diagonal, plus a product of two vectors."""

from __future__ import annotations

from torch import Tensor

from ...ops.recurrences import says
from ._calls import check_chunk, check_shape, layout, log_decay, one_device, run

__all__ = ["chunk_dplr_delta_rule", "chunk_iplr_delta_rule", "chunk_rwkv7", "fused_mul_recurrent_rwkv7",
           "fused_recurrent_dplr_delta_rule", "fused_recurrent_iplr_delta_rule", "fused_recurrent_rwkv7"]


@says(erase="a", lowrank="b")
def chunk_iplr_delta_rule(q: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, scale: float | None = None,
                          initial_state: Tensor | None = None, output_final_state: bool = False, cu_seqlens: Tensor | None = None,
                          cu_seqlens_cpu: Tensor | None = None, chunk_size: int | None = None,
                          **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """S_t = S_{t-1} + k_t^T v_t + b_t^T (a_t S_{t-1}): identity plus low rank."""
    layout("chunk_iplr_delta_rule", False, deprecated)
    check_chunk("chunk_iplr_delta_rule", chunk_size)
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, erase=a, lowrank=b)


@says(erase="a", lowrank="b")
def fused_recurrent_iplr_delta_rule(q: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, scale: float | None = None,
                                    initial_state: Tensor | None = None, output_final_state: bool = False,
                                    cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """chunk_iplr_delta_rule."""
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, like=v, erase=a, lowrank=b)


@says(decay="gk", erase="a", lowrank="b")
def chunk_dplr_delta_rule(q: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, gk: Tensor, scale: float | None = None,
                          initial_state: Tensor | None = None, output_final_state: bool = False, cu_seqlens: Tensor | None = None,
                          cu_seqlens_cpu: Tensor | None = None, safe_gate: bool = False, chunk_size: int | None = None,
                          disable_recompute: bool = False, cp_context: None = None, lower_bound: float | None = None,
                          **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """S_t = diag(exp gk_t) S_{t-1} + k_t^T v_t + b_t^T (a_t S_{t-1}): diagonal plus low rank. lower_bound promises that no gk is
    less."""
    layout("chunk_dplr_delta_rule", False, deprecated)
    check_chunk("chunk_dplr_delta_rule", chunk_size)
    one_device("chunk_dplr_delta_rule", cp_context)
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=log_decay(gk, q), erase=a, lowrank=b,
               erase_before_decay=True, decay_bound=lower_bound)


@says(decay="gk", erase="a", lowrank="b")
def fused_recurrent_dplr_delta_rule(q: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, gk: Tensor, scale: float | None = None,
                                    initial_state: Tensor | None = None, output_final_state: bool = False, reverse: bool = False,
                                    cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """chunk_dplr_delta_rule; with reverse, sequences go from their last token to their first."""
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, reverse=reverse, like=v, decay=log_decay(gk, q),
               erase=a, lowrank=b, erase_before_decay=True)


@says(q="r", gk="w")
def chunk_rwkv7(r: Tensor, w: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, scale: float = 1.0,
                initial_state: Tensor | None = None, output_final_state: bool = False, cu_seqlens: Tensor | None = None,
                cu_seqlens_cpu: Tensor | None = None, safe_gate: bool = False, chunk_size: int | None = None,
                disable_recompute: bool = False, cp_context: None = None, lower_bound: float | None = None) -> tuple[Tensor, Tensor | None]:
    """RWKV-7 (arXiv 2503.14456): diagonal plus low rank, w log-decays, scale 1."""
    check_chunk("chunk_rwkv7", chunk_size)
    return chunk_dplr_delta_rule(r, k, v, a, b, w, scale, initial_state, output_final_state, cu_seqlens, cp_context=cp_context,
                                 lower_bound=lower_bound)


@says(q="r", gk="w")
def fused_recurrent_rwkv7(r: Tensor, w: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, scale: float | None = None,
                          initial_state: Tensor | None = None, output_final_state: bool = True,
                          cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """chunk_rwkv7, but the scale is K^(-1/2) and the final state is given unless said otherwise."""
    return fused_recurrent_dplr_delta_rule(r, k, v, a, b, w, scale, initial_state, output_final_state, False, cu_seqlens)


@says(q="r", gk="w", a="kk", b="a")
def fused_mul_recurrent_rwkv7(r: Tensor, w: Tensor, k: Tensor, v: Tensor, kk: Tensor, a: Tensor, scale: float = 1.0,
                              initial_state: Tensor | None = None, output_final_state: bool = False, reverse: bool = False,
                              cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """chunk_rwkv7 of normalized keys kk and rates a: it erases by -kk and writes back by kk a."""
    check_shape("fused_mul_recurrent_rwkv7", "a", a, kk.shape)
    return fused_recurrent_dplr_delta_rule(r, k, v, -kk, kk * a, w, scale, initial_state, output_final_state, reverse, cu_seqlens)
