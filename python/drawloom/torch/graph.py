# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs, and message passing on them."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Union

import numpy
import torch
from torch import Tensor

from .. import _drawloom
from .._errors import CallError, CallTypeError
from ..ops import Spec
from ..ops.message_passing import Edge, Program, edges_per_pair, extents, where
from . import _dispatch

__all__ = ["Graph", "message_passing", "where"]

ROWS_PER_BLOCK, TILE_ROWS = 1024, 16


def _numpy(tensor):
    """The tensor's numbers, also within a transform of torch.func."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        if torch._C._functorch.is_batchedtensor(tensor):
            raise CallError("Graph: indices differ from example to example of torch.vmap; a graph is one for all")
        tensor = torch._C._functorch.get_unwrapped(tensor)
    if tensor.device.type != "cpu":
        raise CallError(f"Graph: indices are on {tensor.device.type}; they are in main memory")
    with torch._C._DisableFuncTorch():
        return tensor.numpy()


def _torch(array):
    """A tensor that also autograd takes, whatever mode this is called in."""
    with torch.inference_mode(False), torch._C._DisableFuncTorch():
        return torch.from_numpy(array)


def _indices(name, given):
    """One list of edges' indices as a dense array."""
    array = _numpy(given) if isinstance(given, Tensor) else numpy.asarray(given)
    if array.size == 0 and not isinstance(given, Tensor):
        array = array.astype(numpy.int64)
    if array.dtype not in (numpy.int32, numpy.int64):
        raise CallTypeError(f"Graph: {name} is {array.dtype}; indices are int32 or int64")
    if array.ndim != 1:
        hint = "; edges are two lists, as edge_index[0] and edge_index[1]" if array.ndim == 2 else ""
        raise CallError(f"Graph: {name} has the shape {list(array.shape)}; it has one entry for each edge{hint}")
    return array


