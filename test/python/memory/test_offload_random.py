# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.offload on random programs: views, changes in place, several graphs, several backward passes. And its plan beside all others."""

import contextlib
import itertools
import random

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import drawloom.torch._offload as offload_module
from drawloom.torch._offload import Offload
from drawloom.torch._offload_plan import Entry, Order, Pass
from memory.memory_store import MemoryStore

N = 12


def changed(a):
    a = a.clone()
    a[3:5].zero_()
    return a.mul_(2)


def without_gradient(a):
    with torch.no_grad():
        return a.cos()


OPS = [lambda a, b: a.sin(), lambda a, b: torch.sigmoid(a), lambda a, b: a * b, lambda a, b: a @ b / N, lambda a, b: a.t(),
       lambda a, b: torch.cat([a[:6].clamp(max=3).exp(), b[6:]]), lambda a, b: a[:, ::2].repeat(1, 2), lambda a, b: a[2:3].expand(N, N),
       lambda a, b: torch.cat(a.chunk(3)[::-1]), lambda a, b: a.reshape(-1)[5:-7].sum() * b, lambda a, b: changed(a), lambda a, b: a.detach() * b,
       lambda a, b: checkpoint(lambda a, b: (a * b).tanh(), a, b, use_reentrant=False), lambda a, b: torch.softmax(a, -1),
       lambda a, b: a if a.is_leaf or a._base is not None else a.add_(0.5), lambda a, b: without_gradient(a)]


def gradients(value, leaves, **options):
    return [one for one in torch.autograd.grad(value, leaves, allow_unused=True, **options) if one is not None]


def backward(choose, value, leaves):
    """Of a graph: once, twice, or to the second order. "changed" where torch refuses it since a saved tensor was changed in place."""
    way, found = choose.random(), []
    try:
        if way < 0.2:
            slopes = gradients(value, leaves, create_graph=True)
            found += [slope.detach().clone() for slope in slopes]
            second = sum(slope.square().sum() for slope in slopes)
            return found + (gradients(second, leaves) if torch.is_tensor(second) and second.requires_grad else [])
        if way < 0.4:
            found += gradients(value, leaves, retain_graph=True)
        return found + gradients(value, leaves)
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
        return [*found, "changed"]


def run(seed, context):
    torch.manual_seed(seed)
    leaves, found = [torch.randn(N, N, requires_grad=True) for _ in range(3)], []
    # The same step three times, or one.
    for step in [0] * random.Random(seed).choice([1, 3]):
        choose, graphs = random.Random(seed + 1), []
        for _ in range(choose.choice([1, 1, 2])):
            with context:
                pool = [*leaves, torch.randn(N, N)]
                for _ in range(choose.randrange(3, 25)):
                    pool.append(choose.choice(OPS)(choose.choice(pool), choose.choice(pool)))
                values = [one.square().mean() for one in pool[-4:] if one.requires_grad]
                if values:
                    graphs.append(sum(values))
                if graphs and choose.random() < 0.3:
                    found += backward(choose, graphs.pop(), leaves)
        choose.shuffle(graphs)
        pool = values = None
        while graphs:
            found += backward(choose, graphs.pop(), leaves)
    return found


def same(one, other):
    """Bits, of what is not a number, too."""
    return one == other if isinstance(one, str) or isinstance(other, str) else torch.equal(
        one.contiguous().view(torch.int32), other.contiguous().view(torch.int32))


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_random_programs_have_the_bits_of_those_without_it(first, monkeypatch):
    monkeypatch.setattr(offload_module, "SMALL", 1)
    for seed in range(first, first + 20):
        expected = run(seed, contextlib.nullcontext())
        free = Offload(MemoryStore(), 1 << 40)
        found = run(seed, free)
        assert len(found) == len(expected) and all(map(same, found, expected)), seed
        for share in (0, 0.3, 0.7):
            store, memory = MemoryStore(), int(free.report().peak * share)
            spill = Offload(store, memory)
            found = run(seed, spill)
            # What was written before it changed is no error.
            if "changed" not in expected:
                assert len(found) == len(expected) and all(map(same, found, expected)), (seed, share)
                del found
                assert spill.kept == 0 and not store.records and not spill._alive, (seed, share)
            # A storage, or a few of them where tensors were joined, is needed whatever the memory is.
            assert spill.report().peak <= max(memory, 4 * N * N), (seed, share)


def test_the_plan_writes_as_little_as_any_but_for_a_record():
    choose = random.Random(0)
    for _ in range(200):
        sizes = [choose.randrange(1, 20) for _ in range(choose.randrange(1, 9))]
        memory = choose.randrange(0, sum(sizes) + 2)
        one = Pass()
        one.entries = [Entry(i, size, i) for i, size in enumerate(sizes)]
        goes = one.goes(memory)
        written = sum(size for size, out in zip(sizes, goes) if out)
        least = min(sum(sizes) - sum(kept) for count in range(len(sizes) + 1) for kept in itertools.combinations(sizes, count) if sum(kept) <= memory)
        assert sum(sizes) - written <= memory and written >= least
        # The oldest ones, and less than one record more than any plan.
        assert goes == sorted(goes, reverse=True)
        if written:
            assert written < sum(sizes) - memory + sizes[sum(goes) - 1]


def test_the_plan_is_by_the_last_save():
    order = Order(10)
    for expected in ([None, None, None], [False, True, False]):
        entries = [order.save(name, 5) for name in "abc"]
        assert [goes for _, _, goes, _ in entries] == expected
        order.again(*entries[0][:2])
        order.end()
