# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the graph suite: layers on a graph of 100,000 nodes, 600,000 edges and 40 relations, 64 wide, forward and with all gradients.

Popularity of nodes and relations falls as a power, so that some 235,000 pairs of a target and a relation have edges, and the largest
target has about 5,500. Rivals: torch_geometric's layer of the same name ("pyg"), and what a PyTorch user writes by hand: a product for
each relation ("typed mm"), sums of neighbours by sparse matrices of MKL before it ("aggregate first"), both compiled, and JAX's segment sums.
Operations are those of one product for each pair, or for each edge where there is none.
"""

import functools

import numpy as np

from kan_suite import FORWARD_RTOL, TRAIN_RTOL, Case

NODES, EDGES, RELATIONS, WIDTH = 100_000, 600_000, 40, 64


def popular(rng, count, power, offset):
    weights = (np.arange(1, count + 1) + offset) ** -power
    return rng.permutation(count)[rng.choice(count, EDGES, p=weights / weights.sum())]


@functools.cache
def edges():
    rng = np.random.default_rng(0)
    source, target = popular(rng, NODES, 1.07, 16), popular(rng, NODES, 1.07, 16)
    weights = 1.0 / np.arange(1, RELATIONS + 1)
    return source, target, rng.choice(RELATIONS, EDGES, p=weights / weights.sum())


@functools.cache
def pairs():
    source, target, relation = edges()
    return len(np.unique(target * RELATIONS + relation)), len(np.unique(source * RELATIONS + relation))


def rgcn_typed(x, weight, root, bias, by_relation):
    """A product for each relation, then its rows added to the targets'."""
    import torch

    out = x @ root + bias
    for r, (source, target, share) in enumerate(by_relation):
        out = out.index_add(0, target, torch.index_select(x, 0, source) @ weight[r] * share)
    return out


def rgcn_aggregated(x, weight, root, bias, aggregation):
    """Means of neighbours by one sparse matrix, a row for each pair, then a product for each relation."""
    import torch

    matrix, targets = aggregation
    out, at, means = x @ root + bias, 0, torch.sparse.mm(matrix, x)
    for r, target in enumerate(targets):
        out = out.index_add(0, target, means[at:at + len(target)] @ weight[r])
        at += len(target)
    return out


