# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of one edge that a user writes, beside the same in torch."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
from drawloom.torch import Graph, message_passing, where  # noqa: E402
from drawloom.torch import _dispatch as dispatch  # noqa: E402
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


def test_rows_are_compared_and_constants_are_any_numbers():
    x = torch.tensor([0.0, 1.0, 2.0])[torch.randint(0, 3, (NODES,))]
    equal = message_passing(GRAPH, lambda src: where(src == 1.0, 1.0, where(src != 0.0, -3.0, 0.25)), src=x, to="edge")
    wanted = torch.where(x == 1, 1.0, torch.where(x != 0, -3.0, 0.25))[SOURCE]
    assert torch.equal(equal, wanted)
    small = message_passing(GRAPH, lambda src: (src * 1e-8 + 1e22).leaky_relu(1e-5) * 3e-38, src=x.double(), to="edge")
    torch.testing.assert_close(small, (x.double() * 1e-8 + 1e22)[SOURCE] * 3e-38)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("function", [lambda src: src, lambda src: src * 1.0])
def test_results_have_the_type_of_the_rows(dtype, function):
    x = torch.randn(NODES, 3).to(dtype)
    for options in ({}, {"combine": "max"}, {"combine": "mean"}, {"to": "edge"}):
        assert message_passing(GRAPH, function, src=x, **options).dtype == dtype


@pytest.mark.parametrize("contracts", [lambda src, dst, edge: edge * dst + src,
                                       lambda src, dst, edge: (dst * 1.7 - edge * dst).tanh() * edge + src,
                                       lambda src, dst, edge: ((dst * edge + 0.3).exp() * 0.01 - dst) * edge + src])
def test_a_maximum_always_finds_its_edges_again(contracts):
    x, y, e = (torch.randn(rows, 40, requires_grad=True) for rows in (NODES, NODES, EDGES))
    z = message_passing(GRAPH, contracts, src=x, dst=y, edge=e, combine="max")
    gradient = torch.autograd.grad(z.sum(), (x, y, e))[0]
    # A source's row is an addend: whoever has the maximum gets 1, so all of a column get as many as there are targets with edges.
    assert torch.equal(gradient.sum(0), torch.full((40,), float(len(TARGET.unique()))))


@pytest.mark.parametrize("call, message", [
    (lambda x: message_passing(GRAPH, lambda src: src, src=x, combine="max", to="edge"), "nothing is combined"),
    (lambda x: message_passing(GRAPH, lambda src: src * 1e39, src=x), "1e+39 is no float32"),
    (lambda x: message_passing(GRAPH, lambda src: where(True, src, src), src=x), "where takes a comparison of rows"),
    (lambda x: message_passing(GRAPH, lambda src: src * True, src=x), "does not go with True"),
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


def test_rows_of_narrow_types_are_added_up_in_float32():
    count = 20000
    hub = Graph(torch.arange(count), torch.zeros(count, dtype=torch.long), num_src=count, num_dst=1)
    x = torch.full((count, 1), 10.0, dtype=torch.float16)
    assert message_passing(hub, lambda src: src, src=x, combine="mean").item() == 10.0
    spread = Graph(torch.zeros(count, dtype=torch.long), torch.arange(count), num_src=1, num_dst=count)
    leaf = torch.ones(1, 1, dtype=torch.bfloat16, requires_grad=True)
    message_passing(spread, lambda src: src * 1.0, src=leaf).float().sum().backward()
    assert leaf.grad.item() == torch.tensor(float(count)).bfloat16().item()


def test_a_row_without_dimensions_is_its_own_sum():
    e = torch.rand(EDGES, dtype=torch.float64)
    found = message_passing(GRAPH, lambda edge: edge.sum(None) + edge.max(None), edge=e)
    torch.testing.assert_close(found, combined(2 * e, "sum"))


@pytest.mark.parametrize("combine, kept", [("softmax", 4), ("max", 1), ("sum", 0)])
def test_derivatives_begin_with_what_the_forward_pass_kept(combine, kept, monkeypatch):
    """The way back takes the maximum, the sums of a softmax and its scores as they are, whoever differentiates how often."""
    graph, x = GRAPH, torch.randn(NODES, 4, dtype=torch.float64, requires_grad=True)
    calls = []
    run = dispatch._run_spec
    monkeypatch.setattr(dispatch, "_run_spec", lambda spec, tensors, *more: calls.append((spec, tensors)) or run(spec, tensors, *more))

    def function(src, dst):
        return ((src * dst).sum(), src) if combine == "softmax" else src * dst

    y = message_passing(graph, function, src=x, dst=x, combine=combine)
    dy = torch.randn_like(y)
    gradient, = torch.autograd.grad(y, x, dy)
    (forward, given), (backward, taken) = calls
    assert (dict(forward.attributes).get("kept"), dict(backward.attributes).get("kept")) == (("given", "taken") if kept else (None, None))
    assert len(taken) == len(given) + kept + 1
    # As if nothing had been kept.
    wanted, = torch.func.vjp(lambda x: message_passing(graph, function, src=x, dst=x, combine=combine), x.detach())[1](dy)
    plain = replace(forward, attributes=tuple((name, value) for name, value in forward.attributes if name != "kept"))
    again = run(dispatch.intern(plain.vjp((0, 1), (0,))), (*[one.detach() for one in given], dy), 1, dispatch._resolve)
    for one in (wanted, sum(again)):
        torch.testing.assert_close(one, gradient)
