# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs from lists of edges and from other libraries, for any framework's arrays."""

from __future__ import annotations

import itertools
import numbers
from typing import Any, TypeVar

import numpy

from .. import _drawloom
from .._errors import CallError, CallTypeError
from .message_passing import edges_per_pair, extents

ROWS_PER_BLOCK, TILE_ROWS = 1024, 16

G = TypeVar("G", bound="BaseGraph")


class BaseGraph:
    """Edges from sources to targets, each with a relation, sorted for both of their ends.

    source, target  [E], int32 or int64: the nodes that each edge goes from and to
    edge_type       [E], or None where there is one relation
    num_src, num_dst, num_relations: how many there are; by default as many as occur. Sources and targets are the same nodes where
                    only num_src is given.

    It is built once, and shared by layers, heads and their gradients. Indices out of range are refused, by the first edge that has one.
    Edges may occur more than once, and nodes and relations have none.
    """

    @staticmethod
    def _numpy(given: Any) -> Any:
        """NumPy's array of what a framework has."""
        return numpy.asarray(given)

    @staticmethod
    def _array(array: Any) -> Any:
        """The opposite."""
        return array

    def __init__(self, source: Any, target: Any, edge_type: Any = None, *, num_src: int | None = None, num_dst: int | None = None,
                 num_relations: int | None = None) -> None:
        source, target = self._indices("source", source), self._indices("target", target)
        relation = None if edge_type is None else self._indices("edge_type", edge_type)
        for name, one in (("target", target), ("edge_type", relation)):
            if one is not None and one.shape != source.shape:
                raise CallError(f"Graph: there are {source.shape[0]} sources, but {one.shape[0]} entries of {name}; each edge has one")

        def count(array):
            return int(array.max()) + 1 if array.size else 0

        for name, one in (("num_src", num_src), ("num_dst", num_dst), ("num_relations", num_relations)):
            if one is not None and not isinstance(one, numbers.Integral):
                raise CallTypeError(f"Graph: {name} is {one!r}; it is a whole number")
            if one is not None and one < (name == "num_relations"):
                raise CallError(f"Graph: {name} is {one}; it is {int(name == 'num_relations')} or more")
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
        self.arrays = [self._array(one) for one in arrays]
        self.num_src, self.num_dst, self.num_relations, self.num_edges = num_src, num_dst, num_relations, source.shape[0]
        self._order = self._array(given)
        self._extents = extents([one.shape for one in arrays], num_relations)
        # What its programs are made for.
        self._kind = num_relations, ROWS_PER_BLOCK, edges_per_pair([one.shape for one in arrays])

    def __repr__(self):
        nodes = f"{self.num_src} sources, {self.num_dst} targets"
        return f"Graph({nodes}, {self.num_edges} edges, {self.num_relations} relations)"

    @classmethod
    def from_csr(cls: type[G], indptr: Any, indices: Any, edge_type: Any = None, *, num_src: int | None = None,
                 num_relations: int | None = None) -> G:
        """From the incoming edges of each target: those of v come from indices[indptr[v]:indptr[v + 1]]."""
        starts, source = cls._indices("indptr", indptr), cls._indices("indices", indices)
        lengths = numpy.diff(starts)
        ends_well = starts.size > 0 and starts[0] == 0 and starts[-1] == source.size
        if not ends_well or (lengths < 0).any():
            back = f": entry {int((lengths < 0).argmax()) + 1} is less than the one before" if ends_well else ""
            raise CallError(f"Graph.from_csr: indptr does not go from 0 to {source.size}, the number of indices, without going back{back}")
        target: numpy.ndarray = numpy.repeat(numpy.arange(lengths.size, dtype=source.dtype), lengths)
        return cls(source, target, edge_type, num_src=lengths.size if num_src is None else num_src, num_dst=lengths.size,
                   num_relations=num_relations)

    @classmethod
    def from_pyg(cls: type[G], data: Any, *, num_relations: int | None = None) -> G:
        """From torch_geometric's Data, with its edge_type where it has one, or HeteroData.

        Nodes of HeteroData follow each other in the order of `node_types`, edges in that of `edge_types`, whose number is an edge's
        relation: as `to_homogeneous()` numbers them. Layers take it in place of edge_index; a loader's workers build it in what the loader
        calls for each batch.
        """
        if hasattr(data, "edge_types"):
            nodes = {kind: data[kind].num_nodes for kind in data.node_types}
            return cls._of_types(nodes, [(kind, cls._ends(data[kind].edge_index)) for kind in data.edge_types], num_relations)
        if getattr(data, "edge_index", None) is None:
            raise CallError(f"Graph.from_pyg: {type(data).__name__} has no edge_index")
        source, target = cls._ends(data.edge_index)
        return cls(source, target, getattr(data, "edge_type", None), num_src=data.num_nodes, num_relations=num_relations)

    @classmethod
    def from_dgl(cls: type[G], graph: Any, edge_type: Any = None, *, num_relations: int | None = None) -> G:
        """From a DGLGraph, or a DGL block, whose sources and targets are different nodes. Nodes of several types follow each other in the
        order of `ntypes`, edges in that of `canonical_etypes`, whose number is an edge's relation."""
        def ends(kind):
            return numpy.stack([cls._numpy(one) for one in graph.edges(form="uv", order="eid", etype=kind)])

        kinds = list(graph.canonical_etypes)
        if getattr(graph, "is_block", False):
            if len(kinds) != 1:
                raise CallError("Graph.from_dgl: a block has edges of one type here")
            source, target = ends(kinds[0])
            return cls(source, target, edge_type, num_src=graph.num_src_nodes(), num_dst=graph.num_dst_nodes(),
                       num_relations=num_relations)
        if len(kinds) == 1 and len(graph.ntypes) == 1:
            source, target = ends(kinds[0])
            return cls(source, target, edge_type, num_src=graph.num_nodes(), num_relations=num_relations)
        if edge_type is not None:
            raise CallError("Graph.from_dgl: edges of several types have these for relations; edge_type is for graphs of one type")
        return cls._of_types({kind: graph.num_nodes(kind) for kind in graph.ntypes}, [(kind, ends(kind)) for kind in kinds], num_relations)

    @classmethod
    def from_jraph(cls: type[G], graphs: Any, edge_type: Any = None, *, num_relations: int | None = None) -> G:
        """From jraph's GraphsTuple, all its graphs as one."""
        nodes = int(numpy.sum(cls._numpy(graphs.n_node)))
        return cls(graphs.senders, graphs.receivers, edge_type, num_src=nodes, num_relations=num_relations)

    @classmethod
    def _of_types(cls, nodes, edges, num_relations=None, relations=None):
        """Of how many nodes each type has, and of ((source type, ..., target type), edge_index [2, E]): nodes follow each other by type.
        `relations` has the number of each type of edge; by default they are numbered as they come."""
        starts = dict(zip(nodes, itertools.accumulate(nodes.values(), initial=0)))
        relations = {kind: i for i, (kind, _) in enumerate(edges)} if relations is None else relations
        ends, relation = [numpy.empty((2, 0), numpy.int64)], [numpy.empty(0, numpy.int64)]
        for kind, index in edges:
            for what, own, one in (("source", kind[0], index[0]), ("target", kind[-1], index[1])):
                # An index that is none of its type could be one of another type.
                wrong = ((one < 0) | (one >= nodes[own])).nonzero()[0]
                if wrong.size:
                    raise CallError(f"Graph: {what} {one[wrong[0]]} of edge {wrong[0]} of {kind} is out of range: there are {nodes[own]} "
                                    f"nodes of '{own}'")
            ends.append(index + numpy.array([[starts[kind[0]]], [starts[kind[-1]]]]))
            relation.append(numpy.full(index.shape[1], relations[kind]))
        source, target = numpy.concatenate(ends, axis=1)
        return cls(source, target, numpy.concatenate(relation), num_src=sum(nodes.values()),
                   num_relations=max(len(relations), 1) if num_relations is None else num_relations)

    def rows(self, space: str) -> int:
        """How many rows a tensor has at "src", "dst", "src_rel", "dst_rel", "edge" or "rel"."""
        return self._extents[space]

    def _check_edges(self, edges):
        if edges.ndim < 1 or edges.shape[0] != self.num_edges:
            raise CallError(f"rows of edges have the shape {list(edges.shape)}; the graph has {self.num_edges} edges")

    def _check_rows(self, tensors):
        """Of pairs of a tensor, or None, and its space."""
        for tensor, space in tensors:
            if tensor is not None and space != "all" and (tensor.ndim < 1 or tensor.shape[0] != self.rows(space)):
                raise CallError(f"rows at {space} have the shape {list(tensor.shape)}; the graph has {self.rows(space)} rows at {space}")

    @classmethod
    def _indices(cls, name, given):
        """One list of edges' indices as a dense array."""
        array = cls._numpy(given)
        if array.size == 0 and isinstance(given, (list, tuple)):
            array = array.astype(numpy.int64)
        if array.dtype not in (numpy.int32, numpy.int64):
            raise CallTypeError(f"Graph: {name} is {array.dtype}; indices are int32 or int64")
        if array.ndim != 1:
            hint = "; edges are two lists, as edge_index[0] and edge_index[1]" if array.ndim == 2 else ""
            raise CallError(f"Graph: {name} has the shape {list(array.shape)}; it has one entry for each edge{hint}")
        return array

    @classmethod
    def _ends(cls, edge_index):
        """[2, E] as numbers."""
        array = cls._numpy(edge_index)
        if array.ndim != 2 or array.shape[0] != 2:
            raise CallError(f"edge_index has the shape {list(array.shape)}; it is [2, E], sources and targets")
        return array
