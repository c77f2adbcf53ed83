# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the graph suite: layers on a graph of 100,000 nodes, 600,000 edges and 40 relations, 64 wide, forward and with all gradients.

Popularity of nodes and relations falls as a power, so that some 235,000 pairs of a target and a relation have edges, and the largest
target has about 5,500. Rivals: torch_geometric's layer of the same name ("pyg"), that compiled, and what a PyTorch user writes by hand, eager
and compiled: a product for each relation ("typed mm"), sums of neighbours by sparse matrices of MKL before it ("aggregate first"); JAX's sums.
Operations are those of one product for each pair, or for each edge where there is none.
"""

import functools

import numpy as np

from drawloom_bench.suites.case import FORWARD_RTOL, TRAIN_RTOL, Case

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


LAYERS = {
    "RGCN": ("RGCNConv", (WIDTH, WIDTH, RELATIONS), {}), "RGCN, 8 blocks": ("RGCNConv", (WIDTH, WIDTH, RELATIONS), {"num_blocks": 8}),
    "RGCN, 30 bases": ("RGCNConv", (WIDTH, WIDTH, RELATIONS), {"num_bases": 30}),
    "RGAT": ("RGATConv", (WIDTH, WIDTH, RELATIONS), {}), "RGAT, 4 heads": ("RGATConv", (WIDTH, 16, RELATIONS), {"heads": 4}),
    "HGT, 4 heads": ("HGTConv", (WIDTH, WIDTH, (["n"], [("n", f"r{r}", "n") for r in range(RELATIONS)])), {"heads": 4}),
    "GAT, 4 heads": ("GATConv", (WIDTH, 16), {"heads": 4}), "GATv2, 4 heads": ("GATv2Conv", (WIDTH, 16), {"heads": 4}),
    "SAGE, max": ("SAGEConv", (WIDTH, WIDTH), {"aggr": "max"}), "GIN": ("GINConv", None, {}),
    "CompGCN": ("CompGCNConv", (WIDTH, WIDTH, RELATIONS, "mult"), {}), "SimpleHGN, 4 heads": ("SimpleHGNConv", (WIDTH, 16, RELATIONS, 4), {}),
}


def layer(name, library):
    """The same parameters in every library that has the layer; otherwise None."""
    import torch

    kind, arguments, options = LAYERS[name]
    if not hasattr(library, kind):
        return None
    torch.manual_seed(0)
    if arguments is None:
        arguments = (torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH)),)
    return getattr(library, kind)(*arguments, **options)


def edge_tensors(lists):
    import torch

    source, target, relation = lists
    return torch.from_numpy(np.stack([source, target])), torch.from_numpy(relation)


def caller(name, module, lists=None):
    """What computes the layer's rows from x, on the suite's edges or on others."""
    import torch

    edge_index, edge_type = edge_tensors(lists or edges())
    if name.startswith("HGT"):
        given = {kind: edge_index[:, edge_type == r] for r, kind in enumerate(module.edge_types)}
        return lambda x: module({"n": x}, given)["n"]
    if name == "CompGCN":
        z = torch.randn(RELATIONS, WIDTH, generator=torch.Generator().manual_seed(2))
        return lambda x: module(x, z, edge_index, edge_type)[0]
    if name.startswith("SimpleHGN"):
        return lambda x: module(x, edge_index, edge_type)[0]
    given = (edge_index, edge_type) if name.startswith("RG") else (edge_index,)
    return lambda x: module(x, *given)


def by_hand(name, own):
    """Contenders that a user of PyTorch writes, with the parameters of our layer: name -> function of x."""
    import torch

    from drawloom_bench.rivals import graph_torch as hand

    parts, (edge_index, edge_type) = by_relation(), edge_tensors(edges())
    if name == "RGCN":
        first = ("aggregate first", lambda x: hand.rgcn_aggregated(x, own.weight, own.root, own.bias, aggregation()))
        return dict([first, *typed(lambda x: hand.rgcn_typed(x, own.weight, own.root, own.bias, parts))])
    if name.startswith("RGAT"):
        return dict(typed(lambda x: hand.rgat_typed(x, own.weight, own.q, own.k, own.bias, parts)))
    if name.startswith("HGT"):
        return dict(typed(lambda x: hand.hgt_typed(x, own, parts)))
    if name == "CompGCN":
        z = torch.randn(RELATIONS, WIDTH, generator=torch.Generator().manual_seed(2))
        return dict(typed(lambda x: hand.compgcn(x, z, own, *edge_index, edge_type), "by hand"))
    if name.startswith("SimpleHGN"):
        return dict(typed(lambda x: hand.simple_hgn(x, own, *edge_index, edge_type), "by hand"))
    return {}


def typed(function, name="typed mm"):
    import torch

    return [(name, function), (f"{name}, compile", torch.compile(function))]


# Loops over relations, which by_hand compiles in a better form.
NOT_COMPILED = ("RG", "HGT")


def case(name, train, goal):
    def make(options):
        import torch
        import torch_geometric.nn

        from drawloom.torch import nn

        own, other = layer(name, nn), layer(name, torch_geometric.nn)
        rng = np.random.default_rng(1)
        x, dy = (torch.from_numpy(rng.standard_normal((NODES, WIDTH), dtype=np.float32)) for _ in range(2))
        x.requires_grad_(train)

        def run(function, module):
            parameters = [one for one in module.parameters() if one.requires_grad]

            def forward():
                with torch.no_grad():
                    return [function(x)]

            def both():
                return torch.autograd.grad(function(x), [x, *parameters], dy, allow_unused=True)[:1]

            return both if train else forward

        contenders = {"drawloom": run(caller(name, own), own)}
        # RGATConv makes a matrix for each edge: 9.8 GB forward. HGTConv takes a minute for a step.
        if other is not None and not (name.startswith(("RGAT", "HGT")) and train):
            other.load_state_dict(own.state_dict())
            contenders["pyg"] = run(caller(name, other), other)
            if not name.startswith(NOT_COMPILED):
                contenders["pyg, compile"] = run(torch.compile(caller(name, other)), other)
        for rival, function in by_hand(name, own).items():
            contenders[rival] = run(function, own)
        if name == "RGCN":
            jax = jax_rgcn(train, x, [own.weight, own.root, own.bias], dy)
            contenders["jax"] = lambda: jax()[:1]
        return contenders

    incoming, outgoing = pairs()
    products = {"RGCN": incoming + NODES, "RGCN, 30 bases": incoming + NODES, "RGCN, 8 blocks": incoming / 8 + NODES,
                "GIN": 2 * NODES, "SAGE, max": 2 * NODES, "GAT, 4 heads": NODES, "GATv2, 4 heads": 2 * NODES, "CompGCN": 2 * NODES,
                "SimpleHGN, 4 heads": NODES, "HGT, 4 heads": outgoing / 2 + 4 * NODES}.get(name, outgoing)
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
        import torch_geometric.nn

        from drawloom.torch import nn

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

        own, other = ([layer("RGCN", library) for _ in range(2)] for library in (nn, torch_geometric.nn))
        return {"drawloom": of(own), "pyg": of(other)}

    count = sum(index.shape[1] for index, _, _ in batches())
    operations = 2 * 2 * 3 * count * WIDTH * WIDTH
    return Case(f"RGCN, {BATCHES} batches", operations, 2 * 3 * 4 * WIDTH * count, make, "3 x PyG", TRAIN_RTOL)


GOALS = {"RGCN": ("2.2 x the best", "3.8 x the best"), **dict.fromkeys(["RGAT", "RGAT, 4 heads"], ("3.5 x the best", "4 x the best")),
         "HGT, 4 heads": ("6 x the best", "12 x the best")}
CASES = [case(name, train, GOALS.get(name, ("2 x the best", "2 x the best"))[train]) for name in LAYERS for train in (False, True)] + [sampled()]
