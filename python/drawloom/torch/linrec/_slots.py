# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models whose memory is a number of slots that softmax attention reads: two recurrences, with the softmax between them."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from ..._errors import CallError
from ...ops.recurrences import says
from ._calls import additive_gate, check_chunk, layout, log_decay, run, wide

__all__ = ["chunk_abc", "chunk_gsa", "fused_recurrent_gsa"]

_scores, _read = says(v="s")(run), says(k="s")(run)


@says()
def chunk_gsa(q: Tensor, k: Tensor, v: Tensor, s: Tensor, g: Tensor | None = None, scale: float | None = None,
              initial_state: tuple[Tensor, Tensor] | None = None, output_final_state: bool = False, checkpoint_level: int = 2,
              cu_seqlens: Tensor | None = None, cu_seqlens_cpu: Tensor | None = None, chunk_size: int | None = None,
              **deprecated: bool) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
    """Gated slot attention (arXiv 2409.07146): M slots s, g [B, T, H, M]. One recurrence gives each slot's score, decays along
    its values; the other, with the softmax of these as queries, reads the slots. Without g, a slot holds the average of all
    tokens so far, weighted by exp(s). q may have a multiple of the heads of the others, which then share theirs."""
    layout("chunk_gsa", False, deprecated)
    check_chunk("chunk_gsa", chunk_size)
    return fused_recurrent_gsa(q, k, v, s, g, scale, initial_state, output_final_state, False, cu_seqlens)


@says()
def fused_recurrent_gsa(q: Tensor, k: Tensor, v: Tensor, s: Tensor, g: Tensor | None = None, scale: float | None = None,
                        initial_state: tuple[Tensor, Tensor] | None = None, output_final_state: bool = False, reverse: bool = False,
                        cu_seqlens: Tensor | None = None) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
    """chunk_gsa; with reverse, sequences go from their last token to their first."""
    if g is None:
        if cu_seqlens is not None or initial_state is not None or reverse:
            raise CallError("chunk_gsa: without g, slots are averages over all tokens, which neither initial_state nor cu_seqlens nor "
                            "reverse has")
        s, g, _ = additive_gate(s)
        s = s.to(k.dtype)
    groups = q.shape[2] // k.shape[2]
    first, second = initial_state if initial_state is not None else (None, None)
    if groups > 1:
        k, v, s, g = (x.repeat_interleave(groups, 2) for x in (k, v, s, g))
        first, second = (None if x is None else x.repeat_interleave(groups, 1) for x in (first, second))
    g = log_decay(g, q)
    ok, final_k = _scores(q, k, s, scale, first, output_final_state, cu_seqlens, reverse=reverse, decay=g, decay_side="value")
    p = F.softmax(wide(ok), -1).to(q.dtype)
    o, final_v = _read(p, s, v, 1.0, second, output_final_state, cu_seqlens, reverse=reverse, decay=g)
    if not output_final_state:
        return o, None
    return o, (final_k[:, ::groups], final_v[:, ::groups])


@says()
def chunk_abc(q: Tensor, k: Tensor, v: Tensor, s: Tensor, initial_state: tuple[Tensor, Tensor] | None = None,
              output_final_state: bool = False) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
    """Attention with bounded memory (arXiv 2110.02488): chunk_gsa without g."""
    return chunk_gsa(q, k, v, s, None, None, initial_state, output_final_state)
