# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs in JAX, beside the same with segment sums."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import drawloom  # noqa: E402
from drawloom.jax import rgnn  # noqa: E402
from support.graph_references import assert_accurate  # noqa: E402

NODES, EDGES, RELATIONS = 12, 60, 3
random = np.random.default_rng(0)
# Node 11 has no edges.
SOURCE, TARGET = random.integers(0, NODES - 1, (2, EDGES))
RELATION = random.integers(0, RELATIONS, EDGES)
GRAPH = rgnn.Graph(SOURCE, TARGET, RELATION, num_src=NODES, num_relations=RELATIONS)


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def arrays(*shapes):
    return [jnp.asarray(random.standard_normal(shape)) for shape in shapes]


def assert_close(found, wanted):
    assert_accurate(jax.tree.leaves(found), jax.tree.leaves(wanted), "float64")


def softmax(score):
    top = jax.ops.segment_max(score, TARGET, NODES)
    weight = jnp.exp(score - top[TARGET])
    return weight / jax.ops.segment_sum(weight, TARGET, NODES)[TARGET]


def assert_same(layer, reference, *given):
    """Values and all gradients, also compiled by JAX."""
    def of(function):
        return jax.value_and_grad(lambda *given: jnp.tanh(function(*given)).sum(), tuple(range(len(given))))

    wanted = of(reference)(*given)
    assert_close(of(layer)(*given), wanted)
    assert_close(jax.jit(of(layer))(*given), wanted)


def test_rows_of_every_space():
    def edge(src, dst, edge, rel, all):
        return (src * dst).tanh() * edge + rel * all

    def layer(x, y, e, r, a):
        return rgnn.message_passing(GRAPH, edge, src=x, dst=y, edge=e, rel=r, all=a)

    def reference(x, y, e, r, a):
        return jax.ops.segment_sum(jnp.tanh(x[SOURCE] * y[TARGET]) * e[:, None] + r[RELATION] * a, TARGET, NODES)

    assert_same(layer, reference, *arrays((NODES, 4), (NODES, 4), (EDGES,), (RELATIONS, 4), (4,)))


def test_what_each_edge_says_is_in_the_order_given():
    x, = arrays((NODES, 4))
    found = rgnn.message_passing(GRAPH, lambda src, dst: src - dst, src=x, dst=x, to="edge")
    np.testing.assert_array_equal(found, x[SOURCE] - x[TARGET])


def test_a_softmax():
    assert_same(lambda q, k, v: rgnn.message_passing(GRAPH, lambda src, dst: (src["k"].dot(dst), src["v"]), src={"k": k, "v": v}, dst=q,
                                                     combine="softmax"),
                lambda q, k, v: jax.ops.segment_sum(softmax((k[SOURCE] * q[TARGET]).sum(-1))[:, None] * v[SOURCE], TARGET, NODES),
                *arrays((NODES, 4), (NODES, 4), (NODES, 5)))


@pytest.mark.parametrize("aggr", ["mean", "sum"])
def test_rgcn(aggr):
    def reference(x, w, root, bias):
        pair = TARGET * RELATIONS + RELATION
        rows = jax.ops.segment_sum(x[SOURCE], pair, NODES * RELATIONS)
        if aggr == "mean":
            rows = rows / np.maximum(np.bincount(pair, minlength=NODES * RELATIONS), 1)[:, None]
        return jnp.einsum("nrd,rdo->no", rows.reshape(NODES, RELATIONS, -1), w) + x @ root + bias

    assert_same(lambda *given: rgnn.rgcn(GRAPH, *given, aggr=aggr), reference, *arrays((NODES, 4), (RELATIONS, 4, 3), (4, 3), (3,)))


def test_attention():
    def gat(z, s, t):
        return jax.ops.segment_sum(softmax(jax.nn.leaky_relu(s[SOURCE] + t[TARGET], 0.2))[..., None] * z[SOURCE], TARGET, NODES)

    def gatv2(left, right, a):
        score = (jax.nn.leaky_relu(left[SOURCE] + right[TARGET], 0.2) * a).sum(-1)
        return jax.ops.segment_sum(softmax(score)[..., None] * left[SOURCE], TARGET, NODES)

    def hgt(k, q, v, k_rel, v_rel, scale):
        keys, values = (jnp.einsum("ehd,ehdo->eho", one[SOURCE], w[RELATION]) for one, w in ((k, k_rel), (v, v_rel)))
        return jax.ops.segment_sum(softmax((keys * q[TARGET]).sum(-1) * scale[RELATION])[..., None] * values, TARGET, NODES)

    rows, square = (NODES, 2, 3), (RELATIONS, 2, 3, 3)
    assert_same(lambda *given: rgnn.gat(GRAPH, *given), gat, *arrays(rows, (NODES, 2), (NODES, 2)))
    assert_same(lambda *given: rgnn.gatv2(GRAPH, *given), gatv2, *arrays(rows, rows, (2, 3)))
    assert_same(lambda *given: rgnn.hgt(GRAPH, *given), hgt, *arrays(rows, rows, rows, square, square, (RELATIONS, 2)))


