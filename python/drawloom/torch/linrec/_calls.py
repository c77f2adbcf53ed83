# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the models have in common: states, directions, gates, and arguments that flash-linear-attention once had."""

from __future__ import annotations

import functools
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor

from ..._errors import CallError, CallTypeError
from ...ops.recurrences import refuse
from . import _op
from ._op import linear_recurrence


def wide(x):
    """float32, or float64 where it is."""
    return x if x is None or x.dtype == torch.float64 else x.float()


def turned(state, state_v_first):
    """States [..., K, V] as [..., V, K], or the other way round."""
    return state.transpose(-1, -2) if state_v_first and state is not None else state


def _backward(x, heads=False):
    return x if x is None or (heads and x.dim() == 1) else x.flip(1)


def _alike(**operands):
    """Those that are given in the widest of their types: the peer's kernels load any floats, and compute in float32."""
    types = set()
    for name, one in operands.items():
        if one is not None:
            if not one.dtype.is_floating_point:
                kind = str(one.dtype).removeprefix("torch.")
                raise refuse(CallTypeError, f"`{name}` is {kind}; it is float32, float64, bfloat16 or float16")
            types.add(one.dtype)
    if len(types) == 1:
        return operands.values(), False
    widest = functools.reduce(torch.promote_types, types)
    return [None if one is None else one.to(widest) for one in operands.values()], True


def run(q, k, v, scale, initial_state, output_final_state, cu_seqlens, state_v_first=False, reverse=False, *, like=None, decay=None,
        beta=None, erase=None, lowrank=None, bonus=None, **more):
    """The op with states as the caller has them. With `reverse`, sequences go from their last token to their first. Where the types of
    operands differ, o has that of `like`, by default q."""
    dtype = (q if like is None else like).dtype
    (q, k, v, erase, lowrank), mixed = _alike(q=q, k=k, v=v, erase=erase, lowrank=lowrank)
    initial, starts = turned(wide(initial_state), state_v_first), cu_seqlens
    # These are float64 with q, and float32 or as they are without.
    double = q.dtype == torch.float64
    decay, beta, bonus, initial = (one if one is None or (one.dtype == torch.float64) == double else
                                   one.to(torch.float64 if double else torch.float32) for one in (decay, beta, bonus, initial))
    if v.shape[1] == 1:
        # A step of decoding is not worth a chunk.
        more.setdefault("chunk", 1)
    if reverse:
        if _op._split is not None:
            raise CallError("reverse: sequences that are split over processes go from their first token to their last")
        q, k, v, beta, erase, lowrank = map(_backward, (q, k, v, beta, erase, lowrank))
        decay = _backward(decay, heads=True)
        if starts is not None:
            starts = v.shape[1] - starts.flip(0)
            initial = None if initial is None else initial.flip(0)
    o, final = linear_recurrence(q, k, v, decay=decay, beta=beta, erase=erase, lowrank=lowrank, bonus=bonus, initial=initial,
                                 starts=starts, scale=None if scale is None else float(scale), **more)
    if reverse:
        o, final = o.flip(1), final if starts is None else final.flip(0)
    return o.to(dtype) if mixed else o, turned(final, state_v_first) if output_final_state else None


def check_shape(function, name, one, shape):
    """Before torch's own ops combine it with others and say neither its name nor the function's."""
    if tuple(one.shape) != tuple(shape):
        raise CallError(f"{function}: {name} has the shape {list(one.shape)}; it is {list(shape)}")


def check_chunk(function, size, *known):
    """Raises CallError for a number of tokens that the peer refuses; another one has no effect."""
    if size is None:
        return
    if not isinstance(size, int) or size < 1 or (size not in known if known else size & (size - 1)):
        takes = " or ".join(map(str, known)) if known else "a power of two"
        raise CallError(f"{function}: chunk_size is {size!r}; it is {takes}")


def layout(name, state_v_first, deprecated):
    """state_v_first, which flash-linear-attention once called transpose_state_layout; `deprecated` are arguments by old names."""
    if "head_first" in deprecated:
        raise CallError(f"{name}: head_first is gone; tensors are [batch, tokens, heads, size]")
    old = deprecated.pop("transpose_state_layout", None)
    if deprecated:
        raise CallTypeError(f"{name}: there is no argument '{next(iter(deprecated))}'")
    if old is None:
        return state_v_first
    if state_v_first:
        raise CallError(f"{name}: there are state_v_first and its old name, transpose_state_layout; it is given once")
    warnings.warn(f"{name}: transpose_state_layout is called state_v_first now", DeprecationWarning, stacklevel=3)
    return old


