# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of torch_geometric, DGL and jraph."""

import pytest

torch = pytest.importorskip("torch")
data = pytest.importorskip("torch_geometric.data")
import numpy  # noqa: E402
from torch_geometric.nn import GATConv, HeteroConv, RGCNConv, SAGEConv, to_hetero  # noqa: E402

import drawloom.torch  # noqa: E402
from drawloom.torch import Graph  # noqa: E402
from drawloom.torch import nn as ours  # noqa: E402
from drawloom.torch.graph import CallError  # noqa: E402
from support.graph_references import assert_accurate  # noqa: E402

EDGE_INDEX = torch.tensor([[0, 1, 2, 4, 0], [1, 2, 0, 3, 1]])
EDGE_TYPE = torch.tensor([0, 2, 1, 0, 2])


def edges_of(graph):
    """The edges as they were given, (source, target, relation)."""
    target = numpy.repeat(numpy.arange(graph.num_dst), numpy.diff(graph.arrays[2].numpy()[graph.arrays[0].numpy()]))
    relation = numpy.repeat(graph.arrays[1].numpy(), numpy.diff(graph.arrays[2].numpy()))
    rows = torch.from_numpy(numpy.stack([graph.arrays[3].numpy(), target, relation], axis=1))
    return [tuple(one) for one in graph.given(rows).tolist()]


