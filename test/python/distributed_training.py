# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two processes on this machine (gloo, loopback) that share a batch compute what one process does with all of it. Run by
torchrun, or by test_torch_distributed.py:

    torchrun --nproc-per-node=2 test/python/distributed_training.py ddp|fsdp
"""

import os
import sys

import drawloom.torch as dt
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

STEPS, BATCH = 6, 64


def make_model():
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(8, 16), dt.nn.Rational(16), dt.nn.FusedMLP(16, 16, width=16, hidden_layers=1),
                         dt.nn.GRKAN(16, 4))


def batches():
    generator = torch.Generator().manual_seed(11)
    return [(torch.randn(BATCH, 8, generator=generator), torch.randn(BATCH, 4, generator=generator)) for _ in range(STEPS)]


def train(model, take, reduce=lambda loss: loss):
    optimizer = dt.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for x, target in batches():
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
    # Sums are cut in two places, and AdamW divides by roots of small numbers in its first steps.
    for one, other in zip(losses, expected):
        assert abs(one - other) <= 2e-5 * abs(other), (losses, expected)
    if rank == 0:
        print("losses", *(f"{loss:.6f}" for loss in losses))
    dist.barrier()
    # Not by taking the model apart: DDP's end waits for gloo's thread with the interpreter's lock held, which that thread
    # waits for if it is the last to hold a tensor.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
