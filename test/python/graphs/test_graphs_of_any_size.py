# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One program of a layer serves graphs of any size: with the bits of a program for just that size, or as torch_geometric's layer."""

import numpy
import pytest

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torch_geometric.nn")
import drawloom  # noqa: E402
from drawloom import ops  # noqa: E402
from drawloom.torch import Graph, _dispatch, message_passing  # noqa: E402
from drawloom.torch import nn as ours  # noqa: E402
from support.graph_references import assert_accurate  # noqa: E402

RELATIONS = 3
# Several blocks of nodes; more blocks than sums have parts; no edges; one node; nothing.
SIZES = [(50, 60), (2500, 9000), (70000, 5000), (5, 0), (1, 1), (0, 0)]
LAYERS = {
    "rgcn": lambda nn: nn.RGCNConv(8, 6, RELATIONS),
    "rgcn-max": lambda nn: nn.RGCNConv(8, 6, RELATIONS, aggr="max"),
    "rgcn-bases": lambda nn: nn.RGCNConv(8, 6, RELATIONS, num_bases=2),
    "rgcn-blocks": lambda nn: nn.RGCNConv(8, 6, RELATIONS, num_blocks=2),
    "rgat": lambda nn: nn.RGATConv(8, 6, RELATIONS, heads=2),
    "gat": lambda nn: nn.GATConv(8, 6, heads=2, add_self_loops=False),
    # Wide enough for edges to keep what both ends are told.
    "gat-wide": lambda nn: nn.GATConv(8, 16, add_self_loops=False),
    "gatv2": lambda nn: nn.GATv2Conv(8, 6, heads=2, add_self_loops=False),
    "sage": lambda nn: nn.SAGEConv(8, 6),
    "sage-max": lambda nn: nn.SAGEConv(8, 6, aggr="max"),
    "gin": lambda nn: nn.GINConv(torch.nn.Linear(8, 6)),
}


def edges(nodes, count, seed=0):
    random = torch.Generator().manual_seed(seed)
    return torch.randint(0, max(nodes, 1), (2, count), generator=random), torch.randint(0, RELATIONS, (count,), generator=random)


def rows(nodes, width=8):
    return torch.randn(nodes, width, generator=torch.Generator().manual_seed(nodes)).requires_grad_()


def both_ways(layer, nodes, index, relation):
    """The output and all gradients."""
    x = rows(nodes).to(next(layer.parameters()).dtype).detach().requires_grad_()
    typed = (relation,) if "RG" in type(layer).__name__ else ()
    y = layer(x, index, *typed)
    gradients = torch.autograd.grad(y.tanh().sum(), (x, *layer.parameters()), allow_unused=True)
    return y.detach(), *[one for one in gradients if one is not None]


@pytest.fixture
def calls(monkeypatch):
    """The specs that are called, each with the types of its arguments."""
    seen = []
    run = _dispatch._run_spec

    def seeing(spec, tensors, *more):
        seen.append((spec, tuple(ops.Array(dtype, shape) for dtype, shape in _dispatch._types(tensors))))
        return run(spec, tensors, *more)

    monkeypatch.setattr(_dispatch, "_run_spec", seeing)
    return seen


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_compiled_once_and_is_that_of_torch_geometric(name, monkeypatch):
    monkeypatch.setattr(drawloom.torch._dense, "MANY_ROWS", 0)
    torch.manual_seed(0)
    layer = LAYERS[name](ours)
    other = LAYERS[name](theirs).double()
    other.load_state_dict(layer.state_dict())
    compiled = []
    for nodes, count in SIZES:
        index, relation = edges(nodes, count)
        before = drawloom.cache.statistics().compiled
        found = both_ways(layer, nodes, index, relation)
        compiled.append(drawloom.cache.statistics().compiled - before)
        if nodes > 1 and count > 0:
            assert_accurate(found, both_ways(other, nodes, index, relation), "float32")
        assert all(one.isfinite().all() for one in found)
    assert not any(compiled[2:]), "there are two numbers of edges to a pair, by powers of two"


@pytest.mark.parametrize("name", list(LAYERS))
@pytest.mark.parametrize("size", SIZES[:3])
def test_it_has_the_bits_of_a_program_for_one_graph(name, size, calls):
    torch.manual_seed(0)
    layer = LAYERS[name](ours)
    index, relation = edges(*size)
    both_ways(layer, size[0], index, relation)
    assert calls
    # Derivatives of the first ones are found by their own calls.
    for spec, types in list(calls):
        random = numpy.random.default_rng(0)
        graph = Graph(index[0], index[1], relation if "rg" in name else None, num_src=size[0],
                      num_relations=RELATIONS if "rg" in name else 1)
        arrays = iter(graph.arrays)
        given = [next(arrays).numpy() if one.dtype == "int32" else random.standard_normal(one.shape).astype(one.dtype) for one in types]
        text = ops.text(spec, list(spec.opened(types)))
        exact = drawloom.compile(text)
        exact.main.specialize(*[one.shape for one in types])
        found, wanted = ([one.tobytes() for one in (result if isinstance(result, tuple) else (result,))]
                         for result in (drawloom.compile(text).main(*given), exact.main(*given)))
        assert found == wanted


def test_many_edges_to_a_pair_may_have_another_program():
    """What costs least depends on how many edges a pair has; powers of two of that are few programs."""
    torch.manual_seed(0)
    layer = ours.RGCNConv(8, 6, RELATIONS)
    before = drawloom.cache.statistics().compiled
    for count in range(40, 4000, 97):
        index, relation = edges(40, count)
        layer(rows(40), index, relation)
    assert drawloom.cache.statistics().compiled - before <= 9


def test_arrays_of_another_graph_are_refused(calls):
    index, _ = edges(50, 200)
    graph = Graph(*index, num_src=50)
    message_passing(graph, lambda src, edge: src * edge, src=rows(50), edge=torch.ones(200))
    (spec, types), = calls
    module = drawloom.compile(ops.text(spec, list(spec.opened(types))))
    x, e = rows(50).detach().numpy(), numpy.ones(200, "f")
    arrays = [one.numpy() for one in graph.arrays]
    module.main(x, e, *arrays)
    with pytest.raises(drawloom.CallError, match=r"takes int32\[\? \+ 1\], where \? is 49 .*, but is int32\[51\]"):
        module.main(x[:49], e, *arrays)
    with pytest.raises(drawloom.CallError, match=r"but is (float|int)32\[(199|200)\]"):
        module.main(x, e[:199], *arrays)
    # Only how many targets there are, and blocks of nodes, nothing else has: the first array, and two others.
    alone = {0, 5, 14}
    for i in set(range(len(arrays))) - alone:
        with pytest.raises(drawloom.CallError, match="argument .* of @main takes"):
            module.main(x, e, *arrays[:i], arrays[i][:-1], *arrays[i + 1:])
