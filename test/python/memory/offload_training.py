# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two processes (gloo, loopback) whose saved tensors, or optimizer's states, go to a store have the bits of their own training without it, by torch's engines. Run
by torchrun, or by test_offload_distributed.py:

    torchrun --nproc-per-node=2 test/python/memory/offload_training.py
"""

import contextlib
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

import drawloom.torch as dt
import drawloom.torch._offload as offload_module
from drawloom.torch._offload import Offload
from memory.memory_store import MemoryStore

STEPS, WIDTH = 3, 24


class Block(nn.Module):
    def __init__(self, checkpointed):
        super().__init__()
        self.layers, self.checkpointed = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 48), nn.GELU(), nn.Linear(48, WIDTH)), checkpointed

    def forward(self, x):
        return x + (checkpoint(self.layers, x, use_reentrant=False) if self.checkpointed else self.layers(x))


def ddp(model, precise):
    return DistributedDataParallel(model)


def fsdp(model, precise):
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    policy = MixedPrecisionPolicy() if precise else MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for part in model:
        fully_shard(part, mesh=mesh, mp_policy=policy)
    return fully_shard(model, mesh=mesh, mp_policy=policy)


def train(engine, precise, checkpointed, context, inside):
    torch.manual_seed(5)
    model = engine(nn.Sequential(*(Block(checkpointed) for _ in range(3))), precise)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(dist.get_rank())
    found = []
    for _ in range(STEPS):
        x = torch.randn(16, WIDTH, generator=generator)
        optimizer.zero_grad()
        with context, contextlib.nullcontext() if precise or engine is fsdp else torch.autocast("cpu", torch.bfloat16):
            loss = model(x).float().square().mean()
            if inside:
                loss.backward()
        if not inside:
            loss.backward()
        found.append(loss.detach())
        # Shards of them, where there are shards.
        found += [getattr(parameter.grad, "_local_tensor", parameter.grad).clone() for parameter in model.parameters()]
        optimizer.step()
    return found


def optimize(engine, spill):
    """Parameters and states behind some steps; of shards, types too."""
    torch.manual_seed(5)
    model = engine(nn.Sequential(*(Block(False) for _ in range(3))), True)
    optimizer = dt.optim.AdamW(model.parameters(), lr=0.1, offload=spill)
    generator = torch.Generator().manual_seed(dist.get_rank())
    for step in range(STEPS):
        optimizer.zero_grad()
        model(torch.randn(16, WIDTH, generator=generator)).square().mean().backward()
        optimizer.step()
        if step == 1:
            optimizer.load_state_dict(optimizer.state_dict())
    tensors = [*model.parameters(), *(value for state in optimizer.state_dict()["state"].values() for value in state.values())]
    return [(type(one).__name__, one.shape) for one in tensors], [getattr(one, "_local_tensor", one).detach().clone() for one in tensors]


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    offload_module.SMALL = 64
    for engine in (ddp, fsdp):
        for precise, checkpointed, inside in ((True, False, False), (True, False, True), (True, True, False), (False, False, False)):
            expected = train(engine, precise, checkpointed, contextlib.nullcontext(), inside)
            free = Offload(MemoryStore(), 1 << 40)
            train(engine, precise, checkpointed, free, inside)
            for share in (0, 0.4, 1):
                store = MemoryStore()
                spill = Offload(store, int(free.report().peak * share))
                found = train(engine, precise, checkpointed, spill, inside)
                what = engine.__name__, precise, checkpointed, inside, share
                assert len(found) == len(expected) and all(map(torch.equal, found, expected)), what
                assert bool(spill.report().moved) == (share < 1) and spill.kept == 0 and not store.records, (what, str(spill.report()))
                assert not any("Parameter" in record for record in spill.report().left), what
            if dist.get_rank() == 0:
                print("equal", engine.__name__, precise, checkpointed, inside)
        (types, tensors), (its_types, its_tensors) = optimize(engine, None), optimize(engine, Offload(MemoryStore(), 1 << 20))
        assert types == its_types and all(map(torch.equal, tensors, its_tensors)), engine.__name__
        if dist.get_rank() == 0:
            print("equal", engine.__name__, "states")
    dist.barrier()
    # As in with_torch/distributed_training.py: DDP's end may wait for gloo's thread, and that for the interpreter.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
