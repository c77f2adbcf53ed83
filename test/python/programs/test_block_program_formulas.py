# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The oracles' gradients against torch autograd, so that no formula stands on its own word."""

import numpy as np
import torch

import inputs
from programs import oracles
from support.runner import assert_close


def leaves(arrays):
    return [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in arrays]


def gradients(y, dy, wrt):
    return [g.numpy() for g in torch.autograd.grad(y, wrt, torch.tensor(dy, dtype=torch.float64))]


def test_group_rational_backward_is_the_derivative_of_the_quotient(rng):
    arrays = inputs.group_rational(rng, 12, 3, 16)
    x, a, b = leaves([arrays[0], arrays[2], arrays[3]])
    power = lambda k: x**k
    spread = lambda c: c[None, :, None, None]
    p = sum(spread(a[k]) * power(k) for k in range(6))
    q = 1 + sum(spread(b[k - 1]) * power(k) for k in range(1, 5)).abs()
    assert_close(gradients(p / q, arrays[1], [x, a, b]), oracles.group_rational_backward(*arrays), 1e-12)


def test_mlp_backward_is_the_derivative_of_forward(rng):
    widths = (7, 12, 9, 3)
    x, dy, parameters = inputs.normal(rng, 20, 7), inputs.normal(rng, 20, 3), inputs.mlp_parameters(rng, widths)
    tx, *tp = leaves([x, *parameters])
    h = tx
    for i in range(0, len(tp), 2):
        h = h @ tp[i] + tp[i + 1]
        h = torch.relu(h) if i < len(tp) - 2 else h
    assert_close(oracles.mlp_forward(x, *parameters), [h.detach().numpy()], 1e-13)
    assert_close(oracles.mlp_backward(x, dy, *parameters), gradients(h, dy, [tx, *tp]), 1e-12)


def test_rgcn_oracle_is_the_layer_of_dense_adjacency_matrices(rng):
    nodes, relations = 20, 4
    source, target, relation = inputs.random_graph(rng, nodes, 60, relations, empty=[2], hub=3)
    c = inputs.mean_coefficients(target, relation, nodes)
    x, w = inputs.normal(rng, nodes, 8), inputs.normal(rng, relations, 8, 8)
    w0, b = inputs.normal(rng, 8, 8), inputs.normal(rng, 8)
    adjacency = np.zeros((relations, nodes, nodes))
    np.add.at(adjacency, (relation, target, source), c.astype(np.float64))
    y = x.astype(np.float64) @ w0 + b + np.einsum("rvu,ud,rdo->vo", adjacency, x.astype(np.float64), w)
    assert_close(oracles.rgcn_edges(x, w, w0, b, source, target, relation, c), [y], 1e-13)


def test_graph_index_names_every_edge_once(rng):
    nodes, relations = 32, 3
    source, target, relation = inputs.random_graph(rng, nodes, 50, relations, empty=[0], hub=9)
    (block_segments, segment_row, segment_edges, listed), _ = inputs.graph_index(source, target, relation, nodes, relations)
    found = []
    for entry in range(len(block_segments) - 1):
        block, r = divmod(entry, relations)
        for segment in range(block_segments[entry], block_segments[entry + 1]):
            for edge in range(segment_edges[segment], segment_edges[segment + 1]):
                found.append((listed[edge], block * 16 + segment_row[segment], r))
    assert sorted(found) == sorted(zip(source, target, relation))


def test_gla_oracle_is_masked_attention_in_log_space(rng):
    q, k, v, g, starts, state = inputs.gla(rng, 2, [40], width=8)
    d = [a.astype(np.float64) for a in (q, k, v, g, state)]
    total = np.cumsum(d[3], axis=1)
    weight = np.exp(total[:, :, None, :] - total[:, None, :, :])
    scores = np.einsum("hid,hjd,hijd->hij", d[0], d[1], weight) * np.tri(40)
    o = 0.125 * (scores @ d[2] + np.einsum("hid,hid,hde->hie", d[0], np.exp(total), d[4][0]))
    assert_close([oracles.gla(q, k, v, g, starts, state)[0]], [o], 1e-12)
