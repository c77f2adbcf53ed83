# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs with relations: message passing that is fused, differentiated to any order and deterministic, without scatters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Union

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from .._errors import CallError, CallTypeError
from ..ops import graph_models
from ..ops.graphs import BaseGraph
from ..ops.message_passing import Edge, check_combiner, input_type, named_rows, spec_of, where
from ._call import call

__all__ = ["Graph", "gat", "gatv2", "hgt", "message_passing", "rgcn", "where"]


@jax.tree_util.register_pytree_node_class
class Graph(BaseGraph):
    __doc__ = (BaseGraph.__doc__ or "") + """
    It is a pytree: an argument of functions under jit, which are traced again where its numbers of nodes, pairs or edges are others.
    Its leaves are index arrays that compiled code trusts: they stay as they were built.
    """

    @staticmethod
    def _numpy(given: Any) -> Any:
        if isinstance(given, jax.core.Tracer):
            raise CallError("Graph: indices are traced by JAX; a Graph is built outside of jit, grad and vmap, and is an argument there")
        return np.asarray(given)

    @staticmethod
    def _array(array: Any) -> Any:
        # On the CPU, wherever other arrays are.
        return jax.device_put(array, jax.devices("cpu")[0])

    def __init__(self, source: Any, target: Any, edge_type: Any = None, *, num_src: int | None = None, num_dst: int | None = None,
                 num_relations: int | None = None) -> None:
        super().__init__(source, target, edge_type, num_src=num_src, num_dst=num_dst, num_relations=num_relations)
        order = np.asarray(self._order)
        places = np.empty_like(order)
        places[order] = np.arange(order.size, dtype=order.dtype)
        self._places = self._array(places)

    def sorted(self, edges: ArrayLike) -> Array:
        """Rows of the edges as they were given, in the graph's own order: by target, relation, source."""
        edges = jnp.asarray(edges)
        self._check_edges(edges)
        return jnp.take(edges, self._order, axis=0)

    def given(self, edges: ArrayLike) -> Array:
        """The opposite of `sorted`."""
        return jnp.take(jnp.asarray(edges), self._places, axis=0)

    def tree_flatten(self) -> tuple:
        known = {name: value for name, value in self.__dict__.items() if name not in ("arrays", "_order", "_places")}
        known["_extents"] = tuple(known["_extents"].items())
        return (self.arrays, self._order, self._places), tuple(known.items())

    @classmethod
    def tree_unflatten(cls, known: tuple, arrays: tuple) -> Graph:
        made = object.__new__(cls)
        made.arrays, made._order, made._places = arrays
        made.__dict__.update(known)
        made._extents = dict(made._extents)
        return made


_spec = functools.lru_cache(maxsize=4096)(spec_of)


def _run(spec, graph, build, arrays, options=()):
    """The results of a program on a graph. `arrays` are pairs of an array, or None, and its space."""
    graph._check_rows(arrays)
    inputs = tuple(None if one is None else input_type(str(np.dtype(one.dtype)), tuple(one.shape), space) for one, space in arrays)
    return call(spec(build, options, inputs, graph._kind), *[one for one, _ in arrays if one is not None], *graph.arrays)


def _check_graph(name, graph):
    if not isinstance(graph, Graph):
        raise CallTypeError(f"{name}: graph is {type(graph).__name__}; it is a drawloom.jax.rgnn.Graph")


class _Arguments:
    """The arrays of a call of `name` on a graph, checked: extents of one letter are one number."""

    def __init__(self, name, graph):
        _check_graph(name, graph)
        self.name, self.graph, self.dtype = name, graph, None
        self.extents = {"sources": graph.num_src, "targets": graph.num_dst, "relations": graph.num_relations}

    def take(self, name, value, *shape):
        try:
            array = jnp.asarray(value)
        except (TypeError, ValueError):
            raise CallTypeError(f"{self.name}: {name} is {type(value).__name__}; it is an array") from None
        wanted = [self.extents.get(one, one) for one in shape]
        fits = array.ndim == len(shape) and all(isinstance(one, str) or one == extent for one, extent in zip(wanted, array.shape))
        if not fits:
            names = ", ".join(str(one) for one in shape)
            known = ", ".join(f"{one} is {self.extents[one]}" for one in dict.fromkeys(shape) if one in self.extents)
            raise CallError(f"{self.name}: {name} has the shape {list(array.shape)}; it is [{names}]{f', where {known}' if known else ''}")
        # To NumPy None is a name of float64.
        if self.dtype is not None and self.dtype != array.dtype:
            raise CallTypeError(f"{self.name}: {name} is {array.dtype}, but the others are {self.dtype}")
        self.dtype = array.dtype
        self.extents.update(zip(shape, array.shape))
        return array


def _number(name, what, value):
    try:
        return float(value)
    except (TypeError, ValueError):
        raise CallTypeError(f"{name}: {what} is {value!r}; it is a number that is known when the function is traced") from None


Rows = Union[ArrayLike, Mapping[str, ArrayLike], None]


