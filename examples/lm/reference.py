# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models' recurrences in plain torch, under the names and signatures that drawloom.torch.linrec has.

Tokens are computed in chunks of 64, all chunks at once but for the states between them. No exponent is positive, so nothing overflows,
whatever the decays are.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from drawloom import cells

CHUNK = 64


def _chunks(x: Tensor) -> Tensor:
    """[B, T, H, ...] -> [B, H, chunks, CHUNK, ...]. Zeros fill the last chunk: they write nothing and decay nothing."""
    missing = -x.shape[1] % CHUNK
    x = F.pad(x, (0, 0) * (x.dim() - 2) + (0, missing))
    return x.unflatten(1, (-1, CHUNK)).movedim(3, 1)


def _tokens(x: Tensor, number: int) -> Tensor:
    return x.movedim(1, 3).flatten(1, 2)[:, :number]


def _scores(x: Tensor, y: Tensor, to: Tensor, since: Tensor, diagonal: bool = True) -> Tensor:
    """sum_k x_ik y_jk exp(to_ik - since_jk) for pairs of tokens with j < i, and x_i . y_i on the diagonal; 0 for others: [..., i, j]."""
    size = x.shape[-2]
    if since.shape[-1] == 1:
        keep = torch.ones(size, size, dtype=torch.bool).tril(0 if diagonal else -1)
        return (x @ y.mT) * (to - since.mT).masked_fill(~keep, -torch.inf).exp()
    # Blocks on the diagonal, from single tokens to the whole chunk. In a block of two, the later half reads the earlier one across the
    # border between them: decays up to the border belong to y, those behind it to x.
    blocks = (x * y).sum(-1) if diagonal else x.new_zeros(x.shape[:-1])
    blocks = blocks.unsqueeze(-1).unsqueeze(-1)
    while blocks.shape[-1] < size:
        half = blocks.shape[-1]
        earlier, later = ([z.unflatten(-2, (-1, 2, half))[..., i, :, :] for z in (x, y, to, since)] for i in (0, 1))
        border = earlier[3][..., -1:, :]
        across = (later[0] * (later[2] - border).exp()) @ (earlier[1] * (border - earlier[3]).exp()).mT
        first, second = blocks.unflatten(-3, (-1, 2)).unbind(-3)
        blocks = torch.cat((F.pad(first, (0, half)), torch.cat((across, second), -1)), -2)
    return blocks.squeeze(-3)


def _first(state: Tensor | None, k: Tensor, v: Tensor) -> Tensor:
    return k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1]) if state is None else state


def _gated(q, k, v, g, scale, state):
    """S_t = D_t S_{t-1} + k_t^T v_t, o_t = scale q_t S_t, D_t = exp(g_t); g [B, T, H, K] or [B, T, H, 1]."""
    tokens = q.shape[1]
    q, k, v, g = (_chunks(x) for x in (q * scale, k, v, g))
    sums = g.cumsum(-2)
    last = sums[..., -1:, :]
    inside = _scores(q, k, sums, sums) @ v
    written = (k * (last - sums).exp()).mT @ v
    decay = last.exp().mT
    state, states = _first(state, k, v), []
    for n in range(q.shape[2]):
        states.append(state)
        state = decay[:, :, n] * state + written[:, :, n]
    return _tokens(inside + (q * sums.exp()) @ torch.stack(states, 2), tokens), state


def _delta(q, k, v, g, beta, scale, state):
    """S_t = D_t S_{t-1} + beta_t k_t^T (v_t - k_t D_t S_{t-1}). What a chunk writes solves a triangular system."""
    tokens = q.shape[1]
    q, k, v, g, erase = (_chunks(x) for x in (q * scale, k, v * beta.unsqueeze(-1), g, k * beta.unsqueeze(-1)))
    sums = g.cumsum(-2)
    last = sums[..., -1:, :]
    system = torch.eye(CHUNK, dtype=k.dtype) + _scores(erase, k, sums, sums, diagonal=False)
    right = torch.cat((v, erase * sums.exp()), -1)
    solved = torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True)
    new, old = solved.split((v.shape[-1], k.shape[-1]), -1)
    scores, q, k, decay = _scores(q, k, sums, sums), q * sums.exp(), (k * (last - sums).exp()).mT, last.exp().mT
    state, outputs = _first(state, q, v), []
    for n in range(q.shape[2]):
        written = new[:, :, n] - old[:, :, n] @ state
        outputs.append(q[:, :, n] @ state + scores[:, :, n] @ written)
        state = decay[:, :, n] * state + k[:, :, n] @ written
    return _tokens(torch.stack(outputs, 2), tokens), state


