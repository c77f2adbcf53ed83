# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two processes on this machine (gloo, loopback) that share a batch compute what one process does with all of it. Run by
torchrun, or by test_distributed.py:

    torchrun --nproc-per-node=2 test/python/with_torch/distributed_training.py ddp|fsdp fused|structured
"""

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import drawloom.torch as dt
from drawloom.structured import dense, select

STEPS, BATCH = 6, 64


def fused_model():
    return nn.Sequential(nn.Linear(8, 16), dt.nn.Rational(16), dt.nn.FusedMLP(16, 16, width=16, hidden_layers=1),
                         dt.nn.GRKAN(16, 4))


def structured_model():
    """Adapters, a panel of a weight (S2FT) and a Monarch matrix: parameters of other shapes than the weights."""
    panel = dt.nn.StructuredLinear(dense("w") + select(6, 3, 16) @ dense("p"), {"w": torch.randn(16, 16) / 4, "p": nn.Parameter(torch.zeros(6, 16))},
                                   nn.Parameter(torch.zeros(16)))
    model = nn.Sequential(dt.nn.LoRALinear(nn.Linear(8, 12), r=3), nn.Tanh(), dt.nn.DoRALinear(nn.Linear(12, 16), r=3), nn.Tanh(), panel,
                          nn.Tanh(), dt.nn.MonarchLinear(16, 4, 4))
    for adapted in (model[0], model[2]):
        nn.init.normal_(adapted.lora_b, std=0.1)
    return model.double()


# The model, its optimizer, and how much losses may differ: sums are cut in two places, and AdamW divides by roots of small numbers in its
# first steps. In float64, with an optimizer that does not divide, what differs is the rounding of the sums.
KINDS = {"fused": (fused_model, lambda parameters: dt.optim.AdamW(parameters, lr=1e-2), 2e-5),
         "structured": (structured_model, lambda parameters: torch.optim.SGD(parameters, lr=0.2, momentum=0.9), 1e-12)}
KIND, OPTIMIZER, LIMIT = KINDS[sys.argv[2]]


def make_model():
    torch.manual_seed(5)
    return KIND()


def batches(dtype):
    generator = torch.Generator().manual_seed(11)
    return [(torch.randn(BATCH, 8, generator=generator).to(dtype), torch.randn(BATCH, 4, generator=generator).to(dtype)) for _ in range(STEPS)]


def train(model, take, reduce=lambda loss: loss):
    optimizer = OPTIMIZER(model.parameters())
    losses = []
    for x, target in batches(next(model.parameters()).dtype):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(take(x)), take(target))
        loss.backward()
        optimizer.step()
        losses.append(reduce(loss.detach()).item())
    return losses


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    expected = train(make_model(), lambda x: x)

    def mean(loss):
        dist.all_reduce(loss)
        return loss / size

    model = make_model()
    if sys.argv[1] == "ddp":
        model = DistributedDataParallel(model)
    else:
        mesh = init_device_mesh("cpu", (size,))
        for part in model:
            fully_shard(part, mesh=mesh)
        fully_shard(model, mesh=mesh)
    losses = train(model, lambda x: x.chunk(size)[rank], mean)
    for one, other in zip(losses, expected):
        assert abs(one - other) <= LIMIT * abs(other), (losses, expected)
    if rank == 0:
        print("losses", *(f"{loss:.6f}" for loss in losses))
    dist.barrier()
    # Not by taking the model apart: DDP's end waits for gloo's thread with the interpreter's lock held, which that thread
    # waits for if it is the last to hold a tensor.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
