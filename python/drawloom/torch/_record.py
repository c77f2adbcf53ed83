# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which programs of Drawloom a model calls: for drawloom.report."""

from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .. import ops
from . import _dispatch


@dataclass
class Program:
    """One that is called, with the tensors of its first call, as the program takes them."""

    spec: ops.Spec
    types: tuple
    tensors: list
    calls: int = 0


class _Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.programs = {}

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        known = _dispatch.defined.get(op)
        if known is not None:
            spec_of, flatten = known
            spec, tensors = spec_of(*args, **kwargs or {}), flatten(*args, **kwargs or {})
            flat = tuple(_dispatch._flat(spec, _dispatch._types(tensors))[0])
            # A copy: what the model changes in place later must not matter.
            program = self.programs.get((spec, flat)) or self.programs.setdefault((spec, flat), Program(spec, flat, [
                tensor.detach().reshape(array.shape).clone() for tensor, array in zip(tensors, flat)]))
            program.calls += 1
        return op(*args, **kwargs or {})


def _leaves(results):
    """The tensors with a gradient that the results were computed from: parameters, and arguments that ask for one."""
    seen, leaves, stack = set(), [], [result.grad_fn for result in results]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        stack += [following for following, _ in node.next_functions]
    return leaves


def programs(function, arguments):
    """Calls function(*arguments) once and, where gradients are recorded, its backward pass with cotangents of ones, whose
    results are dropped. Gives [Program], in the order of their first calls."""
    recorder = _Recorder()
    with recorder:
        results = function(*arguments)
        results = [result for result in torch.utils._pytree.tree_leaves(results)
                   if isinstance(result, torch.Tensor) and result.grad_fn is not None]
        leaves = _leaves(results)
        if leaves:
            torch.autograd.grad(results, leaves, [torch.ones_like(result) for result in results], allow_unused=True)
    return list(recorder.programs.values())
