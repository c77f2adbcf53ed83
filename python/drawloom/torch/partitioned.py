# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs whose nodes the processes of a group share. Each process has the edges into its own nodes, and computes these nodes' rows; what
its edges read of other processes' nodes, the halo, it gets in front of each layer. Gradients of a halo go back and are added up where the
node is.

    part = Partition(edge_index, edge_type, owner, num_relations=40)
    x = features[part.nodes]
    for conv in convs:
        x = conv((part.gather(x), x), part.graph).relu()

All processes make the same calls in the same order, and all run the backward pass. Gradients are those of the sum of the processes'
losses, those of parameters each process's part.
"""

from __future__ import annotations

import zlib
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from .._errors import CallError
from .graph import Graph

__all__ = ["Partition"]


class _Exchange(torch.autograd.Function):
    """Sends `sent[r]` rows to each process r, and gives the `taken[r]` rows that come from it, in turn."""

    @staticmethod
    def forward(ctx, rows, sent, taken, group):
        ctx.back = taken, sent, group
        result = rows.new_empty(sum(taken), *rows.shape[1:])
        dist.all_to_all_single(result, rows.contiguous(), taken, sent, group=group)
        return result

    @staticmethod
    def backward(ctx, rows):
        return _Exchange.apply(rows, *ctx.back), None, None, None


def _check_range(what, of, numbers, count, there):
    wrong = ((numbers < 0) | (numbers >= count)).nonzero()
    if len(wrong):
        place = int(wrong[0])
        raise CallError(f"Partition: {what} {int(numbers[place])} of {of} {place} is out of range: there are {count} {there}")


class Partition:
    """What this process has of a graph.

    edge_index  [2, E], sources and targets by their numbers in the whole graph: all edges, or at least those into this process's nodes;
                others are left out
    edge_type   [E], or None where there is one relation
    owner       [N]: the rank of the process that has each node, the same in all processes
    group       a process group, None for that of all processes

    nodes       [n], the numbers of this process's nodes, ascending
    sources     [s], those of the nodes that its edges come from, its own among them, ascending
    edges       which of the edges given are its own: `edge_attr[part.edges]` are their rows
    graph       a Graph of s sources and n targets
    """

    def __init__(self, edge_index: Tensor, edge_type: Tensor | None, owner: Tensor, *, num_relations: int | None = None, group: Any = None):
        if not dist.is_available() or not dist.is_initialized():
            raise CallError("Partition: there is no process group; torch.distributed.init_process_group makes one, e.g. under torchrun")
        self.group, self.rank = group, dist.get_rank(group)
        processes = dist.get_world_size(group)
        if self.rank < 0:
            raise CallError("Partition: this process is not in the group")
        about: tuple[str | None, str | None]
        own: Exception | None = None
        try:
            about = None, self._build(edge_index, edge_type, owner, num_relations, processes)
        except Exception as error:
            about, own = (str(error), None), error
        # A process that knows that something is wrong leaves no other one waiting.
        every: list = [None] * processes
        dist.all_gather_object(every, about, group)
        for rank, (wrong, _) in enumerate(every):
            if wrong is not None:
                raise CallError(f"process {rank}: {wrong}") if rank != self.rank or own is None else own
        for rank, (_, found) in enumerate(every):
            if found != every[0][1]:
                raise CallError(f"Partition: process 0 has {every[0][1]}, but process {rank} has {found}")
        self._ask(owner, processes)

    def _build(self, edge_index, edge_type, owner, num_relations, processes):
        """What all processes have to agree on."""
        if owner.dim() != 1 or owner.dtype not in (torch.int32, torch.int64):
            raise CallError(f"Partition: owner is {owner.dtype} {list(owner.shape)}; it is int64 [nodes]")
        _check_range("owner", "node", owner, processes, "processes")
        source, target = (torch.from_numpy(Graph._indices(name, one)).long() for name, one in zip(("source", "target"), Graph._ends(edge_index)))
        if edge_type is not None and tuple(edge_type.shape) != (len(source),):
            raise CallError(f"Partition: edge_type has the shape {list(edge_type.shape)}; it has one entry for each of {len(source)} edges")
        _check_range("source", "edge", source, len(owner), "sources")
        _check_range("target", "edge", target, len(owner), "targets")
        if num_relations is None:
            num_relations = 1 if edge_type is None or not len(edge_type) else int(edge_type.max()) + 1
        self.nodes = (owner == self.rank).nonzero().flatten()
        self.edges = (owner[target] == self.rank).nonzero().flatten()
        self.sources, sources = source[self.edges].unique(return_inverse=True)
        targets = torch.searchsorted(self.nodes, target[self.edges])
        self.graph = Graph(sources, targets, None if edge_type is None else edge_type[self.edges], num_src=len(self.sources),
                           num_dst=len(self.nodes), num_relations=num_relations)
        return f"{len(owner)} nodes of owners {zlib.crc32(owner.long().numpy()):08x} and {num_relations} relations"

    def _ask(self, owner, processes):
        """Tells each process which rows of its nodes are read here."""
        of = owner[self.sources]
        # Rows come by process, then number; their places among the sources.
        order = torch.argsort(of, stable=True)
        self._places = torch.argsort(order)
        wanted = torch.bincount(of, minlength=processes)
        asked = torch.empty_like(wanted)
        dist.all_to_all_single(asked, wanted, group=self.group)
        self._wanted, self._asked = wanted.tolist(), asked.tolist()
        numbers = self.sources.new_empty(sum(self._asked))
        dist.all_to_all_single(numbers, self.sources[order], self._asked, self._wanted, group=self.group)
        self._given = torch.searchsorted(self.nodes, numbers)

    def gather(self, x: Tensor) -> Tensor:
        """The rows [s, ...] of `sources`, for rows [n, ...] of this process's nodes. Differentiable, any number of times."""
        if x.dim() < 1 or x.shape[0] != len(self.nodes):
            raise CallError(f"Partition.gather: x has the shape {list(x.shape)}; it has a row for each of the process's {len(self.nodes)} nodes")
        rows = x.index_select(0, self._given)
        return _Exchange.apply(rows, self._asked, self._wanted, self.group).index_select(0, self._places)

    @property
    def sent(self) -> int:
        """How many rows `gather` sends to other processes."""
        return sum(self._asked) - self._asked[self.rank]