def test_derivatives_of_second_order_in_both_modes():
    x, = arrays((NODES, 3))
    check_grads(lambda x: rgnn.message_passing(GRAPH, lambda src, dst: (src * dst).tanh(), src=x, dst=x), (x,), order=2)


def test_a_graph_is_an_argument_and_graphs_of_any_size_share_a_program():
    @jax.jit
    def layer(graph, x, w):
        return rgnn.rgcn(graph, x, w)

    w, = arrays((RELATIONS, 4, 3))
    before = drawloom.cache.statistics().compiled
    for nodes, count in ((10, 12), (13, 17), (2000, 2500), (3, 0)):
        source, target = random.integers(0, nodes, (2, count))
        relation = random.integers(0, RELATIONS, count)
        graph, (x,) = rgnn.Graph(source, target, relation, num_src=nodes, num_relations=RELATIONS), arrays((nodes, 4))
        pair = target * RELATIONS + relation
        rows = jax.ops.segment_sum(x[source], pair, nodes * RELATIONS) / np.maximum(np.bincount(pair, minlength=nodes * RELATIONS), 1)[:, None]
        assert_close(layer(graph, x, w), jnp.einsum("nrd,rdo->no", rows.reshape(nodes, RELATIONS, -1), w))
    assert drawloom.cache.statistics().compiled - before == 1


def test_graphs_of_jraph():
    jraph = pytest.importorskip("jraph")
    one = jraph.GraphsTuple(nodes=None, edges=None, senders=jnp.array([0, 1]), receivers=jnp.array([1, 1]), globals=None,
                            n_node=jnp.array([2]), n_edge=jnp.array([2]))
    graph = rgnn.Graph.from_jraph(jraph.batch([one, one]))
    found = rgnn.message_passing(graph, lambda src: src, src=jnp.arange(1.0, 5.0)[:, None])
    np.testing.assert_array_equal(found[:, 0], [0, 3, 0, 7])


def refused(words, error=drawloom.CallError):
    return pytest.raises(error, match=words)


def test_errors_name_the_argument_and_what_would_fit():
    x, w, z, s, a = arrays((NODES, 4), (RELATIONS, 4, 3), (NODES, 2, 3), (NODES, 2), (2, 3))
    m, = arrays((RELATIONS, 2, 3, 3))
    with refused(r"rows at src have the shape \[11, 4\]; the graph has 12 rows at src"):
        rgnn.message_passing(GRAPH, lambda src: src, src=x[:11])
    with refused(r"rows of edges have the shape \[12, 4\]; the graph has 60 edges"):
        rgnn.message_passing(GRAPH, lambda edge: edge, edge=x)
    with refused("rgcn: graph is tuple", TypeError):
        rgnn.rgcn((SOURCE, TARGET), x, w)
    with refused("rgcn: x is NoneType; it is an array", TypeError):
        rgnn.rgcn(GRAPH, None, w)
    with refused("aggr is 'median'"):
        rgnn.rgcn(GRAPH, x, w, aggr="median")
    with refused(r"rgcn: weight has the shape \[2, 4, 3\]; it is \[relations, in, out\], where relations is 3, in is 4"):
        rgnn.rgcn(GRAPH, x, w[:2])
    with refused(r"rgcn: x has the shape \[12\]"):
        rgnn.rgcn(GRAPH, x[:, 0], w)
    with refused(r"rgcn: root has the shape \[3, 4\]; it is \[in, out\]"):
        rgnn.rgcn(GRAPH, x, w, x[:3])
    with refused(r"rgcn: bias has the shape \[4\]"):
        rgnn.rgcn(GRAPH, x, w, bias=x[0])
    with refused("rgcn: weight is float32, but the others are float64", TypeError):
        rgnn.rgcn(GRAPH, x, w.astype("float32"))
    with refused("gat: target is NoneType", TypeError):
        rgnn.gat(GRAPH, z, s, None)
    with refused(r"gat: source has the shape \[12, 1\]; it is \[sources, heads\], where sources is 12, heads is 2"):
        rgnn.gat(GRAPH, z, s[:, :1], s)
    with refused(r"gat: z has the shape \[12, 4\]"):
        rgnn.gat(GRAPH, x, s, s)
    with refused(r"gatv2: attention has the shape \[3\]"):
        rgnn.gatv2(GRAPH, z, z, a[0])
    with refused(r"hgt: k_rel has the shape \[3, 1, 3, 3\]"):
        rgnn.hgt(GRAPH, z, z, z, m[:, :1], m, arrays((RELATIONS, 2))[0])
    with refused("slope is 'steep'", TypeError):
        rgnn.gat(GRAPH, z, s, s, slope="steep")
    rgnn.gat(GRAPH, z, s, s, slope=jnp.float32(0.2))


def test_a_graph_is_not_built_while_jax_traces():
    with refused("a Graph is built outside of jit, grad and vmap"):
        jax.jit(lambda source: rgnn.Graph(source, source).arrays)(jnp.array([0, 1]))


def test_indices_out_of_range_are_refused():
    with refused("target -1 of edge 0 is out of range"):
        rgnn.Graph(np.array([0]), np.array([-1]), num_src=3)
