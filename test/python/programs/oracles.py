# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the block programs compute, in NumPy float64 and by other formulas.

Each function takes a program's arguments and returns its results. Where the
program works on chunks, segments or tiles, the oracle goes token by token, edge
by edge, or through a dense matrix.
"""

import numpy as np


def doubles(arrays):
    return [a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays]


def group_rational_backward(x, dy, a, b):
    x, dy, a, b = doubles([x, dy, a, b])
    dx, da, db = np.zeros_like(x), np.zeros_like(a), np.zeros_like(b)
    for g in range(x.shape[1]):
        p = np.polynomial.Polynomial(a[:, g])
        inner = np.polynomial.Polynomial(np.concatenate([[0.0], b[:, g]]))
        xg, dyg = x[:, g], dy[:, g]
        sign = np.where(inner(xg) < 0, -1.0, 1.0)
        q = 1 + np.abs(inner(xg))
        # The quotient rule, as it stands.
        dx[:, g] = dyg * (p.deriv()(xg) * q - p(xg) * sign * inner.deriv()(xg)) / q**2
        for k in range(6):
            da[k, g] = np.sum(dyg * xg**k / q)
        for k in range(4):
            db[k, g] = np.sum(-dyg * p(xg) * sign * xg ** (k + 1) / q**2)
    return [dx, da, db]


def mlp_forward(x, *parameters):
    h, *parameters = doubles([x, *parameters])
    layers = list(zip(parameters[::2], parameters[1::2]))
    for w, b in layers[:-1]:
        h = np.maximum(h @ w + b, 0)
    return [h @ layers[-1][0] + layers[-1][1]]


def mlp_backward(x, dy, *parameters):
    x, dy, *parameters = doubles([x, dy, *parameters])
    layers = list(zip(parameters[::2], parameters[1::2]))
    inputs, masks, h = [], [], x
    for w, b in layers:
        inputs.append(h)
        z = h @ w + b
        masks.append(z > 0)
        h = np.maximum(z, 0)
    gradients, g = [], dy
    for i in reversed(range(len(layers))):
        if i < len(layers) - 1:
            g = g * masks[i]
        gradients = [inputs[i].T @ g, g.sum(0), *gradients]
        g = g @ layers[i][0].T
    return [g, *gradients]


def gla(q, k, v, g, starts, state, scale=0.125):
    q, k, v, g, state = doubles([q, k, v, g, state])
    out, last = np.zeros_like(v), np.zeros_like(state)
    for sequence in range(len(starts) - 1):
        for head in range(q.shape[0]):
            s = state[sequence, head].copy()
            for t in range(starts[sequence], starts[sequence + 1]):
                s = np.exp(g[head, t])[:, None] * s + np.outer(k[head, t], v[head, t])
                out[head, t] = scale * (q[head, t] @ s)
            last[sequence, head] = s
    return [out, last]


def rgcn_edges(x, w, w0, b, source, target, relation, coefficient):
    """The layer's definition, edge by edge, from the plain list of edges."""
    x, w, w0, b, coefficient = doubles([x, w, w0, b, coefficient])
    y = x @ w0 + b
    for u, v, r, c in zip(source, target, relation, coefficient):
        y[v] += c * (x[u] @ w[r])
    return [y]


def lora(x, w, a, b):
    x, w, a, b = doubles([x, w, a, b])
    return [x @ (w + 2.0 * (a @ b))]


def block_sparse(values, starts, columns, x):
    values, x = doubles([values, x])
    size = values.shape[1]
    dense = np.zeros((size * (len(starts) - 1), x.shape[0]))
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            dense[i * size : (i + 1) * size, columns[p] * size : (columns[p] + 1) * size] += values[p]
    return [dense @ x]


def csr(values, starts, columns, x):
    values, x = doubles([values, x])
    dense = np.zeros((len(starts) - 1, x.shape[0]))
    for i in range(len(starts) - 1):
        np.add.at(dense[i], columns[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]])
    return [dense @ x]
