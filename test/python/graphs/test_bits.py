# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs, and all their gradients, have the same bits on any number of threads and for any order of the edges."""

import pytest

torch = pytest.importorskip("torch")
import drawloom.torch  # noqa: E402, F401
from drawloom.torch import nn as ours  # noqa: E402

# So many rows and columns that torch's own products and sums round as there are threads.
NODES, EDGES, RELATIONS, WIDE = 40000, 50000, 6, 64
META = ["a", "b"], [("a", "r", "b"), ("b", "s", "a"), ("a", "t", "a")]


def bits(kind, *arguments, call=lambda layer, x, given: layer(x, given["index"]), **options):
    """(a maker of the layer, its call on rows and on what edges have)"""
    return pytest.param(lambda: kind(*arguments, **options), call, id="-".join(map(str, (kind.__name__, *options.items()))))


def typed(layer, x, given):
    attributes = (given["attr"],) if getattr(layer, "lin_edge", None) is not None else ()
    return layer(x, given["index"], given["type"], *attributes)


def of_attributes(layer, x, given):
    return layer(x, given["index"], given["attr"])


def of_numbers(layer, x, given):
    return layer(torch.arange(NODES) % layer.in_channels_l, given["index"], given["type"])


def of_relations(layer, x, given):
    return torch.cat(layer(x, x[:RELATIONS], given["index"], given["type"]))


def of_types(layer, x, given):
    half = NODES // 2
    kept = [given["index"][:, given["type"] % 3 == i] % half for i in range(3)]
    found = layer({"a": x[:half], "b": x[half:, :WIDE - 8]}, dict(zip(META[1], kept)))
    return torch.cat([found["a"], found["b"]])


def gin(name, inner):
    return pytest.param(lambda: ours.GINConv(inner(), train_eps=True), lambda layer, x, given: layer(x, given["index"]), id=f"GINConv-{name}")


ATTENTION = [{}, {"heads": 4, "concat": False, "residual": True}, {"edge_dim": 5, "call": of_attributes},
             {"heads": 2, "edge_dim": 5, "add_self_loops": False, "call": of_attributes}]
LAYERS = [
    *[bits(ours.RGCNConv, WIDE, WIDE, RELATIONS, call=typed, **options)
      for options in ({}, {"aggr": "max"}, {"num_bases": 5}, {"num_blocks": 4})],
    bits(ours.RGCNConv, 5000, WIDE, RELATIONS, call=of_numbers, aggr="sum"),
    *[bits(ours.RGATConv, WIDE, WIDE, RELATIONS, call=typed, **options)
      for options in ({"heads": 4}, {"num_bases": 5}, {"mod": "scaled"}, {"mod": "additive"}, {"edge_dim": 5},
                      {"attention_mechanism": "within-relation"}, {"attention_mode": "multiplicative-self-attention", "dim": 2})],
    *[bits(kind, WIDE, WIDE, **options) for kind in (ours.GATConv, ours.GATv2Conv) for options in ATTENTION],
    bits(ours.GATv2Conv, WIDE, WIDE, share_weights=True),
    # Sums that are one number.
    *[bits(kind, WIDE, 1, edge_dim=5, call=of_attributes) for kind in (ours.GATConv, ours.GATv2Conv)],
    bits(ours.RGATConv, WIDE, 1, RELATIONS, call=typed),
    *[bits(ours.SAGEConv, WIDE, WIDE, **options) for options in ({"aggr": "max"}, {"project": True, "normalize": True})],
    gin("linear", lambda: torch.nn.Linear(WIDE, WIDE)),
    gin("chain", lambda: torch.nn.Sequential(torch.nn.Linear(WIDE, WIDE), torch.nn.ReLU(), torch.nn.Linear(WIDE, WIDE))),
    bits(ours.CompGCNConv, WIDE, WIDE, RELATIONS, call=of_relations),
    bits(ours.CompGCNConv, WIDE, WIDE, RELATIONS, "mult", 3, torch.arange(RELATIONS) % 3, call=of_relations),
    bits(ours.SimpleHGNConv, WIDE, WIDE, RELATIONS, heads=4, residual=True, call=lambda *given: typed(*given)[0]),
    bits(ours.HGTConv, {"a": WIDE, "b": WIDE - 8}, WIDE, META, heads=4, call=of_types),
]


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def multiplies_parameters(layer):
    """Whether it has products of parameters alone, which are PyTorch's, and round as it has threads (docs/graphs.md)."""
    return getattr(layer, "num_bases", None) is not None or isinstance(layer, ours.SimpleHGNConv)


def torch_rounds_as_it_has_threads(threads):
    """Whether it does so on this processor: on some, products as small as these are computed one way."""
    a, found = [torch.randn(shape, generator=torch.Generator().manual_seed(1)) for shape in ((RELATIONS, 5), (5, WIDE * WIDE), (WIDE, WIDE))], []
    for count in (1, 2, 4):
        threads(count)
        found.append([a[0] @ a[1], a[0].T @ (a[0] @ a[1]), (a[0] @ a[1]) @ a[1].T, a[1][:, :WIDE] @ a[2], a[2] @ a[2]])
    return not all(torch.equal(one, other) for more in found[1:] for one, other in zip(found[0], more))


@pytest.mark.parametrize("make, call", LAYERS)
def test_threads_and_the_order_of_edges_do_not_change_the_bits(make, call, threads):
    random = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    layer = make()
    if multiplies_parameters(layer) and torch_rounds_as_it_has_threads(threads):
        pytest.skip("on this processor, PyTorch's product of this layer's parameters rounds as there are threads")
    torch.manual_seed(0)
    layer, x = make(), torch.randn(NODES, WIDE, generator=random)
    # A node without edges is there, too. Equal edges have equal rows: which one is first nothing tells.
    edges = torch.unique(torch.randint(0, NODES - 1, (2, EDGES), generator=random), dim=1)
    kind, attributes = torch.randint(0, RELATIONS, edges.shape[1:], generator=random), torch.randn(edges.shape[1], 5, generator=random)

    def run(count, order):
        threads(count)
        leaf = x.clone().requires_grad_()
        y = call(layer, leaf, {"index": edges[:, order], "type": kind[order], "attr": attributes[order]})
        gradients = torch.autograd.grad(y.tanh().sum(), (leaf, *layer.parameters()), allow_unused=True)
        return {"y": y, **dict(zip(("x", *dict(layer.named_parameters())), gradients))}

    first = run(1, torch.arange(edges.shape[1]))
    for count in (2, 4):
        found = run(count, torch.randperm(edges.shape[1], generator=random))
        assert [name for name, one in found.items() if one is not None and not torch.equal(one, first[name])] == []
