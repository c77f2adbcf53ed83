# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs as a user of PyTorch writes them by hand: products with the matrix of each relation, then sums by target.

`parts` has for each relation its edges: (sources, targets, 1 / number of edges of that relation into the target)."""

import torch
import torch.nn.functional as F


def rgcn_typed(x, weight, root, bias, parts):
    """A product for each relation, then its rows added to the targets'."""
    out = x @ root + bias
    for r, (source, target, share) in enumerate(parts):
        out = out.index_add(0, target, torch.index_select(x, 0, source) @ weight[r] * share)
    return out


def rgcn_aggregated(x, weight, root, bias, aggregation):
    """Means of neighbours by one sparse matrix, a row for each pair, then a product for each relation."""
    matrix, targets = aggregation
    out, at, means = x @ root + bias, 0, torch.sparse.mm(matrix, x)
    for r, target in enumerate(targets):
        out = out.index_add(0, target, means[at:at + len(target)] @ weight[r])
        at += len(target)
    return out


def softmax(score, target, nodes):
    """Over the edges of a target, for each head; score [E, H]."""
    at = target[:, None].expand_as(score)
    top = score.new_full((nodes, score.shape[1]), -torch.inf).scatter_reduce(0, at, score.detach(), "amax")
    weights = (score - torch.index_select(top, 0, target)).exp()
    total = score.new_zeros(nodes, score.shape[1]).index_add(0, target, weights)
    return weights / torch.index_select(total, 0, target)


def add_up(weights, rows, target, nodes):
    """Sums by target of rows [E, H, C] times their weights [E, H]."""
    return rows.new_zeros(nodes, rows.shape[1] * rows.shape[2]).index_add(0, target, (weights[..., None] * rows).flatten(1))


def rgat_typed(x, weight, q, k, bias, parts):
    """Scores and rows of each relation, then one softmax over the edges of a target."""
    rows = torch.cat([torch.index_select(x, 0, source) @ weight[r] for r, (source, _, _) in enumerate(parts)])
    ends = torch.cat([torch.index_select(x, 0, target) @ (weight[r] @ q) for r, (_, target, _) in enumerate(parts)])
    target = torch.cat([part[1] for part in parts])
    weights = softmax(F.leaky_relu(ends + rows @ k, 0.2), target, len(x))
    return add_up(weights, rows.view(len(rows), k.shape[1], -1), target, len(x)) + bias


def hgt_typed(x, module, parts):
    """Keys and values of each relation's edges times its matrices, head by head; one type of node."""
    heads, count = module.heads, len(parts)
    dim = module.out_channels // heads
    keys, queries, values = (one.view(-1, heads, dim) for one in module.kqv_lin.lins["n"](x).tensor_split(3, dim=1))
    k_rel, v_rel = (one.weight.view(heads, count, dim, dim) for one in (module.k_rel, module.v_rel))

    def of_edges(rows, matrices):
        return torch.cat([torch.bmm(torch.index_select(rows, 0, source).transpose(0, 1), matrices[:, r]).transpose(0, 1)
                          for r, (source, _, _) in enumerate(parts)])

    target = torch.cat([part[1] for part in parts])
    scale = torch.cat([one.expand(len(part[1]), -1) for one, part in zip(module.p_rel.values(), parts)]) / dim ** 0.5
    score = (torch.index_select(queries, 0, target) * of_edges(keys, k_rel)).sum(-1) * scale
    out = add_up(softmax(score, target, len(x)), of_edges(values, v_rel), target, len(x))
    share = module.skip["n"].sigmoid()
    return share * module.out_lin.lins["n"](F.gelu(out)) + (1 - share) * x


def compgcn(x, z, module, source, target, relation):
    """The product of rows and embeddings of relations, added up by target before the matrix that all share."""
    rows = torch.index_select(x, 0, source) * torch.index_select(z, 0, relation)
    out = torch.zeros_like(x).index_add(0, target, rows) @ module.weight[0]
    return out + (x * module.loop) @ module.weight_loop + module.bias


def simple_hgn(x, module, source, target, relation):
    z = module.lin(x).view(len(x), module.heads, -1)
    of_relation = (module.lin_rel(module.rel).view(module.num_relations, module.heads, -1) * module.att_rel).sum(-1)
    score = (torch.index_select((z * module.att_src).sum(-1), 0, source) + torch.index_select((z * module.att_dst).sum(-1), 0, target)
             + torch.index_select(of_relation, 0, relation))
    weights = softmax(F.leaky_relu(score, module.negative_slope), target, len(x))
    return add_up(weights, torch.index_select(z, 0, source), target, len(x)) + module.bias