class Graph:
    """Edges from sources to targets, each with a relation, sorted for both of their ends.

    source, target  [E], int32 or int64: the nodes that each edge goes from and to
    edge_type       [E], or None where there is one relation
    num_src, num_dst, num_relations: how many there are; by default as many as occur. Sources and targets are the same nodes where
                    only num_src is given.

    It is built once, and shared by layers, heads and their gradients. Indices out of range are refused, by the first edge that has one.
    Edges may occur more than once, and nodes and relations have none.
    """

    def __init__(self, source: Any, target: Any, edge_type: Any = None, *, num_src: int | None = None, num_dst: int | None = None,
                 num_relations: int | None = None) -> None:
        source, target = _indices("source", source), _indices("target", target)
        relation = None if edge_type is None else _indices("edge_type", edge_type)
        for name, one in (("target", target), ("edge_type", relation)):
            if one is not None and one.shape != source.shape:
                raise CallError(f"Graph: there are {source.shape[0]} sources, but {one.shape[0]} entries of {name}; each edge has one")

        def count(array):
            return int(array.max()) + 1 if array.size else 0

        if num_src is None:
            num_src = count(source) if num_dst is not None else max(count(source), count(target))
        if num_dst is None:
            num_dst = num_src
        if num_relations is None:
            num_relations = 1 if relation is None else max(count(relation), 1)
        lists = [source, target] + ([] if relation is None else [relation])
        wide = any(one.dtype == numpy.int64 for one in lists)
        lists = [numpy.ascontiguousarray(one, numpy.int64 if wide else numpy.int32) for one in lists]
        *arrays, given = _drawloom.build_graph(lists[0], lists[1], lists[2] if len(lists) > 2 else None, num_src, num_dst, num_relations,
                                               ROWS_PER_BLOCK, TILE_ROWS)
        self.arrays = [_torch(one) for one in arrays]
        self.num_src, self.num_dst, self.num_relations, self.num_edges = num_src, num_dst, num_relations, source.shape[0]
        self._order = _torch(given)
        self._extents = extents([one.shape for one in arrays], num_relations)
        # What its programs are made for.
        self._kind = num_relations, ROWS_PER_BLOCK, edges_per_pair([one.shape for one in arrays])

    def __repr__(self):
        nodes = f"{self.num_src} sources, {self.num_dst} targets"
        return f"Graph({nodes}, {self.num_edges} edges, {self.num_relations} relations)"

    @staticmethod
    def from_csr(indptr: Any, indices: Any, edge_type: Any = None, *, num_src: int | None = None,
                 num_relations: int | None = None) -> Graph:
        """From the incoming edges of each target: those of v come from indices[indptr[v]:indptr[v + 1]]."""
        starts, source = _indices("indptr", indptr), _indices("indices", indices)
        lengths = numpy.diff(starts)
        ends_well = starts.size > 0 and starts[0] == 0 and starts[-1] == source.size
        if not ends_well or (lengths < 0).any():
            back = f": entry {int((lengths < 0).argmax()) + 1} is less than the one before" if ends_well else ""
            raise CallError(f"Graph.from_csr: indptr does not go from 0 to {source.size}, the number of indices, without going back{back}")
        target: numpy.ndarray = numpy.repeat(numpy.arange(lengths.size, dtype=source.dtype), lengths)
        return Graph(source, target, edge_type, num_src=lengths.size if num_src is None else num_src, num_dst=lengths.size,
                     num_relations=num_relations)

    @staticmethod
    def from_pyg(data: Any, *, num_relations: int | None = None) -> Graph:
        """From torch_geometric's Data, with its edge_type where it has one, or HeteroData.

        Nodes of HeteroData follow each other in the order of `node_types`, edges in that of `edge_types`, whose number is an edge's
        relation: as `to_homogeneous()` numbers them. As a transform of a loader, `lambda batch: setattr(batch, "graph",
        Graph.from_pyg(batch)) or batch`, it is built where the loader's workers are; layers take it in place of edge_index.
        """
        if hasattr(data, "edge_types"):
            nodes = [(kind, data[kind].num_nodes) for kind in data.node_types]
            return Graph._of_types(nodes, [(kind, _indices_of(data[kind].edge_index)) for kind in data.edge_types], num_relations)
        if getattr(data, "edge_index", None) is None:
            raise CallError(f"Graph.from_pyg: {type(data).__name__} has no edge_index")
        source, target = _indices_of(data.edge_index)
        return Graph(source, target, getattr(data, "edge_type", None), num_src=data.num_nodes, num_relations=num_relations)

    @staticmethod
    def from_dgl(graph: Any, edge_type: Any = None, *, num_relations: int | None = None) -> Graph:
        """From a DGLGraph, or a DGL block, whose sources and targets are different nodes. Nodes of several types follow each other in the
        order of `ntypes`, edges in that of `canonical_etypes`, whose number is an edge's relation."""
        def ends(kind):
            return numpy.stack([_numpy(one) for one in graph.edges(form="uv", order="eid", etype=kind)])

        kinds = list(graph.canonical_etypes)
        if getattr(graph, "is_block", False):
            if len(kinds) != 1:
                raise CallError("Graph.from_dgl: a block has edges of one type here")
            source, target = ends(kinds[0])
            return Graph(source, target, edge_type, num_src=graph.num_src_nodes(), num_dst=graph.num_dst_nodes(),
                         num_relations=num_relations)
        if len(kinds) == 1 and len(graph.ntypes) == 1:
            source, target = ends(kinds[0])
            return Graph(source, target, edge_type, num_src=graph.num_nodes(), num_relations=num_relations)
        if edge_type is not None:
            raise CallError("Graph.from_dgl: edges of several types have these for relations; edge_type is for graphs of one type")
        return Graph._of_types([(kind, graph.num_nodes(kind)) for kind in graph.ntypes], [(kind, ends(kind)) for kind in kinds],
                               num_relations)

    @staticmethod
    def from_jraph(graphs: Any, edge_type: Any = None, *, num_relations: int | None = None) -> Graph:
        """From jraph's GraphsTuple, all its graphs as one."""
        nodes = int(numpy.sum(numpy.asarray(graphs.n_node)))
        return Graph(numpy.asarray(graphs.senders), numpy.asarray(graphs.receivers), edge_type, num_src=nodes, num_relations=num_relations)

    @staticmethod
    def _of_types(nodes, edges, num_relations):
        """Of (type, number of nodes), and of ((source type, ..., target type), edge_index [2, E])."""
        starts = dict(zip((kind for kind, _ in nodes), itertools.accumulate((count for _, count in nodes), initial=0)))
        ends = [index + numpy.array([[starts[kind[0]]], [starts[kind[-1]]]]) for kind, index in edges]
        relation = numpy.repeat(numpy.arange(len(edges)), [one.shape[1] for one in ends])
        source, target = numpy.concatenate([*ends, numpy.empty((2, 0), numpy.int64)], axis=1).astype(numpy.int64)
        return Graph(source, target, relation, num_src=sum(count for _, count in nodes),
                     num_relations=max(len(edges), 1) if num_relations is None else num_relations)

    def rows(self, space: str) -> int:
        """How many rows a tensor has at "src", "dst", "src_rel", "dst_rel", "edge" or "rel"."""
        return self._extents[space]

    def sorted(self, edges: Tensor) -> Tensor:
        """Rows of the edges as they were given, in the graph's own order: by target, relation, source."""
        if edges.dim() < 1 or edges.shape[0] != self.num_edges:
            raise CallError(f"rows of edges have the shape {list(edges.shape)}; the graph has {self.num_edges} edges")
        return edges.index_select(0, self._order)

    def given(self, edges: Tensor) -> Tensor:
        """The opposite of `sorted`."""
        return edges.index_select(0, self._places)

    @functools.cached_property
    def _places(self):
        order = _numpy(self._order)
        places = numpy.empty_like(order)
        places[order] = numpy.arange(self.num_edges, dtype=places.dtype)
        return _torch(places)

    @functools.cached_property
    def source_pairs(self) -> tuple[Tensor, Tensor]:
        """(node, relation) of each pair of a source, int64."""
        starts, relation = _numpy(self.arrays[9]), _numpy(self.arrays[10])
        return _torch(numpy.repeat(numpy.arange(self.num_src), numpy.diff(starts))), _torch(relation.astype(numpy.int64))

    @functools.cached_property
    def degrees(self) -> Tensor:
        """How many edges come to each target."""
        return _torch(numpy.diff(_numpy(self.arrays[2])[_numpy(self.arrays[0])]))

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name not in ("_places", "source_pairs", "degrees")}


