# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands around the recurrences of flash-linear-attention's layers, said with torch's own ops; short convolutions of two to eight
tokens are Drawloom's.

Each function has the name, the arguments and the results of the one that it stands for, whose kernels are for GPUs. As these
do, it computes float16 and bfloat16 in float32 and rounds once. Arguments that say how a kernel computes have no effect.
"""

from __future__ import annotations

import importlib

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from ..._errors import CallError
from ..linrec import _op
from ..linrec._calls import additive_gate, check_chunk, gate, wide
from ..linrec._calls import l2norm as _l2norm
from ..linrec._conv import short_convolution

# --- activations -----------------------------------------------------------------------------------------------------


def sigmoid(x):
    return torch.sigmoid(wide(x)).to(x.dtype)


def swish(x):
    return F.silu(wide(x)).to(x.dtype)


def logsigmoid(x, temperature=1.0):
    return (F.logsigmoid(wide(x)) / temperature).to(x.dtype)


def fast_gelu_impl(x):
    return F.gelu(wide(x), approximate="tanh").to(x.dtype)


def bias_gelu_impl(y, bias):
    return F.gelu(wide(y) + wide(bias), approximate="tanh").to(y.dtype)


def sqrelu(x):
    return F.relu(wide(x)).square().to(x.dtype)


def swiglu(x, y):
    return (F.silu(wide(x)) * wide(y)).to(x.dtype)


def swiglu_linear(x, y, weight, bias):
    return F.linear(swiglu(x, y), weight, bias)


def sigmoidglu(x, y):
    return (torch.sigmoid(wide(x)) * wide(y)).to(x.dtype)


def sigmoidglu_linear(x, y, weight, bias):
    return F.linear(sigmoidglu(x, y), weight, bias)


def powglu(x, y, power=3.0):
    """x^(power / (sqrt(x) + 1)) sigmoid(x) y where x is positive, x sigmoid(x) y elsewhere."""
    one = wide(x)
    positive = torch.where(one > 0, one, 1.0)
    base = torch.where(one > 0, positive ** (power / (positive.sqrt() + 1)), one)
    return (base * torch.sigmoid(one) * wide(y)).to(x.dtype)


def powglu_linear(x, y, weight, bias, power=3.0):
    return F.linear(powglu(x, y, power), weight, bias)


# --- norms -----------------------------------------------------------------------------------------------------------


def _normalized(x, weight, bias, eps, is_rms_norm, groups=1):
    rows = x.unflatten(-1, (groups, x.shape[-1] // groups))
    rows = F.rms_norm(rows, rows.shape[-1:], None, eps) if is_rms_norm else F.layer_norm(rows, rows.shape[-1:], None, None, eps)
    y = rows.flatten(-2)
    if weight is not None:
        y = y * wide(weight)
    return y if bias is None else y + wide(bias)


def _added(x, residual, residual_in_fp32):
    """x and the residual in float32, and as a later layer gets them."""
    if residual is not None:
        total = wide(x) + wide(residual)
        return total, total.to(residual.dtype)
    return wide(x), wide(x) if residual_in_fp32 else x


def layer_norm(x, weight, bias, residual=None, eps=1e-5, prenorm=False, residual_in_fp32=False, is_rms_norm=False):
    return group_norm(x, weight, bias, residual, eps, prenorm, residual_in_fp32, is_rms_norm)


def rms_norm(x, weight, bias, residual=None, eps=1e-5, prenorm=False, residual_in_fp32=False):
    return group_norm(x, weight, bias, residual, eps, prenorm, residual_in_fp32, True)


def group_norm(x, weight, bias, residual=None, eps=1e-5, prenorm=False, residual_in_fp32=False, is_rms_norm=False, num_groups=1):
    total, kept = _added(x, residual, residual_in_fp32)
    y = _normalized(total, weight, bias, eps, is_rms_norm, num_groups).to(x.dtype)
    return (y, kept) if prenorm else y


def layer_norm_linear(x, norm_weight, norm_bias, linear_weight, linear_bias, residual=None, eps=1e-5, prenorm=False,
                      residual_in_fp32=False, is_rms_norm=False, num_groups=1):
    y, kept = group_norm(x, norm_weight, norm_bias, residual, eps, True, residual_in_fp32, is_rms_norm, num_groups)
    out = F.linear(y.to(linear_weight.dtype), linear_weight, linear_bias)
    return (out, kept) if prenorm else out


def rms_norm_linear(x, norm_weight, norm_bias, linear_weight, linear_bias, residual=None, eps=1e-5, prenorm=False,
                    residual_in_fp32=False):
    return layer_norm_linear(x, norm_weight, norm_bias, linear_weight, linear_bias, residual, eps, prenorm, residual_in_fp32, True)


def group_norm_linear(x, norm_weight, norm_bias, linear_weight, linear_bias, residual=None, eps=1e-5, prenorm=False,
                      residual_in_fp32=False, is_rms_norm=False, num_groups=1):
    return layer_norm_linear(x, norm_weight, norm_bias, linear_weight, linear_bias, residual, eps, prenorm, residual_in_fp32,
                             is_rms_norm, num_groups)


def _gated(x, g, weight, bias, activation, residual, prenorm, residual_in_fp32, eps, is_rms_norm):
    total, kept = _added(x, residual, residual_in_fp32)
    factor = torch.sigmoid(wide(g)) if activation == "sigmoid" else F.silu(wide(g))
    y = (_normalized(total, weight, bias, eps, is_rms_norm) * factor.reshape(total.shape)).to(x.dtype)
    return (y, kept) if prenorm else y


def layer_norm_gated(x, g, weight, bias, activation="swish", residual=None, prenorm=False, residual_in_fp32=False, eps=1e-6):
    return _gated(x, g, weight, bias, activation, residual, prenorm, residual_in_fp32, eps, False)


def rms_norm_gated(x, g, weight, bias, activation="swish", residual=None, prenorm=False, residual_in_fp32=False, eps=1e-6):
    return _gated(x, g, weight, bias, activation, residual, prenorm, residual_in_fp32, eps, True)


def layer_norm_swish_gate_linear(x, g, norm_weight, norm_bias, linear_weight, linear_bias, residual=None, prenorm=False,
                                 residual_in_fp32=False, eps=1e-6, is_rms_norm=False):
    y, kept = _gated(x, g, norm_weight, norm_bias, "swish", residual, True, residual_in_fp32, eps, is_rms_norm)
    out = F.linear(y.to(linear_weight.dtype), linear_weight, linear_bias)
    return (out, kept) if prenorm else out


def rms_norm_swish_gate_linear(x, g, norm_weight, norm_bias, linear_weight, linear_bias, residual=None, prenorm=False,
                               residual_in_fp32=False, eps=1e-6):
    return layer_norm_swish_gate_linear(x, g, norm_weight, norm_bias, linear_weight, linear_bias, residual, prenorm,
                                        residual_in_fp32, eps, True)


def layernorm_fn(x, weight, bias, z=None, eps=1e-6, group_size=None, norm_before_gate=True, is_rms_norm=False):
    """Mamba's norm: z gates what comes out of it, or what goes into it."""
    rows, factor = wide(x), None if z is None else F.silu(wide(z))
    if factor is not None and not norm_before_gate:
        rows = rows * factor
    y = _normalized(rows, weight, bias, eps, is_rms_norm, 1 if group_size is None else x.shape[-1] // group_size)
    return (y * factor if factor is not None and norm_before_gate else y).to(x.dtype)


def rmsnorm_fn(x, weight, bias, z=None, eps=1e-6, group_size=None, norm_before_gate=True):
    return layernorm_fn(x, weight, bias, z, eps, group_size, norm_before_gate, True)


def l2norm(x, eps=1e-6, output_dtype=None):
    return _l2norm(x, eps).to(x.dtype if output_dtype is None else output_dtype)


# --- gates -----------------------------------------------------------------------------------------------------------


def fused_kda_gate(g, A_log=None, dt_bias=None, lower_bound=None, output_dtype=torch.float32):
    return gate("fused_kda_gate", g, A_log, dt_bias, lower_bound, keys=True).to(output_dtype)


def fused_additive_gate(x, initial_state=None, cu_seqlens=None, output_dtype=None, gate_dtype=None):
    share, decay, last = additive_gate(x, initial_state, cu_seqlens)
    return share.to(output_dtype or x.dtype), decay.to(gate_dtype or x.dtype), last


def fused_gdn_gate(g, A_log, dt_bias=None, output_dtype=torch.float32):
    return gate("fused_gdn_gate", g, A_log, dt_bias).to(output_dtype)


def fused_addcmul_rwkv7(hidden_states, delta, xr, xw, xk, xv, xa, xg=None):
    """hidden_states + delta x for each x; None for one of None."""
    x, change = wide(hidden_states), wide(delta)
    return tuple(None if one is None else torch.addcmul(x, change, wide(one)).to(hidden_states.dtype)
                 for one in (xr, xw, xk, xv, xa, xg))


def fused_k_rwkv7(k, a, ka, cu_seqlens=None, cu_seqlens_cpu=None):
    """k (1 + (a - 1) ka)."""
    x = wide(k)
    return x.addcmul(x * (wide(a) - 1), wide(ka)).to(k.dtype)


def gate_output_correction(o, r, k, r_k, v, g):
    """(o + (r . k r_k) v) g, o and g [B, T, H D], r, k and v [B, T, H, D], r_k [H, D]."""
    bonus = (wide(r) * wide(k) * wide(r_k)).sum(-1, keepdim=True) * wide(v)
    return ((wide(o) + bonus.reshape(o.shape)) * wide(g)).to(o.dtype)


def channel_mixing_rwkv7(x, x_prev, x_k, key_weight, value_weight, inplace=True):
    """relu(mix K)^2 V with mix = x_t + (x_{t-1} - x_t) x_k, x [B, T, D], and x_prev, [B, D], before the first token; the last batch entry
    of x beside it, as there."""
    one = wide(x)
    before = torch.cat((wide(x_prev).reshape(x.shape[0], 1, x.shape[2]), one[:, :-1]), 1)
    mixed = torch.addcmul(one, before - one, wide(x_k)).to(x.dtype)
    return sqrelu(mixed @ key_weight) @ value_weight, x[-1, :]


# --- neighbours of a token -------------------------------------------------------------------------------------------


def _sequences(starts, tokens):
    """[(first token, last + 1)]."""
    bounds = starts.tolist()
    if bounds[0] != 0 or bounds[-1] != tokens or any(a > b for a, b in zip(bounds, bounds[1:])):
        raise CallError(f"cu_seqlens is {bounds}; it goes from 0 to the number of tokens, {tokens}, and does not decrease")
    return list(zip(bounds, bounds[1:]))


def _in_chunks(function, x, chunk_size, cu_seqlens):
    """[(rows in chunks [B, chunks, chunk_size, ...] with zeros behind the last, tokens)] of each sequence."""
    check_chunk(function, chunk_size)
    spans = [(0, x.shape[1])] if cu_seqlens is None else _sequences(cu_seqlens, x.shape[1])
    padding = (0, 0) * (x.dim() - 2)
    return [(F.pad(wide(x)[:, a:b], (*padding, 0, (a - b) % chunk_size)).unflatten(1, (-1, chunk_size)), b - a) for a, b in spans if a < b]


def chunk_local_cumsum(g, chunk_size, reverse=False, scale=None, cu_seqlens=None, output_dtype=torch.float, chunk_indices=None,
                       use_graph=False, **kwargs):
    """Sums within each chunk of chunk_size tokens, from its first token or with reverse from its last, g [B, T, H] or [B, T, H, D]."""
    parts = []
    for chunks, tokens in _in_chunks("chunk_local_cumsum", g, chunk_size, cu_seqlens):
        sums = chunks.flip(2).cumsum(2).flip(2) if reverse else chunks.cumsum(2)
        parts.append(sums.flatten(1, 2)[:, :tokens])
    o = torch.cat(parts, 1) if parts else wide(g)
    return (o if scale is None else o * scale).to(output_dtype or g.dtype)


def mean_pooling(x, chunk_size, cu_seqlens=None, **kwargs):
    """The mean of each chunk of chunk_size tokens, x [B, T, H, D] -> [B, chunks, H, D]; the last one of a sequence may have fewer."""
    means = []
    for chunks, tokens in _in_chunks("mean_pooling", x, chunk_size, cu_seqlens):
        counts = torch.full((chunks.shape[1], 1, 1), float(chunk_size), dtype=chunks.dtype)
        counts[-1] -= -tokens % chunk_size
        means.append((chunks.sum(2) / counts).to(x.dtype))
    return torch.cat(means, 1) if means else x[:, :0]


def _one_process(what, way_out):
    if _op._split is not None:
        raise CallError(f"{what} is not split over processes{way_out}")


def causal_conv1d(x, weight=None, bias=None, residual=None, initial_state=None, output_final_state=False, activation=None,
                  backend="triton", cu_seqlens=None, cu_seqlens_cpu=None, chunk_indices=None, cp_context=None, **kwargs):
    """y_t = act(sum_j weight[:, W - 1 - j] x_{t - j} + bias) + residual_t, x [B, T, D], weight [D, W]. States are the last W
    inputs of each sequence, [N, D, W]."""
    if cp_context is not None:
        raise CallError("causal_conv1d: cp_context splits sequences over GPUs; on the CPU, leave it out")
    if weight is None:
        raise CallError("causal_conv1d: weight is None; it is a tensor [channels, W]")
    shape, width = x.shape, weight.shape[1]
    if 2 <= width <= 8:
        # A third to three quarters of the time of what follows.
        return short_convolution(x, weight, bias, residual, initial_state, output_final_state, activation, cu_seqlens=cu_seqlens)
    _one_process(f"causal_conv1d of {width} tokens", "; one of 2 to 8 tokens is")
    spans = None if cu_seqlens is None else _sequences(cu_seqlens, x.shape[1])
    rows, taps = wide(x.flatten(2)), wide(weight).unbind(1)
    parts = [rows] if spans is None else [rows[:, a:b] for a, b in spans]
    past = [None] * len(parts) if initial_state is None else [initial_state] if spans is None else initial_state.split(1)
    outputs, finals = [], []
    for part, before in zip(parts, past):
        before = part.new_zeros(part.shape[0], width, part.shape[2]) if before is None else wide(before).transpose(1, 2)
        full, tokens = torch.cat((before, part), 1), part.shape[1]
        finals.append(full[:, -width:].transpose(1, 2))
        # Tap by tap: torch's convolution of one channel a group takes more than twice as long.
        y = full[:, 1:tokens + 1] * taps[0]
        for j in range(1, width):
            y = y + full[:, j + 1:j + tokens + 1] * taps[j]
        outputs.append(y)
    y = outputs[0] if len(outputs) == 1 else torch.cat(outputs, 1)
    if bias is not None:
        y = y + wide(bias)
    if activation in ("silu", "swish"):
        y = F.silu(y)
    y = y.reshape(shape)
    if residual is not None:
        y = y + wide(residual)
    return y.to(x.dtype), torch.cat(finals).to(x.dtype) if output_final_state else None


def causal_conv1d_update(x, cache, residual=None, weight=None, bias=None, activation=None):
    """One token of each sequence; the cache, [N, D, W], is updated in place."""
    rows = x.reshape(-1, cache.shape[1])
    cache.copy_(torch.cat((cache[..., 1:], rows.unsqueeze(-1).to(cache.dtype)), -1))
    y = (wide(cache) * wide(weight)).sum(-1)
    if bias is not None:
        y = y + wide(bias)
    if activation in ("silu", "swish"):
        y = F.silu(y)
    if residual is not None:
        y = y + wide(residual).reshape(y.shape)
    return y.to(x.dtype).reshape(x.shape), cache


def token_shift(x, cu_seqlens=None, cache=None, output_cache=False, chunk_indices=None):
    """x_{t-1} - x_t, where 0 or the cache, [N, D], comes before a sequence."""
    _one_process("token_shift", "; context_parallel.shift_from_previous gives the token before a segment")
    bounds = None if cu_seqlens is None else _sequences(cu_seqlens, x.shape[1])
    parts = [x] if bounds is None else [x[:, a:b] for a, b in bounds]
    past = [None] * len(parts) if cache is None else [cache] if bounds is None else cache.split(1)
    deltas, last = [], []
    for part, before in zip(parts, past):
        before = part.new_zeros(part.shape[0], 1, part.shape[2]) if before is None else before.to(x.dtype).unsqueeze(1)
        full = torch.cat((before, part), 1)
        deltas.append(full[:, :-1] - part)
        last.append(full[:, -1])
    delta = torch.cat(deltas, 1)
    return (delta, torch.cat(last)) if output_cache else delta


def rotary_embedding(x, cos, sin, interleaved=False, inplace=False, seqlen_offsets=0, cu_seqlens=None, chunk_indices=None):
    """Pairs of channels turned by the angle of their token's position, x [B, T, H, D], cos and sin [positions, R], 2 R <= D. A
    sequence begins at its offset."""
    tokens, size = x.shape[1], 2 * cos.shape[1]
    if cu_seqlens is None:
        offsets = seqlen_offsets.unsqueeze(1) if isinstance(seqlen_offsets, torch.Tensor) else seqlen_offsets
        positions = (torch.arange(tokens) + offsets).expand(x.shape[0], tokens)
    else:
        lengths = cu_seqlens.diff()
        offsets = seqlen_offsets if isinstance(seqlen_offsets, torch.Tensor) else torch.full_like(lengths, seqlen_offsets)
        positions = (torch.arange(tokens) - (cu_seqlens[:-1] - offsets).repeat_interleave(lengths)).unsqueeze(0)
    # Tokens that padding puts before a sequence have negative positions; nothing reads them.
    positions = positions.clamp(min=0)
    cos, sin = (wide(table)[positions].unsqueeze(2) for table in (cos, sin))
    turned, rest = x[..., :size], x[..., size:]
    one, two = (wide(turned[..., ::2]), wide(turned[..., 1::2])) if interleaved else map(wide, turned.chunk(2, -1))
    pair = (one * cos - two * sin, one * sin + two * cos)
    y = torch.stack(pair, -1).flatten(-2) if interleaved else torch.cat(pair, -1)
    y = torch.cat((y.to(x.dtype), rest), -1)
    return x.copy_(y) if inplace else y


# --- losses ----------------------------------------------------------------------------------------------------------


def cross_entropy_loss(logits, target, label_smoothing=0.0, logit_scale=1.0, lse_square_scale=0.0, logit_softcapping=None,
                       ignore_index=-100, inplace_backward=False, process_group=None):
    """(losses, of which the part by lse_square_scale), [N] each, of logits [N, V]; 0 where the target is ignore_index."""
    if process_group is not None:
        raise CallError("cross_entropy_loss: process_group splits classes over GPUs; on the CPU, leave it out")
    scores = wide(logits) * logit_scale
    if logit_softcapping is not None:
        scores = logit_softcapping * torch.tanh(scores / logit_softcapping)
    lse = scores.logsumexp(-1)
    counted = target != ignore_index
    wanted = scores.gather(-1, torch.where(counted, target, 0).unsqueeze(-1)).squeeze(-1)
    if label_smoothing > 0:
        wanted = (1 - label_smoothing) * wanted + label_smoothing * scores.mean(-1)
    z_loss = torch.where(counted, lse_square_scale * lse.square(), 0.0)
    return torch.where(counted, lse - wanted, 0.0) + z_loss, z_loss.detach()


def fused_cross_entropy_forward(self, input, target):
    """FusedCrossEntropyLoss.forward, which takes tensors of GPUs only."""
    loss, z_loss = cross_entropy_loss(input, target, self.label_smoothing, self.logit_scale, self.lse_square_scale,
                                      self.logit_softcapping, self.ignore_index, process_group=self.process_group)
    if self.reduction != "none":
        total = (target != self.ignore_index).sum() if self.reduction == "mean" else 1
        loss, z_loss = loss.sum() / total, z_loss.sum() / total
    return (loss, z_loss) if self.return_z_loss else loss


# Logits that are in memory at a time.
_LOGITS = 1 << 24


def fused_linear_cross_entropy_loss(x, target, weight, bias=None, ignore_index=-100, label_smoothing=0.0, logit_scale=1.0,
                                    logit_softcapping=None, num_chunks=8, reduction="mean", use_l2warp=False,
                                    l2_penalty_factor=1e-4, accumulate_grad_in_fp32=True, process_group=None):
    """Cross entropy of x weight^T + bias, x [N, H], weight [V, H]. Where there are more than 2^24 logits, they are computed some
    rows at a time, and again for the gradient."""
    def part(x, target):
        logits = F.linear(x, weight, bias)
        loss = cross_entropy_loss(logits, target, label_smoothing, logit_scale, 0.0, logit_softcapping, ignore_index,
                                  process_group=process_group)[0].sum()
        # A gradient of factor / N times the greatest logit, of one of them where several are, and no loss.
        pull = wide(logits).max(-1).values.square().sum() * (0.5 * l2_penalty_factor / rows) if use_l2warp else loss.new_zeros(())
        return loss, pull - pull.detach()

    rows = x.shape[0]
    step = max(1, _LOGITS // weight.shape[0])
    if rows <= step:
        loss, pull = part(x, target)
    else:
        parts = [checkpoint(part, a, b, use_reentrant=False) for a, b in zip(x.split(step), target.split(step))]
        loss, pull = (sum(one) for one in zip(*parts))
    if reduction == "mean":
        loss = loss / (target != ignore_index).sum().clamp_min(1)
    return loss + pull


def fused_kl_div_loss(x, target_x, weight, target_weight, reduction="batchmean", accumulate_grad_in_fp32=True):
    """Kullback-Leibler divergence of softmax(x weight^T) from softmax(target_x target_weight^T), by rows."""
    if target_x.requires_grad or target_weight.requires_grad:
        raise CallError("fused_kl_div_loss: target_x and target_weight get no gradient; detach them")
    student, teacher = (wide(F.linear(a, b)).log_softmax(-1) for a, b in ((x, weight), (target_x, target_weight)))
    return F.kl_div(student, teacher, reduction=reduction, log_target=True)


# --- softmax attention -----------------------------------------------------------------------------------------------


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1)):
    """Softmax attention, q [B, Tq, H, K], k [B, Tk, Hk, K], v [B, Tk, Hk, V]; the last query sits at the last key. window_size
    says how many keys before and behind a query it sees, -1 for all."""
    _one_process("softmax attention", "")
    queries, keys = q.shape[1], k.shape[1]
    before, behind = window_size[0], 0 if causal else window_size[1]
    distance = torch.arange(keys - queries, keys).unsqueeze(1) - torch.arange(keys)
    seen = torch.ones(queries, keys, dtype=torch.bool)
    if before >= 0:
        seen &= distance <= before
    if behind >= 0:
        seen &= -distance <= behind
    o = F.scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q, k, v)), attn_mask=None if bool(seen.all()) else seen,
                                       dropout_p=dropout_p, scale=softmax_scale, enable_gqa=q.shape[2] != k.shape[2])
    return o.transpose(1, 2)


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q=None, max_seqlen_k=None, dropout_p=0.0,
                           softmax_scale=None, causal=False, window_size=(-1, -1)):
    """flash_attn_func of packed sequences, q [tokens, H, K]."""
    spans = zip(_sequences(cu_seqlens_q, q.shape[0]), _sequences(cu_seqlens_k, k.shape[0]))
    return torch.cat([flash_attn_func(q[None, a:b], k[None, c:d], v[None, c:d], dropout_p, softmax_scale, causal, window_size)[0]
                      for (a, b), (c, d) in spans])


