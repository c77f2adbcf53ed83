# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Delta rules: what a key already gives is taken away before a value is written at it."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from ..._errors import CallError
from ...ops.recurrences import says
from . import _op
from ._calls import check_chunk, check_shape, gate, l2norm, layout, log_decay, no_states_between, one_device, per_value_head, run, shares, wide

__all__ = ["chunk_comba", "chunk_delta_rule", "chunk_gated_delta_product", "chunk_gated_delta_rule", "chunk_gated_oja_rule",
           "chunk_gdn", "chunk_gdn2", "chunk_kda", "fused_recurrent_comba", "fused_recurrent_delta_rule",
           "fused_recurrent_gated_delta_rule", "fused_recurrent_gated_oja_rule", "fused_recurrent_gdn", "fused_recurrent_gdn2",
           "fused_recurrent_kda"]


def _whole(beta, v):
    """beta, or 1 for every token and head."""
    return beta if beta is not None else wide(v).new_ones(v.shape[:3])


@says()
def chunk_delta_rule(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, scale: float | None = None, initial_state: Tensor | None = None,
                     output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False, cu_seqlens: Tensor | None = None,
                     cu_seqlens_cpu: Tensor | None = None, chunk_size: int | None = None,
                     **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """DeltaNet (arXiv 2406.06484): S_t = S_{t-1} + beta_t k_t^T (v_t - k_t S_{t-1}). Keys have to be normalized."""
    layout("chunk_delta_rule", False, deprecated)
    check_chunk("chunk_delta_rule", chunk_size, 16, 32, 64)
    if use_qk_l2norm_in_kernel:
        q, k = l2norm(q), l2norm(k)
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, beta=beta)


