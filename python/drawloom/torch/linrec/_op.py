# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The op of linear recurrences, drawloom::linear_recurrence."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ..._errors import CallError, CallTypeError
from ...ops import Spec
from ...ops.recurrences import OPTIONAL, check_starts, refuse
from .. import _dispatch
from .._dispatch import intern

_specs: dict[tuple, Spec] = {}


def _operands(decay, rates, beta, erase, lowrank, bonus, initial, starts):
    return decay, rates, beta, erase, lowrank, bonus, initial, starts


def _spec(q, k, v, decay=None, rates=None, beta=None, erase=None, lowrank=None, bonus=None, initial=None, starts=None,
          scale=None, decay_side="key", erase_before_decay=False, decay_bound=None, chunk=None, segments=None,
          value_blocks=None, checkpoint_interval=None, steps_per_token=None):
    given = " ".join(name for name, operand in zip(OPTIONAL, _operands(decay, rates, beta, erase, lowrank, bonus, initial, starts))
                     if operand is not None)
    key = given, scale, decay_side, erase_before_decay, decay_bound, chunk, segments, value_blocks, checkpoint_interval, steps_per_token
    spec = _specs.get(key)
    if spec is None:
        spec = _specs[key] = intern(Spec("linear_recurrence", (
            ("operands", given), ("scale", scale), ("decay_side", decay_side), ("erase_before_decay", erase_before_decay),
            ("decay_bound", decay_bound), ("chunk", chunk), ("segments", segments), ("value_blocks", value_blocks),
            ("checkpoint_interval", checkpoint_interval), ("steps_per_token", steps_per_token))))
    return spec


def _flatten(q, k, v, decay=None, rates=None, beta=None, erase=None, lowrank=None, bonus=None, initial=None, starts=None, *rest):
    return (q, k, v, *[one for one in _operands(decay, rates, beta, erase, lowrank, bonus, initial, starts) if one is not None])


def _join(tensors, q, k, v, decay=None, rates=None, beta=None, erase=None, lowrank=None, bonus=None, initial=None, starts=None, *rest):
    left = iter(tensors[3:])
    given = [None if one is None else next(left) for one in _operands(decay, rates, beta, erase, lowrank, bonus, initial, starts)]
    return *tensors[:3], *given, *rest


def _autocast(dtype, q, k, v, decay=None, rates=None, beta=None, erase=None, lowrank=None, bonus=None, initial=None, starts=None, *rest):
    # Decays and states keep their digits.
    def cast(one):
        return one if one is None else one.to(dtype)

    def wide(one):
        return one if one is None else one.float()

    return (cast(q), cast(k), cast(v), wide(decay), wide(rates), wide(beta), cast(erase), cast(lowrank), wide(bonus), wide(initial),
            starts, *rest)


_op = _dispatch.define(
    "linear_recurrence(Tensor q, Tensor k, Tensor v, Tensor? decay=None, Tensor? rates=None, Tensor? beta=None, "
    "Tensor? erase=None, Tensor? lowrank=None, Tensor? bonus=None, Tensor? initial=None, Tensor? starts=None, float? scale=None, "
    'str decay_side="key", bool erase_before_decay=False, float? decay_bound=None, int? chunk=None, int? segments=None, '
    "int? value_blocks=None, int? checkpoint_interval=None, int? steps_per_token=None) -> (Tensor, Tensor)",
    _spec, _flatten, _join, autocast=_autocast)


def _check_starts(starts, tokens, function="linear_recurrence", name="starts"):
    """Raises CallError or CallTypeError where `starts`, which the function's caller knows by `name`, do not pack this number of tokens;
    None where that is not known. Values are looked at where they are known, not while torch.compile traces."""
    if starts is None:
        return
    if not isinstance(starts, Tensor):
        raise refuse(CallTypeError, f"`{name}` is {type(starts).__name__}; it is a tensor of int32 or int64, [sequences + 1]", function)
    if starts.dim() != 1 or starts.shape[0] < 1 or starts.dtype not in (torch.int32, torch.int64):
        kind = str(starts.dtype).removeprefix("torch.")
        raise refuse(CallError, f"`{name}` is {kind} {list(starts.shape)}; it is int32 or int64, [sequences + 1]", function)
    if tokens is not None and not torch.compiler.is_compiling() and type(starts) is Tensor:
        check_starts(starts.tolist(), tokens, function, name)