class Edges:
    """A graph, and the edges that it was made of."""

    def __init__(self, graph, edge_index, kept=None, loops=0, count=0):
        self.graph, self.edge_index, self.count = graph, edge_index, count
        # Of edges with self-loops: those that are none, and how many were added.
        self.kept, self.loops = kept, loops

    def with_loops(self, edge_attr, fill):
        """Rows of edges, where those of self-loops are added: `fill` is a number, a row, or how rows of a target's edges become one."""
        if edge_attr.dim() < 1 or edge_attr.shape[0] != self.count:
            raise CallError(f"edge_attr has the shape {list(edge_attr.shape)}; there are {self.count} edges")
        edge_attr = edge_attr[self.kept]
        if isinstance(fill, str):
            target = self.edge_index[1][:edge_attr.shape[0]]
            index = target.view(-1, *[1] * (edge_attr.dim() - 1)).expand_as(edge_attr)
            reduce = {"add": "sum", "sum": "sum", "mean": "mean", "max": "amax", "min": "amin", "mul": "prod"}.get(fill)
            if reduce is None:
                raise CallError(f"fill_value is '{fill}'; it is a number, a tensor, 'add', 'mean', 'max', 'min' or 'mul'")
            rows = edge_attr.new_zeros(self.loops, *edge_attr.shape[1:])
            inside = target < self.loops
            rows = rows.scatter_reduce(0, index[inside], edge_attr[inside], reduce, include_self=False)
        elif isinstance(fill, Tensor):
            rows = fill.to(edge_attr.dtype).expand(self.loops, *edge_attr.shape[1:])
        else:
            rows = edge_attr.new_full((self.loops, *edge_attr.shape[1:]), fill)
        return torch.cat([edge_attr, rows])

    @staticmethod
    def of_types(edge_index_dict, numbers, starts, total, flow="source_to_target"):
        """One graph of the edges of all types, among `total` nodes; `starts` by type of node, `numbers` by type of edge."""
        if flow != "source_to_target":
            raise CallError("edges of several types flow from source to target")
        lists = tuple((tuple(kind), edge_index) for kind, edge_index in edge_index_dict.items())
        for kind, edge_index in lists:
            if kind not in numbers:
                raise CallError(f"there is no type of edge {kind}; there are {', '.join(map(str, numbers))}")
            if kind[0] not in starts or kind[-1] not in starts:
                raise CallError(f"edges of {kind} have an end of which there are no nodes")
        key = "types", tuple(kind for kind, _ in lists), tuple(starts.items()), total
        holder = lists[0][1] if lists else torch.empty(2, 0, dtype=torch.long)

        def make():
            parts = [(kind, _indices_of(index)) for kind, index in lists] or [(None, numpy.empty((2, 0), numpy.int64))]
            source = numpy.concatenate([index[0] + starts.get(kind and kind[0], 0) for kind, index in parts])
            target = numpy.concatenate([index[1] + starts.get(kind and kind[-1], 0) for kind, index in parts])
            relation = numpy.concatenate([numpy.full(index.shape[1], numbers.get(kind, 0)) for kind, index in parts])
            return Edges(Graph(source, target, relation, num_src=total, num_relations=max(len(numbers), 1)), None)

        return _kept(holder, key, tuple(index for _, index in lists), make)


