# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of one edge that a user writes, beside the same in torch."""

import pytest

torch = pytest.importorskip("torch")
from drawloom.torch import Graph, message_passing, where  # noqa: E402
from drawloom.torch.graph import CallError  # noqa: E402

NODES, EDGES, RELATIONS = 12, 60, 3
torch.manual_seed(0)
# Node 11 has no edges.
SOURCE, TARGET = torch.randint(0, NODES - 1, (2, EDGES))
RELATION = torch.randint(0, RELATIONS, (EDGES,))
GRAPH = Graph(SOURCE, TARGET, RELATION, num_src=NODES, num_relations=RELATIONS)


def tensors(*shapes):
    return [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def combined(rows, combine):
    index = TARGET.view(-1, *[1] * (rows.dim() - 1)).expand_as(rows)
    reduce = {"sum": "sum", "mean": "mean", "max": "amax", "min": "amin"}[combine]
    return torch.zeros(NODES, *rows.shape[1:], dtype=rows.dtype).scatter_reduce(0, index, rows, reduce, include_self=False)


@pytest.mark.parametrize("combine", ["sum", "mean", "max", "min"])
def test_rows_of_every_space_combine(combine):
    x, y, e, r, a = tensors((NODES, 4), (NODES, 4), (EDGES,), (RELATIONS, 4), (4,))

    def edge(src, dst, edge, rel, all):
        return (src * dst).tanh() * edge + rel * all

    found = message_passing(GRAPH, edge, src=x, dst=y, edge=e, rel=r, all=a, combine=combine)
    rows = (x[SOURCE] * y[TARGET]).tanh() * e[:, None] + r[RELATION] * a
    wanted = combined(rows, combine)
    torch.testing.assert_close(found, wanted)
    cotangent = torch.randn_like(wanted)
    for one, other in zip(*(torch.autograd.grad(y_, (x, y, e, r, a), cotangent) for y_ in (found, wanted))):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("heads", [None, 2])
def test_a_softmax_has_derivatives_of_second_order(heads):
    shape = (4,) if heads is None else (heads, 3)
    q, k, v = tensors((NODES, *shape), (NODES, *shape), (NODES, *shape))

    def attention(q, k, v):
        return message_passing(GRAPH, lambda src, dst: (src["k"].dot(dst), src["v"]), src={"k": k, "v": v}, dst=q, combine="softmax")

    from torch_geometric.utils import softmax

    score = (k[SOURCE] * q[TARGET]).sum(-1)
    weight = softmax(score, TARGET, num_nodes=NODES)
    torch.testing.assert_close(attention(q, k, v), combined(weight[..., None] * v[SOURCE], "sum"))
    assert torch.autograd.gradcheck(attention, (q, k, v)) and torch.autograd.gradgradcheck(attention, (q, k, v))


def test_large_scores_stay_in_range():
    scores = torch.tensor([1e4, -1e4])[torch.randint(0, 2, (EDGES,))]
    x = torch.randn(NODES, 3)
    y = message_passing(GRAPH, lambda src, edge: (edge, src), src=x, edge=scores, combine="softmax")
    assert y.isfinite().all() and (y[NODES - 1] == 0).all()


def test_edges_come_back_in_the_order_given():
    x, = tensors((NODES, 3))
    found = message_passing(GRAPH, lambda src, dst: src - dst, src=x, dst=x, to="edge")
    torch.testing.assert_close(found, x[SOURCE] - x[TARGET])


def test_shapes_follow_numpy():
    x, w = tensors((NODES, 2, 3), (NODES, 2))
    found = message_passing(GRAPH, lambda src, dst: where(dst[:, None] > 0.0, src, 2.0 * src).sum(0), src=x, dst=w)
    rows = torch.where(w[TARGET][..., None] > 0, x[SOURCE], 2 * x[SOURCE]).sum(1)
    torch.testing.assert_close(found, combined(rows, "sum"))


def test_nan_reaches_only_who_reads_it():
    x = torch.randn(NODES, 3)
    x[4] = float("nan")
    y = message_passing(GRAPH, lambda src: src, src=x)
    reached = torch.zeros(NODES, dtype=torch.bool)
    reached[TARGET[SOURCE == 4]] = True
    assert torch.equal(y.isnan().any(1), reached)


@pytest.mark.parametrize("sources, targets, edges", [(0, 0, 0), (5, 3, 0), (1, 1, 3)])
def test_graphs_without_edges_or_nodes(sources, targets, edges):
    graph = Graph(torch.zeros(edges, dtype=torch.int64), torch.zeros(edges, dtype=torch.int64), num_src=sources, num_dst=targets)
    x = torch.randn(sources, 4, requires_grad=True)
    y = message_passing(graph, lambda src: src * src, src=x)
    assert tuple(y.shape) == (targets, 4)
    y.sum().backward()
    torch.testing.assert_close(x.grad, 2 * edges * x.detach() if edges else torch.zeros_like(x))


def test_bits_do_not_depend_on_threads_or_the_order_of_edges():
    x = torch.randn(NODES, 5)
    shuffle = torch.randperm(EDGES)
    shuffled = Graph(SOURCE[shuffle], TARGET[shuffle], RELATION[shuffle], num_src=NODES, num_relations=RELATIONS)

    def run(graph):
        leaf = x.clone().requires_grad_()
        y = message_passing(graph, lambda src, dst: (src.dot(dst), src), src=leaf, dst=leaf, combine="softmax")
        return y, *torch.autograd.grad(y.square().sum(), leaf)

    threads = torch.get_num_threads()
    try:
        results = []
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            results += [run(GRAPH), run(shuffled)]
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(a, b) for one in results for a, b in zip(one, results[0]))


@pytest.mark.parametrize("call, message", [
    (lambda x: message_passing(GRAPH, lambda src: src, src=x, combine="lstm"), "combine is 'lstm'"),
    (lambda x: message_passing(GRAPH, lambda src: src, src=x[:5]), "the graph has 12 rows at src"),
    (lambda x: message_passing(GRAPH, lambda edge: edge, edge=x), "the graph has 60 edges"),
    (lambda x: message_passing(GRAPH, lambda src: src @ src, src=x), "a product with a matrix for each edge is slow"),
    (lambda x: message_passing(GRAPH, lambda src: src if src else -src, src=x), "cannot depend on values"),
    (lambda x: message_passing(GRAPH, lambda src: src + x, src=x), "is given as one"),
    (lambda x: message_passing(GRAPH, lambda src: src, src=x, combine="softmax"), "gives a pair"),
    (lambda x: message_passing(GRAPH, lambda: 1.0), "no rows are given"),
    (lambda x: message_passing(GRAPH, lambda src: src[0], src=x), "rows are indexed by : and None only"),
])
def test_what_an_edge_cannot_say_is_refused(call, message):
    with pytest.raises(CallError) as error:
        call(torch.randn(NODES, 4))
    assert message in str(error.value)
