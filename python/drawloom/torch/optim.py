# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers as compiled programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .. import _drawloom
from .._errors import CallError
from ..ops import optimizers
from ._dispatch import _names, _plain_types

__all__ = ["AdamW"]


class AdamW(torch.optim.Optimizer):
    """torch.optim.AdamW, with each update one pass over a parameter, its gradient and its moments.

    Takes groups of parameters with options of their own, state dicts of torch.optim.AdamW, and learning-rate schedulers.
    Moments of float16 and bfloat16 parameters are float32, where torch keeps them in the parameter's type. Parameters are
    dense tensors on the CPU; sparse gradients, amsgrad and complex numbers are refused.
    """

    def __init__(self, params: Any, lr: float | torch.Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, *, maximize: bool = False) -> None:
        lr = float(lr)
        if not lr >= 0 or not eps > 0 or not weight_decay >= 0 or not all(0 <= beta < 1 for beta in betas):
            raise CallError(f"AdamW: lr {lr} and weight_decay {weight_decay} are 0 or more, eps {eps} is above 0, "
                            f"betas {tuple(betas)} are in [0, 1)")
        # The other names of torch.optim.AdamW's groups, so that state dicts go both ways.
        super().__init__(params, dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay, amsgrad=False,
                                      maximize=maximize, foreach=None, capturable=False, differentiable=False, fused=None,
                                      decoupled_weight_decay=True))

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # type: ignore[override]
        """Updates the parameters by their gradients. closure: computes the gradients anew, and gives the loss, which is returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            if group["amsgrad"]:
                raise CallError("AdamW: a group has amsgrad, which this optimizer has not: use torch.optim.AdamW")
            self._update(group)
        return loss

    def _update(self, group):
        # [(parameter, gradient, state)], all of them checked before the first changes.
        updates = [(parameter, self._check(parameter, parameter.grad), self.state[parameter])
                   for parameter in group["params"] if parameter.grad is not None]
        if not updates:
            return
        for parameter, _, state in updates:
            if not state:
                kind = torch.float32 if parameter.dtype in (torch.float16, torch.bfloat16) else parameter.dtype
                state["step"] = torch.zeros((), dtype=torch.float32)
                state["exp_avg"] = torch.zeros_like(parameter, dtype=kind, memory_format=torch.contiguous_format)
                state["exp_avg_sq"] = torch.zeros_like(parameter, dtype=kind, memory_format=torch.contiguous_format)
        torch._foreach_add_([state["step"] for _, _, state in updates], 1)
        # Parameters that share types and the number of their step go together.
        batches = {}
        for parameter, gradient, state in updates:
            moment = state["exp_avg"]
            batches.setdefault((parameter.dtype, moment.dtype, int(state["step"].item())), []).append(
                (_local(parameter), -gradient if group["maximize"] else gradient, _local(moment), _local(state["exp_avg_sq"])))
        for (dtype, kind, step), tensors in batches.items():
            pieces = optimizers.adamw(_names[dtype], _names[kind], *map(float, group["betas"]), float(group["eps"]),
                                      float(group["weight_decay"]))
            # A parameter with strides of its own is updated through a dense copy.
            dense = [[tensor if tensor.is_contiguous() else tensor.contiguous() for tensor in four] for four in tensors]
            _drawloom.update_in_place(pieces, [[tensor.data_ptr() for tensor in four] for four in dense],
                                      [four[0].numel() for four in dense], float(group["lr"]), step,
                                      torch.get_num_threads())
            for four, copies in zip(tensors, dense):
                for i in (0, 2, 3):
                    if copies[i] is not four[i]:
                        four[i].copy_(copies[i])
        # A backward pass through what is no more there has to be refused.
        torch.autograd.graph.increment_version([parameter for parameter, _, _ in updates])

    @staticmethod
    def _check(parameter, gradient):
        local, gradient = _local(parameter), _local(gradient)
        if gradient.is_sparse:
            raise CallError("AdamW: a gradient is sparse; use torch.optim.SparseAdam for its parameter")
        if not local.is_cpu:
            raise CallError(f"AdamW: a parameter is on the device '{local.device}': this optimizer runs on the CPU")
        dtype = local.dtype
        if dtype not in _computed or gradient.dtype != dtype:
            raise CallError(f"AdamW: a parameter is {local.dtype} and its gradient {gradient.dtype}; both are float32, float64, "
                            "float16 or bfloat16")
        # What is to be negated or filled with zeros when it is read, is so now.
        if gradient.is_neg():
            gradient = gradient.resolve_neg()
        return gradient.clone() if gradient._is_zerotensor() else gradient


_computed = frozenset([torch.float32, torch.float64, torch.float16, torch.bfloat16])


def _local(tensor):
    """The part of a distributed tensor (FSDP2) that is here: updates are elementwise."""
    if type(tensor) in _plain_types:
        return tensor
    tensor = tensor.detach()
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor
