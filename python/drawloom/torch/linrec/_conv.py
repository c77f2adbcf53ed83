# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The short convolution in front of a recurrence, drawloom::short_convolution."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ..._errors import CallError, CallTypeError
from ...ops import Spec
from ...ops.short_convolution import OPTIONAL
from .. import _dispatch
from .._dispatch import intern
from ._calls import one_device, wide
from ._op import _check_starts

__all__ = ["short_convolution"]

_specs: dict[tuple, Spec] = {}


def _spec(x, weight, bias=None, initial=None, starts=None, activation="none"):
    given = " ".join(name for name, one in zip(OPTIONAL, (bias, initial, starts)) if one is not None)
    spec = _specs.get((given, activation))
    if spec is None:
        spec = _specs[given, activation] = intern(Spec("short_convolution", (("operands", given), ("activation", activation))))
    return spec


def _flatten(x, weight, bias=None, initial=None, starts=None, *rest):
    return (x, weight, *[one for one in (bias, initial, starts) if one is not None])


def _join(tensors, x, weight, bias=None, initial=None, starts=None, *rest):
    left = iter(tensors[2:])
    given = [None if one is None else next(left) for one in (bias, initial, starts)]
    return *tensors[:2], *given, *rest


_op = _dispatch.define(
    "short_convolution(Tensor x, Tensor weight, Tensor? bias=None, Tensor? initial=None, Tensor? starts=None, "
    'str activation="none") -> (Tensor, Tensor)',
    _spec, _flatten, _join)


def _last_tokens(x, count, initial, starts):
    """The last `count` tokens of each sequence, those of `initial`, [N, D, count], or zeros in front of them: [N, D, count]."""
    if starts is None:
        if initial is None:
            initial = x.new_zeros(x.shape[0], x.shape[2], count)
        return torch.cat((initial.to(x.dtype), x[:, -count:].mT), -1)[..., -count:]
    if initial is None:
        initial = x.new_zeros(starts.shape[0] - 1, x.shape[2], count)
    if x.shape[1] == 0:
        return initial.to(x.dtype)
    # Entry i is token end - count + i, or where that lies before the first, one of `initial`.
    token = starts[1:, None] + torch.arange(-count, 0)
    entry = (count + token - starts[:-1, None]).clamp(max=count - 1)
    before = initial.to(x.dtype).take_along_dim(entry.unsqueeze(1), 2)
    return torch.where((token >= starts[:-1, None]).unsqueeze(1), x[0][token.clamp(min=0)].mT, before)


# What computes `short_convolution` where sequences are split over processes: see _op._split.
_split: partial | None = None

_FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


def check(x, weight, bias, residual, initial_state, activation, cu_seqlens, split=False):
    """Raises CallError or CallTypeError where these are not arguments of `short_convolution`. With `split`, cu_seqlens count tokens of
    other processes, too."""
    if activation not in (None, "silu", "swish"):
        raise CallError(f"short_convolution: activation is '{activation}'; it is None, 'silu' or 'swish'")
    given = {"x": x, "weight": weight, "bias": bias, "residual": residual, "initial_state": initial_state}
    for name, one in given.items():
        if one is None and name not in ("x", "weight"):
            continue
        if not isinstance(one, Tensor) or one.dtype not in _FLOATS:
            kind = str(one.dtype).removeprefix("torch.") if isinstance(one, Tensor) else "None" if one is None else type(one).__name__
            raise CallTypeError(f"short_convolution: {name} is {kind}; it is a tensor of float32, float64, bfloat16 or float16")
    if x.dim() < 3 or weight.dim() != 2:
        raise CallError(f"short_convolution: x has the shape {list(x.shape)} and weight {list(weight.shape)}; they are [batch, tokens, "
                        "channels] and [channels, W]")
    _check_starts(cu_seqlens, None if split else x.shape[1], "short_convolution", "cu_seqlens")
    channels, width = x.flatten(2).shape[2], weight.shape[1]
    if weight.shape[0] != channels or not 2 <= width <= 8:
        raise CallError(f"short_convolution: weight has the shape {list(weight.shape)}; it is [{channels}, W], W from 2 to 8")
    sequences = x.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1
    for name, shape in {"bias": (channels,), "residual": tuple(x.shape), "initial_state": (sequences, channels, width)}.items():
        if given[name] is not None and tuple(given[name].shape) != shape:
            raise CallError(f"short_convolution: {name} has the shape {list(given[name].shape)}; it is {list(shape)}")


def convolve(x, weight, bias, residual, initial_state, output_final_state, activation, cu_seqlens):
    """`short_convolution` of arguments that are checked, in one process."""
    rows = x.flatten(2)
    # A sum with a residual is rounded once.
    given = rows if residual is None else wide(rows)

    def fitting(one):
        return one if one is None or (one.dtype == torch.float64) == (x.dtype == torch.float64) else one.to(x.dtype)

    initial = None if initial_state is None else initial_state[..., 1:].mT.to(given.dtype)
    y, _ = _op(given, fitting(weight), fitting(bias), initial, cu_seqlens, "none" if activation is None else "silu")
    y = y.reshape(x.shape)
    if residual is not None:
        y = (y + wide(residual)).to(x.dtype)
    return y, _last_tokens(rows, weight.shape[1], initial_state, cu_seqlens) if output_final_state else None


def short_convolution(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, residual: Tensor | None = None,
                      initial_state: Tensor | None = None, output_final_state: bool = False, activation: str | None = None,
                      backend: str | None = "triton", cu_seqlens: Tensor | None = None, cu_seqlens_cpu: Tensor | None = None,
                      chunk_indices: Tensor | None = None, cp_context: None = None) -> tuple[Tensor, Tensor | None]:
    """The causal depthwise convolution in front of recurrences (arXiv 2312.00752, 2412.06464), of W tokens, W from 2 to 8, as (y, final
    state):

        y_t = act(bias + sum_j weight[:, W - 1 - j] x_{t - j}) + residual_t         j = 0 .. W - 1

    x, y, residual  [B, T, D], or with D in several dimensions, as in [B, T, H, K]
    weight, bias    [D, W], the last column that of the token itself, and [D]
    states          [N, D, W] in the type of x, the last W inputs of each sequence, oldest first; zeros without an initial one
    activation      None, "silu" or "swish"
    cu_seqlens      packed sequences, [N + 1], int32 or int64, batch 1

    These are the positional arguments of flash-linear-attention's causal_conv1d. backend, cu_seqlens_cpu and chunk_indices, which say
    how a GPU computes, have no effect. weight=None and cp_context are refused, and so are its further keyword arguments, such as the
    seq_idx of its CUDA backend: cu_seqlens says where packed sequences begin. float16 and bfloat16 are computed in float32.
    Differentiable once. A sequence has the same bits wherever it is packed, and for any number of threads.
    """
    one_device("short_convolution", cp_context)
    if _split is not None:
        return _split(x, weight, bias, residual, initial_state, output_final_state, activation, cu_seqlens)
    check(x, weight, bias, residual, initial_state, activation, cu_seqlens)
    return convolve(x, weight, bias, residual, initial_state, output_final_state, activation, cu_seqlens)
