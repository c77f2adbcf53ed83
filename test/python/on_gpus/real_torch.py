# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the cases of torch_on_gpus.py ask of devices, of real ones; emulated_torch.py has the same of emulated ones."""

import contextlib

import torch

from drawloom import _library

DEVICES = torch.cuda.device_count()
EMULATED = False
# Of which no allocator has the memory left over.
MANY_ROWS = 1 << 19

_build = _library.build
# The compiler's target of each program that was compiled for a GPU.
compiled = []


def _counted(compiler, sources, shapes):
    target = next(options[0] for options, one in _library._compilers.items() if one is compiler)
    if target.startswith("cuda"):
        compiled.append(target)
    return _build(compiler, sources, shapes)


_library.build = _counted
on_device = torch.cuda.device


class Stream:
    """A stream of its own, the current one of its device meanwhile."""

    def __init__(self, device=0):
        self.stream = torch.cuda.Stream(device)
        self._current = torch.cuda.stream(self.stream)

    def __enter__(self):
        self._current.__enter__()
        return self

    def __exit__(self, *raised):
        self._current.__exit__(*raised)

    def is_busy(self):
        return not self.stream.query()

    def capture(self, step):
        """(what gives the results again, the results of a step that is captured)."""
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream, capture_error_mode="relaxed"):
            results = step()
        return graph.replay, results


@contextlib.contextmanager
def deferred():
    """What is put on the current stream is done some tenths of a second later."""
    torch.cuda._sleep(500_000_000)
    yield


def allocations():
    """How often torch's allocator was asked for memory."""
    return torch.cuda.memory_stats()["allocation.all.allocated"]


@contextlib.contextmanager
def no_memory():
    """torch's allocator has none."""
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(1e-9)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