def _low_rank(q, k, v, g, a, b, scale, state):
    """S_t = D_t S_{t-1} + k_t^T v_t + b_t^T e_t with e_t = a_t S_{t-1}. What a chunk reads, e, solves a triangular system."""
    tokens = q.shape[1]
    q, k, v, g, a, b = (_chunks(x) for x in (q * scale, k, v, g, a, b))
    sums = g.cumsum(-2)
    last = sums[..., -1:, :]
    # a reads before its token's decay.
    read = sums - g
    system = torch.eye(CHUNK, dtype=k.dtype) - _scores(a, b, read, sums, diagonal=False)
    right = torch.cat((_scores(a, k, read, sums, diagonal=False) @ v, a * read.exp()), -1)
    solved = torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True)
    new, old = solved.split((v.shape[-1], k.shape[-1]), -1)
    inside, scores = _scores(q, k, sums, sums) @ v, _scores(q, b, sums, sums)
    q, b, written, decay = q * sums.exp(), (b * (last - sums).exp()).mT, (k * (last - sums).exp()).mT @ v, last.exp().mT
    state, outputs = _first(state, k, v), []
    for n in range(q.shape[2]):
        e = new[:, :, n] + old[:, :, n] @ state
        outputs.append(q[:, :, n] @ state + inside[:, :, n] + scores[:, :, n] @ e)
        state = decay[:, :, n] * state + written[:, :, n] + b[:, :, n] @ e
    return _tokens(torch.stack(outputs, 2), tokens), state


def _normalized(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)


def chunk_gla(q, k, v, g, *, initial_state=None, output_final_state=True):
    return _gated(q, k, v, g, q.shape[-1] ** -0.5, initial_state)


def chunk_retention(q, k, v, *, initial_state=None, output_final_state=True):
    decay = torch.log1p(-torch.exp2(-5 - torch.arange(v.shape[2], dtype=torch.float64))).to(q.dtype)
    return _gated(q, k, v, decay.unsqueeze(-1).expand(*v.shape[:3], 1), q.shape[-1] ** -0.5, initial_state)


def chunk_mamba2(x, dt, A, B, C, *, D, dt_bias, dt_softplus=True, initial_states=None, return_final_states=True):
    step = F.softplus(dt + dt_bias)
    q, k = (y.repeat_interleave(x.shape[2] // y.shape[2], 2) for y in (C, B))
    state = None if initial_states is None else initial_states.mT
    o, state = _gated(q, k, x * step.unsqueeze(-1), (step * A).unsqueeze(-1), 1.0, state)
    return o + x * D.unsqueeze(-1), state.mT


def chunk_gated_delta_rule(q, k, v, g, beta, *, initial_state=None, output_final_state=True, use_qk_l2norm_in_kernel=True):
    return _delta(_normalized(q), _normalized(k), v, g.unsqueeze(-1), beta, q.shape[-1] ** -0.5, initial_state)


def chunk_kda(q, k, v, g, beta, *, initial_state=None, output_final_state=True, use_qk_l2norm_in_kernel=True):
    return _delta(_normalized(q), _normalized(k), v, g, beta, q.shape[-1] ** -0.5, initial_state)


def chunk_rwkv7(r, w, k, v, a, b, *, initial_state=None, output_final_state=True):
    return _low_rank(r, k, v, w, a, b, 1.0, initial_state)


def _gru(states, inputs, parameters):
    (h,), (z, r, c), (uz, ur, uc) = states, inputs, parameters
    z, r = torch.sigmoid(z + uz * h), torch.sigmoid(r + ur * h)
    h = (1 - z) * h + z * torch.tanh(c + uc * (r * h))
    return [h], h


def _lstm(states, inputs, parameters):
    (h, c), (f, g, o), (uf, ug, uo, pf, po) = states, inputs, parameters
    f = torch.sigmoid(f + uf * h + pf * c)
    c = f * c + (1 - f) * torch.tanh(g + ug * h)
    h = torch.sigmoid(o + uo * h + po * c) * torch.tanh(c)
    return [h, c], h


def nonlinear_scan(cell, inputs, parameters, initial=None):
    """Token after token: cells are no linear recurrences, which chunks are for."""
    step = {cells.gru: _gru, cells.lstm: _lstm}[cell]
    states = [torch.zeros_like(inputs[0][:, 0])] * cell.states if initial is None else initial
    outputs = []
    for token in zip(*(one.unbind(1) for one in inputs)):
        states, y = step(states, token, parameters)
        outputs.append(y)
    return [torch.stack(outputs, 1)], states, None