@functools.cache
def aggregation():
    """The matrix of all pairs, by relation and target, and the targets of each relation's."""
    import torch

    source, target, relation = edges()
    pair, row = np.unique(relation * NODES + target, return_inverse=True)
    share = (1.0 / np.bincount(row)[row]).astype(np.float32)
    matrix = torch.sparse_coo_tensor(np.stack([row, source]), share, (len(pair), NODES)).coalesce().to_sparse_csr()
    return matrix, [torch.from_numpy(pair[pair // NODES == r] % NODES) for r in range(RELATIONS)]


@functools.cache
def by_relation():
    """For each relation its sources, targets, and 1 / (edges of a target)."""
    import torch

    source, target, relation = edges()
    parts = []
    for r in range(RELATIONS):
        own = relation == r
        s, t = source[own], target[own]
        share = 1.0 / np.bincount(t, minlength=NODES)[t]
        parts.append((torch.from_numpy(s), torch.from_numpy(t), torch.from_numpy(share.astype(np.float32))[:, None]))
    return parts


def rgat_typed(x, weight, q, k, bias, by_relation):
    """Scores and rows of each relation, then one softmax over the edges of a target."""
    import torch

    source, target, relation = (torch.from_numpy(one) for one in edges())
    order = torch.argsort(relation, stable=True)
    rows = torch.cat([torch.index_select(x, 0, part[0]) @ weight[r] for r, part in enumerate(by_relation)])
    ends = torch.cat([torch.index_select(x, 0, part[1]) @ (weight[r] @ q) for r, part in enumerate(by_relation)])
    target = target[order]
    score = torch.nn.functional.leaky_relu(ends + rows @ k, 0.2)
    top = torch.full((NODES, 1), -torch.inf).scatter_reduce(0, target[:, None], score.detach(), "amax")
    weights = (score - top[target]).exp()
    total = torch.zeros(NODES, 1).index_add(0, target, weights)
    return torch.zeros(NODES, WIDTH).index_add(0, target, weights / total[target] * rows) + bias


def jax_rgcn(train, x, parameters, dy):
    import jax
    import jax.numpy as jnp

    parts = [(jnp.asarray(s.numpy()), jnp.asarray(t.numpy()), jnp.asarray(share.numpy())) for s, t, share in by_relation()]

    def layer(x, weight, root, bias):
        out = x @ root + bias
        for r, (source, target, share) in enumerate(parts):
            out = out.at[target].add(x[source] @ weight[r] * share)
        return out

    arrays = [jnp.asarray(one.detach().numpy()) for one in (x, *parameters)]
    if not train:
        forward = jax.jit(layer)
        return lambda: [forward(*arrays).block_until_ready()]
    cotangent = jnp.asarray(dy.numpy())
    both = jax.jit(lambda *given: jax.vjp(layer, *given)[1](cotangent))
    return lambda: [one.block_until_ready() for one in both(*arrays)]


def layers(name):
    """(ours, torch_geometric's, takes relations), with the same parameters."""
    import torch
    import torch_geometric.nn as theirs
    from drawloom.torch import nn as ours

    def mlp():
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH))

    kind, arguments, options = {
        "RGCN": ("RGCNConv", (WIDTH, WIDTH, RELATIONS), {}), "RGCN, 8 blocks": ("RGCNConv", (WIDTH, WIDTH, RELATIONS), {"num_blocks": 8}),
        "RGCN, 30 bases": ("RGCNConv", (WIDTH, WIDTH, RELATIONS), {"num_bases": 30}),
        "RGAT": ("RGATConv", (WIDTH, WIDTH, RELATIONS), {}),
        "GAT, 4 heads": ("GATConv", (WIDTH, 16), {"heads": 4}), "GATv2, 4 heads": ("GATv2Conv", (WIDTH, 16), {"heads": 4}),
        "SAGE, max": ("SAGEConv", (WIDTH, WIDTH), {"aggr": "max"}), "GIN": ("GINConv", None, {}),
    }[name]
    made = []
    for library in (ours, theirs):
        torch.manual_seed(0)
        made.append(getattr(library, kind)(*((mlp(),) if arguments is None else arguments), **options))
    made[1].load_state_dict(made[0].state_dict())
    return *made, "num_relations" in made[0].__dict__


def case(name, train, goal):
    def make(options):
        import torch

        own, other, relational = layers(name)
        source, target, relation = edges()
        edge_index, edge_type = torch.from_numpy(np.stack([source, target])), torch.from_numpy(relation)
        rng = np.random.default_rng(1)
        x, dy = (torch.from_numpy(rng.standard_normal((NODES, WIDTH), dtype=np.float32)) for _ in range(2))
        x.requires_grad_(train)

        def run(function, parameters):
            def forward():
                with torch.no_grad():
                    return [function(x)]

            def both():
                return torch.autograd.grad(function(x), [x, *parameters], dy, allow_unused=True)[:1]

            return both if train else forward

        def of(layer):
            given = (edge_index, edge_type) if relational else (edge_index,)
            return run(lambda x: layer(x, *given), [one for one in layer.parameters() if one.requires_grad])

        contenders = {"drawloom": of(own)}
        # RGATConv makes a matrix for each edge: 9.8 GB forward.
        if name != "RGAT" or not train:
            contenders["pyg"] = of(other)
        if name == "RGCN":
            parameters = [own.weight, own.root, own.bias]
            contenders["typed mm"] = run(lambda x: rgcn_typed(x, *parameters, by_relation()), parameters)
            contenders["aggregate first"] = run(lambda x: rgcn_aggregated(x, *parameters, aggregation()), parameters)
            compiled = torch.compile(rgcn_typed)
            contenders["typed mm, compile"] = run(lambda x: compiled(x, *parameters, by_relation()), parameters)
            contenders["jax"] = jax_rgcn(train, x, parameters, dy)
            if train:
                all_of_jax = contenders["jax"]
                contenders["jax"] = lambda: all_of_jax()[:1]
        if name == "RGAT":
            parameters = [own.weight, own.q, own.k, own.bias]
            contenders["typed mm"] = run(lambda x: rgat_typed(x, *parameters, by_relation()), parameters)
            compiled = torch.compile(rgat_typed)
            contenders["typed mm, compile"] = run(lambda x: compiled(x, *parameters, by_relation()), parameters)
        return contenders

    incoming, outgoing = pairs()
    products = {"RGCN": incoming + NODES, "RGCN, 30 bases": incoming + NODES, "RGCN, 8 blocks": incoming / 8 + NODES,
                "GIN": 2 * NODES, "SAGE, max": 2 * NODES, "GAT, 4 heads": NODES, "GATv2, 4 heads": 2 * NODES}.get(name, outgoing)
    operations = 2 * products * WIDTH * WIDTH * (3 if train else 1)
    data = 4 * WIDTH * (EDGES + 2 * NODES) * (3 if train else 1)
    return Case(f"{name}, {'train' if train else 'forward'}", operations, data, make, goal, TRAIN_RTOL if train else FORWARD_RTOL)


BATCHES, SEEDS, FANOUT = 200, 512, (10, 10)


@functools.cache
def batches():
    """What a loader of sampled neighbours gives: for 512 nodes at a time up to ten edges to each, and ten to each of those they come from;
    (edge_index, edge_type, the nodes)."""
    import torch

    source, target, relation = edges()
    order = np.argsort(target, kind="stable")
    starts = np.concatenate([[0], np.bincount(target, minlength=NODES).cumsum()])
    rng = np.random.default_rng(2)
    made = []
    for _ in range(BATCHES):
        nodes = front = rng.choice(NODES, SEEDS, replace=False)
        taken = []
        for most in FANOUT:
            counts = np.minimum(starts[front + 1] - starts[front], most)
            first = rng.random(len(front)) * (starts[front + 1] - starts[front] - counts + 1)
            places = np.repeat(starts[front] + first.astype(np.int64) - (counts.cumsum() - counts), counts) + np.arange(counts.sum())
            taken.append(order[places])
            front = np.setdiff1d(source[taken[-1]], nodes)
            nodes = np.concatenate([nodes, front])
        taken = np.unique(np.concatenate(taken))
        number = np.empty(NODES, np.int64)
        number[nodes] = np.arange(len(nodes))
        made.append((torch.from_numpy(np.stack([number[source[taken]], number[target[taken]]])), torch.from_numpy(relation[taken]),
                     torch.from_numpy(nodes)))
    return made


def sampled():
    """An epoch of training steps of two layers on sampled batches, whose orders are made anew in each."""
    def make(options):
        import torch

        rows = torch.from_numpy(np.random.default_rng(1).standard_normal((NODES, WIDTH), dtype=np.float32))

        def of(layers):
            parameters = [one for layer in layers for one in layer.parameters()]

            def epoch():
                total = [torch.zeros_like(one) for one in parameters]
                for edge_index, edge_type, nodes in batches():
                    # Each step of a loader has new tensors.
                    edge_index, edge_type = edge_index.clone(), edge_type.clone()
                    y = layers[1](layers[0](rows[nodes], edge_index, edge_type).relu(), edge_index, edge_type)
                    for sum_, one in zip(total, torch.autograd.grad(y[:SEEDS].square().mean(), parameters)):
                        sum_ += one
                return total

            return epoch

        pairs_of_layers = [layers("RGCN") for _ in range(2)]
        return {"drawloom": of([own for own, _, _ in pairs_of_layers]), "pyg": of([other for _, other, _ in pairs_of_layers])}

    count = sum(index.shape[1] for index, _, _ in batches())
    operations = 2 * 2 * 3 * count * WIDTH * WIDTH
    return Case(f"RGCN, {BATCHES} batches", operations, 2 * 3 * 4 * WIDTH * count, make, "3 x PyG", TRAIN_RTOL)


GOALS = {"RGCN": ("2.2 x the best", "3.8 x the best"), "RGAT": ("3.5 x the best", "4 x the best")}
CASES = [case(name, train, GOALS.get(name.split(",")[0], ("2 x the best", "2 x the best"))[train])
         for name in ("RGCN", "RGCN, 8 blocks", "RGCN, 30 bases", "RGAT", "GAT, 4 heads", "GATv2, 4 heads", "SAGE, max", "GIN")
         for train in (False, True)] + [sampled()]
