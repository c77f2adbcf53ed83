# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The block programs' counterparts in PyTorch, as its users write them, on tensors in the form that PyTorch likes best."""

import torch


def rational(x, a, b):
    a, b = a[:, :, None], b[:, :, None]
    p = ((((a[5] * x + a[4]) * x + a[3]) * x + a[2]) * x + a[1]) * x + a[0]
    q = (((b[3] * x + b[2]) * x + b[1]) * x + b[0]) * x
    return p / (1 + q.abs())


def mlp(x, *parameters):
    last = len(parameters) - 2
    for i in range(0, len(parameters), 2):
        x = torch.addmm(parameters[i + 1], x, parameters[i])
        x = torch.relu(x) if i < last else x
    return x


def gla(q, k, v, g, state):
    """The usual form: one reference gate for each chunk of 64 tokens."""
    heads, tokens, width = q.shape
    chunks = tokens // 64
    q, k, v, g = (t.reshape(heads, chunks, 64, width) for t in (q, k, v, g))
    total = g.cumsum(2)
    q = q * total.exp() * 0.125
    k = k * (-total).exp()
    last = total[:, :, -1].exp()
    o = (q @ k.transpose(-1, -2)).tril() @ v
    update = k.transpose(-1, -2) @ v
    outputs = []
    for i in range(chunks):
        outputs.append(o[:, i] + q[:, i] @ state)
        state = last[:, i, :, None] * (state + update[:, i])
    return torch.stack(outputs, 1).reshape(heads, tokens, width), state


def rgcn(x, w, w0, b, edges):
    """Sums of neighbours by relation, then the product: the better of the two orders here."""
    y = torch.addmm(b, x, w0)
    for r, (source, target, coefficient) in enumerate(edges):
        if len(source):
            sums = torch.zeros_like(x).index_add_(0, target, x[source] * coefficient)
            y = y + sums @ w[r]
    return y


def lora(x, w, a, b):
    return x @ w + (x @ a) @ (2.0 * b)
