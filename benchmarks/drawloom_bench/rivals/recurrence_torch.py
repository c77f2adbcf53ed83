# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear recurrences in plain PyTorch: chunks as batched products, the forms that rivals of linrec.scan would be written in.

All take [B, T, H, size] and give o alone. `exact` splits decays at the borders of parts of 16 tokens, so that no exponent is
positive; `one_level` splits them once in a chunk, which overflows unless decays are mild.
"""

import torch

CHUNK, PART = 64, 16


def chunks(x):
    """[B, T, H, ...] -> [B, H, chunks, CHUNK, ...]"""
    b, t, h = x.shape[:3]
    return x.reshape(b, t // CHUNK, CHUNK, h, *x.shape[3:]).movedim(3, 1)


def tokens(x):
    return x.movedim(1, 3).flatten(1, 2)


def over_states(q, update, last):
    """q_n S_n of each chunk, where S_{n+1} = last_n S_n + update_n."""
    state = torch.zeros_like(update[:, :, 0])
    outputs = []
    for n in range(q.shape[2]):
        outputs.append(q[:, :, n] @ state)
        state = last[:, :, n].unsqueeze(-1) * state + update[:, :, n]
    return torch.stack(outputs, 2)


def gla_one_level(q, k, v, g):
    scale = q.shape[-1] ** -0.5
    q, k, v, g = (chunks(x) for x in (q, k, v, g))
    sums = g.cumsum(3)
    q, k = q * sums.exp() * scale, k * (-sums).exp()
    last = sums[:, :, :, -1].exp()
    inside = (q @ k.transpose(-1, -2)).tril() @ v
    update = last.unsqueeze(-1) * (k.transpose(-1, -2) @ v)
    return tokens(inside + over_states(q, update, last))


def gla_exact(q, k, v, g):
    scale = q.shape[-1] ** -0.5
    q, k, v, g = (chunks(x) for x in (q, k, v, g))
    sums = g.cumsum(3)
    q = q * scale
    b, h, n, _, d = q.shape
    parts = CHUNK // PART
    qp, kp, sp = (x.reshape(b, h, n, parts, PART, d) for x in (q, k, sums))
    # Within a part, pair by pair.
    between = (sp.unsqueeze(5) - sp.unsqueeze(4)).clamp(max=0).exp()
    diagonal = (qp.unsqueeze(5) * kp.unsqueeze(4) * between).sum(-1).tril()
    rows = []
    for i in range(parts):
        own = diagonal[:, :, :, i]
        if i:
            border = sums[:, :, :, i * PART - 1:i * PART]
            left = qp[:, :, :, i] * (sp[:, :, :, i] - border).exp()
            right = k[:, :, :, :i * PART] * (border - sums[:, :, :, :i * PART]).exp()
            own = torch.cat((left @ right.transpose(-1, -2), own), -1)
        rows.append(torch.nn.functional.pad(own, (0, CHUNK - (i + 1) * PART)))
    inside = torch.cat(rows, 3) @ v
    end = sums[:, :, :, -1:]
    update = (k * (end - sums).exp()).transpose(-1, -2) @ v
    return tokens(inside + over_states(q * sums.exp(), update, end.squeeze(3).exp()))


def scalar(q, k, v, g):
    scale = q.shape[-1] ** -0.5
    q, k, v, g = (chunks(x) for x in (q, k, v, g))
    sums = g.cumsum(3)
    between = (sums.unsqueeze(4) - sums.unsqueeze(3)).clamp(max=0).exp().tril()
    q = q * scale
    inside = (q @ k.transpose(-1, -2) * between) @ v
    end = sums[:, :, :, -1:]
    update = (k * (end - sums).exp().unsqueeze(-1)).transpose(-1, -2) @ v
    return tokens(inside + over_states(q * sums.exp().unsqueeze(-1), update, end.exp()))


def gated_delta(q, k, v, g, beta):
    scale = q.shape[-1] ** -0.5
    q, k, v, g, beta = (chunks(x) for x in (q, k, v, g, beta))
    sums = g.cumsum(3)
    between = (sums.unsqueeze(4) - sums.unsqueeze(3)).clamp(max=0).exp().tril()
    q, kb = q * scale, k * beta.unsqueeze(-1)
    system = (kb @ k.transpose(-1, -2) * between).tril(-1) + torch.eye(CHUNK)
    right = torch.cat((v * beta.unsqueeze(-1), kb * sums.exp().unsqueeze(-1)), -1)
    solved = torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True)
    u, w = solved[..., :v.shape[-1]], solved[..., v.shape[-1]:]
    end = sums[:, :, :, -1:]
    scores = q @ k.transpose(-1, -2) * between
    q, k = q * sums.exp().unsqueeze(-1), k * (end - sums).exp().unsqueeze(-1)
    state = torch.zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    outputs = []
    for n in range(q.shape[2]):
        written = u[:, :, n] - w[:, :, n] @ state
        outputs.append(q[:, :, n] @ state + scores[:, :, n] @ written)
        state = end[:, :, n].exp().unsqueeze(-1) * state + k[:, :, n].transpose(-1, -2) @ written
    return tokens(torch.stack(outputs, 2))