def hetero():
    made = data.HeteroData()
    made["paper"].x, made["author"].x = torch.randn(3, 4), torch.randn(2, 4)
    made["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1], [0, 0, 2]])
    made["paper", "cites", "paper"].edge_index = torch.tensor([[2], [1]])
    return made


def test_data_of_pyg():
    graph = Graph.from_pyg(data.Data(edge_index=EDGE_INDEX, edge_type=EDGE_TYPE, num_nodes=6), num_relations=4)
    assert (graph.num_src, graph.num_dst, graph.num_relations) == (6, 6, 4)
    assert edges_of(graph) == [(0, 1, 0), (1, 2, 2), (2, 0, 1), (4, 3, 0), (0, 1, 2)]


def test_heterogeneous_data_is_numbered_as_pyg_does():
    made, one = hetero(), hetero().to_homogeneous()
    graph = Graph.from_pyg(made)
    assert edges_of(graph) == [tuple(edge) for edge in torch.cat([one.edge_index, one.edge_type[None]]).T.tolist()]
    assert (graph.num_src, graph.num_relations) == (5, 2)


@pytest.mark.parametrize("index, words", [
    ([[0, 2], [0, 0]], r"source 2 of edge 1 of \('author', 'writes', 'paper'\) is out of range: there are 2 nodes of 'author'"),
    ([[0, 1], [2, -1]], r"target -1 of edge 1 of .* there are 3 nodes of 'paper'"),
    ([[0, 1], [3, 0]], r"target 3 of edge 0 of .* there are 3 nodes of 'paper'")])
def test_an_index_is_not_taken_for_a_node_of_another_type(index, words):
    made = hetero()
    made["author", "writes", "paper"].edge_index = torch.tensor(index)
    with pytest.raises(CallError, match=words):
        Graph.from_pyg(made)
    with pytest.raises(CallError, match=words):
        Graph.from_dgl(OfDgl({kind: made[kind].num_nodes for kind in made.node_types},
                             {kind: made[kind].edge_index for kind in made.edge_types}))
    layer = ours.HGTConv(4, 4, (made.node_types, made.edge_types))
    with pytest.raises(CallError, match=words):
        layer({kind: made[kind].x for kind in made.node_types}, made.edge_index_dict)


@pytest.mark.parametrize("name, value, words", [("num_src", 6.5, "num_src is 6.5; it is a whole number"), ("num_dst", -1, "num_dst is -1; it is 0 or more"),
                                                ("num_relations", 0, "num_relations is 0; it is 1 or more")])
def test_numbers_of_nodes_that_cannot_be_are_named(name, value, words):
    with pytest.raises((CallError, TypeError), match=words):
        Graph(*EDGE_INDEX, **{name: value})


def test_data_without_edges_is_refused():
    with pytest.raises(CallError, match="Data has no edge_index"):
        Graph.from_pyg(data.Data(x=torch.randn(3, 2)))


def test_graphs_of_jraph():
    jraph = pytest.importorskip("jraph")
    both = jraph.batch([jraph.GraphsTuple(nodes=None, edges=None, senders=numpy.array([0, 1]), receivers=numpy.array([1, 1]), globals=None,
                                          n_node=numpy.array([2]), n_edge=numpy.array([2])) for _ in range(2)])
    assert edges_of(Graph.from_jraph(both)) == [(0, 1, 0), (1, 1, 0), (2, 3, 0), (3, 3, 0)]


class OfDgl:
    """What Graph.from_dgl asks a DGLGraph for. DGL itself does not import beside this torch."""

    def __init__(self, nodes, edges, is_block=False):
        self.nodes, self.all_edges, self.is_block = nodes, edges, is_block
        self.ntypes, self.canonical_etypes = list(nodes), list(edges)

    def num_nodes(self, kind=None):
        return self.nodes[kind] if kind else sum(self.nodes.values())

    num_src_nodes = num_dst_nodes = num_nodes

    def edges(self, form, order, etype):
        assert (form, order) == ("uv", "eid")
        return tuple(self.all_edges[etype])


def test_graphs_of_dgl():
    one = Graph.from_dgl(OfDgl({"_N": 6}, {("_N", "_E", "_N"): EDGE_INDEX}), EDGE_TYPE)
    assert edges_of(one) == [(0, 1, 0), (1, 2, 2), (2, 0, 1), (4, 3, 0), (0, 1, 2)]
    made = hetero()
    several = Graph.from_dgl(OfDgl({kind: made[kind].num_nodes for kind in made.node_types},
                                   {kind: made[kind].edge_index for kind in made.edge_types}))
    assert edges_of(several) == edges_of(Graph.from_pyg(made))


def test_a_layer_takes_the_graph_in_place_of_edges():
    batch = data.Data(x=torch.randn(6, 4, dtype=torch.float64), edge_index=EDGE_INDEX, edge_type=EDGE_TYPE)
    batch.graph = Graph.from_pyg(batch, num_relations=3)
    for name, arguments, given in (("RGCNConv", (4, 5, 3), (EDGE_TYPE,)), ("SAGEConv", (4, 5), ())):
        layer = getattr(ours, name)(*arguments).double()
        other = {"RGCNConv": RGCNConv, "SAGEConv": SAGEConv}[name](*arguments).double()
        other.load_state_dict(layer.state_dict())
        graph = batch.graph if given else Graph.from_pyg(data.Data(edge_index=EDGE_INDEX, num_nodes=6))
        assert_accurate([layer(batch.x, graph).detach()], [other(batch.x, EDGE_INDEX, *given).detach()], "float64")


def prepared(batch):
    """In a process of its own."""
    batch.graph = Graph.from_pyg(batch, num_relations=3)
    return batch


class OfEveryType(torch.nn.Module):
    """A model of one type of nodes, which to_hetero makes one of all."""

    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv((-1, -1), 6), SAGEConv((-1, -1), 5, aggr="max")

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def both_ways():
    """Every type of nodes gets messages."""
    made = hetero()
    made["paper", "of", "author"].edge_index = made["author", "writes", "paper"].edge_index.flip(0)
    return made


def hetero_conv():
    return HeteroConv({("author", "writes", "paper"): GATConv((4, 4), 5, add_self_loops=False),
                       ("paper", "cites", "paper"): SAGEConv((4, 4), 5), ("paper", "of", "author"): SAGEConv((4, 4), 5)})


@pytest.mark.parametrize("make, calls", [(hetero_conv, 3), (lambda: to_hetero(OfEveryType(), both_ways().metadata()), 6)],
                         ids=["HeteroConv", "to_hetero"])
def test_dictionaries_of_several_types_are_computed_here(make, calls):
    torch.manual_seed(0)
    known, model = both_ways(), make()
    model(known.x_dict, known.edge_index_dict)          # sizes of -1
    weights = list(model.parameters())

    def values():
        found = model(known.x_dict, known.edge_index_dict)
        return found["paper"], torch.autograd.grad(found["paper"].sin().sum(), weights, allow_unused=True)

    wanted, gradients = values()
    drawloom.torch.patch_pyg()
    try:
        before = sum(drawloom.torch.patch_pyg_report()["computed"].values())
        found, own = values()
        assert sum(drawloom.torch.patch_pyg_report()["computed"].values()) == before + calls
    finally:
        drawloom.torch.unpatch_pyg()
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(own, gradients)


def test_graphs_are_built_in_the_workers_of_a_loader():
    batches = [data.Data(x=torch.randn(6, 4), edge_index=EDGE_INDEX[:, :count], edge_type=EDGE_TYPE[:count]) for count in (1, 3, 5)]
    loader = torch.utils.data.DataLoader(batches, batch_size=None, num_workers=1, collate_fn=prepared,
                                         multiprocessing_context="spawn")
    layer = ours.RGCNConv(4, 5, 3)
    for batch in loader:
        assert torch.equal(layer(batch.x, batch.graph), layer(batch.x, batch.edge_index, batch.edge_type))
