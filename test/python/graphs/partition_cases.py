# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes on this machine (gloo, loopback) that share a graph compute what one process does with all of it. Run by torchrun, or by
test_partitions.py:

    torchrun --nproc-per-node=2 test/python/graphs/partition_cases.py
"""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from drawloom import CallError
from drawloom.torch import Graph, message_passing, nn
from drawloom.torch.partitioned import Partition
from support.graph_references import assert_accurate

NODES, EDGES, RELATIONS, WIDTH = 60, 400, 3, 8


def problem():
    generator = torch.Generator().manual_seed(3)
    # Node 59 has no edges; the first node is a hub.
    source, target = torch.randint(0, NODES - 1, (2, EDGES), generator=generator)
    target[:100] = 0
    relation = torch.randint(0, RELATIONS, (EDGES,), generator=generator)
    x, dy = torch.randn(2, NODES, WIDTH, dtype=torch.float64, generator=generator)
    weight = torch.randn(EDGES, dtype=torch.float64, generator=generator)
    return torch.stack([source, target]), relation, x, weight, dy


def layers():
    torch.manual_seed(1)
    return [nn.RGCNConv(WIDTH, WIDTH, RELATIONS), nn.GATv2Conv((WIDTH, WIDTH), WIDTH // 2, heads=2, add_self_loops=False)]


def model(convs, x, graph, graph_of_one, weight, gather):
    x = convs[0]((gather(x), x), graph).tanh()
    x = convs[1]((gather(x), x), graph_of_one).tanh()
    return message_passing(graph, lambda src, edge: src * edge, src=gather(x), edge=weight)


def whole():
    """Of one process: the rows, and gradients of x, the edges' weights and all parameters."""
    edge_index, relation, x, weight, dy = problem()
    convs = torch.nn.ModuleList(layers()).double()
    leaves = [x.requires_grad_(), weight.requires_grad_(), *convs.parameters()]
    graph = Graph(*edge_index, relation, num_src=NODES, num_relations=RELATIONS)
    y = model(convs, x, graph, Graph(*edge_index, num_src=NODES), weight, lambda x: x)
    return y, torch.autograd.grad(y, leaves, dy)


def check(owner):
    edge_index, relation, x, weight, dy = problem()
    convs = torch.nn.ModuleList(layers()).double()
    part = Partition(edge_index, relation, owner, num_relations=RELATIONS)
    of_one = Partition(edge_index, None, owner)
    x, weight, dy = x[part.nodes].requires_grad_(), weight[part.edges].requires_grad_(), dy[part.nodes]
    y = model(convs, x, part.graph, of_one.graph, weight, part.gather)
    parameters = list(convs.parameters())
    dx, dweight, *gradients = torch.autograd.grad(y, [x, weight, *parameters], dy)
    wanted, (wanted_x, wanted_weight, *wanted_gradients) = whole()
    for one in gradients:
        dist.all_reduce(one)
    pairs = [(y, wanted[part.nodes]), (dx, wanted_x[part.nodes]), (dweight, wanted_weight[part.edges]), *zip(gradients, wanted_gradients)]
    assert_accurate(*zip(*[(one.detach(), other.detach()) for one, other in pairs]), "float64")
    # A row goes to each process that reads it, once.
    read = [edge_index[0][owner[edge_index[1]] == rank].unique() for rank in range(dist.get_world_size())]
    assert part.sent == sum(int((owner[nodes] == part.rank).sum()) for rank, nodes in enumerate(read) if rank != part.rank)


def sampled():
    """DDP over sampled batches: each process has its own edges, and gradients are the mean of those of all."""
    edge_index, relation, x, _, dy = problem()
    rank, size = dist.get_rank(), dist.get_world_size()
    conv = layers()[0].double()
    parameters = list(conv.parameters())

    def loss(of, batch):
        own = torch.arange(batch, EDGES, size)[: EDGES // size - batch]
        return (of(x, edge_index[:, own].contiguous(), relation[own].contiguous()) * dy).sum()

    wanted = torch.autograd.grad(sum(loss(conv, batch) for batch in range(size)) / size, parameters)
    parallel = DistributedDataParallel(conv)
    loss(parallel, rank).backward()
    assert_accurate([one.grad for one in parameters], wanted, "float64")


def refused(message, *arguments, **options):
    try:
        Partition(*arguments, **options)
    except CallError as error:
        assert message in str(error), (message, str(error))
        return
    raise AssertionError(f"not refused: {message}")


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    edge_index, relation, *_ = problem()
    scattered = torch.randint(0, size, (NODES,), generator=torch.Generator().manual_seed(size))
    in_blocks = torch.arange(NODES) * size // NODES
    # The last process has no node.
    for owner in (scattered, in_blocks, in_blocks.clamp(max=size - 2)):
        check(owner)
    sampled()
    # Everybody hears of what one process knows.
    edges = edge_index.clone()
    edges[1, 7] = NODES if rank == size - 1 else edges[1, 7]
    refused(f"target {NODES} of edge 7 is out of range: there are {NODES} targets", edges, relation, in_blocks, num_relations=RELATIONS)
    refused(f"owner {size} of node 5 is out of range: there are {size} processes", edge_index, relation,
            in_blocks.index_fill(0, torch.tensor([5]), size), num_relations=RELATIONS)
    refused("owner is torch.float32 [60]; it is int64 [nodes]", edge_index, relation, in_blocks.float(), num_relations=RELATIONS)
    refused("but process 1 has", edge_index, relation, in_blocks, num_relations=RELATIONS + rank)
    refused("but process 1 has", edge_index, relation, in_blocks if rank == 0 else scattered, num_relations=RELATIONS)
    refused(f"edge_type has the shape [{EDGES - 1}]; it has one entry for each of {EDGES} edges", edge_index, relation[1:], in_blocks)
    refused("source is float32; indices are int32 or int64", edge_index.float(), relation, in_blocks)
    if rank == 0:
        print("done")
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