def parallel_attn(q, k, v, g=None, scale=None, window_size=None, cu_seqlens=None, chunk_indices=None, *, sink_bias=None):
    """Softmax attention with flash-linear-attention's own torch form, a sequence at a time."""
    _one_process("softmax attention", "")
    naive_parallel_attn = importlib.import_module("fla.ops.attn.naive").naive_parallel_attn
    spans = [(0, q.shape[1])] if cu_seqlens is None else _sequences(cu_seqlens, q.shape[1])
    return torch.cat([naive_parallel_attn(q[:, a:b], k[:, a:b], v[:, a:b], scale, window_size, g=None if g is None else g[:, a:b],
                                          sink_bias=sink_bias)[0].to(q.dtype) for a, b in spans if a < b], 1)


def fused_attnres(query, residuals, rms_weight, output_rms_weight=None, rms_eps=1e-6, scale=1.0, return_weights=False,
                  checkpoint_level=1):
    """Attention over residuals with flash-linear-attention's own torch form."""
    naive_attnres = importlib.import_module("fla.ops.attnres").naive_attnres
    return naive_attnres(query, residuals, rms_weight, output_rms_weight, rms_eps, scale, return_weights)


# --- Mamba-2 ---------------------------------------------------------------------------------------------------------


def mamba2_forward(self, input_states, last_state=None, use_cache=False, attention_mask=None):
    """Mamba2.torch_forward with its state space duality by Drawloom; n_groups of B and C are shared by heads that follow each
    other."""
    from ..linrec import chunk_mamba2

    batch, tokens, _ = input_states.shape
    gate, mixed, dt = self.in_proj(input_states).split([self.intermediate_size, self.conv_dim, self.num_heads], -1)
    masked = attention_mask is not None and last_state is None and attention_mask.shape == mixed.shape[:2]
    if masked:
        mixed = (mixed * attention_mask[:, :, None]).to(mixed.dtype)
    past = None if last_state is None else last_state["conv_state"]
    mixed, conv_state = causal_conv1d(mixed, self.conv1d.weight.squeeze(1), self.conv1d.bias, initial_state=past,
                                      output_final_state=True)
    mixed = self.act(mixed)
    if masked:
        mixed = (mixed * attention_mask[:, :, None]).to(mixed.dtype)
    states = self.n_groups * self.ssm_state_size
    x, b, c = mixed.split([self.intermediate_size, states, states], -1)
    b, c = (t.unflatten(-1, (self.n_groups, self.ssm_state_size)) for t in (b, c))
    y, state = chunk_mamba2(x.unflatten(-1, (self.num_heads, self.head_dim)), dt, -wide(self.A_log).exp(), b, c, D=self._get_D(),
                            dt_bias=self.dt_bias, dt_softplus=True, dt_limit=tuple(self.dt_limit),
                            initial_states=None if last_state is None else last_state["recurrent_state"], return_final_states=True)
    y = y.reshape(batch, tokens, -1)
    y = self.norm(y, gate) if self.rmsnorm else y * self.act(gate)
    return self.out_proj(y.to(input_states.dtype)), conv_state if use_cache or last_state is not None else None, state
