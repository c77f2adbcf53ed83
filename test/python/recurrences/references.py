# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models whose memory is a linear recurrence, in torch, token by token: autograd gives the gradients.

Each is written as its authors write it, with its own inputs and with whole transition matrices where they have them, and
nothing in common with `linrec.scan`. The state S of a head is a matrix [K, V] that row vectors read, o = q S (authors who
write S q have its transpose). Tokens are [B, T, H, ...], states [B, H, K, V]; each function returns the outputs and the
last state.
"""

import torch
import torch.nn.functional as F


def outer(x, y):
    return x[..., :, None] * y[..., None, :]


def read(x, state):
    return torch.einsum("...k,...kv->...v", x, state)


def move(transition, state):
    return torch.einsum("...jk,...kv->...jv", transition, state)


def identity(x):
    return torch.eye(x.shape[-1], dtype=x.dtype)


def per_head(x, heads):
    """Heads that several heads share, [B, T, G, ...], once for each of these."""
    return x.repeat_interleave(heads // x.shape[2], dim=2)


def over_tokens(step, state, *inputs):
    """`step(state, *rows)` returns a token's output and the next state."""
    outputs = []
    for t in range(inputs[0].shape[1]):
        o, state = step(state, *(x[:, t] for x in inputs))
        outputs.append(o)
    if not outputs:
        last = state[-1] if isinstance(state, tuple) else state
        return last.new_zeros(last.shape[0], 0, last.shape[1], last.shape[3]), state
    return torch.stack(outputs, dim=1), state


def linear_attention(q, k, v, state, scale):
    """Katharopoulos et al., arXiv 2006.16236, without the normaliser."""
    def step(s, q, k, v):
        s = s + outer(k, v)
        return scale * read(q, s), s
    return over_tokens(step, state, per_head(q, v.shape[2]), per_head(k, v.shape[2]), v)


def retention(q, k, v, gamma, state, scale):
    """RetNet, Sun et al., arXiv 2307.08621: gamma[H]."""
    def step(s, q, k, v):
        s = gamma[:, None, None] * s + outer(k, v)
        return scale * read(q, s), s
    return over_tokens(step, state, q, k, v)


def lightning_attention(q, k, v, slope, state):
    """Qin et al., arXiv 2405.17381: slope[H]."""
    def step(s, q, k, v):
        s = (-slope).exp()[:, None, None] * s + outer(k, v)
        return read(q, s), s
    return over_tokens(step, state, q, k, v)


def simple_gla(q, k, v, g, state, scale):
    """A gate for each token and head, exp(g) with g[B, T, H]."""
    def step(s, q, k, v, g):
        s = g.exp()[..., None, None] * s + outer(k, v)
        return scale * read(q, s), s
    return over_tokens(step, state, q, k, v, g)


def mamba2(x, dt, a_log, b, c, d, state):
    """Dao and Gu, arXiv 2405.21060: x[B, T, H, P], dt[B, T, H], a_log[H], b and c[B, T, G, N], d[H]."""
    a = -a_log.exp()

    def step(h, x, dt, b, c):
        h = (dt * a).exp()[..., None, None] * h + outer(b, dt[..., None] * x)
        return read(c, h) + d[:, None] * x, h
    heads = x.shape[2]
    return over_tokens(step, state, x, dt, per_head(b, heads), per_head(c, heads))


def hgrn(x, f, state):
    """HGRN, Qin et al., arXiv 2311.04823: each channel by itself; f before its sigmoid. The state is [B, H, 1, V]."""
    def step(s, x, f):
        forget = torch.sigmoid(f)
        s = forget[..., None, :] * s + ((1 - forget) * x)[..., None, :]
        return s[..., 0, :], s
    return over_tokens(step, state, x, f)


def mamba(x, delta, a_matrix, b, c, d, state):
    """Mamba's selective scan, Gu and Dao, arXiv 2312.00752, its channels [H, V] and A [H, V, N]. B and C, [B, T, 1, N], are
    those of all channels."""
    def step(s, x, delta, b, c):
        bar = torch.exp(delta[..., None] * a_matrix)  # [B, H, V, N]
        s = bar * s.mT + (delta * x)[..., None] * b[:, :, None, :]
        return (s * c[:, :, None, :]).sum(-1) + d * x, s.mT
    return over_tokens(step, state, x, delta, b, c)


def gated_linear_attention(q, k, v, g, state, scale):
    """Yang et al., arXiv 2312.06635: g[B, T, H, K]."""
    def step(s, q, k, v, g):
        s = g.exp()[..., None] * s + outer(k, v)
        return scale * read(q, s), s
    return over_tokens(step, state, q, k, v, g)


def hgrn2(q, f, v, bound, state):
    """Qin et al., arXiv 2404.07904: forget gates above a bound[H, K], and what they leave as keys."""
    forget = bound + (1 - bound) * torch.sigmoid(f)

    def step(s, q, forget, v):
        s = forget[..., None] * s + outer(1 - forget, v)
        return read(q, s), s
    return over_tokens(step, state, q, forget, v)


def rwkv6(r, k, v, w, u, state):
    """Peng et al., arXiv 2404.05892: decay exp(-exp(w)), applied after the read; u[H, K]."""
    def step(s, r, k, v, w):
        now = outer(k, v)
        return read(r, s + u[..., None] * now), (-w.exp()).exp()[..., None] * s + now
    return over_tokens(step, state, r, k, v, w)