# What computes `linear_recurrence` in place of the op: set within context_parallel.sequence_split. A functools.partial, and global:
# torch.compile does not see a change of a function, or of what one thread or context has.
_split: partial | None = None


def linear_recurrence(q: Tensor, k: Tensor, v: Tensor, *, decay: Tensor | None = None, rates: Tensor | None = None,
                      beta: Tensor | None = None, erase: Tensor | None = None, lowrank: Tensor | None = None,
                      bonus: Tensor | None = None, initial: Tensor | None = None, starts: Tensor | None = None,
                      scale: float | None = None,
                      decay_side: str = "key", erase_before_decay: bool = False, decay_bound: float | None = None,
                      chunk: int | None = None, segments: int | None = None,
                      value_blocks: int | None = None, checkpoint_interval: int | None = None,
                      steps_per_token: int | None = None) -> tuple[Tensor, Tensor]:
    r"""The recurrence of the whole family, as (o, final state). With rows q_t, k_t, a_t, b_t of length K and v_t of length V,
    D_t = exp(min(g_t, 0)) and s = scale, or K^(-1/2):

        e_t = a_t (D_t S_{t-1}),                with erase_before_decay  a_t S_{t-1}
        S_t = D_t S_{t-1} + k_t^T v_t + b_t^T e_t
        o_t = s q_t S_t,                        with a bonus u  s (q_t S_{t-1} + (sum_d q_td u_d k_td) v_t)

    q, k     [B, T, Hq, K], [B, T, Hk, K]: Hq and Hk divide H, and heads of v share theirs
    v, o     [B, T, H, V]
    decay    g: [H], [B, T, H], [B, T, H, K] or, with decay_side="value", [B, T, H, V]; natural logarithms, positive ones count as 0
    rates    R: [H, K, V], with decay_side="value": element (i, j) of the state is multiplied by exp(min(R_ij g_tj, 0))
    beta     [B, T, H]: a_t = beta_t k_t and beta_t v_t in place of v_t (the delta rule)
    erase    a: [B, T, H, K]
    lowrank  b: [B, T, H, K]; without it b_t = -k_t
    bonus    u: [H, K]
    initial  S_0: [N, H, K, V], N = B or the number of packed sequences
    starts   [N + 1], int32 or int64: packed sequences, from 0 to T

    With steps_per_token n (Gated DeltaProduct) a token is n steps: k, v, beta, erase and lowrank have n T rows, q, decay and o have T;
    the first step of a token decays the state, and the query reads after the last. starts count tokens. Neither a bonus nor decays
    [H] go with it.

    decay_bound promises that no log-decay is less: chunks are then not looked at before they are computed as products of
    matrices. chunk is the number of tokens computed at a time, 1 or a multiple of 16; it changes rounding only. For few sequences and
    heads and many processors, value_blocks is the number of parts of the state's columns, and segments that of parts of each sequence,
    which are computed side by side: more work (segments about half as much again), and other rounding. Where neither is given, the
    compiler chooses both for the machine that it compiles for; segments=1 or value_blocks=1 keeps heads whole. The gradient keeps the
    state before every checkpoint_interval-th chunk and computes those between a second time; 1 keeps all, None is the compiler's choice:
    1 unless the states are larger than all that goes in and out. float16 and bfloat16
    are computed, and states kept, in float32. Differentiable once.
    """
    if _split is not None:
        if steps_per_token is not None and steps_per_token != 1:
            raise CallError("linear_recurrence: tokens of several steps are not split over processes; interleave them with zeros")
        return _split(q, k, v, decay=decay, rates=rates, beta=beta, erase=erase, lowrank=lowrank, bonus=bonus, initial=initial,
                      starts=starts, scale=scale, decay_side=decay_side, erase_before_decay=erase_before_decay,
                      decay_bound=decay_bound, chunk=chunk, segments=segments, value_blocks=value_blocks,
                      checkpoint_interval=checkpoint_interval)
    _check_starts(starts, q.shape[1] if q.dim() == 4 else 0)
    return _op(q, k, v, decay, rates, beta, erase, lowrank, bonus, initial, starts, scale, decay_side, erase_before_decay, decay_bound,
               chunk, segments, value_blocks, checkpoint_interval, steps_per_token)