def message_passing(graph: Graph, function: Callable, *, src: Rows = None, dst: Rows = None, edge: Rows = None, rel: Rows = None,
                    all: Rows = None, combine: str | None = None, to: str = "dst") -> Array:
    """What `function` says of each edge, combined at its target.

    src, dst   rows of sources and targets: an array [N, ...], or a dictionary of them
    edge, rel  rows of edges, as they were given to the graph, and of relations
    all        arrays that all edges read whole
    function   takes the rows of one edge by the names above, and gives what the edge says. It is traced by Drawloom, not by JAX: rows have
               arithmetic with NumPy's rules for shapes, `exp`, `tanh`, `relu`, `sum`, `max`, `dot`, `reshape` and the like, and `where`
    combine    "sum" (where nothing is said), "mean", "max" or "min"; targets without edges get zeros. With "softmax" the function gives
               (score, value): values are weighted by the softmax of the scores over the edges of a target
    to         "dst", or "edge": what each edge says, in the order of the edges that were given

        y = message_passing(graph, lambda src, edge: edge * src, src=x, edge=w)
    """
    _check_graph("message_passing", graph)
    combine = check_combiner(combine, to)
    names, arrays = [], []
    for space, name, array in named_rows(src=src, dst=dst, edge=edge, rel=rel, all=all):
        names.append((space, name))
        arrays.append((graph.sorted(array) if space == "edge" else jnp.asarray(array), space))
    # Functions are traced each time: what a lambda refers to may have changed.
    known = Edge(function, tuple(names), combine, to)
    result = _run(spec_of, graph, known.build, arrays)[0]
    return graph.given(result) if to == "edge" else result


def rgcn(graph: Graph, x: ArrayLike, weight: ArrayLike, root: ArrayLike | None = None, bias: ArrayLike | None = None,
         aggr: str = "mean") -> Array:
    """Relational graph convolution (arXiv 1703.06103):

        y_v = x_v root + bias + sum over relations r of (the mean, or `aggr`, over the edges (u -> v, r) of x_u) W_r

    x [N, in], weight [relations, in, out], root [in, out], bias [out]; aggr is "sum", "mean", "max" or "min".
    """
    if aggr not in ("sum", "mean", "max", "min"):
        raise CallError(f"rgcn: aggr is {aggr!r}; it is 'sum', 'mean', 'max' or 'min'")
    given = _Arguments("rgcn", graph)
    x, weight = given.take("x", x, "sources", "in"), given.take("weight", weight, "relations", "in", "out")
    right = None
    if root is not None:
        root, right = given.take("root", root, "in", "out"), given.take("x", x, "targets", "in")
    bias = None if bias is None else given.take("bias", bias, "out")
    return _run(_spec, graph, graph_models.rgcn, [(x, "src"), (weight, "all"), (right, "dst"), (root, "all"), (bias, "all"), (None, "edge")],
                (aggr,))[0]


def gat(graph: Graph, z: ArrayLike, source: ArrayLike, target: ArrayLike, slope: float = 0.2) -> Array:
    """Graph attention (arXiv 1710.10903): rows z [N, heads, C] weighted, over the edges u -> v of a target, by the softmax of
    leaky_relu(source_u + target_v), scores [N, heads]."""
    given = _Arguments("gat", graph)
    z = given.take("z", z, "sources", "heads", "C")
    source, target = given.take("source", source, "sources", "heads"), given.take("target", target, "targets", "heads")
    return _run(_spec, graph, graph_models.gat_of_scores, [(z, "src"), (source, "src"), (target, "dst")], (_number("gat", "slope", slope),))[0]


def gatv2(graph: Graph, left: ArrayLike, right: ArrayLike, attention: ArrayLike, slope: float = 0.2) -> Array:
    """GATv2 (arXiv 2105.14491): rows left [N, heads, C] of sources weighted by the softmax of attention . leaky_relu(left_u + right_v);
    attention [heads, C]."""
    given = _Arguments("gatv2", graph)
    left, right = given.take("left", left, "sources", "heads", "C"), given.take("right", right, "targets", "heads", "C")
    attention = given.take("attention", attention, "heads", "C")
    return _run(_spec, graph, graph_models.gatv2, [(left, "src"), (right, "dst"), (attention, "all"), (None, "edge"), (None, "edge")],
                (_number("gatv2", "slope", slope), False))[0]


def hgt(graph: Graph, k: ArrayLike, q: ArrayLike, v: ArrayLike, k_rel: ArrayLike, v_rel: ArrayLike, scale: ArrayLike) -> Array:
    """Heterogeneous graph transformer (arXiv 2003.01332): values v_u V_r weighted by the softmax of (q_v . k_u K_r) scale_r.

    k, q, v [N, heads, D]; k_rel, v_rel [relations, heads, D, D]; scale [relations, heads]."""
    given = _Arguments("hgt", graph)
    k, q = given.take("k", k, "sources", "heads", "D"), given.take("q", q, "targets", "heads", "D")
    v, scale = given.take("v", v, "sources", "heads", "D"), given.take("scale", scale, "relations", "heads")
    k_rel, v_rel = (given.take(name, one, "relations", "heads", "D", "D") for name, one in (("k_rel", k_rel), ("v_rel", v_rel)))
    return _run(_spec, graph, graph_models.hgt, [(k, "src"), (q, "dst"), (v, "src"), (k_rel, "all"), (v_rel, "all"), (scale, "rel")])[0]