def _indices_of(edge_index):
    """[2, E] as numbers."""
    array = _numpy(edge_index)
    if array.ndim != 2 or array.shape[0] != 2:
        raise CallError(f"edge_index has the shape {list(array.shape)}; it is [2, E], sources and targets")
    return array


# By the identity of a tensor: a weak reference to it, and the graphs made of it.
_graphs: dict[int, tuple] = {}


def _kept(holder, key, tensors, make):
    """What `make` gives, once for tensors as they are: kept as long as `holder`, and made again where one of them has changed."""
    if any(tensor.is_inference() for tensor in tensors):
        # Nothing tells whether they have changed.
        return make()
    number = id(holder)
    if number not in _graphs or _graphs[number][0]() is not holder:
        _graphs[number] = weakref.ref(holder, lambda _: _graphs.pop(number, None)), {}
    found = _graphs[number][1]
    now = tuple((id(tensor), tensor._version) for tensor in tensors)
    known = found.get(key)
    # Tensors are kept alive: another one may not take a dead one's identity.
    if known is None or known[0] != now:
        known = found[key] = now, make(), [tensor for tensor in tensors if tensor is not holder]
    return known[1]


def graph_of(edge_index: Any, edge_type: Tensor | None, size: tuple[int, int], num_relations: int, *, loops: bool = False,
             flow: str = "source_to_target") -> Edges:
    """The graph of torch_geometric's edge_index [2, E] and edge_type [E], or a Graph as it is. It is built once, and again where the
    tensors were changed in place. With `loops` self-loops are taken away, and one is added to each node that is both a source and a
    target."""
    if isinstance(edge_index, Graph):
        if flow != "source_to_target":
            raise CallError("a Graph flows from source to target; give a layer of the other flow an edge_index")
        if loops:
            raise CallError("self-loops are added to lists of edges, not to a Graph: add them before it is built, and say "
                            "add_self_loops=False")
        wanted = (*size, num_relations)
        has = (edge_index.num_src, edge_index.num_dst, edge_index.num_relations)
        if has != wanted:
            raise CallError(f"the graph has {has[0]} sources, {has[1]} targets and {has[2]} relations, but the layer's rows and "
                            f"relations are {wanted[0]}, {wanted[1]} and {wanted[2]}")
        return Edges(edge_index, None)
    if not isinstance(edge_index, Tensor) or edge_index.layout != torch.strided:
        raise CallTypeError(f"edge_index is {type(edge_index).__name__}; it is a dense tensor [2, E] or a drawloom.torch.Graph")
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise CallError(f"edge_index has the shape {list(edge_index.shape)}; it is [2, E], sources and targets")
    if num_relations > 1 and edge_type is None:
        raise CallError(f"there is no edge_type, but the layer has {num_relations} relations")

    def make():
        ends, relation = _indices_of(edge_index), edge_type
        count = ends.shape[1]
        if flow == "target_to_source":
            ends = ends[::-1]
        kept, added = None, 0
        if loops:
            kept, added = (ends[0] != ends[1]).nonzero()[0], min(size)
            own = numpy.arange(added, dtype=ends.dtype)
            ends = numpy.concatenate([ends[:, kept], numpy.stack([own, own])], axis=1)
        graph = Graph(ends[0], ends[1], relation, num_src=size[0], num_dst=size[1], num_relations=num_relations)
        if not loops:
            # What is kept with a tensor does not keep the tensor.
            return Edges(graph, None)
        back = ends if flow == "source_to_target" else ends[::-1]
        return Edges(graph, _torch(numpy.ascontiguousarray(back)), _torch(kept), added, count)

    tensors = (edge_index,) if edge_type is None else (edge_index, edge_type)
    edges = _kept(edge_index, (size, num_relations, loops, flow), tensors, make)
    return edges if loops else Edges(edges.graph, edge_index)


@functools.lru_cache(maxsize=4096)
def _spec_text(build, options, inputs, kind):
    """The text of the spec for build(program, *values, *options)."""
    program = Program(*kind)
    results = build(program, *[None if one is None else program.input(*one) for one in inputs], *options)
    for value in results if isinstance(results, (list, tuple)) else [results]:
        program.result(value)
    return str(_dispatch.intern(Spec("message_passing", program.attributes())))


def _input(tensor, space):
    if tensor is None:
        return None
    kind = str(tensor.dtype).removeprefix("torch.")
    return kind, tuple(tensor.shape) if space == "all" else (space, *tensor.shape[1:])