@says()
def fused_recurrent_delta_rule(q: Tensor, k: Tensor, v: Tensor, beta: Tensor | None = None, scale: float | None = None,
                               initial_state: Tensor | None = None, output_final_state: bool = False,
                               use_qk_l2norm_in_kernel: bool = False, cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """chunk_delta_rule; without beta it is 1."""
    return chunk_delta_rule(q, k, v, _whole(beta, v), scale, initial_state, output_final_state, use_qk_l2norm_in_kernel, cu_seqlens)


@says()
def chunk_gated_delta_rule(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, scale: float | None = None,
                           initial_state: Tensor | None = None, output_final_state: bool = False,
                           use_qk_l2norm_in_kernel: bool = False, use_beta_sigmoid_in_kernel: bool = False,
                           allow_neg_eigval: bool = False, state_v_first: bool = False, cu_seqlens: Tensor | None = None,
                           cu_seqlens_cpu: Tensor | None = None, chunk_indices: Tensor | None = None, cp_context: None = None, *,
                           use_gate_in_kernel: bool = False, A_log: Tensor | None = None, dt_bias: Tensor | None = None,
                           chunk_size: int | None = None, **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """Gated DeltaNet (arXiv 2412.06464): the delta rule with a log-decay for each token and head, g [B, T, H]. With
    use_gate_in_kernel it is -exp(A_log) softplus(g + dt_bias), A_log and dt_bias [H]."""
    name = "chunk_gated_delta_rule"
    state_v_first = layout(name, state_v_first, deprecated)
    one_device(name, cp_context)
    check_chunk(name, chunk_size, 16, 32, 64)
    if use_gate_in_kernel:
        g = gate(name, g, A_log, dt_bias)
    if use_qk_l2norm_in_kernel:
        q, k = l2norm(q), l2norm(k)
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, decay=log_decay(g, q),
               beta=shares(name, beta, use_beta_sigmoid_in_kernel, allow_neg_eigval))


@says()
def fused_recurrent_gated_delta_rule(q: Tensor, k: Tensor, v: Tensor, g: Tensor | None = None, gk: Tensor | None = None,
                                     gv: Tensor | None = None, beta: Tensor | None = None, scale: float | None = None,
                                     initial_state: Tensor | None = None, output_final_state: bool = False,
                                     use_qk_l2norm_in_kernel: bool = False, use_gate_in_kernel: bool = False,
                                     A_log: Tensor | None = None, dt_bias: Tensor | None = None,
                                     use_beta_sigmoid_in_kernel: bool = False, allow_neg_eigval: bool = False,
                                     state_v_first: bool = False, cu_seqlens: Tensor | None = None,
                                     **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """chunk_gated_delta_rule with log-decays of tokens, g [B, T, H], of keys, gk [B, T, H, K], both or neither; without beta it
    is 1. There are no decays of values, gv: the op erases along keys only."""
    name = "fused_recurrent_gated_delta_rule"
    state_v_first = layout(name, state_v_first, deprecated)
    if gv is not None:
        raise CallError(f"{name}: decays of values, gv, go with no delta rule; g and gk do")
    if g is not None:
        check_shape(name, "g", g, v.shape[:3])
    if gk is not None:
        check_shape(name, "gk", gk, (*v.shape[:3], q.shape[-1]))
    if use_gate_in_kernel:
        g = gate(name, g, A_log, dt_bias)
    if use_qk_l2norm_in_kernel:
        q, k = l2norm(q), l2norm(k)
    decay = g if gk is None else gk if g is None else wide(g).unsqueeze(-1) + gk
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, like=v, decay=log_decay(decay, q),
               beta=shares(name, _whole(beta, v), use_beta_sigmoid_in_kernel, allow_neg_eigval))


@says()
def chunk_kda(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, scale: float | None = None,
              initial_state: Tensor | None = None, output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False,
              use_gate_in_kernel: bool = False, use_beta_sigmoid_in_kernel: bool = False, allow_neg_eigval: bool = False,
              safe_gate: bool = False, lower_bound: float | None = None, disable_recompute: bool = False,
              return_intermediate_states: bool = False, state_v_first: bool = False, cu_seqlens: Tensor | None = None,
              cu_seqlens_cpu: Tensor | None = None, cp_context: None = None, use_graph: bool = False,
              max_num_seqs: int | None = None, *, A_log: Tensor | None = None, dt_bias: Tensor | None = None,
              chunk_size: int | None = None, **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """Kimi Delta Attention (arXiv 2510.26692): the delta rule with log-decays of each key, g [B, T, H, K].

    With use_gate_in_kernel these are -exp(A_log) softplus(g + dt_bias), or where there is a lower_bound,
    lower_bound sigmoid(exp(A_log) (g + dt_bias)), of which A_log may be left out; A_log is [H] and dt_bias [H K]. Without it,
    safe_gate with a lower_bound promises that no g is less.
    """
    name = "chunk_kda"
    state_v_first = layout(name, state_v_first, deprecated)
    one_device(name, cp_context)
    check_chunk(name, chunk_size, 32, 64)
    no_states_between(name, return_intermediate_states)
    if safe_gate and use_gate_in_kernel and lower_bound is None:
        raise CallError(f"{name}: safe_gate bounds the gate by lower_bound, which is missing")
    return _kda(name, q, k, v, g, beta, A_log, dt_bias, scale, initial_state, output_final_state, use_qk_l2norm_in_kernel,
                use_gate_in_kernel, use_beta_sigmoid_in_kernel, allow_neg_eigval, lower_bound, state_v_first, cu_seqlens, safe_gate)


@says()
def fused_recurrent_kda(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, A_log: Tensor | None = None,
                        dt_bias: Tensor | None = None, scale: float | None = None, initial_state: Tensor | None = None,
                        output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False, use_gate_in_kernel: bool = False,
                        use_beta_sigmoid_in_kernel: bool = False, allow_neg_eigval: bool = False, lower_bound: float | None = None,
                        state_v_first: bool = False, cu_seqlens: Tensor | None = None, **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """chunk_kda, with its arguments in another order."""
    name = "fused_recurrent_kda"
    state_v_first = layout(name, state_v_first, deprecated)
    return _kda(name, q, k, v, g, beta, A_log, dt_bias, scale, initial_state, output_final_state, use_qk_l2norm_in_kernel,
                use_gate_in_kernel, use_beta_sigmoid_in_kernel, allow_neg_eigval, lower_bound, state_v_first, cu_seqlens, like=v)


def _kda(name, q, k, v, g, beta, A_log, dt_bias, scale, initial_state, output_final_state, use_qk_l2norm_in_kernel,
         use_gate_in_kernel, use_beta_sigmoid_in_kernel, allow_neg_eigval, lower_bound, state_v_first, cu_seqlens, promised=False,
         like=None):
    if use_gate_in_kernel:
        g = gate(name, g, A_log, dt_bias, lower_bound, keys=True)
    if use_qk_l2norm_in_kernel:
        q, k = l2norm(q), l2norm(k)
    return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first, like=like, decay=log_decay(g, q),
               beta=shares(name, beta, use_beta_sigmoid_in_kernel, allow_neg_eigval),
               decay_bound=lower_bound if use_gate_in_kernel or promised else None)


@says(erase="b")
def chunk_gdn2(q: Tensor, k: Tensor, v: Tensor, g: Tensor, b: Tensor, w: Tensor, scale: float | None = None,
               initial_state: Tensor | None = None, output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False,
               use_gate_in_kernel: bool = False, cu_seqlens: Tensor | None = None, cu_seqlens_cpu: Tensor | None = None,
               safe_gate: bool = False, lower_bound: float | None = None, disable_recompute: bool = False,
               return_intermediate_states: bool = False, state_v_first: bool = False, cp_context: None = None, *,
               A_log: Tensor | None = None, dt_bias: Tensor | None = None, chunk_size: int | None = None,
               **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """GDN-2: chunk_kda with a gate for each channel of what is erased, b [B, T, H, K], and of what is written, w [B, T, H, V]:
    S_t = (I - k_t^T (b_t k_t)) diag(exp g_t) S_{t-1} + k_t^T (w_t v_t)."""
    name = "chunk_gdn2"
    state_v_first = layout(name, state_v_first, deprecated)
    one_device(name, cp_context)
    check_chunk(name, chunk_size, 64)
    no_states_between(name, return_intermediate_states)
    if safe_gate and use_gate_in_kernel and lower_bound is None:
        raise CallError(f"{name}: safe_gate bounds the gate by lower_bound, which is missing")
    return _gdn2(name, q, k, v, g, b, w, A_log, dt_bias, scale, initial_state, output_final_state, use_qk_l2norm_in_kernel,
                 use_gate_in_kernel, lower_bound, state_v_first, cu_seqlens, safe_gate)


@says(erase="b")
def fused_recurrent_gdn2(q: Tensor, k: Tensor, v: Tensor, g: Tensor, b: Tensor, w: Tensor, A_log: Tensor | None = None,
                         dt_bias: Tensor | None = None, scale: float | None = None, initial_state: Tensor | None = None,
                         output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False, use_gate_in_kernel: bool = False,
                         lower_bound: float | None = None, state_v_first: bool = False, cu_seqlens: Tensor | None = None,
                         **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """chunk_gdn2, with its arguments in another order."""
    name = "fused_recurrent_gdn2"
    state_v_first = layout(name, state_v_first, deprecated)
    return _gdn2(name, q, k, v, g, b, w, A_log, dt_bias, scale, initial_state, output_final_state, use_qk_l2norm_in_kernel,
                 use_gate_in_kernel, lower_bound, state_v_first, cu_seqlens, like=v)


def _gdn2(name, q, k, v, g, b, w, A_log, dt_bias, scale, initial_state, output_final_state, use_qk_l2norm_in_kernel,
          use_gate_in_kernel, lower_bound, state_v_first, cu_seqlens, promised=False, like=None):
    if use_gate_in_kernel:
        g = gate(name, g, A_log, dt_bias, lower_bound, keys=True)
    if use_qk_l2norm_in_kernel:
        q, k = l2norm(q), l2norm(k)
    check_shape(name, "w", w, v.shape)
    check_shape(name, "b", b, (*v.shape[:3], k.shape[-1]))
    return run(q, k, (w * v).to(v.dtype), scale, initial_state, output_final_state, cu_seqlens, state_v_first, like=like,
               decay=log_decay(g, q), erase=(b * per_value_head(k, v)).to(k.dtype),
               decay_bound=lower_bound if use_gate_in_kernel or promised else None)


@says(erase="p")
def chunk_comba(q: Tensor, k: Tensor, v: Tensor, p: Tensor, g: Tensor, beta: Tensor | None = None, scale: float | None = None,
                initial_state: Tensor | None = None, output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False,
                cu_seqlens: Tensor | None = None, cu_seqlens_cpu: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """Comba (arXiv 2506.02475): erases by p, before the decay: e_t = beta_t p_t S_{t-1}. p may be None for k."""
    p = k if p is None else p
    if use_qk_l2norm_in_kernel:
        q, k, p = l2norm(q), l2norm(k), l2norm(p)
    if beta is not None:
        check_shape("chunk_comba", "beta", beta, v.shape[:3])
    weight = _whole(beta, v).unsqueeze(-1)
    return run(q, k, (v * weight).to(v.dtype), scale, initial_state, output_final_state, cu_seqlens, decay=log_decay(g, q),
               erase=(per_value_head(p, v) * weight).to(p.dtype), erase_before_decay=True)


@says()
def fused_recurrent_comba(q: Tensor, k: Tensor, p: Tensor, v: Tensor, g: Tensor, beta: Tensor | None = None,
                          scale: float | None = None, initial_state: Tensor | None = None, output_final_state: bool = False,
                          use_qk_l2norm_in_kernel: bool = False, cu_seqlens: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """chunk_comba, with its arguments in another order."""
    return chunk_comba(q, k, v, p, g, beta, scale, initial_state, output_final_state, use_qk_l2norm_in_kernel, cu_seqlens)


def _spread(x, steps, at):
    """Tokens [B, T, ...] as one of `steps` each, the others 0: [B, T steps, ...]."""
    return F.pad(x.unsqueeze(2), (0, 0) * (x.dim() - 2) + (at, steps - 1 - at)).flatten(1, 2)


@says()
def chunk_gated_delta_product(q: Tensor, k: Tensor, v: Tensor, g: Tensor | None, beta: Tensor, num_householder: int,
                              scale: float | None = None, initial_state: Tensor | None = None, output_final_state: bool = False,
                              use_qk_l2norm_in_kernel: bool = False, cu_seqlens: Tensor | None = None,
                              cu_seqlens_cpu: Tensor | None = None, cp_context: None = None) -> tuple[Tensor, Tensor | None]:
    """Gated DeltaProduct (arXiv 2502.10297): num_householder steps of the delta rule for each token, of which the first decays
    and the last is read. k, v and beta are [B, T num_householder, ...], q and g [B, T, ...]; g may be None."""
    one_device("chunk_gated_delta_product", cp_context)
    if k.shape[1] != q.shape[1] * num_householder:
        raise CallError(f"chunk_gated_delta_product: k has {k.shape[1]} steps; {num_householder} for each of {q.shape[1]} tokens are "
                        f"{q.shape[1] * num_householder}")
    if use_qk_l2norm_in_kernel:
        q, k = l2norm(q), l2norm(k)
    if _op._split is None:
        return run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, decay=None if g is None else log_decay(g, q), beta=beta,
                   steps_per_token=num_householder)
    # Over processes, steps are tokens.
    o, final = run(_spread(q, num_householder, num_householder - 1), k, v, scale, initial_state, output_final_state,
                   None if cu_seqlens is None else cu_seqlens * num_householder,
                   decay=None if g is None else _spread(log_decay(g, q), num_householder, 0), beta=beta)
    return o[:, num_householder - 1::num_householder], final


@says(decay="gv")
def chunk_gated_oja_rule(q: Tensor, k: Tensor, v: Tensor, gv: Tensor, beta: Tensor, scale: float | None = None,
                         initial_state: Tensor | None = None, output_final_state: bool = False, use_q_l2norm: bool = False,
                         use_k_l2norm: bool = False, cu_seqlens: Tensor | None = None, cu_seqlens_cpu: Tensor | None = None,
                         chunk_size: int | None = None, **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """Gated Oja rule, the delta rule with keys and values exchanged: S_t = S_{t-1} diag(exp gv_t) + u_t^T v_t with
    u_t = beta_t (k_t - v_t (S_{t-1} diag(exp gv_t))^T), gv [B, T, H, V], beta [B, T, H].

    Two recurrences: a delta rule whose keys are v gives u, in two steps for each token, of which the first decays and is read, and
    the second writes; then u is written with decays along values.
    """
    if deprecated.pop("use_qk_l2norm_in_kernel", False) and not use_q_l2norm and not use_k_l2norm:
        use_q_l2norm = use_k_l2norm = True
    layout("chunk_gated_oja_rule", False, deprecated)
    check_chunk("chunk_gated_oja_rule", chunk_size, 16, 32, 64)
    if gv is not None:
        check_shape("chunk_gated_oja_rule", "gv", gv, v.shape)
    if beta is not None:
        check_shape("chunk_gated_oja_rule", "beta", beta, v.shape[:3])
    q, k = l2norm(q) if use_q_l2norm else q, per_value_head(l2norm(k) if use_k_l2norm else k, v)
    decay, beta = log_decay(gv, q), log_decay(_whole(beta, v), q)
    twice = v.repeat_interleave(2, 1)
    held, _ = run(twice, twice, k.repeat_interleave(2, 1), 1.0, None if initial_state is None else initial_state.transpose(-1, -2),
                  False, None if cu_seqlens is None else 2 * cu_seqlens, decay=None if decay is None else _spread(decay, 2, 0),
                  beta=_spread(beta, 2, 1))
    written = (beta.unsqueeze(-1) * (k - held[:, ::2])).to(k.dtype)
    return run(q, written, v, scale, initial_state, output_final_state, cu_seqlens, decay=decay,
               decay_side="key" if decay is None else "value")


@says()
def fused_recurrent_gated_oja_rule(q: Tensor, k: Tensor, v: Tensor, gv: Tensor | None = None, beta: Tensor | None = None,
                                   scale: float | None = None, initial_state: Tensor | None = None, output_final_state: bool = False,
                                   use_q_l2norm: bool = False, use_k_l2norm: bool = False, cu_seqlens: Tensor | None = None,
                                   **deprecated: bool) -> tuple[Tensor, Tensor | None]:
    """chunk_gated_oja_rule; without gv nothing decays, without beta it is 1."""
    return chunk_gated_oja_rule(q, k, v, gv, beta, scale, initial_state, output_final_state, use_q_l2norm, use_k_l2norm, cu_seqlens,
                                **deprecated)


chunk_gdn = chunk_gated_delta_rule
fused_recurrent_gdn = fused_recurrent_gated_delta_rule
