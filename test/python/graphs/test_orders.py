# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Index arrays of graphs: as sorting makes them, and refused where an index is wrong."""

import numpy
import pytest

import inputs
from drawloom import _drawloom
from support.graph_references import orders

drawloom = pytest.importorskip("drawloom.torch")
torch = pytest.importorskip("torch")


@pytest.mark.parametrize("sources, targets, edges, relations, rows, tile",
                         [(13, 11, 60, 3, 4, 4), (1, 1, 0, 1, 8, 16), (0, 0, 0, 1, 8, 16), (5, 7, 0, 2, 2, 3), (30, 3, 200, 1, 8, 4),
                          (3, 40, 300, 50, 16, 2),
                          # As many as need more than 64 bits for an edge, and nearly that many.
                          (1 << 20, 1 << 20, 500, 1 << 20, 1 << 18, 2), (1 << 20, 1 << 20, 500, 1 << 15, 1 << 18, 2)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_orders_are_those_of_sorted_tuples(sources, targets, edges, relations, rows, tile, dtype):
    rng = numpy.random.default_rng(edges)
    source, target, relation = (rng.integers(0, max(count, 1), edges).astype(dtype) for count in (sources, targets, relations))
    built = _drawloom.build_graph(source, target, relation, sources, targets, relations, rows, tile)
    for array, wanted in zip(built, orders(source, target, relation, sources, targets, rows, tile), strict=True):
        numpy.testing.assert_array_equal(array, wanted)


@pytest.mark.parametrize("nodes, edges, relations, rows, tile", [(13, 60, 3, 4, 4), (1, 0, 1, 8, 16), (40, 300, 50, 16, 2)])
def test_orders_of_counted_programs_are_those_of_sorted_tuples(nodes, edges, relations, rows, tile):
    """Those of benchmarks, in NumPy: they are also made where no Drawloom is."""
    rng = numpy.random.default_rng(edges)
    source, target, relation = (rng.integers(0, count, edges) for count in (nodes, nodes, relations))
    found = inputs.graph_orders(source, target, relation, nodes, relations, rows, tile)
    for array, wanted in zip(found, orders(source, target, relation, nodes, nodes, rows, tile)):
        numpy.testing.assert_array_equal(array, wanted)


def test_a_near_node_may_have_no_bits():
    """One target, and 64 bits for all else of an edge; two targets make it 65."""
    rng, count, edges = numpy.random.default_rng(0), 1 << 22, 1 << 20
    source, relation = rng.integers(0, count, (2, edges))
    one, two = (_drawloom.build_graph(source, numpy.zeros(edges, int), relation, count, targets, count, count, 1) for targets in (1, 2))
    for i, (first, second) in enumerate(zip(one, two, strict=True)):
        # Where the pairs of a node begin: the second one has none.
        numpy.testing.assert_array_equal(first, second[:2] if i == 0 else second)


def test_edges_keep_their_places():
    graph = drawloom.Graph([2, 0, 1, 0], [1, 0, 1, 0], num_src=3)
    rows = torch.arange(4.0)
    assert torch.equal(graph.given(graph.sorted(rows)), rows)


def test_the_order_of_edges_changes_no_array():
    rng = numpy.random.default_rng(0)
    edges = rng.integers(0, 9, (3, 50))
    shuffled = edges[:, rng.permutation(50)]
    first, second = (drawloom.Graph(*one, num_src=9, num_relations=9) for one in (edges, shuffled))
    assert all(torch.equal(a, b) for a, b in zip(first.arrays, second.arrays))


def test_rows_of_targets_give_the_same_graph():
    source, target = numpy.array([3, 1, 2, 0]), numpy.array([0, 0, 2, 2])
    by_rows = drawloom.Graph.from_csr([0, 2, 2, 4, 4], source, num_src=4)
    assert all(torch.equal(a, b) for a, b in zip(by_rows.arrays, drawloom.Graph(source, target, num_src=4).arrays))


@pytest.mark.parametrize("arguments, options, message", [
    (([0, 4], [0, 1]), {"num_src": 4}, "source 4 of edge 1 is out of range: there are 4 sources"),
    (([0, 1], [0, -2]), {"num_src": 4}, "target -2 of edge 1 is out of range: there are 4 targets"),
    (([0, 1], [0, 1], [0, 3]), {"num_src": 4, "num_relations": 3}, "relation 3 of edge 1 is out of range: there are 3 relations"),
    (([0, 1], [0]), {}, "there are 2 sources, but 1 entries of target"),
    (([0.0, 1.0], [0, 1]), {}, "source is float64; indices are int32 or int64"),
    (([[0, 1]], [0, 1]), {}, "source has the shape [1, 2]; it has one entry for each edge; edges are two lists"),
    ((numpy.array([0, 1], "uint8"), [0, 1]), {}, "source is uint8"),
])
def test_wrong_indices_are_refused_by_the_entry(arguments, options, message):
    with pytest.raises(drawloom.graph.CallError) as error:
        drawloom.Graph(*arguments, **options)
    assert message in str(error.value)


def test_rows_that_go_back_are_refused_by_the_entry():
    with pytest.raises(drawloom.graph.CallError, match="entry 2 is less than the one before"):
        drawloom.Graph.from_csr([0, 2, 1, 2], [0, 0])


@pytest.mark.parametrize("indptr", [[1, 2], [0, 3], [0, 2, 1, 2], []])
def test_rows_that_go_back_are_refused(indptr):
    with pytest.raises(drawloom.graph.CallError, match="indptr does not go from 0 to 2"):
        drawloom.Graph.from_csr(numpy.array(indptr, int), [0, 0])


def test_random_indices_are_sorted_or_refused():
    rng = numpy.random.default_rng(5)
    refused = 0
    for _ in range(2000):
        edges = int(rng.integers(0, 8))
        lists = [rng.integers(-1 if rng.random() < 0.05 else 0, 5, edges) for _ in range(3)]
        wrong = any((one < 0).any() for one in lists) or (lists[0] > 3).any() or (lists[1] > 4).any() or (lists[2] > 3).any()
        try:
            built = _drawloom.build_graph(*lists, 4, 5, 4, 2, 2)
        except drawloom.graph.CallError as error:
            assert wrong and "of edge" in str(error)
            refused += 1
            continue
        assert not wrong
        for array, wanted in zip(built, orders(*lists, 4, 5, 2, 2), strict=True):
            numpy.testing.assert_array_equal(array, wanted)
    assert 200 < refused < 1900
