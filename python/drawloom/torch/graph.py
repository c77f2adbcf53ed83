# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs, and message passing on them."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Union

import numpy
import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from .._errors import CallError, CallTypeError
from ..ops.graphs import BaseGraph
from ..ops.message_passing import Edge, check_combiner, input_type, named_rows, spec_of, where
from . import _dispatch

__all__ = ["Graph", "message_passing", "where"]


def _numpy(tensor):
    """The tensor's numbers, also within a transform of torch.func."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        if torch._C._functorch.is_batchedtensor(tensor):
            raise CallError("Graph: indices differ from example to example of torch.vmap; a graph is one for all")
        tensor = torch._C._functorch.get_unwrapped(tensor)
    with torch._C._DisableFuncTorch():
        return tensor.cpu().numpy()


def _torch(array):
    """A tensor that also autograd takes, whatever mode this is called in."""
    with torch.inference_mode(False), torch._C._DisableFuncTorch():
        return torch.from_numpy(array)


class Graph(BaseGraph):
    __doc__ = BaseGraph.__doc__

    @staticmethod
    def _numpy(given: Any) -> Any:
        return _numpy(given) if isinstance(given, Tensor) else numpy.asarray(given)

    @staticmethod
    def _array(array: Any) -> Any:
        return _torch(array)

    def sorted(self, edges: Tensor) -> Tensor:
        """Rows of the edges as they were given, in the graph's own order: by target, relation, source."""
        self._check_edges(edges)
        return edges.index_select(0, self._on(edges.device, "_order"))

    def given(self, edges: Tensor) -> Tensor:
        """The opposite of `sorted`."""
        return edges.index_select(0, self._on(edges.device, "_places"))

    def _on(self, device, name):
        """An attribute that is a tensor, or several, on a device: copied there once."""
        value = getattr(self, name)
        if device.type in ("cpu", "meta"):
            return value
        copies = self.__dict__.setdefault("_copies", {})
        if (device, name) not in copies:
            # As the graph's own tensors, also where a call is traced.
            with torch.inference_mode(False), _disable_current_modes():
                copies[device, name] = value.to(device) if isinstance(value, Tensor) else [one.to(device) for one in value]
        return copies[device, name]

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
        return {name: value for name, value in self.__dict__.items() if name not in ("_places", "source_pairs", "degrees", "_copies")}


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
        edge_attr = kept = edge_attr[self.kept]
        if isinstance(fill, str):
            # In an order that does not depend on that of the list.
            order = self.graph._on(edge_attr.device, "_order")
            order = order[order < edge_attr.shape[0]]
            edge_attr, target = edge_attr.index_select(0, order), self.edge_index[1].index_select(0, order)
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
        return torch.cat([kept, rows])

    @staticmethod
    def of_types(edge_index_dict, numbers, nodes, flow="source_to_target"):
        """One graph of the edges of all types; `nodes` has how many there are of each type, `numbers` the relation of each type of edge."""
        if flow != "source_to_target":
            raise CallError("edges of several types flow from source to target")
        lists = tuple((tuple(kind), edge_index) for kind, edge_index in edge_index_dict.items())
        for kind, edge_index in lists:
            if kind not in numbers:
                raise CallError(f"there is no type of edge {kind}; there are {', '.join(map(str, numbers))}")
            if kind[0] not in nodes or kind[-1] not in nodes:
                raise CallError(f"edges of {kind} have an end of which there are no nodes")
        key = "types", tuple(kind for kind, _ in lists), tuple(nodes.items())
        holder = lists[0][1] if lists else torch.empty(2, 0, dtype=torch.long)

        def make():
            return Edges(Graph._of_types(nodes, [(kind, Graph._ends(index)) for kind, index in lists], relations=numbers), None)

        return _kept(holder, key, tuple(index for _, index in lists), make)


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
        ends, relation = Graph._ends(edge_index), edge_type
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
        listed, kept = (_torch(numpy.ascontiguousarray(one)).to(edge_index.device) for one in (back, kept))
        return Edges(graph, listed, kept, added, count)

    tensors = (edge_index,) if edge_type is None else (edge_index, edge_type)
    edges = _kept(edge_index, (size, num_relations, loops, flow), tensors, make)
    return edges if loops else Edges(edges.graph, edge_index)


@functools.lru_cache(maxsize=4096)
def _spec_text(build, options, inputs, kind):
    """The text of an interned spec."""
    return str(_dispatch.intern(spec_of(build, options, inputs, kind)))


def _input(tensor, space):
    return None if tensor is None else input_type(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), space)


def _arrays(graph, tensors):
    """Those of the graph, on the device of the rows."""
    devices = {tensor.device for tensor, _ in tensors if tensor is not None}
    if len(devices) > 1:
        raise CallError(f"rows are on {' and '.join(sorted(map(str, devices)))}; a layer's tensors are all on one device")
    return graph._on(next(iter(devices), torch.device("cpu")), "arrays")


def apply(graph: Graph, build: Callable, tensors: list, options: tuple = ()) -> Any:
    """The results of a program on a graph: a tensor, or a list of them. `tensors` are pairs of a tensor, or None, and its space; `build`
    makes the program of Values in their place, once for each combination of types."""
    graph._check_rows(tensors)
    text = _spec_text(build, options, tuple(_input(*one) for one in tensors), graph._kind)
    results = _dispatch.apply([*[tensor for tensor, _ in tensors if tensor is not None], *_arrays(graph, tensors)], text)
    return results if len(results) > 1 else results[0]


Rows = Union[Tensor, Mapping[str, Tensor], None]

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
    combine = check_combiner(combine, to)
    names, tensors = [], []
    for space, name, tensor in named_rows(src=src, dst=dst, edge=edge, rel=rel, all=all):
        if not isinstance(tensor, Tensor):
            raise CallTypeError(f"message_passing: {space} is {type(tensor).__name__}; it is a tensor or a dictionary of them")
        names.append((space, name))
        tensors.append((graph.sorted(tensor) if space == "edge" else tensor, space))
    graph._check_rows(tensors)
    known = Edge(function, tuple(names), combine, to)
    text = _program_of(function, known, tuple(_input(*one) for one in tensors), graph._kind)
    results = _dispatch.apply([*[tensor for tensor, _ in tensors], *_arrays(graph, tensors)], text)
    return graph.given(results[0]) if to == "edge" else results[0]


def _program_of(function, known, inputs, kind):
    """The text of the spec of a user's function. Functions are traced each time: what a lambda refers to may have changed."""
    return _spec_text.__wrapped__(known.build, (), inputs, kind)