def one_device(name, cp_context):
    if cp_context is not None:
        raise CallError(f"{name}: cp_context splits sequences over GPUs; on the CPU, leave it out")


def no_states_between(name, return_intermediate_states):
    if return_intermediate_states:
        raise CallError(f"{name}: states between chunks are not kept; output_final_state gives the last one")


def l2norm(x, eps=1e-6):
    # One tensor: two would round their gradients one by one.
    one = wide(x)
    return (one * torch.rsqrt(one.square().sum(-1, keepdim=True) + eps)).to(x.dtype)


def log_decay(g, q):
    return g if g is None or q.dtype == torch.float64 else g.float()


def per_value_head(x, v):
    """Heads that several heads of v share, once for each of these."""
    return x if x.shape[2] == v.shape[2] else x.repeat_interleave(v.shape[2] // x.shape[2], 2)


def shares(name, beta, use_beta_sigmoid_in_kernel, allow_neg_eigval):
    """beta of a delta rule: as it is, or its sigmoid, or twice that."""
    if use_beta_sigmoid_in_kernel:
        return wide(beta).sigmoid() * (2 if allow_neg_eigval else 1)
    if allow_neg_eigval:
        raise CallError(f"{name}: allow_neg_eigval doubles the sigmoid that use_beta_sigmoid_in_kernel asks for, which is not set; "
                        "for a beta that is computed already, multiply it by 2")
    return beta


def gate(name, g, A_log, dt_bias, lower_bound=None, keys=False):
    """Log-decays from what a layer computes, -exp(A_log) softplus(g + dt_bias), or with a lower bound,
    lower_bound sigmoid(exp(A_log) (g + dt_bias)). g is [..., H], or of keys [..., H, K]; A_log is [H], and dt_bias [H] or [H K]."""
    if g is None or (A_log is None and lower_bound is None):
        missing = "g" if g is None else "A_log"
        raise CallError(f"{name}: use_gate_in_kernel makes decays of g and A_log, and {missing} is missing")
    rate = None if A_log is None else wide(A_log).exp().reshape((-1, 1) if keys else -1)
    x = wide(g) if dt_bias is None else wide(g) + wide(dt_bias).reshape(g.shape[-2:] if keys else -1)
    if lower_bound is None:
        return -rate * F.softplus(x)
    if not lower_bound < 0:
        raise CallError(f"{name}: lower_bound is {lower_bound}; log-decays are below 0")
    return lower_bound * torch.sigmoid(x if rate is None else rate * x)


def additive_gate(x: Tensor, initial: Tensor | None = None, starts: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Shares and log-decays of averages weighted by exp(x): with z_t = log(exp(x_1) + ... + exp(x_t)), exp(x_t - z_t),
    z_{t-1} - z_t and the last z. x is [B, T, H, M], z [N, 1, H, M]; of sequences without an initial z the first decay is 0."""
    if _op._split is not None:
        raise CallError("averages over all tokens (slots without g) are not split over processes")
    bounds = [0, x.shape[1]] if starts is None else starts.tolist()
    parts = []
    for n, (first, end) in enumerate(zip(bounds, bounds[1:])):
        rows = wide(x)[:, first:end]
        if initial is None:
            z = torch.cat((rows.new_full((rows.shape[0], 1, *rows.shape[2:]), float("-inf")), rows.logcumsumexp(1)), 1)
        else:
            before = wide(initial) if starts is None else wide(initial)[n:n + 1]
            z = torch.cat((before, rows), 1).logcumsumexp(1)
        decay = torch.where(z[:, :-1] == float("-inf"), 0.0, z[:, :-1] - z[:, 1:])
        parts.append((torch.exp(rows - z[:, 1:]), decay, z[:, -1:]))
    share, decay = (torch.cat([part[i] for part in parts], 1) for i in (0, 1))
    return share, decay, torch.cat([part[2] for part in parts], 0)