def _check_place(tensor):
    if tensor is not None and tensor.device.type != "cpu":
        raise CallError(f"layers on graphs are computed on the CPU, but a tensor is on {tensor.device.type}")


def apply(graph: Graph, build: Callable, tensors: list, options: tuple = ()) -> Any:
    """The results of a program on a graph: a tensor, or a list of them. `tensors` are pairs of a tensor, or None, and its space; `build`
    makes the program of Values in their place, once for each combination of types."""
    for tensor, space in tensors:
        _check_place(tensor)
        if tensor is not None and space != "all" and (tensor.dim() < 1 or tensor.shape[0] != graph.rows(space)):
            raise CallError(f"a tensor at {space} has the shape {list(tensor.shape)}; the graph has {graph.rows(space)} rows there")
    text = _spec_text(build, options, tuple(_input(*one) for one in tensors), graph._kind)
    results = _dispatch.apply([*[tensor for tensor, _ in tensors if tensor is not None], *graph.arrays], text)
    return results if len(results) > 1 else results[0]


Rows = Union[Tensor, Mapping[str, Tensor], None]

_COMBINERS = ("sum", "mean", "max", "min", "softmax")


def message_passing(graph: Graph, function: Callable, *, src: Rows = None, dst: Rows = None, edge: Rows = None, rel: Rows = None,
                    all: Rows = None, combine: str | None = None, to: str = "dst") -> Tensor:
    """What `function` says of each edge, combined at its target.

    src, dst   rows of sources and targets: a tensor [N, ...], or a dictionary of them
    edge, rel  rows of edges, as they were given to the graph, and of relations
    all        tensors that all edges read whole
    function   takes the rows of one edge by the names above, and gives what the edge says. It is traced: rows have arithmetic with NumPy's
               rules for shapes, `exp`, `tanh`, `relu`, `sum`, `max`, `dot`, `reshape` and the like, and `where`. It is traced at every call,
               perhaps several times: it has no side effects.
    combine    "sum" (where nothing is said), "mean", "max" or "min"; targets without edges get zeros. With "softmax" the function gives
               (score, value): values are weighted by the softmax of the scores over the edges of a target. A score may have one number
               for each head.
    to         "dst", or "edge": what each edge says, in the order of the edges that were given

    Differentiable any number of times (maxima once or more: of equal ones each gets an equal part).

        y = message_passing(graph, lambda src, edge: edge * src, src=x, edge=w)
    """
    if not isinstance(graph, Graph):
        raise CallTypeError(f"message_passing: graph is {type(graph).__name__}; it is a drawloom.torch.Graph")
    if to == "edge" and combine is not None:
        raise CallError(f"message_passing: with to='edge' nothing is combined, but combine is '{combine}'")
    combine = "sum" if combine is None else combine
    if combine not in _COMBINERS:
        raise CallError(f"message_passing: combine is '{combine}'; it is one of {', '.join(_COMBINERS)}")
    if to not in ("dst", "edge"):
        raise CallError(f"message_passing: to is '{to}'; it is 'dst' or 'edge'")
    names, tensors = [], []
    for space, given in (("src", src), ("dst", dst), ("edge", edge), ("rel", rel), ("all", all)):
        for name, tensor in given.items() if isinstance(given, Mapping) else [(None, given)] if given is not None else []:
            if not isinstance(tensor, Tensor):
                raise CallTypeError(f"message_passing: {space} is {type(tensor).__name__}; it is a tensor or a dictionary of them")
            _check_place(tensor)
            if space == "edge":
                if tensor.dim() < 1 or tensor.shape[0] != graph.num_edges:
                    raise CallError(f"message_passing: edge has the shape {list(tensor.shape)}; the graph has {graph.num_edges} edges")
                tensor = graph.sorted(tensor)
            names.append((space, name))
            tensors.append((tensor, space))
    if not tensors:
        raise CallError("message_passing: no rows are given; src, dst, edge, rel or all has some")
    known = Edge(function, tuple(names), combine, to)
    text = _program_of(function, known, tuple(_input(*one) for one in tensors), graph._kind)
    results = _dispatch.apply([*[tensor for tensor, _ in tensors], *graph.arrays], text)
    return graph.given(results[0]) if to == "edge" else results[0]


def _program_of(function, known, inputs, kind):
    """The text of the spec of a user's function. Functions are traced each time: what a lambda refers to may have changed."""
    return _spec_text.__wrapped__(known.build, (), inputs, kind)

