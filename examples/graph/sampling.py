# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches of nodes, each with a sample of the edges that lead to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import IterableDataset

from drawloom.torch import Graph


@dataclasses.dataclass
class Batch:
    """The first `count` of the nodes are those that were asked for. `graph` is the edges sorted, or None."""

    count: int
    nodes: Tensor
    edge_index: Tensor
    edge_type: Tensor
    graph: Graph | None


class Neighbours:
    """At most `fanout` of the edges that lead to a node, and of those to their sources, and so on for `hops` (GraphSAGE, arXiv 1706.02216)."""

    def __init__(self, data: Any, relations: int, fanout: int = 10, hops: int = 2, sorts: bool = True) -> None:
        order = np.argsort(data.target, kind="stable")
        self._source, self._relation = data.source[order], data.relation[order]
        self._starts = np.searchsorted(data.target[order], np.arange(len(data.names) + 1))
        self._relations, self._fanout, self._hops, self._sorts = relations, fanout, hops, sorts

    def _edges_to(self, nodes: np.ndarray, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(place in `nodes`, number of the edge): all where there are few, and draws of which none counts twice where there are many."""
        first, degree = self._starts[nodes], np.diff(self._starts)[nodes]
        taken = np.minimum(degree, self._fanout)
        place = np.repeat(np.arange(len(nodes)), taken)
        step = np.arange(len(place)) - np.repeat(np.cumsum(taken) - taken, taken)
        many = degree[place] > self._fanout
        step[many] = draw.integers(0, degree[place][many])
        edges = first[place] + step
        # Edges are sorted by target: a number that comes twice has one place.
        edges, once = np.unique(edges, return_index=True)
        return place[once], edges

    def sample(self, seeds: np.ndarray, draw: np.random.Generator) -> Batch:
        nodes, sources, targets, numbers = seeds, [], [], []
        reached = np.zeros(0, np.int64)
        for _ in range(self._hops):
            place, edges = self._edges_to(nodes[len(reached):], draw)
            targets.append(place + len(reached))
            sources.append(self._source[edges])
            numbers.append(edges)
            reached = nodes
            nodes = np.concatenate([nodes, np.setdiff1d(sources[-1], nodes)])
        order = np.argsort(nodes)
        source = order[np.searchsorted(nodes, np.concatenate(sources), sorter=order)]
        target, relation = np.concatenate(targets), self._relation[np.concatenate(numbers)]
        graph = Graph(source, target, relation, num_src=len(nodes), num_relations=self._relations) if self._sorts else None
        return Batch(len(seeds), torch.from_numpy(nodes), torch.from_numpy(np.stack([source, target])), torch.from_numpy(relation), graph)


class Batches(IterableDataset):
    """All `nodes` in an order that `seed` says, `size` at a time. A loader's workers share them."""

    def __init__(self, neighbours: Neighbours, nodes: np.ndarray, size: int, seed: int) -> None:
        self._neighbours, self._nodes, self._size, self._seed = neighbours, nodes, size, seed

    def __len__(self) -> int:
        return -(-len(self._nodes) // self._size)

    def __iter__(self) -> Iterator[Batch]:
        worker = torch.utils.data.get_worker_info()
        order = np.random.default_rng(self._seed).permutation(self._nodes)
        for i in range(worker.id if worker else 0, len(self), worker.num_workers if worker else 1):
            # Each batch has a seed of its own, so that the number of workers changes nothing.
            yield self._neighbours.sample(order[i * self._size:(i + 1) * self._size], np.random.default_rng([self._seed, i]))