def gated_slot_attention(q, k, v, alpha, keys, values, scale, write=None):
    """Zhang et al., arXiv 2409.07146: alpha[B, T, H, M]; slots of keys [B, H, M, K] and of values [B, H, M, V]. Slots take up a share
    write[B, T, H, M] of each token, 1 - alpha in the paper."""
    def step(s, q, k, v, alpha, write):
        keys, values = (alpha[..., None] * old + outer(write, new) for old, new in zip(s, (k, v)))
        share = torch.softmax(scale * torch.einsum("...mk,...k->...m", keys, q), dim=-1)
        return read(share, values), (keys, values)
    o, (keys, values) = over_tokens(step, (keys, values), q, k, v, alpha, 1 - alpha if write is None else write)
    return o, keys, values


def delta_rule(q, k, v, beta, state, scale):
    """DeltaNet, Yang et al., arXiv 2406.06484: beta[B, T, H]."""
    def step(s, q, k, v, beta):
        beta = beta[..., None, None]
        s = move(identity(k) - beta * outer(k, k), s) + beta * outer(k, v)
        return scale * read(q, s), s
    return over_tokens(step, state, q, k, v, beta)


def gated_delta_rule(q, k, v, alpha, beta, state, scale):
    """Gated DeltaNet, Yang et al., arXiv 2412.06464: alpha and beta[B, T, H]; q and k may have fewer heads."""
    def step(s, q, k, v, alpha, beta):
        alpha, beta = alpha[..., None, None], beta[..., None, None]
        s = move(alpha * (identity(k) - beta * outer(k, k)), s) + beta * outer(k, v)
        return scale * read(q, s), s
    heads = v.shape[2]
    return over_tokens(step, state, per_head(q, heads), per_head(k, heads), v, alpha, beta)


def kimi_delta_attention(q, k, v, alpha, beta, state, scale):
    """Kimi Linear, arXiv 2510.26692: alpha[B, T, H, K], beta[B, T, H]."""
    def step(s, q, k, v, alpha, beta):
        beta = beta[..., None, None]
        s = move((identity(k) - beta * outer(k, k)) @ torch.diag_embed(alpha), s) + beta * outer(k, v)
        return scale * read(q, s), s
    return over_tokens(step, state, q, k, v, alpha, beta)


def gated_delta_net_2(q, k, v, alpha, erase, write, state, scale):
    """Gates for each channel: alpha and erase[B, T, H, K], write[B, T, H, V]."""
    def step(s, q, k, v, alpha, erase, write):
        s = move((identity(k) - outer(k, erase * k)) @ torch.diag_embed(alpha), s) + outer(k, write * v)
        return scale * read(q, s), s
    return over_tokens(step, state, q, k, v, alpha, erase, write)


def comba(q, k, v, alpha, beta, b, d, state, scale):
    """Hu et al., arXiv 2506.02475: b and d[H] say how much of k is fed back, and how much the query leaves out."""
    def step(s, q, k, v, alpha, beta):
        alpha, beta = alpha[..., None, None], beta[..., None, None]
        fed_back = b[:, None] * k
        s = move(alpha * identity(k) - beta * outer(k, fed_back), s) + beta * outer(k, v)
        return scale * read(q - d[:, None] * k, s), s
    return over_tokens(step, state, q, k, v, alpha, beta)


def gated_delta_product(q, k, v, alpha, beta, state, scale):
    """Siems et al., arXiv 2502.10297: k[B, T, H, n, K], v[B, T, H, n, V] and beta[B, T, H, n], n reflections a token."""
    def step(s, q, k, v, alpha, beta):
        s = alpha[..., None, None] * s
        for j in range(k.shape[-2]):
            kj, vj, b = k[..., j, :], v[..., j, :], beta[..., j, None, None]
            s = move(identity(kj) - b * outer(kj, kj), s) + b * outer(kj, vj)
        return scale * read(q, s), s
    return over_tokens(step, state, q, k, v, alpha, beta)


def identity_plus_low_rank(q, k, v, a, b, state, scale):
    def step(s, q, k, v, a, b):
        s = move(identity(k) + outer(b, a), s) + outer(k, v)
        return scale * read(q, s), s
    return over_tokens(step, state, q, k, v, a, b)


def diagonal_plus_low_rank(q, k, v, w, a, b, state, scale):
    """w[B, T, H, K] is the diagonal itself."""
    def step(s, q, k, v, w, a, b):
        s = move(torch.diag_embed(w) + outer(b, a), s) + outer(k, v)
        return scale * read(q, s), s
    return over_tokens(step, state, q, k, v, w, a, b)


def rwkv7(r, k, v, w, kappa, rate, share, state):
    """Peng et al., arXiv 2503.14456: w before its gate, kappa normalised, the rate a[B, T, H, K], and share[H, K] of it in k."""
    def step(s, r, k, v, w, kappa, rate):
        decay = torch.exp(-torch.exp(torch.tensor(-0.5, dtype=w.dtype)) * torch.sigmoid(w))
        replacement = k * (1 + (rate - 1) * share)
        s = move(torch.diag_embed(decay) - outer(rate * kappa, kappa), s) + outer(replacement, v)
        return read(r, s), s
    return over_tokens(step, state, r, k, v, w, kappa, rate)


def normalised(x):
    return F.normalize(x, dim=-1)
