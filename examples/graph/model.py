# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""R-GCN (arXiv 1703.06103), in front of DistMult (arXiv 1412.6575) or of classes, as users of torch_geometric write it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import RGCNConv


class Links(nn.Module):
    """Scores of links: sum over channels of z_from r z_to, with rows z of nodes that two layers make of learnt ones."""

    def __init__(self, nodes: int, relations: int, width: int) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.randn(nodes, width) / width ** 0.5)
        self.relations = nn.Parameter(torch.randn(relations, width) / width ** 0.5)
        # Each relation, and the way back.
        self.layers = nn.ModuleList(RGCNConv(width, width, 2 * relations) for _ in range(2))

    def forward(self, links: Tensor) -> Tensor:
        """The rows z of all nodes, from the links [3, n] that are known."""
        source, relation, target = links
        edge_index = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
        edge_type = torch.cat([relation, relation + len(self.relations)])
        z = self.rows
        for layer in self.layers:
            z = z + layer(z.relu(), edge_index, edge_type)
        return z

    def loss(self, z: Tensor, links: Tensor, negatives: int) -> Tensor:
        """Cross entropy of the right end among it and random ones, the same for all links; for both ends."""
        source, relation, target = links
        others = F.embedding(torch.randint(len(z), (negatives,)), z)
        ends, r = F.embedding(torch.stack([source, target]), z), self.relations[relation]
        total = z.new_zeros(())
        for known, right in (ends, ends.flip(0)):
            asked = known * r
            scores = torch.cat([(asked * right).sum(-1, keepdim=True), asked @ others.T], 1)
            total = total + F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long))
        return total / 2

    @torch.no_grad()
    def reciprocal_rank(self, data, links: Tensor, most: int = 2000) -> float:
        """The mean, over both ends of the first `most` links, of 1 / the rank of the right end among all that are no link already."""
        z, total = self(data.train), 0.0
        every = torch.cat([data.train, data.validation, data.test], 1)
        links = links[:, :most]
        for end in (0, 2):
            known = every[2 - end] * len(data.relations) + every[1]
            order = known.argsort()
            known, others = known[order].contiguous(), every[end][order]
            for batch in links.split(500, 1):
                asked = batch[2 - end] * len(data.relations) + batch[1]
                scores = (z[batch[2 - end]] * self.relations[batch[1]]) @ z.T
                right = scores.gather(1, batch[end][:, None])
                first, last = torch.searchsorted(known, asked), torch.searchsorted(known, asked, right=True)
                for row, a, b in zip(scores, first.tolist(), last.tolist()):
                    row[others[a:b]] = -torch.inf
                # Of equal scores half are in front.
                rank = 1 + (scores > right).sum(1) + (scores == right).sum(1) / 2
                total += (1 / rank).sum().item()
        return total / (2 * links.shape[1])


class Classes(nn.Module):
    """What class a node is of: two layers over what its features say, and a linear one."""

    def __init__(self, features: int, relations: int, width: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, width)
        self.layers = nn.ModuleList(RGCNConv(width, width, relations) for _ in range(2))
        self.last = nn.Linear(width, classes)

    def rows(self, x: Tensor, edges: object, edge_type: Tensor) -> Tensor:
        """`edges` is an edge_index, or a drawloom.torch.Graph of these edges."""
        z = self.first(x)
        for layer in self.layers:
            z = z + layer(F.dropout(z.relu(), 0.2, self.training), edges, edge_type)
        return z.relu()

    def forward(self, x: Tensor, edges: object, edge_type: Tensor) -> Tensor:
        return self.last(self.rows(x, edges, edge_type))
